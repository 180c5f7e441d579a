//! What steps take beside matrices.

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

/// Whole numbers of a batch: as many for each matrix as the step says.
#[derive(Clone, Copy, Debug)]
pub struct IntegerBatch {
    /// The first number of the first matrix.
    pub data: *mut i32,
    /// From one matrix to the next.
    pub step: i64,
}

impl IntegerBatch {
    /// Those from a place on.
    pub fn from(self, first: i64) -> IntegerBatch {
        IntegerBatch { data: self.data.wrapping_offset(first as isize), ..self }
    }

    /// Those of the matrices from one on.
    pub(super) fn entries(self, first: i64) -> IntegerBatch {
        self.from(first * self.step)
    }
}
