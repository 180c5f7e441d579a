//! Queued work with a limit.

use std::sync::Arc;
use std::time::Instant;

use sconce_runtime::event::NativeEvent;

/// Work, the end of which is an event.
pub(super) struct WatchedWork {
    pub(super) event: Arc<NativeEvent>,
    pub(super) deadline: Instant,
    pub(super) sequence: u64,
    pub(super) name: &'static str,
}
