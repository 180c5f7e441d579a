//! Where a mask is true: nonzero, masked_select, masked_scatter.
//!
//! Running sums of the mask say where each true element goes. `nonzero` and `masked_select` read the last sum, which
//! the host waits for, as their results' sizes depend on it; the others do not wait.

#![allow(unsafe_code, reason = "reads and writes elements, and launches kernels")]

use crate::abi::tensors::{device_of_tensor, dtype_of_tensor, numel_of, rank_of, sizes_of};
use crate::error::{Error, Result};
use crate::kernels::{Argument, Grid, images, launch};
use crate::operations::element::{read, write};
use crate::operations::indexed::{Access, Indexed, List, Operand};
use crate::operations::layout::{Layout, broadcast, contiguous_strides};
use crate::operations::tensors::{check_device, empty, filled, name_of};
use crate::sconce::operations::{self, Operand as Value};
use crate::sconce::tensor::TensorHandle;
use crate::sconce::{Tensor, api};

// These are in `torch/kernels/selected.cu` too.
const MOST_AXES: usize = 16;
const THREADS: u32 = 256;

#[derive(Clone, Copy)]
#[repr(C)]
struct Shape {
    size: [i64; MOST_AXES],
}

impl Argument for Shape {}

/// Truth values in order, and how many are true up to and including each one.
struct Mask {
    flat: Tensor,
    sums: Tensor,
    sizes: Vec<i64>,
    device: i32,
}

impl Mask {
    /// Which elements of a tensor are not 0.
    fn of(tensor: TensorHandle) -> Result<Mask> {
        let sizes = sizes_of(tensor)?;
        let truth = match dtype_of_tensor(tensor)? {
            api::SCONCE_DTYPE_BOOL => Tensor::retained(tensor)?,
            _ => operations::binary(
                api::SCONCE_BINARY_NE,
                &Tensor::retained(tensor)?,
                Value::Number(0.0),
            )?,
        };
        let flat = operations::contiguous(
            operations::reshape(truth.handle(), &[numel_of(tensor)?])?.handle(),
        )?;
        let sums =
            operations::along(api::SCONCE_LINE_CUMSUM, flat.handle(), 0, api::SCONCE_DTYPE_I64)?;
        Ok(Mask { flat, sums, sizes, device: device_of_tensor(tensor)? })
    }

    /// As many values as the mask has, each once.
    fn numel(&self) -> i64 {
        self.sizes.iter().product()
    }

    /// How many are true. The host waits for it.
    fn count(&self) -> Result<i64> {
        match self.numel() {
            0 => Ok(0),
            numel => Ok(operations::item(
                operations::narrow(self.sums.handle(), 0, numel - 1, 1)?.handle(),
            )?
            .integer),
        }
    }

    /// Writes the coordinates of the first `most` true elements, in `sizes`, to rows of a result with these strides.
    fn coordinates(
        &self,
        sizes: &[i64],
        result: &Layout,
        most: i64,
        strides: [i64; 2],
    ) -> Result<()> {
        let (flat, sums) = (Layout::of(self.flat.handle())?, Layout::of(self.sums.handle())?);
        let [row, column] = strides;
        if self.device != api::SCONCE_DEVICE_CPU {
            if sizes.len() > MOST_AXES {
                return Err(Error::not_supported(format!(
                    "a mask of {} dimensions; the most on a device are {MOST_AXES}",
                    sizes.len()
                )));
            }
            let mut shape = Shape { size: [1; MOST_AXES] };
            shape.size[..sizes.len()].copy_from_slice(sizes);
            let (count, axes) = (self.numel(), sizes.len() as u32);
            let grid = Grid::of(count, THREADS, 1);
            let name = "sconce_torch_selected";
            // SAFETY: the kernel has these parameters; there are `count` truth values and sums, and `most` rows.
            return unsafe {
                launch(
                    self.device,
                    &images::SELECTED,
                    name,
                    grid,
                    &[
                        &flat.data,
                        &sums.data,
                        &result.data,
                        &count,
                        &most,
                        &row,
                        &column,
                        &axes,
                        &shape,
                    ],
                )
            };
        }
        let strides = contiguous_strides(sizes);
        let mut to = 0;
        for at in 0..self.numel() {
            // SAFETY: there are as many truth values.
            if to == most || unsafe { read::<u8>(flat.data, at) } == 0 {
                continue;
            }
            for (axis, (size, stride)) in (0_i64..).zip(sizes.iter().zip(&strides)) {
                // SAFETY: the result has `most` rows with a column for each axis.
                unsafe { write(result.data, to * row + axis * column, at / stride % size) };
            }
            to += 1;
        }
        Ok(())
    }

