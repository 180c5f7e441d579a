//! `transformers::grouped_mm_fallback`: the product of each group of rows with a matrix of its own.
//!
//! The library transformers registers this operator in Python for mixtures of experts whose weights are not bfloat16.
//! Unlike `_grouped_mm` it takes matrices of any type and alignment, and its offsets may be int64.

use super::check_type;
use super::grouped::Grouped;
use crate::abi::tensors::{device_of_tensor, dtype_of_tensor, rank_of, sizes_of};
use crate::error::{Error, Result};
use crate::operations::tensors::{check_device, empty};
use crate::sconce::api::{SCONCE_DTYPE_I32, SCONCE_DTYPE_I64};
use crate::sconce::tensor::TensorHandle;
use crate::sconce::{Tensor, operations};

/// The product of each group of rows of `input` with the matrix of `weight` that belongs to it. Group `i` ends before
/// row `offs[i]`. Rows after the last group are zeros. The host reads the offsets, and waits for a device.
pub fn grouped_mm_fallback(
    input: TensorHandle,
    weight: TensorHandle,
    offs: TensorHandle,
) -> Result<Tensor> {
    for (name, tensor, dims) in [("input", input, 2), ("weight", weight, 3), ("offs", offs, 1)] {
        let rank = rank_of(tensor)?;
        if rank != dims {
            return Err(Error::invalid_argument(format!(
                "{name} must have {dims} dimension(s), but has {rank}"
            )));
        }
    }
    check_type("weight", weight, dtype_of_tensor(input)?)?;
    check_device("weight", device_of_tensor(weight)?, device_of_tensor(input)?)?;
    let (rows, matrices) = (sizes_of(input)?, sizes_of(weight)?);
    if rows[1] != matrices[1] {
        return Err(Error::invalid_argument(format!(
            "input has {} columns, and the matrices of weight have {} rows; these must be equal",
            rows[1], matrices[1]
        )));
    }
    let narrow = match dtype_of_tensor(offs)? {
        SCONCE_DTYPE_I64 => Some(operations::to_dtype(offs, SCONCE_DTYPE_I32)?),
        _ => None,
    };
    let offsets = narrow.as_ref().map_or(offs, Tensor::handle);
    let grouped = Grouped::new(input, weight, Some(offsets))?;
    let sizes = grouped.result_sizes();
    let result = empty(&sizes, dtype_of_tensor(input)?, device_of_tensor(input)?)?;
    grouped.multiply(&result)?;
    Ok(result)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;
    use crate::abi::tensors::strides_of;
    use crate::sconce::api::{
        SCONCE_DTYPE_BF16, SCONCE_DTYPE_F16, SCONCE_DTYPE_F32, SCONCE_DTYPE_F64,
    };
    use crate::testing::{Cases, Dense, live};

    fn offsets(ends: &[i64], dtype: i32) -> Tensor {
        let values = ends.iter().map(|end| *end as f64).collect();
        Dense { sizes: vec![ends.len() as i64], values }.tensor(dtype)
    }

    #[test]
    fn each_group_of_rows_has_its_matrix() {
        let before = live();
        let mut cases = Cases::new(11);
        for _ in 0..200 {
            let [groups, rows, inner, columns] = [5, 9, 7, 7].map(|most| cases.int(1, most));
            let mut ends: Vec<i64> = (0..groups).map(|_| cases.int(0, rows)).collect();
            ends.sort_unstable();
            let a = Dense::quarters(&mut cases, &[rows, inner]);
            let b = Dense::quarters(&mut cases, &[groups, inner, columns]);
            let dtype = cases.one(&[
                SCONCE_DTYPE_F32,
                SCONCE_DTYPE_F64,
                SCONCE_DTYPE_F16,
                SCONCE_DTYPE_BF16,
            ]);
            let expected = Dense::build(&[rows, columns], |at| {
                let Some(group) = ends.iter().position(|end| at[0] < *end) else { return 0.0 };
                let product = |k| a.at(&[at[0], k]) * b.at(&[group as i64, k, at[1]]);
                (0..inner).map(product).sum()
            });
            let offs = offsets(&ends, cases.one(&[SCONCE_DTYPE_I32, SCONCE_DTYPE_I64]));
            let (first, second) = (a.tensor(dtype), b.tensor(dtype));
            let found =
                grouped_mm_fallback(first.handle(), second.handle(), offs.handle()).unwrap();
            let is_wide = matches!(dtype, SCONCE_DTYPE_F32 | SCONCE_DTYPE_F64);
            expected.assert_near(found.handle(), if is_wide { 1e-5 } else { 1e-2 }, "products");
            // The compiler assumes that rows follow one another.
            assert_eq!(strides_of(found.handle()).unwrap(), [columns, 1]);
        }
        assert_eq!(live(), before);
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        let of = |sizes: &[i64]| Dense::build(sizes, |_| 1.0).tensor(SCONCE_DTYPE_F32);
        let [input, weight] = [of(&[6, 3]), of(&[2, 3, 4])];
        let offs = offsets(&[2, 6], SCONCE_DTYPE_I64);
        let refused = |input: &Tensor, weight: &Tensor, offs: &Tensor, words: &str| {
            let error = grouped_mm_fallback(input.handle(), weight.handle(), offs.handle());
            let message = error.err().unwrap().message;
            assert!(message.contains(words), "{message}");
        };
        refused(&of(&[6]), &weight, &offs, "input must have 2 dimension(s), but has 1");
        refused(&input, &of(&[3, 4]), &offs, "weight must have 3 dimension(s), but has 2");
        refused(&input, &weight, &of(&[1, 2]), "offs must have 1 dimension(s), but has 2");
        refused(
            &input,
            &of(&[2, 5, 4]),
            &offs,
            "input has 3 columns, and the matrices of weight have 5 rows",
        );
        refused(&input, &of(&[3, 3, 4]), &offs, "batch sizes have to match");
        refused(&input, &weight, &of(&[2]), "Offsets have to be int32");
        let past = offsets(&[2, 7], SCONCE_DTYPE_I32);
        refused(&input, &weight, &past, "at most 6");
        let wide = Dense::build(&[2, 3, 4], |_| 1.0).tensor(SCONCE_DTYPE_F64);
        refused(&input, &wide, &offs, "weight dtype");
    }
}
