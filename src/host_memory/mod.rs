//! Pinned host memory: one heap for the process. See `docs/design/host_memory.md`.

mod figures;

pub use figures::{DurationStat, HostMemoryStats};

use crate::driver::StreamRef;
use crate::error::{Error, Result};
use crate::stream::Stream;

fn later<T>() -> Result<T> {
    Err(Error::not_supported("pinned host memory is being built"))
}

/// Pinned memory; address 0 for 0 bytes.
pub fn alloc(_bytes: usize) -> Result<usize> {
    later()
}

/// Frees pinned memory; address 0 is nothing. Any thread may.
pub fn free(_address: usize) -> Result<()> {
    later()
}

/// Notes that a stream uses the live block that holds an address. Memory of others is ignored.
pub fn record_stream(_address: usize, _stream: Stream) -> Result<()> {
    later()
}

/// The same for a queued copy; `false` when no live block holds the address.
pub(crate) fn record_use(_address: usize, _stream: StreamRef) -> bool {
    false
}

/// Whether an address is page-locked host memory, whoever locked it.
pub fn is_pinned(_address: usize) -> Result<bool> {
    later()
}

/// Gives all memory that nothing uses back to the driver.
pub fn empty_cache() -> Result<()> {
    later()
}

/// All figures.
pub fn stats() -> Result<HostMemoryStats> {
    later()
}

/// Peaks become the values of now.
pub fn reset_peak_stats() -> Result<()> {
    later()
}

/// Sums and counts begin again.
pub fn reset_accumulated_stats() -> Result<()> {
    later()
}

/// The figures as torch's `host_memory_stats()` names and orders them.
pub fn stats_json(_stats: &HostMemoryStats) -> String {
    String::from("{}")
}