    /// The flat places of all true elements. The host waits for their number.
    fn places(&self) -> Result<Tensor> {
        let count = self.count()?;
        let places = empty(&[count], api::SCONCE_DTYPE_I64, self.device)?;
        self.coordinates(&[self.numel()], &Layout::of(places.handle())?, count, [1, 0])?;
        Ok(places)
    }
}

/// `nonzero(self)`: a row of coordinates for each element that is not 0, with the strides that PyTorch's has.
pub fn nonzero(tensor: TensorHandle) -> Result<Tensor> {
    let mask = Mask::of(tensor)?;
    let (count, rank) = (mask.count()?, mask.sizes.len() as i64);
    let columns = empty(&[rank, count], api::SCONCE_DTYPE_I64, mask.device)?;
    if count != 0 && rank != 0 {
        mask.coordinates(&mask.sizes, &Layout::of(columns.handle())?, count, [1, count])?;
    }
    operations::transpose(columns.handle(), 0, 1)
}

/// `nonzero_static(self, size, fill_value)`: the first `size` rows of `nonzero`, and others of the fill value.
pub fn nonzero_static(tensor: TensorHandle, size: i64, fill_value: i64) -> Result<Tensor> {
    if size < 0 {
        return Err(Error::invalid_argument(format!(
            "nonzero_static: 'size' must be an non-negative integer, but is {size}"
        )));
    }
    let mask = Mask::of(tensor)?;
    let rank = mask.sizes.len() as i64;
    let rows = filled(&[size, rank], api::SCONCE_DTYPE_I64, mask.device, fill_value as f64)?;
    if size != 0 && rank != 0 && mask.numel() != 0 {
        mask.coordinates(&mask.sizes, &Layout::of(rows.handle())?, size, [rank, 1])?;
    }
    Ok(rows)
}

fn check_mask(name: &str, mask: TensorHandle, device: i32) -> Result<()> {
    let dtype = dtype_of_tensor(mask)?;
    if dtype != api::SCONCE_DTYPE_BOOL {
        return Err(Error::invalid_argument(format!(
            "{name}: expected BoolTensor for mask, but got {}",
            name_of(dtype)
        )));
    }
    check_device("mask", device_of_tensor(mask)?, device)
}

/// The loop over flat indices of a flat tensor, beside a flat operand.
fn flat(table: &Layout, index: &Layout, other: &Layout) -> Indexed {
    let list = List { data: index.data, dim: 0, size: table.sizes[0], step: table.strides[0] };
    Indexed {
        device: table.device,
        dtype: table.dtype,
        sizes: index.sizes.clone(),
        table: Operand { data: table.data, strides: vec![0] },
        other: Operand { data: other.data, strides: other.strides.clone() },
        lists: vec![list],
        index_strides: index.strides.clone(),
        wide: true,
        from_end: false,
    }
}

/// Elements of a flat tensor at flat indices.
fn taken(table: &Tensor, index: &Tensor) -> Result<Tensor> {
    let (from, at) = (Layout::of(table.handle())?, Layout::of(index.handle())?);
    let result = empty(&at.sizes, from.dtype, from.device)?;
    let indexed = flat(&from, &at, &Layout::of(result.handle())?);
    // SAFETY: the operands were made for this loop; indices are checked where they are read.
    unsafe { indexed.run(Access::Get) }?;
    Ok(result)
}

/// `masked_select(self, mask)`: the host waits for the number of elements.
pub fn masked_select(tensor: TensorHandle, mask: TensorHandle) -> Result<Tensor> {
    check_mask("masked_select", mask, device_of_tensor(tensor)?)?;
    let sizes = broadcast(&[&sizes_of(tensor)?, &sizes_of(mask)?])?;
    let places = Mask::of(operations::expand(mask, &sizes)?.handle())?.places()?;
    let all = operations::reshape(
        operations::expand(tensor, &sizes)?.handle(),
        &[sizes.iter().product()],
    )?;
    taken(&all, &places)
}

/// The place of each element among those for which the mask is true; nonsense, but in range, for the others.
fn ranks(mask: &Mask) -> Result<Tensor> {
    let ranks = operations::binary(api::SCONCE_BINARY_SUB, &mask.sums, Value::Number(1.0))?;
    let ranks = operations::clamped_from(&ranks, 0.0)?;
    operations::to_dtype(ranks.handle(), api::SCONCE_DTYPE_I64)
}

