//! Sizes and strides.

use sconce_base::error::{Error, Result};
use sconce_base::strided::StridedView;

use super::dim_list::Dims;

/// How many elements there are. Refuses negative sizes and more elements than can be counted.
#[inline]
pub fn count(sizes: &[i64]) -> Result<i64> {
    let mut all = 1_i64;
    for size in sizes {
        if *size < 0 {
            return Err(negative(*size, sizes));
        }
        match all.checked_mul(*size) {
            Some(product) => all = product,
            // A size of 0 behind it makes the product 0 all the same.
            None if sizes.contains(&0) => return check_rest(sizes),
            None => return Err(too_many(sizes)),
        }
    }
    Ok(all)
}

#[cold]
fn check_rest(sizes: &[i64]) -> Result<i64> {
    match sizes.iter().find(|size| **size < 0) {
        Some(size) => Err(negative(*size, sizes)),
        None => Ok(0),
    }
}

#[cold]
fn negative(size: i64, sizes: &[i64]) -> Error {
    Error::invalid_argument(format!(
        "Trying to create tensor with negative dimension {size}: {sizes:?}"
    ))
}

#[cold]
pub(crate) fn too_many(sizes: &[i64]) -> Error {
    Error::invalid_argument(format!("Storage size calculation overflowed with sizes={sizes:?}"))
}

/// Whether two lists of sizes or strides are equal. They are short: a call to compare memory takes longer.
#[inline]
pub(crate) fn are_equal(one: &[i64], other: &[i64]) -> bool {
    one.len() == other.len() && one.iter().zip(other).all(|(one, other)| one == other)
}

/// The product of sizes that were counted before. One of them may be 0 where the others' product would be too large.
#[inline]
pub(crate) fn numel(sizes: &[i64]) -> i64 {
    sizes.iter().fold(1, |product, size| product.wrapping_mul(*size))
}

/// Strides of elements that lie one after another, the last dimension first. A size of 0 counts as 1.
#[inline]
pub fn contiguous_strides(sizes: &[i64]) -> Dims {
    let mut strides = Dims::from_elem(1, sizes.len());
    write_contiguous_strides(sizes, &mut strides);
    strides
}

/// As [`contiguous_strides`], written to where the caller wants them.
#[inline]
pub(crate) fn write_contiguous_strides(sizes: &[i64], strides: &mut [i64]) {
    let mut next = 1_i64;
    for (stride, size) in strides.iter_mut().zip(sizes).rev() {
        *stride = next;
        next = next.wrapping_mul((*size).max(1));
    }
}

/// Whether strides are those that [`contiguous_strides`] finds: also where they mean nothing.
#[inline]
pub(crate) fn are_plain(sizes: &[i64], strides: &[i64]) -> bool {
    let mut next = 1_i64;
    sizes.iter().zip(strides).rev().all(|(size, stride)| {
        let is_next = *stride == next;
        next = next.wrapping_mul((*size).max(1));
        is_next
    })
}

/// Strides of elements that lie one after another, dimensions in the given order from the fastest to the
/// slowest.
#[inline]
pub(crate) fn strides_in_order(sizes: &[i64], fastest_first: impl Iterator<Item = usize>) -> Dims {
    let mut strides = Dims::from_elem(1, sizes.len());
    let mut next = 1_i64;
    for dim in fastest_first {
        strides[dim] = next;
        next = next.wrapping_mul(sizes[dim].max(1));
    }
    strides
}

/// Whether elements lie one after another, the last dimension first. The stride of a dimension of one
/// element means nothing, and neither do those of a tensor without elements.
#[inline]
pub(crate) fn is_contiguous(sizes: &[i64], strides: &[i64]) -> bool {
    let mut next = 1_i64;
    for (size, stride) in sizes.iter().zip(strides).rev() {
        if *size == 1 {
            continue;
        }
        if *size == 0 {
            return true;
        }
        if *stride != next {
            return sizes.contains(&0);
        }
        next = next.wrapping_mul(*size);
    }
    true
}

/// Whether each place from the first to the last element holds exactly one element.
pub(crate) fn is_dense(sizes: &[i64], strides: &[i64]) -> bool {
    is_contiguous(sizes, strides) || StridedView::new(sizes, strides).is_dense()
}

/// The dimensions of channels_last (4) and channels_last_3d (5), the fastest one in memory first.
fn channels_last_order(rank: usize) -> &'static [usize] {
    if rank == 5 { &[1, 4, 3, 2, 0] } else { &[1, 3, 2, 0] }
}

/// The strides of a tensor of 4 or 5 dimensions whose channels lie innermost. Here torch does not count a size of 0 as
/// 1.
pub(crate) fn channels_last_strides(sizes: &[i64]) -> Dims {
    let mut strides = Dims::from_elem(1, sizes.len());
    let mut next = 1_i64;
    for dim in channels_last_order(sizes.len()) {
        strides[*dim] = next;
        next = next.wrapping_mul(sizes[*dim]);
    }
    strides
}

