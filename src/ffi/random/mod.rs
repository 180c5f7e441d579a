//! The C API. Random numbers. See `docs/design/random.md`.
//!
//! | file | idea |
//! |---|---|
//! | `seed` | seeds of the default generators |
//! | `generator` | generators and their seeds |
//! | `generator_state` | offsets and states of generators, reserved numbers |
//! | `fill` | filling memory |

mod fill;
mod generator;
mod generator_state;
mod seed;

pub use fill::*;
pub use generator::*;
pub use generator_state::*;
pub use seed::*;
