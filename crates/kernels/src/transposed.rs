//! What the kernels of `kernels/pointwise_transposed.cu` are launched with.
//!
//! They convert elements whose neighbours lie along one axis in the output and along another in the
//! input. Strides are in bytes.

use sconce_base::element::Dtype;
use sconce_driver::{Dim3, KernelArguments, LaunchShape};
use sconce_math::arithmetic::{
    AnyNumber, Domain, ElementOperation, Elementwise, ElementwiseAxis, ElementwiseInput,
    MOST_INPUTS,
};
use smallvec::SmallVec;

use super::divisor::Divisor;
use super::signature::TRANSPOSED;

/// A tile's elements along the output's rows and along the input's.
const TILE_OUT: u64 = 64;
const TILE_IN: u64 = 32;
/// The most axes beside those two.
const MOST_OUTER: usize = 6;
/// Shorter rows are left to the kernels without tiles.
const LEAST_ROW: u64 = 16;
/// The most blocks of a launch.
const MOST_BLOCKS: u64 = (1 << 31) - 1;
/// Slots before the outer axes, and of each.
const BEFORE_AXES: usize = 10;
const OF_AXIS: usize = 3;

const _: () = assert!(TRANSPOSED.slots() == BEFORE_AXES + OF_AXIS * MOST_OUTER);

/// The name of the kernel of a domain, which is not `C128`.
pub fn transposed_kernel_name(domain: Domain) -> String {
    format!("sconce_pointwise_transposed_{}", domain.suffix())
}

/// Grid and arguments of a launch, if the operation is one for these kernels.
pub fn transposed_launch(task: &Elementwise) -> Option<(LaunchShape, KernelArguments)> {
    let is_conversion = task.operation == ElementOperation::Cast && task.domain != Domain::C128;
    let [ElementwiseInput::Memory(input, dtype)] = task.inputs[..] else { return None };
    let (output, to) = task.output;
    let (along_out, rest) = task.axes.split_first().filter(|_| is_conversion)?;
    let is_row = |axis: &ElementwiseAxis, operand: usize, dtype: Dtype| {
        axis.size >= LEAST_ROW && axis.strides[operand] == dtype.bytes() as i64
    };
    let place = rest.iter().position(|axis| is_row(axis, 1, dtype))?;
    let along_in = rest[place];
    let fits = |axis: &ElementwiseAxis| axis.size <= MOST_BLOCKS;
    // The kernels of singles take no wider inputs.
    let is_narrow = task.domain != Domain::F32 || dtype.bytes() <= 4;
    if !is_row(along_out, 0, to)
        || along_out.strides[1] == dtype.bytes() as i64
        || !is_narrow
        || rest.len() > MOST_OUTER + 1
        || !task.axes.iter().all(fits)
    {
        return None;
    }
    let (tiles_in, tiles_out) =
        (along_in.size.div_ceil(TILE_IN), along_out.size.div_ceil(TILE_OUT));
    let outer = rest.iter().enumerate().filter(|(index, _)| *index != place);
    let outer: SmallVec<[&ElementwiseAxis; MOST_OUTER]> = outer.map(|(_, axis)| axis).collect();
    let blocks = outer
        .iter()
        .map(|axis| axis.size)
        .chain([tiles_in, tiles_out])
        .try_fold(1_u64, |blocks, size| blocks.checked_mul(size))
        .filter(|blocks| *blocks <= MOST_BLOCKS)?;
    let kinds =
        to as u64 | (dtype as u64) << 16 | (task.compute as u64) << 32 | (outer.len() as u64) << 48;
    let divisor = |size: u64| Divisor::by(size as u32).to_slot();
    let mut arguments = TRANSPOSED
        .pack()
        .u64(output)
        .u64(input)
        .u64(kinds)
        .u64(along_out.size | along_in.size << 32)
        .u64(divisor(tiles_in))
        .u64(divisor(tiles_out));
    for axis in [along_out, &along_in] {
        arguments.add(axis.strides[0] as u64);
        arguments.add(axis.strides[1] as u64);
    }
    for index in 0..MOST_OUTER {
        let axis = outer.get(index).map_or(ElementwiseAxis { size: 1, strides: [0; 4] }, |a| **a);
        let [out, from, ..] = axis.strides;
        for word in [divisor(axis.size), out as u64, from as u64] {
            arguments.add(word);
        }
    }
    let threads = (TILE_OUT * TILE_IN) as u32 / elements_of_thread(task.domain);
    let (grid, block) = (Dim3::line(blocks as u32), Dim3::line(threads));
    Some((LaunchShape { grid, block, shared_bytes: 0 }, arguments.finish()))
}

