//! From a call to an operation of the kernels.

use smallvec::SmallVec;

use super::axes::axes_of;
use super::call::{PointwiseCall, PointwiseInput, PointwiseOp};
use crate::arithmetic::{
    AnyNumber, Domain, Elementwise, ElementwiseInput, MOST_INPUTS, Operation, Scalar,
};
use crate::driver::RawAddress;
use crate::element::{Dtype, DtypeKind};
use crate::error::{Error, Result};

/// A call as the kernels know it.
pub(super) struct Lowered {
    pub(super) task: Elementwise,
    /// Where the first element of each operand is, the output's first. A constant has the output's.
    pub(super) addresses: SmallVec<[RawAddress; MOST_INPUTS + 1]>,
}

/// An operation of the kernels, the type of its computation, and which inputs of the call it takes.
struct Choice {
    operation: Operation,
    compute: Dtype,
    inputs: SmallVec<[usize; MOST_INPUTS]>,
}

/// What a call becomes.
pub(super) fn lower(call: &PointwiseCall<'_>) -> Result<Lowered> {
    let choice = choose(call);
    let domain = Domain::of(choice.compute);
    check(call, &choice, domain)?;
    let mut inputs: SmallVec<[ElementwiseInput; MOST_INPUTS]> = SmallVec::new();
    let mut taken: SmallVec<[PointwiseInput<'_>; MOST_INPUTS]> = SmallVec::new();
    let mut addresses: SmallVec<[RawAddress; MOST_INPUTS + 1]> = SmallVec::new();
    addresses.push(call.output.address);
    for index in &choice.inputs {
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
    let mut task = Elementwise {
        operation: choice.operation,
        domain,
        compute: choice.compute,
        parameters: [AnyNumber::Signed(0); 3],
        output: (call.output.address.get() as u64, call.output.dtype),
        inputs,
        axes: axes_of(
            &PointwiseCall { inputs: &taken, ..*call },
            matches!(choice.operation, Operation::Range | Operation::Linspace),
        ),
    };
    set_parameters(call, &mut task);
    Ok(Lowered { task, addresses })
}

fn choose(call: &PointwiseCall<'_>) -> Choice {
    let whole = Domain::of(call.compute) == Domain::Integer;
    let in_order: SmallVec<[usize; MOST_INPUTS]> = (0..call.inputs.len()).collect();
    let plain = |operation| Choice { operation, compute: call.compute, inputs: in_order.clone() };
    let swapped = |operation| Choice {
        operation,
        compute: call.compute,
        inputs: SmallVec::from_slice(&[1, 0]),
    };
    let of_truth =
        |operation| Choice { operation, compute: type_of_truth(call), inputs: in_order.clone() };
    match call.op {
        PointwiseOp::Cast => Choice { compute: type_of_cast(call), ..plain(Operation::Copy) },
        PointwiseOp::Floor | PointwiseOp::Ceil | PointwiseOp::Round | PointwiseOp::Trunc
            if whole =>
        {
            plain(Operation::Copy)
        }
        PointwiseOp::Fill => plain(Operation::Copy),
        PointwiseOp::Range => plain(Operation::Range),
        PointwiseOp::Linspace => plain(Operation::Linspace),
        PointwiseOp::Neg => plain(Operation::Neg),
        PointwiseOp::Abs => plain(Operation::Abs),
        PointwiseOp::Sign => plain(Operation::Sign),
        PointwiseOp::Exp => plain(Operation::Exp),
        PointwiseOp::Log => plain(Operation::Log),
        PointwiseOp::Sqrt => plain(Operation::Sqrt),
        PointwiseOp::Rsqrt => plain(Operation::Rsqrt),
        PointwiseOp::Reciprocal => plain(Operation::Reciprocal),
        PointwiseOp::Sin => plain(Operation::Sin),
        PointwiseOp::Cos => plain(Operation::Cos),
        PointwiseOp::Floor => plain(Operation::Floor),
        PointwiseOp::Ceil => plain(Operation::Ceil),
        PointwiseOp::Round => plain(Operation::Round),
        PointwiseOp::Trunc => plain(Operation::Trunc),
        PointwiseOp::Tanh => plain(Operation::Tanh),
        PointwiseOp::Sigmoid => plain(Operation::Sigmoid),
        PointwiseOp::Relu => plain(Operation::Relu),
        PointwiseOp::GeluErf => plain(Operation::GeluErf),
        PointwiseOp::GeluTanh => plain(Operation::GeluTanh),
        PointwiseOp::Silu => plain(Operation::Silu),
        PointwiseOp::Erf => plain(Operation::Erf),
        PointwiseOp::IsNan => plain(Operation::IsNan),
        PointwiseOp::IsFinite => plain(Operation::IsFinite),
        PointwiseOp::Add | PointwiseOp::Sub => plain(Operation::Add),
        PointwiseOp::Mul => plain(Operation::Mul),
        PointwiseOp::Div => plain(Operation::Div),
        PointwiseOp::FloorDivide => plain(Operation::FloorDivide),
        PointwiseOp::TruncDivide => plain(Operation::TruncDivide),
        PointwiseOp::Remainder => plain(Operation::Remainder),
        PointwiseOp::Pow => simple_power(call).unwrap_or_else(|| plain(Operation::Pow)),
        PointwiseOp::Minimum => plain(Operation::Minimum),
        PointwiseOp::Maximum => plain(Operation::Maximum),
        PointwiseOp::Eq => plain(Operation::Eq),
        PointwiseOp::Ne => plain(Operation::Ne),
        PointwiseOp::Lt => plain(Operation::Lt),
        PointwiseOp::Le => plain(Operation::Le),
        PointwiseOp::Gt => swapped(Operation::Lt),
        PointwiseOp::Ge => swapped(Operation::Le),
        PointwiseOp::LogicalNot => of_truth(Operation::Not),
        PointwiseOp::LogicalAnd => of_truth(Operation::And),
        PointwiseOp::LogicalOr => of_truth(Operation::Or),
        PointwiseOp::LogicalXor => of_truth(Operation::Xor),
        PointwiseOp::BitwiseNot => plain(Operation::Not),
        PointwiseOp::BitwiseAnd => plain(Operation::And),
        PointwiseOp::BitwiseOr => plain(Operation::Or),
        PointwiseOp::BitwiseXor => plain(Operation::Xor),
        PointwiseOp::Clamp => plain(Operation::Clamp),
        PointwiseOp::Where => plain(Operation::Where),
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
    let (operation, inputs): (_, &[usize]) = match exponent {
        0.5 => (Operation::Sqrt, &[0]),
        -0.5 => (Operation::Rsqrt, &[0]),
        -1.0 => (Operation::Reciprocal, &[0]),
        1.0 => (Operation::Copy, &[0]),
        2.0 => (Operation::Mul, &[0, 0]),
        _ => return None,
    };
    Some(Choice { operation, compute: call.compute, inputs: SmallVec::from_slice(inputs) })
}

/// Refuses what no kernel computes.
fn check(call: &PointwiseCall<'_>, choice: &Choice, domain: Domain) -> Result<()> {
    debug_assert_eq!(call.inputs.len(), call.op.inputs(), "inputs of {:?}", call.op);
    let is_packed = |dtype| dtype == Dtype::F4E2M1FnX2;
    let inputs = || call.inputs.iter().map(type_of);
    if is_packed(call.output.dtype) || is_packed(choice.compute) || inputs().any(is_packed) {
        return Err(Error::not_supported(format!(
            "{:?} is not computed in {}; convert its elements yourself",
            call.op,
            Dtype::F4E2M1FnX2.name()
        )));
    }
    let to_complex = call.output.dtype.kind() == DtypeKind::Complex;
    if !choice.operation.is_defined_on(domain) || (to_complex && !domain.is_complex()) {
        let (compute, output) = (call.compute.name(), call.output.dtype.name());
        return Err(Error::not_supported(format!(
            "{:?} is not defined on numbers of {compute} with results in {output}",
            call.op
        )));
    }
    Ok(())
}

fn set_parameters(call: &PointwiseCall<'_>, task: &mut Elementwise) {
    let [first, second] = call.parameters.map(AnyNumber::from);
    match call.op {
        PointwiseOp::Add => task.parameters[0] = first,
        PointwiseOp::Sub => task.parameters[0] = first.negated(),
        PointwiseOp::Range => task.parameters = [first, second, AnyNumber::Signed(0)],
        PointwiseOp::Linspace if task.count() <= 1 => {
            task.operation = Operation::Copy;
            task.inputs.push(ElementwiseInput::Constant(first));
        }
        PointwiseOp::Linspace => task.parameters = linspace(task, first, second),
        _ => {}
    }
}

/// Start, end and step, each rounded to the type of the computation as torch does.
fn linspace(task: &Elementwise, start: AnyNumber, end: AnyNumber) -> [AnyNumber; 3] {
    let steps = AnyNumber::Unsigned(task.count() - 1);
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
