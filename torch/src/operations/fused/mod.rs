//! Convolutions and products of matrices with operations on elements behind them, as oneDNN has them in one call. Here
//! they are several, in float32 for the 16-bit types, and the result is rounded once.
//!
//! | file | idea |
//! |---|---|
//! | `activation` | functions of one element, by PyTorch's names |
//! | `after` | what follows a convolution or a product: another tensor, a function |
//! | `convolution` | convolutions, also transposed ones |
//! | `linear` | products with the rows of weights |

pub mod activation;
pub mod after;
pub mod convolution;
pub mod linear;

#[cfg(test)]
mod tests;
