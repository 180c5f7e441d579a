//! From a convolution to cuDNN's graph of one operation.
//!
//! cuDNN wants two spatial dimensions at least, so that one is handed over as two, the first of
//! size 1. The filter determines the groups: its input channels are those of one group. Alpha is 1
//! and beta 0: what the result held before is not read.

use std::sync::Arc;

use cudarc::cudnn::sys::cudnnBackendAttributeName_t as Attribute;
use cudarc::cudnn::sys::cudnnBackendAttributeName_t::*;
use cudarc::cudnn::sys::cudnnBackendDescriptorType_t as Kind;
use cudarc::cudnn::sys::cudnnConvolutionMode_t::CUDNN_CROSS_CORRELATION;
use cudarc::cudnn::sys::cudnnDataType_t;
use sconce_base::element::Dtype;
use sconce_base::error::{Error, Result};
use sconce_driver::{Convolution, ConvolutionOperation, ConvolutionTensor, MOST_SPATIAL};

use super::descriptor::{Descriptor, Value};
use super::session::Session;
use crate::data_types::dnn_type;

/// By what a tensor is named when addresses are given: input, filter, output.
pub(super) const TENSORS: [i64; 3] = [1, 2, 3];

/// A graph of one convolution. What it is made of is kept as long as it is asked about.
pub(super) struct Problem {
    pub(super) graph: Descriptor,
    _operation: Descriptor,
    _movement: Descriptor,
    _tensors: [Descriptor; 3],
}

impl Problem {
    pub(super) fn new(session: &Arc<Session>, problem: &Convolution) -> Result<Problem> {
        if !problem.filter.is_dense() {
            return Err(Error::not_supported(
                "the strides of the filter leave gaps or overlap, which cuDNN cannot do; copy the \
                 filter to a packed one",
            ));
        }
        let [input, filter, output] = TENSORS;
        let tensors = [
            tensor(session, problem, &problem.input, input)?,
            tensor(session, problem, &problem.filter, filter)?,
            tensor(session, problem, &problem.output, output)?,
        ];
        let movement = movement(session, problem)?;
        let operation = operation(session, problem, &tensors, &movement)?;
        let graph = Descriptor::new(session, Kind::CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR)?
            .with(CUDNN_ATTR_OPERATIONGRAPH_HANDLE, &Value::Handle)?
            .with(CUDNN_ATTR_OPERATIONGRAPH_OPS, &Value::Descriptor(&operation))?
            .finalized()?;
        Ok(Problem { graph, _operation: operation, _movement: movement, _tensors: tensors })
    }
}

fn tensor(
    session: &Arc<Session>,
    problem: &Convolution,
    tensor: &ConvolutionTensor,
    name: i64,
) -> Result<Descriptor> {
    let spatial = problem.spatial.min(MOST_SPATIAL);
    let (mut sizes, mut strides) = (tensor.sizes, tensor.strides);
    let mut rank = 2 + spatial;
    if spatial == 1 {
        (sizes[3], strides[3]) = (sizes[2], strides[2]);
        (sizes[2], strides[2]) = (1, sizes[3].saturating_mul(strides[3]));
        rank += 1;
    }
    Descriptor::new(session, Kind::CUDNN_BACKEND_TENSOR_DESCRIPTOR)?
        .with(CUDNN_ATTR_TENSOR_DATA_TYPE, &Value::DataType(data_type(problem.element)?))?
        .with(CUDNN_ATTR_TENSOR_DIMENSIONS, &Value::Integers(first(&sizes, rank)))?
        .with(CUDNN_ATTR_TENSOR_STRIDES, &Value::Integers(first(&strides, rank)))?
        .with(CUDNN_ATTR_TENSOR_UNIQUE_ID, &Value::Integer(name))?
        .with(CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT, &Value::Integer(tensor.alignment as i64))?
        .finalized()
}

