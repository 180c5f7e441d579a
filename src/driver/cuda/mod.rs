//! The CUDA driver API as a [`Driver`](super::Driver).
