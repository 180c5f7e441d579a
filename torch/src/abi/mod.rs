//! PyTorch's ABI: what is not an operation.
//!
//! | file | idea |
//! |---|---|
//! | `constants` | numbers of data types, devices, layouts and memory formats |
//! | `tensors` | what a tensor is |
//! | `handles` | new tensors and handles of tensors |
//! | `errors` | texts of failures, warnings, checks |
//! | `handles` | new tensors and handles of tensors |
//! | `copies` | copies, and tensors of one element as numbers |
//! | `devices` | current devices and streams, guards |

pub mod constants;
pub mod copies;
pub mod devices;
pub mod errors;
pub mod handles;
pub mod tensors;
