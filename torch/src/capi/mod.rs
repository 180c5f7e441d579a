//! The library's own C API, `sconce_torch.h`: what is not part of PyTorch's ABI. Functions are written out by hand,
//! as the header generator does not see macros.
//!
//! | file | idea |
//! |---|---|
//! | `last_error` | the text of the thread's newest failure |
//! | `model` | compiled models: loading, and what they are |
//! | `model_tensors` | inputs and outputs: types, sizes, names |
//! | `model_memory` | memory |
//! | `model_runs` | runs, also as graphs |
//! | `model_constants` | constants |
//! | `operator_values` | arguments and results of operators |
//! | `operator` | kernel libraries and their operators |
//! | `operator_values` | arguments and results of operators |
//! | `precision` | the precision of products |

#![allow(clippy::missing_safety_doc, reason = "the header states once what callers promise")]

pub mod last_error;
pub mod model;
pub mod model_constants;
pub mod model_memory;
pub mod model_runs;
pub mod model_tensors;
pub mod operator;
pub mod operator_values;
pub mod precision;

#[cfg(test)]
mod tests;
