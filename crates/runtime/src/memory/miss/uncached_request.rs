//! A request in the mode without caching: the driver is asked each time.

use sconce_base::error::{Result, Status};

use super::request::{Wanted, check_size};
use super::{out_of_memory, reclaim};
use crate::context::Runtime;
use crate::memory::source::uncached;
use crate::memory::streams::lookup;
use crate::stream::Stream;

/// Gets memory of a stream's device; asks again once other modules have freed blocks that they keep.
pub(crate) fn serve(runtime: &Runtime, bytes: usize, stream: Stream) -> Result<usize> {
    check_size(bytes)?;
    let device = stream.device();
    let obtained = uncached::obtain(runtime, device, bytes).or_else(|error| {
        let again = error.status() == Status::OutOfMemory && reclaim::free_idle_blocks(device) > 0;
        if again { uncached::obtain(runtime, device, bytes) } else { Err(error) }
    });
    match obtained {
        Err(error) if error.status() == Status::OutOfMemory => {
            // Not by its id: a cache that is found by that is used.
            let in_use = lookup::of_handle(runtime, device, stream.driver_ref().handle)?;
            let wanted = Wanted { pool: 0, bytes };
            Err(out_of_memory::report(runtime, in_use.cache(), bytes, wanted, bytes as u64))
        }
        obtained => obtained,
    }
}
