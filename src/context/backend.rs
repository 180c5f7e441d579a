//! Opening a backend: from a choice to a driver.

use super::options::Options;
use crate::config::{BackendChoice, Config};
use crate::cuda::CudaDriver;
use crate::driver::{Devices, Driver};
use crate::error::{Error, Result, Status};
use crate::log;
use crate::sim::{SimOptions, Simulator};

/// Which backend the process uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Backend {
    /// NVIDIA's driver.
    Cuda,
    /// The simulated device.
    Sim,
}

impl Backend {
    /// The word used in `SCONCE_BACKEND` and in messages.
    pub const fn name(self) -> &'static str {
        match self {
            Backend::Cuda => "cuda",
            Backend::Sim => "sim",
        }
    }
}

/// A driver that lives as long as the process.
pub(super) struct Opened {
    pub(super) backend: Backend,
    pub(super) driver: &'static dyn Driver,
    pub(super) simulator: Option<&'static Simulator>,
}

/// Opens the backend that `options` asks for. Makes no context.
pub(super) fn open(options: &Options) -> Result<Opened> {
    match options.backend {
        BackendChoice::Sim => {
            let chosen = SimOptions { visible: options.visible, ..SimOptions::default() };
            let simulator: &'static Simulator =
                Box::leak(Box::new(Simulator::new(&options.sim, chosen)?));
            log::info(format_args!("using {} simulated devices", simulator.device_count()));
            Ok(Opened { backend: Backend::Sim, driver: simulator, simulator: Some(simulator) })
        }
        BackendChoice::Cuda => cuda(),
        BackendChoice::Auto => cuda().map_err(|error| {
            log::info(format_args!("no CUDA device: {}", error.message()));
            Error::new(
                Status::NoDevice,
                format!(
                    "no CUDA device is available ({}); set SCONCE_BACKEND=sim or call \
                     sconce_init_with to use simulated devices",
                    error.message()
                ),
            )
        }),
    }
}

/// How many devices [`open`] would find; `None` if that cannot be told without opening a backend.
pub(super) fn count(options: &Options) -> Option<i32> {
    match options.backend {
        BackendChoice::Sim => Simulator::count_unopened(&options.sim, options.visible),
        BackendChoice::Cuda | BackendChoice::Auto => CudaDriver::count_unopened(Config::get()),
    }
}

fn cuda() -> Result<Opened> {
    let driver: &'static dyn Driver = Box::leak(Box::new(CudaDriver::open(Config::get())?));
    log::info(format_args!("using {} CUDA devices", driver.device_count()));
    Ok(Opened { backend: Backend::Cuda, driver, simulator: None })
}