/// How the filter moves over the input.
fn movement(session: &Arc<Session>, problem: &Convolution) -> Result<Descriptor> {
    let spatial = problem.spatial.min(MOST_SPATIAL);
    let rank = spatial.max(2);
    let along = |values: &[i64; MOST_SPATIAL], before: i64| {
        if spatial == 1 { [before, values[0], before] } else { *values }
    };
    let padding = along(&problem.padding, 0);
    let dilation = along(&problem.dilation, 1);
    let stride = along(&problem.stride, 1);
    Descriptor::new(session, Kind::CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR)?
        .with(CUDNN_ATTR_CONVOLUTION_COMP_TYPE, &Value::DataType(sum_type(problem.element)))?
        .with(CUDNN_ATTR_CONVOLUTION_CONV_MODE, &Value::ConvolutionMode(CUDNN_CROSS_CORRELATION))?
        .with(CUDNN_ATTR_CONVOLUTION_SPATIAL_DIMS, &Value::Integer(rank as i64))?
        .with(CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS, &Value::Integers(first(&padding, rank)))?
        .with(CUDNN_ATTR_CONVOLUTION_POST_PADDINGS, &Value::Integers(first(&padding, rank)))?
        .with(CUDNN_ATTR_CONVOLUTION_DILATIONS, &Value::Integers(first(&dilation, rank)))?
        .with(CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES, &Value::Integers(first(&stride, rank)))?
        .finalized()
}

fn operation(
    session: &Arc<Session>,
    problem: &Convolution,
    tensors: &[Descriptor; 3],
    movement: &Descriptor,
) -> Result<Descriptor> {
    let names = Names::of(problem.operation);
    let (one, zero) = match problem.element {
        Dtype::F64 => (Value::Double(1.0), Value::Double(0.0)),
        _ => (Value::Float(1.0), Value::Float(0.0)),
    };
    let [input, filter, output] = tensors;
    Descriptor::new(session, names.kind)?
        .with(names.input, &Value::Descriptor(input))?
        .with(names.filter, &Value::Descriptor(filter))?
        .with(names.output, &Value::Descriptor(output))?
        .with(names.movement, &Value::Descriptor(movement))?
        .with(names.alpha, &one)?
        .with(names.beta, &zero)?
        .finalized()
}

/// What an operation's attributes are called: each of the three has names of its own.
struct Names {
    kind: Kind,
    input: Attribute,
    filter: Attribute,
    output: Attribute,
    movement: Attribute,
    alpha: Attribute,
    beta: Attribute,
}

impl Names {
    const FORWARD: Names = Names {
        kind: Kind::CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR,
        input: CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_X,
        filter: CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_W,
        output: CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_Y,
        movement: CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_CONV_DESC,
        alpha: CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_ALPHA,
        beta: CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_BETA,
    };
    const DATA: Names = Names {
        kind: Kind::CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_DATA_DESCRIPTOR,
        input: CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DX,
        filter: CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_W,
        output: CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DY,
        movement: CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_CONV_DESC,
        alpha: CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_ALPHA,
        beta: CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_BETA,
    };
    const FILTER: Names = Names {
        kind: Kind::CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_FILTER_DESCRIPTOR,
        input: CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_X,
        filter: CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DW,
        output: CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DY,
        movement: CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_CONV_DESC,
        alpha: CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_ALPHA,
        beta: CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_BETA,
    };

    fn of(operation: ConvolutionOperation) -> Names {
        match operation {
            ConvolutionOperation::Forward => Names::FORWARD,
            ConvolutionOperation::Data => Names::DATA,
            ConvolutionOperation::Filter => Names::FILTER,
        }
    }
}

fn data_type(element: Dtype) -> Result<cudnnDataType_t> {
    dnn_type(element).ok_or_else(|| {
        Error::not_supported(format!("cuDNN does not convolve elements of {}", element.name()))
    })
}

/// In which type products are summed up.
fn sum_type(element: Dtype) -> cudnnDataType_t {
    match element {
        Dtype::F64 => cudnnDataType_t::CUDNN_DATA_DOUBLE,
        _ => cudnnDataType_t::CUDNN_DATA_FLOAT,
    }
}

fn first(values: &[i64], count: usize) -> &[i64] {
    values.get(..count).unwrap_or(values)
}
