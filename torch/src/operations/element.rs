//! Types of elements on the CPU: conversion, arithmetic, and the choice by a tensor's type.

#![allow(unsafe_code, reason = "reads and writes elements")]

use std::ffi::c_void;

use half::{bf16, f16};

use crate::error::Result;
use crate::sconce::properties::{data_of, numel_of};
use crate::sconce::tensor::TensorHandle;

/// A type of real numbers that tensors have.
pub trait Element: Copy + PartialEq + Send + Sync + 'static {
    /// What is calculated in: F32 for 16-bit types, else the type itself.
    type Wide: Number;
    /// Converts, exactly.
    fn widen(self) -> Self::Wide;
    /// Rounds to nearest, ties to even.
    fn narrow(wide: Self::Wide) -> Self;
}

/// Arithmetic of elements. Integers wrap, as in torch.
pub trait Number: Copy + PartialEq + PartialOrd + Send + Sync + 'static {
    /// 0.
    const ZERO: Self;
    /// 1.
    const ONE: Self;
    /// The sum.
    fn plus(self, other: Self) -> Self;
    /// The product.
    fn times(self, other: Self) -> Self;
    /// Whether this is not a number.
    fn is_nan(self) -> bool;
    /// As a double, rounded.
    fn to_f64(self) -> f64;
    /// From a double, cut to the type.
    fn from_f64(value: f64) -> Self;
}

macro_rules! floats {
    ($($type:ty),*) => {
        $(
            impl Number for $type {
                const ZERO: $type = 0.0;
                const ONE: $type = 1.0;
                fn plus(self, other: $type) -> $type { self + other }
                fn times(self, other: $type) -> $type { self * other }
                fn is_nan(self) -> bool { <$type>::is_nan(self) }
                fn to_f64(self) -> f64 { f64::from(self) }
                fn from_f64(value: f64) -> $type { value as $type }
            }
        )*
    };
}

macro_rules! integers {
    ($($type:ty),*) => {
        $(
            impl Number for $type {
                const ZERO: $type = 0;
                const ONE: $type = 1;
                fn plus(self, other: $type) -> $type { self.wrapping_add(other) }
                fn times(self, other: $type) -> $type { self.wrapping_mul(other) }
                fn is_nan(self) -> bool { false }
                fn to_f64(self) -> f64 { self as f64 }
                fn from_f64(value: f64) -> $type { value as $type }
            }
        )*
    };
}

macro_rules! elements {
    ($($type:ty => $wide:ty, $widen:expr, $narrow:expr;)*) => {
        $(
            impl Element for $type {
                type Wide = $wide;
                fn widen(self) -> $wide {
                    let widen: fn($type) -> $wide = $widen;
                    widen(self)
                }
                fn narrow(wide: $wide) -> $type {
                    let narrow: fn($wide) -> $type = $narrow;
                    narrow(wide)
                }
            }
        )*
    };
}

floats!(f32, f64);
integers!(i8, i16, i32, i64, u8, u16, u32, u64);
elements! {
    f32 => f32, |value| value, |value| value;
    f64 => f64, |value| value, |value| value;
    f16 => f32, f16::to_f32, f16::from_f32;
    bf16 => f32, bf16::to_f32, bf16::from_f32;
    i8 => i8, |value| value, |value| value;
    i16 => i16, |value| value, |value| value;
    i32 => i32, |value| value, |value| value;
    i64 => i64, |value| value, |value| value;
    u8 => u8, |value| value, |value| value;
}

/// A truth value as it lies in memory: whatever is not 0 is true.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(transparent)]
pub struct Truth(pub u8);

impl Element for Truth {
    type Wide = TruthValue;
    fn widen(self) -> TruthValue {
        TruthValue(self.0 != 0)
    }
    fn narrow(wide: TruthValue) -> Truth {
        Truth(u8::from(wide.0))
    }
}

/// A truth value in arithmetic: the sum is "or", the product "and".
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct TruthValue(pub bool);

impl Number for TruthValue {
    const ZERO: TruthValue = TruthValue(false);
    const ONE: TruthValue = TruthValue(true);
    fn plus(self, other: TruthValue) -> TruthValue {
        TruthValue(self.0 || other.0)
    }
    fn times(self, other: TruthValue) -> TruthValue {
        TruthValue(self.0 && other.0)
    }
    fn is_nan(self) -> bool {
        false
    }
    fn to_f64(self) -> f64 {
        f64::from(u8::from(self.0))
    }
    fn from_f64(value: f64) -> TruthValue {
        TruthValue(value != 0.0)
    }
}

