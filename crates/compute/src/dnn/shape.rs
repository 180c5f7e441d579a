//! From a caller's description to a problem: bounds, defaults, sizes of the output.

use sconce_base::element::Dtype;
use sconce_base::error::{Error, Result};
use sconce_base::strided::{Footprint, StridedView, packed_strides};
use sconce_driver::{Convolution, ConvolutionOperation, ConvolutionTensor, MOST_SPATIAL};

/// Batch and channels come before the spatial dimensions.
const MOST_AXES: usize = 2 + MOST_SPATIAL;

/// A convolution as a caller describes it; see `sconce_convolution_desc`.
#[derive(Clone, Copy, Debug)]
pub struct ConvolutionRequest {
    /// What is calculated.
    pub operation: ConvolutionOperation,
    /// The type of all three.
    pub element: Dtype,
    /// Spatial dimensions, 1 to 3.
    pub spatial: usize,
    /// Images.
    pub batch: i64,
    /// Channels of the input.
    pub in_channels: i64,
    /// Channels of the output.
    pub out_channels: i64,
    /// Groups of channels.
    pub groups: i64,
    /// Spatial sizes of the input.
    pub input_sizes: [i64; MOST_SPATIAL],
    /// Spatial sizes of the filter.
    pub filter_sizes: [i64; MOST_SPATIAL],
    /// How far the filter moves.
    pub stride: [i64; MOST_SPATIAL],
    /// Zeros on each side of the input.
    pub padding: [i64; MOST_SPATIAL],
    /// How far apart the filter's elements lie.
    pub dilation: [i64; MOST_SPATIAL],
    /// Batch, channels, spatial; all 0 is packed.
    pub input_strides: [i64; MOST_AXES],
    /// Output channels, input channels of a group, spatial; all 0 is packed.
    pub filter_strides: [i64; MOST_AXES],
    /// As of the input.
    pub output_strides: [i64; MOST_AXES],
}

/// A place in the order of a problem's tensors: input, filter, output.
pub(super) type Role = usize;
const INPUT: Role = 0;
pub(super) const FILTER: Role = 1;
const OUTPUT: Role = 2;
const NAMES: [&str; 3] = ["input", "filter", "output"];

/// What there is to do.
#[allow(clippy::large_enum_variant, reason = "the largest is the usual one, and goes nowhere")]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ConvolutionTask {
    /// The result has no elements.
    Nothing,
    /// The reduction is empty: the result, of this layout, is filled with zeros. The bytes as below, 0 for
    /// a tensor without elements.
    Zero(ConvolutionTensor, [usize; 3]),
    /// A convolution, and how many bytes are used of input, filter and output. Alignments are those
    /// of the elements.
    Convolve(Convolution, [usize; 3]),
}

/// The roles of `a`, `b` and `result`.
pub(super) fn roles(operation: ConvolutionOperation) -> [Role; 3] {
    match operation {
        ConvolutionOperation::Forward => [INPUT, FILTER, OUTPUT],
        ConvolutionOperation::Data => [OUTPUT, FILTER, INPUT],
        ConvolutionOperation::Filter => [OUTPUT, INPUT, FILTER],
    }
}

impl ConvolutionRequest {
    /// Spatial sizes of the output.
    pub fn output_sizes(&self) -> Result<[i64; MOST_SPATIAL]> {
        self.check()?;
        let mut sizes = [1; MOST_SPATIAL];
        for (axis, size) in sizes.iter_mut().enumerate().take(self.spatial) {
            *size = self.output_size(axis)?;
        }
        Ok(sizes)
    }

