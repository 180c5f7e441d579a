//! The choice of a caller of `sconce_init_with`.

use crate::config::{BackendChoice, Config, SimConfig};

/// A backend and, for the simulator, a machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// The backend.
    pub backend: BackendChoice,
    /// The simulated machine, if the simulator is chosen.
    pub sim: SimConfig,
}

impl Options {
    /// The choice of the environment.
    pub fn from_environment() -> Options {
        let config = Config::get();
        Options { backend: config.backend, sim: config.sim }
    }
}
