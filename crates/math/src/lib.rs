//! Arithmetic of operations on the CPU: elements, reductions, products, convolutions, transforms, random numbers.
//! Tensors of the CPU and the simulator calculate with it.
//!
//! | module | what it is |
//! |---|---|
//! | [`arithmetic`] | element-wise operations, and conversions between types |
//! | [`convolutions`] | convolutions of tensors of the CPU |
//! | [`folding`] | reductions, softmax and running sums |
//! | [`fourier`] | Fourier transforms |
//! | [`mersenne`] | the CPU's random numbers: Mersenne Twister |
//! | [`parallel`] | threads of the CPU that share the work of a call |
//! | [`philox`] | the devices' random numbers: Philox |
//! | [`products`] | products of matrices |
//! | [`unfolding`] | convolutions as products with the unfolded input |

pub mod arithmetic;
pub mod convolutions;
pub mod folding;
pub mod fourier;
pub mod mersenne;
pub mod parallel;
pub mod philox;
pub mod products;
pub mod unfolding;
