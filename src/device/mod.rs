//! The C API. Devices. See `docs/design/device.md`.
//!
//! | file | idea |
//! |---|---|
//! | `current` | how many devices there are, and which is current |
//! | `properties` | the struct of properties |
//! | `query` | properties, peers, free memory, processes |

mod current;
mod properties;
mod query;

pub use current::*;
pub use properties::*;
pub use query::*;
