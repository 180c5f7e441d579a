//! Memory from the system that is to be registered with the driver.

use std::ptr;

use sconce_driver::RawAddress;

use super::heap::rounding::PAGE;

/// Fresh pages, unmapped when dropped.
pub(super) struct Pages {
    address: usize,
    bytes: usize,
}

impl Pages {
    /// Maps `bytes` bytes of zeros; `None` when the system has no more.
    pub(super) fn new(bytes: usize) -> Option<Pages> {
        let (access, flags) =
            (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS);
        // SAFETY: an anonymous mapping wherever the system likes; no memory in use is touched.
        let start = unsafe { libc::mmap(ptr::null_mut(), bytes, access, flags, -1, 0) };
        (start != libc::MAP_FAILED).then(|| Pages { address: start as usize, bytes })
    }

    /// Pages that [`Pages::keep`] gave out.
    pub(super) fn of(address: usize, bytes: usize) -> Pages {
        Pages { address, bytes }
    }

    /// Has the system find memory for every page, with several threads: registering would do it
    /// page by page.
    pub(super) fn touch(&self, threads: usize) {
        let pages = self.bytes.div_ceil(PAGE);
        let share = pages.div_ceil(threads.max(1)).max(1);
        std::thread::scope(|scope| {
            for first in (0..pages).step_by(share) {
                let last = (first + share).min(pages);
                let work = move || self.touch_range(first, last);
                if first == 0 && last == pages {
                    work();
                } else if std::thread::Builder::new().spawn_scoped(scope, work).is_err() {
                    self.touch_range(first, last);
                }
            }
        });
    }

    fn touch_range(&self, first: usize, last: usize) {
        for page in first..last {
            let place = ptr::with_exposed_provenance_mut::<u8>(self.address + page * PAGE);
            // SAFETY: a byte of this mapping, which no other code has an address of yet.
            unsafe { place.write_volatile(0) };
        }
    }

    /// The address, for the driver.
    pub(super) fn raw(&self) -> RawAddress {
        // SAFETY: the pages live until `release`, which comes after unregistering them.
        unsafe { RawAddress::from_caller(self.address) }
    }

    /// Leaves the pages to the caller, which makes them `Pages` again to unmap them.
    pub(super) fn keep(self) -> usize {
        let address = self.address;
        std::mem::forget(self);
        address
    }

    /// Gives the pages back.
    pub(super) fn release(self) {}
}

impl Drop for Pages {
    fn drop(&mut self) {
        let start = ptr::with_exposed_provenance_mut(self.address);
        // SAFETY: a mapping of `new`, unmapped once.
        unsafe { libc::munmap(start, self.bytes) };
    }
}
