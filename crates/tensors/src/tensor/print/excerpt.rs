//! The elements of a tensor that are printed.

use sconce_base::error::Result;
use sconce_math::arithmetic::AnyNumber;
use smallvec::SmallVec;

use crate::tensor::transfer::{copy_into, elements};
use crate::tensor::views::narrow;
use crate::tensor::{Dims, Place, Tensor, TensorOptions};

/// A tensor of more elements is cut.
const MOST_ELEMENTS: i64 = 1000;
/// How many indices of a cut dimension stay at each end.
pub(super) const EDGE: i64 = 3;

/// Elements in row-major order, and their shape.
pub(super) struct Excerpt {
    pub(super) sizes: Dims,
    /// Whether indices between the first and the last of a dimension are left out.
    pub(super) is_cut: SmallVec<[bool; 8]>,
    pub(super) numbers: Vec<AnyNumber>,
}

impl Excerpt {
    /// What is printed of a tensor: all of it, or of a large one the edges of each long dimension.
    pub(super) fn of(tensor: &Tensor) -> Result<Excerpt> {
        let cuts = |size: &i64| tensor.numel() > MOST_ELEMENTS && *size > 2 * EDGE;
        let is_cut: SmallVec<[bool; 8]> = tensor.sizes().iter().map(cuts).collect();
        let kept = |(size, cut): (&i64, &bool)| if *cut { 2 * EDGE } else { *size };
        let sizes: Dims = tensor.sizes().iter().zip(&is_cut).map(kept).collect();
        let numbers = if is_cut.contains(&true) {
            let options = TensorOptions { dtype: tensor.dtype(), place: Place::Cpu, pinned: false };
            let kept = options.empty(&sizes)?;
            let cut_dims: SmallVec<[usize; 8]> =
                (0..sizes.len()).filter(|dim| is_cut[*dim]).collect();
            copy_edges(&kept, tensor, &cut_dims)?;
            elements(&kept)?
        } else {
            elements(tensor)?
        };
        Ok(Excerpt { sizes, is_cut, numbers })
    }
}

/// Copies both ends of each cut dimension: a copy for each corner.
fn copy_edges(kept: &Tensor, tensor: &Tensor, cut_dims: &[usize]) -> Result<()> {
    let Some((dim, rest)) = cut_dims.split_first() else {
        return copy_into(kept, tensor, false);
    };
    let (at, last) = (*dim as i64, tensor.sizes()[*dim] - EDGE);
    for (from, to) in [(0, 0), (last, EDGE)] {
        copy_edges(&narrow(kept, at, to, EDGE)?, &narrow(tensor, at, from, EDGE)?, rest)?;
    }
    Ok(())
}
