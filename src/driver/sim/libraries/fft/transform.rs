//! One transform after the other, from input to output.
//!
//! As in cuFFT nothing is scaled, a real output ignores the imaginary parts that a real signal cannot
//! have, and transforms to real numbers in two and three dimensions overwrite the input, here
//! with NaNs. In one dimension the input stays as it is.
#![forbid(unsafe_code)]

use std::sync::Arc;

use realfft::num_complex::Complex;
use realfft::{ComplexToReal, RealFftPlanner, RealToComplex};
use rustfft::{Fft, FftPlanner};

use super::side::TransformSide;
use super::stored::{StoredReal, load_complex, load_real, store_complex, store_real};
use crate::driver::sim::codes;
use crate::driver::sim::memory::{DeviceMemoryView, Intent, MemoryAccess};
use crate::driver::{FftDirection, FftKind, FftShape};

/// All bytes of a NaN.
const NO_NUMBER: u8 = 0xFF;

/// All transforms of a plan.
pub(crate) trait Calculation: Send + Sync {
    /// The memory that it reads and writes.
    fn accesses(&self, input: u64, output: u64) -> Vec<MemoryAccess>;

    /// Calculates, from memory to memory.
    fn run(
        &self,
        memory: &DeviceMemoryView<'_>,
        input: u64,
        output: u64,
        direction: FftDirection,
    ) -> Result<(), i32>;
}

/// The calculation of a shape that has been checked.
pub(crate) fn of<N: StoredReal>(shape: &FftShape) -> Box<dyn Calculation> {
    Box::new(Transforms::<N>::new(shape))
}

/// A dimension of complex numbers.
struct AxisTransform<N: StoredReal>(Arc<dyn Fft<N::Real>>);

/// The last dimension.
enum LastAxis<N: StoredReal> {
    Complex(AxisTransform<N>),
    ToComplex(Arc<dyn RealToComplex<N::Real>>),
    ToReal(Arc<dyn ComplexToReal<N::Real>>),
}

struct Transforms<N: StoredReal> {
    batch: i64,
    rank: usize,
    input: TransformSide,
    output: TransformSide,
    /// Sizes of the complex numbers' array.
    sizes: [usize; 3],
    /// Of the last dimension, in real numbers or complex ones.
    length: usize,
    last: LastAxis<N>,
    /// The dimensions before the last, outermost first.
    others: Vec<AxisTransform<N>>,
}

impl<N: StoredReal> Transforms<N> {
    fn new(shape: &FftShape) -> Transforms<N> {
        let mut planner = FftPlanner::new();
        let mut line = |size: i64| AxisTransform(planner.plan_fft_forward(size as usize));
        let length = shape.sizes[shape.rank - 1];
        let others = shape.sizes[..shape.rank - 1].iter().map(|size| line(*size)).collect();
        let last = match shape.kind {
            FftKind::C2C => LastAxis::Complex(line(length)),
            FftKind::R2C => {
                LastAxis::ToComplex(RealFftPlanner::new().plan_fft_forward(length as usize))
            }
            FftKind::C2R => {
                LastAxis::ToReal(RealFftPlanner::new().plan_fft_inverse(length as usize))
            }
        };
        let (real, complex) = (N::BYTES, 2 * N::BYTES);
        let side = |layout, halved, bytes| TransformSide::new(shape, layout, halved, bytes);
        let (input, output) = match shape.kind {
            FftKind::C2C => {
                (side(&shape.input, false, complex), side(&shape.output, false, complex))
            }
            FftKind::R2C => (side(&shape.input, false, real), side(&shape.output, true, complex)),
            FftKind::C2R => (side(&shape.input, true, complex), side(&shape.output, false, real)),
        };
        let sizes = shape.sizes_of(shape.kind != FftKind::C2C).map(|size| size as usize);
        let (batch, rank, length) = (shape.batch, shape.rank, length as usize);
        Transforms { batch, rank, input, output, sizes, length, last, others }
    }

    /// Transforms all dimensions but the last.
    fn others(&self, numbers: &mut [Complex<N::Real>], direction: FftDirection) {
        for (axis, line) in self.others.iter().enumerate() {
            let size = self.sizes[axis];
            let inner: usize = self.sizes[axis + 1..].iter().product();
            let mut lines = vec![Complex::default(); size * inner];
            for block in numbers.chunks_exact_mut(size * inner) {
                turn(block, &mut lines, inner);
                line.process(&mut lines, direction);
                turn(&lines, block, size);
            }
        }
    }

