//! Functions of matrices.
//!
//! | file | idea |
//! |---|---|
//! | `determinants` | determinants, their signs and logarithms |
//! | `exponential` | exponentials of matrices |

pub mod determinants;
pub mod exponential;