/// `masked_scatter(self, mask, source)`: where the mask is true, the source's elements in order.
pub fn masked_scatter(
    tensor: TensorHandle,
    mask: TensorHandle,
    source: TensorHandle,
) -> Result<Tensor> {
    let device = device_of_tensor(tensor)?;
    check_mask("masked_scatter", mask, device)?;
    check_device("source", device_of_tensor(source)?, device)?;
    if dtype_of_tensor(source)? != dtype_of_tensor(tensor)? {
        return Err(Error::invalid_argument(format!(
            "masked_scatter: expected self and source to have same dtypes but got {} and {}",
            name_of(dtype_of_tensor(tensor)?),
            name_of(dtype_of_tensor(source)?)
        )));
    }
    let sizes = broadcast(&[&sizes_of(tensor)?, &sizes_of(mask)?])?;
    let (tensor, mask) = (operations::expand(tensor, &sizes)?, operations::expand(mask, &sizes)?);
    let counted = Mask::of(mask.handle())?;
    if counted.numel() == 0 {
        return operations::contiguous_copy(tensor.handle());
    }
    if device == api::SCONCE_DEVICE_CPU && counted.count()? > numel_of(source)? {
        return Err(Error::invalid_argument(
            "Number of elements of source < number of ones in mask",
        ));
    }
    let mut flat_source = operations::reshape(source, &[numel_of(source)?])?;
    if numel_of(source)? == 0 {
        // Nothing is taken of it if the mask is false everywhere; each index needs an element to be in range.
        flat_source = filled(&[1], dtype_of_tensor(source)?, device, 0.0)?;
    }
    let taken = taken(&flat_source, &ranks(&counted)?)?;
    let taken = operations::reshape(taken.handle(), &sizes)?;
    let mixed = operations::choose(&mask, Value::Tensor(&taken), Value::Tensor(&tensor))?;
    operations::contiguous(mixed.handle())
}

/// `masked_scatter_backward(grad_output, mask, sizes)`: the gradient of the source, whose sizes are given.
pub fn masked_scatter_backward(
    grad: TensorHandle,
    mask: TensorHandle,
    sizes: &[i64],
) -> Result<Tensor> {
    let device = device_of_tensor(grad)?;
    check_mask("masked_scatter_backward", mask, device)?;
    let numel: i64 = sizes.iter().product();
    // One element more takes what no element of the source was copied to.
    let places = filled(&[numel + 1], dtype_of_tensor(grad)?, device, 0.0)?;
    let mask = operations::expand(mask, &sizes_of(grad)?)?;
    let counted = Mask::of(mask.handle())?;
    if counted.numel() != 0 {
        let surplus = filled(&[1], api::SCONCE_DTYPE_I64, device, numel as f64)?;
        let index = operations::choose(
            &counted.flat,
            Value::Tensor(&ranks(&counted)?),
            Value::Tensor(&surplus),
        )?;
        let from = operations::contiguous(operations::reshape(grad, &[numel_of(grad)?])?.handle())?;
        let indexed = flat(
            &Layout::of(places.handle())?,
            &Layout::of(index.handle())?,
            &Layout::of(from.handle())?,
        );
        // SAFETY: the operands were made for this loop; indices are checked where they are read.
        unsafe { indexed.run(Access::Put) }?;
    }
    let used = operations::narrow(places.handle(), 0, 0, numel)?;
    operations::reshape(used.handle(), sizes)
}

