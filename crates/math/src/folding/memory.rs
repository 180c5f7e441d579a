//! Memory that elements are read from and written to. Elements without gaps are read and written many
//! at once.

use super::call::ElementOperand;
use super::number::Number;

/// Memory with addresses.
pub trait ElementMemory {
    /// Why memory cannot be read or written.
    type Failure;
    /// Reads the bytes from `address` on.
    fn read(&mut self, address: u64, into: &mut [u8]) -> Result<(), Self::Failure>;
    /// Writes the bytes from `address` on.
    fn write(&mut self, address: u64, from: &[u8]) -> Result<(), Self::Failure>;
}

/// Bytes that are read at once; small enough for the stack of a worker.
const PIECE: usize = 4096;

/// Elements of one line of input, and of the result.
#[derive(Clone, Copy)]
pub(super) struct Line {
    pub(super) input: ElementOperand,
    pub(super) input_stride: i64,
    pub(super) output: ElementOperand,
    pub(super) output_stride: i64,
    pub(super) length: i64,
}

/// How many elements are read or written at once.
fn at_once(operand: ElementOperand, stride: i64) -> i64 {
    if stride == 1 { (PIECE / operand.dtype.bytes()) as i64 } else { 1 }
}

/// Reads `count` elements in order.
pub(super) fn read_each<M: ElementMemory>(
    memory: &mut M,
    operand: ElementOperand,
    stride: i64,
    count: i64,
    mut take: impl FnMut(Number),
) -> Result<(), M::Failure> {
    let (mut piece, mut done) = ([0; PIECE], 0);
    let width = operand.dtype.bytes();
    while done < count {
        let now = at_once(operand, stride).min(count - done);
        let bytes = &mut piece[..now as usize * width];
        memory.read(operand.at(done.wrapping_mul(stride)).address, bytes)?;
        bytes.chunks_exact(width).for_each(|element| take(Number::load(operand.dtype, element)));
        done += now;
    }
    Ok(())
}

/// Writes what `make` makes of each element of a line, in order.
pub(super) fn map_each<M: ElementMemory>(
    memory: &mut M,
    line: Line,
    mut make: impl FnMut(Number) -> Number,
) -> Result<(), M::Failure> {
    let Line { input, output, .. } = line;
    let (mut from, mut to, mut done) = ([0; PIECE], [0; PIECE], 0);
    let widths = [input, output].map(|operand| operand.dtype.bytes());
    let most = at_once(input, line.input_stride).min(at_once(output, line.output_stride));
    while done < line.length {
        let now = most.min(line.length - done);
        let [from, to] = [(&mut from, widths[0]), (&mut to, widths[1])]
            .map(|(piece, width)| &mut piece[..now as usize * width]);
        memory.read(input.at(done.wrapping_mul(line.input_stride)).address, from)?;
        let elements = from.chunks_exact(widths[0]).map(|bytes| Number::load(input.dtype, bytes));
        for (element, into) in elements.zip(to.chunks_exact_mut(widths[1])) {
            make(element).store(output.dtype, into);
        }
        memory.write(output.at(done.wrapping_mul(line.output_stride)).address, to)?;
        done += now;
    }
    Ok(())
}
