//! What PyTorch calls of oneDNN when it compiled a model for the CPU with frozen weights. The ABI has it of the CPU alone.
//!
//! | file | idea |
//! |---|---|
//! | `attributes` | names, numbers and steps as the ABI passes them |
//! | `plain` | convolutions and products of floating-point numbers |

pub mod attributes;
pub mod plain;

#[cfg(test)]
mod tests;
