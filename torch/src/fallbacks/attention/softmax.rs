//! The softmax of scores on the CPU, line by line and in place.

#![allow(unsafe_code, reason = "reads and writes elements")]

use std::ops::{Div, Range, Sub};

use crate::error::Result;
use crate::operations::element::Number;
use crate::operations::layout::Layout;
use crate::operations::tensors::filled_like;
use crate::sconce::{Tensor, api, parallel};

/// A type of real numbers, with what a softmax needs beyond [`Number`].
trait Real: Number + Sub<Output = Self> + Div<Output = Self> {
    fn exp(self) -> Self;
    fn ln(self) -> Self;
    /// Replaces numbers by their exponentials.
    fn exp_in_place(values: &mut [Self]) {
        values.iter_mut().for_each(|value| *value = value.exp());
    }
}

macro_rules! real {
    ($($kind:ident { $($more:item)* })*) => {$(
        impl Real for $kind {
            $($more)*
            fn exp(self) -> Self {
                self.exp()
            }
            fn ln(self) -> Self {
                self.ln()
            }
        }
    )*};
}
real! {
    f32 {
        #[cfg(target_arch = "x86_64")]
        fn exp_in_place(values: &mut [f32]) {
            crate::vectors::exp_in_place(values);
        }
    }
    f64 {}
}

/// Turns contiguous scores of the CPU, in float32 or float64, into weights, and returns the logarithms of the sums of
/// exponentials. A line that is -∞ everywhere has weights of 0, and 0 as logarithm, as in PyTorch. The caller has the
/// only handle of the scores' memory.
pub(super) fn in_place(scores: &Tensor) -> Result<Tensor> {
    let layout = Layout::of(scores.handle())?;
    let lines = layout.sizes.split_last().map_or(&[][..], |(_, lines)| lines);
    let log_sums = filled_like(scores.handle(), lines, 0.0)?;
    if layout.numel() == 0 {
        return Ok(log_sums);
    }
    let sums = Layout::of(log_sums.handle())?;
    if layout.dtype == api::SCONCE_DTYPE_F64 {
        // SAFETY: both tensors are contiguous, have this type, and belong to this function.
        unsafe { each_line_of::<f64>(&layout, &sums) }?;
    } else {
        // SAFETY: both tensors are contiguous, belong to this function, and have F32, the other type of real numbers
        // that scores have.
        unsafe { each_line_of::<f32>(&layout, &sums) }?;
    }
    Ok(log_sums)
}

/// # Safety
/// Both are layouts of contiguous tensors of the CPU, which have elements of this type, and nobody else uses their
/// memory meanwhile.
unsafe fn each_line_of<T: Real>(scores: &Layout, sums: &Layout) -> Result<()> {
    let (lines, width) = (sums.numel(), (scores.numel() / sums.numel()) as usize);
    let (scores, sums) = (SharedLines(scores.data.cast::<T>()), SharedLines(sums.data.cast::<T>()));
    parallel::for_range(0, lines, GRAIN / width as i64, &|begin, end| {
        let (begin, end) = (begin as usize, end as usize);
        // SAFETY: both tensors have elements of `T` one after another, and no two parts have the same lines.
        let values = unsafe { scores.slice(begin * width..end * width) };
        // SAFETY: the sums have an element of `T` for each line, and no two parts have the same lines.
        let log_sums = unsafe { sums.slice(begin..end) };
        for (line, log_sum) in values.chunks_exact_mut(width).zip(log_sums) {
            *log_sum = to_weights(line);
        }
        Ok(())
    })
}

/// Scores of a thread's part but the last: some 50 µs of exponentials.
const GRAIN: i64 = 1 << 14;

/// The memory of lines, of which threads take different ones.
struct SharedLines<T>(*mut T);

// SAFETY: `slice` makes its callers promise that no two threads use the same elements.
unsafe impl<T: Send> Sync for SharedLines<T> {}

