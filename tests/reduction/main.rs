//! Reductions, softmax and running sums on a device, against the same in host memory, which unit tests compare
//! with formulas.
//!
//! The device is simulated; `SCONCE_TEST_BACKEND=cuda` takes a GPU.

#![allow(clippy::unwrap_used, reason = "a failure of a test is a panic")]
#![allow(unsafe_code, reason = "vouches for host memory of the tests")]

mod lines;
mod reduce;