    /// What there is to do, if all of it is in order.
    pub(super) fn task(&self) -> Result<ConvolutionTask> {
        let outputs = self.output_sizes()?;
        let in_group = self.in_channels / self.groups;
        let sizes = [
            self.sizes(self.batch, self.in_channels, &self.input_sizes),
            self.sizes(self.out_channels, in_group, &self.filter_sizes),
            self.sizes(self.batch, self.out_channels, &outputs),
        ];
        let strides = [&self.input_strides, &self.filter_strides, &self.output_strides];
        let [.., result] = roles(self.operation);
        let is_empty = |role: Role| sizes[role].contains(&0);
        if is_empty(result) {
            return Ok(ConvolutionTask::Nothing);
        }
        let nothing = ConvolutionTensor { sizes: [0; 5], strides: [1; 5], alignment: 1 };
        let mut tensors = [nothing; 3];
        let mut bytes = [0; 3];
        for role in (0..3).filter(|role| !is_empty(*role)) {
            tensors[role] = self.tensor(NAMES[role], &sizes[role], strides[role])?;
            bytes[role] = self.bytes(NAMES[role], &tensors[role])?;
        }
        if let Some(overlap) = view(&tensors[result]).overlap() {
            return Err(overlaps_itself(NAMES[result], overlap.axis));
        }
        if (0..3).any(is_empty) {
            return Ok(ConvolutionTask::Zero(tensors[result], bytes));
        }
        self.set_strides_of_size_one(&mut tensors);
        let [input, filter, output] = tensors;
        let up_to_rank = |values: [i64; MOST_SPATIAL], rest: i64| {
            std::array::from_fn(|i| if i < self.spatial { values[i] } else { rest })
        };
        let problem = Convolution {
            operation: self.operation,
            element: self.element,
            spatial: self.spatial,
            groups: self.groups,
            input,
            filter,
            output,
            stride: up_to_rank(self.stride, 1),
            padding: up_to_rank(self.padding, 0),
            dilation: up_to_rank(self.dilation, 1),
        };
        Ok(ConvolutionTask::Convolve(problem, bytes))
    }

    /// All bounds but those of strides.
    fn check(&self) -> Result<()> {
        at_least("batch", self.batch, 0)?;
        at_least("in_channels", self.in_channels, 0)?;
        at_least("out_channels", self.out_channels, 0)?;
        at_least("groups", self.groups, 1)?;
        for (name, channels) in
            [("in_channels", self.in_channels), ("out_channels", self.out_channels)]
        {
            if channels % self.groups != 0 {
                return Err(not_a_multiple(name, channels, self.groups));
            }
        }
        for (name, values, least) in [
            ("input_sizes", &self.input_sizes, 0),
            ("filter_sizes", &self.filter_sizes, 1),
            ("stride", &self.stride, 1),
            ("padding", &self.padding, 0),
            ("dilation", &self.dilation, 1),
        ] {
            for (axis, value) in values.iter().enumerate().take(self.spatial) {
                if *value < least {
                    at_least(&format!("{name}[{axis}]"), *value, least)?;
                }
            }
        }
        Ok(())
    }

    fn output_size(&self, axis: usize) -> Result<i64> {
        let [size, filter, stride, padding, dilation] =
            [self.input_sizes, self.filter_sizes, self.stride, self.padding, self.dilation]
                .map(|values| i128::from(values[axis]));
        let span = dilation * (filter - 1) + 1;
        let padded = size + 2 * padding;
        if span > padded {
            return Err(does_not_fit(axis, span, padded));
        }
        i64::try_from((padded - span) / stride + 1).map_err(|_| too_far("output"))
    }

    fn sizes(&self, outer: i64, channels: i64, spatial: &[i64; MOST_SPATIAL]) -> [i64; MOST_AXES] {
        let mut sizes = [1; MOST_AXES];
        sizes[0] = outer;
        sizes[1] = channels;
        sizes[2..2 + self.spatial].copy_from_slice(&spatial[..self.spatial]);
        sizes
    }

    /// A tensor with elements; strides of dimensions of size 1 are any.
    fn tensor(
        &self,
        name: &str,
        sizes: &[i64; MOST_AXES],
        given: &[i64; MOST_AXES],
    ) -> Result<ConvolutionTensor> {
        let axes = 2 + self.spatial;
        let mut strides = [1; MOST_AXES];
        if given[..axes].iter().all(|stride| *stride == 0) {
            let packed = packed_strides(sizes, (0..axes).rev());
            (strides, _) = packed.ok_or_else(|| too_far(name))?;
        } else {
            for axis in (0..axes).filter(|axis| sizes[*axis] > 1) {
                if given[axis] < 1 {
                    return Err(bad_stride(name, axis, given[axis]));
                }
                strides[axis] = given[axis];
            }
        }
        Ok(ConvolutionTensor { sizes: *sizes, strides, alignment: self.element.bytes() })
    }

