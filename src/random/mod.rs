//! The C API. Random numbers. See `docs/design/random.md`.
//!
//! | file | idea |
//! |---|---|
//! | `seed` | seeds of the default generators |
//! | `generator` | generators and their seeds |
//! | `generator_state` | offsets and states of generators, reserved numbers |
//! | `fill` | filling memory |
//! | `fill_on` | filling memory on a stream that the call names |

mod fill;
mod fill_on;
mod generator;
mod generator_state;
mod seed;

pub use fill::*;
pub use fill_on::*;
pub use generator::*;
pub use generator_state::*;
pub use seed::*;
