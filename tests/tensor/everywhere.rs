//! Every operation on every type: a device refuses what the CPU refuses, and computes the same.

use sconce::*;
use testkit::numbers::Random;
use testkit::places::alone;

use crate::api::{CPU, Failure, Handle, Outcome, bytes_of, integer, options, real, truth};
use crate::create::{arange, from_bytes, full, linspace};
use crate::operations::{self, Operand};
use crate::storage::figures::Figures;

const DTYPES: std::ops::Range<i32> = 0..22;
const SIZES: [i64; 2] = [4, 6];

/// Any bits that are elements of the type, except NaN, whose bits operations choose.
fn elements(dtype: i32, seed: u64) -> Vec<u8> {
    let (count, mut random) = (24, Random(seed));
    match dtype {
        SCONCE_DTYPE_BOOL => (0..count).map(|_| random.below(2) as u8).collect(),
        SCONCE_DTYPE_F32 | SCONCE_DTYPE_C64 => {
            let parts = count * bytes_of(dtype) / 4;
            let number = |_| (random.below(33) as f32 - 16.0) / 4.0;
            (0..parts).map(number).flat_map(f32::to_le_bytes).collect()
        }
        SCONCE_DTYPE_F64 | SCONCE_DTYPE_C128 => {
            let parts = count * bytes_of(dtype) / 8;
            let number = |_| (random.below(33) as f64 - 16.0) / 4.0;
            (0..parts).map(number).flat_map(f64::to_le_bytes).collect()
        }
        // Small numbers: 1 to 4 as F16, BF16 and narrow floats have them in their upper bits.
        SCONCE_DTYPE_F16 | SCONCE_DTYPE_C32 => {
            let parts = count * bytes_of(dtype) / 2;
            let bits = [0x3c00_u16, 0x4000, 0xbc00, 0x3800, 0x4200, 0x0000];
            (0..parts).flat_map(|_| random.one_of(&bits).to_le_bytes()).collect()
        }
        SCONCE_DTYPE_BF16 => {
            let bits = [0x3f80_u16, 0x4000, 0xbf80, 0x3f00, 0x4040, 0x0000];
            (0..count).flat_map(|_| random.one_of(&bits).to_le_bytes()).collect()
        }
        SCONCE_DTYPE_F8_E4M3FN..=SCONCE_DTYPE_F4_E2M1FN_X2 => {
            (0..count).map(|_| random.one_of(&[0x38, 0x40, 0x30, 0x3a])).collect()
        }
        _ => (0..count * bytes_of(dtype)).map(|_| random.below(256) as u8).collect(),
    }
}

/// What a result is, without where it is.
#[derive(PartialEq)]
struct Seen {
    dtype: i32,
    sizes: Vec<i64>,
    strides: Vec<i64>,
    bytes: Vec<u8>,
}

fn seen(outcome: Outcome<Handle>, device: i32) -> Result<Seen, Failure> {
    let tensor = outcome?;
    assert_eq!(tensor.device(), device);
    let (dtype, sizes, strides) = (tensor.dtype(), tensor.sizes(), tensor.strides());
    Ok(Seen { dtype, sizes, strides, bytes: tensor.bytes()? })
}

/// The tensors of a test on a device: of a type, turned; and of another type.
struct Operands {
    first: Handle,
    second: Handle,
}

impl Operands {
    fn new((first, second): (i32, i32), device: i32) -> Operands {
        let dense = from_bytes(&elements(first, 3), &[SIZES[1], SIZES[0]], first, device).unwrap();
        Operands {
            first: dense.transpose(0, 1).unwrap(),
            second: from_bytes(&elements(second, 4), &SIZES, second, device).unwrap(),
        }
    }
}

