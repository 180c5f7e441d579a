//! Windows of images.
//!
//! | file | family |
//! |---|---|
//! | `windows` | the largest element, the mean, gradients |
//! | `fractional` | the largest element of windows that begin at random places |
//! | `unpooling` | largest elements back where they were found |

pub mod fractional;
pub mod unpooling;
pub mod windows;
