//! A kernel of the simulator, and its launches.
#![forbid(unsafe_code)]

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use sconce_base::lock::{RwLock, rank};
use sconce_base::types::DeviceIndex;
use sconce_driver::LaunchShape;

use crate::codes;
use crate::machine::operation::{Pace, QueuedWork};
use crate::memory::{Accesses, AddressSpace, DeviceMemoryView, MemoryAccess};

/// Most threads of a block, as on every GPU.
pub(crate) const MAX_THREADS_PER_BLOCK: u64 = 1024;

/// A kernel of the simulator.
pub(crate) struct Kernel {
    pub(crate) name: &'static str,
    pub(crate) parameters: usize,
    /// How long it takes, given its arguments and the latency of operations in general.
    pub(crate) duration_ns: fn(&[u64], u64) -> u64,
    /// The memory it uses, given its arguments. Arguments that it refuses when it runs may declare none.
    pub(crate) accesses: fn(&[u64]) -> Vec<MemoryAccess>,
    pub(crate) run: fn(&DeviceMemoryView<'_>, LaunchShape, &[u64]) -> Result<(), i32>,
}

impl Kernel {
    /// Whether a launch is one that a device would accept.
    pub(crate) fn check(&self, shape: LaunchShape, slots: &[u64]) -> Result<(), String> {
        let given = slots.len();
        if given != self.parameters {
            return Err(format!("{} takes {} arguments, not {given}", self.name, self.parameters));
        }
        check_shape(shape).map_err(|why| format!("{}: {why}", self.name))
    }
}

/// Whether a grid and a block are ones that a device would accept.
pub(crate) fn check_shape(shape: LaunchShape) -> Result<(), String> {
    let (grid, block) = (shape.grid, shape.block);
    if [grid.x, grid.y, grid.z, block.x, block.y, block.z].contains(&0) {
        return Err("grid and block must not be empty".to_owned());
    }
    let extents = [block.x, block.y, block.z].map(u64::from);
    let threads = extents.iter().fold(1_u64, |product, n| product.saturating_mul(*n));
    if threads > MAX_THREADS_PER_BLOCK {
        return Err(format!("a block has at most {MAX_THREADS_PER_BLOCK} threads, not {threads}"));
    }
    Ok(())
}

/// A kernel with its grid and block.
pub(crate) fn launch_text(name: &str, shape: LaunchShape) -> String {
    let (grid, block) = (shape.grid, shape.block);
    format!("{name}\ngrid {grid}, block {block}")
}

/// A queued launch.
pub(crate) struct KernelWork {
    space: Arc<RwLock<rank::SimSpace, AddressSpace>>,
    device: DeviceIndex,
    kernel: &'static Kernel,
    shape: LaunchShape,
    /// As many slots as the kernel has parameters.
    arguments: Box<[u64]>,
    /// Whether an assertion of the kernel ended the last run.
    asserted: AtomicBool,
}

impl KernelWork {
    /// A launch that [`Kernel::check`] has accepted.
    pub(crate) fn new(
        space: Arc<RwLock<rank::SimSpace, AddressSpace>>,
        device: DeviceIndex,
        kernel: &'static Kernel,
        shape: LaunchShape,
        slots: &[u64],
    ) -> KernelWork {
        let asserted = AtomicBool::new(false);
        KernelWork { space, device, kernel, shape, arguments: slots.into(), asserted }
    }
}

impl QueuedWork for KernelWork {
    fn pace(&self) -> Pace {
        Pace::Slot
    }

    fn accesses(&self) -> Accesses {
        Accesses::Known((self.kernel.accesses)(&self.arguments))
    }

    fn run(&self) -> Result<(), i32> {
        let accesses = Accesses::to_check(|| self.accesses());
        let memory = DeviceMemoryView::new(&self.space, self.device, &accesses);
        let outcome = (self.kernel.run)(&memory, self.shape, &self.arguments);
        self.asserted.store(outcome == Err(codes::ASSERT), Ordering::Relaxed);
        outcome
    }

    fn details(&self) -> Option<String> {
        Some(launch_text(self.kernel.name, self.shape))
    }

    /// Selections alone have an assertion, that of their indices.
    fn failure(&self) -> Option<String> {
        let asserted = self.asserted.load(Ordering::Relaxed);
        asserted.then(|| format!("kernel {}: an index is out of range", self.kernel.name))
    }
}
