//! The backends of the library, and their choice.

use std::sync::atomic::{AtomicU8, Ordering};

use sconce_base::config::{BackendChoice, Config};
use sconce_base::error::{Error, Result, Status};
use sconce_base::log;
use sconce_cuda::CudaDriver;
use sconce_driver::{Devices, Driver};
use sconce_runtime::context::{Backend, Backends, Opened, Options, set_backends};
use sconce_sim::Simulator;

/// Whether the program has asked for the sanitizer before a backend is opened: 0 has not, 1 no, 2 reports, 3 the end of
/// the process.
static ASKED: AtomicU8 = AtomicU8::new(0);

pub(crate) fn ask_for_sanitizer(aborts: bool) {
    ASKED.store(2 + u8::from(aborts), Ordering::Relaxed);
}

pub(crate) fn ask_for_no_sanitizer() {
    ASKED.store(1, Ordering::Relaxed);
}

/// Opens the backend that `options` asks for, with the sanitizer in front if there is to be one.
fn open(options: &Options) -> Result<Opened> {
    let Opened { backend, driver } = open_backend(options)?;
    let mut config = Config::get().sanitizer.clone();
    let asked = ASKED.load(Ordering::Relaxed);
    if asked != 0 {
        (config.is_on, config.aborts) = (asked > 1, asked > 2);
    }
    let is_simulated = backend == Backend::Sim;
    let driver =
        if config.is_on { sconce_sanitizer::wrap(driver, &config, is_simulated) } else { driver };
    Ok(Opened { backend, driver })
}

/// Opens the backend that `options` asks for. Makes no context.
fn open_backend(options: &Options) -> Result<Opened> {
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
