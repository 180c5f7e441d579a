//! What the kernels of `kernels/softmax.cu` and `kernels/scan.cu` are launched with.

use sconce_base::element::Dtype;
use sconce_driver::{Dim3, KernelArguments, LaunchShape};
use sconce_math::folding::LineOp;

use super::reduce::{ReduceAxes, ReduceAxis};
use crate::signature::{SCAN, SOFTMAX, Signature};

/// The most axes of a launch beside that of the lines.
pub const LINE_AXES: usize = 5;
/// The most threads of a block: of the kernels for softmax of lines side by side, and of all others.
pub const SOFTMAX_THREADS: u32 = 1024;
pub const LINE_THREADS: u32 = 256;

/// The tiles of a group where a line is summed in one pass.
const CHAIN_GROUP: u64 = 128;

/// How many elements of a type a tile has where a line is summed in one pass, and how many words of 64
/// bits a sum takes there; nothing for types without a kernel.
pub const fn chain_tile(dtype: Dtype) -> Option<(u64, u64)> {
    let (spans, words) = match dtype {
        Dtype::F32 => (8, 1),
        Dtype::F16 | Dtype::Bf16 => (4, 1),
        Dtype::I64 => (12, 2),
        _ => return None,
    };
    Some((LINE_THREADS as u64 * spans * (16 / dtype.bytes() as u64), words))
}

/// Slots before the axes, and of an axis.
const BEFORE_AXES: usize = 12;
const OF_AXIS: usize = 3;
const _: () = assert!(SOFTMAX.slots() == BEFORE_AXES + OF_AXIS * LINE_AXES);
const _: () = assert!(SCAN.slots() == SOFTMAX.slots());

/// The kernels, by how lines lie.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LineForm {
    /// Softmax of lines side by side that threads hold.
    Held,
    /// The same with more elements a thread.
    HeldMore,
    /// Softmax of longer lines side by side.
    Long,
    /// Sums of lines side by side.
    Rows,
    /// Sums of few long lines side by side, in one pass.
    Chain,
    /// Sums of lines of any strides.
    Columns,
    /// Any types and strides.
    General,
}

/// A kernel: its form, the type that it is made for, and whether accesses have one element.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LineKernel {
    pub is_softmax: bool,
    pub form: LineForm,
    pub dtype: Dtype,
    pub is_narrow: bool,
}

impl LineKernel {
    /// How many indices there are in an image.
    pub const INDICES: usize = 8 * Dtype::ALL.len();

    /// The index of the kernel among those of its image.
    pub fn index(self) -> usize {
        let form = match self.form {
            LineForm::Held | LineForm::Rows => 0,
            LineForm::Long | LineForm::Columns => 1,
            LineForm::General => 2,
            LineForm::HeldMore | LineForm::Chain => 3,
        };
        (2 * form + usize::from(self.is_narrow)) * Dtype::ALL.len() + self.dtype as usize
    }

    /// The name of the kernel.
    pub fn name(self) -> String {
        let form = match self.form {
            LineForm::Held => "held",
            LineForm::HeldMore => "held_more",
            LineForm::Long => "long",
            LineForm::Rows => "rows",
            LineForm::Chain => "chain",
            LineForm::Columns => "columns",
            LineForm::General => "general",
        };
        let narrow = if self.is_narrow { "_1" } else { "" };
        format!("{}{form}_{}{narrow}", self.signature().family, self.dtype.suffix())
    }

    fn signature(self) -> &'static Signature {
        if self.is_softmax { &SOFTMAX } else { &SCAN }
    }
}

/// A launch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LineLaunch {
    pub input: u64,
    pub output: u64,
    pub op: LineOp,
    /// The types of the input, of the calculation and of the result.
    pub types: [Dtype; 3],
    pub length: u64,
    /// From one element of a line to the next, in the input and in the result.
    pub strides: [i64; 2],
    /// How many elements of a line each block of grid y takes, or each block in one pass.
    pub chunk: u64,
    /// What is before the end of each chunk, in the type of sums, and the steps from line to line and from
    /// chunk to chunk. In one pass, the words of [`LineLaunch::chain_words`], which are 0 before.
    pub offsets: u64,
    pub offset_steps: [i64; 2],
    /// The logarithms of lanes and rows of a block.
    pub threads_log2: [u32; 2],
    /// The other axes, from the innermost; `other` is the stride in the result.
    pub axes: ReduceAxes,
}

