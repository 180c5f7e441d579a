//! A fake of one of the libraries beside the driver: what was called on it, and what is to fail.

use std::ffi::{CStr, c_char, c_int, c_void};

use super::{Built, Fake};

const MOST_CALLS: usize = 64;
const MOST_WORDS: usize = 32;

/// `struct noted` of `fake_library.h`.
#[repr(C)]
struct Noted {
    name: [c_char; 40],
    device: i64,
    words: [i64; MOST_WORDS],
}

/// `struct calls` of `fake_library.h`.
#[repr(C)]
struct Calls {
    count: i64,
    noted: [Noted; MOST_CALLS],
}

/// A call that the fake has seen.
#[derive(Clone, Debug, PartialEq)]
pub struct Call {
    pub name: String,
    /// The device whose context was current, -1 without one.
    pub device: i64,
    pub words: [i64; MOST_WORDS],
}

/// A built fake.
pub struct FakeLibrary(Built);

impl FakeLibrary {
    pub fn new(source: &str, file: &str, defines: &[&str]) -> FakeLibrary {
        FakeLibrary(Built::new(source, file, defines))
    }

    pub fn path(&self) -> String {
        self.0.path()
    }

    /// Lets the library ask the fake driver which device is current.
    pub fn ask(&self, driver: &Fake) {
        let place = self.0.symbol("current_device").cast::<*mut c_void>();
        // SAFETY: a pointer to a function of the fake, of that function's type; the test has one
        // thread that calls the library.
        unsafe { *place = driver.built.symbol("fake_current") };
    }

    /// The address of something that the library exports.
    pub fn symbol(&self, name: &str) -> *mut c_void {
        self.0.symbol(name)
    }

    /// Calls a setter of the library, as a program does that has a handle of its own.
    #[allow(dead_code, reason = "not every library has handles")]
    pub fn set(&self, function: &str, handle: i64, value: i64) {
        type Setter = unsafe extern "C" fn(i64, i64) -> c_int;
        // SAFETY: the fake's setters take a handle and a pointer or an integer: two registers.
        let set: Setter = unsafe { std::mem::transmute(self.0.symbol(function)) };
        // SAFETY: a live handle of the fake.
        assert_eq!(unsafe { set(handle, value) }, 0);
    }

    /// The calls since the last time.
    pub fn calls(&self) -> Vec<Call> {
        let calls = self.0.symbol("calls").cast::<Calls>();
        // SAFETY: `struct calls` has this layout, and nothing else uses it meanwhile.
        let calls = unsafe { &mut *calls };
        let count = std::mem::take(&mut calls.count) as usize;
        assert!(count <= MOST_CALLS, "some of {count} calls were not noted");
        let call = |noted: &Noted| Call {
            // SAFETY: the fake ends each name with a NUL.
            name: unsafe { CStr::from_ptr(noted.name.as_ptr()) }.to_str().unwrap().to_owned(),
            device: noted.device,
            words: noted.words,
        };
        calls.noted[..count].iter().map(call).collect()
    }

    /// The names of the calls since the last time.
    pub fn names(&self) -> Vec<String> {
        self.calls().into_iter().map(|call| call.name).collect()
    }

    /// Makes every later call of a function fail; an empty name ends that.
    pub fn fail(&self, function: &str, code: c_int) {
        assert!(function.len() < 40);
        let name = self.0.symbol("failing").cast::<[u8; 40]>();
        let mut bytes = [0; 40];
        bytes[..function.len()].copy_from_slice(function.as_bytes());
        // SAFETY: `failing` has this size, and nothing else uses it meanwhile.
        unsafe { *name = bytes };
        let failure = self.0.symbol("failure").cast::<i64>();
        // SAFETY: `failure` has this type, and nothing else uses it meanwhile.
        unsafe { *failure = code.into() };
    }
}
