//! One transform of up to three dimensions, from bytes to bytes.
//!
//! Nothing is scaled except by a factor that the caller names, and a real output ignores the imaginary parts
//! that a real signal cannot have.

use std::marker::PhantomData;
use std::sync::Arc;

use realfft::num_complex::Complex;
use realfft::{ComplexToReal, FftError, RealFftPlanner, RealToComplex};
use rustfft::{Fft, FftPlanner};
use sconce_base::element::Dtype;
use sconce_driver::{FftDirection, FftKind};

use super::stored::{StoredHalf, StoredReal, load_complex, load_real, store_complex, store_real};

/// A transform whose numbers lie one after the other, the last dimension first.
pub trait PackedTransform: Send + Sync {
    /// Calculates, from the bytes of the input to those of the output, both as long as their numbers take. The
    /// results are multiplied by `factor`.
    fn run(
        &self,
        input: &[u8],
        output: &mut [u8],
        direction: FftDirection,
        factor: f64,
    ) -> Result<(), FftError>;
}

/// The transform of one to three sizes, each at least 1, in a type of real numbers: F16, F32 or F64. The sizes are
/// those of the real side.
pub fn packed_transform(kind: FftKind, real: Dtype, sizes: &[usize]) -> Box<dyn PackedTransform> {
    let axes = PackedAxes::new(kind, sizes);
    match real {
        Dtype::F64 => Box::new(StoredAxes::<f64>(axes, PhantomData)),
        Dtype::F32 => Box::new(StoredAxes::<f32>(axes, PhantomData)),
        _ => Box::new(StoredAxes::<StoredHalf>(axes, PhantomData)),
    }
}

/// A dimension of complex numbers.
struct AxisTransform(Arc<dyn Fft<f64>>);

/// The last dimension.
enum LastAxis {
    Complex(AxisTransform),
    ToComplex(Arc<dyn RealToComplex<f64>>),
    ToReal(Arc<dyn ComplexToReal<f64>>),
}

struct PackedAxes {
    /// Sizes of the complex numbers' array.
    sizes: Vec<usize>,
    /// Of the last dimension, in real numbers or complex ones.
    length: usize,
    last: LastAxis,
    /// The dimensions before the last, outermost first.
    others: Vec<AxisTransform>,
}

/// Dimensions between numbers in memory of one type.
struct StoredAxes<N>(PackedAxes, PhantomData<fn() -> N>);

impl PackedAxes {
    fn new(kind: FftKind, sizes: &[usize]) -> PackedAxes {
        let mut planner = FftPlanner::new();
        let mut line = |size: usize| AxisTransform(planner.plan_fft_forward(size));
        let (length, others) = sizes.split_last().map_or((1, sizes), |(last, rest)| (*last, rest));
        let last = match kind {
            FftKind::C2C => LastAxis::Complex(line(length)),
            FftKind::R2C => LastAxis::ToComplex(RealFftPlanner::new().plan_fft_forward(length)),
            FftKind::C2R => LastAxis::ToReal(RealFftPlanner::new().plan_fft_inverse(length)),
        };
        let half = if kind == FftKind::C2C { length } else { length / 2 + 1 };
        let complex_sizes = others.iter().copied().chain([half]).collect();
        let others = others.iter().map(|size| line(*size)).collect();
        PackedAxes { sizes: complex_sizes, length, last, others }
    }

    /// Complex numbers of the last dimension.
    fn half(&self) -> usize {
        self.sizes[self.others.len()]
    }

    /// Transforms all dimensions but the last.
    fn others(&self, numbers: &mut [Complex<f64>], direction: FftDirection) {
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
        last: &dyn ComplexToReal<f64>,
        numbers: &mut [Complex<f64>],
    ) -> Result<Vec<f64>, FftError> {
        let half = self.half();
        let rows: usize = numbers.len() / half;
        let mut results = vec![0.0; rows * self.length];
        let mut scratch = last.make_scratch_vec();
        let rows = results.chunks_exact_mut(self.length);
        for (row, from) in rows.zip(numbers.chunks_exact_mut(half)) {
            from[0].im = 0.0;
            if self.length.is_multiple_of(2) {
                from[half - 1].im = 0.0;
            }
            last.process_with_scratch(from, row, &mut scratch)?;
        }
        Ok(results)
    }

