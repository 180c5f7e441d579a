//! Device memory for draws in captures.
//!
//! A graph is launched again without the calls that were captured, so a captured fill that contained its offset would
//! draw the same numbers at every launch. Captured fills read seed and offset from device memory instead:
//!
//! - Fills in a graph of this library: each launch writes the generator's numbers to the graph's memory first, and
//!   reserves what the graph draws (`graph_draws`). The state of the generator stays on the host, as in torch.
//! - Fills in bodies of conditional nodes, of which only the device knows how often they run, take their pieces from a
//!   record on the device (`device_record`). The generator's state is there until the launch is done.
//! - Fills in a capture of other code, of whose launches this library learns nothing: likewise, for ever.

use sconce_base::error::{Error, Result, Status};
use sconce_base::types::{DeviceIndex, DevicePtr};

use super::work::DeviceWork;

/// Makes a device ready for captures, also during one. May allocate, and must therefore be called without a
/// lock.
pub(in crate::random) fn prepare(work: &dyn DeviceWork, device: DeviceIndex) -> Result<()> {
    let arena = work.arena(device);
    if arena.is_low() {
        let (chunk, zeroing) = work.allocate_chunk(device)?;
        arena.add(chunk, zeroing);
    }
    Ok(())
}

/// Device memory for two numbers, with any contents.
pub(in crate::random) fn new_place(
    work: &dyn DeviceWork,
    device: DeviceIndex,
) -> Result<DevicePtr> {
    work.arena(device).take().ok_or_else(|| no_place(device))
}

#[cold]
pub(in crate::random) fn no_place(device: DeviceIndex) -> Error {
    Error::new(
        Status::OutOfMemory,
        format!(
            "device {device} has no memory left for generators that graphs use; free some, or \
             call sconce_generator_prepare_capture while there is"
        ),
    )
}
