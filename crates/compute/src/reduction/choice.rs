//! Which kernel a reduction takes, by its types and by how its elements lie.

use sconce_base::element::{Dtype, DtypeKind};
use sconce_kernels::{ReduceForm, ReduceImage, ReduceKernel};
use sconce_math::folding::{Number, ReduceCall, ReduceOp};

use super::shape::ReduceShape;

/// A kernel, with the operation and the types that its launch is given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ReduceChoice {
    pub(super) kernel: ReduceKernel,
    pub(super) op: ReduceOp,
    pub(super) types: [Dtype; 3],
    /// What bits are turned with, or looked at.
    pub(super) mask: u64,
    /// How many elements an access moves.
    pub(super) width: u64,
}

pub(super) use sconce_math::folding::sum_type as accumulator_of;

/// The image with a fast kernel for an operation on types, the type that the kernel is made for, and
/// the operation as it knows it.
fn fast(
    op: ReduceOp,
    [input, compute, output]: [Dtype; 3],
) -> Option<(ReduceImage, Dtype, ReduceOp)> {
    use Dtype::{Bf16, Bool, F16, F32, F64, I8, I64, U8};
    let is_byte = matches!(input, Bool | U8 | I8);
    let is_small = matches!(input, F32 | F16 | Bf16);
    match op {
        ReduceOp::Sum | ReduceOp::Mean if is_small => {
            let fits = (compute == input || compute == F32) && matches!(output, F32 | F16 | Bf16);
            fits.then_some((ReduceImage::Sum, input, op))
        }
        ReduceOp::Sum | ReduceOp::Mean if [input, compute, output] == [F64; 3] => {
            Some((ReduceImage::Sum, F64, op))
        }
        ReduceOp::Sum if output == I64 && (compute == I64 || compute == input) => match input {
            Bool => Some((ReduceImage::Count, U8, ReduceOp::Count)),
            I64 => Some((ReduceImage::Sum, I64, op)),
            _ => None,
        },
        ReduceOp::Amax | ReduceOp::Amin if compute == input && output == input => match input {
            Bool if op == ReduceOp::Amax => Some((ReduceImage::Count, U8, ReduceOp::Any)),
            Bool => Some((ReduceImage::Count, U8, ReduceOp::All)),
            F32 | F16 | Bf16 | F64 | I64 => Some((ReduceImage::Extreme, input, op)),
            _ => None,
        },
        ReduceOp::Argmax | ReduceOp::Argmin if is_small && compute == input && output == I64 => {
            Some((ReduceImage::Index, input, op))
        }
        ReduceOp::All | ReduceOp::Any if is_byte && matches!(output, Bool | U8) => {
            Some((ReduceImage::Count, U8, op))
        }
        ReduceOp::Count if is_byte && output == I64 => Some((ReduceImage::Count, U8, op)),
        _ => None,
    }
}

/// How many elements an access of a kernel for columns moves: as its source says.
fn columns_width(image: ReduceImage, dtype: Dtype) -> u64 {
    match (image, dtype) {
        (ReduceImage::Sum, Dtype::F32) => 4,
        (ReduceImage::Sum, Dtype::F16 | Dtype::Bf16) => 8,
        _ => 1,
    }
}

/// Whether there is a kernel that sums short rows of a type.
fn dtype_of_short(dtype: Dtype) -> bool {
    matches!(dtype, Dtype::F32 | Dtype::F16 | Dtype::Bf16)
}

/// What extremes turn bits with, so that the largest is always looked for.
fn turning(op: ReduceOp, compared: Dtype) -> u64 {
    let smallest = matches!(op, ReduceOp::Amin | ReduceOp::Argmin);
    match compared {
        Dtype::F64 if smallest => 1 << 63,
        Dtype::F32 | Dtype::F16 | Dtype::Bf16 if smallest => 1 << 31,
        Dtype::U64 => {
            if smallest {
                !(1 << 63)
            } else {
                1 << 63
            }
        }
        _ if smallest && compared.kind() != DtypeKind::Float => u64::MAX,
        _ => 0,
    }
}

impl ReduceChoice {
    /// The kernel for a call whose axes are `shape`.
    pub(super) fn of(call: &ReduceCall<'_>, shape: &ReduceShape) -> ReduceChoice {
        let types = [call.input.dtype, call.compute, call.output.dtype];
        let fast = fast(call.op, types).filter(|_| !call.op.is_index() || shape.is_in_order());
        if let Some((image, dtype, op)) = fast.filter(|_| shape.count > 0) {
            let mask = if image == ReduceImage::Count { 0xff } else { turning(op, dtype) };
            let with = |form, width| {
                let kernel = ReduceKernel { image, form, dtype };
                ReduceChoice { kernel, op, types, mask, width }
            };
            if image == ReduceImage::Sum && dtype_of_short(dtype) && shape.is_few_short_rows() {
                return with(ReduceForm::Short, 1);
            }
            if shape.reduced.first().is_some_and(|axis| axis.stride == 1) {
                return with(ReduceForm::Rows, 16 / dtype.bytes() as u64);
            }
            if let (Some(line), false) = (shape.kept.first(), shape.reduced.is_empty())
                && line.stride == 1
            {
                let width = columns_width(image, dtype);
                let others = shape.kept[1..].iter().chain(&shape.reduced);
                let bits = others.fold(line.size, |bits, axis| bits | axis.stride as u64)
                    | (call.input.address / dtype.bytes() as u64);
                return match width > 1 && bits.is_multiple_of(width) {
                    true => with(ReduceForm::Columns, width),
                    false => with(ReduceForm::Narrow, 1),
                };
            }
        }
        ReduceChoice::general(call)
    }

    /// The kernel for any types and strides.
    pub(super) fn general(call: &ReduceCall<'_>) -> ReduceChoice {
        let types = [call.input.dtype, call.compute, call.output.dtype];
        let dtype = if call.op.is_logical() { Dtype::I64 } else { accumulator_of(call.compute) };
        let kernel = ReduceKernel { image: ReduceImage::General, form: ReduceForm::General, dtype };
        ReduceChoice { kernel, op: call.op, types, mask: turning(call.op, call.compute), width: 1 }
    }
}

/// The bits of the result of no elements, for extremes.
pub(super) fn of_nothing(op: ReduceOp, compute: Dtype) -> u64 {
    match (op, Number::extreme(compute, op == ReduceOp::Amin)) {
        (ReduceOp::Amax | ReduceOp::Amin, Number::Real(value)) => value.to_bits(),
        (ReduceOp::Amax | ReduceOp::Amin, Number::Whole(value)) => value as u64,
        (ReduceOp::Amax | ReduceOp::Amin, Number::Natural(value)) => value,
        _ => 0,
    }
}
