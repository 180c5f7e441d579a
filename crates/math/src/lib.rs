//! Arithmetic of operations on the CPU: elements, reductions, products, convolutions, transforms, random numbers.
//!
//! | module | what it is |
//! |---|---|
//! | [`arithmetic`] | what element-wise operations compute |
//! | [`convolutions`] | convolutions |
//! | [`folding`] | reductions, softmax and running sums |
//! | [`fourier`] | Fourier transforms |
//! | [`mersenne`] | the CPU's random number generator |
//! | [`parallel`] | threads of the CPU that share the work of a call |
//! | [`philox`] | the devices' random number generator |
//! | [`products`] | products of matrices |
//! | [`unfolding`] | convolutions as products |

pub mod arithmetic;
pub mod convolutions;
pub mod folding;
pub mod fourier;
pub mod mersenne;
pub mod parallel;
pub mod philox;
pub mod products;
pub mod unfolding;
