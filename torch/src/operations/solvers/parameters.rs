//! What steps take beside matrices.

use crate::abi::tensors::{data_of, dtype_of_tensor, is_contiguous, numel_of};
use crate::error::{Result, ensure};
use crate::sconce::{Tensor, api};

/// Parts of a matrix that are copied: what is below the diagonal.
pub const BELOW: u32 = 1;
/// What is above the diagonal.
pub const ABOVE: u32 = 2;
/// The diagonal.
pub const DIAGONAL: u32 = 4;
/// Ones on the diagonal, instead of what is there.
pub const ONES: u32 = 8;

/// `(1 + sqrt(17)) / 8`, which bounds the growth of elements of symmetric matrices. It is in `torch/kernels/solvers_symmetric.cu`, too.
pub const GROWTH: f64 = 0.640_388_203_202_208;

/// What a product does with what is there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UpdateMode {
    /// It replaces it.
    Set,
    /// It is subtracted.
    Subtract,
    /// It is subtracted; what is above the diagonal may keep its value.
    SubtractLower,
}

/// Whole numbers of a batch: as many for each matrix as the step says. The tensor has to live as long as this is used.
#[derive(Clone, Copy, Debug)]
pub struct IntegerBatch {
    /// The first number of the first matrix.
    pub data: *mut i32,
    /// From one matrix to the next.
    pub step: i64,
    /// How many numbers there are from the first one on.
    pub count: i64,
}

impl IntegerBatch {
    /// The numbers of a contiguous tensor of I32, so many for each matrix.
    pub fn of(tensor: &Tensor, step: i64) -> Result<IntegerBatch> {
        let (handle, format) = (tensor.handle(), api::SCONCE_MEMORY_FORMAT_CONTIGUOUS);
        ensure!(dtype_of_tensor(handle)? == api::SCONCE_DTYPE_I32);
        ensure!(is_contiguous(handle, format)?);
        Ok(IntegerBatch { data: data_of(handle)?.cast(), step, count: numel_of(handle)? })
    }

    /// Whether there are `each` numbers for each of so many matrices.
    pub(super) fn has(self, matrices: i64, each: i64) -> bool {
        matrices == 0 || (matrices - 1) * self.step + each <= self.count
    }

    /// Whether there is a number for each of so many matrices, one behind the other.
    pub(super) fn has_one_for_each(self, matrices: i64) -> bool {
        self.step == 1 && self.has(matrices, 1)
    }

    /// Those from a place on.
    pub fn from(self, first: i64) -> IntegerBatch {
        let data = self.data.wrapping_offset(first as isize);
        IntegerBatch { data, count: self.count - first, ..self }
    }

    /// Those of the matrices from one on.
    pub(super) fn entries(self, first: i64) -> IntegerBatch {
        self.from(first * self.step)
    }
}
