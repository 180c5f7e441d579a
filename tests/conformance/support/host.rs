//! Host memory, host functions and clocks for the tests: the only unsafe code of the suite.

use std::ffi::c_void;
use std::ops::Deref;
use std::os::fd::{FromRawFd, OwnedFd};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use sconce_base::error::Result;
use sconce_base::types::DeviceIndex;
use sconce_driver::{Driver, HostFunction, HostRange, RawAddress};

/// Live host memory, read and written through its address alone, since a device writes it too.
pub(crate) struct Span {
    address: usize,
    bytes: usize,
}

impl Span {
    /// The first byte, for a driver. The owner of the span outlives the work (tests wait for it).
    pub(crate) fn raw(&self) -> RawAddress {
        // SAFETY: the memory lives as long as its owner, and tests wait for the work before that.
        unsafe { RawAddress::from_caller(self.address) }
    }

    /// All bytes, for a driver that wants to know how many there are.
    pub(crate) fn range(&self) -> HostRange {
        // SAFETY: the memory lives as long as its owner, and tests wait for the work before that.
        unsafe { HostRange::new(self.address, self.bytes) }
    }

    /// The address as a number.
    pub(crate) fn address(&self) -> usize {
        self.address
    }

    /// How many bytes there are.
    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }

    /// Overwrites the start of the span.
    pub(crate) fn write(&self, data: &[u8]) {
        assert!(data.len() <= self.bytes, "the test writes past its own buffer");
        // SAFETY: the span is live, large enough, and no reference to it exists.
        unsafe { std::ptr::copy(data.as_ptr(), self.address as *mut u8, data.len()) }
    }

    /// A copy of all bytes.
    pub(crate) fn read(&self) -> Vec<u8> {
        let mut copy = vec![0; self.bytes];
        // SAFETY: the span is live and as long as the copy.
        unsafe { std::ptr::copy(self.address as *const u8, copy.as_mut_ptr(), self.bytes) }
        copy
    }
}

/// Ordinary host memory, aligned to a page so that it can be registered.
pub(crate) struct Pageable {
    span: Span,
    layout: std::alloc::Layout,
}

impl Pageable {
    /// Memory filled with `value`.
    pub(crate) fn new(bytes: usize, value: u8) -> Pageable {
        let layout = std::alloc::Layout::from_size_align(bytes.max(1), 4096).unwrap();
        // SAFETY: the layout has a size above zero.
        let pointer = unsafe { std::alloc::alloc_zeroed(layout) };
        assert!(!pointer.is_null(), "the host is out of memory");
        let pageable = Pageable { span: Span { address: pointer as usize, bytes }, layout };
        pageable.write(&vec![value; bytes]);
        pageable
    }

    /// Memory that holds `data`.
    pub(crate) fn holding(data: &[u8]) -> Pageable {
        let pageable = Pageable::new(data.len(), 0);
        pageable.write(data);
        pageable
    }
}

impl Deref for Pageable {
    type Target = Span;
    fn deref(&self) -> &Span {
        &self.span
    }
}

impl Drop for Pageable {
    fn drop(&mut self) {
        if std::thread::panicking() {
            return; // Queued work may still use it.
        }
        // SAFETY: allocated in `new` with this layout, freed once.
        unsafe { std::alloc::dealloc(self.span.address as *mut u8, self.layout) }
    }
}

/// Page-locked memory of a driver.
pub(crate) struct Pinned<'a> {
    span: Span,
    driver: &'a dyn Driver,
    live: bool,
}

impl<'a> Pinned<'a> {
    /// Memory filled with `value`.
    pub(crate) fn new(
        driver: &'a dyn Driver,
        device: DeviceIndex,
        bytes: usize,
        value: u8,
    ) -> Result<Pinned<'a>> {
        let address = driver.host_alloc(device, bytes)?;
        let pinned = Pinned { span: Span { address, bytes }, driver, live: true };
        pinned.write(&vec![value; bytes]);
        Ok(pinned)
    }

    /// Memory that holds `data`.
    pub(crate) fn holding(
        driver: &'a dyn Driver,
        device: DeviceIndex,
        data: &[u8],
    ) -> Result<Pinned<'a>> {
        let pinned = Pinned::new(driver, device, data.len(), 0)?;
        pinned.write(data);
        Ok(pinned)
    }

    /// Gives it back, telling how that went.
    pub(crate) fn free(mut self) -> Result<()> {
        self.live = false;
        self.driver.host_free(self.span.address)
    }
}

