//! Every operation, one by one: inside captures, beside those of other threads, on several devices, with every driver call failing in turn.

mod beside;
mod captures;
mod devices;
mod faults;
mod names;
pub(crate) mod operations;
mod pinned;
mod refusals;
