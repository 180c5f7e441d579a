//! Launches of the kernels for few elements on contiguous operands. They are those that `pointwise_launch` makes of the
//! same operations, made in fewer steps.

use sconce_base::element::Dtype;
use sconce_driver::{Dim3, KernelArguments, LaunchShape};
use sconce_math::arithmetic::{AnyNumber, ElementOperation};

use super::flat::SMALL_FLAT;
use super::pointwise::{ACCESS_SHIFT, SMALL_THREADS, WIDE, signature};

/// Elements of a thread in the general kernels for singles, as a power of two: no access is wider.
const MOST_SHIFT: u32 = 3;

/// An operation on elements that lie one after another in all operands.
pub struct FewElements<'a> {
    pub operation: ElementOperation,
    /// The type of the computation.
    pub compute: Dtype,
    pub count: u64,
    /// Where the first element of the result goes, and its type.
    pub output: (u64, Dtype),
    /// As many as the operation has, one or two.
    pub inputs: &'a [(u64, Dtype)],
    /// What the second input of a sum is multiplied by.
    pub factor: AnyNumber,
}

/// The grid of the kernel for few elements, whose arguments are written to `arguments`; `None` for what has other
/// types, more elements, a single one, or an operation that is not frequent.
#[inline]
pub fn few_launch(few: &FewElements<'_>, arguments: &mut KernelArguments) -> Option<LaunchShape> {
    let rounds = few.compute != Dtype::F32;
    let is_small = |dtype: Dtype| matches!(dtype, Dtype::F32 | Dtype::F16 | Dtype::Bf16);
    let is_exact = |dtype: Dtype| is_small(dtype) && !(rounds && dtype != few.compute);
    let is_copy = few.operation == ElementOperation::Cast;
    let is_stored = is_exact(few.output.1) || (is_copy && is_small(few.output.1));
    if !(2..=SMALL_FLAT).contains(&few.count)
        || !is_small(few.compute)
        || !few.operation.is_flat()
        || few.operation.inputs() != few.inputs.len()
        || !is_stored
        || !few.inputs.iter().all(|(_, dtype)| is_exact(*dtype))
    {
        return None;
    }
    let inputs = few.inputs.len();
    let operands = || std::iter::once(&few.output).chain(few.inputs);
    let bytes = |dtype: Dtype| if dtype == Dtype::F32 { 4_u64 } else { 2 };
    let (mut largest, mut misplaced) = (0, 0);
    for (address, dtype) in operands() {
        let shift = bytes(*dtype).trailing_zeros();
        largest = largest.max(shift);
        misplaced |= address >> shift;
    }
    let shift = (ACCESS_SHIFT - largest).min(MOST_SHIFT).min(misplaced.trailing_zeros());
    let wide = if shift > 0 { WIDE } else { 0 };
    let (mut kinds, mut strides) = (0, [0; 2]);
    for (index, (_, dtype)) in operands().enumerate() {
        kinds |= (*dtype as u64 | wide) << (16 * index);
        strides[index / 2] |= bytes(*dtype) << (32 * (index % 2));
    }
    let code = u64::from(few.operation.kernel_number())
        | (few.compute as u64) << 8
        | 1 << 16
        | u64::from(shift) << 24;
    write_slots(few, [code, kinds], strides, signature(inputs).structure(arguments));
    let grid = Dim3::line(few.count.div_ceil(SMALL_THREADS) as u32);
    Some(LaunchShape { grid, block: Dim3::line(SMALL_THREADS as u32), shared_bytes: 0 })
}

/// Writes the structure of the kernel: the launch, the operands, the numbers and the one axis. The other axes, which
/// the kernel does not read, stay 0.
#[inline]
fn write_slots(few: &FewElements<'_>, launch: [u64; 2], strides: [u64; 2], slots: &mut [u64]) {
    let head = [few.count, launch[0], launch[1], few.output.0];
    match (few.inputs, slots) {
        // Behind the operand: the first index, how many there are, and three parameters of two slots.
        ([input], [h0, h1, h2, h3, from, _, _, total, _, _, _, _, _, _, size, pair, ..]) => {
            [*h0, *h1, *h2, *h3] = head;
            [*from, *total] = [input.0, few.count];
            [*size, *pair] = [few.count, strides[0]];
        }
        // Behind the operands: a parameter of two slots.
        ([one, other], [h0, h1, h2, h3, first, _, second, _, factor, _, size, s0, s1, ..]) => {
            [*h0, *h1, *h2, *h3] = head;
            [*first, *second] = [one.0, other.0];
            *factor = f64::from(few.factor.to_single()).to_bits();
            [*size, *s0, *s1] = [few.count, strides[0], strides[1]];
        }
        _ => debug_assert!(false, "few elements have one or two inputs"),
    }
}
