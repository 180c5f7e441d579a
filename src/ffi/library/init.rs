//! Start-up and backends.

use std::mem::{offset_of, size_of};

use crate::config::{BackendChoice, SimConfig};
use crate::context::{self, Options};
use crate::driver::Backend;
use crate::error::{Error, Result};
use crate::ffi::structs::read;
use crate::ffi::{guard, guard_value, sconce_status};

/// Which backend is at work.
#[repr(i32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum sconce_backend {
    /// None: there is no device.
    SCONCE_BACKEND_NONE = 0,
    /// NVIDIA's driver.
    SCONCE_BACKEND_CUDA = 1,
    /// The simulated device.
    SCONCE_BACKEND_SIM = 2,
}

/// What `sconce_init_with` may choose. Zero in a field means: as the environment says.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct sconce_options {
    /// `sizeof(sconce_options)`, set by the caller.
    pub struct_size: u32,
    /// `SCONCE_BACKEND_CUDA` or `_SIM`; `_NONE` (0): as `SCONCE_BACKEND` says.
    pub backend: i32,
    /// Simulated devices, 1 to 64.
    pub sim_devices: i32,
    /// Streaming multiprocessors of each simulated device.
    pub sim_sms: i32,
    /// Memory of each simulated device, in bytes.
    pub sim_memory_bytes: u64,
}

const _: () = {
    assert!(size_of::<sconce_options>() == 24);
    assert!(offset_of!(sconce_options, sim_memory_bytes) == 16);
};

grows!(
    sconce_options, "SCONCE_OPTIONS_INIT", first version: 24 bytes,
    backend, sim_devices, sim_sms, sim_memory_bytes,
);

impl sconce_options {
    fn to_core(self) -> Result<Options> {
        let from_environment = Options::from_environment();
        let backend = match self.backend {
            0 => from_environment.backend,
            1 => BackendChoice::Cuda,
            2 => BackendChoice::Sim,
            other => {
                return Err(Error::invalid_argument(format!(
                    "options.backend is {other}; it must be SCONCE_BACKEND_NONE (0: as the \
                     environment says), _CUDA (1) or _SIM (2)"
                )));
            }
        };
        let sim = from_environment.sim;
        let chosen = |name: &str, value: i32, default: i32, most: i32| match value {
            0 => Ok(default),
            value if (1..=most).contains(&value) => Ok(value),
            value => Err(Error::invalid_argument(format!(
                "options.{name} is {value}; it must be 1 to {most}, or 0 for the default"
            ))),
        };
        Ok(Options {
            backend,
            sim: SimConfig {
                devices: chosen("sim_devices", self.sim_devices, sim.devices, 64)?,
                multi_processors: chosen("sim_sms", self.sim_sms, sim.multi_processors, 4096)?,
                memory_bytes: match self.sim_memory_bytes {
                    0 => sim.memory_bytes,
                    bytes => bytes,
                },
                ..sim
            },
        })
    }
}

/// Makes the library ready: finds the backend and its devices. Optional, since every call that
/// needs a device does the same; idempotent.
///
/// # Parameters
/// None.
/// # Errors
/// NO_DEVICE: there is no CUDA device and `SCONCE_BACKEND` asks for none else; the message tells
/// what was searched. LIBRARY_NOT_FOUND: `SCONCE_BACKEND=cuda` and `libcuda` is missing. FORKED.
/// # Ownership
/// None.
/// # Ordering
/// Makes no context on any device; may take as long as opening the driver takes.
/// # Threads
/// Any.
/// # Safety
/// No requirements.
/// # Upstream
/// `torch.cuda.init()`.
#[must_use]
#[unsafe(no_mangle)]
pub extern "C" fn sconce_init() -> sconce_status {
    guard(|| context::initialize().map(|_| ()))
}

/// Makes the library ready with a backend, and a simulated machine, of the caller's choice.
///
/// May follow a call that found no device.
///
/// # Parameters
/// `options`: begin with `SCONCE_OPTIONS_INIT`; fields that are 0 follow the environment.
/// # Errors
/// INVALID_ARGUMENT: `options` is NULL, its `struct_size` is no version's, or a field is out of range. INVALID_STATE: already initialised
/// otherwise. Else as `sconce_init`.
/// # Ownership
/// `options` is read during the call.
/// # Ordering
/// As `sconce_init`.
/// # Threads
/// Any.
/// # Safety
/// `options` is NULL or points to `struct_size` readable bytes.
/// # Upstream
/// None: torch has one backend.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_init_with(options: *const sconce_options) -> sconce_status {
    guard(|| {
        // SAFETY: the caller's promise is the one asked for.
        let options = unsafe { read(options, "options") }?;
        context::initialize_with(options.to_core()?).map(|_| ())
    })
}

/// Tells which backend is at work, having found it out if need be.
///
/// # Parameters
/// None.
/// # Errors
/// None. `SCONCE_BACKEND_NONE` when there is no device, and in a forked child.
/// # Ownership
/// None.
/// # Ordering
/// Makes no context; does not initialise.
/// # Threads
/// Any.
/// # Safety
/// No requirements.
/// # Upstream
/// None.
#[unsafe(no_mangle)]
pub extern "C" fn sconce_backend_get_active() -> sconce_backend {
    guard_value(sconce_backend::SCONCE_BACKEND_NONE, || {
        match context::probe().map(context::Runtime::backend) {
            Ok(Backend::Cuda) => sconce_backend::SCONCE_BACKEND_CUDA,
            Ok(Backend::Sim) => sconce_backend::SCONCE_BACKEND_SIM,
            Err(_) => sconce_backend::SCONCE_BACKEND_NONE,
        }
    })
}

/// Tells whether there is a device to work on; `CUDA_VISIBLE_DEVICES` is respected.
///
/// # Parameters
/// None.
/// # Errors
/// None; never fails. False in a forked child.
/// # Ownership
/// None.
/// # Ordering
/// Makes no context; does not initialise.
/// # Threads
/// Any.
/// # Safety
/// No requirements.
/// # Upstream
/// `torch.cuda.is_available()`.
#[unsafe(no_mangle)]
pub extern "C" fn sconce_is_available() -> bool {
    guard_value(false, context::is_available)
}

/// Tells whether a device has been used, or an initialising call made, in this process.
///
/// # Parameters
/// None.
/// # Errors
/// None. False in a forked child.
/// # Ownership
/// None.
/// # Ordering
/// Does not block.
/// # Threads
/// Any.
/// # Safety
/// No requirements.
/// # Upstream
/// `torch.cuda.is_initialized()`.
#[unsafe(no_mangle)]
pub extern "C" fn sconce_is_initialized() -> bool {
    guard_value(false, context::is_initialized)
}
