//! Linear algebra, attention.
//!
//! | file | idea |
//! |---|---|
//! | `products` | products of matrices |
//! | `linear` | linear equations and factors of matrices |
//! | `attention` | attention of sequences of several lengths |

pub mod attention;
pub mod linear;
pub mod products;
