//! Convolutions on the CPU, as operations of simulated streams.
//!
//! The library has two engines. The first keeps the unfolded input of an image in the workspace and
//! reports itself as nondeterministic; the second keeps it in memory of its own, and is faster. Both
//! return right results, the first as long as no other work writes to its workspace.
//!
//! | file | idea |
//! |---|---|
//! | `codes` | the numbers of cuDNN's statuses |
//! | `geometry` | a problem's sizes, checked |
//! | `tensor` | images with any strides, read and written without gaps |
//! | `calculate` | the three operations, from products |
//! | `handle` | handles, engines and plans |

pub(crate) mod calculate;
mod codes;
mod geometry;
mod handle;
mod tensor;
