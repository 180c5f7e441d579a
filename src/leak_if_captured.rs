//! A library's plan that is never destroyed once a captured graph uses it.
//!
//! The kernels of a graph read the tables of the plan whenever the graph is launched, and nothing reports
//! when a graph is destroyed. So a plan that was executed into a capture is leaked instead of dropped.

use std::mem;

use crate::error::{Error, Result, Status};

/// A value that is leaked instead of dropped once it was used in a capture.
pub(crate) struct LeakIfCaptured<T> {
    /// `None` once it was taken out.
    value: Option<T>,
    is_captured: bool,
}

impl<T> LeakIfCaptured<T> {
    /// `is_captured`: the value was used in a capture already.
    pub(crate) fn new(value: T, is_captured: bool) -> Self {
        LeakIfCaptured { value: Some(value), is_captured }
    }

    /// The value, for one use. `is_captured`: the use becomes part of a graph.
    #[inline]
    pub(crate) fn get(&mut self, is_captured: bool) -> Result<&mut T> {
        self.is_captured |= is_captured;
        self.value.as_mut().ok_or_else(gone)
    }

    /// Whether a use became part of a graph.
    #[inline]
    pub(crate) fn is_captured(&self) -> bool {
        self.is_captured
    }

    /// Takes the value out, to be dropped by the caller. Returns `None` if it is leaked.
    pub(crate) fn take(&mut self) -> Option<T> {
        let value = self.value.take();
        if !self.is_captured {
            return value;
        }
        mem::forget(value);
        None
    }
}

#[cold]
fn gone() -> Error {
    Error::new(Status::Internal, "a plan was used after its end")
}

impl<T> Drop for LeakIfCaptured<T> {
    fn drop(&mut self) {
        drop(self.take());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::Cell;

    /// Counts its drop. It owns no memory, which would count as lost when it is leaked.
    struct CountsDrop<'a>(&'a Cell<u32>);

    impl Drop for CountsDrop<'_> {
        fn drop(&mut self) {
            self.0.set(self.0.get() + 1);
        }
    }

    #[test]
    fn a_value_is_dropped_unless_a_graph_uses_it() {
        let drops = Cell::new(0);
        let mut plain = LeakIfCaptured::new(CountsDrop(&drops), false);
        assert!(plain.get(false).is_ok() && !plain.is_captured());
        drop(plain);
        assert_eq!(drops.get(), 1);
        let mut captured = LeakIfCaptured::new(CountsDrop(&drops), false);
        assert!(captured.get(true).is_ok() && captured.get(false).is_ok());
        assert!(captured.is_captured());
        drop(captured);
        assert_eq!(drops.get(), 1, "it is leaked");
    }

    #[test]
    fn a_value_that_is_taken_out_is_the_callers() {
        let mut plain = LeakIfCaptured::new(7, false);
        assert_eq!(plain.take(), Some(7));
        assert_eq!(plain.get(false).err().map(|error| error.status()), Some(Status::Internal));
        let mut captured = LeakIfCaptured::new(7, false);
        assert!(captured.get(true).is_ok());
        assert_eq!(captured.take(), None);
    }
}
