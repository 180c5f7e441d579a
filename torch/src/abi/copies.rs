//! Copies of tensors, and tensors of one element as numbers.

#![allow(unsafe_code, reason = "functions of C over handles and pointers of the caller")]

use super::arguments::{Out, with_tensors};
use super::bits::CBool;
use super::handles::return_tensor;
use super::tensors::{device_of_tensor, dtype_of_tensor, rank_of, sizes_of, strides_of};
use crate::error::{Error, Result, shim};
use crate::sconce::operations::{as_strided, fill, full, item};
use crate::sconce::tensor::TensorHandle;
use crate::sconce::values::{integer, options, real, truth};
use crate::sconce::{Tensor, api, check};

/// A copy in memory of its own, whose dimensions lie in the same order.
pub fn cloned(tensor: TensorHandle) -> Result<Tensor> {
    Tensor::made(|made| api::sconce_tensor_clone(tensor, api::SCONCE_MEMORY_FORMAT_PRESERVE, made))
}

/// Returns a copy in memory of its own.
#[unsafe(no_mangle)]
pub extern "C" fn aoti_torch_clone(tensor: TensorHandle, ret: Out<'_, TensorHandle>) -> i32 {
    let make = || with_tensors(&[("self", tensor)], || cloned(tensor));
    return_tensor(ret, "ret", make)
}

/// Returns a copy with the same strides, also where these leave gaps.
#[unsafe(no_mangle)]
pub extern "C" fn aoti_torch_clone_preserve_strides(
    tensor: TensorHandle,
    ret: Out<'_, TensorHandle>,
) -> i32 {
    let make = || {
        let (sizes, strides) = (sizes_of(tensor)?, strides_of(tensor)?);
        // The memory that the strides reach is copied whole: elements may share places.
        let mut reach: i64 = 1;
        for (&size, &stride) in sizes.iter().zip(&strides) {
            reach = if size == 0 { 0 } else { reach + (size - 1) * stride };
            if reach == 0 {
                break;
            }
        }
        let offset = super::tensors::offset_of(tensor)?;
        let whole = as_strided(tensor, &[reach], &[1], Some(offset))?;
        let copy = cloned(whole.handle())?;
        as_strided(copy.handle(), &sizes, &strides, Some(0))
    };
    let make = || with_tensors(&[("self", tensor)], make);
    return_tensor(ret, "ret", make)
}

/// Copies each element of `src` to `this`, converted and repeated.
#[unsafe(no_mangle)]
pub extern "C" fn aoti_torch_copy_(
    this: TensorHandle,
    src: TensorHandle,
    non_blocking: i32,
) -> i32 {
    shim(|| {
        with_tensors(&[("self", this), ("src", src)], || {
            check(api::sconce_tensor_copy(this, src, non_blocking != 0))
        })
    })
}

/// As [`aoti_torch_copy_`], with the operands the other way round.
#[unsafe(no_mangle)]
pub extern "C" fn aoti_torch_tensor_copy_(src: TensorHandle, dst: TensorHandle) -> i32 {
    shim(|| {
        with_tensors(&[("src", src), ("dst", dst)], || {
            check(api::sconce_tensor_copy(dst, src, false))
        })
    })
}

/// Sets all elements to 0.
#[unsafe(no_mangle)]
pub extern "C" fn aoti_torch_zero_(tensor: TensorHandle) -> i32 {
    shim(|| with_tensors(&[("self", tensor)], || fill(tensor, &integer(0))))
}

/// The value of a tensor of one element, for a function that returns values of a type. Models read the condition of
/// `torch.cond`, a truth value, as an integer (PyTorch 2.15). So types that the wanted one includes are converted.
fn item_as(function: &str, tensor: TensorHandle, wanted: i32) -> Result<api::sconce_scalar> {
    let mut value = item(tensor)?;
    let dtype = dtype_of_tensor(tensor)?;
    if dtype == wanted {
        return Ok(value);
    }
    let is_whole = matches!(value.kind, api::SCONCE_SCALAR_INTEGER | api::SCONCE_SCALAR_BOOL);
    let is_real = value.kind == api::SCONCE_SCALAR_REAL;
    let is_large = dtype == api::SCONCE_DTYPE_U64 && value.integer < 0;
    match wanted {
        api::SCONCE_DTYPE_I64 if is_whole && !is_large => {}
        api::SCONCE_DTYPE_BOOL if is_whole => {}
        api::SCONCE_DTYPE_BOOL if is_real => value.integer = i64::from(value.real != 0.0),
        api::SCONCE_DTYPE_F32 | api::SCONCE_DTYPE_F64 if is_real => {}
        api::SCONCE_DTYPE_F32 | api::SCONCE_DTYPE_F64 if is_whole && !is_large => {
            value.real = value.integer as f64;
        }
        _ => {
            return Err(Error::invalid_argument(format!(
                "{function} was called for a tensor of another type: {}",
                described(tensor)
            )));
        }
    }
    Ok(value)
}

