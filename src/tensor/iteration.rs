//! What the operands of an elementwise operation have in common: the shape, and the order in memory of a
//! new result. torch's rules.

use smallvec::SmallVec;

use super::dim_list::Dims;
use super::dims;
use super::value::Tensor;
use crate::error::{Error, Result};

/// The shape that two shapes are repeated to.
pub(crate) fn broadcast(first: &[i64], second: &[i64]) -> Result<Dims> {
    if first == second {
        return Ok(Dims::from_slice(first));
    }
    let rank = first.len().max(second.len());
    let mut sizes = Dims::from_elem(1, rank);
    for back in 1..=rank {
        let of = |shape: &[i64]| shape.len().checked_sub(back).map_or(1, |dim| shape[dim]);
        let (one, other) = (of(first), of(second));
        sizes[rank - back] = match (one, other) {
            (one, other) if one == other => one,
            (1, other) => other,
            (one, 1) => one,
            _ => return Err(apart(one, other, rank - back)),
        };
    }
    Ok(sizes)
}

#[cold]
fn apart(one: i64, other: i64, dim: usize) -> Error {
    Error::invalid_argument(format!(
        "The size of tensor a ({one}) must match the size of tensor b ({other}) at non-singleton dimension \
         {dim}"
    ))
}

/// The strides of a tensor over a shape that it is repeated to; 0 where it is repeated.
pub(crate) fn strides_over(tensor: &Tensor, sizes: &[i64]) -> Dims {
    if tensor.sizes() == sizes {
        return Dims::from_slice(tensor.strides());
    }
    let new = sizes.len() - tensor.rank();
    let own = |dim: usize| match dim.checked_sub(new) {
        Some(own) if tensor.sizes()[own] != 1 || sizes[dim] == 1 => tensor.strides()[own],
        _ => 0,
    };
    (0..sizes.len()).map(own).collect()
}

/// Strides for a new result of an elementwise operation: dense, with the dimensions in the order of the
/// operands'. `inputs` are operands with the strides they have over `sizes`.
pub(crate) fn result_strides(sizes: &[i64], inputs: &[(&Tensor, &Dims)]) -> Dims {
    let same_shape = |(tensor, _): &(&Tensor, &Dims)| tensor.sizes() == sizes;
    if inputs.iter().all(same_shape) {
        if inputs.iter().all(|(tensor, _)| tensor.is_contiguous()) {
            return dims::contiguous_strides(sizes);
        }
        let first = inputs[0].0;
        if first.is_dense() && inputs.iter().all(|(tensor, _)| tensor.strides() == first.strides())
        {
            return Dims::from_slice(first.strides());
        }
    }
    sorted_strides(sizes, inputs)
}

/// As [`result_strides`] where a number is an operand, too. In torch that is a tensor without dimensions, so
/// the operands' shapes are not one, and strides of dimensions of one element are not taken over.
pub(crate) fn result_strides_with_number(sizes: &[i64], inputs: &[(&Tensor, &Dims)]) -> Dims {
    let contiguous = dims::contiguous_strides(sizes);
    match inputs {
        [(tensor, _)] if tensor.strides() == &contiguous[..] && tensor.numel() != 0 => contiguous,
        _ => sorted_strides(sizes, inputs),
    }
}

fn sorted_strides(sizes: &[i64], inputs: &[(&Tensor, &Dims)]) -> Dims {
    let rank = sizes.len();
    let mut order: SmallVec<[usize; 8]> = (0..rank).rev().collect();
    for index in 1..rank {
        let mut moving = index;
        for before in (0..index).rev() {
            match faster(sizes, inputs, order[before], order[moving]) {
                std::cmp::Ordering::Greater => {
                    order.swap(before, moving);
                    moving = before;
                }
                std::cmp::Ordering::Less => break,
                std::cmp::Ordering::Equal => {}
            }
        }
    }
    if order.iter().copied().eq((0..rank).rev()) {
        return dims::contiguous_strides(sizes);
    }
    // In another order torch does not count a size of 0 as 1: dimensions behind it have a stride of 0.
    let mut strides = Dims::from_elem(0, rank);
    let mut next = 1_i64;
    for dim in order {
        strides[dim] = next;
        next = next.wrapping_mul(sizes[dim]);
    }
    strides
}

/// Which of two dimensions comes first in memory, by the first operand that says so: a repeated dimension
/// says nothing, equal strides are decided by the sizes.
fn faster(
    sizes: &[i64],
    inputs: &[(&Tensor, &Dims)],
    first: usize,
    second: usize,
) -> std::cmp::Ordering {
    use std::cmp::Ordering::{Equal, Greater, Less};
    for (tensor, strides) in inputs {
        let bytes = |dim: usize| strides[dim].wrapping_mul(tensor.element() as i64);
        match (bytes(first), bytes(second)) {
            (0, _) | (_, 0) => {}
            (one, other) if one < other => return Less,
            (one, other) if one > other => return Greater,
            _ if sizes[first] > sizes[second] => return Greater,
            _ => {}
        }
    }
    Equal
}

/// The strides of a new tensor that preserves the order of another one's dimensions.
pub(crate) fn preserved_strides(tensor: &Tensor) -> Dims {
    if tensor.is_dense() {
        return Dims::from_slice(tensor.strides());
    }
    let strides = Dims::from_slice(tensor.strides());
    result_strides(tensor.sizes(), &[(tensor, &strides)])
}
