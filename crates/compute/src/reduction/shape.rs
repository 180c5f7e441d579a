//! The axes of a reduction as kernels take them: from the innermost to the outermost, joined where two are
//! walked as one.

use sconce_kernels::{ReduceAxes, ReduceAxis};
use sconce_math::folding::{ReduceCall, ReduceOp};

/// The most elements of a short row, and of few of them together.
const LONGEST_SHORT_ROW: u64 = 4096;
const MOST_OF_SHORT_ROWS: u64 = 1 << 17;

/// The axes of a reduction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ReduceShape {
    pub(super) kept: ReduceAxes,
    pub(super) reduced: ReduceAxes,
    /// How many elements a result has.
    pub(super) count: u64,
}

impl ReduceShape {
    /// The axes of a call; none if there are no results.
    pub(super) fn of(call: &ReduceCall<'_>) -> Option<ReduceShape> {
        if call.kept.iter().any(|axis| axis.size <= 0) {
            return None;
        }
        let kept = call.kept.iter().map(|axis| ReduceAxis {
            size: axis.size as u64,
            stride: axis.input_stride,
            other: axis.output_stride,
        });
        let mut weight = 1_i64;
        let reduced = call.reduced.iter().rev().map(|axis| {
            let size = axis.size.max(0);
            let joined = ReduceAxis { size: size as u64, stride: axis.input_stride, other: weight };
            weight = weight.wrapping_mul(size);
            joined
        });
        let (kept, reduced): (ReduceAxes, ReduceAxes) = (kept.collect(), reduced.collect());
        let count = reduced.iter().map(|axis| axis.size).product();
        if count == 0 {
            let nothing = ReduceAxis { size: 0, stride: 0, other: 0 };
            return Some(ReduceShape {
                kept: joined(kept, true),
                reduced: [nothing].into_iter().collect(),
                count,
            });
        }
        Some(ReduceShape {
            kept: joined(kept, true),
            reduced: joined(reduced, is_ordered(call.op)),
            count,
        })
    }

    /// Whether the elements of each result lie side by side, and both results and elements are so few that a launch
    /// takes as long as its instructions.
    pub(super) fn is_few_short_rows(&self) -> bool {
        let results: u64 = self.kept.iter().map(|axis| axis.size).product();
        matches!(&self.reduced[..], [axis] if axis.stride == 1)
            && self.count <= LONGEST_SHORT_ROW
            && results.saturating_mul(self.count) <= MOST_OF_SHORT_ROWS
    }

    /// Whether the numbers of the elements in row-major order are their indices.
    pub(super) fn is_in_order(&self) -> bool {
        let mut weight = 1_i64;
        self.reduced.iter().all(|axis| {
            let fits = axis.other == weight;
            weight = weight.wrapping_mul(axis.size as i64);
            fits
        })
    }
}

/// Whether the order of the elements makes a difference.
fn is_ordered(op: ReduceOp) -> bool {
    op.is_index()
}

/// The axes in the order of their strides; those that repeat an element are the outermost. `both` says
/// whether the other strides must fit too where two become one.
fn joined(mut axes: ReduceAxes, both: bool) -> ReduceAxes {
    if axes.len() < 2 && axes.iter().all(|axis| axis.size != 1) {
        return axes;
    }
    axes.retain(|axis| axis.size != 1);
    axes.sort_by_key(|axis| (axis.stride == 0, axis.stride.unsigned_abs()));
    let mut joined = ReduceAxes::new();
    for axis in axes {
        let follows = |inner: &ReduceAxis| {
            let reach = |stride: i64| stride.wrapping_mul(inner.size as i64);
            axis.stride == reach(inner.stride) && (!both || axis.other == reach(inner.other))
        };
        match joined.last_mut() {
            Some(inner) if follows(inner) => inner.size *= axis.size,
            _ => joined.push(axis),
        }
    }
    joined
}

#[cfg(test)]
mod tests {
    use sconce_base::element::Dtype;
    use sconce_math::folding::{ElementOperand, KeptAxis, ReducedAxis};

    use super::*;

    fn shape(op: ReduceOp, kept: &[(i64, i64, i64)], reduced: &[(i64, i64)]) -> ReduceShape {
        let operand = ElementOperand { address: 0, dtype: Dtype::F32 };
        let kept: Vec<KeptAxis> = kept
            .iter()
            .map(|&(size, input_stride, output_stride)| KeptAxis {
                size,
                input_stride,
                output_stride,
            })
            .collect();
        let reduced: Vec<ReducedAxis> = reduced
            .iter()
            .map(|&(size, input_stride)| ReducedAxis { size, input_stride })
            .collect();
        let (kept, reduced) = (&kept[..], &reduced[..]);
        let call =
            ReduceCall { op, input: operand, compute: Dtype::F32, output: operand, kept, reduced };
        ReduceShape::of(&call).unwrap()
    }

    fn of(axes: &[(u64, i64, i64)]) -> ReduceAxes {
        axes.iter().map(|&(size, stride, other)| ReduceAxis { size, stride, other }).collect()
    }

    #[test]
    fn axes_without_gaps_become_one() {
        let all = shape(ReduceOp::Sum, &[], &[(4, 30), (5, 6), (6, 1)]);
        assert_eq!((all.reduced, all.count), (of(&[(120, 1, 1)]), 120));
        let channels = shape(ReduceOp::Sum, &[(5, 6, 1)], &[(4, 30), (6, 1)]);
        assert_eq!(
            (channels.kept, channels.reduced),
            (of(&[(5, 6, 1)]), of(&[(6, 1, 1), (4, 30, 6)]))
        );
        let kept = shape(ReduceOp::Sum, &[(4, 30, 5), (5, 6, 1)], &[(6, 1)]);
        assert_eq!(kept.kept, of(&[(20, 6, 1)]));
        // Results with gaps stay apart, and repeated elements come last.
        let apart = shape(ReduceOp::Sum, &[(4, 30, 7), (5, 6, 1)], &[(3, 0), (6, 1)]);
        assert_eq!(
            (apart.kept, apart.reduced),
            (of(&[(5, 6, 1), (4, 30, 7)]), of(&[(6, 1, 1), (3, 0, 6)]))
        );
    }

    #[test]
    fn indices_keep_their_order() {
        // A transposed matrix: a sum walks it as it lies, an index may not.
        let sum = shape(ReduceOp::Sum, &[], &[(4, 1), (5, 4)]);
        assert_eq!(sum.reduced.len(), 1);
        let index = shape(ReduceOp::Argmax, &[], &[(4, 1), (5, 4)]);
        assert_eq!(index.reduced, of(&[(4, 1, 5), (5, 4, 1)]));
        assert!(!index.is_in_order());
        assert!(shape(ReduceOp::Argmax, &[], &[(5, 4), (4, 1)]).is_in_order());
        assert!(shape(ReduceOp::Argmax, &[], &[(5, 9), (4, 1)]).is_in_order());
    }
}
