//! What the kernels of `kernels/pointwise_*.cu` are launched with.
//!
//! There is a kernel for each domain and each number of inputs, and for one and two inputs two more for frequent
//! operations on floats: on contiguous ones, and on few. Strides are in bytes; a launch of more than one axis has fewer
//! than 2^31 elements. The caller brings an operation into this form.

use sconce_base::element::Dtype;
use sconce_driver::{Dim3, KernelArguments, LaunchShape};
use sconce_math::arithmetic::{
    AnyNumber, Domain, ElementOperation, Elementwise, ElementwiseAxis, ElementwiseInput,
    MOST_INPUTS,
};
use smallvec::SmallVec;

use super::divisor::Divisor;
use super::flat::PointwiseForm;
use super::signature::{POINTWISE_1, POINTWISE_2, POINTWISE_3, Signature};

/// The most elements of a launch of more than one axis.
pub const POINTWISE_ELEMENTS: u64 = (1 << 31) - 1;

/// A block's threads.
const THREADS: u64 = 128;
/// A block's threads, and the elements of each, in the kernels for contiguous elements.
const FLAT_THREADS: u64 = 256;
const FLAT_EACH: u64 = 8;
/// A block's threads in the kernels for few elements, each of which has one.
pub(super) const SMALL_THREADS: u64 = 128;
/// Bytes of the widest access, as a power of two.
pub(super) const ACCESS_SHIFT: u32 = 4;
/// The parts of an operand's kind.
const CONSTANT: u64 = 1 << 8;
pub(super) const WIDE: u64 = 1 << 9;

/// The most axes of a launch with a number of inputs.
pub const fn pointwise_axes(inputs: usize) -> usize {
    if inputs == 1 { 8 } else { 7 }
}

/// The parameters of kernels with a number of inputs.
pub(super) const fn signature(inputs: usize) -> &'static Signature {
    match inputs {
        1 => &POINTWISE_1,
        2 => &POINTWISE_2,
        _ => &POINTWISE_3,
    }
}

/// Numbers that operations with a number of inputs take as parameters.
const fn parameters(inputs: usize) -> usize {
    match inputs {
        1 => 3,
        2 => 1,
        _ => 0,
    }
}

/// Slots of an axis: the divisor, and strides of 4 bytes.
pub(super) const fn slots_of_axis(inputs: usize) -> usize {
    1 + (inputs + 1).div_ceil(2)
}

/// Slots before the axes: count, code, kinds, output; inputs; of one input first index and total;
/// parameters.
const fn slots_before_axes(inputs: usize) -> usize {
    4 + 2 * inputs + if inputs == 1 { 2 } else { 0 } + 2 * parameters(inputs)
}

const fn slots(inputs: usize) -> usize {
    slots_before_axes(inputs) + pointwise_axes(inputs) * slots_of_axis(inputs)
}

const _: () = {
    assert!(POINTWISE_1.slots() == slots(1));
    assert!(POINTWISE_2.slots() == slots(2));
    assert!(POINTWISE_3.slots() == slots(3));
};

/// Elements of a thread, as a power of two.
pub(super) const fn elements_shift(domain: Domain) -> u32 {
    match domain {
        Domain::F32 | Domain::Integer => 3,
        Domain::F64 | Domain::C64 => 2,
        Domain::C128 => 1,
    }
}

/// The name of the kernel of a domain for a number of inputs.
pub fn pointwise_kernel_name(domain: Domain, inputs: usize, form: PointwiseForm) -> String {
    let suffix = match form {
        PointwiseForm::Strided => "",
        PointwiseForm::Flat => "_flat",
        PointwiseForm::Small => "_small",
    };
    format!("sconce_pointwise_{inputs}_{}{suffix}", domain.suffix())
}

