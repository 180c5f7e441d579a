//! Views: random chains of them against a naive model, and what is refused.

mod chains;
mod model;
mod refusals;

pub(crate) use model::{Model, strided};
