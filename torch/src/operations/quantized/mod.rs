//! Products and convolutions of integers of 8 bits with scales, products with weights of 4 bits, and what quantizes.
//! All are made of conversions, products and operations on elements.
//!
//! | file | idea |
//! |---|---|
//! | `numbers` | integers as real numbers and back |
//! | `behind` | what follows a product or a convolution of integers |
//! | `linear` | products with the columns of weights |
//! | `convolution` | convolutions |
//! | `wrapped` | products with weights that a model packs itself, once for FBGEMM |
//! | `packing` | how weights of 4 bits are packed, and the scales of their groups |
//! | `four_bits` | products with weights of 4 bits that PyTorch packed for a CPU |
//! | `few_rows` | the same for few rows, without unpacked weights in memory |
//! | `tensor_cores` | the same, packed for tensor cores |
//! | `dynamic` | products of rows that are quantized on the way, with weights of 4 bits |
//! | `observer` | quantization while training: ranges that are observed, numbers that are rounded |

pub mod behind;
pub mod convolution;
pub mod dynamic;
pub mod few_rows;
pub mod four_bits;
pub mod linear;
pub mod numbers;
pub mod observer;
pub mod packing;
pub mod tensor_cores;
pub mod wrapped;

#[cfg(test)]
mod tests;
