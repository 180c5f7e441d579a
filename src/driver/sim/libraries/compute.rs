//! Queueing what the simulator's libraries calculate.
#![forbid(unsafe_code)]

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::driver::StreamRef;
use crate::driver::sim::Inner;
use crate::driver::sim::call::Call;
use crate::driver::sim::kernels::DeviceMemory;
use crate::driver::sim::machine::handles::HANDLE_STEP;
use crate::driver::sim::machine::work::Work;
use crate::error::{Error, Result, Status};
use crate::types::DeviceIndex;

/// A calculation of a library. It runs in stream order as a kernel does, and may run again when a
/// graph that holds it is launched.
pub(crate) trait Compute: Send + Sync {
    /// How long it takes in the model, given the latency of operations in general.
    fn duration_ns(&self, latency_ns: u64) -> u64 {
        latency_ns
    }
    /// Does it. An error is the driver's code; the device then fails for good.
    fn run(&self, memory: &DeviceMemory<'_>) -> std::result::Result<(), i32>;
}

/// How much is calculated in a nanosecond of the model.
const OPERATIONS_PER_NS: u64 = 10_000;
/// No calculation takes longer: what is larger than any memory fails soon.
const LONGEST_NS: u64 = 100_000_000;

/// How long products of these sizes take in the model: the product of all is how many numbers are
/// multiplied and added.
pub(crate) fn calculation_ns(sizes: &[usize]) -> u64 {
    let operations = sizes.iter().fold(2_u64, |all, size| all.saturating_mul(*size as u64));
    (operations / OPERATIONS_PER_NS).min(LONGEST_NS)
}

impl Inner {
    /// Queues a calculation on a stream.
    pub(crate) fn compute(
        self: &Arc<Self>,
        call: Call,
        compute: Arc<dyn Compute>,
        stream: StreamRef,
    ) -> Result<()> {
        let duration_ns = compute.duration_ns(self.latency_ns());
        let work = Work::Compute { device: stream.device, compute };
        self.submit(call, stream, work, duration_ns).map(drop)
    }

    /// Entry of a call of a library's object: counts it, and fails it with the library's own number
    /// if a test asked for that.
    pub(crate) fn enter_library(&self, call: Call, spell: fn(&str, i32) -> Error) -> Result<()> {
        self.counters.add(call);
        match self.faults.of_call(call) {
            None => Ok(()),
            Some(code) => Err(spell(call.name(), code)),
        }
    }

    /// The same for a question that has no failure: whether a test left it alone. One that is to fail
    /// is answered as if a caller had set the library's own handle otherwise.
    pub(crate) fn is_left_alone(&self, call: Call) -> bool {
        self.counters.add(call);
        self.faults.of_call(call).is_none()
    }

    /// The same for a call that may find the library absent, which it is with the code [`MISSING`].
    pub(crate) fn open_library(
        &self,
        call: Call,
        library: &str,
        spell: fn(&str, i32) -> Error,
    ) -> Result<()> {
        self.counters.add(call);
        match self.faults.of_call(call) {
            None => Ok(()),
            Some(MISSING) => Err(missing(library)),
            Some(code) => Err(spell(call.name(), code)),
        }
    }

    /// The same for a call that makes an object on a device.
    pub(crate) fn enter_library_on(
        &self,
        call: Call,
        device: DeviceIndex,
        library: &str,
        spell: fn(&str, i32) -> Error,
    ) -> Result<()> {
        self.open_library(call, library, spell)?;
        self.check_device(call, device)?;
        // It allocates.
        self.check_held_back(call)?;
        self.contexts[device.as_usize()].store(true, Ordering::Release);
        self.check_error(call, device)
    }
}

/// A number for an object of a library that no other object has, and that looks like an address.
pub(crate) fn native_handle() -> usize {
    static NEXT: AtomicUsize = AtomicUsize::new(0x5D00_0000_0000);
    NEXT.fetch_add(HANDLE_STEP, Ordering::Relaxed)
}

/// The code with which a test makes a library absent.
const MISSING: i32 = -1;

fn missing(library: &str) -> Error {
    Error::new(
        Status::LibraryNotFound,
        format!(
            "{library} could not be opened; searched: the simulator, which a test told to have none"
        ),
    )
}
