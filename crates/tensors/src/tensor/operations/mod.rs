//! Operations on tensors: torch's checks, types and shapes; the work itself is that of lower crates.
//!
//! | file | idea |
//! |---|---|
//! | `operand` | a tensor or a number; the place where operands meet |
//! | `output` | the tensor that a result is written to: a new one, or the caller's |
//! | `unary`, `binary`, `ternary` | elementwise operations of one, two and three operands; what kernels compute for a type |
//! | `checks` | operands that torch refuses for an operation of two |
//! | `elementwise` | elementwise operations that are made of others |
//! | `reduce` | sums, extremes and the like over dimensions |
//! | `line` | softmax and running sums along a dimension |
//! | `join` | tensors joined along a dimension |
//! | `order` | sorts, and selections by index |
//! | `nonzero` | where elements are not 0 |
//! | `convolution/` | convolutions: torch's rules; on the CPU |
//! | `fourier` | Fourier transforms |
//! | `compare` | whether two tensors are equal, or close |
//! | `product/` | products of matrices: torch's rules; on the CPU |

mod binary;
mod checks;
mod compare;
mod convolution;
mod elementwise;
mod fourier;
mod join;
mod line;
mod nonzero;
mod operand;
mod order;
mod output;
mod product;
mod reduce;
mod ternary;
mod unary;

pub use binary::{binary, binary_into, binary_new};
pub use compare::{allclose, equal};
pub use convolution::{FilterSteps, convolution};
pub use elementwise::elementwise;
pub use fourier::{TensorFft, fourier};
pub(crate) use join::cat_flat;
pub use join::{cat, cat_in_place, stack};
pub use line::along;
pub use nonzero::nonzero;
pub use operand::TensorOperand;
pub use order::{index_select, sort};
pub(crate) use output::{Destination, Output};
pub use product::{addmm, bmm, matmul};
pub use reduce::{Reduction, reduce};
pub use sconce_compute::pointwise::ElementOperation;
pub use ternary::{clamp, select_where};
pub(crate) use unary::not_implemented;
