//! From operands to work: on the current stream of the output's device, or by the calling thread for the CPU.

use sconce_base::element::Dtype;
use sconce_base::error::Result;
use sconce_base::types::DeviceIndex;
use sconce_compute::blas::{self, Matmul};
use sconce_compute::ordering::{self, JoinCall, PlacedOperand, SelectCall, SelectIndex, SortCall};
use sconce_compute::pointwise::{
    self, ElementOperation, PointwiseCall, PointwiseInput, PointwiseOperand, Scalar,
};
use sconce_compute::reduction::{self, ElementOperand, LineCall, ReduceCall};
use sconce_runtime::context::{Runtime, runtime};
use sconce_runtime::memory::sleep::refuse_asleep;
use sconce_runtime::stream::{self, Stream, after_enqueue};
use smallvec::SmallVec;

use crate::tensor::host_use::{self, HostUse};
use crate::tensor::{Dims, Tensor};

/// What a message calls the memory of an operand.
const TENSOR: &str = "the tensor at";

/// An input of elementwise work: a tensor with its strides over the output's sizes, or a number.
#[derive(Clone, Copy)]
pub(crate) enum Input<'a> {
    Tensor(&'a Tensor, &'a Dims),
    Number(Scalar),
}

/// Does the work where the output is. `inputs` are addresses of the other memory that it uses.
#[inline]
fn at_output(
    output: &Tensor,
    inputs: impl IntoIterator<Item = usize>,
    on_host: impl FnOnce() -> Result<()>,
    queue: impl FnOnce(&'static Runtime, Stream) -> Result<()>,
) -> Result<()> {
    let Some(device) = output.place().device() else { return on_host() };
    let runtime = runtime()?;
    refuse_asleep([output.address()].into_iter().chain(inputs), TENSOR)?;
    let stream = stream::current_on(runtime, device)?;
    queue(runtime, stream)?;
    after_enqueue(runtime, stream)
}

fn operand<'a>(tensor: &Tensor, strides: &'a [i64]) -> PointwiseOperand<'a> {
    PointwiseOperand { address: tensor.raw(), dtype: tensor.dtype(), strides }
}

fn use_of<'a>(it: &PointwiseOperand<'a>, sizes: &'a [i64]) -> HostUse<'a> {
    HostUse::operand(it.address.get(), it.dtype, sizes, it.strides)
}

fn placed<'a>(it: &PlacedOperand<'a>, dtype: Dtype, sizes: &'a [i64]) -> HostUse<'a> {
    HostUse::operand(it.address.get(), dtype, sizes, it.strides)
}