/// Functions that return the value of a tensor of one element: name, type of the result, type of the tensor.
macro_rules! items {
    ($($name:ident: $kind:ty = $dtype:ident, $field:ident => $convert:expr;)*) => {
        $(
            /// Returns the value of a tensor of one element.
            #[unsafe(no_mangle)]
            pub extern "C" fn $name(tensor: TensorHandle, ret_value: Out<'_, $kind>) -> i32 {
                shim(|| {
                    let convert: fn(api::sconce_scalar) -> $kind = $convert;
                    let value = convert(item_as(stringify!($name), tensor, api::$dtype)?);
                    ret_value.write("ret_value", value)
                })
            }
        )*
    };
}

items! {
    aoti_torch_item_float32: f32 = SCONCE_DTYPE_F32, real => |value| value.real as f32;
    aoti_torch_item_float64: f64 = SCONCE_DTYPE_F64, real => |value| value.real;
    aoti_torch_item_float16: u16 = SCONCE_DTYPE_F16, real => |value| bits_of_half(value.real);
    aoti_torch_item_bfloat16: u16 = SCONCE_DTYPE_BF16, real => |value| ((value.real as f32).to_bits() >> 16) as u16;
    aoti_torch_item_uint8: u8 = SCONCE_DTYPE_U8, integer => |value| value.integer as u8;
    aoti_torch_item_uint16: u16 = SCONCE_DTYPE_U16, integer => |value| value.integer as u16;
    aoti_torch_item_uint32: u32 = SCONCE_DTYPE_U32, integer => |value| value.integer as u32;
    aoti_torch_item_uint64: u64 = SCONCE_DTYPE_U64, integer => |value| value.integer as u64;
    aoti_torch_item_int8: i8 = SCONCE_DTYPE_I8, integer => |value| value.integer as i8;
    aoti_torch_item_int16: i16 = SCONCE_DTYPE_I16, integer => |value| value.integer as i16;
    aoti_torch_item_int32: i32 = SCONCE_DTYPE_I32, integer => |value| value.integer as i32;
    aoti_torch_item_int64: i64 = SCONCE_DTYPE_I64, integer => |value| value.integer;
    aoti_torch_item_bool: bool = SCONCE_DTYPE_BOOL, integer => |value| value.integer != 0;
    aoti_torch_item_complex64: [f32; 2] = SCONCE_DTYPE_C64, real => |value| [value.real as f32, value.imaginary as f32];
}

/// The bits of a number that is one of half precision.
fn bits_of_half(value: f64) -> u16 {
    let bits = (value as f32).to_bits();
    let sign = (bits >> 16 & 0x8000) as u16;
    let (exponent, fraction) = ((bits >> 23 & 0xff) as i32, bits & 0x7f_ffff);
    match exponent {
        0xff => sign | 0x7c00 | (fraction >> 13) as u16,
        113.. => sign | ((exponent - 112) << 10) as u16 | (fraction >> 13) as u16,
        0 => sign,
        // Below 2^-14 the hidden bit is written out.
        _ => sign | ((fraction | 0x80_0000) >> (126 - exponent)) as u16,
    }
}

/// A tensor of one element without dimensions, on the CPU.
fn scalar_tensor(value: &api::sconce_scalar, dtype: i32) -> Result<Tensor> {
    let options = options(dtype, api::SCONCE_DEVICE_CPU);
    full(&[], value, &options)
}

/// A complex number of two floats, as c10 passes it.
#[repr(C, align(8))]
#[derive(Clone, Copy)]
pub struct Complex64 {
    /// The real part.
    pub real: f32,
    /// The imaginary part.
    pub imaginary: f32,
}

