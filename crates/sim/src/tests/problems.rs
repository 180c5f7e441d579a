//! Convolutions for tests: shapes and layouts, in memory, and done by plain loops.

use proptest::prelude::*;
use sconce_base::element::Dtype;
use sconce_base::error::Error;
use sconce_base::types::DevicePtr;
use sconce_driver::prelude::*;
use sconce_driver::{
    Convolution,
    ConvolutionOperation::{self, Data, Filter, Forward},
    ConvolutionPlan, ConvolutionTensor, DnnHandle, MOST_SPATIAL, StreamRef,
};

use super::numbers::*;
use super::support::*;
use crate::Simulator;

const MARK: f64 = 77.0;

pub(super) type Sizes = [i64; 2 + MOST_SPATIAL];

/// How a tensor lies in memory.
#[derive(Clone, Copy, Debug)]
pub(super) enum Layout {
    Packed,
    /// Channels next to each other.
    ChannelsLast,
    /// So many elements from one to the next.
    Spread(i64),
    /// The batch innermost.
    Turned,
}

/// The library takes no filters with gaps.
fn dense(layout: Layout) -> Layout {
    if matches!(layout, Layout::Spread(_)) { Layout::Packed } else { layout }
}

fn tensor(sizes: Sizes, layout: Layout) -> ConvolutionTensor {
    let (order, unit) = match layout {
        Layout::Packed => ([4, 3, 2, 1, 0], 1),
        Layout::ChannelsLast => ([1, 4, 3, 2, 0], 1),
        Layout::Spread(unit) => ([4, 3, 2, 1, 0], unit),
        Layout::Turned => ([0, 4, 3, 2, 1], 1),
    };
    let mut strides = [0; 5];
    let mut next = unit;
    for dimension in order {
        strides[dimension] = next;
        // A gap behind each row and image.
        next = next * sizes[dimension] + if unit > 1 { 1 } else { 0 };
    }
    ConvolutionTensor { sizes, strides, alignment: 2 }
}

/// Every index of a tensor, and where it lies.
fn places(tensor: &ConvolutionTensor) -> Vec<(Sizes, usize)> {
    let mut all = vec![([0; 5], 0)];
    for dimension in 0..5 {
        let (size, stride) = (tensor.sizes[dimension], tensor.strides[dimension]);
        let along = |(index, place): (Sizes, usize)| {
            (0..size).map(move |at| {
                let mut index = index;
                index[dimension] = at;
                (index, place + (at * stride) as usize)
            })
        };
        all = all.into_iter().flat_map(along).collect();
    }
    all
}

fn extent(tensor: &ConvolutionTensor) -> usize {
    1 + places(tensor).iter().map(|(_, place)| *place).max().unwrap()
}

fn place(tensor: &ConvolutionTensor, index: Sizes) -> usize {
    index.iter().zip(tensor.strides).map(|(at, stride)| at * stride).sum::<i64>() as usize
}

/// What the calculated tensor's memory holds afterwards, gaps with it.
fn expected(problem: &Convolution, held: &[Vec<f64>; 3]) -> Vec<f64> {
    let Convolution { input, filter, output, .. } = problem;
    let which = result_of(problem.operation);
    let tensors = [input, filter, output];
    let mut result = held[which].clone();
    for (_, at) in places(tensors[which]) {
        result[at] = 0.0;
    }
    let features = filter.sizes[0] / problem.groups;
    for (to, at_output) in places(output) {
        for (tap, at_filter) in places(filter) {
            let group = to[1] / features;
            let mut from = [to[0], group * filter.sizes[1] + tap[1], 0, 0, 0];
            if tap[0] != to[1] {
                continue;
            }
            for axis in 0..problem.spatial {
                from[2 + axis] = to[2 + axis] * problem.stride[axis] - problem.padding[axis]
                    + tap[2 + axis] * problem.dilation[axis];
            }
            if from.iter().zip(input.sizes).any(|(at, size)| !(0..size).contains(at)) {
                continue;
            }
            let at_input = place(input, from);
            match problem.operation {
                Forward => result[at_output] += held[0][at_input] * held[1][at_filter],
                Data => result[at_input] += held[2][at_output] * held[1][at_filter],
                Filter => result[at_filter] += held[2][at_output] * held[0][at_input],
            }
        }
    }
    result
}

pub(super) fn result_of(operation: ConvolutionOperation) -> usize {
    match operation {
        Data => 0,
        Filter => 1,
        Forward => 2,
    }
}

/// Sizes of a problem: each of the spatial arrays from the outermost.
pub(super) struct Shape {
    pub(super) images: i64,
    pub(super) groups: i64,
    pub(super) channels: i64,
    pub(super) features: i64,
    pub(super) spatial: usize,
    pub(super) input: [i64; MOST_SPATIAL],
    pub(super) filter: [i64; MOST_SPATIAL],
    pub(super) stride: [i64; MOST_SPATIAL],
    pub(super) padding: [i64; MOST_SPATIAL],
    pub(super) dilation: [i64; MOST_SPATIAL],
}

