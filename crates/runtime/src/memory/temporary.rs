//! Memory that work of one stream passes through.

use sconce_base::error::Result;
use sconce_base::log;
use sconce_base::types::DevicePtr;

use super::alloc_on;
use super::free;
use crate::stream::Stream;

/// A block for work of one stream; none for 0 bytes. Dropped when that work has been queued.
pub struct Temporary(usize);

impl Temporary {
    #[inline]
    pub fn new(bytes: usize, stream: Stream) -> Result<Temporary> {
        if bytes == 0 { Ok(Temporary(0)) } else { alloc_on(bytes, stream).map(Temporary) }
    }

    /// Where it begins; 0 without bytes.
    #[inline]
    pub fn address(&self) -> DevicePtr {
        DevicePtr(self.0 as u64)
    }
}

impl Drop for Temporary {
    #[inline]
    fn drop(&mut self) {
        if self.0 != 0 {
            give_back(self.0);
        }
    }
}

#[inline(never)]
fn give_back(address: usize) {
    // Work queued on the stream may still use it: only work queued later on the stream gets it.
    if let Err(error) = free(address) {
        log::warn(format_args!("a temporary was not freed: {error}"));
    }
}
