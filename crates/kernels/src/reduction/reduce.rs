//! What the kernels of `kernels/reduce_*.cu` are launched with.
//!
//! A launch reduces elements along up to [`REDUCE_AXES`] axes, kept and reduced ones. The caller joins
//! axes, puts them in order and chooses the kernel and the threads.

use sconce_base::element::Dtype;
use sconce_driver::{Dim3, KernelArguments, LaunchShape};
use sconce_math::folding::ReduceOp;
use smallvec::SmallVec;

use crate::signature::REDUCE;

/// The most axes of a launch.
pub const REDUCE_AXES: usize = 7;
/// The most threads of a block that reduces rows, and of the others.
pub const ROW_THREADS: u32 = 512;
pub const COLUMN_THREADS: u32 = 256;
/// The threads of a block that reduces few short rows, or one.
pub const SHORT_THREADS: u32 = 256;

/// Slots before the axes, of an axis, and in all.
const BEFORE_AXES: usize = 10;
const OF_AXIS: usize = 3;
const _: () = assert!(REDUCE.slots() == BEFORE_AXES + OF_AXIS * REDUCE_AXES + 1);

/// What the flags of a launch mean.
const PAIRS: u64 = 1;
const KEPT_FIRST: u64 = 2;

/// An axis of a launch. A kept one has strides in elements of the input and of the result; a reduced
/// one its stride in the input, and what a step along it adds to the index of an element.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReduceAxis {
    pub size: u64,
    pub stride: i64,
    pub other: i64,
}

/// Axes of a launch, from the innermost to the outermost.
pub type ReduceAxes = SmallVec<[ReduceAxis; REDUCE_AXES]>;

/// The kernels, by how elements lie.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReduceForm {
    /// Elements of a result lie side by side.
    Rows,
    /// As `Rows`, of few results of few elements.
    Short,
    /// Elements of neighbouring results lie side by side, and some make one access.
    Columns,
    /// As `Columns`, an element an access.
    Narrow,
    /// Any types and strides.
    General,
    /// Values and indices that another launch has written.
    Pairs,
}

/// The images of the kernels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReduceImage {
    Sum,
    Extreme,
    Index,
    Count,
    General,
}

/// A kernel: its image, its form and the type that it is made for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReduceKernel {
    pub image: ReduceImage,
    pub form: ReduceForm,
    pub dtype: Dtype,
}

impl ReduceKernel {
    /// How many indices there are in an image.
    pub const INDICES: usize = 4 * Dtype::ALL.len();

    /// The index of the kernel among those of its image.
    pub fn index(self) -> usize {
        let form = match self.form {
            ReduceForm::Rows | ReduceForm::General => 0,
            ReduceForm::Columns | ReduceForm::Pairs => 1,
            ReduceForm::Narrow => 2,
            ReduceForm::Short => 3,
        };
        form * Dtype::ALL.len() + self.dtype as usize
    }

    /// The name of the kernel.
    pub fn name(self) -> String {
        let image = match self.image {
            ReduceImage::Sum => "sum_",
            ReduceImage::Extreme => "extreme_",
            ReduceImage::Index => "index_",
            ReduceImage::Count => "count_",
            ReduceImage::General => "general_",
        };
        let form = match self.form {
            ReduceForm::Rows => "rows_",
            ReduceForm::Short => "short_",
            ReduceForm::Columns => "columns_",
            ReduceForm::Narrow => "narrow_",
            ReduceForm::General => "",
            ReduceForm::Pairs => "pairs_",
        };
        format!("{}{image}{form}{}", REDUCE.family, self.dtype.suffix())
    }
}

/// A launch.
#[derive(Clone, Debug, PartialEq)]
pub struct ReduceLaunch {
    pub input: u64,
    pub output: u64,
    pub op: ReduceOp,
    /// The types of the input, of the calculation and of the result.
    pub types: [Dtype; 3],
    /// Whether values are written with their indices.
    pub as_pairs: bool,
    /// Whether neighbouring threads belong to neighbouring results; the general kernels know it.
    pub kept_first: bool,
    /// How many elements a result has.
    pub count: u64,
    /// How many of them each block of grid y takes.
    pub chunk: u64,
    /// From the results of one block of grid y to those of the next.
    pub split: i64,
    /// What the sum of a mean is multiplied by.
    pub factor: f64,
    /// What bits are turned with, or looked at.
    pub mask: u64,
    /// The logarithms of lanes, steps and rows of a block.
    pub threads_log2: [u32; 3],
    pub kept: ReduceAxes,
    pub reduced: ReduceAxes,
    /// The value of nothing for extremes, what is added to indices.
    pub start: u64,
    /// Blocks along grid x.
    pub blocks: u64,
}

