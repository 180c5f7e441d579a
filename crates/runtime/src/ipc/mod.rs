//! Memory between processes. See `docs/design/ipc.md`.
//!
//! Each file uses only files above it.
//!
//! | file | idea |
//! |---|---|
//! | `handle` | the 64 bytes of a handle, and the name of the socket that belongs to them |
//! | `message` | the packets that go over a socket |
//! | `peer` | the process at the other end of a socket |
//! | `mapping` | opening pages: reserve, import, map, access |
//! | `refusals` | why memory of another process is not opened or closed |
//! | `consumer` | a connection to the process that exported an allocation |
//! | `export` | an exported allocation, and its replies to consumers |
//! | `door` | the sockets of this process: one for each export, one for each consumer |
//! | `service` | the thread that serves them |
//! | `imports` | the allocations that this process has opened, each once |
//! | `exports` | exporting memory |

mod consumer;
mod door;
mod export;
mod exports;
mod handle;
mod imports;
mod mapping;
mod message;
#[allow(unsafe_code, reason = "reads SO_PEERCRED, for which no safe function accepts process 0")]
mod peer;
mod refusals;
mod service;

pub use consumer::{set_timeout_ms, timeout_ms};
pub use exports::export;
pub use imports::{close, open};
pub use service::collect;
