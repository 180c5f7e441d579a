//! The axes of a call, sorted and joined.

use sconce_base::strided::join_axes;
use sconce_math::arithmetic::ElementwiseAxis;
use smallvec::SmallVec;

use super::call::{PointwiseCall, PointwiseInput};

/// Axes from the innermost to the outermost.
pub(super) type Axes = SmallVec<[ElementwiseAxis; 8]>;

/// The axes of a call, joined where they go on in all operands. Unless their order is to be kept, the
/// innermost has the smallest stride in the output.
pub(super) fn axes_of(call: &PointwiseCall<'_>, keeps_order: bool) -> Axes {
    let mut axes: Axes = (0..call.sizes.len())
        .rev()
        .map(|axis| axis_of(call, axis))
        .filter(|axis| axis.size != 1)
        .collect();
    if !keeps_order {
        sort(&mut axes);
    }
    join_axes(&mut axes);
    axes
}

/// One axis, in bytes.
fn axis_of(call: &PointwiseCall<'_>, axis: usize) -> ElementwiseAxis {
    let mut strides = [0; 4];
    let bytes = |strides: &[i64], bytes: usize| strides[axis].wrapping_mul(bytes as i64);
    strides[0] = bytes(call.output.strides, call.output.dtype.bytes());
    for (stride, input) in strides[1..].iter_mut().zip(call.inputs) {
        if let PointwiseInput::Elements(operand) = input {
            *stride = bytes(operand.strides, operand.dtype.bytes());
        }
    }
    ElementwiseAxis { size: call.sizes[axis].max(0) as u64, strides }
}

/// Sorts by the strides of the output, and where those are equal by those of the inputs. Axes are few
/// and nearly always in order.
fn sort(axes: &mut Axes) {
    let key = |axis: &ElementwiseAxis| axis.strides.map(i64::unsigned_abs);
    if !axes.is_sorted_by_key(key) {
        axes.sort_by_key(key);
    }
}
