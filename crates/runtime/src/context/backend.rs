//! Opening a backend: from a choice to a driver.

use sconce_base::error::{Error, Result};
use sconce_base::lock::{OnceCell, rank};
use sconce_driver::Driver;

use super::options::Options;

/// Which backend the process uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Backend {
    /// NVIDIA's driver.
    Cuda,
    /// The simulated device.
    Sim,
    /// A driver of the program's own.
    Own,
}

impl Backend {
    /// The word used in messages, and for the first two in `SCONCE_BACKEND`.
    pub const fn name(self) -> &'static str {
        match self {
            Backend::Cuda => "cuda",
            Backend::Sim => "sim",
            Backend::Own => "own",
        }
    }
}

/// A driver that lives as long as the process.
pub struct Opened {
    /// What it is.
    pub backend: Backend,
    /// The driver.
    pub driver: &'static dyn Driver,
}

/// How a program opens a backend. The crate names none, so that a program links those alone that it uses.
#[derive(Clone, Copy)]
pub struct Backends {
    /// From a choice to a driver. Makes no context, and may be called again after it has failed.
    pub open: fn(&Options) -> Result<Opened>,
    /// How many devices `open` would find; `None` if that cannot be told without opening a backend.
    pub count: fn(&Options) -> Option<i32>,
}

static BACKENDS: OnceCell<rank::ContextValue, Backends> = OnceCell::new();

/// Sets how the process opens a backend, before the first call that needs one. The first caller decides.
pub fn set_backends(backends: Backends) {
    let _ = BACKENDS.set(backends);
}

/// Opens the backend that `options` ask for.
pub(super) fn open(options: &Options) -> Result<Opened> {
    let backends = BACKENDS.get().ok_or_else(|| {
        Error::invalid_state("this program links no backend: call context::set_backends first")
    })?;
    (backends.open)(options)
}

/// How many devices [`open`] would find; `None` if that cannot be told without opening a backend.
pub(super) fn count(options: &Options) -> Option<i32> {
    BACKENDS.get().and_then(|backends| (backends.count)(options))
}
