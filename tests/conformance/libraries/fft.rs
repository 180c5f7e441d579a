//! Fourier transforms: kinds, sizes, ranks, batches and layouts.

use std::f64::consts::TAU;

use sconce_base::element::Dtype;
use sconce_base::types::{DeviceIndex, DevicePtr};
use sconce_driver::{FftCall, FftDirection, FftKind, FftLayout, FftPlan, FftShape, StreamRef};

use super::{Array, MARK, ZERO, assert_close, drawn, installed, rounding};
use crate::support::stage::{Outcome, Stage};

crate::support::runner::tests![
    transforms_of_every_kind_and_rank,
    half_precision_takes_powers_of_two,
    a_batch_may_have_strides_and_room,
    what_lies_outside_the_layout_stays_as_it_is,
    nothing_is_scaled_and_a_transform_may_lie_on_itself,
    every_device_transforms,
];

/// Complex numbers.
pub(super) type Complex = (f64, f64);

/// A shape whose sides are packed.
pub(crate) fn packed(kind: FftKind, element: Dtype, sizes: &[i64], batch: i64) -> FftShape {
    let mut all = [1; 3];
    all[..sizes.len()].copy_from_slice(sizes);
    let empty = FftLayout { embed: [1; 3], stride: 1, distance: 1 };
    let mut shape = FftShape {
        kind,
        element,
        rank: sizes.len(),
        sizes: all,
        batch,
        input: empty,
        output: empty,
    };
    let side = |embed: [i64; 3]| FftLayout { embed, stride: 1, distance: embed.iter().product() };
    shape.input = side(shape.sizes_of(kind == FftKind::C2R));
    shape.output = side(shape.sizes_of(kind == FftKind::R2C));
    shape
}

/// The side with `stride` elements from one to the next, `room` more in each dimension but the
/// outermost, and as many elements between two transforms.
fn spread(shape: &FftShape, side: FftLayout, stride: i64, room: i64) -> FftLayout {
    let mut embed = side.embed;
    embed[1..shape.rank].iter_mut().for_each(|size| *size += room);
    FftLayout { embed, stride, distance: embed.iter().product::<i64>() * stride + room }
}

/// The transform of numbers in an array of these sizes, by its definition.
fn transformed(sizes: [i64; 3], numbers: &[Complex], direction: FftDirection) -> Vec<Complex> {
    let sign = if direction == FftDirection::Forward { -1.0 } else { 1.0 };
    let mut result = numbers.to_vec();
    let mut inner = 1;
    for size in sizes.into_iter().rev().map(|size| size as usize) {
        let before = result.clone();
        for (index, number) in result.iter_mut().enumerate() {
            let (frequency, first) = (index / inner % size, index - index / inner % size * inner);
            *number = (0..size).fold((0.0, 0.0), |sum, place| {
                let angle = sign * TAU * (frequency * place % size) as f64 / size as f64;
                let (value, (sin, cos)) = (before[first + place * inner], angle.sin_cos());
                (sum.0 + value.0 * cos - value.1 * sin, sum.1 + value.0 * sin + value.1 * cos)
            });
        }
        inner *= size;
    }
    result
}

/// The numbers of a transform's last dimension up to the middle.
fn half(shape: &FftShape, all: &[Complex]) -> Vec<Complex> {
    let (size, kept) = (shape.sizes[shape.rank - 1] as usize, sizes(shape, true)[shape.rank - 1]);
    all.chunks(size).flat_map(|row| row[..kept].to_vec()).collect()
}

fn sizes(shape: &FftShape, halved: bool) -> [usize; 3] {
    shape.sizes_of(halved).map(|size| size as usize)
}

/// A side: how its numbers lie, and of how many parts each consists.
#[derive(Clone, Copy)]
struct TestedSide {
    layout: FftLayout,
    sizes: [usize; 3],
    parts: usize,
}

