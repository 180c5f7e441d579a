//! Many elements to one, over all or some dimensions.

use sconce_base::element::Dtype;
use sconce_base::error::{Error, Result};
use sconce_compute::reduction::{KeptAxis, ReduceCall, ReduceOp, ReducedAxis};
use smallvec::SmallVec;

use super::output::{Destination, InPlace};
use super::unary::not_implemented;
use crate::tensor::dims::wrap_dim;
use crate::tensor::launch;
use crate::tensor::promotion::{is_complex, is_integral};
use crate::tensor::{Dims, Place, Tensor, TensorOptions};

/// What is reduced and how.
#[derive(Clone, Copy)]
pub struct Reduction<'a> {
    pub op: ReduceOp,
    /// The dimensions that go; none: all.
    pub dims: &'a [i64],
    /// Whether they stay, with one element.
    pub keep: bool,
    /// The type that elements are converted to first; for sums, products and means.
    pub dtype: Option<Dtype>,
}

/// The type that is computed in, and that of the result. Without a type that was asked for, sums, products and means
/// are computed in the type of the tensor that they are written to, as in torch.
fn types(reduction: &Reduction<'_>, input: Dtype, into: Option<Dtype>) -> Result<[Dtype; 2]> {
    let name = reduction.op.torch_name();
    match reduction.op {
        ReduceOp::Sum | ReduceOp::Prod => {
            let default = if is_integral(input) { Dtype::I64 } else { input };
            let dtype = reduction.dtype.or(into).unwrap_or(default);
            Ok([dtype, dtype])
        }
        ReduceOp::Mean => {
            let dtype = reduction.dtype.unwrap_or(input);
            let result = reduction.dtype.or(into).unwrap_or(input);
            if is_integral(dtype) {
                let what = if reduction.dtype.is_some() { "Optional" } else { "Input" };
                return Err(Error::not_supported(format!(
                    "mean(): could not infer output dtype. {what} dtype must be either a floating point or \
                     complex dtype. Got: {}",
                    dtype.c10_name()
                )));
            }
            // torch writes 0 to such an output, whatever the mean is.
            if is_integral(result) {
                return Err(Error::not_supported(format!(
                    "mean(): an output of type {} holds no mean; pass one of a floating point or complex dtype",
                    result.c10_name()
                )));
            }
            // torch has sums and products of complex halves, but no means.
            if result == Dtype::C32 {
                return Err(not_implemented("mean", result));
            }
            Ok([result, result])
        }
        _ if reduction.dtype.is_some() => Err(Error::invalid_argument(format!(
            "{name}(): takes no dtype; convert the tensor first"
        ))),
        ReduceOp::Argmax | ReduceOp::Argmin if input == Dtype::Bool => {
            Err(Error::not_supported(format!("{name}(): does not support bool input")))
        }
        ReduceOp::Amax | ReduceOp::Amin | ReduceOp::Argmax | ReduceOp::Argmin
            if is_complex(input) =>
        {
            Err(Error::not_supported(format!("{name}(): does not support complex input")))
        }
        ReduceOp::Argmax | ReduceOp::Argmin | ReduceOp::Count => Ok([input, Dtype::I64]),
        ReduceOp::Amax | ReduceOp::Amin => Ok([input, input]),
        ReduceOp::All | ReduceOp::Any => match into {
            Some(into @ (Dtype::Bool | Dtype::U8)) => Ok([input, into]),
            Some(into) => Err(Error::invalid_argument(format!(
                "{name} only supports bool tensor for result, got: {}",
                into.c10_name()
            ))),
            None => Ok([input, if input == Dtype::U8 { Dtype::U8 } else { Dtype::Bool }]),
        },
    }
}

