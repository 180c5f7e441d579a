//! A slice whose elements threads divide among them.

#![allow(unsafe_code, reason = "lends parts of a slice to several threads")]

use std::convert::Infallible;
use std::marker::PhantomData;
use std::ops::Range;

use super::for_elements;

/// Calls `body` with parts of a slice that together are the slice, on several threads if there are two parts of `grain`
/// lines. A part has whole lines of `line` elements, of which the body learns the first one's number; elements behind
/// the last whole line are left out.
pub(crate) fn for_lines<T: Send>(
    slice: &mut [T],
    line: usize,
    grain: u64,
    body: &(dyn Fn(usize, &mut [T]) + Sync),
) {
    let Ok(()) = try_for_lines(slice, line, grain, &|first, own| {
        body(first, own);
        Ok::<(), Infallible>(())
    });
}

/// Calculates lines, given the first one's number.
type LinesBody<'a, T, E> = dyn Fn(usize, &mut [T]) -> Result<(), E> + Sync + 'a;

/// As [`for_lines`]; fails as the first part that does.
pub(crate) fn try_for_lines<T: Send, E: Send>(
    slice: &mut [T],
    line: usize,
    grain: u64,
    body: &LinesBody<'_, T, E>,
) -> Result<(), E> {
    let lines = slice.len().checked_div(line).unwrap_or(0) as u64;
    let divided = Divided::new(slice);
    for_elements(lines, grain, &|part| {
        let (first, end) = (part.start as usize, part.end as usize);
        // SAFETY: no two parts have the same lines.
        let own = unsafe { divided.take(first * line..end * line) };
        body(first, own)
    })
}

/// A slice that is borrowed exclusively, of which each thread takes other elements.
pub(crate) struct Divided<'a, T> {
    first: *mut T,
    length: usize,
    borrowed: PhantomData<&'a mut [T]>,
}

// SAFETY: threads get elements from it as from a mutable slice, which may be sent to them; `take` makes its callers
// promise that no two have the same.
unsafe impl<T: Send> Sync for Divided<'_, T> {}

impl<'a, T> Divided<'a, T> {
    pub(crate) fn new(slice: &'a mut [T]) -> Divided<'a, T> {
        Divided { first: slice.as_mut_ptr(), length: slice.len(), borrowed: PhantomData }
    }

    /// The elements of a range. Panics if the slice does not have them.
    ///
    /// # Safety
    /// While the result lives, nobody takes any of these elements again.
    #[inline]
    #[allow(clippy::mut_from_ref, reason = "the caller promises that nobody else has them")]
    pub(crate) unsafe fn take(&self, range: Range<usize>) -> &mut [T] {
        assert!(range.start <= range.end && range.end <= self.length, "not part of the slice");
        // SAFETY: the range is within the slice, by the check above.
        let first = unsafe { self.first.add(range.start) };
        // SAFETY: the slice is borrowed exclusively while this lives, and no other slice has any of these elements, as
        // this function demands.
        unsafe { std::slice::from_raw_parts_mut(first, range.len()) }
    }
}
