//! The settings as a cache applies them. They are read again when they have changed.

use std::sync::Arc;

use crate::caching::settings::{self, Settings};
use crate::caching::size_class::{PoolKind, SMALL_LIMIT, round_to_unit};
use crate::memory::heap::request::{BlockFit, BlockRequest};
use crate::memory::history;

/// What of the settings a request needs.
pub(crate) struct CachePolicy {
    generation: u64,
    fit: BlockFit,
    /// Sizes are only rounded to the next multiple of 512.
    plain: bool,
    /// Bytes behind each block that are nobody's.
    guard: usize,
    settings: Option<Arc<Settings>>,
}

/// Which blocks serve a request. As in torch, memory of pages is cut wherever a block can be. It has no oversize
/// blocks: the pages of a large free block serve any request. Nor has it a pool for small requests.
fn fit(settings: &Settings, paged: bool) -> BlockFit {
    BlockFit {
        max_split: if paged { u64::MAX } else { settings.max_split_bytes as u64 },
        max_rounding: settings.max_non_split_rounding_bytes as u64,
        large_spare: if paged { 0 } else { SMALL_LIMIT as u64 },
        small_from: if paged { PoolKind::Large } else { PoolKind::Small },
    }
}

impl CachePolicy {
    /// Rules that have yet to be read.
    pub(crate) const fn unread() -> CachePolicy {
        CachePolicy {
            generation: u64::MAX,
            fit: BlockFit {
                max_split: u64::MAX,
                max_rounding: u64::MAX,
                large_spare: SMALL_LIMIT as u64,
                small_from: PoolKind::Small,
            },
            plain: true,
            guard: 0,
            settings: None,
        }
    }

    /// Whether the settings are those that were read last.
    #[inline]
    pub(crate) fn are_current(&self) -> bool {
        self.generation == settings::generation()
    }

    /// Reads the settings if they have changed; returns whether they had.
    #[inline]
    pub(crate) fn refresh(&mut self) -> bool {
        let stale = !self.are_current();
        if stale {
            self.read();
        }
        stale
    }

    #[cold]
    #[inline(never)]
    fn read(&mut self) {
        self.generation = settings::generation();
        let settings = settings::current();
        self.fit = fit(&settings, settings.expandable_segments);
        self.guard = history::guard_bytes();
        self.plain = settings.rounds_plainly() && self.guard == 0;
        self.settings = Some(settings);
    }

    #[inline(never)]
    fn round(&self, bytes: usize) -> usize {
        self.settings.as_ref().map_or(bytes, |settings| settings.round_size(bytes) + self.guard)
    }

    /// Which blocks serve a request to memory of pages, or to memory of segments, whatever the settings say.
    pub(crate) fn fit_of(&self, paged: bool) -> BlockFit {
        self.settings.as_ref().map_or(self.fit, |settings| fit(settings, paged))
    }

    /// What a caller's request asks of the heap.
    #[inline]
    pub(crate) fn request(&self, pool: u16, bytes: usize) -> BlockRequest {
        let rounded = if self.plain { round_to_unit(bytes) } else { self.round(bytes) };
        BlockRequest {
            pool,
            kind: PoolKind::of(rounded),
            rounded: rounded as u64,
            bytes: bytes as u64,
            fit: self.fit,
        }
    }
}