/// Which dimensions go.
fn mask(reduction: &Reduction<'_>, rank: usize) -> Result<SmallVec<[bool; 8]>> {
    let all = reduction.dims.is_empty();
    let mut goes: SmallVec<[bool; 8]> = SmallVec::from_elem(all, rank.max(1));
    for dim in reduction.dims {
        let at = wrap_dim(*dim, rank)?;
        if std::mem::replace(&mut goes[at], true) {
            return Err(Error::invalid_argument(format!(
                "dim {at} appears multiple times in the list of dims"
            )));
        }
    }
    goes.truncate(rank);
    Ok(goes)
}

/// Refuses to look for the largest of no elements.
fn refuse_nothing(reduction: &Reduction<'_>, input: &Tensor, goes: &[bool]) -> Result<()> {
    let looks_for_one =
        reduction.op.is_index() || matches!(reduction.op, ReduceOp::Amax | ReduceOp::Amin);
    if !looks_for_one || input.numel() != 0 {
        return Ok(());
    }
    let name = reduction.op.torch_name();
    if reduction.dims.is_empty() {
        return Err(Error::invalid_argument(format!(
            "{name}(): Expected reduction dim to be specified for input.numel() == 0. Specify the reduction \
             dim with the 'dim' argument."
        )));
    }
    match goes.iter().zip(input.sizes()).position(|(goes, size)| *goes && *size == 0) {
        None => Ok(()),
        Some(at) => {
            let given = reduction.dims.iter().find(|dim| **dim == at as i64 || **dim < 0);
            let dim = if reduction.op.is_index() { at as i64 } else { *given.unwrap_or(&0) };
            Err(Error::invalid_argument(format!(
                "{name}(): Expected reduction dim {dim} to have non-zero size."
            )))
        }
    }
}

/// The reduction, into a new tensor or `into`.
pub fn reduce(input: &Tensor, reduction: Reduction<'_>, into: Option<&Tensor>) -> Result<Tensor> {
    let destination = Destination::at(input.place(), into)?;
    let [compute, dtype] = types(&reduction, input.dtype(), destination.dtype())?;
    if reduction.op.is_index() && reduction.dims.len() > 1 {
        return Err(Error::invalid_argument(format!(
            "{}(): takes one dimension or none, but {} were given",
            reduction.op.torch_name(),
            reduction.dims.len()
        )));
    }
    let goes = mask(&reduction, input.rank())?;
    refuse_nothing(&reduction, input, &goes)?;
    let mut sizes = Dims::new();
    for (goes, size) in goes.iter().zip(input.sizes()) {
        match (*goes, reduction.keep) {
            (false, _) => sizes.push(*size),
            (true, true) => sizes.push(1),
            (true, false) => {}
        }
    }
    let options = TensorOptions::of(input).with(dtype);
    let destination = destination.exactly(dtype)?.reads(input, InPlace::Copies)?;
    let result = destination.packed(options, &sizes)?;
    let output = result.tensor();
    if output.numel() == 0 {
        return result.finish();
    }
    let (mut kept, mut reduced) =
        (SmallVec::<[KeptAxis; 8]>::new(), SmallVec::<[ReducedAxis; 8]>::new());
    let mut at = 0;
    // Kernels would join these axes. On the CPU each one is summed for itself.
    let is_run =
        input.place() != Place::Cpu && goes.iter().all(|goes| *goes) && input.is_contiguous();
    if is_run {
        reduced.push(ReducedAxis { size: input.numel(), input_stride: 1 });
    }
    for (dim, goes) in goes.iter().enumerate().filter(|_| !is_run) {
        let (size, input_stride) = (input.sizes()[dim], input.strides()[dim]);
        if *goes {
            reduced.push(ReducedAxis { size, input_stride });
            at += usize::from(reduction.keep);
        } else {
            kept.push(KeptAxis { size, input_stride, output_stride: output.strides()[at] });
            at += 1;
        }
    }
    launch::reduce(
        output,
        input,
        &ReduceCall {
            op: reduction.op,
            input: launch::element_operand(input),
            compute,
            output: launch::element_operand(output),
            kept: &kept,
            reduced: &reduced,
        },
    )?;
    result.finish()
}
