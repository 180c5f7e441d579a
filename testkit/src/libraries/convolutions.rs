//! Convolutions of memory on simulated devices, and what they should give: naive loops in F64.

use std::ffi::c_void;

use crate::numbers::{decode, encode, width};
use crate::places::{Kind, Place};
use sconce::sconce_status::*;
use sconce::*;

pub const OPERATIONS: [i32; 3] = [
    SCONCE_CONVOLUTION_FORWARD,
    SCONCE_CONVOLUTION_BACKWARD_DATA,
    SCONCE_CONVOLUTION_BACKWARD_FILTER,
];
pub const DTYPES: [i32; 4] =
    [SCONCE_DTYPE_F16, SCONCE_DTYPE_BF16, SCONCE_DTYPE_F32, SCONCE_DTYPE_F64];

/// Two images of 4 channels, 6 x 5, to 6 channels in two groups by a filter of 3 x 2.
pub fn desc(operation: i32, dtype: i32) -> sconce_convolution_desc {
    sconce_convolution_desc {
        struct_size: size_of::<sconce_convolution_desc>() as u32,
        dtype,
        operation,
        spatial_rank: 2,
        batch: 2,
        in_channels: 4,
        out_channels: 6,
        groups: 2,
        input_sizes: [6, 5, 1],
        filter_sizes: [3, 2, 1],
        stride: [2, 1, 1],
        padding: [1, 1, 0],
        dilation: [1, 2, 1],
        input_strides: [0; 5],
        filter_strides: [0; 5],
        output_strides: [0; 5],
    }
}

/// The nearest number of a type.
pub fn rounded(dtype: i32, value: f64) -> f64 {
    decode(dtype, &encode(dtype, value))
}

/// Sizes and strides of input, filter and output.
pub fn tensors(desc: &sconce_convolution_desc) -> [Tensor; 3] {
    let rank = desc.spatial_rank as usize;
    let outputs = (0..rank).map(|i| {
        let span = desc.dilation[i] * (desc.filter_sizes[i] - 1) + 1;
        (desc.input_sizes[i] + 2 * desc.padding[i] - span) / desc.stride[i] + 1
    });
    let outputs: Vec<i64> = outputs.collect();
    let tensor = |outer, channels, spatial: &[i64], strides: &[i64; 5]| {
        let sizes = [&[outer, channels], &spatial[..rank]].concat();
        let mut strides = strides[..2 + rank].to_vec();
        if strides.iter().all(|stride| *stride == 0) {
            strides = packed(&sizes, &(0..2 + rank).collect::<Vec<_>>());
        }
        Tensor { sizes, strides }
    };
    let per_group = desc.in_channels / desc.groups;
    [
        tensor(desc.batch, desc.in_channels, &desc.input_sizes, &desc.input_strides),
        tensor(desc.out_channels, per_group, &desc.filter_sizes, &desc.filter_strides),
        tensor(desc.batch, desc.out_channels, &outputs, &desc.output_strides),
    ]
}

/// Strides of a tensor whose dimensions lie in `order`, from the outermost.
pub fn packed(sizes: &[i64], order: &[usize]) -> Vec<i64> {
    let (mut strides, mut next) = (vec![0; sizes.len()], 1);
    for axis in order.iter().rev() {
        strides[*axis] = next;
        next *= sizes[*axis];
    }
    strides
}

#[derive(Clone, Debug)]
pub struct Tensor {
    pub sizes: Vec<i64>,
    pub strides: Vec<i64>,
}

impl Tensor {
    /// Every index, in order.
    pub fn indices(&self) -> impl Iterator<Item = Vec<i64>> + '_ {
        (0..self.sizes.iter().product::<i64>()).map(|mut number| {
            let mut index = vec![0; self.sizes.len()];
            for (place, size) in index.iter_mut().zip(&self.sizes).rev() {
                *place = number % size;
                number /= size;
            }
            index
        })
    }

    /// Where an index lies among packed values.
    pub fn number(&self, index: &[i64]) -> usize {
        index.iter().zip(&self.sizes).fold(0, |number, (i, size)| number * size + i) as usize
    }

    pub fn count(&self) -> usize {
        self.sizes.iter().product::<i64>() as usize
    }

    fn place(&self, index: &[i64]) -> usize {
        index.iter().zip(&self.strides).map(|(i, stride)| i * stride).sum::<i64>() as usize
    }

    /// Elements from the first to the last.
    pub fn span(&self) -> usize {
        if self.count() == 0 {
            return 0;
        }
        let last: Vec<i64> = self.sizes.iter().map(|size| size - 1).collect();
        self.place(&last) + 1
    }
}

/// The roles of `a`, `b` and `result`: 0 is the input, 1 the filter, 2 the output.
pub fn roles(operation: i32) -> [usize; 3] {
    [[0, 1, 2], [2, 1, 0], [2, 0, 1]][operation as usize]
}

