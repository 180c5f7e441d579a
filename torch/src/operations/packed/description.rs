//! oneDNN's description of how the elements of a tensor lie. A model keeps the bytes of a structure of oneDNN's (a
//! `dnnl_memory_desc`), and behind them the number of groups as an `int32_t`.
//!
//! | byte | what |
//! |---|---|
//! | 0 | `int32_t`: 1, in oneDNN 3.10 and later; the rank before |
//! | 4 | `int32_t`: the rank; nothing before oneDNN 3.10 |
//! | 8 | `int64_t[12]`: the sizes; 0 behind the last |
//! | 104 | `int32_t`: the data type |
//! | 112 | `int64_t[12]`: the sizes in memory, which are whole blocks |
//! | 208 | `int64_t[12]`: where the elements begin among these |
//! | 304 | `int64_t`: where the first element is |
//! | 312 | `int32_t`: the kind of description, 2 for blocks |
//! | 320 | `int64_t[12]`: the strides from one block to the next |
//! | 416 | `int32_t`: how many levels of blocks there are |
//! | 424 | `int64_t[12]`: the size of a block at each level, the outermost first |
//! | 520 | `int64_t[12]`: the dimension that each level divides |
//! | 640 | `uint64_t`: what the memory has beside the elements |

use crate::error::{Error, Result};
use crate::sconce::api;

/// The most dimensions and the most levels of blocks.
const MOST: usize = 12;
/// The bytes of the structure's oldest form that can be read, and of the groups behind it.
const LEAST_BYTES: usize = 664 + GROUPS_BYTES;
const GROUPS_BYTES: usize = 4;
/// The kind of a description in blocks.
const BLOCKS: i32 = 2;
/// Sums of the weights that lie behind the elements, for factors with a sign or another zero: nobody needs them here.
const SUMS_BEHIND: u64 = 1 | 8;

/// How the elements of a tensor lie.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PackedLayout {
    /// Sconce's data type.
    pub dtype: i32,
    /// The sizes. Those of a convolution with groups begin with the groups.
    pub sizes: Vec<i64>,
    /// From one block to the next along each dimension, in elements.
    pub strides: Vec<i64>,
    /// Where the elements begin along each dimension of the memory.
    pub begins: Vec<i64>,
    /// Where the first element is.
    pub first: i64,
    /// The dimension that each level of blocks divides and the size of its blocks, the outermost first.
    pub blocks: Vec<(usize, i64)>,
}

/// Reads numbers at places of the structure.
struct Bytes<'a>(&'a [u8]);

impl Bytes<'_> {
    fn at<const N: usize>(&self, place: usize) -> [u8; N] {
        let mut bytes = [0; N];
        bytes.copy_from_slice(&self.0[place..place + N]);
        bytes
    }

    fn int(&self, place: usize) -> i32 {
        i32::from_le_bytes(self.at(place))
    }

    fn long(&self, place: usize) -> i64 {
        i64::from_le_bytes(self.at(place))
    }

    fn longs(&self, place: usize, count: usize) -> Vec<i64> {
        (0..count).map(|index| self.long(place + 8 * index)).collect()
    }
}

fn unknown(why: impl std::fmt::Display) -> Error {
    Error::not_supported(format!("its description by oneDNN is not understood: {why}"))
}

impl PackedLayout {
    /// Reads the description of a constant of these sizes.
    pub fn read(bytes: &[u8], sizes: &[i64]) -> Result<PackedLayout> {
        if bytes.len() < LEAST_BYTES || bytes.len() % 8 != GROUPS_BYTES {
            return Err(unknown(format!("it has {} bytes", bytes.len())));
        }
        let bytes = Bytes(bytes);
        // Before oneDNN 3.10 the rank came first; weights have two dimensions at least.
        let rank = if bytes.int(0) == 1 { bytes.int(4) } else { bytes.int(0) };
        let rank = usize::try_from(rank)
            .ok()
            .filter(|rank| (1..=MOST).contains(rank))
            .ok_or_else(|| unknown(format!("it has {rank} dimensions")))?;
        let own = bytes.longs(8, rank);
        check_sizes(&own, sizes)?;
        let kind = bytes.int(312);
        if kind != BLOCKS {
            return Err(unknown(format!(
                "the weights are packed in a way of their own (kind {kind}), as those of recurrent layers are"
            )));
        }
        let beside = u64::from_le_bytes(bytes.at(640));
        if beside & !SUMS_BEHIND != 0 {
            return Err(unknown(format!(
                "the weights were changed for the processor on which the model was compiled (flags {beside:#x})"
            )));
        }
        let (in_memory, begins) = (bytes.longs(112, rank), bytes.longs(208, rank));
        let (strides, blocks) = (bytes.longs(320, rank), blocks(&bytes, rank)?);
        let first = bytes.long(304);
        for (dim, &size) in own.iter().enumerate() {
            let fits = in_memory[dim].checked_sub(begins[dim]).is_some_and(|rest| rest >= size);
            if !fits || begins[dim] < 0 || strides[dim] < 0 || first < 0 {
                return Err(unknown(format!("dimension {dim} lies outside of its memory")));
            }
        }
        let dtype = dtype_of(bytes.int(104))?;
        Ok(PackedLayout { dtype, sizes: own, strides, begins, first, blocks })
    }

