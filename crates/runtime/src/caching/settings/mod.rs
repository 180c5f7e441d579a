//! The allocator's configuration: what the text of `PYTORCH_CUDA_ALLOC_CONF` means.
//!
//! A text always means the same: reading begins from the defaults, never from what was in force
//! before. `docs/design/memory_settings.md` lists the keys.
//!
//! | file | idea |
//! |---|---|
//! | `tokens` | the text as words, numbers and lists |
//! | `roundup` | the key for rounding sizes up, and the rounding |
//! | `keys` | each key: its values, and what it sets |
//! | `notes` | warnings about keys without effect, each once |
//! | `in_force` | the configuration in force |
//! | `tests` | tests of the keys |

mod in_force;
mod keys;
mod notes;
mod roundup;
#[cfg(test)]
mod tests;
mod tokens;

use sconce_base::error::Result;

use super::size_class;

pub use in_force::{configure, current, generation};

/// The configuration.
#[derive(Clone, Debug, PartialEq)]
pub struct Settings {
    /// The text it was read from.
    pub text: String,
    /// From this size on blocks are not split; `usize::MAX` when there is no such size.
    pub max_split_bytes: usize,
    /// How much larger than the request an unsplit block may be.
    pub max_non_split_rounding_bytes: usize,
    /// The share of the limit from which old segments are returned to the driver; 0 is off.
    pub garbage_collection_threshold: f64,
    /// Steps a power of two is divided into, for sizes below 2 MiB, below 4 MiB, … and from 32 GiB
    /// on; 0 and 1 are off.
    pub roundup_divisions: [u32; roundup::INTERVALS],
    /// Bytes of a segment for large requests below 10 MiB.
    pub large_segment_bytes: usize,
    /// Whether segments are made of pages mapped into reserved address space (`policy:pages`), instead of
    /// one driver allocation each. Not there yet.
    pub expandable_segments: bool,
    /// The share of a device's memory that may be used.
    pub per_process_memory_fraction: f64,
    /// Whether a capture may use blocks again that its own order shows to be free.
    pub graph_capture_record_stream_reuse: bool,
    /// What torch calls letting other threads allocate during a driver call; here they always may.
    pub release_lock_on_cudamalloc: bool,
    /// What concerns pinned host memory.
    pub pinned: PinnedSettings,
}

/// The part of the configuration that concerns pinned host memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PinnedSettings {
    /// Whether host memory is allocated by the host and then registered.
    pub use_cuda_host_register: bool,
    /// Threads that touch the pages before they are registered; a power of two.
    pub num_register_threads: usize,
    /// Whether a background thread polls for blocks that can be used again.
    pub use_background_threads: bool,
    /// MiB of host memory that are reserved in one piece at the start; 0 is none.
    pub reserve_segment_size_mb: usize,
    /// Whether a free accepts pointers that are not the allocator's.
    pub free_catch_all: bool,
    /// The size in MiB above which requests are not rounded; `usize::MAX` when there is no such size.
    pub max_round_threshold_mb: usize,
    /// The size in MiB above which blocks are not kept; `usize::MAX` when there is no such size.
    pub max_cached_size_mb: usize,
}

impl Default for PinnedSettings {
    fn default() -> Self {
        PinnedSettings {
            use_cuda_host_register: false,
            num_register_threads: 1,
            use_background_threads: false,
            reserve_segment_size_mb: 0,
            free_catch_all: false,
            max_round_threshold_mb: usize::MAX,
            max_cached_size_mb: usize::MAX,
        }
    }
}

impl Default for Settings {
    fn default() -> Self {
        Settings {
            text: String::new(),
            max_split_bytes: usize::MAX,
            max_non_split_rounding_bytes: 20 << 20,
            garbage_collection_threshold: 0.0,
            roundup_divisions: [0; roundup::INTERVALS],
            large_segment_bytes: size_class::LARGE_SEGMENT,
            expandable_segments: false,
            per_process_memory_fraction: 1.0,
            graph_capture_record_stream_reuse: false,
            release_lock_on_cudamalloc: false,
            pinned: PinnedSettings::default(),
        }
    }
}

impl Settings {
    /// What a text means. What it does not mention has its default.
    pub fn parse(text: &str) -> Result<Settings> {
        keys::read(text).map(|reading| reading.settings)
    }

    /// The size of the block that serves a request below [`size_class::TOO_LARGE`].
    #[inline]
    pub(crate) fn round_size(&self, bytes: usize) -> usize {
        let divisions = roundup::divisions_for(&self.roundup_divisions, bytes);
        roundup::round(bytes, divisions)
    }

    /// Whether sizes are only rounded to the next multiple of 512.
    pub(crate) fn rounds_plainly(&self) -> bool {
        self.roundup_divisions.iter().all(|divisions| *divisions <= 1)
    }
}
