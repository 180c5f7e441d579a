//! Calculations in host memory, by the calling thread and those that share large calls with it.
//!
//! Through raw pointers, never references: other threads and devices may use the memory at the same
//! time, which is then the caller's race.
#![allow(unsafe_code, reason = "follows addresses that callers vouch for")]

use sconce_base::error::{Error, Result};
use sconce_driver::RawAddress;
use sconce_math::folding::{ElementMemory, lines_on_threads, reduce_on_threads};

use super::{LineCall, ReduceCall, check_lines, check_reduce};

/// The memory of input and result, which a caller vouches for.
#[derive(Clone)]
struct HostOperands {
    input: RawAddress,
    output: RawAddress,
}

impl ElementMemory for HostOperands {
    type Failure = Error;

    fn read(&mut self, address: u64, into: &mut [u8]) -> Result<()> {
        let distance = (address as usize).wrapping_sub(self.input.get());
        let from = self.input.offset(distance).host(into.len())?;
        // SAFETY: a caller vouches for the range, and `into` is this thread's own.
        unsafe {
            std::ptr::copy_nonoverlapping(from.get() as *const u8, into.as_mut_ptr(), into.len());
        }
        Ok(())
    }

    fn write(&mut self, address: u64, from: &[u8]) -> Result<()> {
        let distance = (address as usize).wrapping_sub(self.output.get());
        let to = self.output.offset(distance).host(from.len())?;
        // SAFETY: a caller vouches for the range, and `from` is this thread's own.
        unsafe { std::ptr::copy_nonoverlapping(from.as_ptr(), to.get() as *mut u8, from.len()) }
        Ok(())
    }
}

/// Calculates a reduction in host memory; `input` and `output` are the addresses of the call's operands.
pub fn reduce_on_host(call: &ReduceCall<'_>, input: RawAddress, output: RawAddress) -> Result<()> {
    check_reduce(call)?;
    reduce_on_threads(call, &HostOperands { input, output })
}

/// Calculates lines in host memory; `input` and `output` are the addresses of the call's operands.
pub fn lines_on_host(call: &LineCall<'_>, input: RawAddress, output: RawAddress) -> Result<()> {
    check_lines(call)?;
    lines_on_threads(call, &HostOperands { input, output })
}

#[cfg(all(test, not(loom)))]
mod tests {
    use sconce_base::element::Dtype;

    use super::*;
    use crate::reduction::{ElementOperand, KeptAxis, LineOp, ReduceOp, ReducedAxis};

    fn operand<T>(elements: &[T], dtype: Dtype) -> (ElementOperand, RawAddress) {
        let address = elements.as_ptr() as usize;
        // SAFETY: the elements outlive the call.
        let raw = unsafe { RawAddress::from_caller_within(address, 0, size_of_val(elements)) };
        (ElementOperand { address: address as u64, dtype }, raw)
    }

    #[test]
    fn host_tensors_are_reduced_and_scanned_in_place() {
        let matrix = [1.0_f32, -2.0, 3.0, 4.0, 50.0, 6.0];
        let mut sums = [0.0_f32; 3];
        let (input, from) = operand(&matrix, Dtype::F32);
        let (output, _) = operand(&sums, Dtype::F32);
        let call = ReduceCall {
            op: ReduceOp::Sum,
            input,
            compute: Dtype::F32,
            output,
            kept: &[KeptAxis { size: 3, input_stride: 1, output_stride: 1 }],
            reduced: &[ReducedAxis { size: 2, input_stride: 3 }],
        };
        // SAFETY: the sums outlive the call.
        let to = unsafe { RawAddress::from_caller_within(sums.as_mut_ptr() as usize, 0, 12) };
        reduce_on_host(&call, from, to).unwrap();
        assert_eq!(sums, [5.0, 48.0, 9.0]);

        let mut line = [3_i32, 4, -9, 1];
        // SAFETY: the line outlives the call.
        let place = unsafe { RawAddress::from_caller_within(line.as_mut_ptr() as usize, 0, 16) };
        let (input, _) = operand(&line, Dtype::I32);
        let call = LineCall {
            op: LineOp::Cumsum,
            input,
            compute: Dtype::I32,
            output: input,
            lines: &[],
            length: 4,
            input_stride: 1,
            output_stride: 1,
        };
        lines_on_host(&call, place, place).unwrap();
        assert_eq!(line, [3, 7, -2, -1]);
        // Memory that no caller vouches for is not touched.
        let beyond = LineCall { length: 5, ..call };
        assert!(lines_on_host(&beyond, place, place).is_err());
        assert_eq!(line, [3, 7, -2, -1]);
    }

    #[test]
    fn types_without_such_an_operation_are_refused() {
        let (input, raw) = operand(&[0_u64; 2], Dtype::C64);
        let call = ReduceCall {
            op: ReduceOp::Amax,
            input,
            compute: Dtype::C64,
            output: input,
            kept: &[],
            reduced: &[],
        };
        let error = reduce_on_host(&call, raw, raw).unwrap_err();
        assert_eq!(error.status(), sconce_base::error::Status::NotSupported);
        assert!(error.message().contains("amax of"), "{}", error.message());
    }
}
