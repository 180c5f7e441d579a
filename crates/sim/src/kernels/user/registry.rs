//! The functions that stand for kernels of the program, by name.
//!
//! They belong to the process, not to a simulator: a program may register them before it opens a backend.
#![forbid(unsafe_code)]

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use sconce_base::error::{Error, Result, Status};
use sconce_base::lock::{RwLock, rank};
use sconce_driver::ModuleCode;

use super::launch::SimLaunch;
use crate::call::Call;
use crate::codes;

/// A kernel of the program on simulated devices.
pub struct SimKernel {
    /// The name under which modules have it.
    pub name: String,
    /// Bytes of each parameter.
    pub parameters: Vec<usize>,
    /// Registers of a thread, for the occupancy.
    pub registers: u32,
    /// Shared memory of a block that the kernel declares, in bytes.
    pub static_shared_bytes: u32,
    /// Does the work of a launch, of all its blocks, on a thread of the simulator.
    pub function: Box<dyn Fn(&SimLaunch<'_>) + Send + Sync>,
}

impl fmt::Debug for SimKernel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SimKernel").field("name", &self.name).finish_non_exhaustive()
    }
}

/// The most parameters of a kernel, and the most bytes of all its arguments.
const MOST_PARAMETERS: usize = 1024;
const MOST_BYTES: usize = 32_764;

static KERNELS: RwLock<rank::SimRegistry, BTreeMap<String, Arc<SimKernel>>> =
    RwLock::new(BTreeMap::new());

/// Registers a kernel. One of the same name is replaced for all that look it up later.
pub fn register_kernel(kernel: SimKernel) -> Result<()> {
    check_kernel(&kernel.name, &kernel.parameters)?;
    let replaced = KERNELS.write().insert(kernel.name.clone(), Arc::new(kernel));
    // The function's owner may run code of the program, which must not run under the lock.
    drop(replaced);
    Ok(())
}

/// Whether a kernel can have a name and parameters of such sizes.
pub fn check_kernel(name: &str, parameters: &[usize]) -> Result<()> {
    let bytes = parameters.iter().fold(0_usize, |sum, bytes| sum.saturating_add(*bytes));
    if name.is_empty() {
        return Err(Error::invalid_argument(
            "name is empty; a kernel has the name of its entry point",
        ));
    }
    if parameters.contains(&0) {
        return Err(Error::invalid_argument(format!(
            "parameter_bytes: a parameter of {name} has 0 bytes; each has at least 1"
        )));
    }
    if parameters.len() > MOST_PARAMETERS || bytes > MOST_BYTES {
        return Err(Error::invalid_argument(format!(
            "parameter_bytes: {name} has {} parameters of {bytes} bytes together; at most \
             {MOST_PARAMETERS} and {MOST_BYTES} bytes are possible",
            parameters.len()
        )));
    }
    Ok(())
}

/// Takes a kernel off the list. Loaded modules keep it. Returns whether there was one.
pub fn unregister_kernel(name: &str) -> bool {
    let removed = KERNELS.write().remove(name);
    removed.is_some()
}

/// The kernel that stands for the one of a name in some code.
pub(crate) fn find(call: Call, code: &ModuleCode, name: &str) -> Result<Arc<SimKernel>> {
    let missing = |why: String| {
        let error = codes::failure_because(call, codes::NOT_FOUND, why);
        Err(error.with_status(Status::InvalidArgument))
    };
    if code.has_kernel(name) == Some(false) {
        return missing(format!("name: {} has no kernel {name:?}", code.name()));
    }
    match KERNELS.read().get(name) {
        Some(kernel) => Ok(Arc::clone(kernel)),
        None => missing(format!(
            "name: no function is registered for the kernel {name:?} on simulated devices; register one with \
             sconce_sim_register_kernel"
        )),
    }
}
