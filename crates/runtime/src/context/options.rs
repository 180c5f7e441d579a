//! The choice of a caller of `sconce_init_with`.

use sconce_base::config::{BackendChoice, Config, SimConfig};

/// A backend and, for the simulator, a machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// The backend.
    pub backend: BackendChoice,
    /// The simulated machine, if the simulator is chosen.
    pub sim: SimConfig,
    /// The simulated devices that the process sees, as `CUDA_VISIBLE_DEVICES` lists them; all without a list.
    pub visible: Option<&'static str>,
}

impl Options {
    /// The choice of the environment.
    pub fn from_environment() -> Options {
        let config = Config::get();
        let visible = config.visible_devices.as_deref();
        Options { backend: config.backend, sim: config.sim, visible }
    }
}
