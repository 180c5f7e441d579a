//! Objects of the ABI that are no tensors.
//!
//! | file | idea |
//! |---|---|
//! | `generators` | generators of random numbers |
//! | `scalars` | numbers as objects |
//! | `lists` | lists, strings, words of optional values, texts of CUDA errors |

pub mod generators;
pub mod lists;
pub mod scalars;
