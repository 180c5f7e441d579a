//! The settings as a cache applies them: read again when they have changed.

use std::sync::Arc;

use super::heap::{Fit, Request};
use super::settings::{self, Settings};
use super::size_class::{PoolKind, round_to_unit};

/// What of the settings a request needs.
pub(super) struct Rules {
    generation: u64,
    fit: Fit,
    /// Sizes are only rounded to the next multiple of 512.
    plain: bool,
    settings: Option<Arc<Settings>>,
}

impl Rules {
    /// Rules that have yet to be read.
    pub(super) const fn unread() -> Rules {
        Rules {
            generation: 0,
            fit: Fit { max_split: u64::MAX, max_rounding: u64::MAX },
            plain: true,
            settings: None,
        }
    }

    /// Reads the settings if they have changed.
    #[inline]
    pub(super) fn refresh(&mut self) {
        if self.generation != settings::generation() || self.settings.is_none() {
            self.read();
        }
    }

    #[cold]
    #[inline(never)]
    fn read(&mut self) {
        self.generation = settings::generation();
        let settings = settings::current();
        self.fit = Fit {
            max_split: settings.max_split_bytes as u64,
            max_rounding: settings.max_non_split_rounding_bytes as u64,
        };
        self.plain = settings.rounds_plainly();
        self.settings = Some(settings);
    }

    /// The size from which blocks are not cut.
    #[inline]
    pub(super) fn max_split(&self) -> u64 {
        self.fit.max_split
    }

    /// What a caller's request asks of the heap.
    #[inline]
    pub(super) fn request(&self, pool: u16, bytes: usize) -> Request {
        let rounded = match &self.settings {
            Some(settings) if !self.plain => settings.round_size(bytes),
            _ => round_to_unit(bytes),
        };
        Request {
            pool,
            kind: PoolKind::of(rounded),
            rounded: rounded as u64,
            bytes: bytes as u64,
            fit: self.fit,
        }
    }
}
