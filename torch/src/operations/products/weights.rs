//! Products with weights of 8 bits, a row for each column of the result.

use super::{check_type, few_bytes, matrix_sizes};
use crate::abi::tensors::{device_of_tensor, dtype_of_tensor, is_contiguous, sizes_of, strides_of};
use crate::error::{Error, Result};
use crate::sconce::operations::{Operand, binary, to_dtype, transpose};
use crate::sconce::products::short_matmul;
use crate::sconce::tensor::TensorHandle;
use crate::sconce::{Tensor, api, operations};

/// `_weight_int8pack_mm(self, mat2, scales)`: the product of a matrix and the rows of int8, each of which has a scale.
/// It is calculated in float32 and rounded once.
pub fn int8_weights(
    input: TensorHandle,
    weights: TensorHandle,
    scales: TensorHandle,
) -> Result<Tensor> {
    let [row_count, inner] = matrix_sizes("A", input)?;
    let dtype = checked_input(input)?;
    check_type("B", weights, api::SCONCE_DTYPE_I8)?;
    if !is_contiguous(weights, api::SCONCE_MEMORY_FORMAT_CONTIGUOUS)? {
        return Err(Error::invalid_argument("expect B to be contiguous"));
    }
    let [columns, depth] = matrix_sizes("B", weights)?;
    if depth != inner {
        return Err(Error::invalid_argument(format!("expect B.size(1) == {inner}")));
    }
    if sizes_of(scales)? != [columns] {
        return Err(Error::invalid_argument(format!(
            "expect scales to be 1d tensor with size {columns}"
        )));
    }
    check_type("scales", scales, dtype)?;
    let single = api::SCONCE_DTYPE_F32;
    let tensors = [input, weights, scales].map(device_of_tensor);
    let is_on_cpu = tensors.iter().all(|device| matches!(device, Ok(api::SCONCE_DEVICE_CPU)));
    if is_on_cpu && row_count <= few_bytes::MOST_ROWS {
        return to_dtype(few_bytes::product(input, weights, scales)?.handle(), dtype);
    }
    // Converted before it is turned: contiguous elements are converted faster.
    let rows = transpose(to_dtype(weights, single)?.handle(), 0, 1)?;
    let left = to_dtype(input, single)?;
    // Numbers of 8 bits and of the 16-bit types are numbers of TF32.
    let product = match dtype == single {
        true => operations::matmul(left.handle(), rows.handle())?,
        false => short_matmul(left.handle(), rows.handle())?,
    };
    let scales = to_dtype(scales, single)?;
    let scaled = binary(api::SCONCE_BINARY_MUL, &product, Operand::Tensor(&scales))?;
    to_dtype(scaled.handle(), dtype)
}

/// The type of a matrix of float32 or a 16-bit type, whose rows lie one element after another.
fn checked_input(input: TensorHandle) -> Result<i32> {
    let dtype = dtype_of_tensor(input)?;
    if !matches!(dtype, api::SCONCE_DTYPE_F32 | api::SCONCE_DTYPE_F16 | api::SCONCE_DTYPE_BF16) {
        return Err(Error::invalid_argument("expect A to be either 32-bit or 16-bit float tensor"));
    }
    if sizes_of(input)?[1] > 1 && strides_of(input)?[1] != 1 {
        return Err(Error::invalid_argument("A must be contiguous on the last dimension"));
    }
    Ok(dtype)
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;
    use crate::testing::{Cases, Dense};

    const I8: i32 = api::SCONCE_DTYPE_I8;

    #[test]
    fn rows_of_bytes_agree_with_loops() {
        let mut cases = Cases::new(31);
        for turn in 0..30 {
            let dtype =
                cases.one(&[api::SCONCE_DTYPE_F32, api::SCONCE_DTYPE_F16, api::SCONCE_DTYPE_BF16]);
            // From 9 rows on weights are converted first.
            let (rows, inner, columns) = (cases.int(0, 12), cases.int(0, 40), cases.int(0, 5));
            let input = Dense::quarters(&mut cases, &[rows, inner]);
            let bytes = Dense::whole(&mut cases, &[columns, inner], -128, 127);
            let factors = Dense::quarters(&mut cases, &[columns]);
            let [a, b, s] =
                [input.tensor(dtype), bytes.tensor(I8), factors.either(&mut cases, dtype)];
            let found = int8_weights(a.handle(), b.handle(), s.handle()).unwrap();
            // Sums of quarters are exact; the result is rounded once.
            let exact = Dense::build(&[rows, columns], |at| {
                let sum: f64 =
                    (0..inner).map(|k| input.at(&[at[0], k]) * bytes.at(&[at[1], k])).sum();
                sum * factors.at(&at[1..])
            });
            let expected = Dense::of(exact.tensor(dtype).handle());
            expected.assert_near(found.handle(), 0.0, &format!("turn {turn}"));
            assert_eq!(dtype_of_tensor(found.handle()).unwrap(), dtype);
        }
    }

    #[test]
    fn what_does_not_fit_is_named() {
        let of = |sizes: &[i64], dtype| Dense::build(sizes, |_| 1.0).tensor(dtype);
        let half = api::SCONCE_DTYPE_F16;
        let (input, bytes, scales) = (of(&[2, 4], half), of(&[3, 4], I8), of(&[3], half));
        let double = of(&[2, 4], api::SCONCE_DTYPE_F64);
        let (turned, other) = (transpose(of(&[4, 2], half).handle(), 0, 1).unwrap(), of(&[3], I8));
        let (wide, few) = (of(&[3, 5], I8), of(&[2], half));
        let columns = transpose(of(&[4, 3], I8).handle(), 0, 1).unwrap();
        for (a, b, s, words) in [
            (&double, &bytes, &scales, "expect A to be either 32-bit or 16-bit float tensor"),
            (&turned, &bytes, &scales, "A must be contiguous on the last dimension"),
            (&input, &input, &scales, "Expected B dtype to be of type int8 but got float16"),
            (&input, &columns, &scales, "expect B to be contiguous"),
            (&input, &wide, &scales, "expect B.size(1) == 4"),
            (&input, &bytes, &few, "expect scales to be 1d tensor with size 3"),
            (&input, &bytes, &other, "Expected scales dtype to be of type float16 but got int8"),
        ] {
            let why = int8_weights(a.handle(), b.handle(), s.handle()).unwrap_err();
            assert!(why.message.contains(words), "{words:?} in {why:?}");
        }
    }
}
