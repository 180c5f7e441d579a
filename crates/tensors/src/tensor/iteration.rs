//! What the operands of an elementwise operation have in common: the shape, and the order in memory of a
//! new result. torch's rules.

use sconce_base::element::Dtype;
use sconce_base::error::{Error, Result};
use smallvec::SmallVec;

use super::dim_list::Dims;
use super::dims;
use super::place::Place;
use super::value::Tensor;

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
    repeated_strides(tensor.sizes(), tensor.strides(), sizes)
}

fn repeated_strides(own_sizes: &[i64], strides: &[i64], sizes: &[i64]) -> Dims {
    if own_sizes == sizes {
        return Dims::from_slice(strides);
    }
    let new = sizes.len() - own_sizes.len();
    let own = |dim: usize| match dim.checked_sub(new) {
        Some(own) if own_sizes[own] != 1 || sizes[dim] == 1 => strides[own],
        _ => 0,
    };
    (0..sizes.len()).map(own).collect()
}

/// How an operand lies in memory.
struct OperandLayout<'a> {
    sizes: &'a [i64],
    strides: &'a [i64],
    /// The strides over the sizes of the result.
    over: &'a [i64],
}

/// Strides for a new result of an elementwise operation: dense, with the dimensions in the order of the operands'.
/// `inputs` are operands with the strides they have over `sizes`. The operation computes in a type; on the CPU torch
/// converts operands to it first, which may change how they lie. `None`: nothing is converted.
pub(crate) fn result_strides(
    sizes: &[i64],
    inputs: &[(&Tensor, &Dims)],
    compute: Option<Dtype>,
) -> Dims {
    // Most operands; a conversion leaves them so.
    if inputs.iter().all(|(tensor, _)| tensor.sizes() == sizes && tensor.is_contiguous()) {
        return dims::contiguous_strides(sizes);
    }
    as_laid(sizes, inputs, compute, strides_of_result)
}

/// As [`result_strides`] where a number is an operand, too. In torch that is a tensor without dimensions, so
/// the operands' shapes are not one, and strides of dimensions of one element are not taken over.
pub(crate) fn result_strides_with_number(
    sizes: &[i64],
    inputs: &[(&Tensor, &Dims)],
    compute: Option<Dtype>,
) -> Dims {
    as_laid(sizes, inputs, compute, |sizes, inputs| {
        let contiguous = dims::contiguous_strides(sizes);
        match inputs {
            [input] if *input.strides == contiguous[..] && !sizes.contains(&0) => contiguous,
            _ => sorted_strides(sizes, inputs),
        }
    })
}

/// What `order` makes of the operands, as they lie when they are converted.
fn as_laid(
    sizes: &[i64],
    inputs: &[(&Tensor, &Dims)],
    compute: Option<Dtype>,
    order: impl Fn(&[i64], &[OperandLayout<'_>]) -> Dims,
) -> Dims {
    let is_converted = |tensor: &Tensor| {
        tensor.place() == Place::Cpu && compute.is_some_and(|compute| compute != tensor.dtype())
    };
    let converted: SmallVec<[Option<[Dims; 2]>; 3]> = inputs
        .iter()
        .map(|(tensor, _)| {
            is_converted(tensor).then(|| {
                let strides = preserved_strides(tensor);
                let over = repeated_strides(tensor.sizes(), &strides, sizes);
                [strides, over]
            })
        })
        .collect();
    let layouts: SmallVec<[OperandLayout<'_>; 3]> = inputs
        .iter()
        .zip(&converted)
        .map(|((tensor, over), converted)| match converted {
            None => OperandLayout { sizes: tensor.sizes(), strides: tensor.strides(), over },
            Some([strides, over]) => OperandLayout { sizes: tensor.sizes(), strides, over },
        })
        .collect();
    order(sizes, &layouts)
}

fn strides_of_result(sizes: &[i64], inputs: &[OperandLayout<'_>]) -> Dims {
    if inputs.iter().all(|input| input.sizes == sizes) {
        // Operands that a conversion has made contiguous.
        if inputs.iter().all(|input| dims::is_contiguous(sizes, input.strides)) {
            return dims::contiguous_strides(sizes);
        }
        // The order of channels_last has strides of its own for dimensions of one element; that of channels_last_3d
        // has none.
        if sizes.len() == 4
            && inputs.iter().all(|input| dims::is_channels_last(sizes, input.strides))
        {
            return dims::channels_last_strides(sizes);
        }
        let first = inputs[0].strides;
        if dims::is_dense(sizes, first) && inputs.iter().all(|input| input.strides == first) {
            return Dims::from_slice(first);
        }
    }
    sorted_strides(sizes, inputs)
}

fn sorted_strides(sizes: &[i64], inputs: &[OperandLayout<'_>]) -> Dims {
    let rank = sizes.len();
    let order = sorted_dims(sizes, inputs);
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

/// The dimensions, the fastest one in memory first.
fn sorted_dims(sizes: &[i64], inputs: &[OperandLayout<'_>]) -> SmallVec<[usize; 8]> {
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
    order
}

/// Which of two dimensions comes first in memory, by the first operand that says so: a repeated dimension
/// says nothing, equal strides are decided by the sizes.
fn faster(
    sizes: &[i64],
    inputs: &[OperandLayout<'_>],
    first: usize,
    second: usize,
) -> std::cmp::Ordering {
    use std::cmp::Ordering::{Equal, Greater, Less};
    for OperandLayout { over, .. } in inputs {
        match (over[first], over[second]) {
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
    let (sizes, strides) = (tensor.sizes(), tensor.strides());
    if tensor.is_dense() {
        return Dims::from_slice(strides);
    }
    let order = sorted_dims(sizes, &[OperandLayout { sizes, strides, over: strides }]);
    dims::strides_in_order(sizes, order.into_iter())
}
