//! Pinned memory: its caching allocator.

mod capture;
mod faults;
mod model;
mod settings;
mod settings_and_figures;
mod threads;
mod waste;
