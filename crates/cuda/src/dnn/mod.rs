//! cuDNN, through its graph interface.
//!
//! | file | what |
//! |---|---|
//! | `functions` | the table of its functions |
//! | `session` | a handle with all it needs; codes into errors |
//! | `descriptor` | the objects that the interface is made of |
//! | `problem` | a convolution as a graph of one operation |
//! | `engines` | which engines there are, and which may be used |
//! | `distrust` | engines that are known to be wrong |
//! | `plan` | an engine made ready; executing it |
//! | `handle` | a handle, and what is called on it |

mod descriptor;
mod distrust;
mod engines;
mod functions;
mod handle;
mod plan;
mod problem;
mod session;

use std::ptr::null_mut;
use std::sync::Arc;

use sconce_base::error::{Error, Result, Status};
use sconce_base::types::DeviceIndex;
use sconce_driver::{Dnn, DnnHandle};

use self::functions::DnnFunctions;
use self::handle::CudnnHandle;
use self::session::Session;
use super::CudaDriver;
use super::libraries::library::LibraryName;

const NAME: LibraryName =
    LibraryName { name: "cuDNN", files: &["libcudnn.so.9"], variable: "SCONCE_LIBCUDNN" };

/// The version number of cuDNN 9.0. Older versions have other status codes.
const OLDEST: usize = 90_000;

/// The library, once it was opened.
pub(super) type Cudnn = Arc<DnnFunctions>;

impl Dnn for CudaDriver {
    fn dnn_create(&self, device: DeviceIndex) -> Result<Box<dyn DnnHandle>> {
        let functions = self.cudnn()?;
        let context = self.held_context(device)?;
        let create = functions.cudnnCreate()?;
        let mut handle = null_mut();
        {
            let _entered = context.enter()?;
            // SAFETY: `handle` outlives the call; the device's context is current.
            let code = unsafe { create(&mut handle) };
            functions.check("cudnnCreate", code)?;
        }
        let session = Session { functions: functions.clone(), context, handle: handle as usize };
        Ok(Box::new(CudnnHandle::new(session)))
    }

    fn dnn_version(&self) -> Result<i64> {
        let version = version_of(self.cudnn()?)?;
        i64::try_from(version)
            .map_err(|_| Error::new(Status::Driver, format!("cuDNN's version is {version}")))
    }
}

impl CudaDriver {
    fn cudnn(&self) -> Result<&Cudnn> {
        self.cudnn.get_or_try_init(|| {
            let library = self.libraries.open(&NAME, self.libraries.cudnn.as_deref())?;
            let functions = DnnFunctions::load(&library)?;
            let version = version_of(&functions)?;
            if version < OLDEST {
                return Err(Error::new(
                    Status::LibraryNotFound,
                    format!("cuDNN of version number {version} was found; install cuDNN 9"),
                ));
            }
            Ok(Arc::new(functions))
        })
    }
}

fn version_of(functions: &DnnFunctions) -> Result<usize> {
    let version = functions.cudnnGetVersion()?;
    // SAFETY: takes nothing; needs neither device nor context.
    Ok(unsafe { version() })
}
