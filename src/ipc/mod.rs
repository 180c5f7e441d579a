//! Memory between processes. See `docs/design/ipc.md`.
//!
//! | file | idea |
//! |---|---|
//! | `handle` | the 64 bytes, and the name of the door that belongs to them |
//! | `exports` | what this process has exported, and what it answers to who opens it |
//! | `door`, `service` | the sockets of this process, and the thread that listens |
//! | `consumer` | the other end: asking another process |
//! | `message`, `peer` | what goes over a socket, and who is behind it |
//! | `imports`, `mapping` | what this process has opened: once, and counted |

mod consumer;
mod door;
mod exports;
mod handle;
mod imports;
mod mapping;
mod message;
#[allow(unsafe_code, reason = "asks a socket who is at its other end")]
mod peer;
mod service;

pub use consumer::{set_timeout_ms, timeout_ms};
pub use exports::export;
pub use imports::{close, open};
pub use service::collect;
