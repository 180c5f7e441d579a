//! Matrix products through cuBLAS. See `docs/design/blas.md`.

use std::ffi::c_void;

use sconce_compute::blas::{self, Matmul};

use crate::{CBool, dtype_of, guard, sconce_status, sconce_stream};

/// Describes products of matrices, row-major as in torch: `c = alpha * op(a) @ op(b) + beta * c`.
///
/// For a linear layer's `x @ w.T`, pass `w` as it is stored and set `transpose_b`. Begin with
/// `SCONCE_MATMUL_DESC_INIT`, which sets `batch` and `alpha` to 1.
///
/// Strides count elements. Three strides of 0 mean that the matrices of the batch are packed; if
/// one of them is not 0, all three count.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct sconce_matmul_desc {
    /// `sizeof(sconce_matmul_desc)`, set by the caller.
    pub struct_size: u32,
    /// Element type of all three: `SCONCE_DTYPE_` F16, BF16, F32, F64, C64 or C128.
    pub dtype: i32,
    /// Rows of `op(a)` and of `c`.
    pub m: i64,
    /// Columns of `op(b)` and of `c`.
    pub n: i64,
    /// Columns of `op(a)`, rows of `op(b)`. If 0, the product is 0.
    pub k: i64,
    /// Number of products; 0 does nothing.
    pub batch: i64,
    /// Factor of the product; with 0 the elements of `a` and `b` are not read.
    pub alpha: f64,
    /// Factor of `c` before the product is added; with 0 the elements of `c` are not read.
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
    /// Strides of `c`, whose elements must not overlap: sorted, each stride is at least what the
    /// axes with smaller strides span.
    pub c_strides: [i64; 3],
}

grows!(
    sconce_matmul_desc, "SCONCE_MATMUL_DESC_INIT", first version: 136 bytes,
    dtype, m, n, k, batch, alpha, beta, transpose_a, transpose_b, a_strides, b_strides, c_strides,
);

impl sconce_matmul_desc {
    fn request(&self) -> sconce_base::error::Result<Matmul> {
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

/// Returns the calling thread's cuBLAS handle for the current device, set to the current stream,
/// with a workspace, and with the TF32 setting.
///
/// Call it again after the current device, the current stream or a setting has changed: it returns
/// the same handle of the device with the new settings.
///
/// - `out_handle`: receives a `cublasHandle_t`. The simulator's handle is of use to this library
///   only.
/// - Errors: LIBRARY_NOT_FOUND: cuBLAS cannot be opened; the message lists what was searched, and
///   `SCONCE_LIBCUBLAS` names another place. OUT_OF_MEMORY: for the handle or its workspace.
///   INVALID_STATE: the thread is ending and has returned its handles, or the call comes from a
///   callback of a call that is setting up the handle.
/// - Ownership: borrowed. The handle belongs to the thread until the thread ends; another thread
///   may then receive it. The caller may change its stream, math mode and workspace: the next call
///   of this function sets stream and math mode again, and the next product of this library or
///   change of stream sets the workspace. The caller must restore other settings, such as the
///   pointer mode, before the library uses the handle.
/// - Ordering: does not block, except for the first handle of a device.
/// - torch: `torch.cuda.current_blas_handle`, `at::cuda::getCurrentCUDABlasHandle`.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_blas_get_handle(out_handle: *mut *mut c_void) -> sconce_status {
    guard(|| {
        let out_handle = out!(out_handle);
        let handle = blas::handle()?;
        out_handle.write(std::ptr::without_provenance_mut(handle));
        Ok(())
    })
}

/// Frees the cuBLAS workspaces: their memory returns to the allocator's cache. Without a device
/// there is nothing to do.
///
/// There is one workspace for each stream that products run on, and one for each `cublasHandle_t`
/// that `sconce_blas_get_handle` returned. The allocator also frees idle workspaces before a
/// request fails, and in `sconce_memory_empty_cache`. A returned handle has no workspace until it
/// is next requested. What graphs of `sconce_graph` use stays, and goes back with the last of them.
/// Workspaces of graphs that other code captured without a private memory pool are freed by this
/// call alone: do not launch those graphs afterwards.
///
/// - Ordering: does not block. Queued products keep their memory until they are done. The workspace
///   of another thread's handle is freed when that thread next requests its handle, or ends.
/// - torch: `torch._C._cuda_clearCublasWorkspaces`.
#[must_use]
#[unsafe(no_mangle)]
pub extern "C" fn sconce_blas_clear_workspaces() -> sconce_status {
    guard(blas::clear_workspaces)
}

/// Multiplies matrices as `desc` describes.
///
/// Products of F32 follow the setting `sconce_context_set_allow_tf32_cublas` at the time of the
/// call, which is true by default (unlike in torch since 1.12). Sums of F16 and BF16 are
/// accumulated in F32. Matrices with a stride of 1 neither along rows nor along columns go through
/// packed temporaries.
///
/// - `desc`: sizes, strides, factors; begin with `SCONCE_MATMUL_DESC_INIT`.
/// - `a`, `b`: addresses of the first elements of the factors.
/// - `c`: address of the first element of the result. All three are in memory of one device,
///   aligned to the element type; NULL is allowed for a matrix without elements.
/// - Errors: INVALID_ARGUMENT: a field of `desc` is out of its bounds, elements of `c` overlap each
///   other or a factor, or a matrix is not in device memory or reaches beyond its allocation.
///   CROSS_DEVICE: the matrices are on different devices. NOT_SUPPORTED: the type, or sizes that
///   the installed cuBLAS does not accept. INVALID_STATE: deterministic algorithms are required,
///   and `CUBLAS_WORKSPACE_CONFIG` is neither `:4096:8` nor `:16:8`. Otherwise as
///   `sconce_blas_get_handle`.
/// - Ownership: the memory must stay allocated until the product is done.
/// - Ordering: queued on the current stream of the device that holds the memory.
/// - torch: `torch.matmul`, `torch.baddbmm`, `at::cuda::blas::gemm`, `at::cuda::blas::bgemm`.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_matmul(
    desc: *const sconce_matmul_desc,
    a: *const c_void,
    b: *const c_void,
    c: *mut c_void,
) -> sconce_status {
    guard(|| {
        let desc = described!(desc);
        blas::matmul(&desc.request()?, a as usize, b as usize, c as usize)
    })
}

/// Multiplies matrices on a stream, which is used instead of the current one. Otherwise as
/// `sconce_matmul`.
///
/// - `stream`: the stream on which the product is queued.
/// - Errors: CROSS_DEVICE: the memory and the stream are of different devices. Otherwise as
///   `sconce_matmul`.
/// - Threads: any; the calling thread's device and streams have no effect and do not change.
/// - Safety: as `sconce_matmul`.
/// - torch: `torch.matmul` inside `torch.cuda.stream()`.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_matmul_on(
    desc: *const sconce_matmul_desc,
    a: *const c_void,
    b: *const c_void,
    c: *mut c_void,
    stream: sconce_stream,
) -> sconce_status {
    guard(|| {
        let desc = described!(desc);
        let request = desc.request()?;
        stream.run(|| blas::matmul(&request, a as usize, b as usize, c as usize))
    })
}
