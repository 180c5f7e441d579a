//! Operations whose results go to tensors of the caller's choice. See `docs/design/outputs.md`.
//!
//! | file | idea |
//! |---|---|
//! | `calculate` | elementwise operations, reductions, calculations along a dimension |
//! | `order` | tensors joined, selected, sorted |
//! | `product` | products of matrices, Fourier transforms |
//! | `create` | other sizes; numbers in a sequence |

mod calculate;
mod create;
mod order;
mod product;

pub use calculate::*;
pub use create::*;
pub use order::*;
pub use product::*;
