//! Where the elements of a tensor lie in its storage.

use sconce_base::element::Dtype;
use sconce_base::error::{Error, Result, Status};

use super::dim_list::Dims;
use super::dims;

/// As many dimensions are stored in the layout itself.
pub(super) const INLINE: usize = 8;

/// Sizes, strides and offset, in elements.
#[derive(Clone, Default)]
pub struct TensorLayout {
    /// From the storage's begin to the first element.
    pub(super) offset: i64,
    /// The product of the sizes.
    pub(super) numel: i64,
    rank: usize,
    /// Of at most [`INLINE`] dimensions; behind those numbers are any.
    sizes: [i64; INLINE],
    strides: [i64; INLINE],
    /// Sizes, then strides, of more dimensions; else empty.
    large: Vec<i64>,
}

impl TensorLayout {
    /// A layout of given sizes, as many strides, and an offset.
    #[inline]
    pub(super) fn new(sizes: &[i64], strides: &[i64], offset: i64) -> TensorLayout {
        let mut layout = TensorLayout { offset, ..TensorLayout::default() };
        layout.set(sizes, strides);
        layout.numel = dims::numel(sizes);
        layout
    }

    /// How many dimensions it has.
    #[inline(always)]
    pub(super) fn rank(&self) -> usize {
        self.rank
    }

    /// Elements along each dimension.
    #[inline(always)]
    pub(super) fn sizes(&self) -> &[i64] {
        match self.sizes.get(..self.rank) {
            Some(sizes) => sizes,
            None => self.large.get(..self.rank).unwrap_or_default(),
        }
    }

    /// Elements from one index of a dimension to the next.
    #[inline(always)]
    pub(super) fn strides(&self) -> &[i64] {
        match self.strides.get(..self.rank) {
            Some(strides) => strides,
            None => self.large.get(self.rank..).unwrap_or_default(),
        }
    }

    /// Sizes and strides, for changes. The caller counts the elements again if it changes sizes.
    #[inline(always)]
    pub(super) fn extents_mut(&mut self) -> (&mut [i64], &mut [i64]) {
        match (self.sizes.get_mut(..self.rank), self.strides.get_mut(..self.rank)) {
            (Some(sizes), Some(strides)) => (sizes, strides),
            _ => self.large.split_at_mut(self.rank),
        }
    }

    /// Gets `rank` dimensions, whose sizes and strides the caller writes then.
    #[inline(always)]
    pub(super) fn resize(&mut self, rank: usize) -> (&mut [i64], &mut [i64]) {
        self.rank = rank;
        if rank > INLINE || !self.large.is_empty() {
            self.resize_large();
        }
        self.extents_mut()
    }

    #[cold]
    #[inline(never)]
    fn resize_large(&mut self) {
        let numbers = if self.rank > INLINE { 2 * self.rank } else { 0 };
        self.large = vec![0; numbers];
    }

    /// Gets other sizes, and as many strides. The caller counts the elements again unless they are as many.
    #[inline]
    pub(super) fn set(&mut self, sizes: &[i64], strides: &[i64]) {
        let (own_sizes, own_strides) = self.resize(sizes.len());
        own_sizes.copy_from_slice(sizes);
        own_strides.copy_from_slice(strides);
    }

    /// Removes a dimension.
    #[inline]
    pub(super) fn remove(&mut self, at: usize) {
        if self.rank > INLINE {
            return self.change_large(|sizes, strides| {
                sizes.remove(at);
                strides.remove(at);
            });
        }
        for dim in at + 1..self.rank {
            self.sizes[dim - 1] = self.sizes[dim];
            self.strides[dim - 1] = self.strides[dim];
        }
        self.rank -= 1;
    }

    /// Inserts a dimension before another one, or at the end.
    #[inline]
    pub(super) fn insert(&mut self, at: usize, size: i64, stride: i64) {
        if self.rank >= INLINE {
            return self.change_large(|sizes, strides| {
                sizes.insert(at, size);
                strides.insert(at, stride);
            });
        }
        for dim in (at..self.rank).rev() {
            self.sizes[dim + 1] = self.sizes[dim];
            self.strides[dim + 1] = self.strides[dim];
        }
        (self.sizes[at], self.strides[at]) = (size, stride);
        self.rank += 1;
    }

