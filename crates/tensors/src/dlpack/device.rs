//! Devices and streams by DLPack's numbers.

use sconce_base::error::{Error, Result};
use sconce_base::types::DeviceIndex;
use sconce_driver::StreamHandle;
use sconce_runtime::context::{Runtime, runtime};
use sconce_runtime::stream::{self, Stream};
use sconce_runtime::{device, event};

use super::layout::DlpackDevice;
use crate::tensor::Place;

/// `DLDeviceType`: memory of the host.
pub(super) const CPU: i32 = 1;
/// Memory of a GPU.
pub(super) const CUDA: i32 = 2;
/// Page-locked memory of the host.
pub(super) const CUDA_HOST: i32 = 3;
/// Managed memory.
pub(super) const CUDA_MANAGED: i32 = 13;

impl DlpackDevice {
    /// The description of a place.
    pub(super) fn of(place: Place) -> DlpackDevice {
        match place {
            Place::Cpu => DlpackDevice { device_type: CPU, device_id: 0 },
            Place::Device(device) => DlpackDevice { device_type: CUDA, device_id: device.as_i32() },
        }
    }

    /// The place that is described. `name` is the field's.
    pub(super) fn place(self, name: &str) -> Result<Place> {
        match self.device_type {
            CPU | CUDA_HOST => Ok(Place::Cpu),
            CUDA | CUDA_MANAGED => Ok(Place::Device(gpu(self.device_id, name)?)),
            other => Err(Error::not_supported(format!(
                "{name}.device_type is {other}; this library takes kDLCPU (1), kDLCUDA (2), kDLCUDAHost (3) \
                 and kDLCUDAManaged (13): copy the tensor there first"
            ))),
        }
    }
}

fn gpu(index: i32, name: &str) -> Result<DeviceIndex> {
    let runtime = runtime()?;
    device::checked(runtime, index).map_err(|error| error.context(format!("{name}.device_id")))
}

/// The native handle of the current stream of a device; 0 where there is none.
pub fn current_stream(device: DlpackDevice) -> Result<usize> {
    match device.place("device")? {
        Place::Cpu => Ok(0),
        Place::Device(device) => {
            Ok(stream::current_on(runtime()?, device)?.driver_ref().handle.native())
        }
    }
}

/// The stream that a handle of DLPack's protocol names: `None` for 0 and -1.
pub fn named_stream(
    handle: StreamHandle,
    is_none: bool,
    place: Place,
    name: &str,
) -> Result<Option<Stream>> {
    match place {
        _ if is_none => Ok(None),
        Place::Cpu => Err(Error::invalid_argument(format!(
            "{name} is {:#x}, but the tensor is on the CPU, which has no streams; pass NULL",
            handle.native()
        ))),
        Place::Device(device) => stream::from_external(handle, device.as_i32())
            .map(Some)
            .map_err(|error| error.context(name)),
    }
}

/// Makes a stream wait for another one, unless both are one: a handle may name a stream of the library.
pub(super) fn wait(runtime: &Runtime, waiting: Stream, waited: Stream) -> Result<()> {
    if waiting.driver_ref() == waited.driver_ref() {
        return Ok(());
    }
    event::wait_stream(runtime, waiting, waited)
}
