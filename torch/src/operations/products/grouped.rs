//! `_grouped_mm`: products of groups of matrices, as models with a mixture of experts need them.
//!
//! Matrices of a batch are groups. Where an operand is one matrix, offsets say where the groups end in it: groups of
//! rows of the first, of columns of the second, or of the inner dimension of both.

use super::check_type;
use crate::abi::tensors::{device_of_tensor, dtype_of_tensor, rank_of, sizes_of, strides_of};
use crate::error::{Error, Result};
use crate::operations::tensors::{bytes_of, check_device, empty, name_of};
use crate::sconce::operations::{self, narrow, select};
use crate::sconce::precision::with_precision;
use crate::sconce::tensor::TensorHandle;
use crate::sconce::values::integer;
use crate::sconce::{Tensor, api, check};

/// Bytes of which strides are multiples, as PyTorch's kernels want it. So are those of the result.
const ALIGNMENT: i64 = 16;

/// The operands of a call.
pub struct Grouped {
    first: TensorHandle,
    second: TensorHandle,
    sizes: [Vec<i64>; 2],
    /// Where groups end, if there are offsets.
    ends: Option<Vec<i64>>,
}

/// The product of each group of `first` with that of `second`. The host reads the offsets, and waits for a device.
pub fn grouped_mm(
    first: TensorHandle,
    second: TensorHandle,
    offsets: Option<TensorHandle>,
    out_dtype: Option<i32>,
) -> Result<Tensor> {
    for (name, tensor) in [("mat_a", first), ("mat_b", second)] {
        check_operand(name, tensor)?;
    }
    let grouped = Grouped::new(first, second, offsets)?;
    let dtype = dtype_of_tensor(first)?;
    if out_dtype.is_some_and(|wanted| wanted != dtype) {
        return Err(Error::invalid_argument("Grouped gemm output dtype must match `mat_a` dtype"));
    }
    let result = grouped.result(dtype)?;
    grouped.multiply(&result)?;
    Ok(result)
}

impl Grouped {
    /// Checks that groups fit each other. Each operand has two or three dimensions.
    pub fn new(
        first: TensorHandle,
        second: TensorHandle,
        offsets: Option<TensorHandle>,
    ) -> Result<Grouped> {
        check_type("mat_b", second, dtype_of_tensor(first)?)?;
        check_device("mat_b", device_of_tensor(second)?, device_of_tensor(first)?)?;
        let sizes = [sizes_of(first)?, sizes_of(second)?];
        let (a, b) = (&sizes[0], &sizes[1]);
        if a[a.len() - 1] != b[b.len() - 2] {
            return Err(Error::invalid_argument(format!(
                "contraction dimension of mat_a and mat_b must match, but the sizes are {a:?} and {b:?}"
            )));
        }
        let is_batch = a.len() == 3 && b.len() == 3;
        if is_batch == offsets.is_some() {
            return Err(Error::invalid_argument(
                "Have to provide offsets if there is a 2d matrix, or no offset if both matrices are 3d",
            ));
        }
        if is_batch && a[0] != b[0] {
            return Err(Error::invalid_argument(format!(
                "batched dimension has to match, but the sizes are {a:?} and {b:?}"
            )));
        }
        let mut grouped = Grouped { first, second, sizes, ends: None };
        if let Some(offsets) = offsets {
            grouped.ends = Some(grouped.read_ends(offsets)?);
        }
        Ok(grouped)
    }

    /// The length of what the offsets divide, and the number of groups if an operand says it.
    fn divided(&self) -> (i64, Option<i64>) {
        match [&self.sizes[0][..], &self.sizes[1][..]] {
            [[rows, _], [groups, ..]] if self.sizes[1].len() == 3 => (*rows, Some(*groups)),
            [[groups, _, _], [_, columns]] => (*columns, Some(*groups)),
            [[_, inner], _] => (*inner, None),
            _ => (0, None),
        }
    }

