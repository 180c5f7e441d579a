//! Running maxima, minima and logarithms of sums: cummax, cummin, logcumsumexp.

#![allow(unsafe_code, reason = "reads and writes elements, and launches kernels")]

use crate::error::Result;
use crate::kernels::{Grid, images, launch};
use crate::operations::element::{Element, Number, read, write};
use crate::operations::layout::{Layout, dimension};
use crate::operations::tensors::{Sorted, empty, kernel_name_of, refused_type};
use crate::sconce::operations;
use crate::sconce::parallel::{self, GRAIN, OnThreads};
use crate::sconce::tensor::TensorHandle;
use crate::sconce::{Tensor, api};

// This is in `torch/kernels/running.cu` too.
const THREADS: u32 = 256;

/// A tensor whose lines lie one after another, which is kept as long, and how its dimensions go back.
struct Lines {
    _input: Tensor,
    layout: Layout,
    dim: i64,
    length: i64,
}

impl Lines {
    fn of(tensor: TensorHandle, dim: i64) -> Result<Lines> {
        let sizes = Layout::of(tensor)?.sizes;
        let dim = dimension(dim, sizes.len())? as i64;
        let moved = match sizes.len() {
            0 => operations::reshape(tensor, &[])?,
            _ => operations::transpose(tensor, dim, -1)?,
        };
        let input = operations::contiguous(moved.handle())?;
        let layout = Layout::of(input.handle())?;
        let length = layout.sizes.last().copied().unwrap_or(1);
        Ok(Lines { _input: input, layout, dim, length })
    }

    fn count(&self) -> i64 {
        if self.length == 0 { 0 } else { self.layout.numel() / self.length }
    }

    /// An empty result whose lines lie like the input's.
    fn result(&self, dtype: i32) -> Result<Tensor> {
        empty(&self.layout.sizes, dtype, self.layout.device)
    }

    /// A result with the dimensions in their own order.
    fn restored(&self, result: &Tensor) -> Result<Tensor> {
        match self.layout.sizes.len() {
            0 => Tensor::retained(result.handle()),
            _ => operations::contiguous(
                operations::transpose(result.handle(), self.dim, -1)?.handle(),
            ),
        }
    }

    /// A block for each line.
    fn grid(&self) -> Grid {
        Grid { threads: [THREADS, 1, 1], ..Grid::of(self.count(), 1, 1) }
    }
}

/// `cummax(self, dim)` or `cummin(self, dim)`: the later one of two that are equal, and NaN from the first one on.
pub fn extremes(tensor: TensorHandle, dim: i64, is_most: bool) -> Result<Sorted> {
    let lines = Lines::of(tensor, dim)?;
    let dtype = lines.layout.dtype;
    let (values, indices) = (lines.result(dtype)?, lines.result(api::SCONCE_DTYPE_I64)?);
    let (to_values, to_indices) = (Layout::of(values.handle())?, Layout::of(indices.handle())?);
    if lines.layout.is_on_cpu() {
        with_element!(dtype, T => {
            extremes_on_cpu::<T>(&lines, &to_values, &to_indices, is_most)
        })?;
    } else {
        let name = format!("sconce_torch_running_{}", kernel_name_of(dtype)?);
        let most = u32::from(is_most);
        let arguments = (lines.layout.data, to_values.data, to_indices.data);
        // SAFETY: the kernel has these parameters; all three have the lines' sizes.
        unsafe {
            launch(
                lines.layout.device,
                &images::RUNNING,
                &name,
                lines.grid(),
                &[&arguments.0, &arguments.1, &arguments.2, &lines.length, &most],
            )
        }?;
    }
    Ok(Sorted { values: lines.restored(&values)?, indices: lines.restored(&indices)? })
}

/// Calls `visit` with the first element of each line. Threads share the lines.
fn each_line(lines: &Lines, work: i64, visit: impl Fn(i64)) -> Result<()> {
    let length = lines.length;
    let grain = (GRAIN / length.saturating_mul(work).max(1)).max(1);
    // SAFETY: each thread writes its own lines of the results, and nobody writes the input.
    let shared = unsafe { OnThreads::new(visit) };
    parallel::for_range(0, lines.count(), grain, &|begin, end| {
        (begin..end).for_each(|line| (shared.get())(line * length));
        Ok(())
    })
}

fn extremes_on_cpu<T: Element>(
    lines: &Lines,
    values: &Layout,
    indices: &Layout,
    is_most: bool,
) -> Result<()> {
    each_line(lines, 4, |begin| {
        let mut newest: Option<(T, i64)> = None;
        for at in 0..lines.length {
            // SAFETY: the line has that many elements.
            let here: T = unsafe { read(lines.layout.data, begin + at) };
            let is_newer = |front: T| {
                let (front, back) = (front.widen(), here.widen());
                let is_beyond = if is_most { back >= front } else { back <= front };
                back.is_nan() || (!front.is_nan() && is_beyond)
            };
            let chosen = match newest {
                Some((front, index)) if !is_newer(front) => (front, index),
                _ => (here, at),
            };
            newest = Some(chosen);
            // SAFETY: the values have the sizes of the lines, and this thread alone writes this line.
            unsafe { write(values.data, begin + at, chosen.0) };
            // SAFETY: the indices have the sizes of the lines, and this thread alone writes this line.
            unsafe { write(indices.data, begin + at, chosen.1) };
        }
    })
}

