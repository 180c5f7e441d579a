//! What PyTorch calls of oneDNN when it compiled a model for the CPU with frozen weights. The ABI has it of the CPU alone.
//!
//! | file | idea |
//! |---|---|
//! | `attributes` | names, numbers and steps as the ABI passes them |
//! | `plain` | convolutions and products of floating-point numbers |
//! | `quantized` | the same of 8-bit integers |

pub mod attributes;
pub mod plain;
pub mod quantized;

#[cfg(test)]
mod tests;
