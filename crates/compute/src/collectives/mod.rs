//! Communicators: ranks that compute together, a device each. See `docs/design/collectives.md`.
//!
//! | file | idea |
//! |---|---|
//! | `config` | how a communicator is made |
//! | `exit` | whether the process is ending |
//! | `failure` | why a communicator is broken, if it is |
//! | `watched_work` | queued work with a limit |
//! | `comm` | a rank's end of a communicator, its lock, and how it waits |
//! | `watchdog` | the thread that ends communicators whose work takes too long |
//! | `registry` | communicators by their handles |
//! | `wire` | how element types and reductions travel |
//! | `request` | calls, checked |
//! | `work` | asynchronous calls |
//! | `pending` | calls that have been checked, and how they are queued |
//! | `group` | the group of a thread |
//! | `submit` | calls as crates above make them |
//! | `handles` | communicators made, split, finalized, aborted, destroyed |
//! | `rendezvous` | communicators that are made through a store |

mod comm;
mod config;
mod exit;
mod failure;
mod group;
mod handles;
mod pending;
mod registry;
mod rendezvous;
mod request;
mod submit;
mod watchdog;
mod watched_work;
mod wire;
mod work;

pub use config::{CommConfig, Limit};
pub use group::{group, group_cancel, group_end, group_start, is_in_group};
pub use handles::{
    abort, async_error, destroy, device, finalize, init_all, init_rank, is_available, native, rank,
    size, split, unique_id, version,
};
pub use pending::StagedCopies;
pub use rendezvous::init_store;
pub use request::{CommRequest, PartsOf};
pub use submit::{check_stage, queue, queue_async, stage};
pub use work::{Kept, destroy_work, keep, query, sequence, synchronize, wait};

pub use sconce_base::collections::slab::Key;
pub use sconce_driver::{CommId, CommOp, CommOptions};
