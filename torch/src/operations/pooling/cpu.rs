//! Pooling on the CPU. Threads share the lines of the result.

#![allow(unsafe_code, reason = "reads and writes elements")]

use super::shape::Planes;
use super::window::{PoolingAxis, WindowSpan};
use super::{Pool, PoolingKind};
use crate::error::Result;
use crate::operations::element::{Element, Number, read, write};
use crate::sconce::api;
use crate::sconce::parallel::{self, GRAIN, OnThreads};

/// The first element of a channel of a batch.
fn begin(planes: &Planes, [batch, channel]: [i64; 2]) -> i64 {
    batch * planes.strides[0] + channel * planes.strides[1]
}

/// The place of an element within its channel.
fn place(planes: &Planes, [depth, height, width]: [i64; 3]) -> i64 {
    depth * planes.strides[2] + height * planes.strides[3] + width * planes.strides[4]
}

/// Calls `visit` for all combinations of three spans.
fn each(spans: [WindowSpan; 3], mut visit: impl FnMut([i64; 3])) {
    for depth in spans[0].iter() {
        for height in spans[1].iter() {
            for width in spans[2].iter() {
                visit([depth, height, width]);
            }
        }
    }
}

/// Calls `visit` for each line of a result with these sizes, with its channel and the places of its elements. Threads
/// share the lines.
fn each_line(
    pool: &Pool,
    sizes: [i64; 3],
    visit: impl Fn(&Pool, [i64; 2], [WindowSpan; 3]),
) -> Result<()> {
    let [depth, height, width] = sizes;
    let channels = pool.large.sizes[1];
    let lines = pool.large.sizes[0] * channels * depth * height;
    if lines == 0 || width == 0 {
        return Ok(());
    }
    let taps = pool.axes.iter().map(|axis| axis.places(0).max(1)).product::<i64>();
    let line = width.saturating_mul(taps).max(1);
    // SAFETY: each thread writes elements of its own lines, and reads what nobody writes.
    let shared = unsafe { OnThreads::new((pool, visit)) };
    parallel::for_range(0, lines, (GRAIN / line).max(1), &|begin, end| {
        let (pool, visit) = shared.get();
        for at in begin..end {
            let (plane, z, y) = (at / (depth * height), at / height % depth, at % height);
            let one = |place| WindowSpan { begin: place, end: place + 1, step: 1 };
            let along = WindowSpan { begin: 0, end: width, step: 1 };
            visit(pool, [plane / channels, plane % channels], [one(z), one(y), along]);
        }
        Ok(())
    })
}

fn inputs(axes: &[PoolingAxis; 3]) -> [i64; 3] {
    axes.map(|axis| i64::from(axis.input))
}

fn outputs(axes: &[PoolingAxis; 3]) -> [i64; 3] {
    axes.map(|axis| i64::from(axis.output))
}

/// The number of an input within its plane.
fn number([depth, height, width]: [i64; 3], axes: &[PoolingAxis; 3]) -> i64 {
    (depth * i64::from(axes[1].input) + height) * i64::from(axes[2].input) + width
}

fn window(axes: &[PoolingAxis; 3], at: [i64; 3]) -> [WindowSpan; 3] {
    std::array::from_fn(|dim| axes[dim].window(at[dim]))
}

fn outputs_of(axes: &[PoolingAxis; 3], at: [i64; 3]) -> [WindowSpan; 3] {
    std::array::from_fn(|dim| axes[dim].outputs_of(at[dim]))
}

pub(super) fn run(pool: &Pool) -> Result<()> {
    match pool.kind {
        PoolingKind::Max => max_of_type(pool),
        PoolingKind::Mean => with_floating!(pool.dtype, T => mean::<T>(pool)),
        PoolingKind::MaxBackward => {
            with_floating!(pool.dtype, T => max_backward::<T>(pool))
        }
        PoolingKind::MeanBackward => {
            with_floating!(pool.dtype, T => mean_backward::<T>(pool))
        }
    }
}

/// Whole numbers, too, as PyTorch has them on the CPU alone; no truth values.
fn max_of_type(pool: &Pool) -> Result<()> {
    if pool.dtype == api::SCONCE_DTYPE_BOOL {
        return Err(crate::operations::tensors::refused_type(pool.dtype));
    }
    with_element!(pool.dtype, T => max::<T>(pool))
}

