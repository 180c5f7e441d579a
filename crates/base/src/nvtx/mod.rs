//! Profiling marks: points and ranges of time that a profiler shows beside the device's work. See
//! `docs/design/nvtx.md`.
//!
//! Tools such as Nsight Systems set `NVTX_INJECTION64_PATH` to the path of a library. The first mark of the
//! process opens that library, which fills a table with its functions; each further mark is one call through
//! the table. Without a tool a mark costs one load.
//!
//! ```text
//! first use ──► no variable, or the tool refuses ──► every call is a no-op
//!           └─► the tool takes the table         ──► every call goes to the tool's function
//! ```
//!
//! Two kinds of range: *pushed* ranges nest on the thread that opens them and are numbered by their
//! depth from 0; *started* ranges have an id, may overlap, and may end on another thread.
//!
//! The depth of pushed ranges is counted per thread with and without a tool, so that a program sees the same
//! numbers in both cases. If the tool returns a number, that is returned instead.
//!
//! | file | idea |
//! |---|---|
//! | `injection` | the handshake with the tool, and the calls of its functions |
//! | `memory` | the memory extension, for tools that check memory |

#[allow(unsafe_code, reason = "the handshake with a foreign library and calls into it")]
mod injection;
#[allow(unsafe_code, reason = "the handshake with a foreign library and calls into it")]
mod memory;

use std::cell::Cell;
use std::ffi::CStr;

pub use memory::{MemoryHeap, MemoryTool, memory_tool};

/// The result of [`range_pop`] on a thread without an open pushed range.
pub(crate) const NO_OPEN_RANGE: i32 = -1;

thread_local! {
    static OPEN_RANGES: Cell<i32> = const { Cell::new(0) };
}

/// Marks a point in time.
#[inline]
pub fn mark(message: &CStr) {
    if let Some(tool) = injection::tool() {
        tool.mark(message);
    }
}

/// Opens a range inside the open ranges of this thread. Returns its depth: 0 for the outermost.
#[inline]
pub fn range_push(message: &CStr) -> i32 {
    let depth = OPEN_RANGES.get();
    OPEN_RANGES.set(depth.saturating_add(1));
    injection::tool().and_then(|tool| tool.range_push(message)).unwrap_or(depth)
}

/// Closes the innermost open range of this thread. Returns its depth.
///
/// Returns `NO_OPEN_RANGE` (with a tool: a negative number of the tool's) if no range is open.
#[inline]
pub fn range_pop() -> i32 {
    let depth = match OPEN_RANGES.get() {
        0 => NO_OPEN_RANGE,
        open => {
            OPEN_RANGES.set(open - 1);
            open - 1
        }
    };
    injection::tool().and_then(|tool| tool.range_pop()).unwrap_or(depth)
}

/// Opens a range that any thread may end. Returns the tool's id of the range, or 0 without a tool.
pub fn range_start(message: &CStr) -> u64 {
    injection::tool().and_then(|tool| tool.range_start(message)).unwrap_or(0)
}

/// Ends a range that [`range_start`] opened.
pub fn range_end(id: u64) {
    if let Some(tool) = injection::tool() {
        tool.range_end(id);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn depth_counts_from_zero_per_thread_and_pop_without_push_is_negative() {
        // A thread of its own: depth is per thread, and other tests may share this one.
        std::thread::spawn(|| {
            assert_eq!(range_pop(), NO_OPEN_RANGE);
            assert_eq!(range_push(c"outer"), 0);
            assert_eq!(range_push(c"inner"), 1);
            std::thread::spawn(|| assert_eq!(range_push(c"elsewhere"), 0)).join().unwrap();
            assert_eq!(range_pop(), 1);
            assert_eq!(range_push(c"second"), 1);
            assert_eq!(range_pop(), 1);
            assert_eq!(range_pop(), 0);
            assert_eq!(range_pop(), NO_OPEN_RANGE);
            assert_eq!(range_push(c"after the error"), 0);
        })
        .join()
        .unwrap();
    }

    #[test]
    fn without_a_tool_marks_and_started_ranges_do_nothing() {
        mark(c"nobody listens");
        let id = range_start(c"nobody listens");
        range_end(id);
        range_end(u64::MAX);
        assert_eq!(id, 0);
    }
}
