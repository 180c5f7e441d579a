//! A list of sizes or strides, short ones stored in place.

use std::fmt;
use std::ops::{Deref, DerefMut};

/// As many numbers are stored in the list itself.
const INLINE: usize = 8;

/// Sizes or strides; up to 8 are stored without memory of the heap. A copy of a short list is a few moves of a fixed
/// size, without a loop.
pub struct Dims {
    count: usize,
    /// The numbers, if there are at most [`INLINE`]; those behind them are 0 or old.
    inline: [i64; INLINE],
    /// The numbers, if there are more; else empty.
    heap: Vec<i64>,
}

impl Dims {
    /// An empty list.
    #[inline(always)]
    pub const fn new() -> Dims {
        Dims { count: 0, inline: [0; INLINE], heap: Vec::new() }
    }

    /// A copy of numbers.
    #[inline]
    pub(crate) fn from_slice(numbers: &[i64]) -> Dims {
        let mut dims = Dims::new();
        match dims.inline.get_mut(..numbers.len()) {
            Some(inline) => inline.copy_from_slice(numbers),
            None => dims.heap = numbers.to_vec(),
        }
        dims.count = numbers.len();
        dims
    }

    /// So many times the same number.
    #[inline]
    pub(crate) fn from_elem(number: i64, count: usize) -> Dims {
        if count > INLINE {
            return Dims { count, inline: [0; INLINE], heap: vec![number; count] };
        }
        Dims { count, inline: [number; INLINE], heap: Vec::new() }
    }

    /// Makes the list empty.
    #[inline]
    pub(crate) fn clear(&mut self) {
        (self.count, self.heap) = (0, Vec::new());
    }

    /// Adds a number at the end.
    #[inline]
    pub(crate) fn push(&mut self, number: i64) {
        match self.inline.get_mut(self.count) {
            Some(place) => *place = number,
            None => self.push_to_heap(number),
        }
        self.count += 1;
    }

    #[cold]
    #[inline(never)]
    fn push_to_heap(&mut self, number: i64) {
        if self.heap.is_empty() {
            self.heap.extend_from_slice(&self.inline);
        }
        self.heap.push(number);
    }

    /// Adds numbers at the end.
    #[inline]
    pub(crate) fn extend_from_slice(&mut self, numbers: &[i64]) {
        for number in numbers {
            self.push(*number);
        }
    }

    /// Inserts a number before the one at an index, or at the end.
    #[inline]
    pub(crate) fn insert(&mut self, at: usize, number: i64) {
        self.push(number);
        for dim in (at + 1..self.count).rev() {
            self.swap(dim - 1, dim);
        }
    }
}

impl Default for Dims {
    #[inline]
    fn default() -> Dims {
        Dims::new()
    }
}

impl Clone for Dims {
    #[inline(always)]
    fn clone(&self) -> Dims {
        let heap = if self.count > INLINE { self.heap.clone() } else { Vec::new() };
        Dims { count: self.count, inline: self.inline, heap }
    }
}

impl Deref for Dims {
    type Target = [i64];

    #[inline(always)]
    fn deref(&self) -> &[i64] {
        self.inline.get(..self.count).unwrap_or(&self.heap)
    }
}

impl DerefMut for Dims {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut [i64] {
        self.inline.get_mut(..self.count).unwrap_or(&mut self.heap)
    }
}

impl Extend<i64> for Dims {
    fn extend<I: IntoIterator<Item = i64>>(&mut self, numbers: I) {
        for number in numbers {
            self.push(number);
        }
    }
}

impl FromIterator<i64> for Dims {
    fn from_iter<I: IntoIterator<Item = i64>>(numbers: I) -> Dims {
        let mut dims = Dims::new();
        dims.extend(numbers);
        dims
    }
}

impl PartialEq for Dims {
    fn eq(&self, other: &Dims) -> bool {
        self[..] == other[..]
    }
}

impl fmt::Debug for Dims {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self[..].fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The same changes of a list and of a vector, around the length that is stored in place.
    #[test]
    fn a_list_is_a_vector() {
        for length in 0..12_i64 {
            let numbers: Vec<i64> = (1..=length).collect();
            let whole = Dims::from_slice(&numbers);
            assert_eq!(whole[..], numbers[..]);
            assert_eq!(whole.clone(), numbers.iter().copied().collect());
            assert_eq!(Dims::from_elem(7, numbers.len())[..], vec![7; numbers.len()]);
            let (mut more, mut longer) = (whole.clone(), numbers.clone());
            more.extend_from_slice(&[5, 6, 7]);
            longer.extend_from_slice(&[5, 6, 7]);
            assert_eq!(more[..], longer[..], "{length} and three");
            for at in 0..=numbers.len() {
                let (mut more, mut longer) = (whole.clone(), numbers.clone());
                more.insert(at, 99);
                longer.insert(at, 99);
                assert_eq!(more[..], longer[..], "{length} with {at}");
                more.clear();
                more.push(3);
                assert_eq!(more[..], [3]);
            }
        }
    }
}
