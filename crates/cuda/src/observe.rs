//! NVIDIA's driver follows no blocks.

use super::CudaDriver;
use sconce_driver::Observe;

impl Observe for CudaDriver {}
