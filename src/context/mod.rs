//! Process-wide state: which backend is at work, since when, and the global switches.
//!
//! Three states, in this order, none of them left again: *nothing* (as loaded) → *probed* (a
//! backend has been chosen and its devices counted; no context exists) → *initialised* (somebody
//! used a device). `sconce_is_available` and `sconce_device_count` probe; everything that needs a
//! device initialises. A child of `fork` is cut off from all of it.
//!
//! This is the only room that names a concrete backend. Everything in it lives until the process
//! ends and is never torn down: static objects and threads of the user may call the library later
//! than any destructor of ours could run.
//!
//! Lock order, for the whole library: `context` → `memory` (its own order: docs/design/memory.md) →
//! `stream::external` → `stream::pool` → an event's cell → `event::in_use` → `event::recycler` → the
//! messages that wait (`log`). No lock is held while a function of the user runs. Driver calls are made
//! under locks where the lock is there to make others wait for just that call: opening the backend, a
//! device's first context, an event's first record, the rescue when memory has run out. Some of these
//! calls block.

mod backend;
mod once;
mod options;
pub mod precision;
mod runtime;

pub use crate::driver::sim::{Call as SimulatedCall, Simulator};
pub use options::Options;
pub use runtime::{
    Runtime, initialize, initialize_with, is_available, is_initialized, opened, probe,
    refuse_forked_child, runtime,
};
