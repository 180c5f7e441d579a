//! Host memory, copied and set by the calling thread.
//!
//! Through raw pointers, never references: other threads and devices may use the memory at the same
//! time, which is then the caller's race.
#![allow(unsafe_code, reason = "follows addresses that callers vouch for")]

use std::sync::atomic::{AtomicU64, Ordering};

use sconce_base::error::Result;
use sconce_driver::{HostRange, RawAddress};
use sconce_runtime::host_memory;

/// New pinned memory. The caller frees it, after it has noted the streams that may still use it.
pub(super) fn pinned(bytes: usize) -> Result<HostRange> {
    let address = host_memory::alloc(bytes)?;
    // SAFETY: the block has the given number of bytes. Its owner frees it after the last use by the processor, and
    // the heap keeps it until the uses by streams that its owner notes have finished.
    Ok(unsafe { HostRange::new(address, bytes) })
}

/// An address that was found to be memory of a device: by [`kind_of`](sconce_runtime::operand::address_range::kind_of),
/// or by whoever has allocated it. Drivers need not ask again.
pub(super) fn device_memory(address: usize) -> RawAddress {
    // SAFETY: both ways to find that out say that it is not the host's, so no processor follows the address.
    unsafe { RawAddress::of_device_memory(address) }
}

/// An array, for a copy that is done before the array goes.
pub(super) fn of_array<const BYTES: usize>(array: &mut [u8; BYTES]) -> HostRange {
    // SAFETY: the array has so many bytes, and the caller waits for the copy.
    unsafe { HostRange::new(array.as_mut_ptr().expose_provenance(), BYTES) }
}

/// Words that a device may write at the same time, each whole.
pub(super) fn words<const COUNT: usize>(range: HostRange) -> [u64; COUNT] {
    assert!(COUNT * size_of::<u64>() <= range.bytes(), "a range of {COUNT} words");
    let first = range.get() as *mut u64;
    assert!(first.is_aligned(), "words are aligned");
    std::array::from_fn(|at| {
        // SAFETY: the range is valid and holds so many words, and its first one is aligned.
        let word = unsafe { AtomicU64::from_ptr(first.wrapping_add(at)) };
        word.load(Ordering::Acquire)
    })
}

/// Copies as many bytes as the shorter range has; the ranges may overlap.
pub(super) fn copy(dst: HostRange, src: HostRange) {
    let (to, from) = (dst.get() as *mut u8, src.get() as *const u8);
    // SAFETY: both ranges are valid and have the given number of bytes; `copy` allows overlap.
    unsafe { std::ptr::copy(from, to, dst.bytes().min(src.bytes())) }
}

/// Sets every byte.
pub(super) fn fill(range: HostRange, value: u8) {
    // SAFETY: the range is valid and has the given number of bytes.
    unsafe { std::ptr::write_bytes(range.get() as *mut u8, value, range.bytes()) }
}

/// Copies `count` elements of `width` bytes, each `strides` bytes from the one before.
pub(super) fn copy_each(
    dst: RawAddress,
    src: RawAddress,
    strides: [i64; 2],
    width: usize,
    count: u64,
) -> Result<()> {
    reached(dst, strides[0], width, count)?;
    reached(src, strides[1], width, count)?;
    let places = [dst.get(), src.get()];
    match width {
        // SAFETY: `reached` has checked both ranges.
        1 => unsafe { each::<u8>(places, strides, count) },
        // SAFETY: `reached` has checked both ranges.
        2 => unsafe { each::<u16>(places, strides, count) },
        // SAFETY: `reached` has checked both ranges.
        4 => unsafe { each::<u32>(places, strides, count) },
        // SAFETY: `reached` has checked both ranges.
        8 => unsafe { each::<u64>(places, strides, count) },
        // SAFETY: `reached` has checked both ranges.
        16 => unsafe { each::<u128>(places, strides, count) },
        _ => {
            for index in 0..count {
                let [to, from] = strides.map(|stride| (index as i64).wrapping_mul(stride) as usize);
                copy(dst.offset(to).host(width)?, src.offset(from).host(width)?);
            }
        }
    }
    Ok(())
}

/// The range of `count` elements, each `stride` bytes from the one before.
fn reached(first: RawAddress, stride: i64, width: usize, count: u64) -> Result<HostRange> {
    let last = stride.unsigned_abs().saturating_mul(count.saturating_sub(1)) as usize;
    let lowest = if stride < 0 { first.offset(last.wrapping_neg()) } else { first };
    lowest.host(last.saturating_add(width))
}

/// # Safety
/// All elements lie in ranges that callers vouch for.
unsafe fn each<T: Copy>([mut to, mut from]: [usize; 2], strides: [i64; 2], count: u64) {
    for _ in 0..count {
        // SAFETY: the element lies in a range that a caller vouches for.
        let value = unsafe { (from as *const T).read_unaligned() };
        // SAFETY: the element lies in a range that a caller vouches for.
        unsafe { (to as *mut T).write_unaligned(value) };
        to = to.wrapping_add_signed(strides[0] as isize);
        from = from.wrapping_add_signed(strides[1] as isize);
    }
}

/// Copies between two ranges of host memory, of one length, that do not overlap.
pub(super) fn copy_apart(dst: HostRange, src: HostRange) {
    let (to, from) = (dst.get() as *mut u8, src.get() as *const u8);
    // SAFETY: both ranges are valid and have the given number of bytes; one of them is a slot, which nothing else
    // overlaps.
    unsafe { std::ptr::copy_nonoverlapping(from, to, dst.bytes().min(src.bytes())) }
}

/// As [`copy_apart`], without reading what is overwritten into the cache: a third faster where much
/// more is written than the cache holds.
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
    copy_apart(dst.part(0, head), src.part(0, head));
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
    copy_apart(dst.part(done, bytes - done), src.part(done, bytes - done));
}

/// As [`copy_apart`]: this processor has no such stores that a compiler offers.
#[cfg(not(target_arch = "x86_64"))]
pub(super) fn copy_past_the_cache(dst: HostRange, src: HostRange) {
    copy_apart(dst, src);
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
