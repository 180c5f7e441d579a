//! What unit tests share: the simulator as the backend, and handles that no driver has made.

use sconce_base::config::{BackendChoice, SimConfig};
use sconce_driver::HandleMaker;
use sconce_sim::Simulator;

use crate::context::{Backend, Backends, Opened, Options, Runtime, initialize_with, set_backends};

/// The simulated device of the process.
pub(crate) fn simulated() -> &'static Runtime {
    set_backends(Backends {
        open: |options| {
            let driver = Simulator::open(&options.sim, options.visible)?;
            Ok(Opened { backend: Backend::Sim, driver })
        },
        count: |_| None,
    });
    let options = Options { backend: BackendChoice::Sim, sim: SimConfig::default(), visible: None };
    initialize_with(options).expect("a simulator")
}

/// What makes handles that no driver has made.
#[allow(unsafe_code, reason = "no driver follows the handles")]
// SAFETY: tests pass the handles to no driver, or to the simulator, which looks handles up.
pub(crate) const FORGED: HandleMaker = unsafe { HandleMaker::new() };
