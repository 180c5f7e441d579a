//! PyTorch's ABI: what is not an operation.
//!
//! | file | idea |
//! |---|---|
//! | `constants` | numbers of data types, devices, layouts and memory formats |
//! | `tensors` | handles of tensors, and what a tensor is |
//! | `errors` | texts of failures, warnings, checks |

pub mod constants;
pub mod errors;
pub mod tensors;
