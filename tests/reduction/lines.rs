//! Softmax and running sums of random shapes and types, and of sizes that take every kind of kernel.

use sconce_base::element::Dtype;
use sconce_compute::reduction::{
    ElementOperand, KeptAxis, LineCall, LineOp, lines_on_host, queue_lines,
};

use crate::reduce::{Numbers, close, elements};
use testkit::twin::{Twin, runtime, stream};

/// A call along `axis` of a tensor whose axes lie in the order `order`; the result is packed.
fn run(
    numbers: &mut Numbers,
    op: LineOp,
    [input, compute, output]: [Dtype; 3],
    sizes: &[i64],
    order: &[usize],
    axis: usize,
) {
    let mut strides = vec![0; sizes.len()];
    let mut reach = 1;
    for axis in order.iter().rev() {
        strides[*axis] = if numbers.below(15) == 0 { 0 } else { reach };
        reach *= sizes[*axis].max(1) + i64::from(numbers.below(8) == 0);
    }
    let mut lines = Vec::new();
    let (mut results, mut output_stride) = (1, 1);
    for at in (0..sizes.len()).rev() {
        match at == axis {
            true => output_stride = results,
            false => lines.push(KeptAxis {
                size: sizes[at],
                input_stride: strides[at],
                output_stride: results,
            }),
        }
        results *= sizes[at];
    }
    let skip = numbers.below(3);
    let data = elements(numbers, input, (reach + skip as i64) as usize);
    let mut source = Twin::new(data);
    let mut result = Twin::new(vec![0xA5; results as usize * output.bytes()]);
    let first = skip * input.bytes() as u64;
    let at = |from: usize, to: usize| LineCall {
        op,
        input: ElementOperand { address: from as u64 + first, dtype: input },
        compute,
        output: ElementOperand { address: to as u64, dtype: output },
        lines: &lines,
        length: sizes[axis],
        input_stride: strides[axis],
        output_stride,
    };
    let stream = stream();
    let on_device = at(source.device().get(), result.device().get());
    queue_lines(runtime(), stream, &on_device).unwrap();
    let (from, to) = (source.host(), result.host());
    let on_host = at(from.get(), to.get());
    lines_on_host(&on_host, from.offset(first as usize), to).unwrap();
    close(output, &result.read(stream), &result.host, &format!("{on_device:?}"));
}

const OPS: [LineOp; 4] = [LineOp::Softmax, LineOp::LogSoftmax, LineOp::Cumsum, LineOp::Cumprod];
const FLOATS: [Dtype; 4] = [Dtype::F32, Dtype::F16, Dtype::Bf16, Dtype::F64];

/// The types of a random call.
fn types(numbers: &mut Numbers, op: LineOp) -> [Dtype; 3] {
    let others =
        [Dtype::I64, Dtype::I32, Dtype::U8, Dtype::Bool, Dtype::C64, Dtype::C128, Dtype::U16];
    let is_softmax = matches!(op, LineOp::Softmax | LineOp::LogSoftmax);
    let own = if is_softmax || numbers.below(2) == 0 {
        numbers.one_of(&FLOATS)
    } else {
        numbers.one_of(&others)
    };
    match own {
        Dtype::I32 | Dtype::U8 | Dtype::Bool | Dtype::U16 => [own, Dtype::I64, Dtype::I64],
        Dtype::F16 if numbers.below(3) == 0 => [own, Dtype::F32, Dtype::F32],
        _ => [own; 3],
    }
}

#[test]
fn random_lines_equal_those_of_the_host() {
    let mut numbers = Numbers(5);
    for _ in 0..400 {
        let op = numbers.one_of(&OPS);
        let types = types(&mut numbers, op);
        let rank = 1 + numbers.below(4) as usize;
        let all = [0, 1, 2, 3, 4, 7, 8, 16, 33];
        let sizes: Vec<i64> = (0..rank)
            .map(|_| all[usize::from(numbers.below(40) > 0) + numbers.below(8) as usize])
            .collect();
        let mut order: Vec<usize> = (0..rank).collect();
        if rank > 1 && numbers.below(3) == 0 {
            order.rotate_left(1 + numbers.below(rank as u64 - 1) as usize);
        }
        let axis = numbers.below(rank as u64) as usize;
        // Products of many numbers are not near each other; those of few are.
        if op != LineOp::Cumprod || sizes[axis] < 9 {
            run(&mut numbers, op, types, &sizes, &order, axis);
        }
    }
}

#[test]
fn long_lines_are_cut_and_many_axes_split() {
    let mut numbers = Numbers(9);
    let sizes = [2; 9];
    let turned = [8, 6, 4, 2, 0, 7, 5, 3, 1];
    for op in OPS {
        run(&mut numbers, op, [Dtype::F32; 3], &sizes, &turned, 4);
        run(&mut numbers, op, [Dtype::F64; 3], &sizes, &turned, 0);
    }
    for dtype in [Dtype::F32, Dtype::Bf16] {
        for op in [LineOp::Softmax, LineOp::LogSoftmax] {
            for length in [8192, 8193, 20_000, 20_001] {
                run(&mut numbers, op, [dtype; 3], &[2, length], &[0, 1], 1);
            }
            run(&mut numbers, op, [dtype; 3], &[3000, 5], &[0, 1], 0);
        }
    }
    for dtype in [Dtype::F32, Dtype::I64, Dtype::F64, Dtype::C64] {
        run(&mut numbers, LineOp::Cumsum, [dtype; 3], &[100_000], &[0], 0);
        run(&mut numbers, LineOp::Cumsum, [dtype; 3], &[2, 60_001], &[0, 1], 1);
        run(&mut numbers, LineOp::Cumsum, [dtype; 3], &[20_000, 3], &[0, 1], 0);
        run(&mut numbers, LineOp::Cumsum, [dtype; 3], &[20_000, 3], &[1, 0], 0);
    }
    // More tiles than a group of one pass has.
    run(&mut numbers, LineOp::Cumsum, [Dtype::F32; 3], &[1_060_000], &[0], 0);
    run(&mut numbers, LineOp::Cumsum, [Dtype::Bool, Dtype::I64, Dtype::I64], &[200_001], &[0], 0);
    run(&mut numbers, LineOp::Cumprod, [Dtype::I64; 3], &[60_001], &[0], 0);
}
