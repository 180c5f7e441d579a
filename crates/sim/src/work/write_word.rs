//! Writes of words of page-locked memory.
#![forbid(unsafe_code)]

use sconce_driver::HostRange;

use crate::host::place::HostPlace;
use crate::machine::operation::{Pace, QueuedWork};
use crate::memory::{Accesses, Intent, MemoryAccess};

/// A queued write.
pub(crate) struct WriteWordWork {
    place: HostPlace,
    value: u32,
}

impl WriteWordWork {
    /// A write to page-locked memory of 4 bytes.
    pub(crate) fn new(word: HostRange, value: u32) -> WriteWordWork {
        WriteWordWork { place: HostPlace::of_host(word), value }
    }
}

impl QueuedWork for WriteWordWork {
    fn pace(&self) -> Pace {
        Pace::Thread
    }

    fn accesses(&self) -> Accesses {
        let address = self.place.address() as u64;
        Accesses::Known(vec![MemoryAccess::range(Intent::Write, address, size_of::<u32>() as u64)])
    }

    fn run(&self) -> Result<(), i32> {
        self.place.write_word(self.value);
        Ok(())
    }
}
