//! Pinned memory: its caching allocator.

mod capture;
mod faults;
mod model;
mod reuse;
mod settings;
mod threads;
mod unasked;
mod waste;
