//! Where values belong in sorted lines: searchsorted, bucketize, and repeat_interleave, which is made of it.

#![allow(unsafe_code, reason = "reads and writes elements, and launches kernels")]

use crate::abi::tensors::{device_of_tensor, dtype_of_tensor, sizes_of};
use crate::error::{Error, Result};
use crate::kernels::{Grid, images, launch};
use crate::operations::element::{Element, read, write};
use crate::operations::layout::Layout;
use crate::operations::tensors::{check_device, empty, filled, is_floating, name_of};
use crate::sconce::tensor::TensorHandle;
use crate::sconce::values::options;
use crate::sconce::{Tensor, api, operations};

// This is in `torch/kernels/search.cu` too.
const THREADS: u32 = 256;

/// How a search counts.
#[derive(Clone, Copy, Debug, Default)]
pub struct Search {
    /// Whether a value belongs behind the elements that are equal to it.
    pub right: bool,
    /// Whether the results are I32, else I64.
    pub narrow: bool,
}

impl Search {
    /// What `right` and `side` of PyTorch say together.
    pub fn new(right: bool, side: Option<&str>, narrow: bool) -> Result<Search> {
        let right = match side {
            None => right,
            Some("left") if right => {
                return Err(Error::invalid_argument(
                    "searchsorted(): side and right can't be set to opposites, got side of left while right \
                     was true",
                ));
            }
            Some("left") => false,
            Some("right") => true,
            Some(other) => {
                return Err(Error::invalid_argument(format!(
                    "searchsorted(): side can only be 'left' or 'right' but got {other}"
                )));
            }
        };
        Ok(Search { right, narrow })
    }
}

/// `searchsorted.Tensor(sorted_sequence, self, …, sorter)`
pub fn search_sorted(
    lines: TensorHandle,
    values: TensorHandle,
    order: Option<TensorHandle>,
    search: Search,
) -> Result<Tensor> {
    let (of_lines, of_values) = (sizes_of(lines)?, sizes_of(values)?);
    let (dtype, device) = (dtype_of_tensor(lines)?, device_of_tensor(lines)?);
    check_device("self", device_of_tensor(values)?, device)?;
    if dtype_of_tensor(values)? != dtype {
        return Err(Error::invalid_argument(format!(
            "searchsorted(): boundary tensor and input value tensor should have same dtype, but got boundary \
             tensor of {} and value tensor of {}",
            name_of(dtype),
            name_of(dtype_of_tensor(values)?)
        )));
    }
    let Some((&length, outer)) = of_lines.split_last() else {
        return Err(Error::invalid_argument(
            "searchsorted(): boundaries tensor should have at least one dimension",
        ));
    };
    let is_one_line = of_lines.len() == 1;
    if !is_one_line && of_values.split_last().map(|(_, outer)| outer) != Some(outer) {
        return Err(Error::invalid_argument(format!(
            "searchsorted(): boundaries tensor should be 1 dimension or the first N-1 dimensions of boundaries \
             tensor and input value tensor must match, but we got boundaries tensor {of_lines:?} and input value \
             tensor {of_values:?}"
        )));
    }
    if let Some(order) = order {
        check_order(order, &of_lines, device)?;
    }
    // Other types are searched as the one of these that holds their values.
    let common = match dtype {
        api::SCONCE_DTYPE_F32 | api::SCONCE_DTYPE_F16 | api::SCONCE_DTYPE_BF16 => {
            api::SCONCE_DTYPE_F32
        }
        api::SCONCE_DTYPE_F64 => dtype,
        _ => api::SCONCE_DTYPE_I64,
    };
    let as_common = |tensor| operations::contiguous(operations::to_dtype(tensor, common)?.handle());
    let (lines, values) = (as_common(lines)?, as_common(values)?);
    let order = order.map(operations::contiguous).transpose()?;
    let of_line = if is_one_line { 0 } else { of_values.last().copied().unwrap_or(1) };
    let dtype = if search.narrow { api::SCONCE_DTYPE_I32 } else { api::SCONCE_DTYPE_I64 };
    let result = empty(&of_values, dtype, device)?;
    let run = Run {
        lines: Layout::of(lines.handle())?,
        values: Layout::of(values.handle())?,
        order: order.as_ref().map(|order| Layout::of(order.handle())).transpose()?,
        result: Layout::of(result.handle())?,
        length,
        of_line,
        search,
    };
    run.run()?;
    Ok(result)
}

