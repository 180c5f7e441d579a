//! Computation in host memory, by the calling thread and those that share large calls with it.
//!
//! Through raw pointers, never references: other threads and devices may use the memory at the same
//! time, which is then the caller's race.
#![allow(unsafe_code, reason = "follows addresses that callers vouch for")]

use sconce_base::error::{Error, Result};
use sconce_base::strided::are_independent;
use sconce_math::arithmetic::{ElementRun, ElementRuns, ElementwiseInput, evaluate_part};
use sconce_math::parallel::{self, GRAIN};

use super::call::PointwiseCall;
use super::lower::{Lowered, lower};

/// Computes an operation whose operands are host memory.
pub fn on_host(call: &PointwiseCall<'_>) -> Result<()> {
    let lowered = lower(call)?;
    let task = &lowered.task;
    let count = task.count();
    let grain = if task.operation.is_slow() { GRAIN / 8 } else { GRAIN };
    if count < 2 * grain || !lowered.has_no_order() {
        return evaluate_part(task, 0..count, &lowered);
    }
    parallel::for_elements(count, grain, &|part| evaluate_part(task, part, &lowered))
}

impl Lowered {
    /// Whether elements may be computed in any order.
    fn has_no_order(&self) -> bool {
        let task = &self.task;
        let read = task.inputs.iter().enumerate().filter_map(|(place, input)| match input {
            ElementwiseInput::Memory(_, dtype) => {
                let operand = 1 + place;
                Some((operand, (self.addresses[operand].get(), dtype.bytes())))
            }
            ElementwiseInput::Constant(_) => None,
        });
        let written = (self.addresses[0].get(), task.output.1.bytes());
        are_independent(&task.axes, written, read)
    }

    /// The lowest address of a run, which lies in a range that the caller vouches for.
    fn reached(&self, operand: usize, run: ElementRun) -> Result<*mut u8> {
        let last = run.stride.wrapping_mul(run.count.saturating_sub(1) as i64);
        let first = self.addresses[operand].offset(run.offset as usize);
        let lowest = if last < 0 { first.offset(last as usize) } else { first };
        lowest.host(last.unsigned_abs() as usize + run.width)?;
        Ok(first.get() as *mut u8)
    }
}

impl ElementRuns for Lowered {
    type Refusal = Error;

    fn read(&self, operand: usize, run: ElementRun, into: &mut [u8]) -> Result<()> {
        let from = self.reached(operand, run)?;
        let copy = |elements: &mut [u8], distance: i64| {
            let from = from.wrapping_offset(distance as isize);
            // SAFETY: `reached` has checked that a caller vouches for all elements of the run.
            unsafe { from.copy_to_nonoverlapping(elements.as_mut_ptr(), elements.len()) }
        };
        if run.stride == run.width as i64 {
            copy(into, 0);
        } else {
            for (index, element) in into.chunks_exact_mut(run.width).enumerate() {
                copy(element, run.stride.wrapping_mul(index as i64));
            }
        }
        Ok(())
    }

