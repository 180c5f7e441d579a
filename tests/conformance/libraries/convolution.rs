//! Convolutions in device memory, and done by plain loops.

use sconce_base::element::Dtype;
use sconce_base::types::{DeviceIndex, DevicePtr};
use sconce_driver::{
    Convolution,
    ConvolutionOperation::{self, Data, Filter, Forward},
    ConvolutionPlan, ConvolutionTensor, MOST_SPATIAL, alignment_of,
};

use super::{Array, MARK, assert_close, drawn, rounding};
use crate::support::stage::{Outcome, Stage};

type Sizes = [i64; 2 + MOST_SPATIAL];

/// The sizes of a convolution and its layouts.
#[derive(Clone, Copy, Debug)]
pub(super) struct Shape {
    pub(super) images: i64,
    pub(super) groups: i64,
    /// Input and output channels of a group.
    pub(super) channels: [i64; 2],
    pub(super) spatial: usize,
    pub(super) input: [i64; MOST_SPATIAL],
    pub(super) filter: [i64; MOST_SPATIAL],
    pub(super) stride: i64,
    pub(super) padding: i64,
    pub(super) dilation: i64,
    pub(super) channels_last: bool,
    /// Elements between two images.
    pub(super) apart: i64,
}

pub(super) const PLAIN: Shape = Shape {
    images: 2,
    groups: 1,
    channels: [8, 8],
    spatial: 2,
    input: [6, 5, 1],
    filter: [3, 3, 1],
    stride: 1,
    padding: 1,
    dilation: 1,
    channels_last: false,
    apart: 0,
};

fn tensor(sizes: Sizes, element: Dtype, channels_last: bool, apart: i64) -> ConvolutionTensor {
    let order = if channels_last { [1, 4, 3, 2] } else { [4, 3, 2, 1] };
    let mut strides = [1; 2 + MOST_SPATIAL];
    let mut next = 1;
    for axis in order {
        strides[axis] = next;
        next *= sizes[axis];
    }
    strides[0] = next + apart;
    // Each array starts where memory of the device does.
    let alignment = alignment_of(DevicePtr(512)).max(element.bytes());
    ConvolutionTensor { sizes, strides, alignment }
}

impl Shape {
    pub(super) fn problem(&self, operation: ConvolutionOperation, element: Dtype) -> Convolution {
        let Shape { images, groups, channels: [from, to], spatial, input, filter, .. } = *self;
        let along = |value, rest| [0, 1, 2].map(|axis| if axis < spatial { value } else { rest });
        let [stride, padding, dilation] =
            [along(self.stride, 1), along(self.padding, 0), along(self.dilation, 1)];
        let output = [0, 1, 2].map(|axis| {
            let reach = dilation[axis] * (filter[axis] - 1) + 1;
            (input[axis] + 2 * padding[axis] - reach) / stride[axis] + 1
        });
        let side = |first, second, [x, y, z]: [i64; 3], apart| {
            tensor([first, second, x, y, z], element, self.channels_last, apart)
        };
        Convolution {
            operation,
            element,
            spatial,
            groups,
            input: side(images, groups * from, input, self.apart),
            filter: side(groups * to, from, filter, 0),
            output: side(images, groups * to, output, self.apart),
            stride,
            padding,
            dilation,
        }
    }
}

/// Every index of a tensor.
fn indices(tensor: &ConvolutionTensor) -> impl Iterator<Item = Sizes> + use<> {
    let sizes = tensor.sizes;
    (0..sizes.iter().product::<i64>()).map(move |mut rest| {
        let mut index = [0; 2 + MOST_SPATIAL];
        for axis in (0..index.len()).rev() {
            index[axis] = rest % sizes[axis];
            rest /= sizes[axis];
        }
        index
    })
}

fn place(tensor: &ConvolutionTensor, index: Sizes) -> usize {
    index.iter().zip(tensor.strides).map(|(at, stride)| at * stride).sum::<i64>() as usize
}

/// A convolution with its memory.
pub(super) struct PlacedConvolution<'a> {
    pub(super) problem: Convolution,
    pub(super) arrays: [Array<'a>; 3],
    pub(super) held: [Vec<f64>; 3],
}

