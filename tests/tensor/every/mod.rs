//! Every operation, one by one: inside captures, on several devices, with every driver call failing in turn.

mod captures;
mod devices;
mod faults;
mod names;
pub(crate) mod operations;
mod refusals;
