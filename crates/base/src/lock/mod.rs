//! The locks of the library. Each has a rank, its place in the order of all locks (docs/design/locks.md).
//!
//! Debug builds check each lock that a thread takes: it must stand behind all that the thread holds, whether it is
//! taken alone or shared; the same lock is not taken twice; a thread that waits for another one, or for a device, holds
//! only locks that stand before the wait; functions of the program run while their thread holds none; and a forked
//! child takes none, because a thread of the parent may have held it at the fork and does not exist in the child
//! (`process`). So the first run that takes two locks in the wrong order fails, with one thread. Release builds have
//! `parking_lot`'s locks and nothing else.
//!
//! | file | idea |
//! |---|---|
//! | `rank` | the order |
//! | `checker` | the locks of each thread, and whether it may take another one (debug builds) |
//! | `marks` | what the locks report to the checker |
//! | `mutex`, `rw_lock`, `futex` | the locks |
//! | `phase_fair` | a lock whose two sides both hold it for long, and none starves |
//! | `once` | what is done once, and values that are made once |
//! | `waits` | condition variables, and other waits for threads |

#![cfg_attr(loom, allow(dead_code, unused_imports, reason = "models have locks of their own"))]

#[cfg(all(debug_assertions, not(loom)))]
mod checker;
mod futex;
mod marks;
mod mutex;
mod once;
mod phase_fair;
pub mod rank;
mod rw_lock;
mod waits;

pub use futex::{FutexCondvar, FutexGuard, FutexMutex};
pub use marks::{HeldMark, about_to_take, about_to_wait, note_left, note_taken, refuse_held};
pub use mutex::{Mutex, MutexGuard};
pub use once::{Lazy, Once, OnceCell};
/// The traits of a lock alone, for locks of other kinds.
#[cfg(not(loom))]
pub use parking_lot::lock_api;
pub use phase_fair::{LonePhase, PhaseFairLock};
pub use rank::{LockHold, LockRank};
pub use rw_lock::{RwLock, RwLockReadGuard, RwLockWriteGuard};
pub use waits::{Condvar, Serving, join, join_scoped, park, receive};
