//! Communicators. See `docs/design/collectives.md`.
//!
//! | file | idea |
//! |---|---|
//! | `config` | how communicators are made |
//! | `life` | communicators made, split, finalized, aborted, destroyed; what they are |
//! | `reduce` | calls that reduce |
//! | `exchange` | calls that copy |
//! | `work` | groups, and asynchronous calls |

mod config;
mod exchange;
mod life;
mod reduce;
mod work;

pub use config::*;
pub use exchange::*;
pub use life::*;
pub use reduce::*;
pub use work::*;
