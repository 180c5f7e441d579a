//! Other sizes over the same elements.

use sconce_base::error::{Error, Result};

use crate::tensor::dims::{self, wrap_dim};
use crate::tensor::{Dims, Tensor, TensorLayout};

/// The sizes that a caller means, of which one may be -1, for so many elements.
pub(crate) fn infer_sizes(wanted: &[i64], numel: i64) -> Result<Dims> {
    let (mut known, mut open) = (1_i64, None);
    for (dim, size) in wanted.iter().enumerate() {
        match *size {
            -1 if open.is_some() => {
                return Err(Error::invalid_argument("only one dimension can be inferred"));
            }
            -1 => open = Some(dim),
            size if size >= 0 => known = known.checked_mul(size).unwrap_or(i64::MAX),
            size => {
                return Err(Error::invalid_argument(format!("invalid shape dimension {size}")));
            }
        }
    }
    let mut sizes = Dims::from_slice(wanted);
    if known == numel && open.is_none() {
        return Ok(sizes);
    }
    match open {
        Some(_) if known == 0 && numel == 0 => Err(Error::invalid_argument(format!(
            "cannot reshape tensor of 0 elements into shape {wanted:?} because the unspecified dimension \
             size -1 can be any value and is ambiguous"
        ))),
        Some(dim) if known > 0 && numel % known == 0 => {
            sizes[dim] = numel / known;
            Ok(sizes)
        }
        _ => Err(Error::invalid_argument(format!(
            "shape '{wanted:?}' is invalid for input of size {numel}"
        ))),
    }
}

/// Strides with which the elements of a tensor have other sizes, with as many elements; `None` if no
/// strides do.
pub(crate) fn view_strides(sizes: &[i64], strides: &[i64], wanted: &[i64]) -> Option<Dims> {
    if sizes.contains(&0) && sizes == wanted {
        return Some(Dims::from_slice(strides));
    }
    if sizes.contains(&0) || sizes.is_empty() {
        return Some(if sizes.is_empty() {
            Dims::from_elem(1, wanted.len())
        } else {
            dims::contiguous_strides(wanted)
        });
    }
    let mut new = Dims::from_elem(0, wanted.len());
    let mut at = wanted.len();
    // Dimensions of the tensor from the last on are joined while they lie evenly; each run must be made of
    // whole dimensions of the new shape.
    let (mut run_stride, mut run, mut covered) = (strides[strides.len() - 1], 1_i64, 1_i64);
    for dim in (0..sizes.len()).rev() {
        run *= sizes[dim];
        let ends =
            dim == 0 || (sizes[dim - 1] != 1 && strides[dim - 1] != run.wrapping_mul(run_stride));
        if !ends {
            continue;
        }
        while at > 0 && (covered < run || wanted[at - 1] == 1) {
            at -= 1;
            new[at] = covered.wrapping_mul(run_stride);
            covered *= wanted[at];
        }
        if covered != run {
            return None;
        }
        if dim > 0 {
            (run_stride, run, covered) = (strides[dim - 1], 1, 1);
        }
    }
    (at == 0).then_some(new)
}

/// Other sizes without a copy; of the sizes one may be -1.
pub fn view(tensor: &Tensor, wanted: &[i64]) -> Result<Tensor> {
    tensor.viewed(|view| view_in_place(view, wanted))
}

/// As [`view`], of a layout.
#[inline]
pub fn view_in_place(layout: &mut TensorLayout, wanted: &[i64]) -> Result<()> {
    if is_plain(layout, wanted) {
        // One short loop; a copy of a slice calls a function.
        let (sizes, strides) = layout.resize(wanted.len());
        let mut next = 1_i64;
        for ((size, stride), wanted) in sizes.iter_mut().zip(strides).zip(wanted).rev() {
            (*size, *stride) = (*wanted, next);
            next = next.wrapping_mul(*wanted);
        }
        return Ok(());
    }
    let sizes = infer_sizes(wanted, layout.numel)?;
    let strides = view_strides(layout.sizes(), layout.strides(), &sizes).ok_or_else(no_view)?;
    layout.set(&sizes, &strides);
    Ok(())
}

