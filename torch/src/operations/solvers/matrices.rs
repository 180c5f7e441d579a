//! Batches of matrices as the steps of a solution see them, and tensors whose matrices lie column by column.

use std::ffi::c_void;
use std::ops::Range;

use crate::abi::tensors::{device_of_tensor, dtype_of_tensor, sizes_of};
use crate::error::Result;
use crate::kernels::KernelArgument;
use crate::operations::layout::{Layout, contiguous_strides};
use crate::operations::tensors::{bytes_of, refused_type};
use crate::sconce::tensor::TensorHandle;
use crate::sconce::values::{integer, options};
use crate::sconce::{Tensor, api, operations};

/// Where the elements of matrices lie, as kernels take it (`View` in `solvers/field.cuh`). Strides count elements and
/// may be negative.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct View {
    /// The first element of the first matrix.
    pub data: *mut c_void,
    /// From one row to the next.
    pub row: i64,
    /// From one column to the next.
    pub column: i64,
    /// From one matrix to the next.
    pub batch: i64,
}

impl KernelArgument for View {}

/// A batch of matrices, or the same part of each. The tensor has to live as long as this is used.
#[derive(Clone, Copy, Debug)]
pub struct Matrices {
    /// Where the elements lie.
    pub view: View,
    /// Rows of a matrix.
    pub rows: i64,
    /// Columns of a matrix.
    pub columns: i64,
    /// The number of matrices.
    pub count: i64,
    /// Sconce's data type.
    pub dtype: i32,
    /// Sconce's device.
    pub device: i32,
    /// Whether the conjugate of what is in memory is meant.
    pub is_conjugate: bool,
    /// Bytes of an element.
    bytes: i64,
}

impl Matrices {
    /// Those of a tensor whose matrices lie one after another, as those of [`by_columns`] and contiguous ones do.
    pub fn of(tensor: &Tensor) -> Result<Matrices> {
        let layout = Layout::of(tensor.handle())?;
        let rank = layout.rank();
        let (rows, columns) = (layout.sizes[rank - 2], layout.sizes[rank - 1]);
        Ok(Matrices {
            view: View {
                data: layout.data,
                row: layout.strides[rank - 2],
                column: layout.strides[rank - 1],
                batch: rows * columns,
            },
            rows,
            columns,
            count: layout.sizes[..rank - 2].iter().product(),
            dtype: layout.dtype,
            device: layout.device,
            is_conjugate: false,
            bytes: bytes_of(layout.dtype)? as i64,
        })
    }

    /// As [`Matrices::of`], of a contiguous tensor of vectors, which are one column each.
    pub fn of_vectors(tensor: &Tensor) -> Result<Matrices> {
        let column = operations::unsqueeze(tensor.handle(), -1)?;
        let mut vectors = Matrices::of(&column)?;
        // Whatever the stride of a single element is.
        vectors.view = View { row: 1, batch: vectors.rows, ..vectors.view };
        Ok(vectors)
    }

    fn moved(self, elements: i64) -> View {
        let bytes = (elements * self.bytes) as isize;
        View { data: self.view.data.wrapping_byte_offset(bytes), ..self.view }
    }

    /// Some rows and columns of each.
    pub fn part(self, rows: Range<i64>, columns: Range<i64>) -> Matrices {
        let offset = rows.start * self.view.row + columns.start * self.view.column;
        Matrices {
            view: self.moved(offset),
            rows: rows.end - rows.start,
            columns: columns.end - columns.start,
            ..self
        }
    }

    /// Some rows of each.
    pub fn rows_of(self, rows: Range<i64>) -> Matrices {
        self.part(rows, 0..self.columns)
    }

    /// Some columns of each.
    pub fn columns_of(self, columns: Range<i64>) -> Matrices {
        self.part(0..self.rows, columns)
    }

    /// Some matrices of the batch.
    pub fn entries(self, entries: Range<i64>) -> Matrices {
        let view = self.moved(entries.start * self.view.batch);
        Matrices { view, count: entries.end - entries.start, ..self }
    }

    /// With rows and columns exchanged.
    pub fn transposed(self) -> Matrices {
        let view = View { row: self.view.column, column: self.view.row, ..self.view };
        Matrices { view, rows: self.columns, columns: self.rows, ..self }
    }

    /// The conjugate.
    pub fn conjugate(self) -> Matrices {
        Matrices { is_conjugate: !self.is_conjugate, ..self }
    }

    /// The conjugate with rows and columns exchanged.
    pub fn adjoint(self) -> Matrices {
        self.transposed().conjugate()
    }

    /// With the last row first.
    pub fn rows_reversed(self) -> Matrices {
        let moved = self.moved((self.rows - 1).max(0) * self.view.row);
        Matrices { view: View { row: -self.view.row, ..moved }, ..self }
    }

    /// With the last row and the last column first, which makes an upper triangle a lower one.
    pub fn reversed(self) -> Matrices {
        self.rows_reversed().transposed().rows_reversed().transposed()
    }

    /// Whether the matrices are in memory of the CPU.
    pub fn is_on_cpu(&self) -> bool {
        self.device == api::SCONCE_DEVICE_CPU
    }

    /// Whether there are as many matrices of the same type and device: what a step takes together.
    pub fn is_like(&self, other: &Matrices) -> bool {
        (self.count, self.dtype, self.device) == (other.count, other.dtype, other.device)
    }

    /// Whether there is no element.
    pub fn is_empty(&self) -> bool {
        self.rows == 0 || self.columns == 0 || self.count == 0
    }
}

/// Refuses types whose equations are not solved.
pub fn check_field(dtype: i32) -> Result<()> {
    match dtype {
        api::SCONCE_DTYPE_F32
        | api::SCONCE_DTYPE_F64
        | api::SCONCE_DTYPE_C64
        | api::SCONCE_DTYPE_C128 => Ok(()),
        other => Err(refused_type(other)),
    }
}

/// The type of the parts of a complex type; a real type itself.
pub fn real_type(dtype: i32) -> i32 {
    crate::operations::views::real_of(dtype).unwrap_or(dtype)
}

/// A tensor whose matrices lie one after another, each column by column, as results of LAPACK. Values are not set.
pub fn by_columns(sizes: &[i64], dtype: i32, device: i32) -> Result<Tensor> {
    let rank = sizes.len();
    let mut exchanged = sizes.to_vec();
    exchanged.swap(rank - 2, rank - 1);
    let mut strides = contiguous_strides(&exchanged);
    strides.swap(rank - 2, rank - 1);
    let options = options(dtype, device);
    operations::empty_strided(sizes, &strides, &options)
}

/// A copy whose matrices lie one after another, each column by column; repeated to `batch`.
pub fn copied_by_columns(tensor: TensorHandle, batch: &[i64]) -> Result<Tensor> {
    let own = sizes_of(tensor)?;
    let sizes = [batch, &own[own.len() - 2..]].concat();
    let copy = by_columns(&sizes, dtype_of_tensor(tensor)?, device_of_tensor(tensor)?)?;
    operations::copy(&copy, tensor)?;
    Ok(copy)
}

/// A tensor of I32 that is 0.
pub fn zeros_of_i32(sizes: &[i64], device: i32) -> Result<Tensor> {
    operations::full(sizes, &integer(0), &options(api::SCONCE_DTYPE_I32, device))
}
