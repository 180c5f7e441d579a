//! Memory of the host that holds bytes: pinned, or ordinary. It is read and written through raw pointers, since devices
//! and several threads do so.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

use sconce_base::error::{Error, Result, Status};
use sconce_base::log;
use sconce_driver::HostRange;

use crate::host_memory;

/// Pinned memory.
pub(super) struct PinnedStore {
    range: HostRange,
    /// Copies may still use it, and nobody can tell when they end.
    lost: bool,
}

impl PinnedStore {
    pub(super) fn new(bytes: usize) -> Result<PinnedStore> {
        let address = host_memory::alloc(bytes)?;
        // SAFETY: the block has so many bytes, and stays until this is dropped, which its owner does after the last
        // copy.
        let range = unsafe { HostRange::new(address, bytes) };
        Ok(PinnedStore { range, lost: false })
    }

    pub(super) fn range(&self) -> HostRange {
        self.range
    }

    /// The driver does not say when the copies end: the memory is never used again.
    pub(super) fn lose(&mut self) {
        self.lost = true;
    }
}

impl Drop for PinnedStore {
    fn drop(&mut self) {
        if !self.lost
            && let Err(error) = host_memory::free(self.range.get())
        {
            log::warn(format_args!("pinned memory of a pool that slept was not freed: {error}"));
        }
    }
}

/// Ordinary memory, in large pages of the host where it has some.
pub(super) struct PageableStore(HostRange);

impl PageableStore {
    pub(super) fn new(bytes: usize) -> Result<PageableStore> {
        let (access, flags) =
            (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS);
        // SAFETY: an anonymous mapping wherever the system likes; no memory in use is touched.
        let start = unsafe { libc::mmap(std::ptr::null_mut(), bytes, access, flags, -1, 0) };
        if start == libc::MAP_FAILED {
            return Err(Error::new(
                Status::OutOfMemory,
                format!(
                    "the host has no {bytes} bytes for memory that is to sleep; free some first"
                ),
            ));
        }
        // SAFETY: the mapping of so many bytes that was just made. Whether it is granted does not matter.
        unsafe { libc::madvise(start, bytes, libc::MADV_HUGEPAGE) };
        // SAFETY: the mapping stays until this is dropped, which its owner does after the last copy.
        Ok(PageableStore(unsafe { HostRange::new(start.expose_provenance(), bytes) }))
    }

    pub(super) fn range(&self) -> HostRange {
        self.0
    }
}

impl Drop for PageableStore {
    fn drop(&mut self) {
        let start = std::ptr::with_exposed_provenance_mut(self.0.get());
        // SAFETY: a mapping of `new`, unmapped once.
        unsafe { libc::munmap(start, self.0.bytes()) };
    }
}

/// Copies as many bytes as the shorter range has. The ranges do not overlap.
pub(super) fn copy(dst: HostRange, src: HostRange) {
    let (to, from) = (dst.get() as *mut u8, src.get() as *const u8);
    // SAFETY: both ranges are valid and have the given number of bytes; one of them is staging, which nothing else
    // overlaps.
    unsafe { std::ptr::copy_nonoverlapping(from, to, dst.bytes().min(src.bytes())) }
}

/// Writes staging to a file. No other thread or device uses it meanwhile.
pub(super) fn write(file: &File, offset: u64, from: HostRange) -> io::Result<()> {
    // SAFETY: the range is valid, was written by a copy that has ended, and nobody else uses it during the call.
    let bytes = unsafe { std::slice::from_raw_parts(from.get() as *const u8, from.bytes()) };
    file.write_all_at(bytes, offset)
}

/// Reads from a file to staging. No other thread or device uses it meanwhile.
pub(super) fn read(file: &File, offset: u64, into: HostRange) -> io::Result<()> {
    // SAFETY: the range is valid, pinned memory is initialised by the system, and nobody else uses it during the call.
    let bytes = unsafe { std::slice::from_raw_parts_mut(into.get() as *mut u8, into.bytes()) };
    file.read_exact_at(bytes, offset)
}
