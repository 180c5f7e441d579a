//! Which element-wise operations take the kernels for contiguous elements, `kernels/pointwise_flat.cu`.

use crate::arithmetic::{Domain, ElementOperation, Elementwise, ElementwiseInput};
use crate::element::Dtype;

/// The kernels of a domain, by what they take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PointwiseForm {
    /// Every operation, on elements of any types with any strides.
    Strided,
    /// Frequent operations on contiguous elements of F32, F16 and BF16.
    Flat,
}

/// Whether the kernels for contiguous elements have an operation.
fn is_frequent(operation: ElementOperation) -> bool {
    use ElementOperation::{
        Abs, Add, Copy, Div, Exp, GeluErf, GeluTanh, Log, Maximum, Minimum, Mul, Neg, Reciprocal,
        Relu, Rsqrt, Sigmoid, Silu, Sqrt, Tanh,
    };
    let of_one = matches!(
        operation,
        Copy | Neg
            | Abs
            | Relu
            | Sqrt
            | Rsqrt
            | Reciprocal
            | Exp
            | Log
            | Tanh
            | Sigmoid
            | Silu
            | GeluErf
            | GeluTanh
    );
    of_one || matches!(operation, Add | Mul | Div | Minimum | Maximum)
}

impl PointwiseForm {
    /// The kernels for a task. Those for contiguous elements round once, when they store. `is_wide` says
    /// which operands are moved in groups of 2^`shift` neighbours.
    pub(super) fn of(task: &Elementwise, is_wide: &[bool], shift: u32) -> PointwiseForm {
        let is_small = |dtype: Dtype| matches!(dtype, Dtype::F32 | Dtype::F16 | Dtype::Bf16);
        let is_exact = |dtype: Dtype| task.compute == Dtype::F32 || dtype == task.compute;
        let takes = |(index, input): (usize, &ElementwiseInput)| match input {
            ElementwiseInput::Memory(_, dtype) => {
                is_wide[index + 1] && is_small(*dtype) && is_exact(*dtype)
            }
            ElementwiseInput::Constant(_) => true,
        };
        let is_copy_of_memory = task.operation == ElementOperation::Copy
            && matches!(task.inputs[0], ElementwiseInput::Memory(..));
        // Groups of 16 bytes of the largest elements.
        let is_flat = task.domain == Domain::F32
            && task.axes.len() == 1
            && shift >= 2
            && is_frequent(task.operation)
            && is_small(task.output.1)
            && (is_exact(task.output.1) || is_copy_of_memory)
            && task.inputs.iter().enumerate().all(takes);
        if is_flat { PointwiseForm::Flat } else { PointwiseForm::Strided }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arithmetic::{AnyNumber, ElementwiseAxis};
    use crate::kernels::pointwise::{PointwiseLaunch, elements_shift, pointwise_launch};
    use Dtype::{Bf16, Bool, F16, F32};

    /// An operation on 1000 elements that lie `step` elements apart from `address` on.
    fn task(
        operation: ElementOperation,
        [output, input, compute]: [Dtype; 3],
        address: u64,
        step: i64,
    ) -> Elementwise {
        let stride = |dtype: Dtype| step * dtype.bytes() as i64;
        let inputs = (0..operation.inputs()).map(|_| ElementwiseInput::Memory(address, input));
        let strides = [output, input, input, input].map(stride);
        Elementwise {
            operation,
            domain: Domain::of(compute),
            compute,
            parameters: [AnyNumber::Double(1.0); 3],
            output: (4096, output),
            inputs: inputs.collect(),
            first: 0,
            total: 1000,
            axes: [ElementwiseAxis { size: 1000, strides }].into_iter().collect(),
        }
    }

    #[test]
    fn frequent_operations_on_contiguous_floats_take_the_kernels_for_them() {
        use ElementOperation::{Add, Copy, GeluErf, Lt, Sin};
        use PointwiseForm::{Flat, Strided};
        for (expected, operation, types, address, step) in [
            (Flat, Add, [F32; 3], 1 << 20, 1),
            (Flat, Add, [F16; 3], 1 << 20, 1),
            (Flat, GeluErf, [Bf16; 3], 1 << 20, 1),
            (Flat, Copy, [F16, F32, F32], 1 << 20, 1),
            (Flat, Copy, [Bf16, F16, F16], 1 << 20, 1),
            // Groups of 8 bytes of the narrow type.
            (Flat, Add, [F16; 3], (1 << 20) + 8, 1),
            // Would round twice: to the type of the computation, then to the output's.
            (Strided, Add, [F32, F16, F16], 1 << 20, 1),
            (Strided, Add, [F16, F32, F16], 1 << 20, 1),
            (Strided, Add, [F32; 3], (1 << 20) + 8, 1),
            (Strided, Add, [F32; 3], 1 << 20, 2),
            (Strided, Sin, [F32; 3], 1 << 20, 1),
            (Strided, Lt, [Bool, F32, F32], 1 << 20, 1),
            (Strided, Add, [Dtype::F64; 3], 1 << 20, 1),
            (Strided, Copy, [F32, Dtype::I32, F32], 1 << 20, 1),
        ] {
            let task = task(operation, types, address, step);
            let (form, shape, arguments) = pointwise_launch(&task);
            assert_eq!(form, expected, "{operation:?} {types:?} {address:#x} {step}");
            let each = if form == Flat { 8 } else { 1 << elements_shift(task.domain) };
            let elements = u64::from(shape.grid.x) * u64::from(shape.block.x) * each;
            assert!((1000..1000 + u64::from(shape.block.x) * each).contains(&elements));
            let read = PointwiseLaunch::read(arguments.slots(), task.domain, task.inputs.len());
            assert_eq!(read.unwrap().task.axes[0].size, 1000);
        }
    }
}