fn max<T: Element>(pool: &Pool) -> Result<()> {
    each_line(pool, outputs(&pool.axes), |pool, plane, line| {
        let (from, to) = (begin(&pool.large, plane), begin(&pool.small, plane));
        let index_to = begin(&pool.indices, plane);
        each(line, |at| {
            let mut best: Option<(T, i64)> = None;
            each(window(&pool.axes, at), |input| {
                // SAFETY: the window lies within the input, which has this type.
                let value: T = unsafe { read(pool.large.data, from + place(&pool.large, input)) };
                // The last NaN counts, and nothing is larger than one.
                let is_larger = |best: T| value.widen() > best.widen() || value.widen().is_nan();
                if best.is_none_or(|(best, _)| is_larger(best)) {
                    best = Some((value, number(input, &pool.axes)));
                }
            });
            if let Some((value, number)) = best {
                // SAFETY: the result has an element a window.
                unsafe { write(pool.small.data, to + place(&pool.small, at), value) };
                // SAFETY: the tensor of indices has an element a window, as the result.
                unsafe { write(pool.indices.data, index_to + place(&pool.indices, at), number) };
            }
        });
    })
}

/// What the sum of a window is divided by, and whether it has inputs.
fn divisor(pool: &Pool, at: [i64; 3]) -> (f64, bool) {
    let mut places = 1;
    let mut found = 1;
    for (axis, at) in pool.axes.iter().zip(at) {
        let window = axis.window(at);
        places *= axis.places(at);
        found *= (window.end - window.begin).max(0);
    }
    let counted = if pool.divisor.count_padding { places } else { found };
    (pool.divisor.fixed.unwrap_or(counted) as f64, found > 0)
}

fn mean<T: Element>(pool: &Pool) -> Result<()> {
    each_line(pool, outputs(&pool.axes), |pool, plane, line| {
        let (from, to) = (begin(&pool.large, plane), begin(&pool.small, plane));
        each(line, |at| {
            let mut sum = T::Wide::ZERO;
            each(window(&pool.axes, at), |input| {
                // SAFETY: the window lies within the input, which has this type.
                let value: T = unsafe { read(pool.large.data, from + place(&pool.large, input)) };
                sum = sum.plus(value.widen());
            });
            let (divisor, has_inputs) = divisor(pool, at);
            let mean = if has_inputs { sum.to_f64() / divisor } else { 0.0 };
            let mean = T::narrow(T::Wide::from_f64(mean));
            // SAFETY: the result has an element a window.
            unsafe { write(pool.small.data, to + place(&pool.small, at), mean) };
        });
    })
}

/// Sums for each input what `part` makes of each output that may have it.
fn gradients<T: Element>(
    pool: &Pool,
    part: impl Fn(&Pool, [i64; 2], [i64; 3], [i64; 3], T::Wide) -> T::Wide,
) -> Result<()> {
    each_line(pool, inputs(&pool.axes), |pool, plane, line| {
        let (to, from) = (begin(&pool.large, plane), begin(&pool.small, plane));
        each(line, |input| {
            let mut sum = T::Wide::ZERO;
            each(outputs_of(&pool.axes, input), |at| {
                // SAFETY: the gradient has an element a window.
                let gradient: T = unsafe { read(pool.small.data, from + place(&pool.small, at)) };
                sum = sum.plus(part(pool, plane, input, at, gradient.widen()));
            });
            // SAFETY: the result has an element an input.
            unsafe { write(pool.large.data, to + place(&pool.large, input), T::narrow(sum)) };
        });
    })
}

fn max_backward<T: Element>(pool: &Pool) -> Result<()> {
    gradients::<T>(pool, |pool, plane, input, at, gradient| {
        let place = begin(&pool.indices, plane) + place(&pool.indices, at);
        // SAFETY: there is an index a window.
        let index: i64 = unsafe { read(pool.indices.data, place) };
        if index == number(input, &pool.axes) { gradient } else { T::Wide::ZERO }
    })
}

fn mean_backward<T: Element>(pool: &Pool) -> Result<()> {
    gradients::<T>(pool, |pool, _, _, at, gradient| {
        let (divisor, _) = divisor(pool, at);
        T::Wide::from_f64(gradient.to_f64() / divisor)
    })
}
