//! Every operation with every type on both sides.

use sconce_base::element::Dtype;
use sconce_compute::pointwise::{ElementOperation, ResultType, Scalar};

use crate::cases::{Case, Side, TYPES, Words};
use crate::compare::check;

use ElementOperation::*;

/// The operations of a number of inputs.
fn operations(inputs: usize) -> impl Iterator<Item = ElementOperation> {
    ElementOperation::ALL.into_iter().filter(move |op| op.inputs() == inputs)
}

/// How many types each type meets in an operation of two inputs.
const PAIRS: usize = 4;

/// What types of inputs are promoted to, roughly as torch does: any choice will do here.
fn compute_for(op: ElementOperation, types: &[Dtype], words: &mut Words) -> Dtype {
    let fractions = op.result() == ResultType::Fraction || !op.takes(Dtype::I32);
    let chosen = types[words.below(types.len())];
    let is_integer = chosen.significand_bits() == 0;
    if fractions && is_integer { Dtype::F32 } else { chosen }
}

fn case(op: ElementOperation, types: &[Dtype], words: &mut Words) -> Case {
    let inputs = types.len() - 1;
    let n = [1, 5, 64, 1500][words.below(4)];
    let compute = match op {
        Fill => types[0],
        _ => compute_for(op, &types[1..], words),
    };
    let number = |words: &mut Words| match words.below(3) {
        0 => Scalar::Int(words.below(7) as i64 - 3),
        1 => Scalar::Float(words.below(64) as f64 / 8.0 - 4.0),
        _ => Scalar::Bool(words.below(2) == 1),
    };
    let side = |index: usize, words: &mut Words| {
        let seed = words.next();
        let is_number = op == Fill || inputs > 1 && index > 0 && words.below(4) == 0;
        if is_number {
            Err(number(words))
        } else {
            Ok(Side::new(types[index + 1], &[n], &[1], seed))
        }
    };
    let inputs = (0..inputs).map(|index| side(index, words)).collect();
    let output = Side::new(types[0], &[n], &[1], 0);
    let parameters = [Scalar::Int(words.below(3) as i64), Scalar::Int(0)];
    Case { op, compute, sizes: vec![n], output, inputs, parameters }
}

#[test]
fn operations_of_one_input_agree_for_all_pairs_of_types() {
    let mut words = Words(1);
    for op in operations(1) {
        for from in TYPES {
            // All results of conversions, some of other operations.
            let all = matches!(op, Cast | Fill);
            let few = [from, Dtype::F32, Dtype::Bool, TYPES[words.below(TYPES.len())]];
            for to in if all { &TYPES[..] } else { &few[..] } {
                check(&mut case(op, &[*to, from], &mut words));
            }
        }
    }
}

#[test]
fn operations_of_two_inputs_agree_for_pairs_of_types() {
    let mut words = Words(2);
    for op in operations(2) {
        for first in TYPES {
            for _ in 0..PAIRS {
                let second = TYPES[words.below(TYPES.len())];
                let to = [first, second, Dtype::Bool][words.below(3)];
                check(&mut case(op, &[to, first, second], &mut words));
            }
        }
    }
}

#[test]
fn operations_of_three_inputs_agree_for_all_types() {
    let mut words = Words(3);
    for first in TYPES {
        for _ in 0..4 {
            let any = |words: &mut Words| TYPES[words.below(TYPES.len())];
            let condition = [Dtype::Bool, Dtype::U8][words.below(2)];
            let second = any(&mut words);
            check(&mut case(Where, &[first, condition, first, second], &mut words));
            check(&mut case(Clamp, &[first, first, second, first], &mut words));
        }
    }
}

#[test]
fn sequences_agree() {
    for dtype in TYPES {
        for n in [1, 2, 7, 1024, 5000] {
            for op in [Range, Linspace] {
                let (whole, sides) = (dtype.significand_bits() == 0, [(2, 3), (-7, 1)]);
                let compute = if whole && op == Linspace { Dtype::F32 } else { dtype };
                for (first, second) in sides {
                    let mut case = Case {
                        op,
                        compute,
                        sizes: vec![n],
                        output: Side::new(dtype, &[n], &[1], 0),
                        inputs: Vec::new(),
                        parameters: [Scalar::Int(first), Scalar::Int(second)],
                    };
                    // Numbers at equal distances may be rounded to the integer below on one side.
                    if !whole || op == Range {
                        check(&mut case);
                    }
                }
            }
        }
    }
}

