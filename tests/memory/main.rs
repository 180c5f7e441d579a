//! Device memory: the caching allocator.

mod block_bounds;
mod calls;
mod capture;
mod data;
mod faults;
mod golden;
mod history;
mod hits;
mod model;
mod order;
mod paged;
mod pages;
mod queued;
mod races;
mod refusals;
mod reports;
mod sleep;
mod streams;
mod threads;
