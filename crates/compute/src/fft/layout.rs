//! The layout of a side as a library takes it (`FftLayout`), in one form for all equal sides; `None` if the
//! library cannot express it.
//!
//! A library knows a stride of the innermost dimension, by how many elements each dimension is
//! embedded in the next, and a distance of transforms. Strides of axes with one element are never
//! taken: they are chosen so that equal sides have equal layouts.

use sconce_driver::{FftLayout, MOST_FFT_RANK};

use super::shape::FftSide;

impl FftSide {
    /// The layout; `None` where strides do not divide each other, are not positive or interleave.
    /// Transforms of an input may overlap.
    pub(super) fn layout(&self, rank: usize) -> Option<FftLayout> {
        let sizes = &self.sizes[1..=rank];
        let mut chosen = [0; MOST_FFT_RANK];
        let strides = &mut chosen[..rank];
        strides.copy_from_slice(&self.strides[1..=rank]);
        let inner = rank - 1;
        if sizes[inner] == 1 {
            strides[inner] = 1;
        }
        // Within others as far apart as those, and around all others as if they were packed.
        let first = sizes.iter().position(|size| *size > 1).unwrap_or(inner);
        for axis in first + 1..inner {
            if sizes[axis] == 1 {
                strides[axis] = strides[axis - 1];
            }
        }
        for axis in (0..first).rev() {
            strides[axis] = strides[axis + 1].checked_mul(sizes[axis + 1])?;
        }
        let mut embed = [1; MOST_FFT_RANK];
        embed[0] = sizes[0];
        for axis in 1..rank {
            let (outer, stride) = (strides[axis - 1], strides[axis]);
            if stride <= 0 || outer % stride != 0 || outer / stride < sizes[axis] {
                return None;
            }
            embed[axis] = outer / stride;
        }
        let distance =
            if self.sizes[0] == 1 { strides[0].checked_mul(sizes[0])? } else { self.strides[0] };
        let stride = strides[inner];
        (stride > 0 && distance > 0).then_some(FftLayout { embed, stride, distance })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use sconce_base::element::Dtype;
    use sconce_driver::{FftDirection, FftKind};

    use super::super::shape::{AXES, FftSides};
    use super::super::{Normalization, Transform};
    use super::*;

    /// The input's side of complex transforms.
    fn side(sizes: &[i64], strides: &[i64], batch: i64, batch_stride: i64) -> FftSide {
        let padded = |values: &[i64]| {
            let mut all = [-7; MOST_FFT_RANK];
            all[..values.len()].copy_from_slice(values);
            all
        };
        let request = Transform {
            kind: FftKind::C2C,
            element: Dtype::F32,
            direction: FftDirection::Forward,
            normalization: Normalization::None,
            rank: sizes.len(),
            sizes: padded(sizes),
            batch,
            in_batch_stride: batch_stride,
            in_strides: padded(strides),
            out_batch_stride: 0,
            out_strides: [0; MOST_FFT_RANK],
            may_overwrite_input: false,
        };
        FftSides::of(&request).unwrap().unwrap().input
    }

    fn layout(sizes: &[i64], strides: &[i64], batch: i64, distance: i64) -> Option<FftLayout> {
        side(sizes, strides, batch, distance).layout(sizes.len())
    }

    fn told(embed: [i64; 3], stride: i64, distance: i64) -> Option<FftLayout> {
        Some(FftLayout { embed, stride, distance })
    }

    #[test]
    fn strides_become_embeddings() {
        assert_eq!(layout(&[8], &[0], 5, 0), told([8, 1, 1], 1, 8));
        assert_eq!(layout(&[4, 6, 8], &[0; 3], 2, 0), told([4, 6, 8], 1, 192));
        assert_eq!(layout(&[4, 6], &[20, 2], 2, 100), told([4, 10, 1], 2, 100));
        // Interleaved transforms, and those that overlap.
        assert_eq!(layout(&[8], &[5], 5, 1), told([8, 1, 1], 5, 1));
        assert_eq!(layout(&[8], &[1], 5, 3), told([8, 1, 1], 1, 3));
    }

    #[test]
    fn what_cannot_be_told_is_none() {
        for (sizes, strides, batch, distance) in [
            (&[4, 6][..], &[20, 3][..], 2, 100), // does not divide
            (&[4, 6], &[1, 4], 1, 0),            // the wrong way round
            (&[4, 6], &[5, 1], 1, 0),            // rows overlap
            (&[8], &[-1], 1, 0),
            (&[8], &[0], 2, 8),
            (&[8], &[1], 2, 0),
            (&[8], &[1], 2, -8),
        ] {
            assert_eq!(layout(sizes, strides, batch, distance), None, "{sizes:?} {strides:?}");
        }
    }

    #[test]
    fn strides_that_are_never_taken_make_no_difference() {
        for (sizes, strides, packed) in [
            (&[1, 1, 8][..], [99, -5, 1], [1, 1, 8]),
            (&[4, 1, 8], [8, 77, 1], [4, 1, 8]),
            (&[1, 6, 8], [0, 8, 1], [1, 6, 8]),
            (&[4, 6, 1], [6, 1, 0], [4, 6, 1]),
            (&[4, 1, 1], [1, 3, -9], [4, 1, 1]),
            (&[1, 1, 1], [5, 6, 7], [1, 1, 1]),
        ] {
            let n = sizes.iter().product();
            assert_eq!(layout(sizes, &strides, 1, -3), told(packed, 1, n), "{sizes:?}");
            assert_eq!(layout(sizes, &strides, 3, n), told(packed, 1, n), "{sizes:?}");
        }
    }

    proptest! {
        #[test]
        fn a_layout_places_each_element_where_the_strides_do(
            sizes in prop::collection::vec(1..5_i64, 1..=3),
            strides in prop::collection::vec(-3..40_i64, 3),
            batch in 1..4_i64,
            batch_stride in -3..60_i64,
        ) {
            let rank = sizes.len();
            let side = side(&sizes, &strides[..rank], batch, batch_stride);
            if let Some(layout) = side.layout(rank) {
                let FftLayout { embed, stride, distance } = layout;
                prop_assert!(embed.iter().zip(&sizes).all(|(embed, size)| embed >= size));
                let mut padded = [1; AXES];
                padded[0] = batch;
                padded[1..=rank].copy_from_slice(&sizes);
                for b in 0..padded[0] {
                    for i in 0..padded[1] {
                        for j in 0..padded[2] {
                            for k in 0..padded[3] {
                                let index = [b, i, j, k];
                                let given: i64 =
                                    index.iter().zip(side.strides).map(|(at, stride)| at * stride).sum();
                                let told =
                                    b * distance + ((i * embed[1] + j) * embed[2] + k) * stride;
                                prop_assert_eq!(given, told);
                            }
                        }
                    }
                }
            }
        }
    }
}
