//! Start-up and backends.

use std::mem::{offset_of, size_of};

use sconce_base::config::{BackendChoice, SimConfig};
use sconce_base::error::{Error, Result};
use sconce_runtime::context::Backend;
use sconce_runtime::context::{self, Options};

use crate::{guard, guard_value, sconce_status};

/// The backends.
#[repr(i32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum sconce_backend {
    /// There is no device.
    SCONCE_BACKEND_NONE = 0,
    /// NVIDIA's driver.
    SCONCE_BACKEND_CUDA = 1,
    /// The simulated device.
    SCONCE_BACKEND_SIM = 2,
}

/// Options of `sconce_init_with`. A field that is 0 follows the environment.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct sconce_options {
    /// `sizeof(sconce_options)`, set by the caller.
    pub struct_size: u32,
    /// `SCONCE_BACKEND_CUDA` or `_SIM`; `_NONE` (0) follows the environment variable
    /// `SCONCE_BACKEND`.
    pub backend: i32,
    /// Simulated devices, 1 to 64. If it is 0, `CUDA_VISIBLE_DEVICES` applies to those of the environment.
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
            // A program that asks for so many devices gets them.
            visible: from_environment.visible.filter(|_| self.sim_devices == 0),
        })
    }
}

/// Initialises the library: finds the backend and its devices. Optional, since every call that
/// needs a device initialises the library. Later calls do nothing.
///
/// Makes no context on any device. Takes as long as opening the driver takes.
///
/// - Errors: NO_DEVICE: there is no CUDA device, and `SCONCE_BACKEND` does not name another
///   backend; the message lists what was searched. LIBRARY_NOT_FOUND: `SCONCE_BACKEND=cuda`, and
///   `libcuda` is missing.
/// - torch: `torch.cuda.init()`.
#[must_use]
#[unsafe(no_mangle)]
pub extern "C" fn sconce_init() -> sconce_status {
    guard(|| context::initialize().map(|_| ()))
}

/// Initialises the library with a backend that the caller chooses, and for the simulator with the
/// devices that the caller chooses. The call is also allowed after a call that found no device.
///
/// - `options`: begin with `SCONCE_OPTIONS_INIT`; fields that are 0 follow the environment.
/// - Errors: INVALID_ARGUMENT: a field is out of range. INVALID_STATE: the library is initialised
///   with other options. Otherwise as `sconce_init`.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_init_with(options: *const sconce_options) -> sconce_status {
    guard(|| {
        let options = read!(options);
        context::initialize_with(options.to_core()?).map(|_| ())
    })
}

/// Returns the backend in use; determines it if the library has not been initialised.
/// `SCONCE_BACKEND_NONE` if there is no device, and in a forked child.
///
/// Makes no context and does not initialise the library.
#[unsafe(no_mangle)]
pub extern "C" fn sconce_backend_get_active() -> sconce_backend {
    guard_value(sconce_backend::SCONCE_BACKEND_NONE, || {
        match context::probe().map(context::Runtime::backend) {
            Ok(Backend::Cuda) => sconce_backend::SCONCE_BACKEND_CUDA,
            Ok(Backend::Sim) => sconce_backend::SCONCE_BACKEND_SIM,
            // This library opens no driver of a program's own.
            Ok(Backend::Own) | Err(_) => sconce_backend::SCONCE_BACKEND_NONE,
        }
    })
}

/// Returns whether there is a device; `CUDA_VISIBLE_DEVICES` is respected. False in a forked child.
///
/// Makes no context and does not initialise the library. The process can still fork afterwards, as
/// after `sconce_device_count`.
///
/// - torch: `torch.cuda.is_available()`.
#[unsafe(no_mangle)]
pub extern "C" fn sconce_is_available() -> bool {
    guard_value(false, context::is_available)
}

/// Returns whether the library has been initialised in this process. False in a forked child.
///
/// - torch: `torch.cuda.is_initialized()`.
#[unsafe(no_mangle)]
pub extern "C" fn sconce_is_initialized() -> bool {
    guard_value(false, context::is_initialized)
}