#[test]
fn layouts_agree() {
    let mut words = Words(4);
    for _ in 0..500 {
        let rank = words.below(6);
        let sizes: Vec<i64> = (0..rank)
            .map(|_| [1, 2, 3, 8, 16, 33][words.below(6)])
            .scan(4000, |left, size| {
                let size = if size > *left { 1 } else { size };
                *left /= size;
                Some(size)
            })
            .collect();
        let layout = |words: &mut Words, is_output: bool| {
            let mut order: Vec<usize> = (0..rank).collect();
            for index in (1..rank).rev().filter(|_| words.below(2) == 0).collect::<Vec<_>>() {
                order.swap(index, words.below(index + 1));
            }
            let (mut strides, mut next) = (vec![0; rank], [1, 1, 2][words.below(3)]);
            for axis in order.into_iter().rev() {
                strides[axis] = next;
                next *= sizes[axis] + [0, 0, 0, 1][words.below(4)];
                if !is_output && words.below(6) == 0 {
                    strides[axis] = 0;
                }
            }
            // A negative stride would leave the memory of a large operand.
            if rank > 0 && sizes[0] > 1 && strides[0].abs() < 8 && words.below(8) == 0 {
                strides[0] = -strides[0];
            }
            strides
        };
        let op = [Cast, Neg, Add, Maximum, Eq, Where][words.below(6)];
        let dtype = TYPES[words.below(8)];
        let other = [dtype, dtype, TYPES[words.below(16)]][words.below(3)];
        let count = match op {
            Cast | Neg => 1,
            Where => 3,
            _ => 2,
        };
        let inputs = (0..count)
            .map(|index| {
                let dtype = if index == 1 { other } else { dtype };
                let dtype = if op == Where && index == 0 { Dtype::Bool } else { dtype };
                let (strides, seed) = (layout(&mut words, false), words.next());
                Ok(Side::new(dtype, &sizes, &strides, seed))
            })
            .collect();
        let strides = layout(&mut words, true);
        let to = [dtype, other, Dtype::Bool][words.below(3)];
        let output = Side::new(to, &sizes, &strides, 0);
        let parameters = [Scalar::Int(1), Scalar::Int(0)];
        check(&mut Case { op, compute: dtype, sizes, output, inputs, parameters });
    }
}

/// Few floats take other kernels than many, which lie side by side here, or repeat a row.
#[test]
fn operations_on_many_floats_agree() {
    let mut words = Words(6);
    let floats = [Dtype::F32, Dtype::F16, Dtype::Bf16];
    let parameters = [Scalar::Int(2), Scalar::Int(0)];
    for (op, count) in operations(1).chain(operations(2)).map(|op| (op, op.inputs())) {
        let dtype = floats[words.below(3)];
        for (sizes, strides) in [([1, 66_001], [1, 1]), ([3, 44_001], [0, 1])] {
            let inputs = (0..count).map(|index| {
                let strides = if index == 0 { strides } else { [sizes[1], 1] };
                Ok(Side::new(dtype, &sizes, &strides, words.next()))
            });
            let inputs = inputs.collect();
            let output = Side::new(dtype, &sizes, &[sizes[1], 1], 0);
            let sizes = sizes.to_vec();
            check(&mut Case { op, compute: dtype, sizes, output, inputs, parameters });
        }
    }
}

#[test]
fn conversions_with_other_neighbours_agree() {
    let mut words = Words(5);
    for from in TYPES {
        let to = [from, Dtype::F32, TYPES[words.below(TYPES.len())]][words.below(3)];
        for (n, m) in [(16, 16), (64, 32), (70, 33), (200, 100)] {
            let sizes = [3, m, n];
            let seed = words.next();
            let inputs = vec![Ok(Side::new(from, &sizes, &[n * m, 1, m], seed))];
            let output = Side::new(to, &sizes, &[(n + 1) * m, n + 1, 1], 0);
            let parameters = [Scalar::Int(1), Scalar::Int(0)];
            let sizes = sizes.to_vec();
            check(&mut Case { op: Cast, compute: from, sizes, output, inputs, parameters });
        }
    }
}
