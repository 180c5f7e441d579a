//! Threads of the CPU that share the work of a call. See `docs/design/parallel.md`.
//!
//! A call divides its result into parts, and `for_each` calculates each part on some thread: the calling one, or
//! one that waits for such work. What a part is does not depend on the number of threads, or each element is
//! calculated the same way in any part; so results do not depend on it either.
//!
//! | file | idea |
//! |---|---|
//! | `count` | how many threads a call may use |
//! | `divided` | a slice whose elements threads divide among them |
//! | `elements` | the elements of a result, in parts that are worth a thread |
//! | `job` | the parts of a call, and who has taken which |
//! | `pool` | the threads, which sleep until there is a job |
//! | `range` | a range of numbers, in as many parts as threads work on it |

mod count;
mod divided;
mod elements;
mod job;
mod pool;
mod range;
#[cfg(test)]
mod tests;

pub use count::{count, set_count};
pub(crate) use divided::{Divided, for_lines, try_for_lines};
pub use elements::{GRAIN, for_elements};
pub use range::{for_range, part};

use std::cell::Cell;

use sconce_base::process;

thread_local! {
    /// Whether the thread calculates a part.
    static WITHIN: Cell<bool> = const { Cell::new(false) };
}

/// Whether the calling thread calculates a part of a job; its own calls then run on this thread alone.
pub fn is_within() -> bool {
    WITHIN.get()
}

/// The threads that a call of the calling thread may use. A forked child that is cut off (`process`) takes no lock.
pub(crate) fn available() -> usize {
    if is_within() || process::in_child() { 1 } else { count() }
}

/// Calls `body` once for each number below `parts`, on the calling thread and others at the same time. Returns when all
/// calls have. A panic of one of them goes on in the caller, after the others have returned.
pub(crate) fn for_each(parts: usize, body: &(dyn Fn(usize) + Sync)) {
    let threads = available().min(parts);
    if threads <= 1 {
        return (0..parts).for_each(body);
    }
    pool::share(threads - 1, parts, body);
}

/// Marks the calling thread as one that calculates parts, until this is dropped.
struct Within(());

impl Within {
    fn enter() -> Within {
        WITHIN.set(true);
        Within(())
    }
}

impl Drop for Within {
    fn drop(&mut self) {
        WITHIN.set(false);
    }
}
