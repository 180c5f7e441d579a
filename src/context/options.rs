//! What a caller of `sconce_init_with` may choose.

use crate::config::{BackendChoice, Config, SimConfig};

/// A backend and, for the simulator, a machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// Which backend.
    pub backend: BackendChoice,
    /// The simulated machine, should the simulator be chosen.
    pub sim: SimConfig,
}

impl Options {
    /// What the environment asks for.
    pub fn from_environment() -> Options {
        let config = Config::get();
        Options { backend: config.backend, sim: config.sim }
    }
}
