//! Copies, element-wise operations, products, convolutions, transforms, random numbers, collectives, graphs.
//!
//! | module | what it is |
//! |---|---|
//! | [`blas`] | products of matrices |
//! | [`collectives`] | communicators |
//! | [`copy`] | copies and fills, and when they return |
//! | [`dnn`] | convolutions |
//! | [`fft`] | transforms and the cache of their plans |
//! | [`graph`] | captures and graphs |
//! | [`ordering`] | sorts, selections by index, joins |
//! | [`pointwise`] | element-wise operations |
//! | [`random`] | generators and random fills |
//! | [`reduction`] | reductions, softmax, running sums |
//! | [`sleep_kernel`] | a kernel that keeps a stream busy |
//! | [`store`] | keys and values that the processes of a job share |

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