const fn elements_of_thread(domain: Domain) -> u32 {
    match domain {
        Domain::F32 | Domain::Integer => 8,
        _ => 4,
    }
}

/// The operation that a launch computes, for a backend that runs it itself.
pub fn read_transposed(slots: &[u64], domain: Domain) -> Option<Elementwise> {
    if slots.len() != TRANSPOSED.slots() {
        return None;
    }
    let dtype = |shift: u32| Dtype::ALL.get((slots[2] >> shift) as usize & 255).copied();
    let axis = |size: u64, at: usize| {
        let mut strides = [0; MOST_INPUTS + 1];
        (strides[0], strides[1]) = (slots[at] as i64, slots[at + 1] as i64);
        ElementwiseAxis { size, strides }
    };
    let mut axes = SmallVec::new();
    axes.push(axis(u64::from(slots[3] as u32), 6));
    axes.push(axis(slots[3] >> 32, 8));
    let outer = (slots[2] >> 48) as usize;
    for index in 0..outer.min(MOST_OUTER) {
        let at = BEFORE_AXES + OF_AXIS * index;
        axes.push(axis(u64::from(Divisor::from_slot(slots[at]).size), at + 1));
    }
    let (output, input, compute) = (dtype(0)?, dtype(16)?, dtype(32)?);
    let mut task = Elementwise {
        operation: ElementOperation::Cast,
        domain,
        compute,
        parameters: [AnyNumber::Signed(0); 3],
        output: (slots[0], output),
        inputs: SmallVec::from_iter([ElementwiseInput::Memory(slots[1], input)]),
        first: 0,
        total: 0,
        axes,
    };
    task.total = task.count();
    (outer <= MOST_OUTER && Domain::of(compute) == domain).then_some(task)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn task(axes: &[(u64, i64, i64)]) -> Elementwise {
        let axis = |(size, out, from): &(u64, i64, i64)| ElementwiseAxis {
            size: *size,
            strides: [*out, *from, 0, 0],
        };
        let mut task = Elementwise {
            operation: ElementOperation::Cast,
            domain: Domain::F32,
            compute: Dtype::F32,
            parameters: [AnyNumber::Signed(0); 3],
            output: (512, Dtype::F16),
            inputs: SmallVec::from_iter([ElementwiseInput::Memory(1024, Dtype::F32)]),
            first: 0,
            total: 0,
            axes: axes.iter().map(axis).collect(),
        };
        task.total = task.count();
        task
    }

    #[test]
    fn a_launch_is_read_as_it_was_packed_with_the_inputs_row_second() {
        let given = task(&[(100, 2, 400), (3, 200, 40_000), (70, 600, 4)]);
        let (shape, arguments) = transposed_launch(&given).unwrap();
        assert_eq!((shape.grid, shape.block), (Dim3::line(2 * 3 * 3), Dim3::line(256)));
        let read = read_transposed(arguments.slots(), Domain::F32).unwrap();
        assert_eq!(read, task(&[(100, 2, 400), (70, 600, 4), (3, 200, 40_000)]));
        assert!(read_transposed(arguments.slots(), Domain::F64).is_none());
        assert!(read_transposed(&arguments.slots()[1..], Domain::F32).is_none());
    }

    #[test]
    fn other_operations_are_left_to_other_kernels() {
        for axes in [
            &[(100, 2, 4), (70, 200, 400)][..],
            &[(100, 2, 400), (15, 200, 4)],
            &[(15, 2, 400), (100, 30, 4)],
            &[(100, 4, 400), (70, 600, 4)],
            &[(100, 2, 400)],
            &[],
        ] {
            assert!(transposed_launch(&task(axes)).is_none(), "{axes:?}");
        }
        let given = task(&[(100, 2, 400), (70, 600, 4)]);
        assert!(transposed_launch(&given).is_some());
        let operation = ElementOperation::Neg;
        assert!(transposed_launch(&Elementwise { operation, ..given }).is_none());
    }
}
