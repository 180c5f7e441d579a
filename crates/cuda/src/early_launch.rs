//! Launches of the library's own kernels that may begin before the kernel in front of them has ended.
//!
//! The driver lets a kernel begin early if its launch says so (programmatic stream serialisation). What that saves is
//! time of the host and of the device between the two; the order stays, because such a kernel first waits itself until
//! the work in front of it has ended and its writes can be seen. `scripts/build-kernels` puts that wait at the begin of
//! each kernel, in machine code for compute capability 9.0 and later. PTX, older machine code and the program's kernels
//! lack it: they are launched plainly. So is everything in a capture, whose graph gets ordinary edges.

use std::ffi::{c_int, c_void};

use cudarc::driver::sys::CUstream;
use sconce_base::error::Result;
use sconce_base::lock::{Mutex, rank};
use sconce_driver::{CodeFormat, KernelHandle, LaunchShape, ModuleHandle, StreamRef};

use super::CudaDriver;
use super::modules::launch::LaunchAttribute;
use super::primary::Entered;
use super::result::SUCCESS;

/// Set in the handle of a kernel that waits. The driver's own handles are addresses of aligned structures.
pub(super) const WAITS: usize = 1;

/// `CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION`.
const PROGRAMMATIC_STREAM_SERIALIZATION: c_int = 6;

/// The first compute capability whose devices know the wait.
const LEAST_MAJOR: i32 = 9;

/// The modules whose kernels wait.
#[derive(Default)]
pub(super) struct WaitingModules(Mutex<rank::CudaModules, Vec<ModuleHandle>>);

impl WaitingModules {
    /// Notes a module of an image of the library, which was loaded in this form.
    pub(super) fn note(&self, module: ModuleHandle, form: CodeFormat) {
        if matches!(form, CodeFormat::Cubin { major, .. } if major >= LEAST_MAJOR) {
            self.0.lock().push(module);
        }
    }

    /// Forgets a module that is unloaded: another one may get its handle.
    pub(super) fn forget(&self, module: ModuleHandle) {
        self.0.lock().retain(|known| *known != module);
    }

    pub(super) fn has(&self, module: ModuleHandle) -> bool {
        self.0.lock().contains(&module)
    }
}

/// The driver's handle of a kernel of the library, and whether the kernel waits.
#[inline]
pub(super) fn own_function(kernel: KernelHandle) -> (KernelHandle, bool) {
    let number = kernel.native();
    (KernelHandle::from_driver(crate::HANDLES, number & !WAITS), number & WAITS != 0)
}

impl CudaDriver {
    /// Whether a launch becomes a node of a graph. A driver that cannot say refuses the launch, too. The context of
    /// the stream's device is current, so a default stream is that device's.
    #[inline]
    pub(super) fn is_captured(&self, _entered: &Entered, stream: StreamRef) -> bool {
        if self.captured.is(stream) {
            return true;
        }
        let Ok(get) = self.api.cuStreamIsCapturing() else { return true };
        let mut status = 0;
        // SAFETY: a stream that the driver made or a program has named, kept alive during the call, which `status`
        // outlives.
        let code = unsafe { get(stream.handle.native() as CUstream, &mut status) };
        code != SUCCESS || status != 0
    }

    /// Launches a kernel that may begin before the one in front of it in its stream has ended. Otherwise as
    /// `launch_plain`, which also takes its place where the driver has no such launch.
    ///
    /// # Safety
    /// As `launch_plain`; and the kernel waits for the work in front of it.
    #[inline]
    pub(super) unsafe fn launch_early(
        &self,
        entered: &Entered,
        kernel: KernelHandle,
        shape: LaunchShape,
        parameters: *mut *mut c_void,
        stream: StreamRef,
    ) -> Result<()> {
        if self.api.cuLaunchKernelEx().is_err() {
            // SAFETY: behind the addresses are the kernel's parameters, as this function demands, too.
            return unsafe { self.launch_plain(entered, kernel, shape, parameters, stream) };
        }
        let mut attributes = [LaunchAttribute::new(PROGRAMMATIC_STREAM_SERIALIZATION, [1, 0, 0])];
        // SAFETY: behind the addresses are the kernel's parameters, and the kernel may begin early, since it waits for
        // the work in front of it: this function demands both.
        unsafe { self.launch_with(entered, &mut attributes, kernel, shape, parameters, stream) }
    }
}
