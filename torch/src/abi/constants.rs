//! Numbers of data types, kinds of devices, layouts and memory formats: c10's, which compiled models contain.

#![allow(unsafe_code, reason = "functions without a mangled name")]

use crate::error::{Error, Result};
use crate::sconce::{api, check};

/// A data type: its name in the ABI, c10's number, its bytes, and Sconce's number where it has the type.
pub struct ScalarType {
    /// As PyTorch writes it.
    pub name: &'static str,
    /// c10's number.
    pub number: i32,
    /// Bytes of an element.
    pub bytes: usize,
    /// `SCONCE_DTYPE_…`.
    pub dtype: i32,
}

const fn scalar(name: &'static str, number: i32, bytes: usize, dtype: i32) -> ScalarType {
    ScalarType { name, number, bytes, dtype }
}

/// All data types that Sconce has.
pub const SCALAR_TYPES: &[ScalarType] = &[
    scalar("float32", 6, 4, api::SCONCE_DTYPE_F32),
    scalar("int64", 4, 8, api::SCONCE_DTYPE_I64),
    scalar("float16", 5, 2, api::SCONCE_DTYPE_F16),
    scalar("bfloat16", 15, 2, api::SCONCE_DTYPE_BF16),
    scalar("bool", 11, 1, api::SCONCE_DTYPE_BOOL),
    scalar("uint8", 0, 1, api::SCONCE_DTYPE_U8),
    scalar("int8", 1, 1, api::SCONCE_DTYPE_I8),
    scalar("int16", 2, 2, api::SCONCE_DTYPE_I16),
    scalar("int32", 3, 4, api::SCONCE_DTYPE_I32),
    scalar("float64", 7, 8, api::SCONCE_DTYPE_F64),
    scalar("complex32", 8, 4, api::SCONCE_DTYPE_C32),
    scalar("complex64", 9, 8, api::SCONCE_DTYPE_C64),
    scalar("complex128", 10, 16, api::SCONCE_DTYPE_C128),
    scalar("float8_e5m2", 23, 1, api::SCONCE_DTYPE_F8_E5M2),
    scalar("float8_e4m3fn", 24, 1, api::SCONCE_DTYPE_F8_E4M3FN),
    scalar("float8_e5m2fnuz", 25, 1, api::SCONCE_DTYPE_F8_E5M2FNUZ),
    scalar("float8_e4m3fnuz", 26, 1, api::SCONCE_DTYPE_F8_E4M3FNUZ),
    scalar("uint16", 27, 2, api::SCONCE_DTYPE_U16),
    scalar("uint32", 28, 4, api::SCONCE_DTYPE_U32),
    scalar("uint64", 29, 8, api::SCONCE_DTYPE_U64),
    scalar("float8_e8m0fnu", 44, 1, api::SCONCE_DTYPE_F8_E8M0FNU),
    scalar("float4_e2m1fn_x2", 45, 1, api::SCONCE_DTYPE_F4_E2M1FN_X2),
];

/// `SCONCE_DTYPE_…` of c10's number.
#[inline]
pub fn dtype_of(number: i32) -> Result<i32> {
    scalar_type(number).map(|found| found.dtype)
}

/// c10's number of `SCONCE_DTYPE_…`.
#[inline]
pub fn scalar_type_of(dtype: i32) -> Result<i32> {
    let found = SCALAR_TYPES.iter().find(|known| known.dtype == dtype);
    found
        .map(|found| found.number)
        .ok_or_else(|| Error::internal(format!("{dtype} is no data type of libsconce")))
}

/// The data type of c10's number.
#[inline]
pub fn scalar_type(number: i32) -> Result<&'static ScalarType> {
    SCALAR_TYPES.iter().find(|known| known.number == number).ok_or_else(|| {
        Error::not_supported(format!(
            "{number} is no data type that Sconce has; quantized and sub-byte types are not offered"
        ))
    })
}

/// c10's number of the kind of device CPU.
pub const DEVICE_TYPE_CPU: i32 = 0;
/// c10's number of the kind of device CUDA.
pub const DEVICE_TYPE_CUDA: i32 = 1;