/// A complex number of two doubles, as c10 passes it.
#[repr(C, align(16))]
#[derive(Clone, Copy)]
pub struct Complex128 {
    /// The real part.
    pub real: f64,
    /// The imaginary part.
    pub imaginary: f64,
}

fn complex(real: f64, imaginary: f64) -> api::sconce_scalar {
    api::sconce_scalar {
        kind: api::SCONCE_SCALAR_COMPLEX,
        reserved: 0,
        integer: 0,
        real,
        imaginary,
    }
}

/// Functions that return a tensor of one number: name, type of the number, type of the tensor.
macro_rules! scalar_tensors {
    ($($name:ident: $kind:ty = $dtype:ident => $convert:expr;)*) => {
        $(
            /// Returns a tensor of one element without dimensions, on the CPU.
            #[unsafe(no_mangle)]
            pub extern "C" fn $name(value: $kind, ret_new_tensor: Out<'_, TensorHandle>) -> i32 {
                let convert: fn($kind) -> api::sconce_scalar = $convert;
                let make = || scalar_tensor(&convert(value), api::$dtype);
                return_tensor(ret_new_tensor, "ret_new_tensor", make)
            }
        )*
    };
}

scalar_tensors! {
    aoti_torch_scalar_to_tensor_float32: f32 = SCONCE_DTYPE_F32 => |value| real(f64::from(value));
    aoti_torch_scalar_to_tensor_float64: f64 = SCONCE_DTYPE_F64 => real;
    aoti_torch_scalar_to_tensor_uint8: u8 = SCONCE_DTYPE_U8 => |value| integer(i64::from(value));
    aoti_torch_scalar_to_tensor_uint16: u16 = SCONCE_DTYPE_U16 => |value| integer(i64::from(value));
    aoti_torch_scalar_to_tensor_uint32: u32 = SCONCE_DTYPE_U32 => |value| integer(i64::from(value));
    aoti_torch_scalar_to_tensor_uint64: u64 = SCONCE_DTYPE_U64 => |value| integer(value as i64);
    aoti_torch_scalar_to_tensor_int8: i8 = SCONCE_DTYPE_I8 => |value| integer(i64::from(value));
    aoti_torch_scalar_to_tensor_int16: i16 = SCONCE_DTYPE_I16 => |value| integer(i64::from(value));
    aoti_torch_scalar_to_tensor_int32: i32 = SCONCE_DTYPE_I32 => |value| integer(i64::from(value));
    aoti_torch_scalar_to_tensor_int64: i64 = SCONCE_DTYPE_I64 => integer;
    aoti_torch_scalar_to_tensor_bool: CBool = SCONCE_DTYPE_BOOL => |value| truth(value.is_true());
    aoti_torch_scalar_to_tensor_complex64: Complex64 = SCONCE_DTYPE_C64 =>
        |value| complex(value.real.into(), value.imaginary.into());
    aoti_torch_scalar_to_tensor_complex128: Complex128 = SCONCE_DTYPE_C128 =>
        |value| complex(value.real, value.imaginary);
}

