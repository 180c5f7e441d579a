//! Moving pieces between the caller's memory and pinned slots.

use crate::driver::RawAddress;

/// The address `bytes` further on in the same range.
pub(super) fn advance(address: RawAddress, bytes: usize) -> RawAddress {
    // SAFETY: whoever vouched for the range vouched for each part of it; pieces lie inside.
    unsafe { RawAddress::from_caller(address.get().wrapping_add(bytes)) }
}

/// A slot, as the driver and [`copy`] want it.
pub(super) fn of_slot(address: usize) -> RawAddress {
    // SAFETY: the ring that the slot is of is freed after all copies, with its pending uses noted.
    unsafe { RawAddress::from_caller(address) }
}

/// Copies bytes between two ranges of host memory that do not overlap.
pub(super) fn copy(dst: RawAddress, src: RawAddress, bytes: usize) {
    let (to, from) = (dst.get() as *mut u8, src.get() as *const u8);
    // SAFETY: both ranges are vouched for until the copy has returned; one of them is a slot, which
    // nothing else overlaps.
    unsafe { std::ptr::copy_nonoverlapping(from, to, bytes) }
}

/// The same, without reading what is overwritten into the cache: a third faster where much more is
/// written than the cache holds.
#[cfg(target_arch = "x86_64")]
pub(super) fn copy_past_the_cache(dst: RawAddress, src: RawAddress, bytes: usize) {
    use std::arch::x86_64::{__m128i, _mm_loadu_si128, _mm_sfence, _mm_stream_si128};
    const WORD: usize = size_of::<__m128i>();

    /// Copies a word to an aligned place.
    #[inline(always)]
    fn stream(dst: usize, src: usize) {
        // SAFETY: inside the source, which is vouched for; the load needs no alignment.
        let word = unsafe { _mm_loadu_si128(src as *const __m128i) };
        // SAFETY: inside the destination, which is vouched for, and aligned; the fence below
        // precedes every other use.
        unsafe { _mm_stream_si128(dst as *mut __m128i, word) }
    }

    let head = (dst.get().wrapping_neg() % WORD).min(bytes);
    copy(dst, src, head);
    let (to, from) = (dst.get() + head, src.get() + head);
    let middle = (bytes - head) / (4 * WORD) * (4 * WORD);
    // Four at a time: a cache line, and quick enough without optimisation.
    let mut done = 0;
    while done < middle {
        stream(to + done, from + done);
        stream(to + done + WORD, from + done + WORD);
        stream(to + done + 2 * WORD, from + done + 2 * WORD);
        stream(to + done + 3 * WORD, from + done + 3 * WORD);
        done += 4 * WORD;
    }
    // SAFETY: every x86-64 processor has it.
    unsafe { _mm_sfence() };
    let done = head + middle;
    copy(advance(dst, done), advance(src, done), bytes - done);
}

/// The same: this processor has no such stores that a compiler offers.
#[cfg(not(target_arch = "x86_64"))]
pub(super) fn copy_past_the_cache(dst: RawAddress, src: RawAddress, bytes: usize) {
    copy(dst, src, bytes);
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn copies_past_the_cache_write_what_they_should_and_nothing_else() {
        let source: Vec<u8> = (0..700_u32).map(|i| (i * 7 + i / 256) as u8).collect();
        for (to, from) in [(0, 0), (1, 0), (0, 5), (63, 17), (13, 64)] {
            for bytes in [0, 1, 63, 64, 65, 127, 128, 129, 500] {
                let mut got = vec![0xEE; 700];
                let dst = advance(of_slot(got.as_mut_ptr() as usize), to);
                let src = advance(of_slot(source.as_ptr() as usize), from);
                copy_past_the_cache(dst, src, bytes);
                assert_eq!(got[to..to + bytes], source[from..from + bytes], "{to} {from} {bytes}");
                assert!(got[..to].iter().chain(&got[to + bytes..]).all(|byte| *byte == 0xEE));
            }
        }
    }
}
