//! The backends of the library, and their choice.

use sconce_base::config::{BackendChoice, Config};
use sconce_base::error::{Error, Result, Status};
use sconce_base::log;
use sconce_cuda::CudaDriver;
use sconce_driver::{Devices, Driver};
use sconce_runtime::context::{Backend, Backends, Opened, Options, set_backends};
use sconce_sim::Simulator;

/// Opens the backend that `options` asks for. Makes no context.
fn open(options: &Options) -> Result<Opened> {
    match options.backend {
        BackendChoice::Sim => {
            let driver = Simulator::open(&options.sim, options.visible)?;
            log::info(format_args!("using {} simulated devices", driver.device_count()));
            Ok(Opened { backend: Backend::Sim, driver })
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
fn count(options: &Options) -> Option<i32> {
    match options.backend {
        BackendChoice::Sim => Simulator::count_unopened(&options.sim, options.visible),
        BackendChoice::Cuda | BackendChoice::Auto => CudaDriver::count_unopened(Config::get()),
    }
}

fn cuda() -> Result<Opened> {
    let driver: &'static dyn Driver = Box::leak(Box::new(CudaDriver::open(Config::get())?));
    log::info(format_args!("using {} CUDA devices", driver.device_count()));
    Ok(Opened { backend: Backend::Cuda, driver })
}

/// Runs when the library is loaded, since any function may be the first that needs a backend.
pub(crate) extern "C" fn install() {
    set_backends(Backends { open, count });
}
