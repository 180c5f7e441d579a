//! Matrix products through cuBLAS. See `docs/design/blas.md`.

use std::ffi::c_void;

use crate::blas::{self, Matmul};
use crate::ffi::structs::described;
use crate::ffi::{CBool, Out, dtype_of, guard, sconce_status};

/// Products of matrices, row by row as in torch: `c = alpha * op(a) @ op(b) + beta * c`.
///
/// A linear layer's `x @ w.T` is `transpose_b` with `w` as it is stored. Begin with
/// `SCONCE_MATMUL_DESC_INIT`: `batch` and `alpha` are 1 there, and with 0 there is no product. A description
/// of which nothing was set, or whose `struct_size` is no version's, is INVALID_ARGUMENT.
///
/// Strides count elements. Three strides of 0 mean that the matrices of the batch are packed; if one of
/// them is not 0, all three count.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct sconce_matmul_desc {
    /// `sizeof(sconce_matmul_desc)`, set by the caller.
    pub struct_size: u32,
    /// The type of all three: `SCONCE_DTYPE_` F16, BF16, F32 or F64.
    pub dtype: i32,
    /// Rows of `op(a)` and of `c`.
    pub m: i64,
    /// Columns of `op(b)` and of `c`.
    pub n: i64,
    /// Columns of `op(a)`, rows of `op(b)`. If 0, the product is 0.
    pub k: i64,
    /// How many products; 0 does nothing.
    pub batch: i64,
    /// What the product is multiplied by; with 0 nothing is read of `a` and `b`.
    pub alpha: f64,
    /// What `c` is multiplied by before it is added; with 0 nothing is read of `c`.
    pub beta: f64,
    /// Whether `a` is stored as a matrix of `k` rows and `m` columns.
    pub transpose_a: CBool,
    /// Whether `b` is stored as a matrix of `n` rows and `k` columns.
    pub transpose_b: CBool,
    /// Strides of `a` as it is stored: from matrix to matrix, from row to row, from column to column.
    /// A stride of 0 repeats elements.
    pub a_strides: [i64; 3],
    /// Strides of `b` as it is stored.
    pub b_strides: [i64; 3],
    /// Strides of `c`, whose elements must not overlap: sorted, each stride is at least what the axes
    /// with smaller ones span.
    pub c_strides: [i64; 3],
}

grows!(
    sconce_matmul_desc, "SCONCE_MATMUL_DESC_INIT", first version: 136 bytes,
    dtype, m, n, k, batch, alpha, beta, transpose_a, transpose_b, a_strides, b_strides, c_strides,
);

impl sconce_matmul_desc {
    fn request(&self) -> crate::error::Result<Matmul> {
        Ok(Matmul {
            element: blas::check_dtype(dtype_of(self.dtype)?)?,
            m: self.m,
            n: self.n,
            k: self.k,
            batch: self.batch,
            alpha: self.alpha,
            beta: self.beta,
            transpose: [
                self.transpose_a.field("desc.transpose_a")?,
                self.transpose_b.field("desc.transpose_b")?,
            ],
            a_strides: self.a_strides,
            b_strides: self.b_strides,
            c_strides: self.c_strides,
        })
    }
}

/// Gives the calling thread's cuBLAS handle for the current device: bound to its current stream, with
/// a workspace, and set to the TF32 switch.
///
/// # Parameters
/// `out_handle` [out]: a `cublasHandle_t`. On the simulator it names the simulator's own handle, and
/// nothing but this library can use it.
/// # Errors
/// INVALID_ARGUMENT: `out_handle` is NULL. LIBRARY_NOT_FOUND: cuBLAS cannot be opened; the message
/// tells what was searched, and `SCONCE_LIBCUBLAS` names another place. OUT_OF_MEMORY: for the handle
/// or its workspace. INVALID_STATE: the thread is ending and has given its handles back, or this is a
/// callback of a call that is setting the handle. DRIVER. NO_DEVICE, FORKED as `sconce_init`.
/// # Ownership
/// The library's. The handle is this thread's until the thread ends; another thread then gets it. Its
/// stream, math mode and workspace may be set otherwise: the next request sets stream and mode again,
/// the next product of this library or change of stream the workspace. What else is set, such as the
/// pointer mode, is to be set back before the library uses it.
/// # Ordering
/// Does not block, but for the first handle of a device. Ask again after the current device, stream
/// or a switch has changed; a handle that was given before is changed with it, being the same one.
/// # Threads
/// Any; each has its own handle.
/// # Safety
/// `out_handle` is NULL or writable.
/// # Upstream
/// `torch.cuda.current_blas_handle`, `at::cuda::getCurrentCUDABlasHandle`.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_blas_get_handle(out_handle: *mut *mut c_void) -> sconce_status {
    guard(|| {
        // SAFETY: the caller's promise is the one asked for.
        let out_handle = unsafe { Out::new(out_handle, "out_handle") }?;
        let handle = blas::handle()?;
        out_handle.write(std::ptr::without_provenance_mut(handle));
        Ok(())
    })
}

