//! NVIDIA's driver follows no blocks.

use sconce_driver::Observe;

use super::CudaDriver;

impl Observe for CudaDriver {}
