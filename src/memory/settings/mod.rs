//! The allocator's configuration: what the text of `PYTORCH_CUDA_ALLOC_CONF` means.

use std::sync::Arc;

use crate::error::{Error, Result};

/// How memory is got from the driver.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Policy {
    /// One driver allocation a segment.
    Segments,
    /// Pages mapped into reserved address space.
    Pages,
}

/// The configuration.
#[derive(Clone, Debug, PartialEq)]
pub struct Settings {
    /// The text it was read from.
    pub text: String,
    /// From this size on blocks are not split; `usize::MAX` when there is no such size.
    pub max_split_bytes: usize,
    /// How much larger than the request an unsplit block may be.
    pub max_non_split_rounding_bytes: usize,
    /// The share of the limit from which old blocks are given back; 0 is off.
    pub garbage_collection_threshold: f64,
    /// Steps a power of two is divided into, for sizes of 1 MiB, 2 MiB, … 32 GiB and more; 0 is off.
    pub roundup_divisions: [u32; 16],
    /// Bytes of a segment for large requests below 10 MiB.
    pub large_segment_bytes: usize,
    /// How memory is got from the driver.
    pub policy: Policy,
    /// The share of a device's memory that may be used.
    pub per_process_memory_fraction: f64,
}

impl Settings {
    /// The size of the block that serves a request.
    pub fn round_size(&self, bytes: usize) -> usize {
        super::size_class::round_to_unit(bytes)
    }
}

/// The configuration in force.
pub fn current() -> Arc<Settings> {
    Arc::new(Settings {
        text: String::new(),
        max_split_bytes: usize::MAX,
        max_non_split_rounding_bytes: 20 << 20,
        garbage_collection_threshold: 0.0,
        roundup_divisions: [0; 16],
        large_segment_bytes: super::size_class::LARGE_SEGMENT,
        policy: Policy::Segments,
        per_process_memory_fraction: 1.0,
    })
}

/// Replaces the configuration.
pub fn configure(_text: &str) -> Result<()> {
    Err(Error::not_supported("not yet"))
}
