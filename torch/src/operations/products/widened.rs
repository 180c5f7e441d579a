//! Products whose result has more bits than the operands. Every product of two elements is exact in float32.

use super::{check_type, product_sizes, whole, write_result};
use crate::abi::tensors::{device_of_tensor, dtype_of_tensor, is_contiguous, sizes_of};
use crate::error::{Error, Result};
use crate::operations::tensors::name_of;
use crate::sconce::operations::{self, Operand, binary, narrow, to_dtype};
use crate::sconce::products::{exact_matmul, short_matmul};
use crate::sconce::tensor::TensorHandle;
use crate::sconce::{Tensor, api};

/// How many products of two 8-bit integers float32 adds exactly: none is larger than 2^14, and up to 2^24 there is every
/// whole number.
const EXACT: i64 = 1 << 10;

/// `_int_mm(self, mat2)`: writes the product of two matrices of int8 to a matrix of int32. On the CPU the first may be
/// of uint8, as models of dynamic quantization have it.
pub fn int_mm(first: TensorHandle, second: TensorHandle, out: TensorHandle) -> Result<()> {
    let [rows, inner, columns] = product_sizes(first, second)?;
    let is_unsigned = dtype_of_tensor(first)? == api::SCONCE_DTYPE_U8;
    if !is_unsigned || device_of_tensor(first)? >= 0 {
        check_type("self", first, api::SCONCE_DTYPE_I8)?;
    }
    check_type("mat2", second, api::SCONCE_DTYPE_I8)?;
    check_type("result", out, api::SCONCE_DTYPE_I32)?;
    let sizes = sizes_of(out)?;
    if sizes != [rows, columns] {
        return Err(Error::invalid_argument(format!(
            "expected result to have the sizes [{rows}, {columns}] but got {sizes:?}"
        )));
    }
    if !is_contiguous(out, api::SCONCE_MEMORY_FORMAT_CONTIGUOUS)? {
        return Err(Error::invalid_argument("expected result to be contiguous"));
    }
    let operands = [first, second, out].map(device_of_tensor);
    if operands.iter().all(|device| matches!(device, Ok(api::SCONCE_DEVICE_CPU))) {
        return whole::product(first, second, out);
    }
    write_result(out, &sum_of_parts(first, second, inner)?)
}

/// The product of matrices of int8: parts of the inner size are multiplied in float32, where their sums are whole
/// numbers, and added in int32.
fn sum_of_parts(first: TensorHandle, second: TensorHandle, inner: i64) -> Result<Tensor> {
    let part = |begin: i64| -> Result<Tensor> {
        let length = EXACT.min(inner - begin);
        let left = narrow(first, 1, begin, length)?;
        let right = narrow(second, 0, begin, length)?;
        let [left, right] =
            [left, right].map(|tensor| to_dtype(tensor.handle(), api::SCONCE_DTYPE_F32));
        let product = exact_matmul(left?.handle(), right?.handle())?;
        to_dtype(product.handle(), api::SCONCE_DTYPE_I32)
    };
    let mut sum = part(0)?;
    let mut begin = EXACT;
    while begin < inner {
        sum = binary(api::SCONCE_BINARY_ADD, &sum, Operand::Tensor(&part(begin)?))?;
        begin += EXACT;
    }
    Ok(sum)
}

