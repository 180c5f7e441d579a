//! Computation of an operation by the calling thread, a tile at a time.

use std::ops::Range;

use sconce_base::element::Dtype;
use sconce_base::strided::each_run;

use super::any_number::AnyNumber;
use super::domain::Domain;
use super::elementwise::{Elementwise, ElementwiseInput, MOST_INPUTS};
use super::number::{DomainNumber, Rules};
use super::operation::ElementOperation;
use super::stored::{decode, encode};

/// Elements of a tile.
const TILE: usize = 256;
/// Bytes of the largest element.
const LARGEST: usize = 16;

/// Elements that follow each other at equal distances: where the first one is, counted in bytes from
/// the first element of the operand, the distance in bytes, the bytes of each, and how many there are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ElementRun {
    pub offset: i64,
    pub stride: i64,
    pub width: usize,
    pub count: usize,
}

/// The memory of an operation: operand 0 is the output, the inputs follow.
pub trait ElementRuns {
    /// Why memory cannot be used.
    type Refusal;
    /// Reads the elements of a run, packed.
    fn read(&self, operand: usize, run: ElementRun, into: &mut [u8]) -> Result<(), Self::Refusal>;
    /// Writes the elements of a run, packed.
    fn write(&self, run: ElementRun, from: &[u8]) -> Result<(), Self::Refusal>;
}

/// Computes an operation that is defined on its domain.
pub fn evaluate<M: ElementRuns>(task: &Elementwise, memory: &M) -> Result<(), M::Refusal> {
    evaluate_part(task, 0..task.count(), memory)
}

/// Computes some of the elements, numbered along the axes, the innermost first.
pub fn evaluate_part<M: ElementRuns>(
    task: &Elementwise,
    elements: Range<u64>,
    memory: &M,
) -> Result<(), M::Refusal> {
    match task.domain {
        Domain::F32 => walk::<f32, M>(task, elements, memory),
        Domain::F64 => walk::<f64, M>(task, elements, memory),
        Domain::Integer => walk::<i64, M>(task, elements, memory),
        Domain::C64 => walk::<[f32; 2], M>(task, elements, memory),
        Domain::C128 => walk::<[f64; 2], M>(task, elements, memory),
    }
}

/// Calls for each tile of each run along the innermost axis.
fn walk<N: DomainNumber, M: ElementRuns>(
    task: &Elementwise,
    elements: Range<u64>,
    memory: &M,
) -> Result<(), M::Refusal> {
    let parameters = task.parameters.map(|number| constant::<N>(number, task));
    let (operation, compute) = (task.operation, task.compute);
    let rules = Rules { operation, compute, parameters, count: task.total };
    let mut values = Tile {
        of: [[N::default(); TILE]; MOST_INPUTS],
        results: [N::default(); TILE],
        bytes: [0; TILE * LARGEST],
        converted: [0; TILE * LARGEST],
    };
    for (values, input) in values.of.iter_mut().zip(&task.inputs) {
        if let ElementwiseInput::Constant(number) = input {
            values.fill(constant(*number, task));
        }
    }
    let strides = task.axes.first().map_or([0; MOST_INPUTS + 1], |inner| inner.strides);
    each_run(&task.axes, elements, |first, at, count| {
        for done in (0..count).step_by(TILE) {
            let part = (count - done).min(TILE as u64);
            let mut at = at;
            for (at, stride) in at.iter_mut().zip(strides) {
                *at = at.wrapping_add((done as i64).wrapping_mul(stride));
            }
            values.compute(&rules, task, memory, (at, strides), first + done, part)?;
        }
        Ok(())
    })
}

/// A scalar in the domain.
fn constant<N: DomainNumber>(number: AnyNumber, task: &Elementwise) -> N {
    N::from_any(number, task.widest())
}

/// The values of the inputs, of some elements, and what becomes of them.
struct Tile<N> {
    of: [[N; TILE]; MOST_INPUTS],
    results: [N; TILE],
    /// Elements as they are in memory, packed: those of an input or the output, and converted ones.
    bytes: [u8; TILE * LARGEST],
    converted: [u8; TILE * LARGEST],
}

impl<N: DomainNumber> Tile<N> {
    fn compute<M: ElementRuns>(
        &mut self,
        rules: &Rules<N>,
        task: &Elementwise,
        memory: &M,
        (offsets, strides): ([i64; MOST_INPUTS + 1], [i64; MOST_INPUTS + 1]),
        index: u64,
        count: u64,
    ) -> Result<(), M::Refusal> {
        let count = count as usize;
        let run = |operand: usize, dtype: Dtype, count| ElementRun {
            offset: offsets[operand],
            stride: strides[operand],
            width: dtype.bytes(),
            count,
        };
        for (place, (input, values)) in task.inputs.iter().zip(&mut self.of).enumerate() {
            let ElementwiseInput::Memory(_, dtype) = *input else { continue };
            let operand = 1 + place;
            // One element for all of them is read once.
            let read = if strides[operand] == 0 { 1 } else { count };
            let bytes = &mut self.bytes[..read * dtype.bytes()];
            memory.read(operand, run(operand, dtype, read), bytes)?;
            let to = task.output.1;
            let is_conversion =
                rules.operation == ElementOperation::Cast && [dtype, to].contains(&rules.compute);
            if is_conversion && read == count {
                let converted = &mut self.converted[..count * to.bytes()];
                if convert_all(dtype, to, bytes, converted) {
                    return memory.write(run(0, to, count), converted);
                }
            }
            decode_all(dtype, rules.compute, bytes, values);
            if read < count {
                let first = values[0];
                values[..count].fill(first);
            }
        }
        let first = task.first + index;
        apply_all(rules, &self.of, first, &mut self.results[..count]);
        let dtype = task.output.1;
        let is_predicate = rules.operation.is_predicate();
        let compute = if is_predicate { task.widest() } else { rules.compute };
        let bytes = &mut self.bytes[..count * dtype.bytes()];
        encode_all(&self.results, compute, dtype, bytes);
        memory.write(run(0, dtype, count), bytes)
    }
}

