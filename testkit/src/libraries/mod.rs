//! Calls of the libraries, and the expected results.
//!
//! | module | what it holds |
//! |---|---|
//! | `handles` | cuBLAS handles of a process, and in threads of their own |
//! | `products`, `convolutions`, `fft` | calls of each library, and references for their results |
//! | `repeats` | transforms that are executed again |

pub mod convolutions;
pub mod fft;
pub mod handles;
pub mod products;
pub mod repeats;