    /// From the first byte to the last.
    fn bytes(&self, name: &str, tensor: &ConvolutionTensor) -> Result<usize> {
        let span = view(tensor).byte_span(self.element.bytes() as i64);
        span.map(|span| span.bytes as usize).ok_or_else(|| too_far(name))
    }

    /// Gives dimensions of size 1 the strides that they would have if the tensors were packed, with
    /// the channels last if any of the tensors has them there: equal problems are then equal, and a
    /// library recognises the layout.
    fn set_strides_of_size_one(&self, tensors: &mut [ConvolutionTensor; 3]) {
        // From the innermost.
        let order: [usize; MOST_AXES] =
            if tensors.iter().any(has_channels_last) { [1, 4, 3, 2, 0] } else { [4, 3, 2, 1, 0] };
        for tensor in tensors {
            let mut next = 1_i64;
            for axis in order.into_iter().filter(|axis| *axis < 2 + self.spatial) {
                if tensor.sizes[axis] == 1 {
                    tensor.strides[axis] = next;
                } else {
                    next = next.max(tensor.strides[axis].saturating_mul(tensor.sizes[axis]));
                }
            }
        }
    }
}

/// Where the elements of a problem's tensor lie, if it begins at an address.
pub(super) fn footprint(problem: &Convolution, role: Role, address: usize) -> Footprint<'_> {
    let tensor = [&problem.input, &problem.filter, &problem.output][role];
    let element = problem.element.bytes();
    Footprint { address, element, view: view(tensor) }
}

fn view(tensor: &ConvolutionTensor) -> StridedView<'_> {
    StridedView::new(&tensor.sizes, &tensor.strides)
}

/// True if the strides show that the channels lie within the spatial dimensions.
pub(super) fn has_channels_last(tensor: &ConvolutionTensor) -> bool {
    let mut spatial = (2..MOST_AXES).filter(|axis| tensor.sizes[*axis] > 1).peekable();
    tensor.sizes[1] > 1
        && spatial.peek().is_some()
        && spatial.all(|axis| tensor.strides[1] < tensor.strides[axis])
}

fn at_least(name: &str, value: i64, least: i64) -> Result<()> {
    if value >= least {
        return Ok(());
    }
    Err(Error::invalid_argument(format!("desc.{name} is {value}; it must be at least {least}")))
}

#[cold]
fn not_a_multiple(name: &str, channels: i64, groups: i64) -> Error {
    Error::invalid_argument(format!(
        "desc.{name} is {channels}, not a multiple of desc.groups, {groups}"
    ))
}

#[cold]
fn does_not_fit(axis: usize, span: i128, padded: i128) -> Error {
    Error::invalid_argument(format!(
        "desc.filter_sizes[{axis}] and desc.dilation[{axis}] make a filter that spans {span} \
         elements, but the padded input has {padded}; pad it more or use a smaller filter"
    ))
}

#[cold]
fn bad_stride(name: &str, axis: usize, stride: i64) -> Error {
    let why = if stride == 0 {
        "cuDNN does not support repeated elements; copy the tensor to packed memory first"
    } else {
        "cuDNN goes only forwards"
    };
    Error::invalid_argument(format!(
        "desc.{name}_strides[{axis}] is {stride}; it must be at least 1, because {why}"
    ))
}

#[cold]
fn too_far(name: &str) -> Error {
    Error::invalid_argument(format!(
        "desc: the {name}'s sizes and strides reach beyond the address space"
    ))
}

#[cold]
fn overlaps_itself(name: &str, axis: usize) -> Error {
    Error::invalid_argument(format!(
        "desc.{name}_strides[{axis}] is smaller than what the dimensions with smaller strides span, \
         so that elements of the result overlap or interleave; write to a tensor where each stride \
         is at least that"
    ))
}

#[cfg(test)]
#[path = "shape_tests.rs"]
mod tests;
