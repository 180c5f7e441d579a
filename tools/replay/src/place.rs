//! The place of a replay: the backend, and the size of a simulated device.

use sconce_base::config::BackendChoice;
use sconce_runtime::context::Backend;
use sconce_runtime::context::{self, Options as Start};

use crate::cli::{Options, Place};
use crate::error::{Failure, Result};
use crate::trace::Trace;

/// Initialises the library as the command line and the environment require; returns the backend's
/// name.
pub(crate) fn start(options: &Options, trace: &Trace) -> Result<&'static str> {
    let mut start = Start::from_environment();
    start.backend = match (options.backend, start.backend) {
        (Place::Cuda, _) => BackendChoice::Cuda,
        (Place::Sim, _) => BackendChoice::Sim,
        // Probing initialises what the environment names, so it is done only if neither names a
        // backend.
        (Place::Auto, BackendChoice::Auto) if context::is_available() => BackendChoice::Cuda,
        (Place::Auto, BackendChoice::Auto) => BackendChoice::Sim,
        (Place::Auto, wanted) => wanted,
    };
    let from_environment = std::env::var_os("SCONCE_SIM_MEMORY").map(|_| start.sim.memory_bytes);
    start.sim.memory_bytes = options
        .sim_memory
        .or(from_environment)
        .unwrap_or_else(|| ample_memory(trace, options.threads));
    start.sim.devices = start.sim.devices.max(options.device + 1);
    let runtime = context::initialize_with(start)?;
    if options.device >= runtime.device_count() {
        return Err(Failure::new(format!(
            "--device is {}, but there are {} devices",
            options.device,
            runtime.device_count()
        )));
    }
    Ok(match runtime.backend() {
        Backend::Sim => "simulator",
        Backend::Cuda => "CUDA",
        Backend::Own => "own driver",
    })
}

/// Twice the bytes that were reserved when the trace was recorded, in whole GiB.
fn ample_memory(trace: &Trace, threads: u32) -> u64 {
    const GIB: u64 = 1 << 30;
    let reserved = trace.recorded.peak_reserved.unwrap_or(0).max(trace.peak_requested);
    let bytes = reserved.saturating_mul(2).saturating_mul(u64::from(threads)).max(4 * GIB);
    bytes.min(1 << 50).next_multiple_of(GIB)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn simulated_memory_is_ample_and_whole() {
        let mut trace = Trace { peak_requested: 10, ..Trace::default() };
        assert_eq!(ample_memory(&trace, 1), 4 << 30);
        trace.recorded.peak_reserved = Some((3 << 30) + 1);
        assert_eq!(ample_memory(&trace, 1), 7 << 30);
        assert_eq!(ample_memory(&trace, 4), 25 << 30);
        trace.peak_requested = u64::MAX;
        assert_eq!(ample_memory(&trace, 4), 1 << 50);
    }
}
