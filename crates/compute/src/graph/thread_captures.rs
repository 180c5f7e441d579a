//! The graphs that a thread captures.

use std::cell::RefCell;
use std::mem::ManuallyDrop;

use sconce_base::collections::slab::Key;

thread_local! {
    /// The graphs that this thread captures, the newest last. Without a destructor, so that a thread can ask while it
    /// ends; the storage of an empty list is freed instead.
    static CAPTURING: ManuallyDrop<RefCell<Vec<Key>>> =
        const { ManuallyDrop::new(RefCell::new(Vec::new())) };
}

/// Notes that the calling thread captures a graph.
pub(super) fn note(key: Key) {
    CAPTURING.with(|graphs| graphs.borrow_mut().push(key));
}

/// The graph that was noted last.
pub(super) fn newest() -> Option<Key> {
    CAPTURING.with(|graphs| graphs.borrow().last().copied())
}

/// Takes a graph out of the list of the calling thread.
pub(super) fn forget(key: Key) {
    CAPTURING.with(|graphs| {
        let mut graphs = graphs.borrow_mut();
        graphs.retain(|other| *other != key);
        if graphs.is_empty() {
            *graphs = Vec::new();
        }
    });
}
