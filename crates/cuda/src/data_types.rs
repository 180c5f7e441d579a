//! The names that CUDA's libraries have for the element types that they calculate with. `None` for
//! the other types.

use std::ffi::c_int;

use cudarc::cublas::sys::cudaDataType_t::{
    CUDA_C_16BF, CUDA_C_16F, CUDA_C_32F, CUDA_C_64F, CUDA_R_16BF, CUDA_R_16F, CUDA_R_32F,
    CUDA_R_64F,
};
use cudarc::cudnn::sys::cudnnDataType_t;

use sconce_base::element::Dtype;

/// `cudaDataType` of a real type, for cuBLAS and cuFFT.
pub(super) fn real_type(dtype: Dtype) -> Option<c_int> {
    let number = match dtype {
        Dtype::F16 => CUDA_R_16F,
        Dtype::Bf16 => CUDA_R_16BF,
        Dtype::F32 => CUDA_R_32F,
        Dtype::F64 => CUDA_R_64F,
        _ => return None,
    };
    Some(number as c_int)
}

/// `cudaDataType` of the complex type whose parts have a real type, for cuBLAS and cuFFT.
pub(super) fn complex_type(part: Dtype) -> Option<c_int> {
    let number = match part {
        Dtype::F16 => CUDA_C_16F,
        Dtype::Bf16 => CUDA_C_16BF,
        Dtype::F32 => CUDA_C_32F,
        Dtype::F64 => CUDA_C_64F,
        _ => return None,
    };
    Some(number as c_int)
}

/// cuDNN's name of a real type.
pub(super) fn dnn_type(dtype: Dtype) -> Option<cudnnDataType_t> {
    match dtype {
        Dtype::F16 => Some(cudnnDataType_t::CUDNN_DATA_HALF),
        Dtype::Bf16 => Some(cudnnDataType_t::CUDNN_DATA_BFLOAT16),
        Dtype::F32 => Some(cudnnDataType_t::CUDNN_DATA_FLOAT),
        Dtype::F64 => Some(cudnnDataType_t::CUDNN_DATA_DOUBLE),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_three_libraries_name_the_same_types() {
        for dtype in Dtype::ALL {
            let known = [
                real_type(dtype).is_some(),
                complex_type(dtype).is_some(),
                dnn_type(dtype).is_some(),
            ];
            assert!(known.iter().all(|one| *one == known[0]), "{dtype:?}");
        }
    }
}
