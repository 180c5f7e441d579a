//! The driver's calls, a file a subject: arguments checked, faults struck, then work queued or memory
//! changed.
//!
//! | file | idea |
//! |---|---|
//! | `driver` | the trait: each method counts itself, checks the device, and passes its arguments on |
//! | `properties` | what the devices report about themselves |
//! | `memory` | device memory, virtual memory, pinned host memory, peer access |
//! | `streams` | streams, host functions and launches |
//! | `events` | events, their records and waits |
//! | `copies` | copies and fills |
//! | `ipc` | memory and events between processes |

mod copies;
mod driver;
pub(super) mod events;
pub(super) mod ipc;
mod memory;
mod properties;
mod streams;
