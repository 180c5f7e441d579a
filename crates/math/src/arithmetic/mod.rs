//! The arithmetic of element-wise operations, as pure Rust: operations on host memory use it, and so
//! do the simulator's kernels. See `docs/design/pointwise.md`.
//!
//! | file | idea |
//! |---|---|
//! | `operation` | the table of operations, from which their numbers and lists follow |
//! | `domain` | the five types in which operations are computed |
//! | `any_number` | a number of any type, and conversion between types as CUDA converts |
//! | `stored` | elements as bytes in memory |
//! | `number` | what the numbers of every domain have in common |
//! | `integer`, `real`, `complex` | operations on the numbers of each domain |
//! | `erf` | the error function of the C library |
//! | `elementwise` | an operation along axes with strides, in one form for kernels and host |
//! | `evaluate` | computation of such an operation by the calling thread |

mod any_number;
mod complex;
mod domain;
mod elementwise;
#[allow(unsafe_code, reason = "functions of the C library")]
mod erf;
pub mod evaluate;
mod integer;
mod number;
mod operation;
mod real;
mod stored;
#[cfg(test)]
mod tests;

pub use any_number::Scalar;
pub use any_number::{AnyNumber, wrap};
pub use domain::Domain;
pub use elementwise::{Elementwise, ElementwiseAxis, ElementwiseInput, MOST_INPUTS};
pub use evaluate::{ElementRun, ElementRuns, evaluate, evaluate_part};
pub use operation::{ElementOperation, Lowering, ResultType, numbers};
pub use stored::{decode, encode};
