//! Setting bytes: on a device, work of the current device's current stream.

use sconce_base::error::Result;
use sconce_base::types::DevicePtr;
use sconce_driver::RawAddress;
use sconce_math::parallel::for_elements;
use sconce_runtime::context::{Runtime, runtime};
use sconce_runtime::device::{self, reach};
use sconce_runtime::operand::address_range::{self, MemoryKind};
use sconce_runtime::stream::{self, Stream, after_enqueue};

use super::{host_copy, on_host};

/// Sets bytes: work of the current device's current stream, or of this thread for host memory.
pub fn set(ptr: RawAddress, value: u8, bytes: usize) -> Result<()> {
    let runtime = runtime()?;
    if bytes == 0 {
        return Ok(());
    }
    let Some(stream) = stream_for(runtime, ptr, bytes)? else {
        host_copy::fill(ptr.host(bytes)?, value);
        return Ok(());
    };
    let ptr = DevicePtr(ptr.get() as u64);
    runtime.driver().fill_async(ptr, value, bytes, stream.driver_ref())?;
    after_enqueue(runtime, stream)
}

/// Sets bytes of host memory on the calling thread. It needs no backend.
pub fn set_on_host(ptr: RawAddress, value: u8, bytes: usize) -> Result<()> {
    let range = ptr.host(bytes)?;
    for_elements(bytes as u64, on_host::PART, &|part| {
        host_copy::fill(range.part(part.start as usize, (part.end - part.start) as usize), value);
        Ok(())
    })
}

/// The stream that sets the `bytes` from `ptr` on; none for host memory.
pub(super) fn stream_for(
    runtime: &Runtime,
    ptr: RawAddress,
    bytes: usize,
) -> Result<Option<Stream>> {
    let current = device::current_of_thread(runtime)?;
    match address_range::kind_of(runtime, ptr.get(), bytes, "ptr")? {
        MemoryKind::Ordinary | MemoryKind::Pinned => return Ok(None),
        MemoryKind::Device(device) => reach::allow(runtime, current, device, ptr.get(), "ptr")?,
        MemoryKind::Managed(_) => {}
    }
    stream::current_on(runtime, current).map(Some)
}
