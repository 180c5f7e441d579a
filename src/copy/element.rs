//! The bytes of one element of a device, for a caller that waits for them.
//!
//! A kernel writes them to pinned memory, and the calling thread watches that memory, so that the driver is called
//! once. A thread that has watched for long lets the driver wait.

use std::time::{Duration, Instant};

use super::route::CopyRoute;
use super::transfer::cannot_be_captured;
use super::{host_copy, staged};
use crate::collections::per_device::PerDevice;
use crate::context::{Runtime, runtime};
use crate::driver::{HostRange, RelaxedCapture};
use crate::error::{Error, Result, Status};
use crate::kernel_loader::LoadedKernels;
use crate::kernels::images::READ_ELEMENT;
use crate::kernels::{READ_BYTES, READ_KERNEL, READ_WORDS, ReadLaunch};
use crate::stream::{self, Stream};
use crate::sync::shared_static;
use crate::types::{DeviceIndex, DevicePtr};
use crate::{host_memory, log};

shared_static! {
    static KERNEL: PerDevice<LoadedKernels<1>> =
        crate::collections::per_device::per_device!(LoadedKernels::new());
}

/// The most bytes of an element.
pub(crate) const MOST_ELEMENT_BYTES: usize = READ_BYTES;

/// How long a thread watches the memory: less than it takes to put it to sleep and to wake it.
const WATCH: Duration = Duration::from_micros(30);
/// How often it looks before it looks at the clock.
const LOOKS: u32 = 64;
/// What marks a word as written; blocks are handed out with other contents.
const TAG: u32 = 1;

/// The first `bytes` bytes from an address of a device on, at most [`MOST_ELEMENT_BYTES`], once all earlier work of
/// the device's current stream is done. The caller knows that they are memory of that device.
pub(crate) fn read_element(
    device: DeviceIndex,
    address: usize,
    bytes: usize,
) -> Result<[u8; MOST_ELEMENT_BYTES]> {
    let runtime = runtime()?;
    let stream = stream::current_on(runtime, device)?;
    if stream::is_capturing(runtime, stream)? {
        return Err(cannot_be_captured(device, CopyRoute::ToOrdinary(device)));
    }
    let Ok(mut place) = Words::new(runtime, stream) else {
        return copied(runtime, stream, address, bytes);
    };
    let launch = ReadLaunch {
        src: DevicePtr(address as u64),
        place: place.range.get() as u64,
        bytes: bytes as u32,
        tag: TAG,
    };
    let kernel = KERNEL[device].get(runtime, device, &READ_ELEMENT, 0, || READ_KERNEL)?;
    let (shape, arguments) = launch.launch();
    place.is_awaited = true;
    runtime.driver().kernel_launch(kernel, shape, &arguments, stream.driver_ref())?;
    if let Some(element) = place.watch() {
        place.is_awaited = false;
        return Ok(element);
    }
    let _relaxed = RelaxedCapture::enter(runtime.driver())?;
    stream::synchronize(runtime, stream)?;
    place.is_awaited = false;
    place.element().ok_or_else(not_written)
}

/// Without pinned memory.
#[cold]
fn copied(
    runtime: &Runtime,
    stream: Stream,
    address: usize,
    bytes: usize,
) -> Result<[u8; MOST_ELEMENT_BYTES]> {
    let mut element = [0; MOST_ELEMENT_BYTES];
    let to = host_copy::of_array(&mut element);
    let from = DevicePtr(address as u64).into();
    staged::to_host(runtime, stream, to.raw(), from, bytes)?;
    Ok(element)
}

#[cold]
fn not_written() -> Error {
    Error::new(
        Status::Internal,
        "the device finished its work without writing an element to pinned memory",
    )
}

/// Pinned memory for the words that the kernel writes.
struct Words<'a> {
    runtime: &'a Runtime,
    stream: Stream,
    range: HostRange,
    /// The kernel may still write to it.
    is_awaited: bool,
}

impl<'a> Words<'a> {
    fn new(runtime: &'a Runtime, stream: Stream) -> Result<Words<'a>> {
        let range = host_copy::pinned(READ_WORDS * size_of::<u64>())?;
        host_copy::fill(range, 0);
        Ok(Words { runtime, stream, range, is_awaited: false })
    }

    /// The element, if it is there.
    fn element(&self) -> Option<[u8; READ_BYTES]> {
        ReadLaunch::element(host_copy::words(self.range), TAG)
    }

    /// Looks until the element is there, or for [`WATCH`].
    fn watch(&self) -> Option<[u8; READ_BYTES]> {
        let begin = Instant::now();
        loop {
            for _ in 0..LOOKS {
                if let Some(element) = self.element() {
                    return Some(element);
                }
                std::hint::spin_loop();
            }
            if begin.elapsed() > WATCH {
                return None;
            }
        }
    }
}

impl Drop for Words<'_> {
    /// The block is not handed out again before the kernel is done.
    fn drop(&mut self) {
        if self.is_awaited {
            host_memory::record_use(self.runtime, self.range.get(), self.stream);
        }
        if let Err(error) = host_memory::free(self.range.get()) {
            log::warn(format_args!("pinned memory of an element was not given back: {error}"));
        }
    }
}