/// c10's number of the layout of tensors with strides.
pub const LAYOUT_STRIDED: i32 = 0;
/// c10's number of the layout of tensors that oneDNN packed.
pub const LAYOUT_MKLDNN: i32 = 3;

/// Sconce's device of c10's kind and index; -1 as an index is the current device.
#[inline]
pub fn device_of(kind: i32, index: i32) -> Result<i32> {
    match kind {
        DEVICE_TYPE_CPU => Ok(api::SCONCE_DEVICE_CPU),
        // Sconce's numbers below -1 have other meanings: -2 is the CPU.
        DEVICE_TYPE_CUDA if index >= -1 => Ok(index),
        DEVICE_TYPE_CUDA => Err(Error::invalid_argument(format!(
            "cuda:{index} is no device; an index is at least 0"
        ))),
        _ => Err(Error::not_supported(format!(
            "{kind} is a kind of device that Sconce does not have; it has cpu (0) and cuda (1)"
        ))),
    }
}

/// As [`device_of`], but with the index of the current device instead of -1, which in some options of libsconce.so means
/// that the device stays.
pub fn named_device_of(kind: i32, index: i32) -> Result<i32> {
    match device_of(kind, index)? {
        -1 => {
            let mut current = 0;
            check(api::sconce_device_get_current(&mut current))?;
            Ok(current)
        }
        device => Ok(device),
    }
}

/// `SCONCE_MEMORY_FORMAT_…` of c10's number.
pub fn memory_format_of(number: i32) -> Result<i32> {
    Ok(match number {
        0 => api::SCONCE_MEMORY_FORMAT_CONTIGUOUS,
        1 => api::SCONCE_MEMORY_FORMAT_PRESERVE,
        2 => api::SCONCE_MEMORY_FORMAT_CHANNELS_LAST,
        3 => api::SCONCE_MEMORY_FORMAT_CHANNELS_LAST_3D,
        _ => return Err(Error::invalid_argument(format!("{number} is no memory format"))),
    })
}

/// Functions without arguments that return a number.
macro_rules! constants {
    ($($name:ident = $value:expr;)*) => {
        $(
            #[doc = concat!("Returns c10's number: ", stringify!($value), ".")]
            #[unsafe(no_mangle)]
            pub extern "C" fn $name() -> i32 {
                $value
            }
        )*
    };
}

constants! {
    aoti_torch_dtype_uint8 = 0;
    aoti_torch_dtype_int8 = 1;
    aoti_torch_dtype_int16 = 2;
    aoti_torch_dtype_int32 = 3;
    aoti_torch_dtype_int64 = 4;
    aoti_torch_dtype_float16 = 5;
    aoti_torch_dtype_float32 = 6;
    aoti_torch_dtype_float64 = 7;
    aoti_torch_dtype_complex32 = 8;
    aoti_torch_dtype_complex64 = 9;
    aoti_torch_dtype_complex128 = 10;
    aoti_torch_dtype_bool = 11;
    aoti_torch_dtype_bfloat16 = 15;
    aoti_torch_dtype_float8_e5m2 = 23;
    aoti_torch_dtype_float8_e4m3fn = 24;
    aoti_torch_dtype_float8_e5m2fnuz = 25;
    aoti_torch_dtype_float8_e4m3fnuz = 26;
    aoti_torch_dtype_uint16 = 27;
    aoti_torch_dtype_uint32 = 28;
    aoti_torch_dtype_uint64 = 29;
    aoti_torch_dtype_float8_e8m0fnu = 44;
    aoti_torch_dtype_float4_e2m1fn_x2 = 45;
    torch_dtype_float8_e8m0fnu = 44;
    torch_dtype_float4_e2m1fn_x2 = 45;
    aoti_torch_device_type_cpu = DEVICE_TYPE_CPU;
    aoti_torch_device_type_cuda = DEVICE_TYPE_CUDA;
    aoti_torch_device_type_xpu = 12;
    aoti_torch_device_type_mps = 13;
    aoti_torch_device_type_meta = 14;
    aoti_torch_device_type_privateuse1 = 20;
    aoti_torch_layout_strided = LAYOUT_STRIDED;
    aoti_torch_layout_sparse_coo = 1;
    aoti_torch_layout_sparse_csr = 2;
    aoti_torch_layout__mkldnn = LAYOUT_MKLDNN;
    aoti_torch_layout_sparse_csc = 4;
    aoti_torch_layout_sparse_bsr = 5;
    aoti_torch_layout_sparse_bsc = 6;
    aoti_torch_layout_jagged = 7;
    aoti_torch_memory_format_contiguous_format = 0;
    aoti_torch_memory_format_preserve_format = 1;
    aoti_torch_memory_format_channels_last = 2;
    aoti_torch_memory_format_channels_last_3d = 3;
}

