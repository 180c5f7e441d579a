//! Faults of communicators of simulated devices.

use sconce_base::error::Result;
use sconce_compute::collectives;

use crate::handle::OpaqueHandle;
use crate::sim::controls as sim;
use crate::{guard, sconce_comm, sconce_status};

fn native(comm: *mut sconce_comm) -> Result<usize> {
    collectives::native(sconce_comm::key(comm, "comm")?)
}

/// Ends a communicator's rank as if its process had died: the calls that it has queued end without
/// a result, its later calls fail with ABORTED, and calls of other ranks that wait for it fail with
/// REMOTE.
#[must_use]
#[unsafe(no_mangle)]
pub extern "C" fn sconce_sim_comm_kill(comm: *mut sconce_comm) -> sconce_status {
    guard(|| sim::comm_kill(native(comm)?))
}

/// Delays the beginning of each call of a communicator's rank, as on a slow machine. The delay is
/// in real time, not in simulated time.
///
/// - `nanoseconds`: the delay of each call from now on; 0 means none.
#[must_use]
#[unsafe(no_mangle)]
pub extern "C" fn sconce_sim_comm_delay(comm: *mut sconce_comm, nanoseconds: u64) -> sconce_status {
    guard(|| sim::comm_delay(native(comm)?, nanoseconds))
}

/// Makes a communicator's rank fail asynchronously, as NCCL may report with
/// `ncclCommGetAsyncError`.
///
/// - `code`: an `ncclResult_t`, such as 6 for `ncclRemoteError`.
#[must_use]
#[unsafe(no_mangle)]
pub extern "C" fn sconce_sim_comm_fail(comm: *mut sconce_comm, code: i32) -> sconce_status {
    guard(|| sim::comm_fail(native(comm)?, code))
}

/// Sets how long calls of communicators wait for other ranks; NCCL would wait forever. A call that
/// has waited that long ends, and breaks its communicator with a message that states what it waited
/// for.
///
/// - `milliseconds`: 60,000 by default.
#[must_use]
#[unsafe(no_mangle)]
pub extern "C" fn sconce_sim_set_comm_patience_ms(milliseconds: u64) -> sconce_status {
    guard(|| sim::set_comm_patience_ms(milliseconds))
}