fn check_order(order: TensorHandle, sizes: &[i64], device: i32) -> Result<()> {
    check_device("sorter", device_of_tensor(order)?, device)?;
    if dtype_of_tensor(order)? != api::SCONCE_DTYPE_I64 {
        return Err(Error::invalid_argument(format!(
            "searchsorted(): sorter must be a tensor of long dtype but got dtype {}",
            name_of(dtype_of_tensor(order)?)
        )));
    }
    if sizes_of(order)? == sizes {
        return Ok(());
    }
    Err(Error::invalid_argument(format!(
        "searchsorted(): boundary and sorter must have the same size, but got boundary tensor {sizes:?} and got \
         sorter tensor {:?}",
        sizes_of(order)?
    )))
}

/// A search over contiguous operands.
struct Run {
    lines: Layout,
    values: Layout,
    order: Option<Layout>,
    result: Layout,
    length: i64,
    of_line: i64,
    search: Search,
}

impl Run {
    fn run(&self) -> Result<()> {
        let count = self.values.numel();
        if count == 0 {
            return Ok(());
        }
        if self.lines.is_on_cpu() {
            return match self.lines.dtype {
                api::SCONCE_DTYPE_F32 => self.on_cpu::<f32>(),
                api::SCONCE_DTYPE_F64 => self.on_cpu::<f64>(),
                _ => self.on_cpu::<i64>(),
            };
        }
        let name = match self.lines.dtype {
            api::SCONCE_DTYPE_F32 => "sconce_torch_search_f32",
            api::SCONCE_DTYPE_F64 => "sconce_torch_search_f64",
            _ => "sconce_torch_search_i64",
        };
        let order = self.order.as_ref().map_or(std::ptr::null_mut(), |order| order.data);
        let (right, narrow) = (u32::from(self.search.right), u32::from(self.search.narrow));
        let grid = Grid::of(count, THREADS, 1);
        // SAFETY: the kernel has these parameters; the operands are contiguous and have these sizes.
        unsafe {
            launch(
                self.lines.device,
                &images::SEARCH,
                name,
                grid,
                &[
                    &self.lines.data,
                    &self.values.data,
                    &order,
                    &self.result.data,
                    &count,
                    &self.length,
                    &self.of_line,
                    &right,
                    &narrow,
                ],
            )
        }
    }

    fn on_cpu<T: Element + PartialOrd>(&self) -> Result<()> {
        for at in 0..self.values.numel() {
            let begin = if self.of_line == 0 { 0 } else { at / self.of_line * self.length };
            // SAFETY: there are as many values.
            let value: T = unsafe { read(self.values.data, at) };
            let (mut low, mut high) = (0, self.length);
            while low < high {
                let middle = low + (high - low) / 2;
                let place = match &self.order {
                    // SAFETY: the order has a place for each element.
                    Some(order) => unsafe { read::<i64>(order.data, begin + middle) },
                    None => middle,
                };
                if !(0..self.length).contains(&place) {
                    return Err(Error::invalid_argument(
                        "searchsorted(): sorter index out of range",
                    ));
                }
                // SAFETY: the line has that many elements.
                let here: T = unsafe { read(self.lines.data, begin + place) };
                // Neither is true of a NaN, which belongs behind all numbers.
                let is_behind = if self.search.right { here > value } else { here >= value };
                if is_behind {
                    high = middle;
                } else {
                    low = middle + 1;
                }
            }
            if self.search.narrow {
                // SAFETY: there is a result for each value.
                unsafe { write(self.result.data, at, low as i32) };
            } else {
                // SAFETY: there is a result for each value, of 8 bytes where `narrow` is not set.
                unsafe { write(self.result.data, at, low) };
            }
        }
        Ok(())
    }
}

