//! What a launch of a kernel gives a driver: the kernel's image, and its arguments.
//!
//! | file | idea |
//! |---|---|
//! | `image` | an image: one set of kernels in several forms of code |
//! | `packed_ptx` | the form in which the library holds PTX |
//! | `arguments` | grid, block and arguments of a launch |

mod arguments;
mod image;
mod packed_ptx;

pub use arguments::MOST_WIDE_SLOTS;
pub use arguments::{Dim3, KernelArguments, LaunchShape};
pub use image::{CodeFormat, KernelCode, KernelImage};