/// The kernel, grid and arguments of a launch. Every stride fits into 32 bits, and there are at most as
/// many axes as [`pointwise_axes`] says.
pub fn pointwise_launch(task: &Elementwise) -> (PointwiseForm, LaunchShape, KernelArguments) {
    let inputs = task.inputs.len();
    let count = task.count();
    let width = Width::of(task);
    let form = PointwiseForm::of(task, &width.is_wide, width.shift);
    let rank = task.axes.len().max(1) as u64;
    let code = u64::from(task.operation.kernel_number())
        | (task.compute as u64) << 8
        | rank << 16
        | u64::from(width.shift) << 24;
    let mut kinds = task.output.1 as u64 | width.flag(0);
    for (index, input) in task.inputs.iter().enumerate() {
        let kind = match input {
            ElementwiseInput::Memory(_, dtype) => *dtype as u64 | width.flag(index + 1),
            ElementwiseInput::Constant(_) => CONSTANT,
        };
        kinds |= kind << (16 * (index + 1));
    }
    let mut arguments = signature(inputs).pack();
    for word in [count, code, kinds, task.output.0] {
        arguments.add(word);
    }
    for input in &task.inputs {
        let [first, second] = match input {
            ElementwiseInput::Memory(address, _) => [*address, 0],
            ElementwiseInput::Constant(number) => words(*number, task),
        };
        arguments.add(first);
        arguments.add(second);
    }
    if inputs == 1 {
        arguments.add(task.first);
        arguments.add(task.total);
    }
    for number in &task.parameters[..parameters(inputs)] {
        let [first, second] = words(*number, task);
        arguments.add(first);
        arguments.add(second);
    }
    // An operation on one element has an axis, too.
    let one = [ElementwiseAxis { size: 1, strides: [0; MOST_INPUTS + 1] }];
    let axes = if task.axes.is_empty() { &one[..] } else { &task.axes[..] };
    for axis in axes {
        // One axis needs no divisor, and may have more elements than one holds.
        arguments.add(match axes.len() {
            1 => axis.size,
            _ => Divisor::by(axis.size as u32).to_slot(),
        });
        for pair in 0..slots_of_axis(inputs) - 1 {
            let stride = |operand: usize| u64::from(axis.strides[operand] as u32);
            arguments.add(stride(2 * pair) | stride(2 * pair + 1) << 32);
        }
    }
    // The kernels read no other axes.
    arguments.skip((pointwise_axes(inputs) - axes.len()) * slots_of_axis(inputs));
    let (threads, each) = match form {
        PointwiseForm::Strided => (THREADS, 1 << elements_shift(task.domain)),
        PointwiseForm::Flat => (FLAT_THREADS, FLAT_EACH),
        PointwiseForm::Small => (SMALL_THREADS, 1),
    };
    let grid = Dim3::line(count.div_ceil(threads * each).max(1) as u32);
    let shape = LaunchShape { grid, block: Dim3::line(threads as u32), shared_bytes: 0 };
    (form, shape, arguments.finish())
}

/// A number as a kernel of the task's domain takes it.
fn words(number: AnyNumber, task: &Elementwise) -> [u64; 2] {
    match task.domain {
        Domain::F32 => [f64::from(number.to_single()).to_bits(), 0],
        Domain::F64 => [number.to_double().to_bits(), 0],
        Domain::Integer => [number.to_integer(task.compute) as u64, 0],
        Domain::C64 => number.to_complex_single().map(|part| f64::from(part).to_bits()),
        Domain::C128 => number.to_complex_double().map(f64::to_bits),
    }
}

/// How many neighbours a thread moves at once.
struct Width {
    /// The number, as a power of two.
    shift: u32,
    /// For each operand whether it is moved so.
    is_wide: [bool; MOST_INPUTS + 1],
}

impl Width {
    /// As many as an access holds of the largest elements that are neighbours, as long as addresses,
    /// strides and the innermost axis allow it.
    fn of(task: &Elementwise) -> Width {
        let none = Width { shift: 0, is_wide: [false; MOST_INPUTS + 1] };
        let Some((inner, outer)) = task.axes.split_first() else { return none };
        let (mut is_wide, mut largest, mut misplaced) = ([false; MOST_INPUTS + 1], 0, 0);
        let mut visit = |operand: usize, address: u64, dtype: Dtype| {
            let bytes = dtype.bytes() as u64;
            // The kernels of singles convert wider inputs one by one.
            let is_too_wide = operand > 0 && task.domain == Domain::F32 && bytes > 4;
            if inner.strides[operand] == bytes as i64 && !is_too_wide {
                is_wide[operand] = true;
                let shift = dtype.bytes().trailing_zeros();
                largest = largest.max(shift);
                let strides = outer.iter().map(|axis| axis.strides[operand] as u64);
                // In elements: what is not a multiple of the element cannot be launched at all.
                misplaced |= strides.fold(address, |bits, stride| bits | stride) >> shift;
            }
        };
        visit(0, task.output.0, task.output.1);
        for (index, input) in task.inputs.iter().enumerate() {
            if let ElementwiseInput::Memory(address, dtype) = input {
                visit(index + 1, *address, *dtype);
            }
        }
        if !is_wide[0] {
            return none;
        }
        if !outer.is_empty() {
            misplaced |= inner.size;
        }
        let most = (ACCESS_SHIFT - largest).min(elements_shift(task.domain));
        Width { shift: most.min(misplaced.trailing_zeros()), is_wide }
    }