/// `searchsorted.Scalar(sorted_sequence, self, …, sorter)`
pub fn search_sorted_number(
    lines: TensorHandle,
    value: f64,
    order: Option<TensorHandle>,
    search: Search,
) -> Result<Tensor> {
    let (dtype, device) = (dtype_of_tensor(lines)?, device_of_tensor(lines)?);
    if is_floating(dtype) || value.fract() == 0.0 {
        let value = filled(&[], dtype, device, value)?;
        return search_sorted(lines, value.handle(), order, search);
    }
    // Integers beside a fraction become float32, as in PyTorch.
    let lines = operations::to_dtype(lines, api::SCONCE_DTYPE_F32)?;
    let value = filled(&[], api::SCONCE_DTYPE_F32, device, value)?;
    search_sorted(lines.handle(), value.handle(), order, search)
}

/// `repeat_interleave.Tensor(repeats, output_size)`: each index as often as its repeats say. Without `output_size` the
/// host waits for their sum.
pub fn repeat_interleave(repeats: TensorHandle, output_size: Option<i64>) -> Result<Tensor> {
    let (sizes, dtype) = (sizes_of(repeats)?, dtype_of_tensor(repeats)?);
    let device = device_of_tensor(repeats)?;
    if sizes.len() != 1 {
        return Err(Error::invalid_argument("repeat_interleave only accept 1D vector as repeat"));
    }
    let narrow = match dtype {
        api::SCONCE_DTYPE_I64 => false,
        api::SCONCE_DTYPE_I32 => true,
        _ => return Err(Error::invalid_argument("repeats has to be Long or Int tensor")),
    };
    if sizes[0] == 0 {
        return empty(&[0], dtype, device);
    }
    let sums = operations::along(api::SCONCE_LINE_CUMSUM, repeats, 0, api::SCONCE_DTYPE_I64)?;
    if device == api::SCONCE_DEVICE_CPU {
        check_repeats(&sums)?;
    }
    let total = match output_size {
        Some(size) => size,
        None => {
            operations::item(operations::narrow(sums.handle(), 0, sizes[0] - 1, 1)?.handle())?
                .integer
        }
    };
    let places = operations::arange(0, total, 1, &options(api::SCONCE_DTYPE_I64, device))?;
    search_sorted(sums.handle(), places.handle(), None, Search { right: true, narrow })
}

