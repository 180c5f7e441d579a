//! The functions of NCCL, and the structs that they take.

use std::ffi::{c_char, c_int, c_uint, c_void};

use cudarc::driver::sys::CUstream;
use sconce_driver::CommId;

use crate::libraries::library::library_functions;

/// `ncclComm_t`.
pub(super) type NcclComm = *mut c_void;

/// `ncclUniqueId`.
#[repr(C)]
#[derive(Clone, Copy)]
pub(crate) struct NcclUniqueId(pub(super) [u8; CommId::BYTES]);

/// The beginning of `ncclConfig_t` that NCCL 2.18 knows. Later releases look at `version` and take what is missing as
/// not set.
#[repr(C)]
pub(crate) struct NcclConfig {
    pub(super) size: usize,
    pub(super) magic: c_uint,
    pub(super) version: c_uint,
    pub(super) blocking: c_int,
    pub(super) cga_cluster_size: c_int,
    pub(super) min_ctas: c_int,
    pub(super) max_ctas: c_int,
    pub(super) net_name: *const c_char,
    pub(super) split_share: c_int,
}

library_functions! {
    /// The functions of one opened `libnccl`.
    CommFunctions;

    required ncclGetVersion(*mut c_int) -> i32;
    required ncclGetUniqueId(*mut NcclUniqueId) -> i32;
    // the communicator's place, ranks, id, rank, configuration
    required ncclCommInitRankConfig(
        *mut NcclComm, c_int, NcclUniqueId, c_int, *mut NcclConfig,
    ) -> i32;
    optional ncclCommSplit(NcclComm, c_int, c_int, *mut NcclComm, *mut NcclConfig) -> i32;
    required ncclCommFinalize(NcclComm) -> i32;
    required ncclCommDestroy(NcclComm) -> i32;
    required ncclCommAbort(NcclComm) -> i32;
    required ncclCommGetAsyncError(NcclComm, *mut i32) -> i32;
    required ncclCommUserRank(NcclComm, *mut c_int) -> i32;
    required ncclCommCount(NcclComm, *mut c_int) -> i32;
    optional ncclGetLastError(NcclComm) -> *const c_char;
    required ncclGroupStart() -> i32;
    required ncclGroupEnd() -> i32;
    // send, receive, count, type, operation
    required ncclAllReduce(
        *const c_void, *mut c_void, usize, c_int, c_int, NcclComm, CUstream,
    ) -> i32;
    required ncclReduce(
        *const c_void, *mut c_void, usize, c_int, c_int, c_int, NcclComm, CUstream,
    ) -> i32;
    required ncclReduceScatter(
        *const c_void, *mut c_void, usize, c_int, c_int, NcclComm, CUstream,
    ) -> i32;
    required ncclBroadcast(
        *const c_void, *mut c_void, usize, c_int, c_int, NcclComm, CUstream,
    ) -> i32;
    required ncclAllGather(*const c_void, *mut c_void, usize, c_int, NcclComm, CUstream) -> i32;
    required ncclSend(*const c_void, usize, c_int, c_int, NcclComm, CUstream) -> i32;
    required ncclRecv(*mut c_void, usize, c_int, c_int, NcclComm, CUstream) -> i32;
    // the operation's place, the factor, its type, where it lies
    required ncclRedOpCreatePreMulSum(*mut c_int, *mut c_void, c_int, c_int, NcclComm) -> i32;
    required ncclRedOpDestroy(c_int, NcclComm) -> i32;
}
