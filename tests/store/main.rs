//! The server of a store and hostile peers: whatever they do, the memory, the descriptors, the time and the log of the
//! process stay within the limits of `docs/design/store.md`.
#![allow(unsafe_code, reason = "calls the C API, counts allocations")]
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

mod attacks;
mod descriptors;
mod resources;
mod support;

/// Counts what the process holds.
#[global_allocator]
static ALLOCATOR: support::Counting = support::Counting;
