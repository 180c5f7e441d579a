//! The sequence of random numbers that belongs to a seed.

use super::twister::{Twister, WORDS};

/// Bytes of a state in torch's form.
pub const STATE_BYTES: usize = 5056;

/// Places in the bytes of a state: words of 8 bytes up to the word array and after it.
const LEFT: usize = 8;
const SEEDED: usize = 12;
const NEXT: usize = 16;
const FIRST_WORD: usize = 24;
const NORMAL: usize = FIRST_WORD + 8 * WORDS + 8;
const HAS_NORMAL: usize = NORMAL + 16;
const SINGLE_NORMAL: usize = HAS_NORMAL + 8;
const HAS_SINGLE_NORMAL: usize = SINGLE_NORMAL + 4;

/// A Mersenne Twister, its seed, and normal numbers that were calculated but not drawn yet.
#[derive(Clone, Debug, PartialEq)]
pub struct Sequence {
    seed: u64,
    twister: Twister,
    /// The second of a pair of standard normal numbers.
    pub(super) normal: Option<f64>,
    /// The same in single precision. No fill draws it; states of torch can hold one.
    single_normal: Option<f32>,
}

impl Sequence {
    /// The sequence of a seed, of which the lower half counts.
    pub fn new(seed: u64) -> Sequence {
        let twister = Twister::new(seed as u32);
        Sequence { seed, twister, normal: None, single_normal: None }
    }

    /// The seed that was set last.
    pub fn seed(&self) -> u64 {
        self.seed
    }

    /// The next 32 random bits.
    #[inline]
    pub(super) fn word(&mut self) -> u32 {
        self.twister.draw()
    }

    /// The next 64 random bits.
    #[inline]
    pub(super) fn two_words(&mut self) -> u64 {
        let high = u64::from(self.word());
        high << 32 | u64::from(self.word())
    }

    /// The state in the bytes of `torch.get_rng_state()`.
    pub fn to_bytes(&self) -> [u8; STATE_BYTES] {
        let mut bytes = [0; STATE_BYTES];
        let mut put = |at: usize, part: &[u8]| bytes[at..at + part.len()].copy_from_slice(part);
        put(0, &self.seed.to_le_bytes());
        put(LEFT, &self.twister.left.to_le_bytes());
        put(SEEDED, &[1]);
        put(NEXT, &self.twister.next.to_le_bytes());
        for (index, word) in self.twister.words.iter().enumerate() {
            put(FIRST_WORD + 8 * index, &word.to_le_bytes());
        }
        if let Some(normal) = self.normal {
            put(NORMAL, &normal.to_le_bytes());
            put(HAS_NORMAL, &[1]);
        }
        if let Some(normal) = self.single_normal {
            put(SINGLE_NORMAL, &normal.to_le_bytes());
            put(HAS_SINGLE_NORMAL, &[1]);
        }
        bytes
    }

    /// The sequence with a state; `None` if no twister has it.
    pub fn from_bytes(bytes: &[u8; STATE_BYTES]) -> Option<Sequence> {
        let four = |at: usize| bytes[at..].first_chunk().copied().map_or(0, u32::from_le_bytes);
        let eight = |at: usize| bytes[at..].first_chunk().copied().map_or(0, u64::from_le_bytes);
        let (left, next) = (four(LEFT), four(NEXT));
        let is_valid = four(SEEDED) == 1
            && (1..=WORDS as u32).contains(&left)
            && next <= WORDS as u32
            && eight(NEXT) == u64::from(next)
            && (left == 1 || left + next == WORDS as u32 + 1);
        if !is_valid {
            return None;
        }
        let words = std::array::from_fn(|index| four(FIRST_WORD + 8 * index));
        let normal = (four(HAS_NORMAL) != 0).then(|| f64::from_bits(eight(NORMAL)));
        let has_single = bytes[HAS_SINGLE_NORMAL] != 0;
        let single_normal = has_single.then(|| f32::from_bits(four(SINGLE_NORMAL)));
        Some(Sequence {
            seed: eight(0),
            twister: Twister { words, left, next },
            normal,
            single_normal,
        })
    }
}
