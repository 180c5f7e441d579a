//! cuFFT.
//!
//! | file | what |
//! |---|---|
//! | `functions` | the table of its functions |
//! | `layout` | a shape as cuFFT takes it |
//! | `plan` | a plan: made, executed, destroyed |

mod functions;
mod layout;
mod plan;

use std::sync::Arc;

use sconce_base::error::Result;
use sconce_base::types::DeviceIndex;
use sconce_driver::nvidia::fft_failure;
use sconce_driver::{Fft, FftPlan, FftShape};

use self::functions::FftFunctions;
use self::plan::CufftPlan;
use super::CudaDriver;
use super::libraries::library::LibraryName;
use super::result::SUCCESS;

const NAME: LibraryName = LibraryName {
    name: "cuFFT",
    files: &["libcufft.so.12", "libcufft.so.11", "libcufft.so.10"],
    variable: "SCONCE_LIBCUFFT",
};

/// How many plans are kept where nothing limits them.
const MOST_PLANS: usize = 4096;
/// How many a cuFFT before [`WITHOUT_LIMIT`] can keep.
const MOST_PLANS_ONCE: usize = 1023;
/// The version of cuFFT, that of CUDA 10, since which plans are limited by memory alone.
const WITHOUT_LIMIT: i32 = 10_000;

/// The library, once it was opened.
pub(super) type Cufft = Arc<FftFunctions>;

impl Fft for CudaDriver {
    fn fft_plan(&self, device: DeviceIndex, shape: &FftShape) -> Result<Box<dyn FftPlan>> {
        let functions = self.cufft()?;
        let context = self.held_context(device)?;
        Ok(Box::new(CufftPlan::make(functions.clone(), context, shape)?))
    }

    /// The version needs no device. Where it cannot be asked no plan can be made either.
    fn fft_most_plans(&self) -> usize {
        match self.cufft().and_then(|functions| version(functions)) {
            Ok(version) if version < WITHOUT_LIMIT => MOST_PLANS_ONCE,
            _ => MOST_PLANS,
        }
    }
}

impl CudaDriver {
    fn cufft(&self) -> Result<&Cufft> {
        self.cufft.get_or_try_init(|| {
            let library = self.libraries.open(&NAME, self.libraries.cufft.as_deref())?;
            Ok(Arc::new(FftFunctions::load(&library)?))
        })
    }
}

fn version(functions: &FftFunctions) -> Result<i32> {
    let get = functions.cufftGetVersion()?;
    let mut version = 0;
    // SAFETY: `version` outlives the call.
    match unsafe { get(&mut version) } {
        SUCCESS => Ok(version),
        code => Err(fft_failure("cufftGetVersion", code)),
    }
}
