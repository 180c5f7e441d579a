//! Kernels of this library, for operations that libsconce.so does not have (docs/design/torch.md).
//!
//! | file | idea |
//! |---|---|
//! | `image` | an image: the code of a file of `torch/kernels` for several architectures, loaded once for each device |
//! | `images` | all images |
//! | `launch` | launches with typed arguments on the current stream of a device |
//! | `properties` | properties of a device that the choice of a kernel depends on |
//! | `packed_ptx` | PTX as the images hold it: the file of libsconce.so |

pub mod image;
pub mod images;
pub mod launch;
#[path = "../../../crates/driver/src/launch/packed_ptx.rs"]
mod packed_ptx;
pub mod properties;

pub use image::Image;
pub use launch::{Grid, KernelArgument, launch};
pub use properties::Properties;
