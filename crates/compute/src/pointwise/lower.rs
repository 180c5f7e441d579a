//! From a call to an operation of the kernels.

use sconce_base::element::{Dtype, DtypeKind};
use sconce_base::error::{Error, Result};
use sconce_driver::RawAddress;
use sconce_math::arithmetic::{
    AnyNumber, Domain, ElementOperation, Elementwise, ElementwiseInput, Lowering, MOST_INPUTS,
    Scalar,
};
use smallvec::SmallVec;

use super::axes::axes_of;
use super::call::{PointwiseCall, PointwiseInput};

/// A call as the kernels know it.
pub(super) struct Lowered {
    pub(super) task: Elementwise,
    /// Where the first element of each operand is, the output's first. A constant has the output's.
    pub(super) addresses: SmallVec<[RawAddress; MOST_INPUTS + 1]>,
}

/// An operation of the kernels, the type of its computation, and which inputs of the call it takes.
pub(super) struct Choice {
    pub(super) operation: ElementOperation,
    pub(super) compute: Dtype,
    inputs: &'static [usize],
}

impl Choice {
    /// Whether the operation takes the inputs of the call, all of them and in their order.
    #[inline]
    pub(super) fn takes_all_in_order(&self, call: &PointwiseCall<'_>) -> bool {
        self.inputs.len() == call.inputs.len()
            && self.inputs.iter().zip(IN_ORDER).all(|(input, place)| *input == place)
    }
}

/// The inputs of a call, in their order.
const IN_ORDER: [usize; MOST_INPUTS] = [0, 1, 2];