/// `logcumsumexp(self, dim)`
pub fn log_sums(tensor: TensorHandle, dim: i64) -> Result<Tensor> {
    let lines = Lines::of(tensor, dim)?;
    let dtype = lines.layout.dtype;
    let result = lines.result(dtype)?;
    let to = Layout::of(result.handle())?;
    if lines.layout.is_on_cpu() {
        with_floating!(dtype, T => {
            log_sums_on_cpu::<T>(&lines, &to)
        })?;
    } else {
        if !matches!(
            dtype,
            api::SCONCE_DTYPE_F32
                | api::SCONCE_DTYPE_F64
                | api::SCONCE_DTYPE_F16
                | api::SCONCE_DTYPE_BF16
        ) {
            return Err(refused_type(dtype));
        }
        let name = format!("sconce_torch_log_sums_{}", kernel_name_of(dtype)?);
        let grid = lines.grid();
        // SAFETY: the kernel has these parameters; both have the lines' sizes.
        unsafe {
            launch(
                lines.layout.device,
                &images::RUNNING,
                &name,
                grid,
                &[&lines.layout.data, &to.data, &lines.length],
            )
        }?;
    }
    lines.restored(&result)
}

fn log_sums_on_cpu<T: Element>(lines: &Lines, to: &Layout) -> Result<()> {
    each_line(lines, 16, |begin| {
        let mut sum = f64::NEG_INFINITY;
        for at in begin..begin + lines.length {
            // SAFETY: the line has that many elements.
            let here: T = unsafe { read(lines.layout.data, at) };
            sum = log_sum(sum, here.widen().to_f64());
            // SAFETY: the result has the sizes of the lines, and this thread alone writes this line.
            unsafe { write(to.data, at, T::narrow(T::Wide::from_f64(sum))) };
        }
    })
}

/// The logarithm of the sum of two exponentials.
fn log_sum(first: f64, second: f64) -> f64 {
    if first.is_nan() || second.is_nan() {
        return f64::NAN;
    }
    let (least, most) = if first < second { (first, second) } else { (second, first) };
    // Also where both are the same infinity, whose difference is no number.
    if least == most { most + 2.0_f64.ln() } else { most + (least - most).exp().ln_1p() }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;
    use crate::operations::testing::{Random, content, scattered_tensor, tensor, values};

    const F32: i32 = api::SCONCE_DTYPE_F32;

    #[test]
    fn extremes_of_all_in_front_are_found() {
        let random = &mut Random(31);
        for round in 0..60 {
            let sizes = random.sizes(3, 5);
            let dim = random.below(3) as usize;
            let all = random.values(sizes.iter().product(), 6);
            let dtype = [F32, api::SCONCE_DTYPE_BF16, api::SCONCE_DTYPE_U8, api::SCONCE_DTYPE_I64]
                [round % 4];
            let own = scattered_tensor(&sizes, dtype, &all, random);
            let inner: i64 = sizes[dim + 1..].iter().product();
            for is_most in [true, false] {
                let (mut expected, mut places) = (all.clone(), vec![0.0; all.len()]);
                for at in 0..all.len() {
                    let along = at as i64 / inner % sizes[dim];
                    for front in 0..=along {
                        let value = all[at - ((along - front) * inner) as usize];
                        let beats =
                            if is_most { value >= expected[at] } else { value <= expected[at] };
                        if front == 0 || beats {
                            (expected[at], places[at]) = (value, front as f64);
                        }
                    }
                }
                let found = extremes(own.handle(), dim as i64, is_most).unwrap();
                assert_eq!(content(&found.values), (sizes.clone(), expected), "round {round}");
                assert_eq!(content(&found.indices), (sizes.clone(), places), "round {round}");
            }
        }
    }

    #[test]
    fn nan_stays() {
        let own = tensor(&[4], F32, &[1.0, f64::NAN, 5.0, f64::NAN]);
        let found = extremes(own.handle(), 0, true).unwrap();
        assert!(values(found.values.handle())[2].is_nan());
        assert_eq!(values(found.indices.handle()), [0.0, 1.0, 1.0, 3.0]);
        assert!(values(log_sums(own.handle(), 0).unwrap().handle())[3].is_nan());
    }

    #[test]
    fn logarithms_of_sums_of_exponentials_are_as_calculated() {
        let own = tensor(&[2, 3], F32, &[0.0, 1.0, 2.0, -1000.0, -1000.0, 1000.0]);
        let found = values(log_sums(own.handle(), 1).unwrap().handle());
        let near =
            |found: f64, expected: f64| (found - expected).abs() <= 1e-6 * expected.abs().max(1.0);
        assert!(near(found[2], (1.0 + 1.0_f64.exp() + 2.0_f64.exp()).ln()), "{found:?}");
        assert!(near(found[4], -1000.0 + 2.0_f64.ln()) && near(found[5], 1000.0), "{found:?}");
        let infinite = tensor(&[3], F32, &[f64::NEG_INFINITY, f64::NEG_INFINITY, 1.0]);
        let found = values(log_sums(infinite.handle(), 0).unwrap().handle());
        assert_eq!(found, [f64::NEG_INFINITY, f64::NEG_INFINITY, 1.0]);
        let one = tensor(&[], F32, &[3.0]);
        assert_eq!(content(&log_sums(one.handle(), 0).unwrap()), (vec![], vec![3.0]));
        assert_eq!(
            content(&log_sums(tensor(&[2, 0], F32, &[]).handle(), 1).unwrap()),
            (vec![2, 0], vec![])
        );
    }

    #[test]
    fn types_without_the_operation_are_refused_with_words() {
        let own = tensor(&[2], api::SCONCE_DTYPE_I64, &[0.0; 2]);
        assert!(log_sums(own.handle(), 0).unwrap_err().message.contains("int64"));
        assert!(extremes(own.handle(), 1, true).err().unwrap().message.contains("out of range"));
    }
}