impl TestedSide {
    fn input(shape: &FftShape) -> TestedSide {
        let sizes = sizes(shape, shape.kind == FftKind::C2R);
        TestedSide {
            layout: shape.input,
            sizes,
            parts: 1 + usize::from(shape.kind != FftKind::R2C),
        }
    }

    fn output(shape: &FftShape) -> TestedSide {
        let sizes = sizes(shape, shape.kind == FftKind::R2C);
        TestedSide {
            layout: shape.output,
            sizes,
            parts: 1 + usize::from(shape.kind != FftKind::C2R),
        }
    }

    /// Where the first parts of a transform's numbers lie, in real numbers.
    fn places(self, transform: i64) -> impl Iterator<Item = usize> {
        let TestedSide { layout: FftLayout { embed, stride, distance }, sizes, parts } = self;
        (0..sizes.iter().product::<usize>()).map(move |index| {
            let [_, middle, inner] = sizes;
            let at = [index / inner / middle, index / inner % middle, index % inner];
            let [i, j, k] = at.map(|at| at as i64);
            let place = transform * distance + ((i * embed[1] + j) * embed[2] + k) * stride;
            place as usize * parts
        })
    }

    /// Real numbers up to the end of the last transform.
    fn room(self, batch: i64) -> usize {
        self.places(batch - 1).max().unwrap_or(0) + self.parts
    }
}

/// A transform with its memory.
pub(super) struct PlacedTransform<'a> {
    pub(super) shape: FftShape,
    direction: FftDirection,
    pub(super) input: Array<'a>,
    pub(super) output: Array<'a>,
    pub(super) held: Vec<f64>,
}

impl<'a> PlacedTransform<'a> {
    pub(super) fn new(
        stage: &Stage<'a>,
        device: DeviceIndex,
        shape: &FftShape,
        direction: FftDirection,
    ) -> Outcome<PlacedTransform<'a>> {
        let [input, output] = [TestedSide::input(shape), TestedSide::output(shape)];
        let held = PlacedTransform::drawn(shape, input.room(shape.batch) as u64);
        let marks = vec![MARK; output.room(shape.batch)];
        Ok(PlacedTransform {
            shape: *shape,
            direction,
            input: Array::holding(stage, device, shape.element, &held)?,
            output: Array::holding(stage, device, shape.element, &marks)?,
            held,
        })
    }

    /// An input with marks between its numbers; for a real result it is what a real signal has.
    pub(super) fn drawn(shape: &FftShape, seed: u64) -> Vec<f64> {
        let side = TestedSide::input(shape);
        let mut held = vec![MARK; side.room(shape.batch)];
        let count: i64 = shape.sizes.iter().product();
        for transform in 0..shape.batch {
            let values = drawn(shape.element, 2 * count as usize, seed + transform as u64);
            let mut numbers: Vec<Complex> =
                values.chunks(2).map(|pair| (pair[0], pair[1])).collect();
            if shape.kind == FftKind::C2R {
                let reals: Vec<Complex> = numbers.iter().map(|number| (number.0, 0.0)).collect();
                let scale = 1.0 / count as f64;
                numbers = half(shape, &transformed(shape.sizes, &reals, FftDirection::Forward));
                numbers
                    .iter_mut()
                    .for_each(|number| *number = (number.0 * scale, number.1 * scale));
            }
            for (place, number) in side.places(transform).zip(&numbers) {
                held[place] = number.0;
                if side.parts == 2 {
                    held[place + 1] = number.1;
                }
            }
        }
        super::decode(shape.element, &super::encode(shape.element, &held))
    }

    /// What the output's memory holds afterwards, each number with what it may differ by.
    pub(super) fn expected(&self) -> Vec<(f64, f64)> {
        let shape = &self.shape;
        let [input, output] = [TestedSide::input(shape), TestedSide::output(shape)];
        let mut result = vec![(MARK, 0.0); output.room(shape.batch)];
        for transform in 0..shape.batch {
            let numbers = input.places(transform).map(|place| {
                (self.held[place], if input.parts == 2 { self.held[place + 1] } else { 0.0 })
            });
            let mut numbers: Vec<Complex> = numbers.collect();
            if shape.kind == FftKind::C2R {
                numbers = whole(shape, &numbers);
            }
            let sum: f64 = numbers.iter().map(|(re, im)| re.abs() + im.abs()).sum();
            let off = 8.0 * rounding(shape.element) * sum;
            let mut all = transformed(shape.sizes, &numbers, self.direction);
            if shape.kind == FftKind::R2C {
                all = half(shape, &all);
            }
            for (place, number) in output.places(transform).zip(&all) {
                result[place] = (number.0, off);
                if output.parts == 2 {
                    result[place + 1] = (number.1, off);
                }
            }
        }
        result
    }

    pub(super) fn call(&self, stream: StreamRef, workspace: DevicePtr) -> FftCall {
        let (input, output) = (self.input.at(), self.output.at());
        FftCall { stream, workspace, input, output, direction: self.direction }
    }

    /// Waits for the device and compares the memory of both sides; only a C2R transform may change its
    /// input.
    #[track_caller]
    pub(super) fn assert_done(&self) -> Outcome {
        assert_close(&self.output.read()?, &self.expected(), &self.shape);
        if self.shape.kind != FftKind::C2R {
            assert_eq!(self.input.read()?, self.held, "the input: {:?}", self.shape);
        }
        Ok(())
    }
}

