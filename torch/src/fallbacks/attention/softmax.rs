//! The softmax of scores on the CPU, line by line and in place.

#![allow(unsafe_code, reason = "reads and writes elements")]

use crate::error::Result;
use crate::operations::layout::Layout;
use crate::operations::tensors::filled_like;
use crate::sconce::{Tensor, api};

/// What the loop needs of a type of numbers.
trait Real: Copy + PartialOrd + std::ops::Sub<Output = Self> + std::ops::AddAssign {
    const LEAST: Self;
    const ZERO: Self;
    fn exp(self) -> Self;
    fn ln(self) -> Self;
    fn over(self, other: Self) -> Self;
}

macro_rules! real {
    ($($kind:ident)*) => {$(
        impl Real for $kind {
            const LEAST: Self = $kind::NEG_INFINITY;
            const ZERO: Self = 0.0;
            fn exp(self) -> Self {
                self.exp()
            }
            fn ln(self) -> Self {
                self.ln()
            }
            fn over(self, other: Self) -> Self {
                self / other
            }
        }
    )*};
}
real!(f32 f64);

/// Turns contiguous scores of the CPU, in float32 or float64, into weights, and returns the logarithms of the sums of
/// exponentials. A line that is -∞ everywhere has weights of 0, and 0 as logarithm, as in PyTorch. The caller has the
/// only handle of the scores' memory.
pub(super) fn in_place(scores: &Tensor) -> Result<Tensor> {
    let layout = Layout::of(scores.handle())?;
    let (width, lines) = layout.sizes.split_last().map_or((&1, &[][..]), |split| split);
    let log_sums = filled_like(scores.handle(), lines, 0.0)?;
    let sums = Layout::of(log_sums.handle())?;
    let (width, count) = (*width as usize, sums.numel() as usize);
    if width == 0 || count == 0 {
        return Ok(log_sums);
    }
    if layout.dtype == api::SCONCE_DTYPE_F64 {
        // SAFETY: both tensors are contiguous, have this type, and belong to this function.
        let scores = unsafe { elements::<f64>(&layout) };
        // SAFETY: as above.
        each_line(scores, unsafe { elements(&sums) }, width);
    } else {
        // SAFETY: as above, with the other type of real numbers that scores have.
        let scores = unsafe { elements::<f32>(&layout) };
        // SAFETY: as above.
        each_line(scores, unsafe { elements(&sums) }, width);
    }
    Ok(log_sums)
}

/// The elements of a contiguous tensor of the CPU.
///
/// # Safety
/// The tensor has this type, and nobody else uses its memory during the result's life.
unsafe fn elements<'a, T>(layout: &Layout) -> &'a mut [T] {
    // SAFETY: the caller's promise.
    unsafe { std::slice::from_raw_parts_mut(layout.data.cast(), layout.numel() as usize) }
}

fn each_line<T: Real>(scores: &mut [T], sums: &mut [T], width: usize) {
    for (line, log_sum) in scores.chunks_exact_mut(width).zip(sums) {
        let mut largest = T::LEAST;
        for &score in &*line {
            if score > largest {
                largest = score;
            }
        }
        let is_nan = |score: &T| score.partial_cmp(score).is_none();
        if largest == T::LEAST && !line.iter().any(is_nan) {
            line.fill(T::ZERO);
            *log_sum = T::ZERO;
            continue;
        }
        let mut sum = T::ZERO;
        for score in &mut *line {
            *score = (*score - largest).exp();
            sum += *score;
        }
        for score in &mut *line {
            *score = score.over(sum);
        }
        let mut whole = sum.ln();
        whole += largest;
        *log_sum = whole;
    }
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
            let sizes = [cases.int(1, 3), cases.int(1, 4), cases.int(1, 6)];
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