/// Frees the workspaces of cuBLAS: their memory goes back to the allocator's cache.
///
/// There is one workspace for each stream that products run on, and one for each `cublasHandle_t` that
/// was given out. The allocator takes idle ones back by itself before a request fails, and in
/// `sconce_memory_empty_cache`. A handle that was given out has no workspace until it is next asked for.
///
/// # Parameters
/// None.
/// # Errors
/// DRIVER. FORKED as `sconce_init`. Without a device there is nothing to do.
/// # Ownership
/// Workspaces that graphs use are freed too, if the graphs were captured without a private memory pool:
/// do not launch those graphs afterwards.
/// # Ordering
/// Does not block. Products that are queued keep their memory until they are done. The workspace of a
/// handle that was given to another thread goes when that thread next asks for its handle, or ends.
/// # Threads
/// Any.
/// # Safety
/// No requirements.
/// # Upstream
/// `torch._C._cuda_clearCublasWorkspaces`.
#[must_use]
#[unsafe(no_mangle)]
pub extern "C" fn sconce_blas_clear_workspaces() -> sconce_status {
    guard(blas::clear_workspaces)
}

/// Multiplies matrices, as `desc` tells.
///
/// # Parameters
/// `desc`: sizes, strides, factors. `a`, `b`: the factors' first elements. `c`: the result's. All are
/// memory of one device and aligned to their type; NULL is allowed where there is nothing of a matrix.
/// # Errors
/// INVALID_ARGUMENT: `desc` is NULL or out of its bounds, `c` overlaps itself or a factor, an address
/// is NULL, misaligned, no memory of a device, or runs beyond its allocation. CROSS_DEVICE: they lie on
/// several devices. NOT_SUPPORTED: the type, or sizes beyond what the installed cuBLAS takes.
/// INVALID_STATE: deterministic algorithms are demanded, and `CUBLAS_WORKSPACE_CONFIG` is neither
/// `:4096:8` nor `:16:8`; also as `sconce_blas_get_handle`, and so LIBRARY_NOT_FOUND, OUT_OF_MEMORY.
/// DRIVER: also for a failure of earlier work on the device. NO_DEVICE, FORKED as `sconce_init`.
/// # Ownership
/// None. The memory must stay until the product is done.
/// # Ordering
/// On the current stream of the device that the memory is on; does not block, unless
/// `CUDA_LAUNCH_BLOCKING=1`. Matrices without a stride of 1 in rows or columns go through packed
/// temporaries. Products of F32 obey `sconce_context_set_allow_tf32_cublas` as it is at the call, which
/// allows TF32 at first (unlike torch since 1.12); sums of F16 and BF16 are kept in F32.
/// # Threads
/// Any.
/// # Safety
/// `desc` is NULL or points to as many readable bytes as its `struct_size` says. Memory of devices is
/// checked.
/// # Upstream
/// `torch.matmul`, `torch.baddbmm`, `at::cuda::blas::gemm`, `at::cuda::blas::bgemm`.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_matmul(
    desc: *const sconce_matmul_desc,
    a: *const c_void,
    b: *const c_void,
    c: *mut c_void,
) -> sconce_status {
    guard(|| {
        // SAFETY: the caller's promise is the one asked for.
        let desc = unsafe { described(desc, "desc") }?;
        blas::matmul(&desc.request()?, a as usize, b as usize, c as usize)
    })
}
