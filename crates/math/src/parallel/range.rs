//! A range of numbers, in as many parts as threads work on it.

use std::cell::Cell;

use super::{available, for_each};

thread_local! {
    /// Which part of a range the thread works on.
    static PART: Cell<usize> = const { Cell::new(0) };
}

/// The part of a range that the calling thread works on; 0 outside of one.
pub fn part() -> usize {
    PART.get()
}

/// Calls `body` with parts of a range, of at least `grain` numbers but the last. There are no more parts than threads.
pub fn for_range(begin: i64, end: i64, grain: u64, body: &(dyn Fn(i64, i64) + Sync)) {
    if begin >= end {
        return;
    }
    let length = end.abs_diff(begin);
    let wanted = length.div_ceil(grain.max(1)).min(available() as u64);
    if wanted <= 1 {
        return body(begin, end);
    }
    let step = length.div_ceil(wanted).max(grain);
    for_each(length.div_ceil(step) as usize, &|part| {
        let _working = Working::on(part);
        let first = step * part as u64;
        let last = first.saturating_add(step).min(length);
        body(begin.wrapping_add_unsigned(first), begin.wrapping_add_unsigned(last));
    });
}

/// The part that the thread works on, until this is dropped.
struct Working(usize);

impl Working {
    fn on(part: usize) -> Working {
        Working(PART.replace(part))
    }
}

impl Drop for Working {
    fn drop(&mut self) {
        PART.set(self.0);
    }
}