    /// Changes the number of dimensions where there are, or come to be, more than are stored in place.
    #[cold]
    #[inline(never)]
    fn change_large(&mut self, change: impl FnOnce(&mut Vec<i64>, &mut Vec<i64>)) {
        let (mut sizes, mut strides) = (self.sizes().to_vec(), self.strides().to_vec());
        change(&mut sizes, &mut strides);
        self.set(&sizes, &strides);
    }

    /// Keeps the dimensions for which `stays`, called with a dimension and its size, is true.
    pub(super) fn keep(&mut self, stays: impl Fn(usize, i64) -> bool) {
        let extents = self.sizes().iter().copied().zip(self.strides().iter().copied());
        let kept = extents.enumerate().filter(|(dim, (size, _))| stays(*dim, *size));
        let (sizes, strides): (Dims, Dims) = kept.map(|(_, extents)| extents).unzip();
        self.set(&sizes, &strides);
    }

    /// Counts the elements of changed sizes.
    #[inline]
    pub(super) fn count_again(&mut self) {
        self.numel = dims::numel(self.sizes());
    }

    /// The offset `steps` strides further. Without elements, strides and offset may be any: then it wraps around.
    #[inline]
    pub(super) fn offset_after(&self, steps: i64, stride: i64) -> i64 {
        self.offset.wrapping_add(steps.wrapping_mul(stride)).max(0)
    }

    /// Refuses a layout of a view that reaches beyond its storage. Functions of views make none, so it is a defect.
    #[inline]
    pub(super) fn check_within(&self, bytes: usize, dtype: Dtype) -> Result<()> {
        if self.is_within(bytes, dtype) { Ok(()) } else { Err(beyond(self, bytes)) }
    }

    /// Whether the number of elements is that of the sizes, and all elements lie in so many bytes.
    pub(super) fn is_within(&self, bytes: usize, dtype: Dtype) -> bool {
        let reaches = reaches(self.sizes(), self.strides(), self.offset, dtype);
        self.numel == dims::numel(self.sizes())
            && reaches.is_some_and(|reaches| reaches <= bytes as i64)
    }
}

#[cold]
#[inline(never)]
fn beyond(layout: &TensorLayout, bytes: usize) -> Error {
    let (sizes, strides, offset) = (layout.sizes(), layout.strides(), layout.offset);
    let text = format!(
        "a view with sizes {sizes:?}, strides {strides:?} and offset {offset} reaches beyond the {bytes} bytes of its \
         storage"
    );
    Error::new(Status::Internal, text)
}

/// The bytes from the storage's begin to the end of the last element; `None` if they cannot be counted.
pub(super) fn reaches(sizes: &[i64], strides: &[i64], offset: i64, dtype: Dtype) -> Option<i64> {
    match dims::extent(sizes, strides)? {
        0 => Some(0),
        extent => extent.checked_add(offset)?.checked_mul(dtype.bytes() as i64),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dimensions_come_and_go_around_the_number_that_is_stored_in_place() {
        for rank in 0..=INLINE + 2 {
            let sizes: Vec<i64> = (1..=rank as i64).collect();
            let strides: Vec<i64> = sizes.iter().map(|size| size * 100).collect();
            let whole = TensorLayout::new(&sizes, &strides, 3);
            assert_eq!(
                (whole.rank(), whole.sizes(), whole.strides()),
                (rank, &sizes[..], &strides[..])
            );
            let compare = |changed: &TensorLayout, sizes: &[i64], strides: &[i64]| {
                assert_eq!(
                    (changed.sizes(), changed.strides(), changed.offset),
                    (sizes, strides, 3)
                );
                assert_eq!(changed.rank(), sizes.len());
            };
            for at in 0..=rank {
                let mut more = whole.clone();
                more.insert(at, 77, 78);
                let (mut longer, mut steps) = (sizes.clone(), strides.clone());
                longer.insert(at, 77);
                steps.insert(at, 78);
                compare(&more, &longer, &steps);
                more.remove(at);
                compare(&more, &sizes, &strides);
                more.keep(|dim, size| dim != at && size != 1);
                let kept = |dim: &usize| *dim != at && sizes[*dim] != 1;
                let of =
                    |all: &[i64]| (0..rank).filter(kept).map(|dim| all[dim]).collect::<Vec<_>>();
                compare(&more, &of(&sizes), &of(&strides));
                more.set(&[], &[]);
                compare(&more, &[], &[]);
            }
        }
    }
}