    fn read_ends(&self, offsets: TensorHandle) -> Result<Vec<i64>> {
        if rank_of(offsets)? != 1 {
            return Err(Error::invalid_argument("offs has to be 1D"));
        }
        let dtype = dtype_of_tensor(offsets)?;
        if dtype != api::SCONCE_DTYPE_I32 {
            return Err(Error::invalid_argument(format!(
                "Offsets have to be int32, but are {}",
                name_of(dtype)
            )));
        }
        check_device("offs", device_of_tensor(offsets)?, device_of_tensor(self.first)?)?;
        let ends = operations::whole_numbers(offsets)?;
        let (length, groups) = self.divided();
        if groups.is_some_and(|groups| groups != ends.len() as i64) {
            return Err(Error::invalid_argument(format!(
                "matrix batch sizes have to match: offs has {} entries, and the sizes are {:?} and {:?}",
                ends.len(),
                self.sizes[0],
                self.sizes[1]
            )));
        }
        let ends: Vec<i64> = ends.into_iter().map(i64::from).collect();
        let begins = std::iter::once(&0).chain(&ends);
        if begins.zip(&ends).any(|(begin, end)| begin > end || *end > length) {
            return Err(Error::invalid_argument(format!(
                "offs is {ends:?}; each entry must be at least as large as the one before it, and at most {length}"
            )));
        }
        Ok(ends)
    }

    /// The sizes of the result.
    pub fn result_sizes(&self) -> Vec<i64> {
        let (a, b) = (&self.sizes[0], &self.sizes[1]);
        let (rows, columns) = (a[a.len() - 2], b[b.len() - 1]);
        match (a.len(), b.len(), &self.ends) {
            (3, 3, _) => vec![a[0], rows, columns],
            (2, 2, Some(ends)) => vec![ends.len() as i64, rows, columns],
            _ => vec![rows, columns],
        }
    }

    /// A new tensor for the result. Rows begin at multiples of 16 bytes.
    pub fn result(&self, dtype: i32) -> Result<Tensor> {
        let mut sizes = self.result_sizes();
        let last = sizes.len() - 1;
        let columns = sizes[last];
        let step = ALIGNMENT / bytes_of(dtype)? as i64;
        sizes[last] = (columns + step - 1) / step * step;
        let memory = empty(&sizes, dtype, device_of_tensor(self.first)?)?;
        narrow(memory.handle(), -1, 0, columns)
    }

    /// The parts of a result that belong to a group, one for each group. What belongs to no group is in none.
    pub fn parts(&self, result: &Tensor) -> Result<Vec<Tensor>> {
        let (a, b) = (self.sizes[0].len(), self.sizes[1].len());
        let Some(ends) = &self.ends else {
            return (0..self.sizes[0][0]).map(|group| select(result.handle(), 0, group)).collect();
        };
        let begins = std::iter::once(0).chain(ends.iter().copied());
        let part = |(group, (begin, end)): (usize, (i64, &i64))| match (a, b) {
            (2, 2) => select(result.handle(), 0, group as i64),
            _ => narrow(result.handle(), i64::from(a == 3), begin, end - begin),
        };
        begins.zip(ends).enumerate().map(part).collect()
    }

    /// Writes the products.
    pub fn multiply(&self, result: &Tensor) -> Result<()> {
        let Some(ends) = &self.ends else {
            let (first, second) = (self.first, self.second);
            return with_precision(|| {
                check(api::sconce_tensor_bmm_out(first, second, result.handle()))
            });
        };
        let (batch_of_first, batch_of_second) =
            (self.sizes[0].len() == 3, self.sizes[1].len() == 3);
        let mut begin = 0;
        for (group, end) in ends.iter().enumerate() {
            let (group, length) = (group as i64, end - begin);
            // The products of an empty group have no elements, except those of an empty inner dimension.
            if length == 0 && batch_of_first != batch_of_second {
                continue;
            }
            let first = match (batch_of_first, batch_of_second) {
                (true, _) => select(self.first, 0, group),
                (false, true) => narrow(self.first, 0, begin, length),
                (false, false) => narrow(self.first, 1, begin, length),
            }?;
            let second = match (batch_of_first, batch_of_second) {
                (_, true) => select(self.second, 0, group),
                (true, false) => narrow(self.second, 1, begin, length),
                (false, false) => narrow(self.second, 0, begin, length),
            }?;
            let out = match (batch_of_first, batch_of_second) {
                (false, false) => select(result.handle(), 0, group),
                (true, _) => narrow(result.handle(), 1, begin, length),
                (false, true) => narrow(result.handle(), 0, begin, length),
            }?;
            operations::mm_out(first.handle(), second.handle(), out.handle())?;
            begin = *end;
        }
        // What belongs to no group: PyTorch leaves it undefined.
        if batch_of_first != batch_of_second {
            let (length, _) = self.divided();
            let rest = narrow(result.handle(), i64::from(batch_of_first), begin, length - begin)?;
            operations::fill(rest.handle(), &integer(0))?;
        }
        Ok(())
    }
}