    fn to_real(
        &self,
        last: &dyn ComplexToReal<N::Real>,
        numbers: &mut [Complex<N::Real>],
    ) -> Result<Vec<N::Real>, i32> {
        let half = self.sizes[self.rank - 1];
        let mut results = vec![N::Real::default(); self.output.elements()];
        let mut scratch = last.make_scratch_vec();
        let rows = results.chunks_exact_mut(self.length);
        for (row, from) in rows.zip(numbers.chunks_exact_mut(half)) {
            from[0].im = N::Real::default();
            if self.length.is_multiple_of(2) {
                from[half - 1].im = N::Real::default();
            }
            last.process_with_scratch(from, row, &mut scratch).map_err(|_| codes::LAUNCH_FAILED)?;
        }
        Ok(results)
    }

    fn to_complex(
        &self,
        last: &dyn RealToComplex<N::Real>,
        reals: &mut [N::Real],
        numbers: &mut [Complex<N::Real>],
    ) -> Result<(), i32> {
        let mut scratch = last.make_scratch_vec();
        let rows = numbers.chunks_exact_mut(self.sizes[self.rank - 1]);
        for (row, from) in rows.zip(reals.chunks_exact_mut(self.length)) {
            last.process_with_scratch(from, row, &mut scratch).map_err(|_| codes::LAUNCH_FAILED)?;
        }
        Ok(())
    }
}

impl<N: StoredReal> AxisTransform<N> {
    /// With both parts of each number exchanged before and after, forward is inverse.
    fn process(&self, numbers: &mut [Complex<N::Real>], direction: FftDirection) {
        let exchange = |numbers: &mut [Complex<N::Real>]| {
            if direction == FftDirection::Inverse {
                numbers.iter_mut().for_each(|n| std::mem::swap(&mut n.re, &mut n.im));
            }
        };
        exchange(numbers);
        self.0.process(numbers);
        exchange(numbers);
    }
}

/// Rows of `columns` become columns.
fn turn<T: Copy>(from: &[T], into: &mut [T], columns: usize) {
    let rows = from.len() / columns;
    for (row, numbers) in from.chunks_exact(columns).enumerate() {
        for (column, number) in numbers.iter().enumerate() {
            into[column * rows + row] = *number;
        }
    }
}

impl<N: StoredReal> Transforms<N> {
    /// Whether the input is overwritten.
    fn spoils_input(&self) -> bool {
        self.rank > 1 && matches!(self.last, LastAxis::ToReal(_))
    }
}

impl<N: StoredReal> Calculation for Transforms<N> {
    fn accesses(&self, input: u64, output: u64) -> Vec<MemoryAccess> {
        let mut accesses = vec![
            self.input.access(Intent::Read, input, self.batch),
            self.output.access(Intent::Write, output, self.batch),
        ];
        if self.spoils_input() {
            accesses.push(self.input.access(Intent::Write, input, self.batch));
        }
        accesses
    }

    fn run(
        &self,
        memory: &DeviceMemoryView<'_>,
        input: u64,
        output: u64,
        direction: FftDirection,
    ) -> Result<(), i32> {
        let mut before = vec![0; self.input.packed_bytes()];
        let mut after = vec![0; self.output.packed_bytes()];
        let mut numbers = vec![Complex::default(); self.sizes.iter().product()];
        for transform in 0..self.batch {
            self.input.read(memory, input, transform, &mut before)?;
            match &self.last {
                LastAxis::Complex(line) => {
                    load_complex::<N>(&before, &mut numbers);
                    line.process(&mut numbers, direction);
                    self.others(&mut numbers, direction);
                    store_complex::<N>(&numbers, &mut after);
                }
                LastAxis::ToComplex(last) => {
                    let mut reals = vec![N::Real::default(); self.input.elements()];
                    load_real::<N>(&before, &mut reals);
                    self.to_complex(&**last, &mut reals, &mut numbers)?;
                    self.others(&mut numbers, direction);
                    store_complex::<N>(&numbers, &mut after);
                }
                LastAxis::ToReal(last) => {
                    load_complex::<N>(&before, &mut numbers);
                    self.others(&mut numbers, direction);
                    if self.spoils_input() {
                        before.fill(NO_NUMBER);
                        self.input.write(memory, input, transform, &before)?;
                    }
                    let reals = self.to_real(&**last, &mut numbers)?;
                    store_real::<N>(&reals, &mut after);
                }
            }
            self.output.write(memory, output, transform, &after)?;
        }
        Ok(())
    }
}
