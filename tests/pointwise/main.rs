//! Element-wise operations on a device, compared with the same calls on host memory, which other tests compare
//! with the standard library.
//!
//! The device is simulated; `SCONCE_TEST_BACKEND=cuda` takes a GPU.

#![allow(clippy::unwrap_used, reason = "a failure of a test is a panic")]
#![allow(unsafe_code, reason = "vouches for host memory of the tests")]

mod cases;
mod compare;
mod operations;
