//! cuBLAS.
//!
//! | file | what |
//! |---|---|
//! | `functions` | the table of its functions |
//! | `handle` | a handle, and what is called on it |
//! | `gemm` | a product as cuBLAS takes it |

mod functions;
mod gemm;
mod handle;

use std::ptr::null_mut;
use std::sync::Arc;

use sconce_base::error::{Error, Result, Status};
use sconce_base::types::DeviceIndex;
use sconce_driver::nvidia::blas_failure;
use sconce_driver::{Blas, BlasHandle, Memory};

use self::functions::BlasFunctions;
use self::handle::CublasHandle;
use super::CudaDriver;
use super::libraries::library::LibraryName;
use super::result::SUCCESS;

const NAME: LibraryName = LibraryName {
    name: "cuBLAS",
    files: &["libcublas.so.13", "libcublas.so.12", "libcublas.so.11"],
    variable: "SCONCE_LIBCUBLAS",
};

const CREATE: &str = "cublasCreate_v2";
/// `CUBLAS_STATUS_NOT_INITIALIZED`: also what making a handle fails with when memory runs out.
const NOT_INITIALIZED: i32 = 1;
/// What a handle takes of the device is below this.
const HANDLE_BYTES: usize = 128 << 20;

/// The library, once it was opened.
pub(super) type Cublas = Arc<BlasFunctions>;

impl Blas for CudaDriver {
    fn blas_create(&self, device: DeviceIndex) -> Result<Box<dyn BlasHandle>> {
        let functions = self.cublas()?;
        let context = self.held_context(device)?;
        let create = functions.cublasCreate_v2()?;
        let mut handle = null_mut();
        {
            let _entered = context.enter()?;
            // SAFETY: `handle` outlives the call; the device's context is current.
            let code = unsafe { create(&mut handle) };
            if code != SUCCESS {
                return Err(self.create_failure(device, code));
            }
        }
        Ok(Box::new(CublasHandle::new(functions.clone(), context, handle)))
    }
}

impl CudaDriver {
    fn cublas(&self) -> Result<&Cublas> {
        self.cublas.get_or_try_init(|| {
            let library = self.libraries.open(&NAME, self.libraries.cublas.as_deref())?;
            Ok(Arc::new(BlasFunctions::load(&library)?))
        })
    }

    /// cuBLAS reports lack of memory like other reasons not to start; the driver distinguishes
    /// them.
    #[cold]
    fn create_failure(&self, device: DeviceIndex, code: i32) -> Error {
        let error = blas_failure(CREATE, code);
        match self.memory_info(device) {
            Ok(info) if code == NOT_INITIALIZED && info.free_bytes < HANDLE_BYTES => {
                let name = "CUBLAS_STATUS_NOT_INITIALIZED";
                Error::driver(Status::OutOfMemory, CREATE, code, name).context(format_args!(
                    "device {device} has {} bytes left, too few for a cuBLAS handle",
                    info.free_bytes
                ))
            }
            _ => error,
        }
    }
}
