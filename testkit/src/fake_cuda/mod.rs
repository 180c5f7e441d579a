//! Builds the fake driver in a variant, opens it, and reaches into it.

pub mod fft;
pub mod library;
pub mod streams;

use std::ffi::{CString, c_char, c_int, c_long, c_void};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};

use sconce_base::config::Config;
use sconce_base::error::{Error, Result};
use sconce_base::types::DeviceIndex;
use sconce_cuda::CudaDriver;
use sconce_driver::prelude::*;
use sconce_driver::{StreamFlags, StreamHandle, StreamRef};

/// `struct fake` of `fake_cuda.c`.
#[repr(C)]
pub struct State {
    pub retains: c_long,
    pub set_current: c_long,
    pub get_current: c_long,
    pub records: c_long,
    pub synchronizes: c_long,
    pub frees: c_long,
    pub copies: c_long,
    pub bad_flags: c_long,
    pub strict: c_long,
    pub pending: c_long,
    pub code: c_long,
    pub active: c_long,
    pub waiting: c_long,
    pub words: [c_long; 8],
    pub handles: c_long,
    pub mappings: c_long,
    pub ranges: c_long,
    pub rdma_access: c_long,
    pub all_access: c_long,
}

/// A number as the handle of a stream, for fakes.
pub fn stream(native: usize) -> StreamHandle {
    // SAFETY: the fakes compare handles and follow none.
    unsafe { StreamHandle::from_native(native) }
}

/// A built library, removed at the end.
pub struct Built {
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
    pub fn new(source: &str, file: &str, defines: &[&str]) -> Built {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let folder =
            std::env::temp_dir().join(format!("sconce-fake-{}-{number}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let library = folder.join(file);
        // A copy: a library that is opened by two names of one file is opened once.
        std::fs::copy(compiled(source, defines, number), &library).unwrap();
        Built { folder, file: library }
    }

    pub fn path(&self) -> String {
        self.file.to_str().unwrap().to_owned()
    }

    /// The address of something the library exports.
    pub fn symbol(&self, name: &str) -> *mut c_void {
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

/// A library that was compiled from these sources, by this process or an earlier one. Most tests need the same few
/// variants, and compiling one takes longer than most tests. The name of the file is a digest of the sources and the
/// compiler's arguments, so that a change of either is never missed.
fn compiled(source: &str, defines: &[&str], number: u32) -> PathBuf {
    let sources = crate::root().join("testkit/fake_cuda");
    let defines: Vec<String> = defines.iter().map(|define| format!("-D{define}")).collect();
    let arguments = ["-std=gnu11", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC", "-o"];
    let mut files: Vec<PathBuf> =
        std::fs::read_dir(&sources).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    let mut digest = DefaultHasher::new();
    (source, &defines, arguments).hash(&mut digest);
    for file in &files {
        (file.file_name(), std::fs::read(file).unwrap()).hash(&mut digest);
    }
    // Beside the folder of the test programs.
    let program = std::env::current_exe().unwrap();
    let folder = program.parent().and_then(Path::parent).unwrap().join("fake_libraries");
    std::fs::create_dir_all(&folder).unwrap();
    let name = format!("{:016x}", digest.finish());
    let library = folder.join(format!("{name}.so"));
    if !library.exists() {
        let unfinished = folder.join(format!("{name}-{}-{number}", std::process::id()));
        let status = Command::new("cc")
            .args(arguments)
            .arg(&unfinished)
            .args(&defines)
            .arg(sources.join(source))
            .status()
            .expect("the tests need a C compiler named cc");
        assert!(status.success(), "{source} {defines:?}");
        std::fs::rename(unfinished, &library).unwrap();
    }
    library
}

/// An opened fake driver.
pub struct Fake {
    pub driver: CudaDriver,
    built: Built,
}

/// The usual configuration with libraries of the test's choice.
pub fn config(libcuda: &str, libnvml: &str) -> Config {
    Config {
        libcuda: Some(libcuda.to_owned()),
        libnvml: Some(libnvml.to_owned()),
        ..Config::get().clone()
    }
}

/// Opens the fake driver in a variant and says how that went.
pub fn open(defines: &[&str]) -> Result<Fake> {
    open_beside(defines, |_| {})
}

/// The fake with both of its devices.
pub fn fake() -> Fake {
    open(&[]).ok().unwrap()
}

/// The first device.
pub const FIRST: DeviceIndex = DeviceIndex::ZERO;

/// The second device.
pub fn second() -> DeviceIndex {
    DeviceIndex::new(1).unwrap()
}

/// A new stream of a device.
pub fn stream_of(fake: &Fake, device: DeviceIndex) -> StreamRef {
    let handle = fake.driver.stream_create(device, StreamFlags::default(), 0).unwrap();
    StreamRef { device, handle }
}

/// [`open`] beside libraries that the test chooses.
pub fn open_beside(defines: &[&str], choose: impl FnOnce(&mut Config)) -> Result<Fake> {
    let built = Built::new("fake_cuda.c", "libcuda.so.1", defines);
    let mut config = config(&built.path(), "no-nvml-here.so");
    choose(&mut config);
    Ok(Fake { driver: CudaDriver::open(&config)?, built })
}

/// The error of a variant that must not open.
pub fn refused(defines: &[&str]) -> Error {
    match open(defines) {
        Ok(_) => panic!("{defines:?} opened"),
        Err(error) => error,
    }
}

impl Fake {
    /// The fake's counters and switches.
    #[allow(clippy::mut_from_ref, reason = "the state is the library's, not the reference's")]
    pub fn state(&self) -> &mut State {
        let state = self.built.symbol("fake").cast::<State>();
        // SAFETY: `struct fake` has this layout; each test has a library and a thread of its own, and
        // keeps no two of these references at a time.
        unsafe { &mut *state }
    }

    /// The address of something that the fake driver exports.
    pub fn symbol(&self, name: &str) -> *mut c_void {
        self.built.symbol(name)
    }

    /// Begins or ends a capture on a stream, as somebody else's code.
    pub fn capture(&self, stream: StreamRef, on: bool) {
        let address = self.built.symbol("fake_stream_capture");
        // SAFETY: the function has this type.
        let capture: extern "C" fn(usize, c_int) = unsafe { std::mem::transmute(address) };
        capture(stream.handle.native(), on.into());
    }

    /// What `cuCtxGetCurrent` answers from now on.
    pub fn answer_current(&self, code: c_int) {
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
        // SAFETY: the fake's functions take at most an int, check it, and change only what the fake owns.
        unsafe { function(argument) }
    }

    /// Which device's context is current on this thread; `None` without one.
    pub fn current(&self) -> Option<i32> {
        Some(self.call("fake_current", 0) as i32).filter(|device| *device >= 0)
    }

    /// How many contexts are on this thread's stack.
    pub fn depth(&self) -> i32 {
        self.call("fake_depth", 0) as i32
    }

    /// Pushes a device's context, as another library would.
    pub fn push(&self, device: i32) {
        self.call("fake_push", device);
    }

    /// How often a device's primary context was retained.
    pub fn retained(&self, device: i32) -> i64 {
        self.call("fake_retained", device)
    }
}