fn check_operand(name: &str, tensor: TensorHandle) -> Result<()> {
    let (dtype, rank) = (dtype_of_tensor(tensor)?, rank_of(tensor)?);
    if !matches!(dtype, api::SCONCE_DTYPE_F32 | api::SCONCE_DTYPE_F16 | api::SCONCE_DTYPE_BF16) {
        return Err(Error::invalid_argument(format!(
            "Expected {name} to be Float32, BFloat16 or Float16 matrix, got {}",
            name_of(dtype)
        )));
    }
    if !matches!(rank, 2 | 3) {
        return Err(Error::invalid_argument(format!(
            "{name} has to be 2 or 3d, but has {rank} dimensions"
        )));
    }
    let step = ALIGNMENT / bytes_of(dtype)? as i64;
    let (sizes, strides) = (sizes_of(tensor)?, strides_of(tensor)?);
    let [rows, columns] = [rank - 2, rank - 1];
    let fits =
        |along: usize, across: usize| strides[along] == 1 && strides[across] >= sizes[along].max(1);
    let across = match () {
        () if fits(rows, columns) => columns,
        () if fits(columns, rows) => rows,
        () => {
            return Err(Error::invalid_argument(format!(
                "Invalid strides/sizes of {name}, got {strides:?} for strides and {sizes:?} for sizes: rows or \
                 columns must lie one after another"
            )));
        }
    };
    if strides[across] % step != 0 {
        return Err(Error::invalid_argument(format!(
            "strides should be multiple of 16 bytes, but those of {name} are {strides:?}"
        )));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;
    use crate::testing::{Cases, Dense, live};

    /// A tensor whose rows, or whose columns, begin at multiples of 16 bytes.
    fn operand(values: &Dense, by_columns: bool, dtype: i32) -> Tensor {
        let mut sizes = values.sizes.clone();
        let rank = sizes.len();
        if by_columns {
            sizes.swap(rank - 2, rank - 1);
        }
        sizes[rank - 1] = (sizes[rank - 1] + 7) / 8 * 8;
        let memory = empty(&sizes, dtype, api::SCONCE_DEVICE_CPU).unwrap();
        let turned = match by_columns {
            true => operations::transpose(memory.handle(), -2, -1).unwrap(),
            false => memory,
        };
        let mut view = turned;
        for dim in [rank - 2, rank - 1] {
            view = narrow(view.handle(), dim as i64, 0, values.sizes[dim]).unwrap();
        }
        operations::copy(&view, values.tensor(dtype).handle()).unwrap();
        view
    }

    fn offsets(ends: &[i64]) -> Tensor {
        Dense {
            sizes: vec![ends.len() as i64],
            values: ends.iter().map(|end| *end as f64).collect(),
        }
        .tensor(api::SCONCE_DTYPE_I32)
    }

    #[test]
    fn each_group_is_multiplied() {
        let before = live();
        let mut cases = Cases::new(5);
        for _ in 0..200 {
            let [groups, rows, inner, columns] = [3, 6, 9, 7].map(|most| cases.int(1, most));
            let [first_is_batch, second_is_batch] = [0; 2].map(|_| cases.int(0, 1) == 1);
            // What the offsets divide is longer.
            let (mut all_rows, mut all_inner, mut all_columns) = (rows, inner, columns);
            let divided = match (first_is_batch, second_is_batch) {
                (false, true) => Some(&mut all_rows),
                (true, false) => Some(&mut all_columns),
                (false, false) => Some(&mut all_inner),
                (true, true) => None,
            };
            let mut ends: Vec<i64> = Vec::new();
            if let Some(divided) = divided {
                *divided += 9;
                ends = (0..groups).map(|_| cases.int(0, *divided)).collect();
                ends.sort_unstable();
            }
            let sizes = |is_batch: bool, matrix: [i64; 2]| match is_batch {
                true => vec![groups, matrix[0], matrix[1]],
                false => matrix.to_vec(),
            };
            let a = Dense::quarters(&mut cases, &sizes(first_is_batch, [all_rows, all_inner]));
            let b = Dense::quarters(&mut cases, &sizes(second_is_batch, [all_inner, all_columns]));
            let dtype =
                cases.one(&[api::SCONCE_DTYPE_F32, api::SCONCE_DTYPE_F16, api::SCONCE_DTYPE_BF16]);
            let (first, second) = (
                operand(&a, cases.int(0, 1) == 1, dtype),
                operand(&b, cases.int(0, 1) == 1, dtype),
            );
            let ends_of_groups = (!ends.is_empty()).then(|| offsets(&ends));
            let handle = ends_of_groups.as_ref().map(Tensor::handle);
            let found = grouped_mm(first.handle(), second.handle(), handle, Some(dtype)).unwrap();
            let group_of = |at: i64| ends.iter().position(|end| at < *end).map(|at| at as i64);
            let is_batch_of_results = first_is_batch == second_is_batch;
            let expected =
                Dense::build(&sizes(is_batch_of_results, [all_rows, all_columns]), |at| {
                    let (row, column) = (at[at.len() - 2], at[at.len() - 1]);
                    let group = match (first_is_batch, second_is_batch) {
                        (false, true) => group_of(row),
                        (true, false) => group_of(column),
                        _ => Some(at[0]),
                    };
                    let Some(group) = group else { return 0.0 };
                    let value = |values: &Dense, row, column| match values.sizes.len() {
                        3 => values.at(&[group, row, column]),
                        _ => values.at(&[row, column]),
                    };
                    (0..all_inner)
                        .filter(|at| {
                            first_is_batch || second_is_batch || group_of(*at) == Some(group)
                        })
                        .map(|at| value(&a, row, at) * value(&b, at, column))
                        .sum()
                });
            let within = if dtype == api::SCONCE_DTYPE_F32 { 1e-5 } else { 1e-2 };
            expected.assert_near(found.handle(), within, "products");
            let strides = strides_of(found.handle()).unwrap();
            let step = ALIGNMENT / bytes_of(dtype).unwrap() as i64;
            assert!(strides[strides.len() - 2] % step == 0, "{strides:?}");
        }
        assert_eq!(live(), before);
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        let f32 = api::SCONCE_DTYPE_F32;
        let of = |sizes: &[i64]| operand(&Dense::build(sizes, |_| 1.0), false, f32);
        let [a, b, batch] = [of(&[10, 8]), of(&[3, 8, 4]), of(&[3, 10, 8])];
        let refused = |a: &Tensor, b: &Tensor, offs: Option<&Tensor>, out, words: &str| {
            let error = grouped_mm(a.handle(), b.handle(), offs.map(Tensor::handle), out);
            let message = error.err().unwrap().message;
            assert!(message.contains(words), "{message}");
        };
        let ends = offsets(&[2, 5, 9]);
        refused(&a, &b, None, None, "Have to provide offsets");
        refused(&batch, &b, Some(&ends), None, "no offset if both");
        refused(&a, &b, Some(&offsets(&[2, 5])), None, "batch sizes have to match");
        refused(&a, &b, Some(&offsets(&[5, 2, 9])), None, "at least as large as the one before");
        refused(&a, &b, Some(&offsets(&[2, 5, 11])), None, "at most 10");
        refused(&a, &b, Some(&offsets(&[-1, 5, 9])), None, "offs is [-1, 5, 9]");
        let long = operations::to_dtype(ends.handle(), api::SCONCE_DTYPE_I64).unwrap();
        refused(&a, &b, Some(&long), None, "Offsets have to be int32");
        let square = operations::reshape(ends.handle(), &[1, 3]).unwrap();
        refused(&a, &b, Some(&square), None, "1D");
        refused(&a, &b, Some(&ends), Some(api::SCONCE_DTYPE_F16), "must match");
        refused(&a, &of(&[3, 7, 4]), Some(&ends), None, "contraction dimension");
        refused(&batch, &of(&[2, 8, 4]), None, None, "batched dimension");
        refused(&of(&[1, 2, 3, 4]), &b, Some(&ends), None, "2 or 3d");
        let wide = operations::to_dtype(a.handle(), api::SCONCE_DTYPE_F64).unwrap();
        refused(&wide, &b, Some(&ends), None, "Float32, BFloat16 or Float16");
        let half = operand(&Dense::build(&[3, 8, 4], |_| 1.0), false, api::SCONCE_DTYPE_F16);
        refused(&a, &half, Some(&ends), None, "mat_b dtype");
        let odd = Dense::build(&[10, 7], |_| 1.0).tensor(f32);
        refused(&odd, &of(&[3, 7, 4]), Some(&ends), None, "multiple of 16 bytes");
        let gaps = operations::slice(of(&[10, 16]).handle(), 1, None, None, 2).unwrap();
        refused(&gaps, &b, Some(&ends), None, "one after another");
    }
}
