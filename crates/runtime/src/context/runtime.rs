//! The backend in use: opened by the first call that needs it, and kept until the process ends.

use std::sync::atomic::{AtomicBool, Ordering};

use sconce_base::config::{BackendChoice, Config};
use sconce_base::error::{Error, Result, Status};
use sconce_base::lock::rank;
use sconce_base::sync::{OnceCell, shared_static};
use sconce_base::types::{DeviceIndex, MAX_DEVICES};
use sconce_base::{process, program_code};
use sconce_driver::{self as driver, Driver};

use super::backend::{self, Backend, Opened};
use super::once::StartOnce;
use super::options::Options;

/// A backend that has been opened.
pub struct Runtime {
    backend: Backend,
    driver: &'static dyn Driver,
    device_count: i32,
    launch_blocking: bool,
    checks_device: bool,
    options: Options,
}

shared_static! {
    /// The backend, once it has been probed.
    static PROBED: StartOnce<Runtime> = StartOnce::new();
}

shared_static! {
    /// The devices that were counted without a backend; `None` if they cannot be.
    static COUNTED: OnceCell<rank::CountedDevices, Option<i32>> = OnceCell::new();
}

/// Whether the open backend's [`Runtime::checks_device`] is true, for calls that do not look at the backend.
static CHECKS_DEVICE: AtomicBool = AtomicBool::new(false);

impl Runtime {
    fn open(options: Options) -> Result<Runtime> {
        watch_forks()?;
        let Opened { backend, driver } = backend::open(&options)?;
        let device_count = driver.device_count().min(MAX_DEVICES as i32);
        if device_count <= 0 {
            return Err(Error::new(Status::NoDevice, "the backend shows no device"));
        }
        let config = Config::get();
        let checks_device = config.check_device.unwrap_or(cfg!(debug_assertions));
        CHECKS_DEVICE.store(checks_device, Ordering::Relaxed);
        Ok(Runtime {
            backend,
            driver,
            device_count,
            launch_blocking: config.launch_blocking,
            checks_device,
            options,
        })
    }

    /// The driver.
    #[inline]
    pub fn driver(&self) -> &'static dyn Driver {
        self.driver
    }

    /// Which backend it is.
    pub fn backend(&self) -> Backend {
        self.backend
    }

    /// The number of devices, at least one.
    #[inline]
    pub fn device_count(&self) -> i32 {
        self.device_count
    }

    /// All devices.
    pub fn devices(&self) -> impl Iterator<Item = DeviceIndex> {
        (0..self.device_count).filter_map(DeviceIndex::new)
    }

    /// Whether calls that use the current device ask the driver for the thread's context, and report a device that
    /// other code made current (`SCONCE_CHECK_DEVICE`).
    #[inline]
    pub(crate) fn checks_device(&self) -> bool {
        self.checks_device
    }

    /// Whether `CUDA_LAUNCH_BLOCKING` is set.
    #[inline]
    pub fn launch_blocking(&self) -> bool {
        self.launch_blocking
    }
}

/// [`Runtime::checks_device`] of the open backend; false without one.
#[inline(always)]
pub(crate) fn checks_device() -> bool {
    CHECKS_DEVICE.load(Ordering::Relaxed)
}

/// The backend, initialised if need be. Every call that needs a device begins with this.
#[inline]
pub fn runtime() -> Result<&'static Runtime> {
    if program_code::nothing_to_check()
        && let Some(runtime) = PROBED.get()
    {
        return Ok(runtime);
    }
    initialize()
}

/// Accepts that there is no device, for calls that have nothing to do then, as torch's; returns every other failure.
#[cold]
#[inline(never)]
pub fn without_device(failure: Error) -> Result<()> {
    match failure.status() {
        Status::NoDevice | Status::LibraryNotFound => Ok(()),
        _ => Err(failure),
    }
}

/// The backend, initialised if need be; `None` if there is no device.
#[inline]
pub fn runtime_if_any() -> Result<Option<&'static Runtime>> {
    runtime().map(Some).or_else(|failure| without_device(failure).map(|()| None))
}

