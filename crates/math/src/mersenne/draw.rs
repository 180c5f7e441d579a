//! Elements of a fill, in the order in which they lie in memory.

use sconce_base::element::Dtype;

use super::normal::{BLOCK, block};
use super::sequence::Sequence;
use crate::arithmetic::{AnyNumber, encode};
use crate::philox::{Distribution, Fill};

/// Bytes that are written at once.
const PIECE: usize = 1 << 14;

/// Draws `n` elements of a fill and hands their bytes to `write`, piece by piece, with the place of each piece
/// in bytes. `in_order` says that the elements are contiguous, so that normal numbers are drawn in blocks.
/// After an error of `write` the rest is not drawn.
pub fn fill<E>(
    sequence: &mut Sequence,
    fill: &Fill,
    n: usize,
    in_order: bool,
    mut write: impl FnMut(usize, &[u8]) -> Result<(), E>,
) -> Result<(), E> {
    let width = fill.dtype.bytes();
    let elements = CpuElements::new(fill);
    let in_blocks = fill.distribution == Distribution::Normal && in_order && n >= BLOCK;
    let mut piece = [0_u8; PIECE];
    let mut done = 0;
    while done < n {
        let mut count = (PIECE / width).min(n - done);
        if in_blocks {
            count -= count % BLOCK;
            if count == 0 {
                break;
            }
        }
        let bytes = &mut piece[..count * width];
        if in_blocks {
            for bytes in bytes.chunks_exact_mut(BLOCK * width) {
                elements.block(sequence, bytes);
            }
        } else {
            for bytes in bytes.chunks_exact_mut(width) {
                elements.one(sequence, bytes);
            }
        }
        write(done * width, bytes)?;
        done += count;
    }
    if done < n {
        // As in torch: uniform numbers are drawn for all elements before the last 16 are drawn again.
        for _ in done..n {
            elements.uniform(sequence);
        }
        let bytes = &mut piece[..BLOCK * width];
        elements.block(sequence, bytes);
        write((n - BLOCK) * width, bytes)?;
    }
    Ok(())
}

/// The numbers 0 to `n - 1` in a random order, which `swap` makes: it exchanges two of them.
pub fn permutation(sequence: &mut Sequence, n: u64, mut swap: impl FnMut(u64, u64)) {
    for place in 0..n.saturating_sub(1) {
        swap(place, place + u64::from(sequence.word()) % (n - place));
    }
}

/// What each element is made of.
struct CpuElements {
    distribution: Distribution,
    dtype: Dtype,
    parameters: [f64; 2],
    range: u64,
    base: i64,
    /// Whether an integer is made of two words.
    is_wide: bool,
}

impl CpuElements {
    fn new(fill: &Fill) -> CpuElements {
        CpuElements {
            distribution: fill.distribution,
            dtype: fill.dtype,
            parameters: [f64::from_bits(fill.first), f64::from_bits(fill.second)],
            range: fill.first,
            base: fill.second as i64,
            is_wide: fill.is_wide(),
        }
    }

    /// A number from [0, 1) with as many bits as the type's significand has.
    fn uniform(&self, sequence: &mut Sequence) -> f64 {
        let digits = self.dtype.significand_bits();
        let bits = match self.dtype {
            Dtype::F64 => sequence.two_words(),
            _ => u64::from(sequence.word()),
        };
        (bits & ((1 << digits) - 1)) as f64 / (1_u64 << digits) as f64
    }

    fn block(&self, sequence: &mut Sequence, bytes: &mut [u8]) {
        let numbers =
            block(sequence, self.dtype, |sequence| self.uniform(sequence), self.parameters);
        for (number, bytes) in numbers.into_iter().zip(bytes.chunks_exact_mut(self.dtype.bytes())) {
            encode(AnyNumber::Double(number), self.dtype, bytes);
        }
    }

    fn one(&self, sequence: &mut Sequence, bytes: &mut [u8]) {
        let [first, second] = self.parameters;
        let value = match self.distribution {
            Distribution::Uniform => self.between(sequence),
            Distribution::Normal => normal(sequence).mul_add(second, first),
            Distribution::LogNormal => (normal(sequence).mul_add(second, first)).exp(),
            Distribution::Exponential => -1.0 / first * (-uniform_double(sequence)).ln_1p(),
            Distribution::Cauchy => {
                let angle = std::f64::consts::PI * (uniform_double(sequence) - 0.5);
                second.mul_add(angle.tan(), first)
            }
            Distribution::Geometric => (uniform_double(sequence).ln() / (-first).ln_1p()).ceil(),
            Distribution::Bernoulli => f64::from(u8::from(uniform_double(sequence) < first)),
            Distribution::Integers | Distribution::FullRange => {
                return encode(AnyNumber::Signed(self.integer(sequence)), self.dtype, bytes);
            }
        };
        encode(AnyNumber::Double(value), self.dtype, bytes);
    }

    /// A number between the bounds; types of 16 bits are calculated in single precision.
    fn between(&self, sequence: &mut Sequence) -> f64 {
        let draw = self.uniform(sequence);
        let round = |value: f64| AnyNumber::Double(value).round_to(self.dtype).to_double();
        let [low, high] = self.parameters.map(round);
        let range = round(high - low);
        match self.dtype {
            Dtype::F64 => draw.mul_add(range, low),
            _ => f64::from((draw as f32).mul_add(range as f32, low as f32)),
        }
    }

    fn integer(&self, sequence: &mut Sequence) -> i64 {
        if self.distribution == Distribution::Integers {
            let bits = if self.is_wide { sequence.two_words() } else { u64::from(sequence.word()) };
            // A range of 0 stands for none that a checked caller can ask for.
            let value = bits.checked_rem(self.range).unwrap_or(0);
            return value.wrapping_add(self.base as u64) as i64;
        }
        let bits = match self.dtype {
            Dtype::I64 | Dtype::F64 => sequence.two_words(),
            _ => u64::from(sequence.word()),
        };
        let values = match self.dtype.integer_range() {
            None => (1 << self.dtype.significand_bits()) + 1,
            Some((_, greatest)) => greatest as u64 + 1,
        };
        (bits % values) as i64
    }
}

/// A number of 53 bits from [0, 1).
fn uniform_double(sequence: &mut Sequence) -> f64 {
    (sequence.two_words() & ((1 << 53) - 1)) as f64 / (1_u64 << 53) as f64
}

/// A standard normal number. Two are calculated at a time, and the second is kept for the next call.
fn normal(sequence: &mut Sequence) -> f64 {
    if let Some(kept) = sequence.normal.take() {
        return kept;
    }
    let (turn, depth) = (uniform_double(sequence), uniform_double(sequence));
    let radius = (-2.0 * (-depth).ln_1p()).sqrt();
    let (sine, cosine) = (2.0 * std::f64::consts::PI * turn).sin_cos();
    sequence.normal = Some(radius * sine);
    radius * cosine
}
