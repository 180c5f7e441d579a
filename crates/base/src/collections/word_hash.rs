//! A hash of a few words, for keys that no attacker chooses.
//!
//! Keys of the caches are structs of some twenty integers. The standard hasher takes 60 ns for one;
//! this one multiplies once for each word, and takes slices of bytes sixteen at a time.

use std::hash::{BuildHasherDefault, Hasher};

/// An odd number without a pattern in its bits: the fraction of the golden ratio.
const FACTOR: u64 = 0x9E37_79B9_7F4A_7C15;
/// Others, of pi, which keep a half of zeros from making the product zero.
const SEEDS: [u64; 2] = [0x243F_6A88_85A3_08D3, 0x1319_8A2E_0370_7344];

/// Makes [`WordHasher`]s.
pub(crate) type WordHash = BuildHasherDefault<WordHasher>;

/// A hasher that multiplies once for each word.
#[derive(Default)]
pub(crate) struct WordHasher(u64);

/// Scatters words that come in regular steps. The upper bits depend on all bits of the word, so they are
/// the ones to use.
#[inline(always)]
pub const fn scatter(word: u64) -> u64 {
    word.wrapping_mul(FACTOR)
}

impl WordHasher {
    #[inline]
    fn add(&mut self, word: u64) {
        self.0 = scatter(self.0.wrapping_add(word));
    }
}

/// The full product of two words, folded.
#[inline]
fn fold(a: u64, b: u64) -> u64 {
    let product = u128::from(a ^ SEEDS[0]) * u128::from(b ^ SEEDS[1]);
    product as u64 ^ (product >> 64) as u64
}

impl Hasher for WordHasher {
    #[inline]
    fn write(&mut self, bytes: &[u8]) {
        let (words, rest) = bytes.as_chunks::<8>();
        let (pairs, single) = words.as_chunks::<2>();
        // The products of pairs do not wait for each other.
        for [a, b] in pairs {
            self.add(fold(u64::from_le_bytes(*a), u64::from_le_bytes(*b)));
        }
        for word in single {
            self.add(u64::from_le_bytes(*word));
        }
        if !rest.is_empty() {
            let mut word = [0; 8];
            word[..rest.len()].copy_from_slice(rest);
            self.add(u64::from_le_bytes(word));
        }
    }

    #[inline]
    fn write_u8(&mut self, value: u8) {
        self.add(value.into());
    }

    #[inline]
    fn write_u16(&mut self, value: u16) {
        self.add(value.into());
    }

    #[inline]
    fn write_u32(&mut self, value: u32) {
        self.add(value.into());
    }

    #[inline]
    fn write_u64(&mut self, value: u64) {
        self.add(value);
    }

    #[inline]
    fn write_usize(&mut self, value: usize) {
        self.add(value as u64);
    }

    #[inline]
    fn finish(&self) -> u64 {
        // The low bits of a product depend only on the low bits of its factors, and the low bits
        // choose the place in the table.
        self.0 ^ (self.0 >> 32)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;
    use std::hash::{BuildHasher, Hash};

    fn hash(value: impl Hash) -> u64 {
        WordHash::default().hash_one(value)
    }

    #[test]
    #[cfg_attr(miri, ignore = "thousands of keys take minutes there")]
    fn sizes_as_programs_have_them_spread_over_a_table() {
        // Powers of two, multiples of them and small numbers, in each place of a key.
        let sizes: Vec<i64> = (0..32).map(|bit| 1 << bit).chain(1..=32).collect();
        let mut keys = HashSet::new();
        for &a in &sizes {
            for &b in &sizes {
                keys.insert((0_i32, [a, b, 1], 1_usize, b, a));
                keys.insert((1_i32, [1, a, b], 1_usize, a, b));
                keys.insert((1_i32, [a, 1, 1], 7_usize, b, 1));
            }
        }
        let hashes: Vec<u64> = keys.iter().map(hash).collect();
        assert_eq!(hashes.iter().collect::<HashSet<_>>().len(), keys.len());
        // The bits that a table uses: low bits for the place, and the top seven to distinguish
        // neighbours.
        for (shift, mask) in [(0, 0x3FFF), (57, 0x7F)] {
            let mut load = vec![0_usize; mask + 1];
            for hash in &hashes {
                load[(hash >> shift) as usize & mask] += 1;
            }
            let even = hashes.len() / (mask + 1);
            let most = load.iter().max().copied().unwrap();
            assert!(most <= 8 + even * 3 / 2, "{most} in one place, {even} on average");
        }
    }

    #[test]
    fn each_byte_counts_and_its_place() {
        let bytes: Vec<u8> = (1..=41).collect();
        let mut seen = HashSet::from([hash(&bytes[..])]);
        for place in 0..bytes.len() {
            let mut changed = bytes.clone();
            changed[place] ^= 0x80;
            assert!(seen.insert(hash(&changed[..])), "byte {place}");
            changed[place] ^= 0x80;
            changed.swap(place, (place + 8) % 41);
            assert!(seen.insert(hash(&changed[..])), "byte {place} swapped");
        }
        assert_ne!(hash([0_i64; 3]), hash([0_i64; 2]));
    }
}