/// What a call becomes.
pub(super) fn lower(call: &PointwiseCall<'_>) -> Result<Lowered> {
    let choice = choose(call);
    let domain = Domain::of(choice.compute);
    check(call, &choice, domain)?;
    let mut inputs: SmallVec<[ElementwiseInput; MOST_INPUTS]> = SmallVec::new();
    let mut taken: SmallVec<[PointwiseInput<'_>; MOST_INPUTS]> = SmallVec::new();
    let mut addresses: SmallVec<[RawAddress; MOST_INPUTS + 1]> = SmallVec::new();
    addresses.push(call.output.address);
    for index in choice.inputs {
        let input = call.inputs[*index];
        let (lowered, address) = match input {
            PointwiseInput::Scalar(scalar) => {
                (ElementwiseInput::Constant(scalar.into()), call.output.address)
            }
            PointwiseInput::Elements(operand) => {
                let dtype =
                    if domain.is_complex() { operand.dtype } else { operand.dtype.real().0 };
                let address = operand.address;
                (ElementwiseInput::Memory(address.get() as u64, dtype), address)
            }
        };
        inputs.push(lowered);
        addresses.push(address);
        taken.push(input);
    }
    if choice.operation.is_numbered() {
        // The kernels of one input compute it, and do not use that input.
        inputs.push(ElementwiseInput::Constant(AnyNumber::Signed(0)));
    }
    let mut task = Elementwise {
        operation: choice.operation,
        domain,
        compute: choice.compute,
        parameters: [AnyNumber::Signed(0); 3],
        output: (call.output.address.get() as u64, call.output.dtype),
        inputs,
        first: 0,
        total: 0,
        axes: axes_of(&PointwiseCall { inputs: &taken, ..*call }, choice.operation.is_numbered()),
    };
    task.total = task.count();
    set_parameters(call, &mut task);
    Ok(Lowered { task, addresses })
}

pub(super) fn choose(call: &PointwiseCall<'_>) -> Choice {
    let whole = Domain::of(call.compute) == Domain::Integer;
    let in_order = &IN_ORDER[..call.inputs.len()];
    let plain = |operation| Choice { operation, compute: call.compute, inputs: in_order };
    match call.op {
        ElementOperation::Cast => Choice { compute: type_of_cast(call), ..plain(call.op) },
        ElementOperation::Floor
        | ElementOperation::Ceil
        | ElementOperation::Round
        | ElementOperation::Trunc
            if whole =>
        {
            plain(ElementOperation::Cast)
        }
        // torch rounds a quotient of two tensors to the type before it cuts it, that of a tensor and a number after.
        ElementOperation::TruncDivide
            if matches!(call.compute, Dtype::F16 | Dtype::Bf16)
                && matches!(call.inputs.get(1), Some(PointwiseInput::Scalar(_))) =>
        {
            Choice { compute: Dtype::F32, ..plain(call.op) }
        }
        ElementOperation::Pow => simple_power(call).unwrap_or_else(|| plain(call.op)),
        operation => match operation.lowered() {
            (computed, Lowering::Plain) => plain(computed),
            (computed, Lowering::Swapped) => Choice { inputs: &[1, 0], ..plain(computed) },
            (computed, Lowering::OfTruth) => {
                Choice { compute: type_of_truth(call), ..plain(computed) }
            }
        },
    }
}

/// What an operation of truth is computed in: booleans, or complex numbers where an input is one, whose
/// two parts are then tested.
fn type_of_truth(call: &PointwiseCall<'_>) -> Dtype {
    let types = || call.inputs.iter().map(type_of);
    match () {
        () if types().any(|dtype| dtype.kind() == DtypeKind::Complex) => {
            let is_wide = types().any(|dtype| matches!(dtype, Dtype::C128 | Dtype::F64));
            if is_wide { Dtype::C128 } else { Dtype::C64 }
        }
        () => Dtype::Bool,
    }
}

/// What a conversion is computed in: the type that it comes from, or a complex type where either is
/// one.
fn type_of_cast(call: &PointwiseCall<'_>) -> Dtype {
    let from = call.inputs.first().map_or(call.compute, type_of);
    let to = call.output.dtype;
    match (from.kind(), to.kind()) {
        (DtypeKind::Complex, _) if from != Dtype::C32 => from,
        (DtypeKind::Complex, _) => Dtype::C64,
        (_, DtypeKind::Complex) if from == Dtype::F64 || to == Dtype::C128 => Dtype::C128,
        (_, DtypeKind::Complex) => Dtype::C64,
        _ => from,
    }
}

fn type_of(input: &PointwiseInput<'_>) -> Dtype {
    match input {
        PointwiseInput::Elements(operand) => operand.dtype,
        PointwiseInput::Scalar(Scalar::Bool(_)) => Dtype::Bool,
        PointwiseInput::Scalar(Scalar::Int(_)) => Dtype::I64,
        PointwiseInput::Scalar(Scalar::Float(_)) => Dtype::F64,
        PointwiseInput::Scalar(Scalar::Complex(..)) => Dtype::C128,
    }
}

/// Powers that torch computes in another way.
fn simple_power(call: &PointwiseCall<'_>) -> Option<Choice> {
    let PointwiseInput::Scalar(exponent) = call.inputs.get(1)? else { return None };
    let exponent = match *exponent {
        _ if Domain::of(call.compute) == Domain::Integer => return None,
        Scalar::Bool(_) => return None,
        Scalar::Int(value) => value as f64,
        Scalar::Float(value) => value,
        Scalar::Complex(real, 0.0) => real,
        Scalar::Complex(..) => return None,
    };
    let (operation, inputs): (_, &'static [usize]) = match exponent {
        0.5 => (ElementOperation::Sqrt, &[0]),
        -0.5 => (ElementOperation::Rsqrt, &[0]),
        -1.0 => (ElementOperation::Reciprocal, &[0]),
        1.0 => (ElementOperation::Cast, &[0]),
        2.0 => (ElementOperation::Mul, &[0, 0]),
        _ => return None,
    };
    Some(Choice { operation, compute: call.compute, inputs })
}

/// Refuses what no kernel computes.
fn check(call: &PointwiseCall<'_>, choice: &Choice, domain: Domain) -> Result<()> {
    debug_assert_eq!(call.inputs.len(), call.op.inputs(), "inputs of {:?}", call.op);
    let is_packed = |dtype| dtype == Dtype::F4E2M1FnX2;
    let inputs = || call.inputs.iter().map(type_of);
    if is_packed(call.output.dtype) || is_packed(choice.compute) || inputs().any(is_packed) {
        return Err(Error::not_supported(format!(
            "{} is not computed in {}; convert its elements yourself",
            call.op.torch_name(),
            Dtype::F4E2M1FnX2.name()
        )));
    }
    let to_complex = call.output.dtype.kind() == DtypeKind::Complex;
    if !choice.operation.is_defined_on(domain) || (to_complex && !domain.is_complex()) {
        let (compute, output) = (call.compute.name(), call.output.dtype.name());
        return Err(Error::not_supported(format!(
            "{} is not defined on numbers of {compute} with results in {output}",
            call.op.torch_name()
        )));
    }
    Ok(())
}

/// What the second operand of a sum or a difference is multiplied by; of other operations 0.
pub(super) fn factor_of(call: &PointwiseCall<'_>) -> AnyNumber {
    match call.op {
        ElementOperation::Add => call.parameters[0].into(),
        ElementOperation::Sub => AnyNumber::from(call.parameters[0]).negated(),
        _ => AnyNumber::Signed(0),
    }
}

fn set_parameters(call: &PointwiseCall<'_>, task: &mut Elementwise) {
    let [first, second] = call.parameters.map(AnyNumber::from);
    match call.op {
        ElementOperation::Add | ElementOperation::Sub => task.parameters[0] = factor_of(call),
        ElementOperation::Range => task.parameters = [first, second, AnyNumber::Signed(0)],
        ElementOperation::Linspace if task.total <= 1 => {
            task.operation = ElementOperation::Cast;
            task.inputs[0] = ElementwiseInput::Constant(first);
        }
        ElementOperation::Linspace => task.parameters = linspace(task, first, second),
        _ => {}
    }
}

/// Start, end and step, each rounded to the type of the computation as torch does.
fn linspace(task: &Elementwise, start: AnyNumber, end: AnyNumber) -> [AnyNumber; 3] {
    let steps = AnyNumber::Unsigned(task.total - 1);
    let round = |number: AnyNumber| number.round_to(task.compute);
    let (start, end) = (round(start), round(end));
    let step = match task.domain {
        Domain::F64 => AnyNumber::Double((end.to_double() - start.to_double()) / steps.to_double()),
        Domain::C64 | Domain::C128 => {
            let (first, last) = (start.to_complex_double(), end.to_complex_double());
            let part = |at: usize| (last[at] - first[at]) / steps.to_double();
            AnyNumber::ComplexDouble([part(0), part(1)])
        }
        _ => {
            let distance = round(AnyNumber::Single(end.to_single() - start.to_single()));
            round(AnyNumber::Single(distance.to_single() / round(steps).to_single()))
        }
    };
    [start, end, step]
}

#[cfg(test)]
mod tests {
    use sconce_base::types::DevicePtr;

    use super::*;
    use crate::pointwise::PointwiseOperand;

    #[test]
    fn a_quotient_of_halves_by_a_number_is_cut_before_it_is_rounded() {
        let operand = PointwiseOperand {
            address: RawAddress::from(DevicePtr(4096)),
            dtype: Dtype::F16,
            strides: &[1],
        };
        let computed_in = |divisor| {
            let inputs = [PointwiseInput::Elements(operand), divisor];
            let call = PointwiseCall {
                op: ElementOperation::TruncDivide,
                compute: Dtype::F16,
                sizes: &[256],
                output: operand,
                inputs: &inputs,
                parameters: [Scalar::Int(1); 2],
            };
            lower(&call).unwrap().task.compute
        };
        assert_eq!(computed_in(PointwiseInput::Elements(operand)), Dtype::F16);
        assert_eq!(computed_in(PointwiseInput::Scalar(Scalar::Float(0.1))), Dtype::F32);
    }
}
