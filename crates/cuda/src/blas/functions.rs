//! The functions of cuBLAS, by the symbols that it exports.

use std::ffi::{c_int, c_longlong, c_void};

use cudarc::cublas::sys::{cublasHandle_t, cudaStream_t};

use crate::libraries::library::library_functions;

library_functions! {
    /// The functions of one opened `libcublas`.
    BlasFunctions;

    required cublasCreate_v2(*mut cublasHandle_t) -> i32;
    required cublasSetStream_v2(cublasHandle_t, cudaStream_t) -> i32;
    required cublasGetStream_v2(cublasHandle_t, *mut cudaStream_t) -> i32;
    required cublasSetMathMode(cublasHandle_t, c_int) -> i32;
    required cublasGetMathMode(cublasHandle_t, *mut c_int) -> i32;
    // handle, op a, op b, m, n, k, alpha, a, column, b, column, beta, c, column
    required cublasSgemm_v2(
        cublasHandle_t, c_int, c_int, c_int, c_int, c_int, *const c_void,
        *const c_void, c_int, *const c_void, c_int, *const c_void, *mut c_void, c_int,
    ) -> i32;
    required cublasDgemm_v2(
        cublasHandle_t, c_int, c_int, c_int, c_int, c_int, *const c_void,
        *const c_void, c_int, *const c_void, c_int, *const c_void, *mut c_void, c_int,
    ) -> i32;
    required cublasCgemm_v2(
        cublasHandle_t, c_int, c_int, c_int, c_int, c_int, *const c_void,
        *const c_void, c_int, *const c_void, c_int, *const c_void, *mut c_void, c_int,
    ) -> i32;
    required cublasZgemm_v2(
        cublasHandle_t, c_int, c_int, c_int, c_int, c_int, *const c_void,
        *const c_void, c_int, *const c_void, c_int, *const c_void, *mut c_void, c_int,
    ) -> i32;
    // As above, with the types of the matrices, and at the end the type of the sums and the
    // algorithm.
    required cublasGemmEx(
        cublasHandle_t, c_int, c_int, c_int, c_int, c_int, *const c_void,
        *const c_void, c_int, c_int, *const c_void, c_int, c_int, *const c_void,
        *mut c_void, c_int, c_int, c_int, c_int,
    ) -> i32;
    // handle, op a, op b, m, n, k, alpha, a, type, column, batch, b, type, column, batch, beta, c,
    // type, column, batch, count, type of sums, algorithm
    required cublasGemmStridedBatchedEx(
        cublasHandle_t, c_int, c_int, c_int, c_int, c_int, *const c_void,
        *const c_void, c_int, c_int, c_longlong,
        *const c_void, c_int, c_int, c_longlong, *const c_void,
        *mut c_void, c_int, c_int, c_longlong, c_int, c_int, c_int,
    ) -> i32;
    // handle, op a, op b, m, n, k, alpha, a, column, batch, b, column, batch, beta, c, column, batch, count
    required cublasCgemmStridedBatched(
        cublasHandle_t, c_int, c_int, c_int, c_int, c_int, *const c_void,
        *const c_void, c_int, c_longlong, *const c_void, c_int, c_longlong, *const c_void,
        *mut c_void, c_int, c_longlong, c_int,
    ) -> i32;
    required cublasZgemmStridedBatched(
        cublasHandle_t, c_int, c_int, c_int, c_int, c_int, *const c_void,
        *const c_void, c_int, c_longlong, *const c_void, c_int, c_longlong, *const c_void,
        *mut c_void, c_int, c_longlong, c_int,
    ) -> i32;
    // Since CUDA 11
    optional cublasSetWorkspace_v2(cublasHandle_t, *mut c_void, usize) -> i32;
    // Since CUDA 12
    optional cublasGemmStridedBatchedEx_64(
        cublasHandle_t, c_int, c_int, i64, i64, i64, *const c_void,
        *const c_void, c_int, i64, c_longlong,
        *const c_void, c_int, i64, c_longlong, *const c_void,
        *mut c_void, c_int, i64, c_longlong, i64, c_int, c_int,
    ) -> i32;
}
