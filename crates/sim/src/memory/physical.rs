//! Physical memory: pages of a memory file, without an address.
//!
//! Fresh device memory does not read as zeros, and costs the host nothing until it is used. Both
//! come from one bit a page: an untouched page has no host memory behind it, and the first access
//! fills it with [`POISON`], unless that access writes the whole page anyway.
#![forbid(unsafe_code)]

use std::fs::File;
use std::sync::Arc;

use sconce_base::lock::{Mutex, rank};
use sconce_base::types::DeviceIndex;

use crate::host::pages::PAGE;

/// Each byte of fresh memory: NaN in every float format, -1 as an integer.
pub(crate) const POISON: u8 = 0xFF;

/// A run of bytes of a memory file; multiples of the page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Extent {
    pub(crate) offset: u64,
    pub(crate) bytes: u64,
}

/// The file that holds the pages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Backing {
    /// The device's file, to which the pages return.
    DevicePages,
    /// A file of its own, which other processes have; it counts as the device's memory. All of it was touched.
    OwnFile,
    /// A file of another process.
    Foreign,
}

/// Some physical memory of a device.
pub(crate) struct Physical {
    pub(crate) device: DeviceIndex,
    pub(crate) bytes: u64,
    pub(crate) file: Arc<File>,
    pub(crate) extents: Vec<Extent>,
    pub(crate) backing: Backing,
    /// Other processes may get it.
    pub(crate) shareable: bool,
    touched: Mutex<rank::SimTouched, Touched>,
}

/// One bit a page.
struct Touched {
    bits: Vec<u64>,
    untouched: u64,
}

impl Physical {
    /// Memory that has not been touched; what other processes have counts as touched, and is shareable.
    pub(crate) fn new(
        device: DeviceIndex,
        file: Arc<File>,
        extents: Vec<Extent>,
        backing: Backing,
    ) -> Physical {
        let bytes = extents.iter().map(|extent| extent.bytes).sum::<u64>();
        let pages = bytes / PAGE;
        let shareable = backing != Backing::DevicePages;
        let touched = if shareable {
            Touched { bits: Vec::new(), untouched: 0 }
        } else {
            Touched { bits: vec![0; pages.div_ceil(64) as usize], untouched: pages }
        };
        let touched = Mutex::new(touched);
        Physical { device, bytes, file, extents, backing, shareable, touched }
    }

    /// Notes an access to `offset..offset + bytes`, and calls `poison` with the offset of each page that is
    /// touched for the first time and not overwritten.
    pub(crate) fn touch(
        &self,
        offset: u64,
        bytes: u64,
        overwrites: bool,
        mut poison: impl FnMut(u64),
    ) {
        let mut touched = self.touched.lock();
        if touched.untouched == 0 || bytes == 0 {
            return;
        }
        let end = offset + bytes;
        for page in offset / PAGE..end.div_ceil(PAGE) {
            let (word, bit) = ((page / 64) as usize, 1 << (page % 64));
            if touched.bits[word] & bit != 0 {
                continue;
            }
            let start = page * PAGE;
            if !(overwrites && offset <= start && start + PAGE <= end) {
                poison(start);
            }
            touched.bits[word] |= bit;
            touched.untouched -= 1;
        }
    }

    /// The parts of the file behind a range of this memory, in order.
    pub(crate) fn parts(&self, offset: u64, bytes: u64) -> Vec<Extent> {
        let mut parts = Vec::new();
        let (mut skip, mut left) = (offset, bytes);
        for extent in &self.extents {
            if left == 0 {
                break;
            }
            if skip >= extent.bytes {
                skip -= extent.bytes;
                continue;
            }
            let part = left.min(extent.bytes - skip);
            parts.push(Extent { offset: extent.offset + skip, bytes: part });
            left -= part;
            skip = 0;
        }
        parts
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::host::pages::memory_file;

    fn physical() -> Physical {
        let file = Arc::new(memory_file(c"test", 64 * PAGE).unwrap());
        let extents = vec![
            Extent { offset: 8 * PAGE, bytes: 2 * PAGE },
            Extent { offset: 0, bytes: 3 * PAGE },
        ];
        Physical::new(DeviceIndex::ZERO, file, extents, Backing::DevicePages)
    }

    #[test]
    fn a_range_over_two_extents_is_two_parts() {
        let parts = physical().parts(PAGE, 3 * PAGE);
        assert_eq!(
            parts,
            [Extent { offset: 9 * PAGE, bytes: PAGE }, Extent { offset: 0, bytes: 2 * PAGE }]
        );
    }

    #[test]
    fn pages_are_poisoned_once_and_not_when_written_whole() {
        let physical = physical();
        let touch = |offset, bytes, overwrites| {
            let mut poisoned = Vec::new();
            physical.touch(offset, bytes, overwrites, |start| poisoned.push(start / PAGE));
            poisoned
        };
        // Written from the middle of page 0 to the middle of page 2: page 1 whole.
        assert_eq!(touch(PAGE / 2, 2 * PAGE, true), [0, 2]);
        assert_eq!(touch(0, 5 * PAGE, false), [3, 4]);
        assert_eq!(touch(0, 5 * PAGE, false), []);
    }
}