/// Whether elements lie one after another, with the strides of a new tensor, and the wanted sizes have as many: what
/// [`infer_sizes`] and [`view_strides`] find then needs no search.
#[inline]
fn is_plain(layout: &TensorLayout, wanted: &[i64]) -> bool {
    let mut next = 1_i64;
    for (size, stride) in layout.sizes().iter().zip(layout.strides()).rev() {
        if *stride != next || *size <= 0 {
            return false;
        }
        next = next.wrapping_mul(*size);
    }
    let mut all = 1_i64;
    for size in wanted {
        match all.checked_mul(*size) {
            Some(more) if *size > 0 => all = more,
            _ => return false,
        }
    }
    all == layout.numel
}

#[cold]
#[inline(never)]
fn no_view() -> Error {
    Error::invalid_argument(
        "view size is not compatible with input tensor's size and stride (at least one dimension spans \
         across two contiguous subspaces). Use .reshape(...) instead.",
    )
}

/// The sizes after the dimensions `start` to `end` are joined; `None` if nothing changes.
pub fn flatten(tensor: &Tensor, start: i64, end: i64) -> Result<Option<Dims>> {
    let (start, end) = (wrap_dim(start, tensor.rank())?, wrap_dim(end, tensor.rank())?);
    if start > end {
        return Err(Error::invalid_argument(
            "flatten() has invalid args: start_dim cannot come after end_dim",
        ));
    }
    if tensor.rank() == 0 {
        return Ok(Some(Dims::from_slice(&[1])));
    }
    if start == end {
        return Ok(None);
    }
    let mut sizes = Dims::from_slice(&tensor.sizes()[..start]);
    sizes.push(dims::numel(&tensor.sizes()[start..=end]));
    sizes.extend_from_slice(&tensor.sizes()[end + 1..]);
    Ok(Some(sizes))
}

/// One dimension of a layout replaced by several, of which one may be -1.
pub fn unflatten_in_place(layout: &mut TensorLayout, dim: i64, into: &[i64]) -> Result<()> {
    let at = wrap_dim(dim, layout.rank())?;
    if into.is_empty() {
        return Err(Error::invalid_argument("unflatten: sizes must be non-empty"));
    }
    if layout.rank() == 0 {
        return Err(Error::invalid_argument(
            "unflatten: a tensor without dimensions has none to replace",
        ));
    }
    let size = layout.sizes()[at];
    let parts = infer_sizes(into, size).map_err(|_| {
        Error::invalid_argument(format!(
            "unflatten: Provided sizes {into:?} don't multiply up to the size of dim {at} ({size}) in the \
             input tensor"
        ))
    })?;
    let mut sizes = Dims::from_slice(&layout.sizes()[..at]);
    sizes.extend_from_slice(&parts);
    sizes.extend_from_slice(&layout.sizes()[at + 1..]);
    view_in_place(layout, &sizes)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every shape that few factors make, with dimensions of one element anywhere.
    #[test]
    fn plain_views_are_what_the_search_finds() {
        let shapes: [&[i64]; 12] = [
            &[],
            &[1],
            &[12],
            &[3, 4],
            &[1, 12],
            &[12, 1],
            &[2, 1, 6],
            &[2, 3, 2],
            &[1, 1],
            &[1, 2, 1, 6, 1],
            &[0, 3],
            &[i64::MAX, 2],
        ];
        let mut plain = 0;
        for sizes in shapes.iter().filter(|sizes| dims::count(sizes).is_ok()) {
            for strides in [dims::contiguous_strides(sizes), Dims::from_elem(1, sizes.len())] {
                for wanted in shapes {
                    let mut view = TensorLayout::new(sizes, &strides, 5);
                    let is_plain = is_plain(&view, wanted);
                    plain += usize::from(is_plain);
                    let found = infer_sizes(wanted, view.numel).ok().and_then(|inferred| {
                        let strides = view_strides(sizes, &strides, &inferred)?;
                        Some((inferred, strides))
                    });
                    match (view_in_place(&mut view, wanted), found) {
                        (Ok(()), Some((inferred, strides))) => {
                            assert_eq!(
                                (view.sizes(), view.strides()),
                                (&inferred[..], &strides[..])
                            );
                            assert_eq!(view.offset, 5);
                        }
                        (refused, found) => {
                            assert!(refused.is_err() && found.is_none() && !is_plain);
                        }
                    }
                }
            }
        }
        assert!(plain > 50, "{plain} views were plain");
    }
}