/// Compares what `make` returns on the CPU and on a device; returns whether it succeeded.
fn same(
    context: &str,
    dtypes: (i32, i32),
    wrong: &mut Vec<String>,
    make: impl Fn(&Operands) -> Outcome<Handle>,
) -> bool {
    let [host, device] = [CPU, 0].map(|place| seen(make(&Operands::new(dtypes, place)), place));
    let text = match (&host, &device) {
        (Ok(host), Ok(device)) if host == device => return true,
        (Err(host), Err(device)) if host == device => return false,
        (Ok(host), Ok(device)) if host.bytes != device.bytes => "other values".to_owned(),
        (Ok(_), Ok(_)) => "another type or shape".to_owned(),
        // Only the CPU looks at the divisors of integers.
        (Err(failure), Ok(_)) if failure.message.contains("ZeroDivisionError") => return false,
        (Err(failure), Ok(_)) => format!("only the CPU says {}", failure.message),
        (Ok(_), Err(failure)) => format!("only the device says {}", failure.message),
        (Err(host), Err(device)) => format!("{:?} and {:?}", host.message, device.message),
    };
    wrong.push(format!("{context} of {dtypes:?}: {text}"));
    false
}

#[track_caller]
fn assert_none(wrong: &[String], worked: usize, least: usize) {
    assert!(
        wrong.is_empty(),
        "{} differ:\n{}",
        wrong.len(),
        wrong[..wrong.len().min(40)].join("\n")
    );
    assert!(worked > least, "only {worked} succeeded");
}

#[test]
fn unary_operations_of_every_type() {
    let _one = alone();
    let start = Figures::now();
    let (mut wrong, mut worked) = (Vec::new(), 0);
    for operation in SCONCE_UNARY_NEG..=SCONCE_UNARY_IS_FINITE {
        for dtype in DTYPES {
            let context = format!("unary operation {operation}");
            worked += usize::from(same(&context, (dtype, dtype), &mut wrong, |operands| {
                operations::unary(operation, &operands.first)
            }));
        }
    }
    assert_none(&wrong, worked, 250);
    start.assert_unchanged();
}

#[test]
fn binary_operations_of_every_pair_of_types() {
    let _one = alone();
    let start = Figures::now();
    let (mut wrong, mut worked) = (Vec::new(), 0);
    for operation in SCONCE_BINARY_ADD..=SCONCE_BINARY_LOGICAL_XOR {
        for dtypes in DTYPES.flat_map(|first| DTYPES.map(move |second| (first, second))) {
            // A few of all pairs, another few for each operation.
            if dtypes.0 != dtypes.1 && (dtypes.0 * 5 + dtypes.1 * 3 + operation) % 7 != 0 {
                continue;
            }
            let context = format!("binary operation {operation}");
            worked += usize::from(same(&context, dtypes, &mut wrong, |operands| {
                let (first, second) = (&operands.first, &operands.second);
                operations::binary(operation, Operand::Tensor(first), Operand::Tensor(second))
            }));
        }
        for dtype in DTYPES {
            for number in [integer(2), real(0.5), truth(true)] {
                let context = format!("binary operation {operation} with {number:?}");
                worked += usize::from(same(&context, (dtype, dtype), &mut wrong, |operands| {
                    let first = Operand::Tensor(&operands.first);
                    operations::binary(operation, first, Operand::Number(number))
                }));
            }
        }
    }
    assert_none(&wrong, worked, 1500);
    start.assert_unchanged();
}

#[test]
fn reductions_of_every_type() {
    let _one = alone();
    let start = Figures::now();
    let (mut wrong, mut worked) = (Vec::new(), 0);
    for operation in SCONCE_REDUCE_SUM..=SCONCE_REDUCE_ANY {
        for dtype in DTYPES {
            // The order of factors makes a difference in the last place.
            let is_rounded = matches!(dtype, SCONCE_DTYPE_C32 | SCONCE_DTYPE_C128);
            if operation == SCONCE_REDUCE_PROD && is_rounded {
                continue;
            }
            for dim in [None, Some(0), Some(1)] {
                // Devices multiply by a rounded factor, which is exact for the 4 elements of dimension 0 only.
                if operation == SCONCE_REDUCE_MEAN && dim != Some(0) {
                    continue;
                }
                let context = format!("reduction {operation} of dimension {dim:?}");
                worked += usize::from(same(&context, (dtype, dtype), &mut wrong, |operands| {
                    operations::reduce(operation, &operands.first, dim, false)
                }));
            }
        }
    }
    assert_none(&wrong, worked, 250);
    start.assert_unchanged();
}

