//! Raw memory of the host: memory files, address windows, pinned pages, pages shared by processes.
//!
//! Every type here owns the memory that it maps, so safe callers can at worst map the wrong pages of their
//! own windows.

use std::ffi::CStr;
use std::fs::File;
use std::io::{self, Write as _};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::sync::atomic::AtomicU64;

use sconce_driver::HostRange;

use super::place::HostPlace;

/// The page of the simulated memory; the host's page divides it.
pub(crate) const PAGE: u64 = 4096;

/// Seals after which the size of the file cannot change. Other processes map the file, and a signal would
/// end them if they used a part that has been cut off.
const SIZE_SEALS: i32 = libc::F_SEAL_SHRINK | libc::F_SEAL_GROW | libc::F_SEAL_SEAL;

/// Makes an empty file of a fixed size that lives in memory only and vanishes with its last descriptor.
pub(crate) fn memory_file(name: &CStr, bytes: u64) -> io::Result<File> {
    let file = unsealed_file(name)?;
    file.set_len(bytes)?;
    seal(&file, SIZE_SEALS)?;
    Ok(file)
}

/// Makes a memory file of this content, which cannot change.
pub(crate) fn constant_file(name: &CStr, content: &[u8]) -> io::Result<File> {
    let mut file = unsealed_file(name)?;
    file.write_all(content)?;
    seal(&file, SIZE_SEALS | libc::F_SEAL_WRITE)?;
    Ok(file)
}

fn unsealed_file(name: &CStr) -> io::Result<File> {
    let flags = libc::MFD_CLOEXEC | libc::MFD_ALLOW_SEALING;
    // SAFETY: the name is NUL-terminated; the flags are valid.
    let fd = unsafe { libc::memfd_create(name.as_ptr(), flags) };
    if fd < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: a fresh descriptor that nothing else owns.
    Ok(File::from(unsafe { OwnedFd::from_raw_fd(fd) }))
}

