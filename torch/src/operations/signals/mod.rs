//! Signals.
//!
//! | file | idea |
//! |---|---|
//! | `transforms` | Fourier transforms |
//! | `windows` | windows of signals |

pub mod transforms;
pub mod windows;
