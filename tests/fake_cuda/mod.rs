//! Builds the fake driver in a variant, opens it, and reaches into it.

#![allow(dead_code, reason = "each test program uses a part of it")]
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test may fail loudly anywhere")]

pub(crate) mod fft;
pub(crate) mod library;
pub(crate) mod streams;

use std::ffi::{CString, c_char, c_int, c_long, c_void};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};

use sconce::config::Config;
use sconce::driver::cuda::CudaDriver;
use sconce::error::{Error, Result};

/// `struct fake` of `fake_cuda.c`.
#[repr(C)]
pub(crate) struct State {
    pub(crate) retains: c_long,
    pub(crate) set_current: c_long,
    pub(crate) get_current: c_long,
    pub(crate) records: c_long,
    pub(crate) synchronizes: c_long,
    pub(crate) frees: c_long,
    pub(crate) copies: c_long,
    pub(crate) bad_flags: c_long,
    pub(crate) strict: c_long,
    pub(crate) pending: c_long,
    pub(crate) code: c_long,
    pub(crate) active: c_long,
    pub(crate) waiting: c_long,
    pub(crate) words: [c_long; 8],
}

/// A built library, removed at the end.
pub(crate) struct Built {
    folder: PathBuf,
    file: PathBuf,
}

impl Drop for Built {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

impl Built {
    /// Compiles `source` with the given `-D`s; each call makes a library of its own.
    pub(crate) fn new(source: &str, file: &str, defines: &[&str]) -> Built {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let folder =
            std::env::temp_dir().join(format!("sconce-fake-{}-{number}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let library = folder.join(file);
        let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fake_cuda");
        let status = Command::new("cc")
            .args(["-std=gnu11", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC", "-o"])
            .arg(&library)
            .args(defines.iter().map(|define| format!("-D{define}")))
            .arg(sources.join(source))
            .status()
            .expect("the tests need a C compiler named cc");
        assert!(status.success(), "{source} {defines:?}");
        Built { folder, file: library }
    }

    pub(crate) fn path(&self) -> String {
        self.file.to_str().unwrap().to_owned()
    }

    /// The address of something the library exports.
    pub(crate) fn symbol(&self, name: &str) -> *mut c_void {
        let path = CString::new(self.path()).unwrap();
        let name = CString::new(name).unwrap();
        // SAFETY: a library without constructors, by a NUL-terminated path; opened once more.
        let handle = unsafe { libc::dlopen(path.as_ptr(), libc::RTLD_NOW) };
        assert!(!handle.is_null());
        // SAFETY: an open handle and a NUL-terminated name.
        let address = unsafe { libc::dlsym(handle, name.as_ptr().cast::<c_char>()) };
        assert!(!address.is_null(), "{name:?}");
        address
    }
}

/// An opened fake driver.
pub(crate) struct Fake {
    pub(crate) driver: CudaDriver,
    built: Built,
}

/// The usual configuration with libraries of the test's choice.
pub(crate) fn config(libcuda: &str, libnvml: &str) -> Config {
    Config {
        libcuda: Some(libcuda.to_owned()),
        libnvml: Some(libnvml.to_owned()),
        ..Config::get().clone()
    }
}

/// Opens the fake driver in a variant and says how that went.
pub(crate) fn open(defines: &[&str]) -> Result<Fake> {
    open_beside(defines, |_| {})
}

/// The same beside libraries that the test chooses.
pub(crate) fn open_beside(defines: &[&str], choose: impl FnOnce(&mut Config)) -> Result<Fake> {
    let built = Built::new("fake_cuda.c", "libcuda.so.1", defines);
    let mut config = config(&built.path(), "no-nvml-here.so");
    choose(&mut config);
    Ok(Fake { driver: CudaDriver::open(&config)?, built })
}

/// The error of a variant that must not open.
pub(crate) fn refused(defines: &[&str]) -> Error {
    match open(defines) {
        Ok(_) => panic!("{defines:?} opened"),
        Err(error) => error,
    }
}

impl Fake {
    /// The fake's counters and switches.
    #[allow(clippy::mut_from_ref, reason = "the state is the library's, not the reference's")]
    pub(crate) fn state(&self) -> &mut State {
        let state = self.built.symbol("fake").cast::<State>();
        // SAFETY: `struct fake` has this layout; each test has a library and a thread of its own, and
        // keeps no two of these references at a time.
        unsafe { &mut *state }
    }

    /// The address of something that the fake driver exports.
    pub(crate) fn symbol(&self, name: &str) -> *mut c_void {
        self.built.symbol(name)
    }

    /// What `cuCtxGetCurrent` answers from now on.
    pub(crate) fn answer_current(&self, code: c_int) {
        let place = self.built.symbol("current_code").cast::<c_int>();
        // SAFETY: `current_code` has this type; each test has a library and a thread of its own.
        unsafe { *place = code };
    }

    fn call(&self, name: &str, argument: c_int) -> c_long {
        let address = self.built.symbol(name);
        // SAFETY: the fake's own functions take at most an int and return an int or a long.
        let function = unsafe {
            std::mem::transmute::<*mut c_void, unsafe extern "C" fn(c_int) -> c_long>(address)
        };
        // SAFETY: as above.
        unsafe { function(argument) }
    }

    /// Which device's context is current on this thread; `None` without one.
    pub(crate) fn current(&self) -> Option<i32> {
        Some(self.call("fake_current", 0) as i32).filter(|device| *device >= 0)
    }

    /// How many contexts are on this thread's stack.
    pub(crate) fn depth(&self) -> i32 {
        self.call("fake_depth", 0) as i32
    }

    /// Pushes a device's context, as another library would.
    pub(crate) fn push(&self, device: i32) {
        self.call("fake_push", device);
    }

    /// How often a device's primary context was retained.
    pub(crate) fn retained(&self, device: i32) -> i64 {
        self.call("fake_retained", device)
    }
}
