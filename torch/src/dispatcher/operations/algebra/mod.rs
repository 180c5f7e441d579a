//! Linear algebra.
//!
//! | file | idea |
//! |---|---|
//! | `products` | products of matrices |
//! | `linear` | linear equations and factors of matrices |

pub mod linear;
pub mod products;