impl<T> SharedLines<T> {
    /// # Safety
    /// The elements are there, and nobody else uses them during the result's life.
    #[allow(clippy::mut_from_ref, reason = "the caller promises that nobody else has them")]
    unsafe fn slice(&self, range: Range<usize>) -> &mut [T] {
        // SAFETY: `slice` demands that the elements of the range are there, so the first is within the memory or at its
        // end.
        let first = unsafe { self.0.add(range.start) };
        // SAFETY: `slice` demands that the elements of the range are there, and that nobody else uses them.
        unsafe { std::slice::from_raw_parts_mut(first, range.len()) }
    }
}

/// Turns the scores of a line into weights, and returns the logarithm of the sum of their exponentials.
fn to_weights<T: Real>(line: &mut [T]) -> T {
    let least = T::from_f64(f64::NEG_INFINITY);
    let largest = in_lanes(line, least, |most, score| if score > most { score } else { most });
    if largest == least && !line.iter().any(|score| score.is_nan()) {
        line.fill(T::ZERO);
        return T::ZERO;
    }
    for score in &mut *line {
        *score = *score - largest;
    }
    T::exp_in_place(line);
    let sum = in_lanes(line, T::ZERO, T::plus);
    for score in line {
        *score = *score / sum;
    }
    sum.ln().plus(largest)
}

/// How many partial results a line has: enough that vector instructions compute them, and that none waits for the last.
const LANES: usize = 16;

/// Combines the numbers of a line: every sixteenth in a partial result of its own, then these in their order.
fn in_lanes<T: Real>(line: &[T], start: T, combine: impl Fn(T, T) -> T) -> T {
    let (whole, rest) = line.as_chunks::<LANES>();
    let mut lanes = [start; LANES];
    for numbers in whole {
        for (lane, &number) in lanes.iter_mut().zip(numbers) {
            *lane = combine(*lane, number);
        }
    }
    lanes.iter().chain(rest).fold(start, |so_far, &number| combine(so_far, number))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;
    use crate::testing::{Cases, Dense};

    #[test]
    fn lines_agree_with_the_definition() {
        let mut cases = Cases::new(47);
        for round in 0..60 {
            let dtype = [api::SCONCE_DTYPE_F32, api::SCONCE_DTYPE_F64][round % 2];
            let sizes = [cases.int(1, 3), cases.int(1, 4), cases.int(1, 40)];
            let mut scores = Dense::quarters(&mut cases, &sizes);
            for score in &mut scores.values {
                if cases.int(0, 2) == 0 {
                    *score = f64::NEG_INFINITY;
                }
            }
            let width = sizes[2] as usize;
            let (mut weights, mut logs) = (Vec::new(), Vec::new());
            for line in scores.values.chunks(width) {
                let sum: f64 = line.iter().map(|score| score.exp()).sum();
                weights.extend(
                    line.iter().map(|score| if sum == 0.0 { 0.0 } else { score.exp() / sum }),
                );
                logs.push(if sum == 0.0 { 0.0 } else { sum.ln() });
            }
            let tensor = scores.tensor(dtype);
            let found = in_place(&tensor).unwrap();
            let weights = Dense { sizes: sizes.to_vec(), values: weights };
            weights.assert_near(tensor.handle(), 1e-5, "weights");
            let logs = Dense { sizes: sizes[..2].to_vec(), values: logs };
            logs.assert_near(found.handle(), 1e-5, "logarithms");
        }
    }

    #[test]
    fn a_nan_fills_its_line() {
        let values = vec![f64::NAN, 1.0, f64::NAN, f64::NEG_INFINITY, 0.0, 0.0];
        let tensor = Dense { sizes: vec![3, 2], values }.tensor(api::SCONCE_DTYPE_F32);
        in_place(&tensor).unwrap();
        let found = Dense::of(tensor.handle()).values;
        assert!(found[..4].iter().all(|value| value.is_nan()), "{found:?}");
        assert_eq!(found[4..], [0.5, 0.5]);
    }
}