    fn to_complex(
        &self,
        last: &dyn RealToComplex<f64>,
        reals: &mut [f64],
        numbers: &mut [Complex<f64>],
    ) -> Result<(), FftError> {
        let mut scratch = last.make_scratch_vec();
        let rows = numbers.chunks_exact_mut(self.half());
        for (row, from) in rows.zip(reals.chunks_exact_mut(self.length)) {
            last.process_with_scratch(from, row, &mut scratch)?;
        }
        Ok(())
    }
}

impl AxisTransform {
    /// With both parts of each number exchanged before and after, forward is inverse.
    fn process(&self, numbers: &mut [Complex<f64>], direction: FftDirection) {
        let exchange = |numbers: &mut [Complex<f64>]| {
            if direction == FftDirection::Inverse {
                numbers.iter_mut().for_each(|n| std::mem::swap(&mut n.re, &mut n.im));
            }
        };
        exchange(numbers);
        self.0.process(numbers);
        exchange(numbers);
    }
}

/// Rows and columns that are turned at a time: their lines of the cache are used whole before they are evicted.
const SIDE: usize = 8;

/// Rows of `columns` become columns.
fn turn<T: Copy>(from: &[T], into: &mut [T], columns: usize) {
    let rows = from.len() / columns;
    for first in (0..rows).step_by(SIDE) {
        let count = SIDE.min(rows - first);
        for start in (0..columns).step_by(SIDE) {
            for column in start..columns.min(start + SIDE) {
                let into = &mut into[column * rows + first..][..count];
                let from = from[first * columns + column..].iter().step_by(columns);
                into.iter_mut().zip(from).for_each(|(into, number)| *into = *number);
            }
        }
    }
}

impl<N: StoredReal> PackedTransform for StoredAxes<N> {
    fn run(
        &self,
        input: &[u8],
        output: &mut [u8],
        direction: FftDirection,
        factor: f64,
    ) -> Result<(), FftError> {
        let StoredAxes(axes, _) = self;
        let factor = (factor != 1.0).then_some(factor);
        let mut numbers = vec![Complex::default(); axes.sizes.iter().product()];
        match &axes.last {
            LastAxis::Complex(line) => {
                load_complex::<N>(input, &mut numbers);
                line.process(&mut numbers, direction);
                axes.others(&mut numbers, direction);
            }
            LastAxis::ToComplex(last) => {
                let mut reals = vec![0.0; input.len() / N::BYTES];
                load_real::<N>(input, &mut reals);
                axes.to_complex(&**last, &mut reals, &mut numbers)?;
                axes.others(&mut numbers, direction);
            }
            LastAxis::ToReal(last) => {
                load_complex::<N>(input, &mut numbers);
                axes.others(&mut numbers, direction);
                let mut reals = axes.to_real(&**last, &mut numbers)?;
                if let Some(factor) = factor {
                    reals.iter_mut().for_each(|real| *real *= factor);
                }
                store_real::<N>(&reals, output);
                return Ok(());
            }
        }
        if let Some(factor) = factor {
            numbers.iter_mut().for_each(|number| *number = number.scale(factor));
        }
        store_complex::<N>(&numbers, output);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_become_columns() {
        for (rows, columns) in [(1, 1), (3, 20), (8, 8), (17, 9)] {
            let from: Vec<usize> = (0..rows * columns).collect();
            let mut into = vec![usize::MAX; from.len()];
            turn(&from, &mut into, columns);
            let expected = (0..from.len()).map(|at| at % rows * columns + at / rows);
            assert!(into.iter().copied().eq(expected), "{rows} rows of {columns}");
        }
    }

    #[test]
    fn results_are_scaled_by_the_factor() {
        for (kind, inputs, outputs) in
            [(FftKind::C2C, 8, 8), (FftKind::R2C, 4, 6), (FftKind::C2R, 6, 4)]
        {
            let values: Vec<u8> =
                (0..inputs).flat_map(|i| (1.5_f64 + f64::from(i)).to_le_bytes()).collect();
            let transform = packed_transform(kind, Dtype::F64, &[4]);
            let results = |factor| {
                let mut bytes = vec![0; 8 * outputs];
                let forward = FftDirection::Forward;
                assert!(transform.run(&values, &mut bytes, forward, factor).is_ok());
                let numbers = bytes.as_chunks().0.iter().map(|bytes| f64::from_le_bytes(*bytes));
                numbers.collect::<Vec<f64>>()
            };
            let scaled: Vec<f64> = results(1.0).iter().map(|value| value * 0.25).collect();
            assert_eq!(results(0.25), scaled, "{kind:?}");
            assert!(scaled.iter().any(|value| *value != 0.0));
        }
    }
}