    fn flag(&self, operand: usize) -> u64 {
        if self.is_wide[operand] && self.shift > 0 { WIDE } else { 0 }
    }
}

/// A launch as the kernel sees it, for a backend that runs it itself.
pub struct PointwiseLaunch {
    pub task: Elementwise,
    /// How many neighbours are moved at once of the operands that are marked.
    pub width: u64,
    pub is_wide: [bool; MOST_INPUTS + 1],
}

impl PointwiseLaunch {
    /// Reads the slots that [`pointwise_launch`] made.
    pub fn read(slots: &[u64], domain: Domain, inputs: usize) -> Option<PointwiseLaunch> {
        if slots.len() != signature(inputs).slots() {
            return None;
        }
        let (count, code, kinds) = (slots[0], slots[1], slots[2]);
        let operation = ElementOperation::numbered(code & 255)?;
        let compute = dtype_numbered(code >> 8)?;
        let rank = (code >> 16 & 255) as usize;
        let is_known = operation.inputs().max(1) == inputs && operation.is_defined_on(domain);
        if !is_known
            || Domain::of(compute) != domain
            || !(1..=pointwise_axes(inputs)).contains(&rank)
        {
            return None;
        }
        let number = |at: usize| match domain {
            Domain::F32 | Domain::F64 => AnyNumber::Double(f64::from_bits(slots[at])),
            Domain::Integer => AnyNumber::Signed(slots[at] as i64),
            Domain::C64 | Domain::C128 => {
                AnyNumber::ComplexDouble([slots[at], slots[at + 1]].map(f64::from_bits))
            }
        };
        let mut taken = SmallVec::new();
        for index in 0..inputs {
            let (kind, at) = (kinds >> (16 * (index + 1)), 4 + 2 * index);
            taken.push(match kind & CONSTANT {
                0 => ElementwiseInput::Memory(slots[at], dtype_numbered(kind)?),
                _ => ElementwiseInput::Constant(number(at)),
            });
        }
        let mut parameters_read = [AnyNumber::Signed(0); 3];
        let after = slots_before_axes(inputs) - 2 * parameters(inputs);
        for (index, parameter) in parameters_read.iter_mut().take(parameters(inputs)).enumerate() {
            *parameter = number(after + 2 * index);
        }
        let (first, total) = if inputs == 1 { (slots[6], slots[7]) } else { (0, count) };
        let task = Elementwise {
            operation,
            domain,
            compute,
            parameters: parameters_read,
            output: (slots[3], dtype_numbered(kinds)?),
            inputs: taken,
            first,
            total,
            axes: (0..rank).map(|index| axis(slots, inputs, index, rank)).collect(),
        };
        let is_wide = [0, 1, 2, 3].map(|operand: usize| kinds >> (16 * operand) & WIDE != 0);
        (task.count() == count).then_some(PointwiseLaunch {
            task,
            width: 1 << (code >> 24 & 255),
            is_wide,
        })
    }
}

fn dtype_numbered(number: u64) -> Option<Dtype> {
    Dtype::ALL.get(number as usize & 255).copied()
}

fn axis(slots: &[u64], inputs: usize, index: usize, rank: usize) -> ElementwiseAxis {
    let at = slots_before_axes(inputs) + index * slots_of_axis(inputs);
    let size = if rank == 1 { slots[at] } else { u64::from(Divisor::from_slot(slots[at]).size) };
    let mut strides = [0; MOST_INPUTS + 1];
    for (operand, stride) in strides.iter_mut().enumerate().take(inputs + 1) {
        *stride = i64::from((slots[at + 1 + operand / 2] >> (32 * (operand % 2))) as u32 as i32);
    }
    ElementwiseAxis { size, strides }
}