pub(super) fn problem(
    operation: ConvolutionOperation,
    element: Dtype,
    shape: &Shape,
    layouts: [Layout; 3],
) -> Convolution {
    let Shape { images, groups, channels, features, spatial, .. } = *shape;
    let (mut input, mut filter, mut output) = ([1; 3], [1; 3], [1; 3]);
    for axis in 0..spatial {
        filter[axis] = shape.filter[axis];
        let reach = shape.dilation[axis] * (filter[axis] - 1) + 1;
        input[axis] = shape.input[axis].max(reach - 2 * shape.padding[axis]);
        let span = input[axis] + 2 * shape.padding[axis] - reach;
        output[axis] = span / shape.stride[axis] + 1;
    }
    let sizes = |first: [i64; 2], rest: [i64; 3]| [first[0], first[1], rest[0], rest[1], rest[2]];
    Convolution {
        operation,
        element,
        spatial,
        groups,
        input: tensor(sizes([images, groups * channels], input), layouts[0]),
        filter: tensor(sizes([groups * features, channels], filter), dense(layouts[1])),
        output: tensor(sizes([images, groups * features], output), layouts[2]),
        stride: shape.stride,
        padding: shape.padding,
        dilation: shape.dilation,
    }
}

/// An image of 6 by 7, two channels in and three out, a filter of 3 by 3.
pub(super) fn plain(operation: ConvolutionOperation, element: Dtype) -> Convolution {
    let shape = Shape {
        images: 2,
        groups: 1,
        channels: 2,
        features: 3,
        spatial: 2,
        input: [6, 7, 1],
        filter: [3, 3, 1],
        stride: [1; 3],
        padding: [1, 1, 0],
        dilation: [1; 3],
    };
    problem(operation, element, &shape, [Layout::Packed; 3])
}

pub(super) fn handle(sim: &Simulator, stream: StreamRef) -> Box<dyn DnnHandle> {
    let mut handle = sim.dnn_create(stream.device).unwrap();
    handle.set_stream(stream).unwrap();
    handle
}

/// Tensors in the memory of a device.
pub(super) struct Placed {
    pub(super) held: [Vec<f64>; 3],
    pub(super) addresses: [DevicePtr; 3],
    problem: Convolution,
    stream: StreamRef,
}

impl Placed {
    /// The result is NaN, and gaps hold a mark.
    pub(super) fn new(
        sim: &Simulator,
        problem: &Convolution,
        seed: u64,
        stream: StreamRef,
    ) -> Placed {
        let mut seed = seed;
        let mut held = [problem.input, problem.filter, problem.output].map(|tensor| {
            let drawn = values(problem.element, extent(&tensor), &mut seed);
            let mut all = vec![MARK; drawn.len()];
            places(&tensor).iter().for_each(|(_, at)| all[*at] = drawn[*at]);
            all
        });
        let which = result_of(problem.operation);
        let tensor = [problem.input, problem.filter, problem.output][which];
        places(&tensor).iter().for_each(|(_, at)| held[which][*at] = f64::NAN);
        let addresses = held.each_ref().map(|held| upload(sim, problem.element, held, stream));
        Placed { held, addresses, problem: *problem, stream }
    }

    pub(super) fn execute(
        &self,
        sim: &Simulator,
        plan: &mut dyn ConvolutionPlan,
    ) -> Result<(), Error> {
        let bytes = plan.workspace_bytes();
        let workspace = match bytes {
            0 => DevicePtr(0),
            _ => sim.memory_alloc(D0, bytes).unwrap(),
        };
        let [input, filter, output] = self.addresses;
        plan.execute(input, filter, output, workspace)
    }

    pub(super) fn result(&self, sim: &Simulator) -> Vec<f64> {
        let which = result_of(self.problem.operation);
        let count = self.held[which].len();
        download(sim, self.problem.element, self.addresses[which], count, self.stream)
    }

    pub(super) fn expected(&self) -> Vec<f64> {
        expected(&self.problem, &self.held)
    }
}

pub(super) fn problems() -> impl Strategy<Value = Convolution> {
    let select = prop::sample::select::<Dtype>;
    let element = select(vec![Dtype::F16, Dtype::Bf16, Dtype::F32, Dtype::F64]);
    let layout = prop::sample::select(vec![
        Layout::Packed,
        Layout::ChannelsLast,
        Layout::Spread(2),
        Layout::Spread(11),
        Layout::Turned,
    ]);
    let counts = (1_i64..3, 1_i64..4, 1_i64..3, 1_i64..4, 1_usize..4);
    let each = |range: std::ops::Range<i64>| prop::array::uniform3(range);
    let spatial = (each(1..6), each(1..4), each(1..4), each(0..3), each(1..3));
    let operation = prop::sample::select(vec![Forward, Data, Filter]);
    (operation, element, counts, spatial, prop::array::uniform3(layout)).prop_map(
        |(operation, element, counts, (input, filter, stride, padding, dilation), layouts)| {
            let (images, groups, channels, features, spatial) = counts;
            let shape = Shape {
                images,
                groups,
                channels,
                features,
                spatial,
                input,
                filter,
                stride,
                padding,
                dilation,
            };
            problem(operation, element, &shape, layouts)
        },
    )
}
