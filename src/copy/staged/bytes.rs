//! Moving pieces between the caller's memory and pinned slots.

use crate::driver::HostRange;

/// Copies between two ranges of host memory, of one length, that do not overlap.
pub(super) fn copy(dst: HostRange, src: HostRange) {
    let (to, from) = (dst.get() as *mut u8, src.get() as *const u8);
    // SAFETY: both ranges are valid and have so many bytes; one of them is a slot, which nothing else
    // overlaps.
    unsafe { std::ptr::copy_nonoverlapping(from, to, dst.bytes().min(src.bytes())) }
}

/// As `copy`, without reading what is overwritten into the cache: a third faster where much more is
/// written than the cache holds.
#[cfg(target_arch = "x86_64")]
pub(super) fn copy_past_the_cache(dst: HostRange, src: HostRange) {
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

    let bytes = dst.bytes().min(src.bytes());
    let head = (dst.get().wrapping_neg() % WORD).min(bytes);
    copy(dst.part(0, head), src.part(0, head));
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
    copy(dst.part(done, bytes - done), src.part(done, bytes - done));
}

/// The same: this processor has no such stores that a compiler offers.
#[cfg(not(target_arch = "x86_64"))]
pub(super) fn copy_past_the_cache(dst: HostRange, src: HostRange) {
    copy(dst, src);
}

/// Memory of a test, which outlives its copies.
#[cfg(all(test, not(loom)))]
pub(super) fn of_test(address: usize, bytes: usize) -> HostRange {
    // SAFETY: the test sees to it.
    unsafe { HostRange::new(address, bytes) }
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
                let dst = of_test(got.as_mut_ptr() as usize, got.len()).part(to, bytes);
                let src = of_test(source.as_ptr() as usize, source.len()).part(from, bytes);
                copy_past_the_cache(dst, src);
                assert_eq!(got[to..to + bytes], source[from..from + bytes], "{to} {from} {bytes}");
                assert!(got[..to].iter().chain(&got[to + bytes..]).all(|byte| *byte == 0xEE));
            }
        }
    }
}
