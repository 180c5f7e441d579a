//! The numbers of cuDNN's statuses that the simulator returns.
#![forbid(unsafe_code)]

/// `CUDNN_STATUS_BAD_PARAM`.
pub(crate) const BAD_PARAM: i32 = 2000;
/// `CUDNN_STATUS_BAD_PARAM_NULL_POINTER`.
pub(crate) const NULL_POINTER: i32 = 2002;
/// `CUDNN_STATUS_BAD_PARAM_MISALIGNED_POINTER`.
pub(crate) const MISALIGNED_POINTER: i32 = 2003;
/// `CUDNN_STATUS_BAD_PARAM_OUT_OF_BOUND`.
pub(crate) const OUT_OF_BOUND: i32 = 2005;
/// `CUDNN_STATUS_BAD_PARAM_SHAPE_MISMATCH`.
pub(crate) const SHAPE_MISMATCH: i32 = 2008;
/// `CUDNN_STATUS_NOT_SUPPORTED`.
pub(crate) const NOT_SUPPORTED: i32 = 3000;
