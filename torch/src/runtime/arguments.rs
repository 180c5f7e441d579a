//! Arguments of the runtime's functions that are places for results.

use super::state::{Outcome, codes};
use crate::abi::arguments::Out;

/// What CUDA's functions do with a place for a result, which may be NULL.
pub(super) trait CudaPlace<T>: Sized {
    /// Writes a result.
    fn give(self, value: T) -> Outcome;

    /// Writes what `make` makes of `empty`. A place that is NULL is refused before anything is made.
    fn fill(self, empty: T, make: impl FnOnce(&mut T) -> Outcome) -> Outcome;
}

impl<T> CudaPlace<T> for Out<'_, T> {
    fn give(self, value: T) -> Outcome {
        self.write("place", value).map_err(|_| codes::INVALID_VALUE)
    }

    fn fill(self, empty: T, make: impl FnOnce(&mut T) -> Outcome) -> Outcome {
        self.check("place").map_err(|_| codes::INVALID_VALUE)?;
        let mut value = empty;
        make(&mut value)?;
        self.give(value)
    }
}