    fn write(&self, run: ElementRun, from: &[u8]) -> Result<()> {
        let to = self.reached(0, run)?;
        let copy = |elements: &[u8], distance: i64| {
            let to = to.wrapping_offset(distance as isize);
            // SAFETY: `reached` has checked that a caller vouches for all elements of the run.
            unsafe { to.copy_from_nonoverlapping(elements.as_ptr(), elements.len()) }
        };
        if run.stride == run.width as i64 {
            copy(from, 0);
        } else {
            for (index, element) in from.chunks_exact(run.width).enumerate() {
                copy(element, run.stride.wrapping_mul(index as i64));
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use sconce_base::element::Dtype;
    use sconce_driver::RawAddress;
    use sconce_math::arithmetic::Scalar;

    use super::*;
    use crate::pointwise::{ElementOperation, PointwiseInput, PointwiseOperand};

    fn operand<'a, T>(elements: &[T], dtype: Dtype, strides: &'a [i64]) -> PointwiseOperand<'a> {
        let bytes = std::mem::size_of_val(elements);
        // SAFETY: the elements outlive the call, which is done when it returns.
        let address =
            unsafe { RawAddress::from_caller_within(elements.as_ptr() as usize, 0, bytes) };
        PointwiseOperand { address, dtype, strides }
    }

    const NONE: [Scalar; 2] = [Scalar::Int(1), Scalar::Int(0)];

    #[test]
    fn strides_repeat_and_transpose() {
        let (rows, column) = ([1.0_f32, 2.0, 3.0, 4.0, 5.0, 6.0], [10_i32, 20]);
        let result = [0.0_f64; 6];
        let call = PointwiseCall {
            op: ElementOperation::Add,
            compute: Dtype::F32,
            sizes: &[2, 3],
            output: operand(&result, Dtype::F64, &[1, 2]),
            inputs: &[
                PointwiseInput::Elements(operand(&rows, Dtype::F32, &[3, 1])),
                PointwiseInput::Elements(operand(&column, Dtype::I32, &[1, 0])),
            ],
            parameters: NONE,
        };
        on_host(&call).unwrap();
        assert_eq!(result, [11.0, 24.0, 12.0, 25.0, 13.0, 26.0]);
        let scalar = PointwiseInput::Scalar(Scalar::Float(0.5));
        on_host(&PointwiseCall { inputs: &[scalar, call.inputs[0]], ..call }).unwrap();
        assert_eq!(result, [1.5, 4.5, 2.5, 5.5, 3.5, 6.5]);
    }

    #[test]
    fn ranges_count_in_row_major_order() {
        let result = [0_i64; 6];
        let call = PointwiseCall {
            op: ElementOperation::Range,
            compute: Dtype::I64,
            sizes: &[2, 3],
            output: operand(&result, Dtype::I64, &[1, 2]),
            inputs: &[],
            parameters: [Scalar::Int(5), Scalar::Int(-2)],
        };
        on_host(&call).unwrap();
        assert_eq!(result, [5, -1, 3, -3, 1, -5]);
        let (op, compute) = (ElementOperation::Linspace, Dtype::F32);
        let output = operand(&result, Dtype::I64, &[1]);
        on_host(&PointwiseCall { op, compute, sizes: &[6], output, ..call }).unwrap();
        assert_eq!(result, [5, 3, 2, 0, 0, -2]);
        on_host(&PointwiseCall { op, compute, sizes: &[1], output, ..call }).unwrap();
        assert_eq!(result[0], 5);
    }

    /// Operations on 200,000 elements, on one thread and on several.
    #[test]
    fn bits_do_not_depend_on_threads() {
        let (rows, columns) = (500_usize, 400_usize);
        let first: Vec<f32> =
            (0..rows * columns).map(|index| (index * 7919 % 1013) as f32 * 0.37 - 150.0).collect();
        let second: Vec<f64> = (0..columns).map(|index| index as f64 * 0.011 + 0.3).collect();
        let (sizes, turned) = ([rows as i64, columns as i64], [1, rows as i64]);
        let computed = |op: ElementOperation, in_place: bool, threads| {
            parallel::set_count(threads).unwrap();
            let mut result = if in_place { first.clone() } else { vec![f32::NAN; first.len()] };
            let output = operand(&result, Dtype::F32, &turned);
            let input = operand(if in_place { &result } else { &first }, Dtype::F32, &turned);
            let inputs = [
                PointwiseInput::Elements(input),
                PointwiseInput::Elements(operand(&second, Dtype::F64, &[0, 1])),
            ];
            on_host(&PointwiseCall {
                op,
                compute: Dtype::F64,
                sizes: &sizes,
                output,
                inputs: &inputs[..op.inputs()],
                parameters: [Scalar::Float(0.7), Scalar::Float(0.3)],
            })
            .unwrap();
            std::mem::take(&mut result)
        };
        use ElementOperation::{Add, Exp, Pow, Range};
        for (op, in_place) in [(Add, false), (Add, true), (Exp, false), (Range, false), (Pow, true)]
        {
            let bits = |values: Vec<f32>| values.into_iter().map(f32::to_bits).collect::<Vec<_>>();
            let alone = bits(computed(op, in_place, 1));
            for threads in [2, 3, 7] {
                assert!(bits(computed(op, in_place, threads)) == alone, "{op:?} of {threads}");
            }
        }
    }

    /// Each element is the one before and 1: that has an order.
    #[test]
    fn elements_that_depend_on_others_are_computed_in_order() {
        parallel::set_count(4).unwrap();
        let values = vec![0_i64; 200_001];
        let call = PointwiseCall {
            op: ElementOperation::Add,
            compute: Dtype::I64,
            sizes: &[200_000],
            output: operand(&values[1..], Dtype::I64, &[1]),
            inputs: &[
                PointwiseInput::Elements(operand(&values[..200_000], Dtype::I64, &[1])),
                PointwiseInput::Scalar(Scalar::Int(1)),
            ],
            parameters: NONE,
        };
        // A tile is read before it is written, whatever computes it.
        on_host(&call).unwrap();
        let expected = (0..200_001_i64).map(|index| match index {
            0 => 0,
            _ if index > 1 && index % 256 == 1 => 2,
            _ => 1,
        });
        assert!(values.iter().copied().eq(expected));
    }

    #[test]
    fn nothing_is_touched_beyond_what_the_caller_vouches_for() {
        let (elements, result) = ([0_u8; 4], [0_u8; 4]);
        let call = PointwiseCall {
            op: ElementOperation::Cast,
            compute: Dtype::U8,
            sizes: &[5],
            output: operand(&result, Dtype::U8, &[1]),
            inputs: &[PointwiseInput::Elements(operand(&elements, Dtype::U8, &[1]))],
            parameters: NONE,
        };
        assert!(on_host(&call).is_err());
        assert!(on_host(&PointwiseCall { sizes: &[2], ..call }).is_ok());
        let output = operand(&result, Dtype::U8, &[-1]);
        assert!(on_host(&PointwiseCall { sizes: &[2], output, ..call }).is_err());
        assert!(on_host(&PointwiseCall { sizes: &[0], ..call }).is_ok());
    }

    #[test]
    fn what_is_not_defined_is_refused() {
        let result = [0.0_f32; 2];
        let call = PointwiseCall {
            op: ElementOperation::Minimum,
            compute: Dtype::C64,
            sizes: &[1],
            output: operand(&result, Dtype::C64, &[1]),
            inputs: &[PointwiseInput::Scalar(Scalar::Int(1)); 2],
            parameters: NONE,
        };
        let error = on_host(&call).unwrap_err();
        let text = "minimum is not defined on numbers of SCONCE_DTYPE_C64 with results in \
                    SCONCE_DTYPE_C64";
        assert_eq!(error.message(), text);
    }
}