/// `mm(self, mat2, out_dtype)`: writes the product of two matrices in their type, or of 16-bit types in float32. TF32
/// holds all numbers of the 16-bit types.
pub fn mm_dtype(
    first: TensorHandle,
    second: TensorHandle,
    out_dtype: i32,
    out: TensorHandle,
) -> Result<()> {
    let (dtype, other) = (dtype_of_tensor(first)?, dtype_of_tensor(second)?);
    if dtype != other {
        return Err(Error::invalid_argument(format!(
            "self and mat2 must have the same dtype, but got {} and {}",
            name_of(dtype),
            name_of(other)
        )));
    }
    if out_dtype != dtype_of_tensor(out)? {
        return Err(Error::invalid_argument(
            "out_dtype must be the same as the dtype of the provided out tensor",
        ));
    }
    let [rows, _, columns] = product_sizes(first, second)?;
    let is_short = matches!(dtype, api::SCONCE_DTYPE_F16 | api::SCONCE_DTYPE_BF16);
    if out_dtype == dtype {
        if sizes_of(out)? != [rows, columns] {
            operations::resize(out, &[rows, columns])?;
        }
        return operations::mm_out(first, second, out);
    }
    if out_dtype != api::SCONCE_DTYPE_F32 || !is_short {
        return Err(Error::invalid_argument(
            "out_dtype must be the same as input dtype or fp32 for fp16/bf16 inputs",
        ));
    }
    let (first, second) = (to_dtype(first, out_dtype)?, to_dtype(second, out_dtype)?);
    write_result(out, &short_matmul(first.handle(), second.handle())?)
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;
    use crate::testing::{Cases, Dense};

    const F16: i32 = api::SCONCE_DTYPE_F16;
    const F32: i32 = api::SCONCE_DTYPE_F32;
    const I8: i32 = api::SCONCE_DTYPE_I8;
    const U8: i32 = api::SCONCE_DTYPE_U8;
    const I32: i32 = api::SCONCE_DTYPE_I32;

    fn product(first: &Dense, second: &Dense) -> Dense {
        Dense::build(&[first.sizes[0], second.sizes[1]], |at| {
            (0..first.sizes[1]).map(|k| first.at(&[at[0], k]) * second.at(&[k, at[1]])).sum()
        })
    }

    fn unset(rows: i64, columns: i64, dtype: i32) -> Tensor {
        Dense::build(&[rows, columns], |_| 7.0).tensor(dtype)
    }

    #[test]
    fn products_of_integers_agree_with_loops() {
        let mut cases = Cases::new(21);
        for turn in 0..30 {
            let inner = cases.one(&[0, 1, 5, 33, 1023, 1024, 1025, 3000]);
            let (rows, columns) = (cases.int(0, 9), cases.int(1, 4));
            let (dtype, least) = cases.one(&[(I8, -128), (U8, 0)]);
            let first = Dense::whole(&mut cases, &[rows, inner], least, least + 255);
            let second = Dense::whole(&mut cases, &[inner, columns], -128, 127);
            let out = unset(rows, columns, I32);
            let (a, b) = (first.either(&mut cases, dtype), second.either(&mut cases, I8));
            int_mm(a.handle(), b.handle(), out.handle()).unwrap();
            product(&first, &second).assert_near(out.handle(), 0.0, &format!("turn {turn}"));
            if dtype == I8 {
                // What devices do.
                let sum = sum_of_parts(a.handle(), b.handle(), inner).unwrap();
                product(&first, &second).assert_near(sum.handle(), 0.0, &format!("parts {turn}"));
            }
        }
        // A sum that float32 does not have: it is odd and larger than 2^24.
        let [first, second] = [[1, 3073], [3073, 1]].map(|sizes| Dense::build(&sizes, |_| 127.0));
        let out = unset(1, 1, I32);
        int_mm(first.tensor(I8).handle(), second.tensor(I8).handle(), out.handle()).unwrap();
        assert_eq!(Dense::of(out.handle()).values, [49_564_417.0]);
        let (a, b) = (first.tensor(I8), second.tensor(I8));
        let sum = sum_of_parts(a.handle(), b.handle(), 3073).unwrap();
        assert_eq!(Dense::of(sum.handle()).values, [49_564_417.0]);
        let first = Dense::build(&[1, 3073], |_| 255.0);
        int_mm(first.tensor(U8).handle(), second.tensor(I8).handle(), out.handle()).unwrap();
        assert_eq!(Dense::of(out.handle()).values, [99_519_105.0]);
    }

    #[test]
    fn operands_of_integer_products_are_checked() {
        let of = |sizes: &[i64], dtype| Dense::build(sizes, |_| 1.0).tensor(dtype);
        let (a, b, wide) = (of(&[2, 3], I8), of(&[3, 2], I8), of(&[3, 2], I32));
        let (out, other) = (unset(2, 2, I32), unset(2, 2, F32));
        let turned = crate::sconce::operations::transpose(out.handle(), 0, 1).unwrap();
        let large = unset(2, 3, I32);
        for (first, second, into, words) in [
            (&a, &a, &out, "(2x3 and 2x3)"),
            (&wide, &a, &out, "Expected self dtype to be of type int8 but got int32"),
            (&a, &wide, &out, "Expected mat2 dtype to be of type int8 but got int32"),
            (&a, &b, &other, "Expected result dtype to be of type int32 but got float32"),
            (&a, &b, &turned, "expected result to be contiguous"),
            (&a, &b, &large, "sizes [2, 2] but got [2, 3]"),
        ] {
            let why = int_mm(first.handle(), second.handle(), into.handle()).unwrap_err();
            assert!(why.message.contains(words), "{words:?} in {why:?}");
        }
    }

    #[test]
    fn halves_are_not_rounded_on_the_way_to_float32() {
        // 1 + 2^-10 is the number after 1; its square has 21 bits, and float16 has 11.
        let near = 1.0 + 1.0 / 1024.0;
        let [first, second] = [[1, 1], [1, 1]].map(|sizes| Dense::build(&sizes, |_| near));
        let out = unset(3, 2, F32);
        let run = |dtype, out: &Tensor| {
            let (a, b) = (first.tensor(F16), second.tensor(F16));
            mm_dtype(a.handle(), b.handle(), dtype, out.handle())
        };
        run(F32, &out).unwrap();
        assert_eq!(Dense::of(out.handle()), Dense { sizes: vec![1, 1], values: vec![near * near] });
        let halves = unset(1, 1, F16);
        run(F16, &halves).unwrap();
        assert_eq!(Dense::of(halves.handle()).values, [1.0 + 2.0 / 1024.0]);
        let words = "out_dtype must be the same as the dtype of the provided out tensor";
        assert!(run(F32, &halves).unwrap_err().message.contains(words));
        let doubles = unset(1, 1, api::SCONCE_DTYPE_F64);
        let why = run(api::SCONCE_DTYPE_F64, &doubles).unwrap_err();
        assert!(why.message.contains("or fp32 for fp16/bf16 inputs"), "{why:?}");
    }
}