/// Whether elements of a tensor of 4 or 5 dimensions lie one after another, the channels innermost. The stride of a
/// dimension of one element means nothing.
pub(crate) fn is_channels_last(sizes: &[i64], strides: &[i64]) -> bool {
    let mut next = 1_i64;
    channels_last_order(sizes.len()).iter().all(|dim| {
        let follows = sizes[*dim] == 1 || strides[*dim] == next;
        next = next.wrapping_mul(sizes[*dim]);
        follows
    })
}

/// Whether strides are those of a tensor of 4 or 5 dimensions that has the second one first in memory, the
/// first one last; torch's rule, by which tensors that lie in both orders do not count.
pub(crate) fn looks_channels_last(sizes: &[i64], strides: &[i64]) -> bool {
    if !matches!(sizes.len(), 4 | 5) {
        return false;
    }
    let mut least = 0;
    for dim in channels_last_order(sizes.len()) {
        let (size, stride) = (sizes[*dim], strides[*dim]);
        let is_ambiguous = *dim == 0 && least == strides[1];
        if size == 0 || stride < least || stride == 0 && *dim == 1 || is_ambiguous {
            return false;
        }
        least = stride.wrapping_mul(size.max(1));
    }
    true
}

/// How many elements lie between the first and the end of the last; 0 without elements. `None` if it
/// cannot be counted. Strides are not negative.
pub fn extent(sizes: &[i64], strides: &[i64]) -> Option<i64> {
    if sizes.contains(&0) {
        return Some(0);
    }
    StridedView::new(sizes, strides).byte_span(1).map(|span| span.bytes)
}

/// A dimension counted from the front; negative ones count from the end. A tensor without dimensions takes
/// 0 and -1.
#[inline]
pub(crate) fn wrap_dim(dim: i64, rank: usize) -> Result<usize> {
    let most = rank.max(1) as i64;
    if dim >= -most && dim < most {
        Ok(if dim < 0 { dim + most } else { dim } as usize)
    } else {
        Err(out_of_range(dim, most))
    }
}

#[cold]
fn out_of_range(dim: i64, most: i64) -> Error {
    Error::invalid_argument(format!(
        "Dimension out of range (expected to be in range of [{}, {}], but got {dim})",
        -most,
        most - 1
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_counted_and_refused() {
        assert_eq!(count(&[]).unwrap(), 1);
        assert_eq!(count(&[2, 3]).unwrap(), 6);
        assert_eq!(count(&[i64::MAX, 2, 0]).unwrap(), 0);
        let refused = |sizes: &[i64]| count(sizes).err().unwrap().message().to_owned();
        assert!(refused(&[2, -1]).contains("negative dimension -1: [2, -1]"));
        assert!(refused(&[i64::MAX, 2, 0, -3]).contains("negative dimension -3"));
        assert!(refused(&[i64::MAX, 2]).contains("overflowed"));
    }

    #[test]
    fn strides_of_one_element_mean_nothing() {
        assert_eq!(contiguous_strides(&[2, 0, 3])[..], [3, 3, 1]);
        assert!(are_plain(&[2, 0, 3], &[3, 3, 1]) && are_plain(&[], &[]));
        assert!(!are_plain(&[2, 1, 3], &[3, 77, 1]) && !are_plain(&[2, 0, 3], &[0, 3, 1]));
        assert!(is_contiguous(&[2, 1, 3], &[3, 77, 1]));
        assert!(is_contiguous(&[2, 0, 3], &[5, 5, 5]));
        assert!(!is_contiguous(&[2, 3], &[1, 2]) && is_dense(&[2, 3], &[1, 2]));
        assert!(!is_dense(&[2, 3], &[3, 2]) && !is_dense(&[2, 3], &[0, 1]));
        assert_eq!(strides_in_order(&[2, 3, 4], [1, 2, 0].into_iter())[..], [12, 1, 3]);
    }

    #[test]
    fn channels_are_last_only_where_no_other_order_fits() {
        assert!(looks_channels_last(&[2, 3, 4, 5], &[60, 1, 15, 3]));
        assert!(!looks_channels_last(&[2, 3, 4, 5], &[60, 20, 5, 1]));
        assert!(!looks_channels_last(&[2, 1, 1, 1], &[1, 1, 1, 1]));
        assert!(!looks_channels_last(&[2, 3, 0, 5], &[0, 1, 15, 3]));
        assert!(looks_channels_last(&[2, 3, 4, 5, 6], &[360, 1, 90, 18, 3]));
    }

    #[test]
    fn dimensions_wrap_once() {
        assert_eq!(wrap_dim(-1, 3).unwrap(), 2);
        assert_eq!(wrap_dim(-1, 0).unwrap(), 0);
        assert!(wrap_dim(3, 3).is_err() && wrap_dim(-4, 3).is_err());
        let text = wrap_dim(1, 0).err().unwrap();
        assert!(text.message().contains("expected to be in range of [-1, 0], but got 1"));
    }
}
