//! Which tensors travel together: pure arithmetic.

use sconce_base::element::Dtype;

/// When a bucket is full.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fullness {
    /// Once it holds as many bytes as the limit (torch's C++ rule).
    Reached,
    /// When the next tensor would exceed the limit (torch's Python rule). A larger tensor is alone.
    WouldExceed,
}

/// Indices of tensors of one type that travel together, in the order in which the buckets are closed.
pub(super) fn buckets(
    tensors: impl Iterator<Item = (Dtype, usize)>,
    limit: usize,
    fullness: Fullness,
) -> Vec<Vec<usize>> {
    let mut open: Vec<(Dtype, Vec<usize>, usize)> = Vec::new();
    let mut closed = Vec::new();
    for (index, (dtype, bytes)) in tensors.enumerate() {
        let at = open.iter().position(|(of, ..)| *of == dtype).unwrap_or_else(|| {
            open.push((dtype, Vec::new(), 0));
            open.len() - 1
        });
        let (_, indices, sum) = &mut open[at];
        if fullness == Fullness::WouldExceed && *sum > 0 && *sum + bytes > limit {
            closed.push(std::mem::take(indices));
            *sum = 0;
        }
        indices.push(index);
        *sum += bytes;
        if fullness == Fullness::Reached && *sum >= limit {
            closed.push(std::mem::take(indices));
            *sum = 0;
        }
    }
    closed.extend(open.into_iter().map(|(_, indices, _)| indices).filter(|rest| !rest.is_empty()));
    closed
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(sizes: &[usize], fullness: Fullness) -> Vec<Vec<usize>> {
        buckets(sizes.iter().map(|bytes| (Dtype::F32, *bytes)), 10, fullness)
    }

    #[test]
    fn a_bucket_closes_when_the_limit_is_reached() {
        let of = |sizes: &[usize]| of(sizes, Fullness::Reached);
        assert_eq!(of(&[4, 4, 4, 4]), [vec![0, 1, 2], vec![3]]);
        assert_eq!(of(&[10, 3]), [vec![0], vec![1]]);
        assert_eq!(of(&[3, 50, 0]), [vec![0, 1], vec![2]]);
    }

    #[test]
    fn a_bucket_closes_before_the_limit_is_exceeded() {
        let of = |sizes: &[usize]| of(sizes, Fullness::WouldExceed);
        assert_eq!(of(&[4, 4, 4, 4]), [vec![0, 1], vec![2, 3]]);
        assert_eq!(of(&[10, 3]), [vec![0], vec![1]]);
        assert_eq!(of(&[3, 50, 0]), [vec![0], vec![1], vec![2]]);
        assert_eq!(of(&[0, 50]), [vec![0, 1]]);
    }

    #[test]
    fn types_do_not_mix() {
        let tensors = [(Dtype::F32, 4), (Dtype::I64, 8), (Dtype::F32, 4), (Dtype::I64, 8)];
        let found = buckets(tensors.into_iter(), 10, Fullness::Reached);
        assert_eq!(found, [vec![1, 3], vec![0, 2]]);
    }
}