    /// Where an element is, counted in elements. Blocks lie one after another, level by level.
    pub fn place(&self, index: &[i64]) -> i64 {
        let mut place = self.first;
        let mut within = 1;
        let mut outer = [0; MOST];
        for (dim, (&at, &begin)) in index.iter().zip(&self.begins).enumerate() {
            outer[dim] = at + begin;
        }
        for &(dim, size) in self.blocks.iter().rev() {
            place += outer[dim] % size * within;
            outer[dim] /= size;
            within *= size;
        }
        place + outer.iter().zip(&self.strides).map(|(at, stride)| at * stride).sum::<i64>()
    }
}

/// Checks that the sizes are those of the constant, or divided into groups.
fn check_sizes(own: &[i64], sizes: &[i64]) -> Result<()> {
    let fits = match own {
        _ if own == sizes => true,
        [groups, channels, rest @ ..] if own.len() == sizes.len() + 1 => {
            groups.checked_mul(*channels) == Some(sizes[0]) && *rest == sizes[1..]
        }
        _ => false,
    };
    if fits && own.iter().all(|&size| size >= 0) {
        return Ok(());
    }
    Err(unknown(format!("it is of sizes {own:?}")))
}

fn blocks(bytes: &Bytes<'_>, rank: usize) -> Result<Vec<(usize, i64)>> {
    let count = bytes.int(416);
    let levels = usize::try_from(count)
        .ok()
        .filter(|&levels| levels <= MOST)
        .ok_or_else(|| unknown(format!("it has {count} levels of blocks")))?;
    let (sizes, dims) = (bytes.longs(424, levels), bytes.longs(520, levels));
    let block = |(size, dim): (i64, i64)| {
        let dim = usize::try_from(dim).ok().filter(|&dim| dim < rank);
        dim.zip(Some(size).filter(|&size| (1..=1 << 16).contains(&size)))
            .ok_or_else(|| unknown("a level of blocks divides no dimension"))
    };
    sizes.into_iter().zip(dims).map(block).collect()
}

/// Sconce's data type of oneDNN's number.
fn dtype_of(number: i32) -> Result<i32> {
    Ok(match number {
        1 => api::SCONCE_DTYPE_F16,
        2 => api::SCONCE_DTYPE_BF16,
        3 => api::SCONCE_DTYPE_F32,
        4 => api::SCONCE_DTYPE_I32,
        5 => api::SCONCE_DTYPE_I8,
        6 => api::SCONCE_DTYPE_U8,
        7 => api::SCONCE_DTYPE_F64,
        _ => return Err(unknown(format!("the data type {number}"))),
    })
}