/// Returns the bytes of an element of a data type, 0 for a number that is none.
#[unsafe(no_mangle)]
pub extern "C" fn aoti_torch_dtype_element_size(dtype: i32) -> usize {
    scalar_type(dtype).map_or(0, |found| found.bytes)
}

/// The release whose ABI this library has: 2.11.
pub const ABI_VERSION: u64 = 2 << 56 | 11 << 48;

/// Returns the release of PyTorch whose ABI this library has: major, minor and patch in the upper three bytes.
#[unsafe(no_mangle)]
pub extern "C" fn aoti_torch_abi_version() -> u64 {
    ABI_VERSION
}

// Tags of operators: numbers that only this library gives a meaning. They describe operators to compilers.

/// Functions without arguments that return the number of a tag.
macro_rules! tags {
    ($($name:ident = $number:literal;)*) => {
        $(
            #[doc = concat!("Returns the number of this tag: ", stringify!($number), ".")]
            #[unsafe(no_mangle)]
            pub extern "C" fn $name() -> i32 {
                $number
            }
        )*
        /// How many tags there are; their numbers begin with 0.
        pub const TAGS: i32 = [$($number),*].len() as i32;
    };
}

tags! {
    torch_tag_core = 0;
    torch_tag_cudagraph_unsafe = 1;
    torch_tag_data_dependent_output = 2;
    torch_tag_dynamic_output_shape = 3;
    torch_tag_flexible_layout = 4;
    torch_tag_generated = 5;
    torch_tag_inplace_view = 6;
    torch_tag_maybe_aliasing_or_mutating = 7;
    torch_tag_needs_contiguous_strides = 8;
    torch_tag_needs_exact_strides = 9;
    torch_tag_needs_fixed_stride_order = 10;
    torch_tag_nondeterministic_bitwise = 11;
    torch_tag_nondeterministic_seeded = 12;
    torch_tag_out_variant = 13;
    torch_tag_pointwise = 14;
    torch_tag_pt2_compliant_tag = 15;
    torch_tag_reduction = 16;
    torch_tag_view_copy = 17;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_type_of_the_library_has_a_number_and_back() {
        for known in SCALAR_TYPES {
            assert_eq!(scalar_type_of(known.dtype).unwrap(), known.number);
            assert_eq!(dtype_of(known.number).unwrap(), known.dtype);
            let mut bytes = 0;
            assert_eq!(api::sconce_dtype_get_bytes(known.dtype, &mut bytes), 0);
            assert_eq!(bytes, known.bytes, "{}", known.name);
        }
        // Types of this library that have no number would be lost in every getter.
        let mut bytes = 0;
        let known =
            (0..100).filter(|&dtype| api::sconce_dtype_get_bytes(dtype, &mut bytes) == 0).count();
        assert_eq!(known, SCALAR_TYPES.len());
    }

    #[test]
    fn an_unknown_number_is_refused() {
        assert!(dtype_of(12).unwrap_err().message.contains("12 is no data type"));
        assert!(device_of(13, 0).is_err());
        assert_eq!(aoti_torch_dtype_element_size(-1), 0);
    }
}
