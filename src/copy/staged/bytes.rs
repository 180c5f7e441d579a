//! Moving pieces between the caller's memory and pinned slots.

use crate::driver::RawAddress;

/// The address `bytes` further on in the same range.
pub(super) fn advance(address: RawAddress, bytes: usize) -> RawAddress {
    // SAFETY: whoever vouched for the range vouched for each part of it; pieces lie inside.
    unsafe { RawAddress::from_caller(address.get().wrapping_add(bytes)) }
}

/// A slot, as the driver and [`copy`] want it.
pub(super) fn of_slot(address: usize) -> RawAddress {
    // SAFETY: a slot is freed only when nothing uses it any more (see `Lane`).
    unsafe { RawAddress::from_caller(address) }
}

/// Copies bytes between two ranges of host memory that do not overlap.
pub(super) fn copy(dst: RawAddress, src: RawAddress, bytes: usize) {
    let (to, from) = (dst.get() as *mut u8, src.get() as *const u8);
    // SAFETY: both ranges are vouched for until the copy has returned; one of them is a slot, which
    // nothing else overlaps.
    unsafe { std::ptr::copy_nonoverlapping(from, to, bytes) }
}