/// What tests write.
#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// The bytes of a description, as oneDNN 3.10 has them.
    #[derive(Clone)]
    pub(crate) struct Written(pub(crate) Vec<u8>);

    impl Written {
        pub(crate) fn new(
            dtype: i32,
            sizes: &[i64],
            in_memory: &[i64],
            strides: &[i64],
            blocks: &[(i64, i64)],
        ) -> Written {
            // Bytes that stand for nothing may have any value.
            let mut written = Written(vec![0; 772]);
            written.0[108..112].fill(0xaa);
            written.0[316..320].fill(0xaa);
            written.0[420..424].fill(0xaa);
            written.int(0, 1).int(4, sizes.len() as i32).int(104, dtype).int(312, BLOCKS);
            written.longs(8, sizes).longs(112, in_memory).longs(320, strides);
            written.int(416, blocks.len() as i32).int(768, 1);
            for (level, &(dim, size)) in blocks.iter().enumerate() {
                written.longs(424 + 8 * level, &[size]).longs(520 + 8 * level, &[dim]);
            }
            written
        }

        pub(crate) fn int(&mut self, place: usize, value: i32) -> &mut Written {
            self.0[place..place + 4].copy_from_slice(&value.to_le_bytes());
            self
        }

        pub(crate) fn longs(&mut self, place: usize, values: &[i64]) -> &mut Written {
            for (index, value) in values.iter().enumerate() {
                let place = place + 8 * index;
                self.0[place..place + 8].copy_from_slice(&value.to_le_bytes());
            }
            self
        }
    }

    #[test]
    fn blocks_of_blocks_are_found() {
        // Two dimensions of 10 x 6 in blocks of 4 x 2, of which the last level has pairs of the first dimension.
        let blocks = [(0, 2), (1, 2), (0, 2)];
        let written = Written::new(5, &[10, 6], &[12, 6], &[24, 8], &blocks);
        let read = PackedLayout::read(&written.0, &[10, 6]).unwrap();
        assert_eq!(read.dtype, api::SCONCE_DTYPE_I8);
        assert_eq!(read.place(&[0, 0]), 0);
        assert_eq!(read.place(&[1, 0]), 1);
        assert_eq!(read.place(&[0, 1]), 2);
        assert_eq!(read.place(&[2, 0]), 4);
        assert_eq!(read.place(&[3, 1]), 7);
        assert_eq!(read.place(&[0, 2]), 8);
        assert_eq!(read.place(&[4, 0]), 24);
        assert_eq!(read.place(&[9, 5]), 2 * 24 + 2 * 8 + 2 + 1);
    }

    #[test]
    fn an_older_description_begins_with_the_rank() {
        let mut written = Written::new(3, &[4, 3], &[4, 3], &[1, 4], &[]);
        let newer = PackedLayout::read(&written.0, &[4, 3]).unwrap();
        written.int(0, 2).int(4, 0x5555);
        assert_eq!(PackedLayout::read(&written.0, &[4, 3]).unwrap(), newer);
        assert_eq!(newer.place(&[3, 2]), 11);
    }

    #[test]
    fn groups_and_offsets_count() {
        let mut written = Written::new(2, &[2, 3, 4], &[2, 4, 5], &[100, 10, 1], &[]);
        written.longs(208, &[0, 1, 1]).longs(304, &[7]);
        let read = PackedLayout::read(&written.0, &[6, 4]).unwrap();
        assert_eq!(read.place(&[1, 2, 3]), 7 + 100 + 30 + 4);
    }

    #[test]
    fn what_is_not_understood_is_named() {
        let good = Written::new(3, &[4, 3], &[4, 3], &[3, 1], &[(0, 2)]);
        assert!(PackedLayout::read(&good.0, &[4, 3]).is_ok());
        let changed = |change: &dyn Fn(&mut Written)| {
            let mut written = good.clone();
            change(&mut written);
            written.0
        };
        for (bytes, words) in [
            (good.0[..600].to_vec(), "it has 600 bytes"),
            (good.0[..768].to_vec(), "it has 768 bytes"),
            (changed(&|written| _ = written.int(4, 13)), "it has 13 dimensions"),
            (changed(&|written| _ = written.longs(8, &[4, 4])), "it is of sizes [4, 4]"),
            (changed(&|written| _ = written.int(312, 3)), "kind 3"),
            (changed(&|written| _ = written.longs(640, &[2])), "flags 0x2"),
            (changed(&|written| _ = written.int(416, 13)), "13 levels"),
            (changed(&|written| _ = written.longs(520, &[2])), "divides no dimension"),
            (changed(&|written| _ = written.longs(424, &[0])), "divides no dimension"),
            (changed(&|written| _ = written.int(104, 99)), "the data type 99"),
            (changed(&|written| _ = written.longs(112, &[3])), "dimension 0 lies outside"),
        ] {
            let why = PackedLayout::read(&bytes, &[4, 3]).unwrap_err();
            assert!(why.message.contains(words), "{words:?} in {why:?}");
        }
    }
}