/// The tensor on its own device with its dimensions, for messages.
pub fn described(tensor: TensorHandle) -> String {
    let parts =
        (rank_of(tensor), sizes_of(tensor), dtype_of_tensor(tensor), device_of_tensor(tensor));
    match parts {
        (Ok(_), Ok(sizes), Ok(dtype), Ok(device)) => {
            let name = super::constants::SCALAR_TYPES.iter().find(|known| known.dtype == dtype);
            let place = match device {
                api::SCONCE_DEVICE_CPU => "cpu".to_owned(),
                index => format!("cuda:{index}"),
            };
            format!("{}{sizes:?} on {place}", name.map_or("?", |known| known.name))
        }
        _ => "an undefined tensor".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sconce::operations::arange;

    #[test]
    fn half_precision_has_its_bits() {
        for (value, bits) in [
            (0.0, 0),
            (-0.0, 0x8000),
            (1.0, 0x3c00),
            (-2.5, 0xc100),
            (65504.0, 0x7bff),
            (6.103_515_625e-5, 0x0400),
            (5.960_464_477_539_063e-8, 0x0001),
            (f64::INFINITY, 0x7c00),
        ] {
            assert_eq!(bits_of_half(value), bits, "{value}");
        }
    }

    #[test]
    fn numbers_become_tensors_and_numbers_again() {
        let before = api::sconce_tensor_live_count();
        let mut handle = std::ptr::null_mut();
        assert_eq!(aoti_torch_scalar_to_tensor_int64(-7, Out::from(&mut handle)), 0);
        let tensor = Tensor::from_handle(handle);
        let (mut value, mut wrong) = (0, 0);
        assert_eq!(aoti_torch_item_int64(tensor.handle(), Out::from(&mut value)), 0);
        assert_eq!(value, -7);
        assert_eq!(aoti_torch_item_int32(tensor.handle(), Out::from(&mut wrong)), 1);
        let text = crate::error::newest().unwrap_or_default();
        assert!(text.contains("another type: int64[]"), "{text}");
        drop(tensor);
        assert_eq!(api::sconce_tensor_live_count(), before);
    }

    #[test]
    fn numbers_are_read_as_types_that_include_theirs() {
        let (mut whole, mut single, mut double, mut is_true) = (0_i64, 0_f32, 0_f64, false);
        for (value, dtype, expected) in [
            (truth(true), api::SCONCE_DTYPE_BOOL, (Some(1), Some(1.0), true)),
            (truth(false), api::SCONCE_DTYPE_BOOL, (Some(0), Some(0.0), false)),
            (integer(-3), api::SCONCE_DTYPE_I8, (Some(-3), Some(-3.0), true)),
            (integer(200), api::SCONCE_DTYPE_U8, (Some(200), Some(200.0), true)),
            (integer(-1), api::SCONCE_DTYPE_U64, (None, None, true)),
            (real(0.5), api::SCONCE_DTYPE_F16, (None, Some(0.5), true)),
            (real(0.0), api::SCONCE_DTYPE_F32, (None, Some(0.0), false)),
            (real(-2.5), api::SCONCE_DTYPE_F64, (None, Some(-2.5), true)),
        ] {
            let tensor = scalar_tensor(&value, dtype).unwrap();
            let handle = tensor.handle();
            let status = aoti_torch_item_int64(handle, Out::from(&mut whole));
            assert_eq!((status == 0).then_some(whole), expected.0, "{dtype}");
            let status = aoti_torch_item_float32(handle, Out::from(&mut single));
            assert_eq!((status == 0).then_some(f64::from(single)), expected.1, "{dtype}");
            let status = aoti_torch_item_float64(handle, Out::from(&mut double));
            assert_eq!((status == 0).then_some(double), expected.1, "{dtype}");
            assert_eq!(aoti_torch_item_bool(handle, Out::from(&mut is_true)), 0);
            assert_eq!(is_true, expected.2, "{dtype}");
        }
    }

    #[test]
    fn complex_numbers_keep_both_parts() {
        let (number, wide) =
            (Complex64 { real: 1.5, imaginary: -2.0 }, Complex128 { real: 0.25, imaginary: 3.0 });
        let (mut single, mut double) = (std::ptr::null_mut(), std::ptr::null_mut());
        assert_eq!(aoti_torch_scalar_to_tensor_complex64(number, Out::from(&mut single)), 0);
        assert_eq!(aoti_torch_scalar_to_tensor_complex128(wide, Out::from(&mut double)), 0);
        for (handle, real, imaginary) in [(single, 1.5, -2.0), (double, 0.25, 3.0)] {
            let value = item(Tensor::from_handle(handle).handle()).unwrap();
            assert_eq!((value.real, value.imaginary), (real, imaginary));
        }
    }

    #[test]
    fn strides_with_gaps_survive_a_clone() {
        let memory = options(api::SCONCE_DTYPE_I64, api::SCONCE_DEVICE_CPU);
        let all = arange(0, 24, 1, &memory).unwrap();
        let view = as_strided(all.handle(), &[2, 3], &[12, 2], Some(5)).unwrap();
        let mut handle = std::ptr::null_mut();
        assert_eq!(aoti_torch_clone_preserve_strides(view.handle(), Out::from(&mut handle)), 0);
        let copy = Tensor::from_handle(handle);
        assert_eq!(strides_of(copy.handle()).unwrap(), [12, 2]);
        let mut values = [0_i64; 6];
        // SAFETY: the array has six elements of 8 bytes.
        let status =
            unsafe { api::sconce_tensor_to_values(copy.handle(), values.as_mut_ptr().cast(), 48) };
        assert_eq!((status, values), (0, [5, 7, 9, 17, 19, 21]));
    }
}
