//! Frequent calls on few contiguous elements: their launch is written down at once. Such a launch takes the host as
//! long as the device, and `lower` takes a third of this library's part of it.

use sconce_driver::{KernelArguments, LaunchShape};
use sconce_kernels::{FewElements, few_launch};
use smallvec::SmallVec;

use super::call::{PointwiseCall, PointwiseInput};
use super::lower::{choose, factor_of};

/// What launches the call with the kernel for few elements in single precision: the grid, and what is written to
/// `arguments`. `None` if the call takes the slow path.
#[inline]
pub(super) fn few(
    call: &PointwiseCall<'_>,
    arguments: &mut KernelArguments,
) -> Option<LaunchShape> {
    let (&[count], [1]) = (call.sizes, call.output.strides) else { return None };
    let mut inputs: SmallVec<[_; 2]> = SmallVec::new();
    for input in call.inputs {
        match input {
            PointwiseInput::Elements(operand)
                if matches!(operand.strides, [1]) && inputs.len() < 2 =>
            {
                inputs.push((operand.address.get() as u64, operand.dtype));
            }
            _ => return None,
        }
    }
    let choice = choose(call);
    if !choice.takes_all_in_order(call) {
        return None;
    }
    let few = FewElements {
        operation: choice.operation,
        compute: choice.compute,
        count: u64::try_from(count).ok()?,
        output: (call.output.address.get() as u64, call.output.dtype),
        inputs: &inputs,
        factor: factor_of(call),
    };
    few_launch(&few, arguments)
}

#[cfg(test)]
mod tests {
    use sconce_base::element::Dtype;
    use sconce_base::types::DevicePtr;
    use sconce_driver::RawAddress;
    use sconce_kernels::{PointwiseForm, pointwise_launch};
    use sconce_math::arithmetic::Scalar;

    use super::*;
    use crate::pointwise::lower::lower;
    use crate::pointwise::{ElementOperation, PointwiseOperand};

    /// What `check` finds out about a call, all of whose inputs are the same.
    fn with_call<R>(
        (op, compute): (ElementOperation, Dtype),
        [output, input]: [(u64, Dtype); 2],
        (count, step): (i64, i64),
        check: impl FnOnce(&PointwiseCall<'_>) -> R,
    ) -> R {
        let (sizes, strides) = ([count], [step]);
        let operand = |(address, dtype): (u64, Dtype)| PointwiseOperand {
            address: RawAddress::from(DevicePtr(address)),
            dtype,
            strides: &strides,
        };
        let inputs = vec![PointwiseInput::Elements(operand(input)); op.inputs()];
        check(&PointwiseCall {
            op,
            compute,
            sizes: &sizes,
            output: operand(output),
            inputs: &inputs,
            parameters: [Scalar::Float(2.5), Scalar::Int(1)],
        })
    }

    /// Whether the call takes the fast path. Then it has the launch of the slow path.
    fn is_short(call: &PointwiseCall<'_>) -> bool {
        // What was there before does not stay.
        let mut arguments = KernelArguments::new().u64(7).u64(8).u64(9);
        let Some(shape) = few(call, &mut arguments) else { return false };
        assert!(arguments.is_one_parameter());
        let task = lower(call).unwrap().task;
        let (form, long_shape, long_arguments) = pointwise_launch(&task);
        assert_eq!((form, shape), (PointwiseForm::Small, long_shape), "{call:?}");
        assert_eq!(arguments.slots(), long_arguments.slots(), "{call:?}");
        assert!(arguments.parameters().eq(long_arguments.parameters()), "{call:?}");
        true
    }

    #[test]
    fn the_fast_path_has_the_launch_of_the_slow_one() {
        use Dtype::{Bf16, Bool, C64, F16, F32, F64, I32};
        use ElementOperation::{
            Add, Cast, Div, Exp, GeluErf, Lt, Maximum, Mul, Neg, Sin, Sub, Where,
        };
        let mut short = 0;
        for op in [Add, Cast, Div, Exp, GeluErf, Lt, Maximum, Mul, Neg, Sin, Sub, Where] {
            for compute in [F32, F16, Bf16, F64, I32] {
                for output in [F32, F16, Bf16, F64, Bool] {
                    for input in [F32, F16, Bf16, F64, I32, C64] {
                        for (begin, count) in
                            [(0, 2), (2, 3), (4, 256), (8, 1000), (0, 1 << 16), (0, 65_537), (0, 1)]
                        {
                            let operands = [(4096, output), ((1 << 40) + begin, input)];
                            short += usize::from(with_call(
                                (op, compute),
                                operands,
                                (count, 1),
                                is_short,
                            ));
                        }
                    }
                }
            }
        }
        assert!(short > 500, "{short} calls took the fast path");
    }

    #[test]
    fn frequent_calls_on_few_elements_take_the_short_way() {
        use Dtype::{F16, F32};
        let operands = [(4096, F32), (1 << 40, F32)];
        let add = (ElementOperation::Add, F32);
        assert!(with_call(add, operands, (256, 1), is_short));
        assert!(with_call((ElementOperation::Sub, F32), operands, (2, 1), is_short));
        assert!(with_call(
            (ElementOperation::Cast, F16),
            [(4096, F16), operands[1]],
            (256, 1),
            is_short
        ));
        for (count, step) in [(256, 2), (1, 1), (0, 1), ((1 << 16) + 1, 1)] {
            assert!(!with_call(add, operands, (count, step), is_short), "{count} {step}");
        }
    }
}
