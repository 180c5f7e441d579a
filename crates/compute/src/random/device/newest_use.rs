//! Which use of some device memory is the newest. Streams that use the memory one after another follow each other's
//! uses, so the uses happen in the order in which the host queued them.

use std::sync::Arc;

use sconce_runtime::event::NativeEvent;

/// The newest use. Recorded and followed by [`DeviceWork`](super::work::DeviceWork).
#[derive(Clone, Default)]
pub(in crate::random) struct NewestUse {
    /// Recorded behind the newest use; `None` before the first one.
    pub(in crate::random) event: Option<Arc<NativeEvent>>,
}

impl NewestUse {
    /// Whether another value is about the same uses.
    pub(in crate::random) fn is_same(&self, other: &NewestUse) -> bool {
        match (&self.event, &other.event) {
            (Some(event), Some(other)) => Arc::ptr_eq(event, other),
            (event, other) => event.is_none() && other.is_none(),
        }
    }
}
