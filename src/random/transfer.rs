//! Two numbers between the host and the device.

use crate::driver::{Driver, RawAddress, StreamRef};
use crate::error::Result;
use crate::types::DevicePtr;

const BYTES: usize = size_of::<[u64; 2]>();

/// Host memory for two numbers that a driver may still use after a call has failed, or for ever if a
/// graph recorded the copy. It is freed only by [`done`](Pair::done); otherwise it stays.
struct Pair(*mut [u64; 2]);

impl Pair {
    fn new(pair: [u64; 2]) -> Pair {
        Pair(Box::into_raw(Box::new(pair)))
    }

    fn address(&self) -> RawAddress {
        // SAFETY: the memory is never freed before `done`, which asks that nothing uses it any more.
        unsafe { RawAddress::from_caller(self.0 as usize) }
    }

    /// The numbers.
    ///
    /// # Safety
    /// Every copy from or to `address` has finished, and none is recorded in a graph.
    unsafe fn done(self) -> [u64; 2] {
        // SAFETY: made by `new`, and nothing else uses it any more, as the caller promises.
        *unsafe { Box::from_raw(self.0) }
    }
}

/// Reads two numbers; waits for the stream.
pub(super) fn read(driver: &dyn Driver, from: DevicePtr, stream: StreamRef) -> Result<[u64; 2]> {
    let pair = Pair::new([0; 2]);
    driver.copy_async(pair.address(), from.into(), BYTES, stream)?;
    driver.stream_synchronize(stream)?;
    // SAFETY: the stream has been waited for, which fails while it is being captured.
    Ok(unsafe { pair.done() })
}

/// Writes two numbers; waits for the stream.
pub(super) fn write(
    driver: &dyn Driver,
    to: DevicePtr,
    pair: [u64; 2],
    stream: StreamRef,
) -> Result<()> {
    let pair = Pair::new(pair);
    driver.copy_async(to.into(), pair.address(), BYTES, stream)?;
    driver.stream_synchronize(stream)?;
    // SAFETY: the stream has been waited for, which fails while it is being captured.
    unsafe { pair.done() };
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Under Miri, which sees an access to freed memory.
    #[test]
    fn memory_that_a_failed_call_may_still_use_stays() {
        let pair = Pair::new([1, 2]);
        let place = pair.0;
        drop(pair);
        // SAFETY: stays until `done`.
        assert_eq!(unsafe { place.read() }, [1, 2]);
        // SAFETY: no copy was made.
        assert_eq!(unsafe { Pair(place).done() }, [1, 2]);
    }
}
