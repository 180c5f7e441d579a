//! The true elements of a mask, in order.
//!
//! On a device a block takes a tile of the mask. One kernel counts the true elements of each tile; from running sums of
//! these counts the blocks of another know where theirs go.

#![allow(unsafe_code, reason = "reads and writes elements, and launches kernels")]

use super::Mask;
use crate::abi::tensors::dtype_of_tensor;
use crate::error::{Error, Result};
use crate::kernels::{Grid, KernelArgument, images, launch};
use crate::operations::element::{read, write};
use crate::operations::layout::{Layout, contiguous_strides};
use crate::operations::tensors::{bytes_of, empty};
use crate::sconce::operations;
use crate::sconce::{Tensor, api};

// These are in `torch/kernels/selected.cu` too.
const MOST_AXES: usize = 16;
const THREADS: u32 = 256;
const EACH: u32 = 16;

#[derive(Clone, Copy)]
#[repr(C)]
struct Shape {
    size: [i64; MOST_AXES],
}

impl KernelArgument for Shape {}

/// The true elements of a mask.
pub(super) struct Selection<'a> {
    mask: &'a Mask,
    /// On a device, how many there are up to the end of each tile; none of a mask without elements.
    sums: Option<Tensor>,
}

impl Selection<'_> {
    pub(super) fn of(mask: &Mask) -> Result<Selection<'_>> {
        let count = mask.numel();
        if mask.device == api::SCONCE_DEVICE_CPU || count == 0 {
            return Ok(Selection { mask, sums: None });
        }
        let grid = tiles(count);
        let counts = empty(&[grid.blocks[0].into()], api::SCONCE_DTYPE_I64, mask.device)?;
        let (flat, to) = (Layout::of(mask.flat.handle())?, Layout::of(counts.handle())?);
        let name = "sconce_torch_selected_count";
        // SAFETY: the kernel has these parameters; there are `count` truth values, and a count for each tile.
        unsafe {
            launch(mask.device, &images::SELECTED, name, grid, &[&flat.data, &to.data, &count])
        }?;
        let (sums, whole) = (api::SCONCE_LINE_CUMSUM, api::SCONCE_DTYPE_I64);
        Ok(Selection { mask, sums: Some(operations::along(sums, counts.handle(), 0, whole)?) })
    }

    /// How many there are. The host waits for a device to count them.
    pub(super) fn count(&self) -> Result<i64> {
        let Some(sums) = &self.sums else { return self.count_on_cpu() };
        let last = i64::from(tiles(self.mask.numel()).blocks[0]) - 1;
        Ok(operations::item(operations::narrow(sums.handle(), 0, last, 1)?.handle())?.integer)
    }

    fn count_on_cpu(&self) -> Result<i64> {
        let flat = Layout::of(self.mask.flat.handle())?;
        let mut count = 0;
        for at in 0..self.mask.numel() {
            // SAFETY: there are as many truth values.
            count += i64::from(unsafe { read::<u8>(flat.data, at) } != 0);
        }
        Ok(count)
    }

    /// Writes the coordinates of the first `most`, in `sizes`, to rows of a result with these strides.
    pub(super) fn coordinates(
        &self,
        sizes: &[i64],
        result: &Layout,
        most: i64,
        strides: [i64; 2],
    ) -> Result<()> {
        let Some(sums) = &self.sums else {
            return self.coordinates_on_cpu(sizes, result, most, strides);
        };
        if sizes.len() > MOST_AXES {
            return Err(Error::not_supported(format!(
                "a mask of {} dimensions; the most on a device are {MOST_AXES}",
                sizes.len()
            )));
        }
        let mut shape = Shape { size: [1; MOST_AXES] };
        shape.size[..sizes.len()].copy_from_slice(sizes);
        let (flat, sums) = (Layout::of(self.mask.flat.handle())?, Layout::of(sums.handle())?);
        let (count, axes, [row, column]) = (self.mask.numel(), sizes.len() as u32, strides);
        let grid = tiles(count);
        let (flat, sums, to) = (flat.data, sums.data, result.data);
        // SAFETY: the kernel has these parameters; there are `count` truth values, a sum for each tile, and `most` rows.
        unsafe {
            launch(
                self.mask.device,
                &images::SELECTED,
                "sconce_torch_selected",
                grid,
                &[&flat, &sums, &to, &count, &most, &row, &column, &axes, &shape],
            )
        }
    }

    fn coordinates_on_cpu(
        &self,
        sizes: &[i64],
        result: &Layout,
        most: i64,
        [row, column]: [i64; 2],
    ) -> Result<()> {
        let flat = Layout::of(self.mask.flat.handle())?;
        let strides = contiguous_strides(sizes);
        let mut to = 0;
        for at in 0..self.mask.numel() {
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

    /// The elements of a flat tensor where the mask is true. The host waits for a device to count them.
    pub(super) fn take(&self, from: &Tensor) -> Result<Tensor> {
        let (count, dtype) = (self.count()?, dtype_of_tensor(from.handle())?);
        if let Some(sums) = &self.sums {
            let result = empty(&[count], dtype, self.mask.device)?;
            let from = operations::contiguous(from.handle())?;
            let name = format!("sconce_torch_selected_take_{}", bytes_of(dtype)?);
            let layouts =
                [&self.mask.flat, sums, &from, &result].map(|tensor| Layout::of(tensor.handle()));
            let [flat, sums, from, to] = layouts;
            let (flat, sums, from, to) = (flat?.data, sums?.data, from?.data, to?.data);
            let all = self.mask.numel();
            // SAFETY: the kernel has these parameters; there are `all` truth values and elements of this size, a sum
            // for each tile, and entries for all that are true.
            unsafe {
                launch(
                    self.mask.device,
                    &images::SELECTED,
                    &name,
                    tiles(all),
                    &[&flat, &sums, &from, &to, &all],
                )
            }?;
            return Ok(result);
        }
        let places = empty(&[count], api::SCONCE_DTYPE_I64, self.mask.device)?;
        let to = Layout::of(places.handle())?;
        self.coordinates(&[self.mask.numel()], &to, count, [1, 0])?;
        super::taken(from, &places)
    }
}

/// A block for each tile.
fn tiles(count: i64) -> Grid {
    Grid::of(count, THREADS, EACH)
}
