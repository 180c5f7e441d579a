//! Views that are made of the words of a handle's tensor, without a layout.
//!
//! These functions make the views that programs take most often. For all else, and for what is refused, they return
//! `None`; the function of the same view of a layout then decides.

use sconce_base::element::Dtype;

use crate::tensor::handle::{NewExtents, TensorWords, ViewPosition};

/// One index of a dimension, as [`select_in_place`](super::select_in_place).
#[inline(always)]
pub fn select_directly(
    from: &TensorWords<'_>,
    to: &NewExtents<'_>,
    dim: i64,
    index: i64,
) -> Option<ViewPosition> {
    let rank = from.rank();
    let at = if dim < 0 { dim.wrapping_add(rank as i64) } else { dim } as usize;
    if rank > NewExtents::MOST || at >= rank {
        return None;
    }
    let (size, stride) = from.dim(at)?;
    let index = if index < 0 { index.wrapping_add(size) } else { index };
    if index < 0 || index >= size {
        return None;
    }
    let mut numel = 1_i64;
    for dim in 0..at {
        let (size, stride) = from.dim(dim)?;
        to.set(dim, size, stride);
        numel = numel.wrapping_mul(size);
    }
    for dim in at + 1..rank {
        let (size, stride) = from.dim(dim)?;
        to.set(dim - 1, size, stride);
        numel = numel.wrapping_mul(size);
    }
    // Without elements, strides and offset may be any: then it wraps around.
    let first = from.offset();
    let offset = first.wrapping_add(index.wrapping_mul(stride)).max(0);
    let bytes = Dtype::ALL.get(usize::from(from.dtype()))?.bytes();
    let moved = (offset.wrapping_sub(first) as usize).wrapping_mul(bytes);
    let address = match from.address() {
        // A storage without bytes has no address.
        0 => 0,
        address => address.wrapping_add(moved),
    };
    Some(ViewPosition { rank: rank - 1, numel, offset, address })
}

/// Other sizes over the elements of a tensor that lie one after another, as
/// [`view_in_place`](super::view_in_place).
#[inline(always)]
pub fn view_directly(
    from: &TensorWords<'_>,
    to: &NewExtents<'_>,
    wanted: &[i64],
) -> Option<ViewPosition> {
    let mut dim = from.rank();
    if dim > NewExtents::MOST || wanted.len() > NewExtents::MOST {
        return None;
    }
    let mut next = 1_i64;
    while dim > 0 {
        dim -= 1;
        let (size, stride) = from.dim(dim)?;
        if stride != next || size <= 0 {
            return None;
        }
        next = next.wrapping_mul(size);
    }
    let mut numel = 1_i64;
    let mut dim = wanted.len();
    while dim > 0 {
        dim -= 1;
        let size = wanted[dim];
        if size <= 0 {
            return None;
        }
        to.set(dim, size, numel);
        numel = numel.checked_mul(size)?;
    }
    // `next` is the number of elements, unless the words are a mixture, which is dropped.
    (numel == next).then(|| ViewPosition {
        rank: wanted.len(),
        numel,
        offset: from.offset(),
        address: from.address(),
    })
}

#[cfg(all(test, not(loom)))]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use sconce_base::collections::slab::Key;
    use sconce_base::element::Dtype;
    use sconce_base::error::Result;

    use super::*;
    use crate::tensor::views::{select, view};
    use crate::tensor::{Place, Storage, StorageRef, Tensor, handle};

    /// Shapes, strides and offsets within 64 elements: contiguous and not, without elements, of many dimensions.
    fn tensors() -> Vec<Tensor> {
        let shapes: [(&[i64], &[i64], i64); 12] = [
            (&[], &[], 3),
            (&[6], &[1], 0),
            (&[6], &[2], 1),
            (&[2, 3], &[3, 1], 5),
            (&[2, 3], &[1, 2], 0),
            (&[2, 1, 3], &[3, 3, 1], 7),
            (&[2, 1, 3], &[3, 77, 1], 7),
            (&[1, 1], &[1, 1], 2),
            (&[0, 3], &[3, 1], 0),
            (&[3, 4, 5], &[0, 5, 1], 9),
            (&[1, 2, 1, 2, 1, 2, 1, 2], &[16, 8, 8, 4, 4, 2, 2, 1], 4),
            (&[1, 2, 1, 2, 1, 2, 1, 2, 1], &[16, 8, 8, 4, 4, 2, 2, 1, 1], 4),
        ];
        let make = |dtype: Dtype| {
            shapes.iter().map(move |(sizes, strides, offset)| {
                let storage = Storage::on_host(64 * dtype.bytes()).unwrap();
                let storage = StorageRef::new(storage).unwrap();
                Tensor::checked(storage, dtype, sizes, strides, *offset).unwrap()
            })
        };
        make(Dtype::F32).chain(make(Dtype::C128)).chain(make(Dtype::Bool)).collect()
    }

    /// Compares the view that was made of words with that of the tensor; returns whether there is one.
    fn compare(direct: Option<Key>, expected: Result<Tensor>) -> bool {
        let Some(key) = direct else { return false };
        let (found, expected) = (handle::get(key, "view").unwrap(), expected.unwrap());
        assert!(found.is_same_view(&expected), "{:?}", (found.sizes(), found.strides()));
        let seen = handle::look(key, "view", |words| {
            Some((words.numel(), words.address(), words.device()))
        });
        let wanted = (expected.numel(), expected.address(), Place::Cpu.number());
        assert_eq!(seen.unwrap(), wanted);
        handle::release(key, "view").unwrap();
        true
    }

    #[test]
    fn views_of_words_are_those_of_layouts() {
        let wanted: [&[i64]; 11] = [
            &[],
            &[1],
            &[6],
            &[3, 2],
            &[-1],
            &[16],
            &[2, 8],
            &[0, 3],
            &[2, -3],
            &[i64::MAX, i64::MAX],
            &[1; 9],
        ];
        let (mut selections, mut views) = (0, 0);
        for tensor in tensors() {
            let key = handle::insert(tensor.clone()).unwrap();
            for dim in -10..10 {
                for index in [-6, -1, 0, 1, 5, i64::MIN, i64::MAX] {
                    let direct = handle::insert_direct_view(key, |from, to| {
                        select_directly(from, to, dim, index)
                    });
                    let is_short = tensor.rank() <= NewExtents::MOST;
                    let expected = select(&tensor, dim, index);
                    let has_view = expected.is_ok();
                    assert_eq!(compare(direct, expected), has_view && is_short, "{dim} {index}");
                    selections += usize::from(has_view);
                }
            }
            for wanted in wanted {
                let direct =
                    handle::insert_direct_view(key, |from, to| view_directly(from, to, wanted));
                views += usize::from(compare(direct, view(&tensor, wanted)));
            }
            handle::release(key, "t").unwrap();
            assert!(!tensor.storage().is_shared(), "a view that is not made keeps nothing");
        }
        assert!(selections > 500 && views > 30, "{selections} selections, {views} views");
    }

    #[test]
    fn handles_that_are_dead_or_undefined_have_no_direct_view() {
        let view = |key| handle::insert_direct_view(key, |from, to| view_directly(from, to, &[1]));
        let before = handle::count();
        let undefined = handle::insert(Tensor::default()).unwrap();
        assert!(view(undefined).is_none());
        handle::release(undefined, "t").unwrap();
        assert!(view(undefined).is_none());
        assert_eq!(handle::count(), before);
    }
}
