//! Tensors on a stream that the call names, first among its parameters. Each function calls the one without `_on`
//! while the stream is current (`stream/named`). See `docs/design/stream.md`.
//!
//! | file | idea |
//! |---|---|
//! | `create`, `random` | new tensors, fills, random fills |
//! | `convert` | other types, places, orders in memory; values of the host |
//! | `calculate` | elementwise operations, reductions, calculations along a dimension |
//! | `order` | tensors joined, sorted, selected, compared |
//! | `product` | products of matrices, convolutions, Fourier transforms |
//! | `calculate_out`, `create_out`, `order_out`, `product_out` | the same into tensors of the caller's choice |

mod calculate;
mod calculate_out;
mod convert;
mod create;
mod create_out;
mod order;
mod order_out;
mod product;
mod product_out;
mod random;

pub use calculate::*;
pub use calculate_out::*;
pub use convert::*;
pub use create::*;
pub use create_out::*;
pub use order::*;
pub use order_out::*;
pub use product::*;
pub use product_out::*;
pub use random::*;
