//! Images with any strides, read and written without gaps.
//!
//! Elements are walked in the order in which they lie in memory, so that rows without gaps are read
//! and written as a whole, whichever dimension is the innermost one.
#![forbid(unsafe_code)]

use sconce_base::element::Dtype;
use sconce_driver::{ConvolutionTensor, MOST_SPATIAL};

use crate::libraries::reals::{self, RealNumber, address_of};
use crate::memory::DeviceMemoryView;

/// The widest gaps, in elements, with which rows are read whole.
const WIDEST_GAP: i64 = 8;

/// A dimension: its number of elements, and the distance from one to the next in memory (`stride`) and
/// without gaps (`dense`).
#[derive(Clone, Copy)]
struct TensorAxis {
    size: usize,
    stride: i64,
    dense: usize,
}

/// A tensor in memory, or an image of one.
pub(crate) struct PlacedTensor {
    address: u64,
    element: Dtype,
    /// From the innermost in memory on.
    axes: Vec<TensorAxis>,
}

impl PlacedTensor {
    /// The whole tensor.
    pub(crate) fn whole(address: u64, element: Dtype, shape: &ConvolutionTensor) -> PlacedTensor {
        PlacedTensor::from_dimension(0, address, element, shape)
    }

    /// One of its first dimension.
    pub(crate) fn image(
        address: u64,
        element: Dtype,
        shape: &ConvolutionTensor,
        index: usize,
    ) -> Result<PlacedTensor, i32> {
        let address = address_of(address, element, shape.strides[0] * index as i64)?;
        Ok(PlacedTensor::from_dimension(1, address, element, shape))
    }

    fn from_dimension(
        first: usize,
        address: u64,
        element: Dtype,
        shape: &ConvolutionTensor,
    ) -> PlacedTensor {
        let mut all = Vec::with_capacity(2 + MOST_SPATIAL);
        let mut dense = 1;
        for dimension in (first..shape.sizes.len()).rev() {
            let size = shape.sizes[dimension] as usize;
            if size > 1 {
                all.push(TensorAxis { size, stride: shape.strides[dimension], dense });
            }
            dense *= size;
        }
        all.sort_by_key(|axis| axis.stride);
        let mut axes: Vec<TensorAxis> = Vec::with_capacity(all.len().max(1));
        for axis in all {
            match axes.last_mut() {
                // Where one ends the other goes on, in memory and without gaps: they are one.
                Some(last)
                    if last.stride * last.size as i64 == axis.stride
                        && last.dense * last.size == axis.dense =>
                {
                    last.size *= axis.size;
                }
                _ => axes.push(axis),
            }
        }
        if axes.is_empty() {
            axes.push(TensorAxis { size: 1, stride: 1, dense: 1 });
        }
        PlacedTensor { address, element, axes }
    }

    fn count(&self) -> usize {
        self.axes.iter().map(|axis| axis.size).product()
    }

    /// Calls `visit` with each row's first element: its address, and its index without gaps.
    fn rows(&self, mut visit: impl FnMut(u64, usize) -> Result<(), i32>) -> Result<(), i32> {
        let outer = &self.axes[1..];
        let mut index = vec![0; outer.len()];
        loop {
            let (mut offset, mut dense) = (0, 0);
            for (axis, at) in outer.iter().zip(&index) {
                offset += axis.stride * *at as i64;
                dense += axis.dense * at;
            }
            visit(address_of(self.address, self.element, offset)?, dense)?;
            let Some(turn) = (0..outer.len()).find(|axis| index[*axis] + 1 < outer[*axis].size)
            else {
                return Ok(());
            };
            index[turn] += 1;
            index[..turn].fill(0);
        }
    }

    /// Checks the first element and the last, before host memory is allocated for all.
    pub(crate) fn check(&self, memory: &DeviceMemoryView<'_>) -> Result<(), i32> {
        let last: i64 = self.axes.iter().map(|axis| axis.stride * (axis.size as i64 - 1)).sum();
        let bytes = self.element.bytes() as u64;
        for offset in [0, last] {
            memory.covers(address_of(self.address, self.element, offset)?, bytes)?;
        }
        Ok(())
    }

    /// Reads all elements, the last dimension's next to each other.
    pub(crate) fn read<T: RealNumber>(
        &self,
        memory: &DeviceMemoryView<'_>,
        tf32: bool,
    ) -> Result<Vec<T>, i32> {
        self.check(memory)?;
        let mut values = reals::zeros::<T>(self.count())?;
        let TensorAxis { size, stride, dense } = self.axes[0];
        if stride == 1 && dense == 1 {
            self.rows(|address, at| {
                reals::read(memory, self.element, address, &mut values[at..at + size])
            })?;
        } else if stride <= WIDEST_GAP {
            let mut row = reals::zeros::<T>((size - 1) * stride as usize + 1)?;
            let memory = memory.with_gaps();
            self.rows(|address, at| {
                reals::read(&memory, self.element, address, &mut row)?;
                for (index, value) in row.iter().step_by(stride as usize).enumerate() {
                    values[at + index * dense] = *value;
                }
                Ok(())
            })?;
        } else {
            self.rows(|address, at| {
                (0..size).try_for_each(|index| {
                    let address = address_of(address, self.element, stride * index as i64)?;
                    let at = at + index * dense;
                    reals::read(memory, self.element, address, &mut values[at..=at])
                })
            })?;
        }
        if tf32 {
            values.iter_mut().for_each(|value| *value = value.to_tf32());
        }
        Ok(values)
    }

    /// Writes all elements, and nothing between them.
    pub(crate) fn write<T: RealNumber>(
        &self,
        memory: &DeviceMemoryView<'_>,
        values: &[T],
    ) -> Result<(), i32> {
        let TensorAxis { size, stride, dense } = self.axes[0];
        if stride == 1 && dense == 1 {
            return self.rows(|address, at| {
                reals::write(memory, self.element, address, &values[at..at + size])
            });
        }
        let mut row = reals::zeros::<T>(if stride == 1 { size } else { 1 })?;
        self.rows(|address, at| {
            for (piece, first) in (0..size).step_by(row.len()).enumerate() {
                for (index, value) in row.iter_mut().enumerate() {
                    *value = values[at + (first + index) * dense];
                }
                let offset = stride * (piece * row.len()) as i64;
                let address = address_of(address, self.element, offset)?;
                reals::write(memory, self.element, address, &row)?;
            }
            Ok(())
        })
    }
}
