//! Streams of the program on the fake driver, which notes every call that is handed a destroyed one.

use std::ffi::{CStr, CString, c_char, c_int, c_long, c_void};

use super::State;

/// `struct fake_streams` of `streams.h`.
#[repr(C)]
pub struct StreamState {
    pub dead_calls: c_long,
    pub reuse: c_long,
    pub spoiled: c_long,
    first: [c_char; 64],
}

/// The fake driver that the library of this process uses.
pub struct Program(*mut c_void);

impl Program {
    /// The driver at a path.
    pub fn open(path: &str) -> Program {
        let path = CString::new(path).unwrap();
        // SAFETY: a library without constructors, by a NUL-terminated path.
        let library = unsafe { libc::dlopen(path.as_ptr(), libc::RTLD_NOW) };
        assert!(!library.is_null());
        Program(library)
    }

    fn symbol(&self, name: &str) -> *mut c_void {
        let name = CString::new(name).unwrap();
        // SAFETY: an open handle and a NUL-terminated name.
        let address = unsafe { libc::dlsym(self.0, name.as_ptr()) };
        assert!(!address.is_null(), "{name:?}");
        address
    }

    /// Makes a stream of device 0.
    pub fn create(&self) -> usize {
        let address = self.symbol("fake_stream_create");
        // SAFETY: the function has this type.
        let create: extern "C" fn(c_int) -> usize = unsafe { std::mem::transmute(address) };
        create(0)
    }

    /// Pushes a device's context on this thread, as another library does.
    pub fn push_context(&self, device: i32) {
        let address = self.symbol("fake_push");
        // SAFETY: the function has this type.
        let push: extern "C" fn(c_int) -> c_int = unsafe { std::mem::transmute(address) };
        push(device);
    }

    /// Destroys it.
    pub fn destroy(&self, stream: usize) {
        let address = self.symbol("fake_stream_destroy");
        // SAFETY: the function has this type.
        let destroy: extern "C" fn(usize) = unsafe { std::mem::transmute(address) };
        destroy(stream);
    }

    /// Begins or ends a capture on it.
    pub fn capture(&self, stream: usize, on: bool) {
        let address = self.symbol("fake_stream_capture");
        // SAFETY: the function has this type.
        let capture: extern "C" fn(usize, c_int) = unsafe { std::mem::transmute(address) };
        capture(stream, on.into());
    }

    /// The driver's counters and switches.
    #[allow(clippy::mut_from_ref, reason = "the state is the library's, not the reference's")]
    pub fn state(&self) -> &mut State {
        // SAFETY: `fake` has this layout; the tests keep no two of these references at a time.
        unsafe { &mut *self.symbol("fake").cast::<State>() }
    }

    /// Those of streams.
    #[allow(clippy::mut_from_ref, reason = "the state is the library's, not the reference's")]
    pub fn streams(&self) -> &mut StreamState {
        // SAFETY: `fake_streams` has this layout; the tests keep no two of these references at a time.
        unsafe { &mut *self.symbol("fake_streams").cast::<StreamState>() }
    }

    /// Fails if any call so far was handed a destroyed stream.
    pub fn assert_no_dead_stream_was_touched(&self, what: &str) {
        let state = self.streams();
        // SAFETY: the fake terminates the name.
        let first = unsafe { CStr::from_ptr(state.first.as_ptr()) }.to_string_lossy();
        assert_eq!(state.dead_calls, 0, "{what}: {first} was handed a destroyed stream");
    }
}