/// The backend for a call that gives something back. A host function may make it.
#[inline]
pub(crate) fn runtime_to_release() -> Result<&'static Runtime> {
    if program_code::nothing_to_check()
        && let Some(runtime) = PROBED.get()
    {
        return Ok(runtime);
    }
    prepared()
}

/// `sconce_init`: initialises, or returns why there is no backend.
#[cold]
#[inline(never)]
pub fn initialize() -> Result<&'static Runtime> {
    match program_code::objection() {
        Some(why) => Err(driver::not_permitted(&why)),
        None => prepared(),
    }
}

/// The backend, initialised if need be. While a host function runs on some thread, calls of all threads come here.
#[cold]
fn prepared() -> Result<&'static Runtime> {
    if program_code::is_initialized()
        && let Some(runtime) = PROBED.get()
    {
        return Ok(runtime);
    }
    let runtime = probe()?;
    program_code::note_initialized();
    Ok(runtime)
}

/// `sconce_init_with`: initialises with the caller's choice rather than that of the environment.
pub fn initialize_with(options: Options) -> Result<&'static Runtime> {
    let _call = process::CountedCall::begin()?;
    let (runtime, made) = PROBED.retry(|| Runtime::open(options))?;
    process::open();
    if !made && !runtime.satisfies(&options) {
        return Err(Error::invalid_state(format!(
            "already initialised with the {} backend and other options; call sconce_init_with \
             before any other function, or with the same options",
            runtime.backend().name()
        )));
    }
    program_code::note_initialized();
    Ok(runtime)
}

impl Runtime {
    /// Whether the open backend is what `options` ask for.
    fn satisfies(&self, options: &Options) -> bool {
        match options.backend {
            BackendChoice::Cuda => self.backend() == Backend::Cuda,
            BackendChoice::Sim => self.backend() == Backend::Sim && self.options.sim == options.sim,
            BackendChoice::Auto => self.backend() != Backend::Sim,
        }
    }
}

/// Opens the backend without using a device.
pub fn probe() -> Result<&'static Runtime> {
    let _call = process::CountedCall::begin()?;
    let runtime = PROBED.get_or_start(|| Runtime::open(Options::from_environment()))?;
    process::open();
    Ok(runtime)
}

/// How many devices there are; 0 if there is no backend. Opens a backend only where they cannot be counted without one:
/// a process that has only counted may fork.
pub fn count_devices() -> i32 {
    if let Some(runtime) = opened() {
        return runtime.device_count();
    }
    let Ok(_call) = process::CountedCall::begin() else { return 0 };
    // What is open, or could not be opened, has the last word.
    let counted = match PROBED.is_fresh() {
        true => *COUNTED.get_or_init(|| backend::count(&Options::from_environment())),
        false => None,
    };
    match counted {
        Some(count) => count.min(MAX_DEVICES as i32),
        None => probe().map_or(0, Runtime::device_count),
    }
}

/// The backend if one is open. `None` in a forked child that is cut off.
pub fn opened() -> Option<&'static Runtime> {
    if process::is_open() { PROBED.get() } else { None }
}

/// Refuses a function that needs no device but takes locks in a forked child, where a lock may be held for
/// ever.
pub fn refuse_forked_child() -> Result<()> {
    if process::in_child() { process::refuse() } else { Ok(()) }
}

/// Installs the fork handler. Takes no lock, which could be held at a fork: two threads may both install the
/// handler, which is harmless.
fn watch_forks() -> Result<()> {
    static WATCHED: AtomicBool = AtomicBool::new(false);
    if !WATCHED.load(Ordering::Acquire) {
        process::at_fork(leave_fast_path)?;
        WATCHED.store(true, Ordering::Release);
    }
    Ok(())
}

/// Runs in a forked child, where only atomic operations are allowed.
extern "C" fn leave_fast_path() {
    program_code::note_forked();
}

/// Whether there is a device. Creates no context and never fails.
pub fn is_available() -> bool {
    count_devices() > 0
}
