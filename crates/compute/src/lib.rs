//! Work on streams with torch's semantics: copies, element-wise operations, products, convolutions, transforms, random
//! numbers, collective calls, graphs. Operands are addresses with sizes and strides; tensors are in the crate above.
//!
//! | module | what it is |
//! |---|---|
//! | [`blas`] | products of matrices; handles and workspaces of cuBLAS |
//! | [`collectives`] | communicators and their calls |
//! | [`copy`] | copies and fills: on which stream, and when the call returns |
//! | [`dnn`] | convolutions, and the choice of an engine |
//! | [`fft`] | transforms and the cache of their plans |
//! | [`graph`] | captures, graphs, conditional nodes |
//! | [`ordering`] | sorts, selections by index, joins |
//! | [`pointwise`] | element-wise operations |
//! | [`random`] | generators and random fills |
//! | [`reduction`] | reductions, softmax, running sums |
//! | [`sleep_kernel`] | a kernel that keeps a stream busy |
//! | [`store`] | keys and values that the processes of a job share, in files and over TCP |

pub mod blas;
pub mod collectives;
pub mod copy;
pub mod dnn;
pub mod fft;
pub mod graph;
pub mod ordering;
pub mod pointwise;
pub mod random;
pub mod reduction;
pub mod sleep_kernel;
pub mod store;
#[cfg(test)]
mod testing;
