//! Calls that threads share, against one result after another.

use std::sync::atomic::{AtomicU8, Ordering::Relaxed};

use super::shared::{lines_on_threads, reduce_on_threads};
use super::*;

/// Memory that threads share: the input is read, and results go to words that only one of them writes.
#[derive(Clone)]
struct SharedBytes<'a> {
    input: &'a [u8],
    output: &'a [AtomicU8],
}

impl<'a> SharedBytes<'a> {
    /// Where results begin.
    const OUT: u64 = 1 << 40;
}

impl ElementMemory for SharedBytes<'_> {
    type Failure = String;

    fn read(&mut self, address: u64, into: &mut [u8]) -> Result<(), String> {
        let from = self.input.get(address as usize..address as usize + into.len());
        into.copy_from_slice(from.ok_or_else(|| format!("read of {address}"))?);
        Ok(())
    }

    fn write(&mut self, address: u64, from: &[u8]) -> Result<(), String> {
        let first = (address - SharedBytes::OUT) as usize;
        let into = self.output.get(first..first + from.len()).ok_or("write")?;
        into.iter().zip(from).for_each(|(into, byte)| into.store(*byte, Relaxed));
        Ok(())
    }
}

/// The results of a call.
fn alone(
    input: &[u8],
    bytes: usize,
    calculate: impl Fn(&SharedBytes<'_>) -> Result<(), String>,
) -> Vec<u8> {
    let output: Vec<AtomicU8> = (0..bytes).map(|_| AtomicU8::new(0xee)).collect();
    calculate(&SharedBytes { input, output: &output }).unwrap();
    output.into_iter().map(AtomicU8::into_inner).collect()
}

/// The results of a call on one thread and on several, which are the same bytes.
fn on_threads(
    input: &[u8],
    bytes: usize,
    calculate: impl Fn(&SharedBytes<'_>) -> Result<(), String>,
) -> Vec<u8> {
    let mut found: Option<Vec<u8>> = None;
    for threads in [1, 3] {
        crate::parallel::set_count(threads).unwrap();
        let output = alone(input, bytes, &calculate);
        assert!(found.as_ref().is_none_or(|found| *found == output), "{threads} threads");
        found = Some(output);
    }
    found.unwrap()
}

/// Elements that repeat late, with some special ones.
fn elements(dtype: Dtype, count: usize) -> Vec<u8> {
    let mut bytes = vec![0; count * dtype.bytes()];
    for (at, bytes) in bytes.chunks_exact_mut(dtype.bytes()).enumerate() {
        let value = (at * 7919 % 4093) as i64 - 2000;
        let number = match dtype.is_floating() {
            true if at % 30_011 == 5 && at > 60_000 => Number::Real(f64::NAN),
            true => Number::Real(value as f64 / 512.0),
            false => Number::Whole(value),
        };
        number.store(dtype, bytes);
    }
    bytes
}

/// Each reduction of matrices whose rows or columns are reduced, against one result at a time.
#[test]
fn shared_reductions_are_those_of_one_thread() {
    use Dtype::{Bf16, Bool, F32, F64, I32, I64, U64};
    let types =
        [(F32, F32), (I32, I64), (F64, F64), (Bf16, F32), (Bool, I64), (U64, U64), (I32, F32)];
    // Those of more than 10,000 elements are shared, and the first has several blocks.
    let shapes = [(1_i64, 140_000_i64), (1000, 140), (2, 300), (300, 2), (1, 0)];
    for (input, compute) in types {
        for (results, count) in shapes {
            let is_large = results * count > 10_000;
            if is_large && !matches!(input, F32 | I32) {
                continue;
            }
            let bytes = elements(input, (results * count) as usize);
            for op in ReduceOp::ALL {
                // A product of many integers is 0, and one of floats overflows in any order.
                let kept = [(count, 1), (1, results), (-count, 1)];
                for (at, (stride, along)) in kept.into_iter().enumerate() {
                    if is_large && at == 2 {
                        continue;
                    }
                    let output = match op {
                        _ if op.is_index() || op == ReduceOp::Count => I64,
                        ReduceOp::All | ReduceOp::Any => Bool,
                        _ => compute,
                    };
                    let first = if at == 2 { (results - 1) * count } else { 0 } as u64;
                    let call = ReduceCall {
                        op,
                        input: ElementOperand {
                            address: first * input.bytes() as u64,
                            dtype: input,
                        },
                        compute,
                        output: ElementOperand { address: SharedBytes::OUT, dtype: output },
                        kept: &[KeptAxis { size: results, input_stride: stride, output_stride: 1 }],
                        reduced: &[ReducedAxis { size: count, input_stride: along }],
                    };
                    let size = results as usize * output.bytes();
                    let shared =
                        on_threads(&bytes, size, |memory| reduce_on_threads(&call, memory));
                    let alone = alone(&bytes, size, |memory| reduce(&call, &mut memory.clone()));
                    for (shared, alone) in
                        shared.chunks(output.bytes()).zip(alone.chunks(output.bytes()))
                    {
                        let (shared, alone) =
                            (Number::load(output, shared), Number::load(output, alone));
                        let (a, b) = (shared.real(), alone.real());
                        let is_near = (a - b).abs() <= 1e-9 * b.abs().max(1.0);
                        // Sums of 32 bits are rounded once, so that they differ by one unit at most.
                        let is_near = is_near || output == F32 && (a - b).abs() <= 2e-7 * b.abs();
                        assert!(
                            shared == alone || is_near || a.is_nan() && b.is_nan(),
                            "{op:?} of {results} times {count} {input:?}: {a} is not {b}"
                        );
                    }
                }
            }
        }
    }
}

/// Lines of rows, of columns and in other steps have the same bits as one after another.
#[test]
fn shared_lines_are_those_of_one_thread() {
    use Dtype::{Bf16, C64, F32, F64, I32, I64};
    let types = [(F32, F32), (F64, F64), (Bf16, F32), (I32, I64), (I32, F32), (C64, C64)];
    for (input, compute) in types {
        for (lines, length) in [(200_i64, 100_i64), (3, 6000), (3000, 7)] {
            let bytes = elements(input, 2 * (lines * length) as usize);
            for op in LineOp::ALL {
                for (stride, along) in [(length, 1), (1, lines), (2 * length, 2)] {
                    let call = LineCall {
                        op,
                        input: ElementOperand { address: 0, dtype: input },
                        compute,
                        output: ElementOperand { address: SharedBytes::OUT, dtype: compute },
                        lines: &[KeptAxis {
                            size: lines,
                            input_stride: stride,
                            output_stride: if along == 2 { length } else { stride },
                        }],
                        length,
                        input_stride: along,
                        output_stride: if along == 2 { 1 } else { along },
                    };
                    if !call.is_supported()
                        || (input == C64 && matches!(op, LineOp::Softmax | LineOp::LogSoftmax))
                    {
                        continue;
                    }
                    let size = (lines * length) as usize * compute.bytes();
                    let shared = on_threads(&bytes, size, |memory| lines_on_threads(&call, memory));
                    let alone =
                        alone(&bytes, size, |memory| super::lines(&call, &mut memory.clone()));
                    let numbers = |bytes: &[u8]| -> Vec<Number> {
                        let elements = bytes.chunks_exact(compute.bytes());
                        elements.map(|element| Number::load(compute, element)).collect()
                    };
                    for (at, (a, b)) in
                        numbers(&shared).into_iter().zip(numbers(&alone)).enumerate()
                    {
                        let is_nan = format!("{a:?}") == format!("{b:?}");
                        assert!(
                            a == b || is_nan,
                            "{op:?} of {lines} {length} {input:?} {at}: {a:?} {b:?}"
                        );
                    }
                }
            }
        }
    }
}

#[test]
fn the_first_failure_of_several_threads_is_returned() {
    crate::parallel::set_count(4).unwrap();
    let bytes = elements(Dtype::F32, 100_000);
    let output: Vec<AtomicU8> = (0..4).map(|_| AtomicU8::new(0)).collect();
    let memory = SharedBytes { input: &bytes, output: &output };
    let call = ReduceCall {
        op: ReduceOp::Sum,
        input: ElementOperand { address: 0, dtype: Dtype::F32 },
        compute: Dtype::F32,
        output: ElementOperand { address: SharedBytes::OUT, dtype: Dtype::F32 },
        kept: &[],
        reduced: &[ReducedAxis { size: 1_000_000, input_stride: 1 }],
    };
    let failed = reduce_on_threads(&call, &memory);
    // The piece in which memory ends.
    assert_eq!(failed.unwrap_err(), format!("read of {}", 100_000 / 512 * 2048));
}