/// An element of a tensor.
///
/// # Safety
/// `data` is a tensor's of the CPU, which has an element of this size at `place`.
pub unsafe fn read<T: Copy>(data: *const c_void, place: i64) -> T {
    // SAFETY: `read` demands that the tensor has an element there. Memory of the program may be aligned as it likes.
    unsafe { data.cast::<T>().wrapping_offset(place as isize).read_unaligned() }
}

/// Writes an element of a tensor.
///
/// # Safety
/// As [`read`]; no one else uses the element.
pub unsafe fn write<T: Copy>(data: *mut c_void, place: i64, value: T) {
    // SAFETY: `write` demands that the tensor has an element there which nobody else uses. Memory of the program may be
    // aligned as it likes.
    unsafe { data.cast::<T>().wrapping_offset(place as isize).write_unaligned(value) };
}

/// The elements of a tensor, one after another.
///
/// # Safety
/// The tensor is contiguous, is one of the CPU, has elements of `T`, and lives as long as the result. Nobody writes its
/// elements meanwhile.
pub unsafe fn elements<'a, T: Number>(tensor: TensorHandle) -> Result<&'a [T]> {
    let count = numel_of(tensor)? as usize;
    if count == 0 {
        return Ok(&[]);
    }
    let data = data_of(tensor)?.cast::<T>();
    // SAFETY: `elements` demands of the tensor that its `count` elements of `T` lie one after another, live as long as
    // the result, and are written by nobody.
    Ok(unsafe { std::slice::from_raw_parts(data, count) })
}

/// As [`elements`], to write them.
///
/// # Safety
/// As [`elements`], and nobody else uses the elements meanwhile.
pub unsafe fn elements_to_write<'a, T: Number>(tensor: TensorHandle) -> Result<&'a mut [T]> {
    let count = numel_of(tensor)? as usize;
    if count == 0 {
        return Ok(&mut []);
    }
    let data = data_of(tensor)?.cast::<T>();
    // SAFETY: `elements_to_write` demands of the tensor that its `count` elements of `T` lie one after another, live as
    // long as the result, and are used by nobody else.
    Ok(unsafe { std::slice::from_raw_parts_mut(data, count) })
}

/// Evaluates an expression with `$T` as the type of the elements: all real types and truth values. Other types are an
/// error: the operation's name begins its text.
macro_rules! with_element {
    ($dtype:expr, $T:ident => $body:expr) => {{
        use $crate::sconce::api;
        match $dtype {
            api::SCONCE_DTYPE_I8 => { type $T = i8; $body }
            api::SCONCE_DTYPE_I16 => { type $T = i16; $body }
            api::SCONCE_DTYPE_I32 => { type $T = i32; $body }
            api::SCONCE_DTYPE_I64 => { type $T = i64; $body }
            api::SCONCE_DTYPE_U8 => { type $T = u8; $body }
            api::SCONCE_DTYPE_BOOL => { type $T = $crate::operations::element::Truth; $body }
            dtype => with_floating!(dtype, $T => $body),
        }
    }};
}

/// As `with_element`, of F32, F64, F16 and BF16 alone.
macro_rules! with_floating {
    ($dtype:expr, $T:ident => $body:expr) => {{
        use $crate::sconce::api;
        match $dtype {
            api::SCONCE_DTYPE_F32 => {
                type $T = f32;
                $body
            }
            api::SCONCE_DTYPE_F64 => {
                type $T = f64;
                $body
            }
            api::SCONCE_DTYPE_F16 => {
                type $T = half::f16;
                $body
            }
            api::SCONCE_DTYPE_BF16 => {
                type $T = half::bf16;
                $body
            }
            dtype => Err($crate::operations::tensors::refused_type(dtype)),
        }
    }};
}

/// Evaluates an expression with `$T` as a type of so many bytes, for elements that are moved as they are.
macro_rules! with_bytes {
    ($bytes:expr, $T:ident => $body:expr) => {
        match $bytes {
            1 => {
                type $T = u8;
                $body
            }
            2 => {
                type $T = u16;
                $body
            }
            4 => {
                type $T = u32;
                $body
            }
            8 => {
                type $T = u64;
                $body
            }
            16 => {
                type $T = u128;
                $body
            }
            bytes => Err($crate::error::Error::not_supported(format!("elements of {bytes} bytes"))),
        }
    };
}
