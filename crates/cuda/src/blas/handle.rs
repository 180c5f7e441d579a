//! A handle of cuBLAS. Scalars are read from host memory, as a new handle does.

use std::ffi::c_int;
use std::ptr::null_mut;

use cudarc::cublas::sys::cublasHandle_t;
use cudarc::cublas::sys::cublasMath_t::{
    CUBLAS_DEFAULT_MATH, CUBLAS_MATH_DISALLOW_REDUCED_PRECISION_REDUCTION,
    CUBLAS_TF32_TENSOR_OP_MATH,
};
use sconce_base::element::Dtype;
use sconce_base::error::Result;
use sconce_base::types::DevicePtr;
use sconce_driver::nvidia::blas_failure;
use sconce_driver::{BlasHandle, Gemm, MathMode, StreamRef};

use super::{Cublas, gemm};
use crate::primary::HeldContext;
use crate::result::SUCCESS;

/// The default mode, but that sums of parts of an F16 or BF16 product are kept in F32 too.
const WHOLE_SUMS: c_int = CUBLAS_MATH_DISALLOW_REDUCED_PRECISION_REDUCTION as c_int;

/// The alignment of a workspace's address.
const WORKSPACE_ALIGNMENT: u64 = 256;
/// `CUBLAS_STATUS_INVALID_VALUE`.
const INVALID_VALUE: i32 = 7;

/// A `cublasHandle_t` and the context of its device.
pub(super) struct CublasHandle {
    functions: Cublas,
    context: HeldContext,
    /// As a number: a handle may be used on any thread, by one at a time.
    handle: usize,
    /// The mode that was asked for last.
    mode: c_int,
}

impl CublasHandle {
    pub(super) fn new(functions: Cublas, context: HeldContext, handle: cublasHandle_t) -> Self {
        let mode = CUBLAS_DEFAULT_MATH as c_int;
        CublasHandle { functions, context, handle: handle as usize, mode }
    }

    fn raw(&self) -> cublasHandle_t {
        self.handle as cublasHandle_t
    }

    /// The stream it is on. No context is needed for what the handle itself knows.
    #[inline]
    fn stream(&self) -> Option<usize> {
        let get = self.functions.cublasGetStream_v2().ok()?;
        let mut stream = null_mut();
        // SAFETY: a live handle, this thread's for the call; `stream` outlives it.
        let code = unsafe { get(self.raw(), &mut stream) };
        (code == SUCCESS).then_some(stream as usize)
    }

    /// The mode it is in.
    #[inline]
    fn mode(&self) -> Option<c_int> {
        let get = self.functions.cublasGetMathMode().ok()?;
        let mut mode = 0;
        // SAFETY: a live handle, this thread's for the call; `mode` outlives it. The library's type
        // is an enumeration of this size.
        let code = unsafe { get(self.raw(), &mut mode) };
        (code == SUCCESS).then_some(mode)
    }

    /// Sets the mode; the device's context is current.
    fn set_mode(&self, mode: c_int) -> Result<()> {
        let set = self.functions.cublasSetMathMode()?;
        // SAFETY: a live handle, this thread's for the call.
        check("cublasSetMathMode", unsafe { set(self.raw(), mode) })
    }
}

impl BlasHandle for CublasHandle {
    fn native(&self) -> usize {
        self.handle
    }

    fn set_stream(&mut self, stream: StreamRef) -> Result<()> {
        let set = self.functions.cublasSetStream_v2()?;
        let _entered = self.context.enter()?;
        // SAFETY: a live handle, this thread's for the call; the stream is one of its device.
        let code = unsafe { set(self.raw(), stream.handle.native() as _) };
        check("cublasSetStream_v2", code)
    }

    fn set_workspace(&mut self, workspace: DevicePtr, bytes: usize) -> Result<()> {
        // The library documents the alignment, and does not check it.
        if bytes != 0 && !workspace.0.is_multiple_of(WORKSPACE_ALIGNMENT) {
            return Err(blas_failure("cublasSetWorkspace_v2", INVALID_VALUE));
        }
        let set = self.functions.cublasSetWorkspace_v2()?;
        let _entered = self.context.enter()?;
        // SAFETY: a live handle, this thread's for the call; the caller keeps the memory until the
        // last product is done. It is not looked at now.
        let code = unsafe { set(self.raw(), workspace.0 as _, bytes) };
        check("cublasSetWorkspace_v2", code)
    }

    fn set_math_mode(&mut self, mode: MathMode) -> Result<()> {
        let mode = number(mode);
        let _entered = self.context.enter()?;
        self.set_mode(mode)?;
        self.mode = mode;
        Ok(())
    }

    #[inline]
    fn is_set_to(&self, stream: StreamRef, mode: MathMode) -> bool {
        self.stream() == Some(stream.handle.native()) && self.mode() == Some(number(mode))
    }

    fn gemm(&mut self, gemm: &Gemm) -> Result<()> {
        let _entered = self.context.enter()?;
        if !matches!(gemm.element, Dtype::F16 | Dtype::Bf16) {
            return gemm::queue(&self.functions, self.raw(), gemm);
        }
        // Without this a product that is divided along k may be summed up in the result's type. Who
        // was given the handle knows nothing of it, so it is taken back whatever the outcome.
        self.set_mode(WHOLE_SUMS)?;
        let queued = gemm::queue(&self.functions, self.raw(), gemm);
        let restored = self.set_mode(self.mode);
        queued.and(restored)
    }
}

fn number(mode: MathMode) -> c_int {
    match mode {
        MathMode::Ieee => CUBLAS_DEFAULT_MATH as c_int,
        MathMode::Tf32 => CUBLAS_TF32_TENSOR_OP_MATH as c_int,
    }
}

fn check(call: &str, code: i32) -> Result<()> {
    if code == SUCCESS { Ok(()) } else { Err(blas_failure(call, code)) }
}
