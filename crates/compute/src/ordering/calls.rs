//! The descriptions of the calls of this module.

use sconce_base::element::{Dtype, KeyOrder};
use sconce_base::error::{Error, Result};
use sconce_driver::RawAddress;

/// Where an operand lies.
#[derive(Clone, Copy, Debug)]
pub struct PlacedOperand<'a> {
    /// The element whose indices are 0.
    pub address: RawAddress,
    /// A stride for each axis of the call, in elements.
    pub strides: &'a [i64],
}

/// A sort along an axis. Equal elements always keep their order. The outputs overlap neither each other
/// nor the input.
#[derive(Clone, Copy, Debug)]
pub struct SortCall<'a> {
    /// The type of input and values.
    pub dtype: Dtype,
    /// The size of each axis; there is at least one.
    pub sizes: &'a [i64],
    /// The axis that is sorted along.
    pub axis: usize,
    /// Whether the largest element comes first.
    pub descending: bool,
    /// What is sorted.
    pub input: PlacedOperand<'a>,
    /// The elements in order.
    pub values: PlacedOperand<'a>,
    /// Where each element was along the axis, as I64.
    pub indices: PlacedOperand<'a>,
}

/// The longest axis that torch sorts along.
const LONGEST: i64 = i32::MAX as i64;
/// Bytes of an index.
pub(super) const INDEX_BYTES: usize = 8;

impl SortCall<'_> {
    /// Elements along the axis.
    pub(super) fn length(&self) -> Result<u32> {
        let length = self.sizes[self.axis];
        if length > LONGEST {
            return Err(Error::not_supported(format!(
                "The dimension being sorted can not have more than INT_MAX elements, but it has \
                 {length}; sort parts of it"
            )));
        }
        Ok(length as u32)
    }

    pub(super) fn order(&self) -> Result<KeyOrder> {
        KeyOrder::of(self.dtype, self.descending).ok_or_else(|| {
            Error::not_supported(format!(
                "sort takes integers, bool and real floats of 16 bits and more, not {}",
                self.dtype.name()
            ))
        })
    }
}

/// The indices of a selection.
#[derive(Clone, Copy, Debug)]
pub struct SelectIndex {
    /// The first index.
    pub address: RawAddress,
    /// I32 or I64.
    pub dtype: Dtype,
    /// From one index to the next, in elements.
    pub stride: i64,
}

/// A selection along an axis: `output[…, k, …] = input[…, index[k], …]`. The output overlaps neither the
/// input nor the indices.
#[derive(Clone, Copy, Debug)]
pub struct SelectCall<'a> {
    /// The type of input and output.
    pub dtype: Dtype,
    /// The sizes of the output; along the axis, the number of indices.
    pub sizes: &'a [i64],
    /// The axis that is selected along.
    pub axis: usize,
    /// The input's size along the axis.
    pub input_size: i64,
    /// What is selected from.
    pub input: PlacedOperand<'a>,
    /// The selected elements.
    pub output: PlacedOperand<'a>,
    /// Where along the axis each is taken from.
    pub index: SelectIndex,
}

impl SelectIndex {
    /// Bytes of an index.
    pub(super) fn width(&self) -> Result<usize> {
        match self.dtype {
            Dtype::I32 | Dtype::I64 => Ok(self.dtype.bytes()),
            other => Err(Error::invalid_argument(format!(
                "index_select(): Expected dtype int32 or int64 for index, but it is {}",
                other.name()
            ))),
        }
    }
}

/// An operand that is joined with others.
#[derive(Clone, Copy, Debug)]
pub struct JoinPart<'a> {
    /// Elements along the joined axis.
    pub size: i64,
    /// Where it lies.
    pub operand: PlacedOperand<'a>,
}

/// Operands of one type, joined along an axis. The output overlaps none of them.
#[derive(Clone, Copy, Debug)]
pub struct JoinCall<'a> {
    /// The type of all operands.
    pub dtype: Dtype,
    /// The sizes of the output; along the axis, the sum of the parts' sizes.
    pub sizes: &'a [i64],
    /// The axis that is joined along.
    pub axis: usize,
    /// What the parts are copied to.
    pub output: PlacedOperand<'a>,
    /// What is joined, in order.
    pub parts: &'a [JoinPart<'a>],
}