impl ReduceLaunch {
    /// How many results there are.
    pub fn outputs(&self) -> u64 {
        self.kept.iter().map(|axis| axis.size).product()
    }

    /// How many parts the elements of a result are split in.
    pub fn splits(&self) -> u64 {
        self.count.div_ceil(self.chunk.max(1)).max(1)
    }

    /// Grid and arguments.
    pub fn pack(&self) -> (LaunchShape, KernelArguments) {
        debug_assert!(self.kept.len() + self.reduced.len() <= REDUCE_AXES);
        let flags =
            if self.as_pairs { PAIRS } else { 0 } | if self.kept_first { KEPT_FIRST } else { 0 };
        let [input, compute, output] = self.types.map(|dtype| dtype as u64);
        let code = (self.op as u64)
            | input << 8
            | compute << 16
            | output << 24
            | flags << 32
            | (self.kept.len() as u64) << 40
            | (self.reduced.len() as u64) << 48;
        let [lanes, steps, rows] = self.threads_log2;
        let threads = u64::from(lanes | steps << 8 | rows << 16);
        let mut arguments = REDUCE.pack();
        for word in [self.input, self.output, code, self.outputs(), self.count, self.chunk] {
            arguments.add(word);
        }
        for word in [self.split as u64, self.factor.to_bits(), self.mask, threads] {
            arguments.add(word);
        }
        // Kernels read one axis after the last, and no others.
        let rank = self.kept.len() + self.reduced.len();
        let written = REDUCE_AXES.min(rank + 1);
        let after = ReduceAxis { size: 1, stride: 0, other: 0 };
        let axes = self.kept.iter().chain(&self.reduced).chain([&after]);
        for ReduceAxis { size, stride, other } in axes.take(written) {
            for word in [*size, *stride as u64, *other as u64] {
                arguments.add(word);
            }
        }
        arguments.skip((REDUCE_AXES - written) * OF_AXIS);
        arguments.add(self.start);
        let grid = Dim3 { x: self.blocks as u32, y: self.splits() as u32, z: 1 };
        let block = Dim3::line(1 << (lanes + steps + rows));
        (LaunchShape { grid, block, shared_bytes: 0 }, arguments.finish())
    }

    /// Reads the slots that [`ReduceLaunch::pack`] made; the threads of a launch are not read.
    pub fn read(slots: &[u64]) -> Option<ReduceLaunch> {
        if slots.len() != REDUCE.slots() {
            return None;
        }
        let byte = |index: u32| (slots[2] >> (8 * index)) as u8;
        let dtype = |index: u32| Dtype::ALL.get(usize::from(byte(index))).copied();
        let (kept, reduced) = (usize::from(byte(5)), usize::from(byte(6)));
        if kept + reduced > REDUCE_AXES {
            return None;
        }
        let axis = |index: usize| {
            let at = BEFORE_AXES + OF_AXIS * index;
            let [size, stride, other] = [slots[at], slots[at + 1], slots[at + 2]];
            ReduceAxis { size, stride: stride as i64, other: other as i64 }
        };
        Some(ReduceLaunch {
            input: slots[0],
            output: slots[1],
            op: ReduceOp::ALL.get(usize::from(byte(0))).copied()?,
            types: [dtype(1)?, dtype(2)?, dtype(3)?],
            as_pairs: u64::from(byte(4)) & PAIRS != 0,
            kept_first: u64::from(byte(4)) & KEPT_FIRST != 0,
            count: slots[4],
            chunk: slots[5],
            split: slots[6] as i64,
            factor: f64::from_bits(slots[7]),
            mask: slots[8],
            threads_log2: [0, 8, 16].map(|shift| (slots[9] >> shift) as u32 & 0xff),
            kept: (0..kept).map(axis).collect(),
            reduced: (kept..kept + reduced).map(axis).collect(),
            start: slots[REDUCE.slots() - 1],
            blocks: 0,
        })
    }
}