impl LineLaunch {
    /// How many lines there are.
    pub fn lines(&self) -> u64 {
        self.axes.iter().map(|axis| axis.size).product()
    }

    /// How many chunks a line has.
    pub fn chunks(&self) -> u64 {
        self.length.div_ceil(self.chunk.max(1)).max(1)
    }

    /// How many words of 64 bits the blocks of one pass exchange: a counter, and of each line those of its
    /// tiles and of its groups.
    pub fn chain_words(&self) -> u64 {
        let words = chain_tile(self.types[1]).map_or(0, |(_, words)| words);
        1 + self.lines() * (self.chunks() + self.chunks().div_ceil(CHAIN_GROUP)) * words
    }

    /// Grid and arguments for a kernel.
    pub fn pack(&self, kernel: LineKernel) -> (LaunchShape, KernelArguments) {
        debug_assert!(self.axes.len() <= LINE_AXES);
        let [input, compute, output] = self.types.map(|dtype| dtype as u64);
        let op = self.op as u64;
        let code = op | input << 8 | compute << 16 | output << 24 | (self.axes.len() as u64) << 40;
        let [lanes, rows] = self.threads_log2;
        let mut arguments = kernel.signature().pack();
        for word in [self.input, self.output, code, self.lines(), self.length] {
            arguments.add(word);
        }
        for word in [self.strides[0], self.strides[1], self.chunk as i64, self.offsets as i64] {
            arguments.add(word as u64);
        }
        let [line, chunk] = self.offset_steps;
        for word in [line as u64, chunk as u64, u64::from(lanes | rows << 8)] {
            arguments.add(word);
        }
        for index in 0..LINE_AXES {
            let none = ReduceAxis { size: 1, stride: 0, other: 0 };
            let ReduceAxis { size, stride, other } = self.axes.get(index).copied().unwrap_or(none);
            for word in [size, stride as u64, other as u64] {
                arguments.add(word);
            }
        }
        let blocks = self.lines().div_ceil(1 << rows);
        let grid = match kernel.form {
            LineForm::Chain => Dim3::line((blocks * self.chunks()) as u32),
            _ => Dim3 { x: blocks as u32, y: self.chunks() as u32, z: 1 },
        };
        let block = Dim3::line(1 << (lanes + rows));
        (LaunchShape { grid, block, shared_bytes: 0 }, arguments.finish())
    }

    /// Reads the slots that [`LineLaunch::pack`] made.
    pub fn read(slots: &[u64]) -> Option<LineLaunch> {
        if slots.len() != SOFTMAX.slots() {
            return None;
        }
        let byte = |index: u32| usize::from((slots[2] >> (8 * index)) as u8);
        let dtype = |index: u32| Dtype::ALL.get(byte(index)).copied();
        let axis = |index: usize| {
            let at = BEFORE_AXES + OF_AXIS * index;
            let [size, stride, other] = [slots[at], slots[at + 1], slots[at + 2]];
            ReduceAxis { size, stride: stride as i64, other: other as i64 }
        };
        let rank = Some(byte(5)).filter(|rank| *rank <= LINE_AXES)?;
        Some(LineLaunch {
            input: slots[0],
            output: slots[1],
            op: LineOp::ALL.get(byte(0)).copied()?,
            types: [dtype(1)?, dtype(2)?, dtype(3)?],
            length: slots[4],
            strides: [slots[5] as i64, slots[6] as i64],
            chunk: slots[7],
            offsets: slots[8],
            offset_steps: [slots[9] as i64, slots[10] as i64],
            threads_log2: [slots[11] as u32 & 0xff, (slots[11] >> 8) as u32 & 0xff],
            axes: (0..rank).map(axis).collect(),
        })
    }
}