/// All numbers of a real signal's transform, from the half that is stored.
fn whole(shape: &FftShape, half: &[Complex]) -> Vec<Complex> {
    let (all, kept) = (sizes(shape, false), sizes(shape, true));
    let last = shape.rank - 1;
    let mut result = Vec::new();
    for index in 0..all.iter().product::<usize>() {
        let mut at = [index / all[2] / all[1], index / all[2] % all[1], index % all[2]];
        let mirrored = at[last] >= kept[last];
        if mirrored {
            at = [0, 1, 2].map(|axis| (all[axis] - at[axis]) % all[axis]);
        }
        let (re, im) = half[(at[0] * kept[1] + at[1]) * kept[2] + at[2]];
        result.push((re, if mirrored { -im } else { im }));
    }
    result
}

/// A plan that needs no work area here, or memory for one.
pub(super) fn plan(
    stage: &Stage<'_>,
    device: DeviceIndex,
    shape: &FftShape,
) -> Outcome<Box<dyn FftPlan>> {
    installed(stage.driver.fft_plan(device, shape))
}

/// Executes a plan with a work area that it needs, and compares.
fn check(stage: &Stage<'_>, device: DeviceIndex, shape: &FftShape) -> Outcome {
    let mut plan = plan(stage, device, shape)?;
    let stream = stage.stream(device)?;
    let area = stage.memory(device, plan.workspace_bytes().max(1))?;
    for direction in [FftDirection::Forward, FftDirection::Inverse] {
        let fits = match shape.kind {
            FftKind::C2C => true,
            FftKind::R2C => direction == FftDirection::Forward,
            FftKind::C2R => direction == FftDirection::Inverse,
        };
        if fits {
            let placed = PlacedTransform::new(stage, device, shape, direction)?;
            plan.execute(&placed.call(stream.at, area.ptr))?;
            placed.assert_done()?;
        }
    }
    Ok(())
}

const KINDS: [FftKind; 3] = [FftKind::C2C, FftKind::R2C, FftKind::C2R];

