//! Operations on whole numbers that libsconce.so does not have: the greatest common divisor.

#![allow(unsafe_code, reason = "reads and writes elements, and launches kernels")]

use std::ffi::c_void;

use crate::abi::tensors::{dtype_of_tensor, numel_of};
use crate::error::Result;
use crate::kernels::{Grid, images, launch};
use crate::operations::element::{read, write};
use crate::operations::layout::Layout;
use crate::operations::tensors::{kernel_name_of, refused_type};
use crate::sconce::operations::{Operand, combine, copy, empty_like};
use crate::sconce::tensor::TensorHandle;
use crate::sconce::{Tensor, api};

// These are in `torch/kernels/integers.cu` too.
const THREADS: u32 = 256;
const EACH: u32 = 4;

/// Integers that have a greatest common divisor.
trait Whole: Copy + PartialEq {
    /// Euclid's way. The smallest number has no absolute value and stays, as in torch.
    fn common_divisor(self, other: Self) -> Self;
}

macro_rules! wholes {
    ($($type:ty: $absolute:expr),*) => {
        $(
            impl Whole for $type {
                fn common_divisor(self, other: $type) -> $type {
                    let absolute: fn($type) -> $type = $absolute;
                    let (mut a, mut b) = (absolute(self), absolute(other));
                    while a != 0 {
                        (a, b) = (b.wrapping_rem(a), a);
                    }
                    b
                }
            }
        )*
    };
}

wholes!(
    i8: i8::wrapping_abs,
    i16: i16::wrapping_abs,
    i32: i32::wrapping_abs,
    i64: i64::wrapping_abs,
    u8: |value| value
);

/// `gcd(self, other)`: of elements, repeated to common sizes, in their common type.
pub fn gcd(first: TensorHandle, second: TensorHandle) -> Result<Tensor> {
    // A sum has the type, the sizes and the strides; its values are replaced.
    let (left, right) = (Operand::Handle(first), Operand::Handle(second));
    let result = combine(api::SCONCE_BINARY_ADD, left, right, 1.0)?;
    let dtype = dtype_of_tensor(result.handle())?;
    if !matches!(
        dtype,
        api::SCONCE_DTYPE_I8
            | api::SCONCE_DTYPE_I16
            | api::SCONCE_DTYPE_I32
            | api::SCONCE_DTYPE_I64
            | api::SCONCE_DTYPE_U8
    ) {
        return Err(refused_type(dtype));
    }
    // Both operands in the order of the result, which has no gaps.
    let operands = [first, second].map(|operand| {
        let own = empty_like(result.handle(), dtype)?;
        copy(&own, operand)?;
        Ok(own)
    });
    let [first, second] = operands;
    let (first, second): (Tensor, Tensor) = (first?, second?);
    let count = numel_of(result.handle())?;
    let to = Layout::of(result.handle())?;
    let [from, other] = [Layout::of(first.handle())?.data, Layout::of(second.handle())?.data];
    if to.is_on_cpu() {
        let run = match dtype {
            api::SCONCE_DTYPE_I8 => on_cpu::<i8>,
            api::SCONCE_DTYPE_I16 => on_cpu::<i16>,
            api::SCONCE_DTYPE_I32 => on_cpu::<i32>,
            api::SCONCE_DTYPE_I64 => on_cpu::<i64>,
            _ => on_cpu::<u8>,
        };
        // SAFETY: all three have so many elements of the type, which lie one after another.
        unsafe { run([from, other], to.data, count) };
        return Ok(result);
    }
    let kernel = format!("sconce_torch_gcd_{}", kernel_name_of(dtype)?);
    let grid = Grid::of(count, THREADS, EACH);
    // SAFETY: the kernel has these parameters; all three have so many elements, which lie one after another.
    unsafe {
        launch(to.device, &images::INTEGERS, &kernel, grid, &[&from, &other, &to.data, &count])
    }?;
    Ok(result)
}

/// # Safety
/// All three have so many elements of the type.
unsafe fn on_cpu<T: Whole>([first, second]: [*mut c_void; 2], result: *mut c_void, count: i64) {
    for at in 0..count {
        // SAFETY: this function demands that the first operand has `count` elements of the type.
        let a: T = unsafe { read(first, at) };
        // SAFETY: this function demands that the second operand has `count` elements of the type.
        let b: T = unsafe { read(second, at) };
        // SAFETY: this function demands that the result has `count` elements of the type.
        unsafe { write(result, at, a.common_divisor(b)) };
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;
    use crate::testing::{Cases, Dense};

    /// The largest number that divides both; the other one of 0.
    fn plainly(a: i64, b: i64) -> i64 {
        let (a, b) = (a.abs(), b.abs());
        (1..=a.max(b)).rev().find(|by| a % by == 0 && b % by == 0).unwrap_or(0)
    }

    #[test]
    fn divisors_agree_with_a_search() {
        let mut cases = Cases::new(91);
        for turn in 0..60 {
            let (rows, columns) = (cases.int(1, 4), cases.int(1, 5));
            let least = if turn % 5 == 4 { 0 } else { -60 };
            let dtype = [
                api::SCONCE_DTYPE_I8,
                api::SCONCE_DTYPE_I16,
                api::SCONCE_DTYPE_I32,
                api::SCONCE_DTYPE_I64,
                api::SCONCE_DTYPE_U8,
            ][turn % 5];
            let a = Dense::whole(&mut cases, &[rows, columns], least, 60);
            let b = Dense::whole(&mut cases, &[columns], least, 60);
            let [x, y] = [&a, &b].map(|dense| dense.either(&mut cases, dtype));
            let found = gcd(x.handle(), y.handle()).unwrap();
            assert_eq!(dtype_of_tensor(found.handle()).unwrap(), dtype);
            let expected = Dense::build(&a.sizes, |at| {
                plainly(a.at(at) as i64, b.repeated_at(at) as i64) as f64
            });
            assert_eq!(Dense::of(found.handle()), expected);
        }
    }

    #[test]
    fn types_are_promoted_and_real_ones_refused() {
        let of = |value: f64, dtype| Dense::build(&[1], |_| value).tensor(dtype);
        let (u8, i8) = (of(12.0, api::SCONCE_DTYPE_U8), of(-18.0, api::SCONCE_DTYPE_I8));
        let found = gcd(u8.handle(), i8.handle()).unwrap();
        assert_eq!(dtype_of_tensor(found.handle()).unwrap(), api::SCONCE_DTYPE_I16);
        assert_eq!(Dense::of(found.handle()).values, [6.0]);
        assert_eq!(i8::MIN.common_divisor(i8::MIN), i8::MIN);
        assert_eq!(i32::MIN.common_divisor(-1), 1);
        for dtype in [api::SCONCE_DTYPE_F32, api::SCONCE_DTYPE_BOOL] {
            let own = of(1.0, dtype);
            let why = gcd(own.handle(), own.handle()).err().unwrap().message;
            assert!(why.contains("not implemented for"), "{why}");
        }
    }
}