/// The coordinates of true elements, a tensor for each dimension: what a mask stands for among indices.
pub fn columns(mask: TensorHandle) -> Result<Vec<Tensor>> {
    let rows = nonzero(mask)?;
    let rank = rank_of(mask)? as i64;
    let count = sizes_of(rows.handle())?[0];
    (0..rank)
        .map(|dim| {
            let column = operations::narrow(rows.handle(), 1, dim, 1)?;
            operations::reshape(column.handle(), &[count])
        })
        .collect()
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;
    use crate::abi::tensors::strides_of;
    use crate::operations::testing::{Random, content, indices, scattered_tensor, tensor, values};

    const F32: i32 = api::SCONCE_DTYPE_F32;
    const BOOL: i32 = api::SCONCE_DTYPE_BOOL;

    #[test]
    fn coordinates_of_what_is_not_zero_are_found_in_order() {
        let random = &mut Random(21);
        for round in 0..80 {
            let rank = random.size(0, 4) as usize;
            let sizes: Vec<i64> = (0..rank).map(|_| random.size(0, 4)).collect();
            let all = random.values(sizes.iter().product(), 3);
            let dtype = [F32, BOOL, api::SCONCE_DTYPE_I8, api::SCONCE_DTYPE_F16][round % 4];
            let own = scattered_tensor(&sizes, dtype, &all, random);
            let rows: Vec<Vec<i64>> = indices(&sizes)
                .into_iter()
                .zip(&all)
                .filter(|(_, value)| **value != 0.0)
                .map(|(at, _)| at)
                .collect();
            let flat = |rows: &[Vec<i64>]| -> Vec<f64> {
                rows.concat().iter().map(|&at| at as f64).collect()
            };
            let found = nonzero(own.handle()).unwrap();
            assert_eq!(
                content(&found),
                (vec![rows.len() as i64, rank as i64], flat(&rows)),
                "round {round}"
            );
            if rows.len() > 1 && rank > 1 {
                assert_eq!(strides_of(found.handle()).unwrap(), [1, rows.len() as i64]);
            }
            let size = random.size(0, 6);
            let mut some = rows;
            some.resize(size as usize, vec![-1; rank]);
            let found = nonzero_static(own.handle(), size, -1).unwrap();
            assert_eq!(content(&found), (vec![size, rank as i64], flat(&some)), "round {round}");
        }
    }

    #[test]
    fn masks_select_and_are_filled_in_order() {
        let random = &mut Random(22);
        for round in 0..80 {
            let rank = random.size(1, 3) as usize;
            let sizes = random.sizes(rank, 5);
            let count: i64 = sizes.iter().product();
            let (all, truth) = (random.values(count, 50), random.values(count, 2));
            let source = random.values(count + 2, 50);
            let own = scattered_tensor(&sizes, F32, &all, random);
            let mask = scattered_tensor(&sizes, BOOL, &truth, random);
            let from = tensor(&[count + 2], F32, &source);
            let chosen: Vec<f64> = all
                .iter()
                .zip(&truth)
                .filter(|(_, truth)| **truth != 0.0)
                .map(|(value, _)| *value)
                .collect();
            let found = masked_select(own.handle(), mask.handle()).unwrap();
            assert_eq!(
                content(&found),
                (vec![chosen.len() as i64], chosen.clone()),
                "round {round}"
            );
            let mut next = source.iter();
            let filled: Vec<f64> = all
                .iter()
                .zip(&truth)
                .map(|(value, truth)| if *truth == 0.0 { *value } else { *next.next().unwrap() })
                .collect();
            let found = masked_scatter(own.handle(), mask.handle(), from.handle()).unwrap();
            assert_eq!(content(&found), (sizes.clone(), filled), "round {round}");
            let mut gradient = chosen;
            gradient.resize(count as usize, 0.0);
            let found = masked_scatter_backward(own.handle(), mask.handle(), &sizes).unwrap();
            assert_eq!(content(&found), (sizes, gradient), "round {round}");
        }
    }

    #[test]
    fn masks_are_repeated_and_may_choose_nothing() {
        let own = tensor(&[2, 2], F32, &[1.0, 2.0, 3.0, 4.0]);
        let column = tensor(&[2, 1], BOOL, &[0.0, 1.0]);
        assert_eq!(
            values(masked_select(own.handle(), column.handle()).unwrap().handle()),
            [3.0, 4.0]
        );
        let row = tensor(&[1, 2], BOOL, &[0.0, 0.0]);
        assert_eq!(content(&masked_select(own.handle(), row.handle()).unwrap()), (vec![0], vec![]));
        let nothing = tensor(&[0], F32, &[]);
        let found = masked_scatter(own.handle(), row.handle(), nothing.handle()).unwrap();
        assert_eq!(values(found.handle()), [1.0, 2.0, 3.0, 4.0]);
    }

    #[test]
    fn wrong_arguments_are_refused_with_words() {
        let own = tensor(&[2], F32, &[1.0, 2.0]);
        let mask = tensor(&[2], BOOL, &[1.0, 1.0]);
        let refusal = |result: Result<Tensor>| result.unwrap_err().message;
        assert_eq!(
            refusal(masked_select(own.handle(), own.handle())),
            "masked_select: expected BoolTensor for mask, but got float32"
        );
        let long = tensor(&[3], BOOL, &[1.0; 3]);
        assert!(
            refusal(masked_select(own.handle(), long.handle())).contains("cannot be broadcast")
        );
        let few = tensor(&[1], F32, &[0.0]);
        assert_eq!(
            refusal(masked_scatter(own.handle(), mask.handle(), few.handle())),
            "Number of elements of source < number of ones in mask"
        );
        let double = tensor(&[2], api::SCONCE_DTYPE_F64, &[0.0; 2]);
        assert!(
            refusal(masked_scatter(own.handle(), mask.handle(), double.handle()))
                .contains("same dtypes")
        );
        assert!(refusal(nonzero_static(own.handle(), -1, 0)).contains("but is -1"));
    }
}