fn transforms_of_every_kind_and_rank(stage: &Stage<'_>) -> Outcome {
    let sizes: [&[i64]; 11] =
        [&[1], &[2], &[8], &[15], &[17], &[64], &[6, 8], &[5, 9], &[1, 12], &[2, 3, 4], &[3, 4, 5]];
    for (element, kind) in [Dtype::F32, Dtype::F64].into_iter().flat_map(|e| KINDS.map(|k| (e, k)))
    {
        for sizes in sizes {
            check(stage, ZERO, &packed(kind, element, sizes, 1))?;
        }
        check(stage, ZERO, &packed(kind, element, &[10], 3))?;
        check(stage, ZERO, &packed(kind, element, &[4, 6], 2))?;
    }
    Ok(())
}

fn half_precision_takes_powers_of_two(stage: &Stage<'_>) -> Outcome {
    for kind in KINDS {
        for (sizes, batch) in [(&[16_i64][..], 1), (&[64], 3), (&[8, 16], 1), (&[4, 8, 8], 1)] {
            check(stage, ZERO, &packed(kind, Dtype::F16, sizes, batch))?;
        }
    }
    Ok(())
}

fn a_batch_may_have_strides_and_room(stage: &Stage<'_>) -> Outcome {
    for (element, kind) in [Dtype::F32, Dtype::F64].into_iter().flat_map(|e| KINDS.map(|k| (e, k)))
    {
        for sizes in [&[12_i64][..], &[4, 6], &[2, 3, 4]] {
            let all = packed(kind, element, sizes, 3);
            // The batch innermost: as columns of a matrix.
            let columns = |side: FftLayout| FftLayout { stride: 3, distance: 1, ..side };
            let [input, output] = [columns(all.input), columns(all.output)];
            check(stage, ZERO, &FftShape { input, ..all })?;
            check(stage, ZERO, &FftShape { output, ..all })?;
            check(stage, ZERO, &FftShape { input, output, ..all })?;
        }
    }
    Ok(())
}

fn what_lies_outside_the_layout_stays_as_it_is(stage: &Stage<'_>) -> Outcome {
    for (element, kind) in [Dtype::F32, Dtype::F64].into_iter().flat_map(|e| KINDS.map(|k| (e, k)))
    {
        for sizes in [&[12_i64][..], &[4, 6], &[2, 3, 4]] {
            let all = packed(kind, element, sizes, 2);
            for (stride, room) in [(1, 2), (2, 0), (3, 4)] {
                let input = spread(&all, all.input, stride, room);
                let output = spread(&all, all.output, stride, room);
                check(stage, ZERO, &FftShape { input, output, ..all })?;
            }
        }
    }
    Ok(())
}

fn nothing_is_scaled_and_a_transform_may_lie_on_itself(stage: &Stage<'_>) -> Outcome {
    for (element, sizes) in
        [(Dtype::F32, &[30_i64][..]), (Dtype::F64, &[6, 5]), (Dtype::F16, &[32])]
    {
        let shape = packed(FftKind::C2C, element, sizes, 2);
        let mut plan = plan(stage, ZERO, &shape)?;
        let stream = stage.stream(ZERO)?;
        let area = stage.memory(ZERO, plan.workspace_bytes().max(1))?;
        let placed = PlacedTransform::new(stage, ZERO, &shape, FftDirection::Forward)?;
        let forward = FftCall { output: placed.input.at(), ..placed.call(stream.at, area.ptr) };
        plan.execute(&forward)?;
        assert_close(&placed.input.read()?, &placed.expected(), &shape);
        plan.execute(&FftCall { direction: FftDirection::Inverse, ..forward })?;
        let n: i64 = shape.sizes.iter().product();
        let off = 16.0 * rounding(element) * (n * n) as f64;
        let expected: Vec<_> = placed.held.iter().map(|value| (n as f64 * value, off)).collect();
        assert_close(&placed.input.read()?, &expected, &shape);
    }
    Ok(())
}

fn every_device_transforms(stage: &Stage<'_>) -> Outcome {
    stage
        .devices()
        .into_iter()
        .try_for_each(|device| check(stage, device, &packed(FftKind::R2C, Dtype::F32, &[4, 10], 2)))
}
