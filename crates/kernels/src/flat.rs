//! Which element-wise operations take the kernels for contiguous or few elements, `kernels/pointwise_flat.cu`.

use sconce_base::element::Dtype;
use sconce_math::arithmetic::{Domain, ElementOperation, Elementwise, ElementwiseInput};

/// The kernels of a domain, by what they take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PointwiseForm {
    /// Every operation, on elements of any types with any strides.
    Strided,
    /// Frequent operations on contiguous elements of F32, F16 and BF16.
    Flat,
    /// Frequent operations on few elements of F32, F16 and BF16 with any strides.
    Small,
}

/// The most elements that take the kernels for few: of operands that the kernels for contiguous elements would take,
/// and of others.
pub(super) const SMALL_FLAT: u64 = 1 << 16;
const SMALL_STRIDED: u64 = 1 << 17;

impl PointwiseForm {
    /// The kernels for a task. Those for contiguous or few elements round once, when they store. `is_wide` says
    /// which operands are moved in groups of 2^`shift` neighbours.
    pub(super) fn of(task: &Elementwise, is_wide: &[bool], shift: u32) -> PointwiseForm {
        let is_small = |dtype: Dtype| matches!(dtype, Dtype::F32 | Dtype::F16 | Dtype::Bf16);
        let is_exact = |dtype: Dtype| task.compute == Dtype::F32 || dtype == task.compute;
        let takes = |input: &ElementwiseInput| match input {
            ElementwiseInput::Memory(_, dtype) => is_small(*dtype) && is_exact(*dtype),
            ElementwiseInput::Constant(_) => true,
        };
        let is_moved_whole = |(index, input): (usize, &ElementwiseInput)| {
            is_wide[index + 1] || matches!(input, ElementwiseInput::Constant(_))
        };
        let is_copy_of_memory = task.operation == ElementOperation::Cast
            && matches!(task.inputs[0], ElementwiseInput::Memory(..));
        let is_stored = match task.operation.is_predicate() {
            true => task.output.1 == Dtype::Bool,
            false => is_small(task.output.1) && (is_exact(task.output.1) || is_copy_of_memory),
        };
        if task.domain != Domain::F32
            || !task.operation.is_small()
            || !is_stored
            || !task.inputs.iter().all(takes)
        {
            return PointwiseForm::Strided;
        }
        // Groups of 16 bytes of the largest elements.
        let is_flat = task.axes.len() == 1
            && shift >= 2
            && task.operation.is_flat()
            && task.inputs.iter().enumerate().all(is_moved_whole);
        let most = if is_flat { SMALL_FLAT } else { SMALL_STRIDED };
        match () {
            () if task.count() <= most => PointwiseForm::Small,
            () if is_flat => PointwiseForm::Flat,
            () => PointwiseForm::Strided,
        }
    }
}

#[cfg(test)]
mod tests {
    use sconce_math::arithmetic::{AnyNumber, ElementwiseAxis};

    use super::*;
    use crate::pointwise::{PointwiseLaunch, elements_shift, pointwise_launch};
    use Dtype::{Bf16, Bool, F16, F32};

    /// An operation on `count` elements that lie `step` elements apart from `address` on.
    fn task(
        operation: ElementOperation,
        [output, input, compute]: [Dtype; 3],
        address: u64,
        step: i64,
        count: u64,
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
            total: count,
            axes: [ElementwiseAxis { size: count, strides }].into_iter().collect(),
        }
    }

    /// The form of a launch, whose threads have all elements and no block too many.
    fn form(task: &Elementwise) -> PointwiseForm {
        let (form, shape, arguments) = pointwise_launch(task);
        let each = match form {
            PointwiseForm::Small => 1,
            PointwiseForm::Flat => 8,
            PointwiseForm::Strided => 1 << elements_shift(task.domain),
        };
        let elements = u64::from(shape.grid.x) * u64::from(shape.block.x) * each;
        let least = task.count();
        assert!((least..least + u64::from(shape.block.x) * each).contains(&elements));
        let read = PointwiseLaunch::read(arguments.slots(), task.domain, task.inputs.len());
        assert_eq!(read.unwrap().task.axes[0].size, least);
        form
    }

    #[test]
    fn frequent_operations_on_floats_take_the_kernels_for_them() {
        use ElementOperation::{Add, Cast, Floor, GeluErf, Lt, Sin};
        use PointwiseForm::{Flat, Small, Strided};
        let (many, few) = (200_000, 1000);
        for (of_many, of_few, operation, types, address, step) in [
            (Flat, Small, Add, [F32; 3], 1 << 20, 1),
            (Flat, Small, Add, [F16; 3], 1 << 20, 1),
            (Flat, Small, GeluErf, [Bf16; 3], 1 << 20, 1),
            (Flat, Small, Cast, [F16, F32, F32], 1 << 20, 1),
            (Flat, Small, Cast, [Bf16, F16, F16], 1 << 20, 1),
            // Groups of 8 bytes of the narrow type.
            (Flat, Small, Add, [F16; 3], (1 << 20) + 8, 1),
            // Would round twice: to the type of the computation, then to the output's.
            (Strided, Strided, Add, [F32, F16, F16], 1 << 20, 1),
            (Strided, Strided, Add, [F16, F32, F16], 1 << 20, 1),
            (Strided, Small, Add, [F32; 3], (1 << 20) + 8, 1),
            (Strided, Small, Add, [F32; 3], 1 << 20, 2),
            (Strided, Small, Floor, [F32; 3], 1 << 20, 1),
            (Strided, Small, Lt, [Bool, F32, F32], 1 << 20, 1),
            (Strided, Strided, Lt, [F32; 3], 1 << 20, 1),
            (Strided, Strided, Sin, [F32; 3], 1 << 20, 1),
            (Strided, Strided, Add, [Dtype::F64; 3], 1 << 20, 1),
            (Strided, Strided, Cast, [F32, Dtype::I32, F32], 1 << 20, 1),
        ] {
            for (expected, count) in [(of_many, many), (of_few, few)] {
                let taken = form(&task(operation, types, address, step, count));
                assert_eq!(taken, expected, "{operation:?} {types:?} {address:#x} {step} {count}");
            }
        }
    }
}
