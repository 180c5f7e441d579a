//! Communicators. See `docs/design/collectives.md`.
//!
//! | file | idea |
//! |---|---|
//! | `life` | communicators made, split, finalized, aborted, destroyed; what they are |
//! | `reduce` | calls that reduce |
//! | `exchange` | calls that copy |
//! | `work` | groups, and asynchronous calls |

mod exchange;
mod life;
mod reduce;
mod work;

pub use exchange::*;
pub use life::*;
pub use reduce::*;
pub use work::*;
