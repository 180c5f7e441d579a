//! Elements of host memory, read and written by the calling thread and those that share large calls with it.
//!
//! Through raw pointers, never references: other threads and devices may use the memory at the same
//! time, which is then the caller's race.
#![allow(unsafe_code, reason = "follows addresses that callers vouch for")]

use sconce_base::error::Result;
use sconce_base::strided::{SharedAxis, each_run};
use sconce_driver::RawAddress;
use sconce_math::parallel::{self, GRAIN};

/// The address of the element `index` of a line whose elements are `stride` bytes apart.
pub(super) fn at(first: RawAddress, index: u64, stride: i64) -> RawAddress {
    first.offset((index as i64).wrapping_mul(stride) as usize)
}

/// The bits of an element of up to 8 bytes.
pub(super) fn read(address: RawAddress, width: usize) -> Result<u64> {
    let mut bytes = [0; 8];
    let range = address.host(width)?;
    let width = width.min(8);
    // SAFETY: a caller vouches for the range, and the array holds up to 8 bytes.
    unsafe { std::ptr::copy_nonoverlapping(range.get() as *const u8, bytes.as_mut_ptr(), width) };
    Ok(u64::from_le_bytes(bytes))
}

/// Writes an element of up to 8 bytes.
pub(super) fn write(address: RawAddress, width: usize, bits: u64) -> Result<()> {
    let bytes = bits.to_le_bytes();
    let range = address.host(width)?;
    let width = width.min(8);
    // SAFETY: a caller vouches for the range, and the array holds up to 8 bytes.
    unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), range.get() as *mut u8, width) };
    Ok(())
}

/// Copies elements of `width` bytes along axes, the innermost first, none of which is empty. Threads share large
/// copies.
pub(super) fn copy_along(
    dst: RawAddress,
    src: RawAddress,
    width: usize,
    axes: &[SharedAxis<2>],
) -> Result<()> {
    let count = axes.iter().map(|axis| axis.size).product();
    let strides = axes.first().map_or([0; 2], |inner| inner.strides);
    parallel::for_elements(count, GRAIN, &|part| {
        each_run(axes, part, |_, [to, from], run| {
            copy(dst.offset(to as usize), src.offset(from as usize), strides, width, run)
        })
    })
}

/// Copies `count` elements of `width` bytes, each `strides` bytes from the one before.
fn copy(
    dst: RawAddress,
    src: RawAddress,
    strides: [i64; 2],
    width: usize,
    count: u64,
) -> Result<()> {
    if strides == [width as i64; 2] {
        return copy_bytes(dst, src, width.saturating_mul(count as usize));
    }
    for index in 0..count {
        copy_bytes(at(dst, index, strides[0]), at(src, index, strides[1]), width)?;
    }
    Ok(())
}

/// Copies the element at each of some places of a line to the next one of another line. Strides are in bytes.
pub(super) fn copy_places(
    dst: RawAddress,
    src: RawAddress,
    places: &[i64],
    strides: [i64; 2],
    width: usize,
) -> Result<()> {
    match width {
        1 => copy_places_of::<u8>(dst, src, places, strides),
        2 => copy_places_of::<u16>(dst, src, places, strides),
        4 => copy_places_of::<u32>(dst, src, places, strides),
        8 => copy_places_of::<u64>(dst, src, places, strides),
        _ => places.iter().enumerate().try_for_each(|(index, place)| {
            let to = at(dst, index as u64, strides[0]);
            copy_bytes(to, at(src, *place as u64, strides[1]), width)
        }),
    }
}

/// [`copy_places`] for elements of the size of `T`.
fn copy_places_of<T: Copy>(
    dst: RawAddress,
    src: RawAddress,
    places: &[i64],
    strides: [i64; 2],
) -> Result<()> {
    let (Some(least), Some(most)) = (places.iter().min(), places.iter().max()) else {
        return Ok(());
    };
    // The places between them are elements of the line as well.
    let reached = |first: RawAddress, stride: i64, [least, most]: [i64; 2]| {
        let ends = [least, most].map(|place| place.wrapping_mul(stride));
        let bytes = ends[0].abs_diff(ends[1]) as usize;
        first.offset(ends[0].min(ends[1]) as usize).host(bytes.saturating_add(size_of::<T>()))
    };
    reached(dst, strides[0], [0, places.len() as i64 - 1])?;
    reached(src, strides[1], [*least, *most])?;
    for (index, place) in places.iter().enumerate() {
        let from = at(src, *place as u64, strides[1]).get() as *const T;
        let to = at(dst, index as u64, strides[0]).get() as *mut T;
        // SAFETY: a caller vouches for the bytes from the least place to the most, as was checked, and this is between.
        let value = unsafe { from.read_unaligned() };
        // SAFETY: a caller vouches for the bytes from place 0 to the last, as was checked, and this is between.
        unsafe { to.write_unaligned(value) };
    }
    Ok(())
}

/// Copies bytes, which may overlap.
pub(super) fn copy_bytes(dst: RawAddress, src: RawAddress, bytes: usize) -> Result<()> {
    let (to, from) = (dst.host(bytes)?.get() as *mut u8, src.host(bytes)?.get() as *const u8);
    // SAFETY: a caller vouches for both ranges; `copy` allows overlap.
    unsafe { std::ptr::copy(from, to, bytes) };
    Ok(())
}

/// Memory of a test, which outlives its use.
#[cfg(all(test, not(loom)))]
pub(super) fn of_test<T>(memory: &mut [T]) -> RawAddress {
    let bytes = size_of_val(memory);
    // SAFETY: the test keeps the memory.
    unsafe { sconce_driver::HostRange::new(memory.as_mut_ptr() as usize, bytes) }.raw()
}
