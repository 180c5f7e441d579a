//! The bytes of one element of a device, for a caller that waits for them.
//!
//! They are copied to pinned memory, the driver writes a word there, and the calling thread watches that word. A thread
//! that has watched for long lets the driver wait.

use std::time::{Duration, Instant};

use sconce_base::error::{Result, Status};
use sconce_base::log;
use sconce_base::types::{DeviceIndex, DevicePtr};
use sconce_driver::{HostRange, RelaxedCapture};
use sconce_runtime::context::{Runtime, runtime};
use sconce_runtime::host_memory;
use sconce_runtime::stream::{self, Stream};

use super::route::CopyRoute;
use super::transfer::cannot_be_captured;
use super::{host_copy, staged};

/// The most bytes of an element.
pub const MOST_ELEMENT_BYTES: usize = 16;

/// Bytes of the word behind the element, and of both.
const WORD_BYTES: usize = size_of::<u32>();
const PLACE_BYTES: usize = MOST_ELEMENT_BYTES + 2 * WORD_BYTES;

/// How long a thread watches the memory: less than it takes to put it to sleep and to wake it.
const WATCH: Duration = Duration::from_micros(30);
/// How often it looks before it looks at the clock.
const LOOKS: u32 = 64;
/// The word once the element is there. It is 0 before.
const WRITTEN: u32 = 1;

/// The first `bytes` bytes from an address of a device on, at most [`MOST_ELEMENT_BYTES`], once all earlier work of
/// the device's current stream is done. The caller knows that they are memory of that device.
pub fn read_element(
    device: DeviceIndex,
    address: usize,
    bytes: usize,
) -> Result<[u8; MOST_ELEMENT_BYTES]> {
    let runtime = runtime()?;
    let stream = stream::current_on(runtime, device)?;
    if stream::is_capturing(runtime, stream)? {
        return Err(cannot_be_captured(device, CopyRoute::ToOrdinary(device)));
    }
    let Ok(mut place) = Landing::new(runtime, stream) else {
        return copied(runtime, stream, address, bytes);
    };
    let driver = runtime.driver();
    let (to, from) = (place.range.raw(), host_copy::device_memory(address));
    place.is_awaited = true;
    driver.copy_direct_async(to, from, bytes, stream.driver_ref())?;
    match driver.stream_write_word(stream.driver_ref(), place.word(), WRITTEN) {
        Ok(()) if place.watch() => {}
        Err(error) if error.status() != Status::NotSupported => return Err(error),
        _ => {
            let _relaxed = RelaxedCapture::enter(driver)?;
            stream::synchronize(runtime, stream)?;
        }
    }
    place.is_awaited = false;
    Ok(place.element())
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

/// Pinned memory for an element and a word.
struct Landing<'a> {
    runtime: &'a Runtime,
    stream: Stream,
    range: HostRange,
    /// The device may still write to it.
    is_awaited: bool,
}

impl<'a> Landing<'a> {
    fn new(runtime: &'a Runtime, stream: Stream) -> Result<Landing<'a>> {
        let range = host_copy::pinned(PLACE_BYTES)?;
        host_copy::fill(range, 0);
        Ok(Landing { runtime, stream, range, is_awaited: false })
    }

    fn word(&self) -> HostRange {
        self.range.part(MOST_ELEMENT_BYTES, WORD_BYTES)
    }

    fn element(&self) -> [u8; MOST_ELEMENT_BYTES] {
        let [first, second] = host_copy::words(self.range).map(u64::to_le_bytes);
        let mut element = [0; MOST_ELEMENT_BYTES];
        element[..8].copy_from_slice(&first);
        element[8..].copy_from_slice(&second);
        element
    }

    /// Looks until the element is there, or for [`WATCH`]. Returns whether it is.
    fn watch(&self) -> bool {
        let last = self.range.part(MOST_ELEMENT_BYTES, 2 * WORD_BYTES);
        let begin = Instant::now();
        loop {
            for _ in 0..LOOKS {
                if host_copy::words(last) == [u64::from(WRITTEN)] {
                    return true;
                }
                std::hint::spin_loop();
            }
            if begin.elapsed() > WATCH {
                return false;
            }
        }
    }
}

impl Drop for Landing<'_> {
    /// The block is not handed out again before the device is done.
    fn drop(&mut self) {
        if self.is_awaited {
            host_memory::record_use(self.runtime, self.range.get(), self.stream);
        }
        if let Err(error) = host_memory::free(self.range.get()) {
            log::warn(format_args!("pinned memory of an element was not returned: {error}"));
        }
    }
}
