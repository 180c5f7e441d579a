//! Every call beside a naive model: random ranks, sizes, types, operations, roots and splits.
//!
//! | file | idea |
//! |---|---|
//! | `reductions`, `copies` | calls of all ranks |
//! | `exchange` | sends and receives, unequal splits |
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

mod copies;
mod exchange;
mod reductions;

use sconce::*;
use sconce_base::element::{bf16_bits, bf16_value, f16_bits, f16_value};

use crate::support::*;

/// A generator of the tests' own.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        ((self.0 >> 33) as usize) % limit
    }

    fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.below(from.len())]
    }

    /// A small number: sums and products of few of them are exact in every type.
    fn number(&mut self) -> f64 {
        self.below(4) as f64
    }
}

const REDUCED: [i32; 11] = [
    SCONCE_DTYPE_F32,
    SCONCE_DTYPE_F64,
    SCONCE_DTYPE_F16,
    SCONCE_DTYPE_BF16,
    SCONCE_DTYPE_I8,
    SCONCE_DTYPE_U8,
    SCONCE_DTYPE_I32,
    SCONCE_DTYPE_U32,
    SCONCE_DTYPE_I64,
    SCONCE_DTYPE_U64,
    SCONCE_DTYPE_BOOL,
];

fn bytes_of(dtype: i32) -> usize {
    match dtype {
        SCONCE_DTYPE_F64 | SCONCE_DTYPE_I64 | SCONCE_DTYPE_U64 => 8,
        SCONCE_DTYPE_F16 | SCONCE_DTYPE_BF16 => 2,
        SCONCE_DTYPE_I8 | SCONCE_DTYPE_U8 | SCONCE_DTYPE_BOOL => 1,
        _ => 4,
    }
}

fn encode(dtype: i32, values: &[f64]) -> Vec<u8> {
    let one = |value: &f64| -> Vec<u8> {
        let value = *value;
        match dtype {
            SCONCE_DTYPE_F32 => (value as f32).to_le_bytes().to_vec(),
            SCONCE_DTYPE_F64 => value.to_le_bytes().to_vec(),
            SCONCE_DTYPE_F16 => f16_bits(value as f32).to_le_bytes().to_vec(),
            SCONCE_DTYPE_BF16 => bf16_bits(value as f32).to_le_bytes().to_vec(),
            SCONCE_DTYPE_BOOL => vec![u8::from(value != 0.0)],
            _ => (value as i64).to_le_bytes()[..bytes_of(dtype)].to_vec(),
        }
    };
    values.iter().flat_map(one).collect()
}

fn decode(dtype: i32, bytes: &[u8]) -> Vec<f64> {
    let one = |bytes: &[u8]| match dtype {
        SCONCE_DTYPE_F32 => f64::from(f32::from_le_bytes(bytes.try_into().unwrap())),
        SCONCE_DTYPE_F64 => f64::from_le_bytes(bytes.try_into().unwrap()),
        SCONCE_DTYPE_F16 => f64::from(f16_value(u16::from_le_bytes(bytes.try_into().unwrap()))),
        SCONCE_DTYPE_BF16 => f64::from(bf16_value(u16::from_le_bytes(bytes.try_into().unwrap()))),
        _ => {
            let mut whole = [0; 8];
            whole[..bytes.len()].copy_from_slice(bytes);
            i64::from_le_bytes(whole) as f64
        }
    };
    bytes.chunks_exact(bytes_of(dtype)).map(one).collect()
}

/// The model's reduction of all ranks.
fn reduced(inputs: &[Vec<f64>], dtype: i32, op: i32, factors: &[f64]) -> Vec<f64> {
    let ranks = inputs.len() as f64;
    let at = |index: usize| {
        let values = inputs.iter().map(|input| input[index]);
        let is_bool = dtype == SCONCE_DTYPE_BOOL;
        let sum = match op {
            SCONCE_COMM_PREMUL_SUM => {
                values.zip(factors).map(|(value, factor)| value * factor).sum()
            }
            SCONCE_COMM_PROD if is_bool => values.fold(1.0, f64::min),
            SCONCE_COMM_SUM if is_bool => values.fold(0.0, f64::max),
            SCONCE_COMM_PROD => values.product(),
            SCONCE_COMM_MIN => values.fold(f64::INFINITY, f64::min),
            SCONCE_COMM_MAX => values.fold(f64::NEG_INFINITY, f64::max),
            _ => values.sum::<f64>(),
        };
        let is_float = matches!(
            dtype,
            SCONCE_DTYPE_F32 | SCONCE_DTYPE_F64 | SCONCE_DTYPE_F16 | SCONCE_DTYPE_BF16
        );
        match op {
            SCONCE_COMM_AVG if is_float => sum / ranks,
            SCONCE_COMM_AVG => (sum / ranks).trunc(),
            _ => sum,
        }
    };
    (0..inputs[0].len()).map(at).collect()
}

/// What each rank gives, where the results go, and what they should be.
struct Case {
    dtype: i32,
    inputs: Vec<usize>,
    outputs: Vec<usize>,
    output_values: Vec<usize>,
}

impl Case {
    /// Inputs of these values, outputs of so many, filled with a number that no result has.
    fn new(dtype: i32, inputs: &[Vec<f64>], output_values: Vec<usize>) -> Case {
        let memory =
            |(device, values): (usize, &Vec<f64>)| memory_of(device as i32, &encode(dtype, values));
        let place = |(device, values): (usize, &usize)| {
            memory_of(device as i32, &vec![0x5a; values * bytes_of(dtype)])
        };
        Case {
            dtype,
            inputs: inputs.iter().enumerate().map(memory).collect(),
            outputs: output_values.iter().enumerate().map(place).collect(),
            output_values,
        }
    }

    /// Makes a call for each rank in one group, and compares; `None`: the rank's output is not written.
    #[track_caller]
    fn check(
        &self,
        comms: &[Comm],
        what: &str,
        call: impl Fn(usize, *mut sconce_comm, usize, usize) -> Status,
        expected: impl Fn(usize) -> Option<Vec<f64>>,
    ) {
        ok(grouped(|| {
            for (rank, comm) in comms.iter().enumerate() {
                ok(call(rank, comm.get(), self.inputs[rank], self.outputs[rank]));
            }
        }));
        for (rank, comm) in comms.iter().enumerate() {
            synchronize(rank as i32);
            ok(async_error(*comm));
            let bytes = self.output_values[rank] * bytes_of(self.dtype);
            let got = peek(self.outputs[rank], bytes);
            match expected(rank) {
                Some(values) => assert_eq!(decode(self.dtype, &got), values, "{what}, rank {rank}"),
                None => assert!(got.iter().all(|byte| *byte == 0x5a), "{what}, rank {rank}"),
            }
        }
        for address in self.inputs.iter().chain(&self.outputs) {
            ok(sconce_memory_free(at(*address)));
        }
    }
}

fn random_inputs(random: &mut Random, ranks: usize, count: usize, dtype: i32) -> Vec<Vec<f64>> {
    let most = if dtype == SCONCE_DTYPE_BOOL { 1.0 } else { 3.0 };
    let one = |_| (0..count).map(|_| random.number().min(most)).collect();
    (0..ranks).map(one).collect()
}
