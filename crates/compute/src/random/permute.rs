//! A random order for neighbours of equal keys: the second half of torch's `randperm`, which first sorts
//! random keys.

use sconce_base::collections::slab::Key;
use sconce_base::error::Result;
use sconce_base::types::DevicePtr;
use sconce_kernels::PermuteLaunch;
use sconce_math::philox::rounded_increment;
use sconce_runtime::context::Runtime;
use sconce_runtime::stream::Stream;

use super::device::{DeviceWork, ProcessDevices, RandomKernel};
use super::draw::{DrawRequest, with_draw};
use super::registry;

/// Threads of a block, as in `kernels/random_permute.cu`.
const BLOCK: u64 = 256;

/// Keys in order, and the numbers of 8 bytes that belong to them.
#[derive(Clone, Copy, Debug)]
pub struct SortedKeys {
    pub keys: DevicePtr,
    pub values: DevicePtr,
    /// Below 2^32.
    pub n: u64,
    /// Whether keys have 8 bytes; else 4.
    pub is_wide: bool,
}

/// Queues the work. It takes `n` numbers of the generator's sequence, whether or not keys are equal, as torch's.
pub fn permute_equal_keys(
    runtime: &'static Runtime,
    stream: Stream,
    sorted: SortedKeys,
    generator: Option<Key>,
) -> Result<()> {
    let device = stream.device();
    let key = match generator {
        Some(key) => key,
        None => registry::default_of(device)?,
    };
    let work = ProcessDevices(runtime);
    work.load(device, RandomKernel::Permute)?;
    let request = DrawRequest::of_kernel(rounded_increment(sorted.n));
    with_draw(key, &work, stream.driver_ref(), request, |draw| {
        let (seed, offset, state) = draw.numbers();
        let SortedKeys { keys, values, n, is_wide } = sorted;
        let launch = PermuteLaunch { keys, values, n, is_wide, seed, offset, state };
        let grid = [n.div_ceil(BLOCK) as u32, 1];
        let arguments = launch.arguments();
        work.launch(RandomKernel::Permute, grid, BLOCK as u32, &arguments, stream.driver_ref())
    })
}
