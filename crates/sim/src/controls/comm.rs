//! Faults of communicators. A rank is named by the library's handle of its end.
#![forbid(unsafe_code)]

use std::sync::Arc;
use std::sync::atomic::Ordering;

use sconce_base::error::{Error, Result, Status};
use sconce_driver::nvidia::comm_failure;

use crate::processes::board::Standing;
use crate::processes::rank::Rank;
use crate::state::Simulator;

impl Simulator {
    /// The rank does nothing any more, as if its process had died: what it has queued ends without a result, and the
    /// other ranks wait for it in vain.
    pub fn comm_kill(&self, native: usize) -> Result<()> {
        let why = Error::new(Status::Aborted, "the rank has died, as a test asked for");
        self.rank(native)?.end(Standing::Died, why);
        Ok(())
    }

    /// Each operation of the rank begins so much later. It is not modelled time.
    pub fn comm_delay(&self, native: usize, nanoseconds: u64) -> Result<()> {
        self.rank(native)?.delay_ns.store(nanoseconds, Ordering::Relaxed);
        Ok(())
    }

    /// The rank fails asynchronously with a number of NCCL.
    pub fn comm_fail(&self, native: usize, code: i32) -> Result<()> {
        let why = comm_failure("a collective call", code);
        self.rank(native)?.end(Standing::Failed, why);
        Ok(())
    }

    /// Sets how long operations wait for other ranks before they are given up. NCCL waits for ever.
    pub fn set_comm_patience_ms(&self, milliseconds: u64) {
        self.inner.ranks.patience_ms.store(milliseconds, Ordering::Relaxed);
    }

    fn rank(&self, native: usize) -> Result<Arc<Rank>> {
        self.inner.ranks.find(native).ok_or_else(|| {
            Error::invalid_handle(format!("{native:#x} is not a live rank of a communicator"))
        })
    }
}