/// What should come out, packed: sums in F64 of the packed values of `a` and `b`.
pub fn reference(desc: &sconce_convolution_desc, a: &[f64], b: &[f64]) -> Vec<f64> {
    let [input, filter, output] = tensors(desc);
    let roles = roles(desc.operation);
    let mut result = vec![0.0; [&input, &filter, &output][roles[2]].count()];
    let outputs_of_group = desc.out_channels / desc.groups;
    for out in output.indices() {
        for weight in filter.indices().filter(|weight| weight[0] == out[1]) {
            let group = out[1] / outputs_of_group;
            let mut at = vec![out[0], group * filter.sizes[1] + weight[1]];
            for i in 0..desc.spatial_rank as usize {
                let from = out[2 + i] * desc.stride[i] - desc.padding[i];
                at.push(from + weight[2 + i] * desc.dilation[i]);
            }
            if at.iter().zip(&input.sizes).any(|(i, size)| !(0..*size).contains(i)) {
                continue;
            }
            let places = [input.number(&at), filter.number(&weight), output.number(&out)];
            let [a, b] = [a[places[roles[0]]], b[places[roles[1]]]];
            result[places[roles[2]]] += a * b;
        }
    }
    result
}

/// A tensor's memory, with something around it and between its elements.
pub struct Stored {
    pub tensor: Tensor,
    pub place: Place,
    dtype: i32,
    before: usize,
}

const UNTOUCHED: u8 = 0xA5;
const AROUND: usize = 64;

impl Stored {
    pub fn new(device: i32, tensor: &Tensor, dtype: i32, values: Option<&[f64]>) -> Stored {
        let bytes = width(dtype);
        let mut data = vec![UNTOUCHED; tensor.span() * bytes + 2 * AROUND];
        if let Some(values) = values {
            for index in tensor.indices() {
                let at = AROUND + tensor.place(&index) * bytes;
                let value = encode(dtype, values[tensor.number(&index)]);
                data[at..at + bytes].copy_from_slice(&value);
            }
        }
        let place = Place::holding(Kind::Device(device), &data);
        Stored { tensor: tensor.clone(), place, dtype, before: AROUND }
    }

    pub fn start(&self) -> *mut c_void {
        self.place.at(self.before)
    }

    /// The values, packed; what lies around them must be as it was.
    #[track_caller]
    pub fn read(&self) -> Vec<f64> {
        for device in [0, 1] {
            assert_eq!(sconce_device_synchronize(device), SCONCE_OK);
        }
        let mut data = self.place.read();
        let bytes = width(self.dtype);
        let mut values = vec![0.0; self.tensor.count()];
        for index in self.tensor.indices() {
            let at = self.before + self.tensor.place(&index) * bytes;
            values[self.tensor.number(&index)] = decode(self.dtype, &data[at..at + bytes]);
            data[at..at + bytes].fill(UNTOUCHED);
        }
        assert!(data.iter().all(|byte| *byte == UNTOUCHED), "wrote between or around the elements");
        values
    }

    /// All elements and what is around them.
    pub fn spoil(&self) {
        self.place.fill(UNTOUCHED);
    }
}

/// Memory for a convolution, with values whose products and sums are exact.
pub struct Stage {
    pub desc: sconce_convolution_desc,
    pub a: Stored,
    pub b: Stored,
    pub result: Stored,
    pub expected: Vec<f64>,
}

impl Stage {
    pub fn new(desc: &sconce_convolution_desc) -> Stage {
        let value = |number: usize, seed: usize| {
            (((number + seed).wrapping_mul(2_654_435_761) >> 7) % 17) as f64 / 8.0 - 1.0
        };
        Stage::with(0, desc, value)
    }

    pub fn with(
        device: i32,
        desc: &sconce_convolution_desc,
        value: impl Fn(usize, usize) -> f64,
    ) -> Stage {
        let tensors = tensors(desc);
        let roles = roles(desc.operation);
        let values = |operand: usize| -> Vec<f64> {
            let number = 0..tensors[roles[operand]].count();
            number.map(|number| value(number, 1000 * operand)).collect()
        };
        let [a, b] = [values(0), values(1)];
        let expected = reference(desc, &a, &b);
        let stored = |operand: usize, values| {
            Stored::new(device, &tensors[roles[operand]], desc.dtype, values)
        };
        let (a, b) = (stored(0, Some(&a[..])), stored(1, Some(&b[..])));
        Stage { desc: *desc, a, b, result: stored(2, None), expected }
    }

    pub fn run(&self) -> sconce_status {
        convolve(&self.desc, self.a.start(), self.b.start(), self.result.start())
    }

    /// What was written must be the nearest to what should have been.
    #[track_caller]
    pub fn check(&self, what: &str) {
        let got = self.result.read();
        for (number, (got, exact)) in got.iter().zip(&self.expected).enumerate() {
            let expected = rounded(self.desc.dtype, *exact);
            assert!(*got == expected, "{what}: element {number} is {got}, not {expected}");
        }
    }
}

pub fn convolve(
    desc: &sconce_convolution_desc,
    a: *const c_void,
    b: *const c_void,
    result: *mut c_void,
) -> sconce_status {
    // SAFETY: a whole description; addresses of devices are checked.
    unsafe { sconce_convolution(desc, a, b, result) }
}

/// The switches as they are at first, and nothing chosen.
pub fn fresh() {
    sconce_context_set_allow_tf32_cudnn(true.into());
    sconce_context_set_benchmark_cudnn(false.into());
    assert_eq!(sconce_context_set_benchmark_limit_cudnn(10), SCONCE_OK);
    sconce_context_set_deterministic_cudnn(false.into());
    sconce_context_set_deterministic_algorithms(false.into());
    assert_eq!(sconce_convolution_clear_plans(), SCONCE_OK);
}