/// Converts elements between types that are often converted, without the numbers of a domain between them. Returns
/// whether these are such types.
#[inline(never)]
fn convert_all(from: Dtype, to: Dtype, read: &[u8], converted: &mut [u8]) -> bool {
    macro_rules! loops {
        ($($from:ident $to:ident,)*) => {
            match (from, to) {
                $((Dtype::$from, Dtype::$to) => {
                    let converted = converted.chunks_exact_mut(Dtype::$to.bytes());
                    for (read, converted) in read.chunks_exact(Dtype::$from.bytes()).zip(converted) {
                        encode(decode(Dtype::$from, read), Dtype::$to, converted);
                    }
                    true
                })*
                _ => false,
            }
        };
    }
    loops!(Bf16 F32, F16 F32, F32 Bf16, F32 F16, F32 F64, F64 F32, F32 C64,)
}

/// Calls a loop over elements with their type and that of the computation. Types that are known when this is compiled
/// cost nothing: so frequent pairs have loops of their own.
macro_rules! with_types {
    ($types:expr, $loop:ident $arguments:tt; $($dtype:ident $compute:ident,)*) => {
        match $types {
            $((Dtype::$dtype, Dtype::$compute) if N::computes(Dtype::$compute) => $loop!(Dtype::$dtype, Dtype::$compute, $arguments),)*
            (dtype, compute) => $loop!(dtype, compute, $arguments),
        }
    };
    ($types:expr, $loop:ident $arguments:tt) => {
        with_types! {
            $types, $loop $arguments;
            F32 F32, F64 F64, I64 I64, I32 I32, Bool Bool, C64 C64, C128 C128,
            Bf16 Bf16, F16 F16, Bf16 F32, F16 F32, F32 Bf16, F32 F16, F32 F64, F64 F32, Bool F32,
            I8 I8, U8 U8, F32 I8, F32 U8, F32 I32, F32 I64, I8 F32, U8 F32, I32 F32, I64 F32, I32 I64, I64 I32,
        }
    };
}

/// Decodes elements of a type and converts them to that of the computation. One copy of the loops serves all memory.
#[inline(never)]
fn decode_all<N: DomainNumber>(dtype: Dtype, compute: Dtype, bytes: &[u8], values: &mut [N]) {
    macro_rules! decode_each {
        ($dtype:expr, $compute:expr, ()) => {
            for (value, bytes) in values.iter_mut().zip(bytes.chunks_exact($dtype.bytes())) {
                *value = N::from_any(decode($dtype, bytes), $compute);
            }
        };
    }
    with_types!((dtype, compute), decode_each());
}

/// As [`decode_all`], the other way.
#[inline(never)]
fn encode_all<N: DomainNumber>(results: &[N], compute: Dtype, dtype: Dtype, bytes: &mut [u8]) {
    macro_rules! encode_each {
        ($dtype:expr, $compute:expr, ()) => {
            for (result, bytes) in results.iter().zip(bytes.chunks_exact_mut($dtype.bytes())) {
                encode(result.to_any($compute), $dtype, bytes);
            }
        };
    }
    with_types!((dtype, compute), encode_each());
}

/// Applies the operation. Those that take little time themselves have loops of their own, which do not choose the
/// operation for each element.
fn apply_all<N: DomainNumber>(
    rules: &Rules<N>,
    values: &[[N; TILE]; MOST_INPUTS],
    first: u64,
    results: &mut [N],
) {
    macro_rules! loops {
        ($($operation:ident)*) => {
            match rules.operation {
                $(ElementOperation::$operation => {
                    let rules = Rules { operation: ElementOperation::$operation, ..*rules };
                    apply_each(&rules, values, first, results);
                })*
                _ => apply_each(rules, values, first, results),
            }
        };
    }
    loops!(Cast Neg Relu Add Mul Div Where);
}

#[inline(always)]
fn apply_each<N: DomainNumber>(
    rules: &Rules<N>,
    [a, b, c]: &[[N; TILE]; MOST_INPUTS],
    first: u64,
    results: &mut [N],
) {
    let inputs = a.iter().zip(b).zip(c);
    for (place, (result, ((a, b), c))) in results.iter_mut().zip(inputs).enumerate() {
        *result = N::apply(rules, [*a, *b, *c], first + place as u64);
    }
}
