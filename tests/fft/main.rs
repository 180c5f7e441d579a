//! Transforms, their plans and their caches.

mod again;
mod cache;
mod capture;
mod costs;
mod faults;
mod memory;
mod refusals;
mod threads;
mod transforms;