/// Refuses repeats below 0, of which the sums fall.
fn check_repeats(sums: &Tensor) -> Result<()> {
    let layout = Layout::of(sums.handle())?;
    let mut before = 0;
    for at in 0..layout.numel() {
        // SAFETY: there are as many sums.
        let sum = unsafe { read::<i64>(layout.data, at * layout.strides[0]) };
        if sum < before {
            return Err(Error::invalid_argument("repeats can not be negative"));
        }
        before = sum;
    }
    Ok(())
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;
    use crate::operations::testing::{Random, content, scattered_tensor, tensor};

    const I64: i32 = api::SCONCE_DTYPE_I64;

    #[test]
    fn values_are_found_where_counting_finds_them() {
        let random = &mut Random(6);
        let types = [
            api::SCONCE_DTYPE_F32,
            api::SCONCE_DTYPE_BF16,
            api::SCONCE_DTYPE_U8,
            I64,
            api::SCONCE_DTYPE_F64,
        ];
        for round in 0..100 {
            let dtype = types[round % types.len()];
            let (lines, length, wanted) = (random.size(1, 3), random.size(1, 9), random.size(1, 5));
            let mut all = random.values(lines * length, 10);
            all.chunks_mut(length as usize).for_each(|line| line.sort_by(f64::total_cmp));
            let values = random.values(lines * wanted, 11);
            let search = Search { right: round % 2 == 0, narrow: round % 3 == 0 };
            let of_lines = scattered_tensor(&[lines, length], dtype, &all, random);
            let of_values = scattered_tensor(&[lines, wanted], dtype, &values, random);
            let found = search_sorted(of_lines.handle(), of_values.handle(), None, search).unwrap();
            let expected: Vec<f64> = values
                .iter()
                .enumerate()
                .map(|(at, value)| {
                    let begin = at / wanted as usize * length as usize;
                    let line = &all[begin..begin + length as usize];
                    let before =
                        |here: &&f64| if search.right { *here <= value } else { *here < value };
                    line.iter().filter(before).count() as f64
                })
                .collect();
            assert_eq!(content(&found), (vec![lines, wanted], expected), "round {round}");
        }
    }

    #[test]
    fn an_order_stands_for_sorting_and_numbers_for_tensors() {
        let lines = tensor(&[3], I64, &[5.0, 1.0, 3.0]);
        let order = tensor(&[3], I64, &[1.0, 2.0, 0.0]);
        let search = Search::default();
        let find = |value: f64| {
            let found = search_sorted_number(lines.handle(), value, Some(order.handle()), search);
            content(&found.unwrap()).1[0]
        };
        assert_eq!([find(0.0), find(1.0), find(3.5), find(9.0)], [0.0, 0.0, 2.0, 3.0]);
        let nan =
            search_sorted_number(tensor(&[2], 0, &[1.0, 2.0]).handle(), f64::NAN, None, search);
        assert_eq!(content(&nan.unwrap()).1, [2.0]);
    }

    #[test]
    fn indices_are_repeated() {
        let repeats = tensor(&[4], I64, &[2.0, 0.0, 3.0, 1.0]);
        for size in [None, Some(6)] {
            let found = repeat_interleave(repeats.handle(), size).unwrap();
            assert_eq!(content(&found), (vec![6], vec![0.0, 0.0, 2.0, 2.0, 2.0, 3.0]));
        }
        assert_eq!(
            content(&repeat_interleave(tensor(&[0], I64, &[]).handle(), None).unwrap()),
            (vec![0], vec![])
        );
        let negative = tensor(&[2], I64, &[1.0, -1.0]);
        assert_eq!(
            repeat_interleave(negative.handle(), None).unwrap_err().message,
            "repeats can not be negative"
        );
    }

    #[test]
    fn wrong_arguments_are_refused_with_words() {
        let (lines, values) = (tensor(&[2, 3], I64, &[0.0; 6]), tensor(&[3, 1], I64, &[0.0; 3]));
        let refusal = |lines: &Tensor, values: &Tensor, order: Option<&Tensor>| {
            let order = order.map(Tensor::handle);
            search_sorted(lines.handle(), values.handle(), order, Search::default())
                .unwrap_err()
                .message
        };
        assert!(refusal(&lines, &values, None).contains("must match"));
        let single = tensor(&[2, 1], 0, &[0.0; 2]);
        assert!(refusal(&lines, &single, None).contains("should have same dtype"));
        let two = tensor(&[2, 1], I64, &[0.0; 2]);
        assert!(refusal(&lines, &two, Some(&values)).contains("must have the same size"));
        assert!(refusal(&tensor(&[], I64, &[0.0]), &two, None).contains("at least one dimension"));
        let far = tensor(&[2, 3], I64, &[9.0; 6]);
        assert!(refusal(&lines, &two, Some(&far)).contains("out of range"));
        assert!(Search::new(true, Some("left"), false).unwrap_err().message.contains("opposites"));
        assert!(Search::new(false, Some("up"), false).unwrap_err().message.contains("but got up"));
        assert!(Search::new(false, Some("right"), false).unwrap().right);
    }
}