impl<'a> PlacedConvolution<'a> {
    pub(super) fn new(
        stage: &Stage<'a>,
        device: DeviceIndex,
        problem: Convolution,
    ) -> Outcome<PlacedConvolution<'a>> {
        let tensors = [problem.input, problem.filter, problem.output];
        let mut seed = 20;
        let held = tensors.map(|tensor| {
            let room = 1 + indices(&tensor).map(|index| place(&tensor, index)).max().unwrap_or(0);
            seed += 1;
            drawn(problem.element, room, seed)
        });
        let array = |index: usize| Array::holding(stage, device, problem.element, &held[index]);
        let arrays = [array(0)?, array(1)?, array(2)?];
        Ok(PlacedConvolution { problem, arrays, held })
    }

    /// Which of the three tensors is calculated.
    pub(super) fn result(&self) -> usize {
        match self.problem.operation {
            Data => 0,
            Filter => 1,
            Forward => 2,
        }
    }

    /// Fills the result with NaNs, and what lies between its elements with marks.
    pub(super) fn spoil_result(&mut self) -> Outcome {
        let (result, Convolution { input, filter, output, .. }) = (self.result(), self.problem);
        let tensor = [input, filter, output][result];
        self.held[result].fill(MARK);
        indices(&tensor).for_each(|index| self.held[result][place(&tensor, index)] = f64::NAN);
        Ok(self.arrays[result].write(&self.held[result])?)
    }

    /// What the result's memory holds afterwards, each number with what it may differ by.
    pub(super) fn expected(&self, tf32: bool) -> Vec<(f64, f64)> {
        let Convolution { input, filter, output, element, spatial, .. } = self.problem;
        let (held, which) = (&self.held, self.result());
        let tensor = [input, filter, output][which];
        let mut sums: Vec<Option<(f64, f64)>> = vec![None; held[which].len()];
        indices(&tensor).for_each(|index| sums[place(&tensor, index)] = Some((0.0, 0.0)));
        let features = filter.sizes[0] / self.problem.groups;
        let mut of_one_feature = filter;
        of_one_feature.sizes[0] = 1;
        for to in indices(&output) {
            for tap in indices(&of_one_feature) {
                let tap = [to[1], tap[1], tap[2], tap[3], tap[4]];
                let channel = to[1] / features * filter.sizes[1] + tap[1];
                let mut from = [to[0], channel, 0, 0, 0];
                for axis in 0..spatial {
                    from[2 + axis] = to[2 + axis] * self.problem.stride[axis]
                        - self.problem.padding[axis]
                        + tap[2 + axis] * self.problem.dilation[axis];
                }
                if from.iter().zip(input.sizes).all(|(at, size)| (0..size).contains(at)) {
                    let places = [place(&input, from), place(&filter, tap), place(&output, to)];
                    let factors =
                        [0, 1, 2].map(|t| if t == which { 1.0 } else { held[t][places[t]] });
                    let product = factors[0] * factors[1] * factors[2];
                    if let Some((sum, magnitude)) = &mut sums[places[which]] {
                        (*sum, *magnitude) = (*sum + product, *magnitude + product.abs());
                    }
                }
            }
        }
        // Engines may calculate several elements together, so the largest sum decides for all. Some go
        // by way of transforms, which lose a few bits more than sums do.
        let largest = sums.iter().flatten().fold(0.0_f64, |largest, sum| largest.max(sum.1));
        let relative = match element {
            Dtype::F64 => 1e-12,
            Dtype::F32 if tf32 => 2.0_f64.powi(-10),
            Dtype::F32 => 2e-5,
            _ => rounding(element),
        };
        let of = |(index, sum): (usize, &Option<(f64, f64)>)| match sum {
            None => (held[which][index], 0.0),
            Some((sum, _)) => (*sum, relative * largest + 1.01 * rounding(element) * sum.abs()),
        };
        sums.iter().enumerate().map(of).collect()
    }

    pub(super) fn execute(&self, plan: &mut dyn ConvolutionPlan, workspace: DevicePtr) -> Outcome {
        let [input, filter, output] = self.arrays.each_ref().map(Array::at);
        Ok(plan.execute(input, filter, output, workspace)?)
    }

    /// Waits for the device and compares all three tensors' memory.
    #[track_caller]
    pub(super) fn assert_done(&self, tf32: bool) -> Outcome {
        for (index, array) in self.arrays.iter().enumerate() {
            let expected = match index == self.result() {
                true => self.expected(tf32),
                false => self.held[index].iter().map(|value| (*value, 0.0)).collect(),
            };
            assert_close(&array.read()?, &expected, &self.problem);
        }
        Ok(())
    }
}
