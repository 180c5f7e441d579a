//! Events: points in a stream's work that can be waited for and, with timing, measured. See
//! `docs/design/event.md`.
//!
//! An event belongs to no device until it is first recorded; the driver's event is made then, on the
//! recording stream's device. Until then the event counts as complete, and waits for it do nothing. A wait
//! is bound to the record that is newest when the wait is queued; later records do not change it.
//!
//! ```text
//!   create ──▶ empty ──record──▶ recorded ──record──▶ recorded …
//!                └──────── destroy ───────┴── the driver's event goes to the recycler
//! ```
//!
//! Handles are checked at every use (`slots`). Queries, and records of an event that has a device, take no
//! lock: they announce the event that they use, and the driver's event of a destroyed event is neither
//! destroyed nor given to another owner until no thread uses it. All other functions take the event's lock.
//!
//! Each file uses only files above it.
//!
//! | file | idea |
//! |---|---|
//! | `recycler` | driver's events without an owner |
//! | `native` | a driver's event with an owner; which of them other processes may open |
//! | `hazard_pointers` | which events threads are using without a lock |
//! | `life` | whether an event is alive, in one word |
//! | `slots` | the table of events |
//! | `operations` | create, destroy, record, query, wait |
//! | `elapsed` | the time between two records |
//! | `interprocess` | events that are shared between processes |

mod elapsed;
mod hazard_pointers;
mod interprocess;
mod life;
mod native;
mod operations;
mod recycler;
mod slots;

pub use elapsed::elapsed_ms;
pub use interprocess::{from_ipc_handle, ipc_handle};
pub use native::NativeEvent;
pub use operations::{
    create, destroy, device, native, query, record, synchronize, wait, wait_stream,
};

pub use sconce_base::collections::slab::Key;
