//! The precision of products.

#![allow(unsafe_code, reason = "functions without mangled names")]

use crate::abi::bits::CBool;
use crate::sconce::precision;

/// Sets whether products of float32 matrices use TF32, in compiled models, in kernel libraries and in libsconce: another
/// name of `sconce_context_set_allow_tf32_cublas`. As long as nothing is set, products of compiled models and kernel
/// libraries do not use TF32, as in PyTorch since 1.12, and those of libsconce do; `sconce_model_describe` states which
/// holds. Convolutions follow `sconce_context_set_allow_tf32_cudnn`.
///
/// The setting holds for the whole process. Calls that start later see a change; a CUDA graph keeps the setting with
/// which it was captured.
///
/// - torch: `torch.backends.cuda.matmul.allow_tf32`.
#[unsafe(no_mangle)]
pub extern "C" fn sconce_torch_set_allow_tf32_cublas(allow: CBool) {
    precision::set_allow_tf32(allow.is_true());
}

/// Returns whether products of float32 matrices in compiled models and kernel libraries use TF32 on the calling thread.
///
/// - torch: `torch.backends.cuda.matmul.allow_tf32`.
#[unsafe(no_mangle)]
pub extern "C" fn sconce_torch_get_allow_tf32_cublas() -> bool {
    precision::allow_tf32()
}