fn seal(file: &File, seals: i32) -> io::Result<()> {
    // SAFETY: plain system call on a descriptor that outlives it.
    let rc = unsafe { libc::fcntl(file.as_raw_fd(), libc::F_ADD_SEALS, seals) };
    if rc == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// Whether a file is one of `memory_file`, or with `constant` of `constant_file`.
pub(crate) fn is_sealed(file: &File, constant: bool) -> bool {
    // SAFETY: plain system call on a descriptor that outlives it; other files are an error.
    let seals = unsafe { libc::fcntl(file.as_raw_fd(), libc::F_GET_SEALS) };
    let wanted = SIZE_SEALS | if constant { libc::F_SEAL_WRITE } else { 0 };
    seals >= 0 && seals & wanted == wanted
}

/// Returns the pages of a file range to the host. The range reads as zeros afterwards.
pub(crate) fn punch_hole(file: &File, offset: u64, bytes: u64) -> io::Result<()> {
    let mode = libc::FALLOC_FL_PUNCH_HOLE | libc::FALLOC_FL_KEEP_SIZE;
    // SAFETY: plain system call on a descriptor that outlives it.
    let rc = unsafe { libc::fallocate(file.as_raw_fd(), mode, offset as i64, bytes as i64) };
    if rc == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// Whether all of a range of host addresses is mapped. Cheap: the kernel examines its list of mappings and
/// no page.
pub(crate) fn is_mapped(address: usize, bytes: usize) -> bool {
    let start = address / PAGE as usize * PAGE as usize;
    let Some(end) = address.checked_add(bytes) else { return false };
    // SAFETY: `MS_ASYNC` changes nothing; for unmapped ranges the call fails with ENOMEM.
    unsafe { libc::msync(start as *mut libc::c_void, end - start, libc::MS_ASYNC) == 0 }
}

/// A mapping that is undone when dropped.
struct Mapped {
    address: usize,
    bytes: usize,
}

impl Mapped {
    fn new(bytes: usize, protection: i32, flags: i32, file: Option<&File>) -> io::Result<Mapped> {
        Mapped::near(0, bytes, protection, flags, file)
    }

    /// Maps at `wish` if that range is free, else anywhere.
    fn near(
        wish: usize,
        bytes: usize,
        protection: i32,
        flags: i32,
        file: Option<&File>,
    ) -> io::Result<Mapped> {
        let fd = file.map_or(-1, |file| file.as_raw_fd());
        let wish = std::ptr::without_provenance_mut(wish);
        // SAFETY: without MAP_FIXED the address is a hint, so no existing mapping can be hit.
        let address = unsafe { libc::mmap(wish, bytes, protection, flags, fd, 0) };
        if address == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        Ok(Mapped { address: address as usize, bytes })
    }
}

impl Drop for Mapped {
    fn drop(&mut self) {
        // SAFETY: the range was mapped by `new` and belongs to this value alone.
        unsafe { libc::munmap(self.address as *mut libc::c_void, self.bytes) };
    }
}

/// Two ranges of address space of equal size. Users see addresses of the first, in which nothing can
/// ever be read or written; the simulator works in the second, the shadow, at the same offsets.
pub(crate) struct AddressWindow {
    mapped: Mapped,
    bytes: u64,
}

impl AddressWindow {
    /// Reserves a window; costs address space only.
    pub(crate) fn reserve(bytes: u64) -> io::Result<AddressWindow> {
        let both = usize::try_from(bytes)
            .ok()
            .and_then(|bytes| bytes.checked_mul(2))
            .ok_or_else(|| io::Error::from(io::ErrorKind::OutOfMemory))?;
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
        Ok(AddressWindow { mapped: Mapped::new(both, libc::PROT_NONE, flags, None)?, bytes })
    }

    /// First address that users see.
    pub(crate) fn base(&self) -> u64 {
        self.mapped.address as u64
    }

    pub(crate) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Whether an address is one that users see.
    pub(crate) fn contains(&self, address: u64) -> bool {
        address.wrapping_sub(self.base()) < self.bytes
    }

    /// Maps a range of `file` at `address`, readable and writable in the shadow.
    pub(crate) fn map(&self, address: u64, bytes: u64, file: &File, offset: u64) -> io::Result<()> {
        let flags = libc::MAP_SHARED | libc::MAP_FIXED;
        let protection = libc::PROT_READ | libc::PROT_WRITE;
        self.remap(address, bytes, protection, flags, file.as_raw_fd(), offset)
    }

    /// Unmaps the range.
    pub(crate) fn unmap(&self, address: u64, bytes: u64) -> io::Result<()> {
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE | libc::MAP_FIXED;
        self.remap(address, bytes, libc::PROT_NONE, flags, -1, 0)
    }

    fn remap(
        &self,
        address: u64,
        bytes: u64,
        protection: i32,
        flags: i32,
        fd: i32,
        offset: u64,
    ) -> io::Result<()> {
        let place = self
            .shadow(address, bytes)
            .ok_or_else(|| io::Error::from(io::ErrorKind::InvalidInput))?;
        let target = place.address() as *mut libc::c_void;
        // SAFETY: MAP_FIXED replaces pages of the shadow only, which this window owns (`shadow`
        // has checked the range) and which no reference points into.
        let got = unsafe {
            libc::mmap(target, bytes as usize, protection, flags, fd, offset as libc::off_t)
        };
        if got == libc::MAP_FAILED { Err(io::Error::last_os_error()) } else { Ok(()) }
    }

    /// The place in the shadow of a range of users' addresses.
    pub(crate) fn shadow(&self, address: u64, bytes: u64) -> Option<HostPlace> {
        let offset = address.checked_sub(self.base())?;
        if offset.checked_add(bytes)? > self.bytes {
            return None;
        }
        // SAFETY: the range lies in the window, and so in its shadow.
        Some(unsafe { HostPlace::of_shadow((address + self.bytes) as usize) })
    }
}

/// Page-locked host memory, page-aligned, unmapped when dropped.
pub(crate) struct PinnedPages(Mapped);

impl PinnedPages {
    /// New pages, at the address `wish` if that is free.
    pub(crate) fn new(bytes: usize, wish: Option<usize>) -> io::Result<PinnedPages> {
        let protection = libc::PROT_READ | libc::PROT_WRITE;
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
        let bytes =
            bytes.checked_next_multiple_of(PAGE as usize).ok_or(io::ErrorKind::OutOfMemory)?;
        Mapped::near(wish.unwrap_or(0), bytes, protection, flags, None).map(PinnedPages)
    }

    /// The first `bytes` of the memory.
    pub(crate) fn range(&self, bytes: usize) -> HostRange {
        // SAFETY: the pages stay until this is dropped, after all work that may use them.
        unsafe { HostRange::new(self.0.address, bytes.min(self.0.bytes)) }
    }
}

/// A page of counters that several processes map.
pub(crate) struct SharedPage {
    mapped: Mapped,
    file: File,
}

impl SharedPage {
    /// How many counters the page offers.
    pub(crate) const COUNTERS: usize = PAGE as usize / size_of::<AtomicU64>();

    pub(crate) fn new(name: &CStr) -> io::Result<SharedPage> {
        SharedPage::open(memory_file(name, PAGE)?)
    }

    /// Maps the page that another process made.
    pub(crate) fn open(file: File) -> io::Result<SharedPage> {
        if file.metadata()?.len() != PAGE || !is_sealed(&file, false) {
            return Err(io::Error::from(io::ErrorKind::InvalidData));
        }
        let protection = libc::PROT_READ | libc::PROT_WRITE;
        let mapped = Mapped::new(PAGE as usize, protection, libc::MAP_SHARED, Some(&file))?;
        Ok(SharedPage { mapped, file })
    }

    pub(crate) fn fd(&self) -> i32 {
        self.file.as_raw_fd()
    }

    /// One of the page's counters, all 0 at first.
    pub(crate) fn counter(&self, index: usize) -> &AtomicU64 {
        assert!(index < SharedPage::COUNTERS, "the page has {} counters", SharedPage::COUNTERS);
        // SAFETY: inside the page by the check above, and aligned as the page is.
        let pointer = unsafe { (self.mapped.address as *mut u64).add(index) };
        // SAFETY: the page lives as long as `self` and is only ever used through atomics.
        unsafe { AtomicU64::from_ptr(pointer) }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::Ordering;

    use super::*;

    #[test]
    fn two_mappings_of_a_file_range_are_one_memory() {
        let file = memory_file(c"test", 4 * PAGE).unwrap();
        let window = AddressWindow::reserve(64 * PAGE).unwrap();
        let (a, b) = (window.base(), window.base() + 32 * PAGE);
        window.map(a, PAGE, &file, PAGE).unwrap();
        window.map(b, PAGE, &file, PAGE).unwrap();
        window.shadow(a, PAGE).unwrap().write(&[1, 2, 3]);
        let mut got = [0; 3];
        window.shadow(b, PAGE).unwrap().read(&mut got);
        assert_eq!(got, [1, 2, 3]);
        punch_hole(&file, PAGE, PAGE).unwrap();
        window.shadow(b, PAGE).unwrap().read(&mut got);
        assert_eq!(got, [0; 3]);
    }

    #[test]
    fn ranges_outside_the_window_have_no_shadow_and_map_nothing() {
        let file = memory_file(c"test", PAGE).unwrap();
        let window = AddressWindow::reserve(4 * PAGE).unwrap();
        let end = window.base() + 4 * PAGE;
        assert!(window.shadow(end - PAGE, PAGE).is_some());
        assert!(window.shadow(end - PAGE, PAGE + 1).is_none());
        assert!(window.shadow(window.base() - 1, 1).is_none());
        assert!(window.shadow(window.base(), u64::MAX).is_none());
        assert!(window.map(end, PAGE, &file, 0).is_err());
        assert!(!window.contains(end));
        assert!(window.contains(end - 1));
    }

    #[test]
    fn mapped_ranges_are_told_from_others() {
        let pages = PinnedPages::new(2 * PAGE as usize, None).unwrap();
        let address = pages.range(1).get();
        assert!(is_mapped(address + 1, 2 * PAGE as usize - 1));
        assert!(is_mapped(&raw const pages as usize, 1));
        drop(pages);
        assert!(!is_mapped(usize::MAX - 10, 5));
        assert!(!is_mapped(usize::MAX - 10, 50));
        assert!(!is_mapped(0, 8));
        assert!(!is_mapped(0xdead_beef_0000, 8));
    }

    #[test]
    fn a_shared_page_is_one_page_for_all_who_open_it() {
        let page = SharedPage::new(c"test").unwrap();
        let other = SharedPage::open(page.file.try_clone().unwrap()).unwrap();
        page.counter(3).store(7, Ordering::Release);
        assert_eq!(other.counter(3).load(Ordering::Acquire), 7);
        assert!(SharedPage::open(memory_file(c"short", 8).unwrap()).is_err());
    }
}
