//! What threads use without a lock: each announces it in a word of its own.
//!
//! A thread writes the address of what it uses into its word, and only then checks that the thing is still to be used.
//! Without a fence between the two the processor may swap them. The fence is executed by the other side: whoever ends
//! the thing first changes what is checked, and then calls `membarrier`, which makes every running thread of the
//! process execute a full fence. A thread that still passed the check wrote its word before that fence, so it is found
//! there; a thread that writes its word later fails the check. So using costs no locked instruction, and ending, which
//! is rare, costs the call.
//!
//! Without `membarrier` in the kernel, on a thread that is ending, and while the thread uses something else this way,
//! there is no word: the thing's lock is taken.
//!
//! | file | idea |
//! |---|---|
//! | `fences` | the fence of all threads |
//! | `words` | the words, and who announces what |
//! | `gate` | a value's gate: many users, or one thread that changes it |
//! | `shared_value` | a value that calls use all the time and that hardly ever changes |

mod fences;
mod gate;
#[cfg(all(test, loom))]
#[allow(unsafe_code, reason = "a cell that models watch")]
mod loom_models;
#[allow(unsafe_code, reason = "passes on a reference to what the gate guards")]
mod shared_value;
mod words;

pub use fences::{fence_all_threads, has_fence};
pub use shared_value::SharedValue;
pub use words::{Announcement, announce, announced, await_others, others};

use crate::sync::{Ordering, fence};

/// Orders a thread's announcement before its check, together with [`fence_all_threads`]. The models and Miri have no
/// `membarrier`; there both sides execute full fences.
#[inline(always)]
pub fn fence_here() {
    if cfg!(any(loom, miri)) {
        fence(Ordering::SeqCst);
    } else {
        std::sync::atomic::compiler_fence(Ordering::SeqCst);
    }
}
