//! Calculations of the simulated libraries, and how they are queued.
#![forbid(unsafe_code)]

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use sconce_base::error::{Error, Result, Status};
use sconce_base::lock::{RwLock, rank};
use sconce_base::types::DeviceIndex;
use sconce_driver::StreamRef;

use crate::call::Call;
use crate::handles::HANDLE_STEP;
use crate::machine::operation::{Pace, QueuedWork};
use crate::memory::{Accesses, AddressSpace, DeviceMemoryView, MemoryAccess};
use crate::state::State;

/// A calculation of a library. It runs in stream order, as a kernel does.
pub(crate) trait Compute: Send + Sync {
    /// How long it takes in the model, given the latency of operations in general.
    fn duration_ns(&self, latency_ns: u64) -> u64 {
        latency_ns
    }

    /// The memory that it reads and writes.
    fn accesses(&self) -> Vec<MemoryAccess>;

    /// Does the calculation. An error is the driver's code; the device then fails for good.
    fn run(&self, memory: &DeviceMemoryView<'_>) -> std::result::Result<(), i32>;
}

/// A queued calculation.
struct ComputeWork<C> {
    space: Arc<RwLock<rank::SimSpace, AddressSpace>>,
    device: DeviceIndex,
    compute: C,
}

impl<C: Compute> QueuedWork for ComputeWork<C> {
    fn pace(&self) -> Pace {
        Pace::Slot
    }

    fn accesses(&self) -> Accesses {
        Accesses::Known(self.compute.accesses())
    }

    fn run(&self) -> std::result::Result<(), i32> {
        let accesses = Accesses::to_check(|| QueuedWork::accesses(self));
        self.compute.run(&DeviceMemoryView::new(&self.space, self.device, &accesses))
    }
}

/// Operations that a device does in a nanosecond of the model.
const OPERATIONS_PER_NS: u64 = 10_000;
/// The longest calculation in the model. A calculation larger than any memory fails soon.
const LONGEST_NS: u64 = 100_000_000;

/// How long products of these sizes take in the model. The product of the sizes is the number of
/// multiplications and additions.
pub(crate) fn calculation_ns(sizes: &[usize]) -> u64 {
    let operations = sizes.iter().fold(2_u64, |all, size| all.saturating_mul(*size as u64));
    (operations / OPERATIONS_PER_NS).min(LONGEST_NS)
}

impl State {
    /// Queues a calculation on a stream.
    pub(crate) fn compute(
        &self,
        call: Call,
        compute: impl Compute + 'static,
        stream: StreamRef,
    ) -> Result<()> {
        let duration_ns = compute.duration_ns(self.latency_ns());
        let (space, device) = (Arc::clone(&self.space), stream.device);
        let work = ComputeWork { space, device, compute };
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

    /// Entry of a query that cannot fail: counts it, and returns false if a test asked for a failure. The
    /// query then answers as if other code had changed the library's own handle.
    pub(crate) fn is_left_alone(&self, call: Call) -> bool {
        self.counters.add(call);
        self.faults.of_call(call).is_none()
    }

    /// Entry of a call that opens the library: as `enter_library`, and with the injected code
    /// [`MISSING`] the library is absent.
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

    /// Entry of a call that makes a library's object on a device.
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
            "{library} could not be opened; searched: the simulator, in which a test has disabled it"
        ),
    )
}