/// An elementwise operation, computed in a type.
pub(crate) fn run(
    op: ElementOperation,
    compute: Dtype,
    output: &Tensor,
    inputs: &[Input<'_>],
    parameters: &[Scalar],
) -> Result<()> {
    if output.numel() == 0 {
        return Ok(());
    }
    let is_flat = output.is_contiguous()
        && inputs.iter().all(|input| match input {
            Input::Tensor(_, strides) => strides[..] == *output.strides(),
            Input::Number(_) => true,
        });
    // Elements that lie one after another everywhere are one axis.
    let (count, step) = ([output.numel()], [1]);
    let sizes = if is_flat { &count[..] } else { output.sizes() };
    let over = |strides| if is_flat { &step[..] } else { strides };
    let inputs: SmallVec<[PointwiseInput<'_>; 3]> = inputs
        .iter()
        .map(|input| match input {
            Input::Tensor(tensor, strides) => {
                PointwiseInput::Elements(operand(tensor, over(&strides[..])))
            }
            Input::Number(number) => PointwiseInput::Scalar(*number),
        })
        .collect();
    let parameter = |index: usize| parameters.get(index).copied().unwrap_or(Scalar::Int(1));
    let call = PointwiseCall {
        op,
        compute,
        sizes,
        output: operand(output, over(output.strides())),
        inputs: &inputs,
        parameters: [parameter(0), parameter(1)],
    };
    run_call(output, &call)
}

/// An elementwise operation on tensors that are contiguous, as is the output; all have as many elements.
pub(crate) fn run_flat<const INPUTS: usize>(
    op: ElementOperation,
    compute: Dtype,
    output: &Tensor,
    inputs: [&Tensor; INPUTS],
    parameter: Scalar,
) -> Result<()> {
    if output.numel() == 0 {
        return Ok(());
    }
    let inputs = inputs.map(|tensor| PointwiseInput::Elements(operand(tensor, &[1])));
    let call = PointwiseCall {
        op,
        compute,
        sizes: &[output.numel()],
        output: operand(output, &[1]),
        inputs: &inputs,
        parameters: [parameter, Scalar::Int(1)],
    };
    run_call(output, &call)
}

#[inline]
fn run_call(output: &Tensor, call: &PointwiseCall<'_>) -> Result<()> {
    let addresses = call.inputs.iter().filter_map(|input| match input {
        PointwiseInput::Elements(elements) => Some(elements.address.get()),
        PointwiseInput::Scalar(_) => None,
    });
    at_output(
        output,
        addresses,
        || {
            host_use::note(call.inputs.iter().filter_map(|input| match input {
                PointwiseInput::Elements(elements) => Some(use_of(elements, call.sizes)),
                PointwiseInput::Scalar(_) => None,
            }));
            host_use::note([HostUse { writes: true, ..use_of(&call.output, call.sizes) }]);
            pointwise::on_host(call)
        },
        |runtime, stream| pointwise::queue(runtime, stream.driver_ref(), call),
    )
}

/// Elements of another type.
pub(crate) fn cast(output: &Tensor, input: &Tensor, strides: &Dims) -> Result<()> {
    let inputs = [Input::Tensor(input, strides)];
    run(ElementOperation::Cast, output.dtype(), output, &inputs, &[])
}

/// One number for all elements.
pub(crate) fn fill(output: &Tensor, value: Scalar) -> Result<()> {
    run(ElementOperation::Fill, output.dtype(), output, &[Input::Number(value)], &[])
}

/// `start`, `start + step`, and so on.
pub(crate) fn range(output: &Tensor, start: Scalar, step: Scalar) -> Result<()> {
    run(ElementOperation::Range, output.dtype(), output, &[], &[start, step])
}

/// Numbers at equal distances from `start` to `end`.
pub(crate) fn linspace(output: &Tensor, start: Scalar, end: Scalar) -> Result<()> {
    let whole = crate::tensor::promotion::is_integral(output.dtype());
    let compute = if whole { Dtype::F32 } else { output.dtype() };
    run(ElementOperation::Linspace, compute, output, &[], &[start, end])
}

/// The first element of a tensor, for a reduction.
pub(crate) fn element_operand(tensor: &Tensor) -> ElementOperand {
    ElementOperand { address: tensor.address() as u64, dtype: tensor.dtype() }
}

/// A reduction of `input` into `output`.
pub(crate) fn reduce(output: &Tensor, input: &Tensor, call: &ReduceCall<'_>) -> Result<()> {
    at_output(
        output,
        [input.address()],
        || {
            host_use::note([HostUse::reads(input), HostUse::writes(output)]);
            reduction::reduce_on_host(call, input.raw(), output.raw())
        },
        |runtime, stream| reduction::queue_reduce(runtime, stream, call),
    )
}

/// Work along lines of `input`, into `output`.
pub(crate) fn lines(output: &Tensor, input: &Tensor, call: &LineCall<'_>) -> Result<()> {
    at_output(
        output,
        [input.address()],
        || {
            host_use::note([HostUse::reads(input), HostUse::writes(output)]);
            reduction::lines_on_host(call, input.raw(), output.raw())
        },
        |runtime, stream| reduction::queue_lines(runtime, stream, call),
    )
}

/// Parts joined into `output`.
pub(crate) fn join(output: &Tensor, call: &JoinCall<'_>) -> Result<()> {
    at_output(
        output,
        call.parts.iter().map(|part| part.operand.address.get()),
        || {
            for part in call.parts {
                let used = placed(&part.operand, call.dtype, call.sizes);
                host_use::note_resized(&used, call.axis, part.size);
            }
            host_use::note([HostUse::writes(output)]);
            ordering::join_on_host(call)
        },
        |runtime, stream| ordering::join(runtime, stream, call),
    )
}

/// Products of small matrices of a device; the addresses are those of `a`, `b` and `c`.
pub(crate) fn small_product(
    device: DeviceIndex,
    request: &Matmul,
    addresses: [usize; 3],
) -> Result<()> {
    refuse_asleep(addresses, TENSOR)?;
    let runtime = runtime()?;
    let stream = stream::current_on(runtime, device)?;
    blas::small_product(runtime, stream, request, addresses)?;
    after_enqueue(runtime, stream)
}

/// A sort into `output` and its indices.
pub(crate) fn sort(output: &Tensor, call: &SortCall<'_>) -> Result<()> {
    at_output(
        output,
        [&call.input, &call.values, &call.indices].map(|operand| operand.address.get()),
        || {
            let indices = placed(&call.indices, Dtype::I64, call.sizes);
            host_use::note([
                placed(&call.input, call.dtype, call.sizes),
                HostUse { writes: true, ..indices },
                HostUse::writes(output),
            ]);
            ordering::sort_on_host(call)
        },
        |runtime, stream| ordering::sort(runtime, stream, call),
    )
}

/// A selection into `output`.
pub(crate) fn select(output: &Tensor, call: &SelectCall<'_>) -> Result<()> {
    at_output(
        output,
        [call.input.address.get(), call.index.address.get()],
        || {
            let input = placed(&call.input, call.dtype, call.sizes);
            host_use::note_resized(&input, call.axis, call.input_size);
            let count = call.sizes.get(call.axis).copied().unwrap_or(1);
            let (count, step) = ([count], [call.index.stride]);
            let SelectIndex { address, dtype, .. } = call.index;
            host_use::note([
                HostUse::operand(address.get(), dtype, &count, &step),
                HostUse::writes(output),
            ]);
            ordering::select_on_host(call)
        },
        |runtime, stream| ordering::select(runtime, stream, call),
    )
}
