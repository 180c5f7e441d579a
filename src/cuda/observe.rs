//! NVIDIA's driver follows no blocks.

use super::CudaDriver;
use crate::driver::Observe;

impl Observe for CudaDriver {}