impl Deref for Pinned<'_> {
    type Target = Span;
    fn deref(&self) -> &Span {
        &self.span
    }
}

impl Drop for Pinned<'_> {
    fn drop(&mut self) {
        if self.live && !std::thread::panicking() {
            let _ = self.driver.host_free(self.span.address);
        }
    }
}

/// A closure as a host function. The driver must run it at most once.
pub(crate) fn closure(function: impl FnOnce() + Send + 'static) -> HostFunction {
    type Boxed = Box<dyn FnOnce() + Send>;
    extern "C" fn run(user: *mut c_void) {
        // SAFETY: `user` is the box made below; a driver calls once.
        let function = unsafe { Box::from_raw(user.cast::<Boxed>()) };
        function();
    }
    let boxed: Box<Boxed> = Box::new(Box::new(function));
    // SAFETY: the closure is `Send` and owned by the box; a panic in it aborts, it never unwinds.
    unsafe { HostFunction::new(run, Box::into_raw(boxed).cast()) }
}

/// A host function that adds one to a counter; calling it too often harms nobody.
pub(crate) fn counting(counter: &'static AtomicUsize) -> HostFunction {
    extern "C" fn run(user: *mut c_void) {
        // SAFETY: `user` is a `&'static AtomicUsize`.
        let counter = unsafe { &*user.cast::<AtomicUsize>() };
        counter.fetch_add(1, Ordering::SeqCst);
    }
    // SAFETY: the counter lives for ever and may be used from any thread.
    unsafe { HostFunction::new(run, std::ptr::from_ref(counter).cast_mut().cast()) }
}

/// A host function that adds one to the first counter, and an alternative that adds one to the second.
pub(crate) fn either(counters: &'static [AtomicUsize; 2]) -> HostFunction {
    fn add(user: *mut c_void, which: usize) {
        // SAFETY: `user` is a `&'static [AtomicUsize; 2]`.
        let counters = unsafe { &*user.cast::<[AtomicUsize; 2]>() };
        counters[which].fetch_add(1, Ordering::SeqCst);
    }
    extern "C" fn run(user: *mut c_void) {
        add(user, 0);
    }
    extern "C" fn otherwise(user: *mut c_void) {
        add(user, 1);
    }
    let user = std::ptr::from_ref(counters).cast_mut().cast();
    // SAFETY: the counters live for ever and may be used from any thread.
    unsafe { HostFunction::with_alternative(run, otherwise, user) }
}

/// Processor time this thread has used.
pub(crate) fn thread_cpu_time() -> Duration {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `time` is writable.
    let code = unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &raw mut time) };
    assert_eq!(code, 0, "the thread's clock cannot be read");
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}

/// A copy of a descriptor that child processes inherit.
pub(crate) fn inheritable(fd: &OwnedFd) -> OwnedFd {
    use std::os::fd::AsRawFd as _;
    // SAFETY: dup takes any number.
    let copy = unsafe { libc::dup(fd.as_raw_fd()) };
    adopt(copy)
}

/// Takes over a descriptor by number (one that was inherited, or just made).
pub(crate) fn adopt(fd: i32) -> OwnedFd {
    assert!(fd >= 0, "not a descriptor: {fd}");
    // SAFETY: it was just made by `dup`, or inherited under a number that the test passes here once, so nobody else
    // owns it.
    unsafe { OwnedFd::from_raw_fd(fd) }
}

/// The context current on this thread, asked of `libcuda` itself and not of the driver under test.
pub(crate) fn cuda_current_context() -> usize {
    // SAFETY: the name is NUL-terminated; NOLOAD only finds what is loaded already.
    let library =
        unsafe { libc::dlopen(c"libcuda.so.1".as_ptr(), libc::RTLD_NOW | libc::RTLD_NOLOAD) };
    assert!(!library.is_null(), "libcuda.so.1 is not loaded");
    // SAFETY: the handle is open and the name NUL-terminated.
    let symbol = unsafe { libc::dlsym(library, c"cuCtxGetCurrent".as_ptr()) };
    assert!(!symbol.is_null(), "libcuda has no cuCtxGetCurrent");
    // SAFETY: the documented signature of cuCtxGetCurrent.
    let get: extern "C" fn(*mut usize) -> i32 = unsafe { std::mem::transmute(symbol) };
    let mut context = 0;
    assert_eq!(get(&raw mut context), 0, "cuCtxGetCurrent failed");
    context
}
