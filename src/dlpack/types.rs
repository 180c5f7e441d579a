//! Types of elements as DLPack describes them.

use sconce_base::element::{DlpackType, Dtype};
use sconce_base::error::{Error, Result};

use crate::{guard, sconce_status};

/// Returns how DLPack describes a data type: the fields of its `DLDataType`.
///
/// - `dtype`: `SCONCE_DTYPE_…`.
/// - `out_code`: receives the code, such as 2 for real numbers (`kDLFloat`).
/// - `out_bits`: receives the bits of one value.
/// - `out_lanes`: receives the number of values of an element: 1, or 2 for `SCONCE_DTYPE_F4_E2M1FN_X2`.
/// - torch: `at::getDLDataType`.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_dlpack_get_type(
    dtype: i32,
    out_code: *mut i32,
    out_bits: *mut i32,
    out_lanes: *mut i32,
) -> sconce_status {
    guard(|| {
        let (out_code, out_bits, out_lanes) = (out!(out_code), out!(out_bits), out!(out_lanes));
        let DlpackType { code, bits, lanes } = Dtype::try_from(dtype)?.dlpack();
        out_code.write(code.into());
        out_bits.write(bits.into());
        out_lanes.write(lanes.into());
        Ok(())
    })
}

/// Returns the data type that DLPack describes by the fields of a `DLDataType`.
///
/// - `code`: the code, such as 2 for real numbers (`kDLFloat`).
/// - `bits`: the bits of one value.
/// - `lanes`: the number of values of an element.
/// - `out_dtype`: receives `SCONCE_DTYPE_…`.
/// - Errors: NOT_SUPPORTED: the library has no such type.
/// - torch: `at::toScalarType`.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_dlpack_get_dtype(
    code: i32,
    bits: i32,
    lanes: i32,
    out_dtype: *mut i32,
) -> sconce_status {
    guard(|| {
        let out_dtype = out!(out_dtype);
        out_dtype.write(dtype_of(code, bits, lanes)? as i32);
        Ok(())
    })
}

fn dtype_of(code: i32, bits: i32, lanes: i32) -> Result<Dtype> {
    let fields = (u8::try_from(code), u8::try_from(bits), u16::try_from(lanes));
    let found = match fields {
        (Ok(code), Ok(bits), Ok(lanes)) => Dtype::from_dlpack(DlpackType { code, bits, lanes }),
        _ => None,
    };
    found.ok_or_else(|| {
        Error::not_supported(format!(
            "there is no data type with code {code}, bits {bits} and lanes {lanes}"
        ))
    })
}