#[test]
fn lines_sorts_and_joins_of_every_type() {
    let _one = alone();
    let start = Figures::now();
    let (mut wrong, mut worked) = (Vec::new(), 0);
    for dtype in DTYPES {
        let (pair, next) = ((dtype, dtype), (dtype, (dtype * 7 + 3) % 22));
        for dim in [0, 1] {
            for operation in SCONCE_LINE_SOFTMAX..=SCONCE_LINE_CUMPROD {
                let context = format!("line {operation} along {dim}");
                worked += usize::from(same(&context, pair, &mut wrong, |operands| {
                    operations::along(operation, &operands.first, dim)
                }));
            }
            for result in [0, 1] {
                worked += usize::from(same("sort", pair, &mut wrong, |operands| {
                    let sorted = operations::sort(&operands.first, dim, dim == 0)?;
                    Ok(sorted.into_iter().nth(result).unwrap())
                }));
            }
            for pair in [pair, next] {
                worked += usize::from(same("cat", pair, &mut wrong, |operands| {
                    operations::cat(&[&operands.first, &operands.second], dim)
                }));
            }
            worked += usize::from(same("index_select", pair, &mut wrong, |operands| {
                let index = [3_i64, 0, 0, 2].map(i64::to_le_bytes).concat();
                let place = operands.first.device();
                let index = from_bytes(&index, &[4], SCONCE_DTYPE_I64, place).unwrap();
                operations::index_select(&operands.first, dim, &index)
            }));
        }
        worked += usize::from(same("where", next, &mut wrong, |operands| {
            let bytes: Vec<u8> = (0..24).map(|at| u8::from(at % 3 == 0)).collect();
            let place = operands.first.device();
            let condition = from_bytes(&bytes, &SIZES, SCONCE_DTYPE_BOOL, place).unwrap();
            let (first, second) = (&operands.first, &operands.second);
            operations::choose(&condition, Operand::Tensor(first), Operand::Tensor(second))
        }));
        for (least, most) in [(real(0.5), Some(integer(2))), (integer(1), None)] {
            worked += usize::from(same("clamp", pair, &mut wrong, |operands| {
                let most = most.map_or(Operand::Missing, Operand::Number);
                operations::clamp(&operands.first, Operand::Number(least), most)
            }));
        }
    }
    assert_none(&wrong, worked, 250);
    start.assert_unchanged();
}

/// Numbers of every kind become the same elements everywhere.
#[test]
fn numbers_in_every_type() {
    let _one = alone();
    let start = Figures::now();
    let reals = [0.0, -0.0, 1.5, -2.75, 255.5, 1e9, -1e9, 1e300, f64::INFINITY, f64::NEG_INFINITY];
    let integers = [0, 1, -1, 127, 128, 255, 65536, i64::MAX, i64::MIN];
    let complex =
        sconce_scalar { kind: SCONCE_SCALAR_COMPLEX, real: 1.5, imaginary: -2.0, ..real(0.0) };
    let numbers: Vec<sconce_scalar> = reals
        .map(real)
        .into_iter()
        .chain(integers.map(integer))
        .chain([true, false].map(truth))
        .chain([complex, real(f64::NAN)])
        .collect();
    let (mut wrong, mut worked) = (Vec::new(), 0);
    for dtype in DTYPES {
        for number in &numbers {
            let context = format!("full {number:?}");
            worked += usize::from(same(&context, (dtype, dtype), &mut wrong, |operands| {
                full(&[3], *number, &options(dtype, operands.first.device()))
            }));
        }
        worked += usize::from(same("arange", (dtype, dtype), &mut wrong, |operands| {
            let bounds = [integer(1), integer(9), integer(3)];
            arange(bounds, &options(dtype, operands.first.device()))
        }));
        worked += usize::from(same("linspace", (dtype, dtype), &mut wrong, |operands| {
            linspace([integer(1), integer(2)], 5, &options(dtype, operands.first.device()))
        }));
    }
    assert_none(&wrong, worked, 400);
    start.assert_unchanged();
}
