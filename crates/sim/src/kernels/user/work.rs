//! A queued launch of a program's kernel.
#![forbid(unsafe_code)]

use std::sync::Arc;

use sconce_base::lock::{Mutex, RwLock, rank};
use sconce_base::log;
use sconce_base::program_code::{ProgramCode, ProgramCodeKind};
use sconce_base::types::DeviceIndex;
use sconce_driver::{Dim3, KernelValues, LaunchConfig};

use super::launch::SimLaunch;
use super::occupancy::most_dynamic_shared;
use super::registry::SimKernel;
use crate::host::place::HostPlace;
use crate::kernels::kernel::{check_shape, launch_text};
use crate::machine::operation::{Pace, QueuedWork};
use crate::memory::{Accesses, AddressSpace, DeviceMemoryView};

/// The most blocks of a cluster that every device accepts.
const MOST_CLUSTER: u64 = 8;

/// A queued launch.
pub(crate) struct UserWork {
    space: Arc<RwLock<rank::SimSpace, AddressSpace>>,
    device: DeviceIndex,
    kernel: Arc<SimKernel>,
    config: LaunchConfig,
    values: Box<[Box<[u8]>]>,
    failure: Mutex<rank::SimKernelFailure, Option<String>>,
}

/// Whether a launch is one that a device would accept. The messages leave out the kernel's name
/// and what was asked for, which the runtime puts in front.
pub(crate) fn check(
    kernel: &SimKernel,
    config: &LaunchConfig,
    values: &KernelValues<'_>,
) -> Result<(), String> {
    if values.bytes() != kernel.parameters {
        return Err(format!(
            "the parameters have {:?} bytes, the arguments {:?}",
            kernel.parameters,
            values.bytes()
        ));
    }
    check_shape(config.shape)?;
    let most = most_dynamic_shared(kernel);
    if config.shape.shared_bytes > most {
        return Err(format!(
            "a block has at most {most} bytes of dynamic shared memory, not {}",
            config.shape.shared_bytes
        ));
    }
    match config.cluster {
        None => Ok(()),
        Some(cluster) => check_cluster(config.shape.grid, cluster),
    }
}

fn check_cluster(grid: Dim3, cluster: Dim3) -> Result<(), String> {
    let pairs = [(grid.x, cluster.x), (grid.y, cluster.y), (grid.z, cluster.z)];
    if pairs.iter().any(|(grid, cluster)| *cluster == 0 || grid % cluster != 0) {
        return Err("the grid is not a multiple of the cluster".to_owned());
    }
    let blocks = pairs.iter().fold(1_u64, |product, (_, n)| product.saturating_mul(u64::from(*n)));
    if blocks > MOST_CLUSTER {
        return Err(format!("a cluster has at most {MOST_CLUSTER} blocks, not {blocks}"));
    }
    Ok(())
}

impl UserWork {
    /// A launch that [`check`] has accepted. Copies the arguments.
    pub(crate) fn new(
        space: Arc<RwLock<rank::SimSpace, AddressSpace>>,
        device: DeviceIndex,
        kernel: Arc<SimKernel>,
        config: &LaunchConfig,
        values: &KernelValues<'_>,
    ) -> UserWork {
        let copied = values.ranges().map(|range| {
            let mut value = vec![0; range.bytes()].into_boxed_slice();
            HostPlace::of_host(range).read(&mut value);
            value
        });
        let values = copied.collect();
        UserWork { space, device, kernel, config: *config, values, failure: Mutex::new(None) }
    }
}

impl QueuedWork for UserWork {
    fn pace(&self) -> Pace {
        Pace::Slot
    }

    /// What the function of a program uses is not known before it runs.
    fn accesses(&self) -> Accesses {
        Accesses::Unknown
    }

    fn run(&self) -> Result<(), i32> {
        let memory = DeviceMemoryView::new(&self.space, self.device, &Accesses::Unknown);
        let launch =
            SimLaunch::new(&self.kernel.name, memory, self.config, self.device, &self.values);
        {
            let _code = ProgramCode::enter(ProgramCodeKind::SimulatedKernel);
            (self.kernel.function)(&launch);
        }
        match launch.into_failure() {
            None => Ok(()),
            Some((code, words)) => {
                log::error(format_args!("{words}; device {} fails", self.device));
                *self.failure.lock() = Some(words);
                Err(code)
            }
        }
    }

    fn details(&self) -> Option<String> {
        Some(launch_text(&self.kernel.name, self.config.shape))
    }

    fn failure(&self) -> Option<String> {
        self.failure.lock().take()
    }
}
