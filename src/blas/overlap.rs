//! Whether matrices in the same memory keep out of each other's way.

use super::layout::View;

/// Where an element's places lie: from a beginning, along lines of a size and a stride, in bytes.
struct Places {
    start: i128,
    /// From the smallest stride to the largest.
    lines: Vec<(i128, i128)>,
}

/// Whether no element of `a` shares a byte with one of `b`. Exact for what slicing one matrix makes;
/// other shapes that interleave count as overlapping.
pub(super) fn are_apart(a: (&View, usize), b: (&View, usize), element: usize) -> bool {
    let places = |(view, address): (&View, usize)| {
        let width = element as i128;
        let lines = view.lines().into_iter().filter(|(_, stride)| *stride > 0);
        let in_bytes = |(size, stride)| (i128::from(size), i128::from(stride) * width);
        Places { start: address as i128, lines: lines.map(in_bytes).collect() }
    };
    let (a, b) = (places(a), places(b));
    apart(b.start - a.start, &a.lines, &b.lines, element as i128)
}

fn extent(lines: &[(i128, i128)], width: i128) -> i128 {
    width + lines.iter().map(|(size, stride)| (size - 1) * stride).sum::<i128>()
}

/// The same for places that begin `distance` bytes from each other.
fn apart(distance: i128, a: &[(i128, i128)], b: &[(i128, i128)], width: i128) -> bool {
    if distance >= extent(a, width) || -distance >= extent(b, width) {
        return true;
    }
    let outermost = |lines: &[(i128, i128)]| lines.last().map_or(0, |(_, stride)| *stride);
    let pitch = outermost(a).max(outermost(b));
    if pitch == 0 {
        return false;
    }
    // What repeats with the largest stride is compared within one period of it.
    let within =
        |lines: &[(i128, i128)]| lines.iter().take_while(|(_, stride)| *stride < pitch).count();
    let (a, b) = (&a[..within(a)], &b[..within(b)]);
    if extent(a, width) > pitch || extent(b, width) > pitch {
        return false;
    }
    let distance = distance.rem_euclid(pitch);
    apart(distance, a, b, width) && apart(distance - pitch, a, b, width)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn view(sizes: [i64; 3], strides: [i64; 3]) -> View {
        View { sizes, strides }
    }

    /// Every byte that is used.
    fn bytes((view, address): (&View, usize), element: usize) -> std::collections::BTreeSet<usize> {
        let mut used = std::collections::BTreeSet::new();
        let [n0, n1, n2] = view.sizes;
        for (i, j, k) in
            (0..n0).flat_map(|i| (0..n1).flat_map(move |j| (0..n2).map(move |k| (i, j, k))))
        {
            let at = i * view.strides[0] + j * view.strides[1] + k * view.strides[2];
            used.extend((0..element).map(|byte| address + at as usize * element + byte));
        }
        used
    }

    #[test]
    fn slices_of_one_matrix_are_told_apart() {
        // Columns 0..3 and 3..8 of a matrix of 8 columns, then with one column in common.
        let (left, right) = (view([1, 5, 3], [0, 8, 1]), view([1, 5, 5], [0, 8, 1]));
        assert!(are_apart((&left, 400), (&right, 400 + 3 * 4), 4));
        assert!(!are_apart((&left, 400), (&right, 400 + 2 * 4), 4));
        // A single row in a gap.
        let row = view([1, 1, 5], [0, 0, 1]);
        assert!(are_apart((&left, 400), (&row, 400 + (8 + 3) * 4), 4));
        // Heads of a packed projection: [batch, head, row, column] with one head fixed each.
        let head = view([2, 3, 4], [3 * 24, 24, 1]);
        assert!(are_apart((&head, 0), (&head, 4 * 2), 2));
        assert!(!are_apart((&head, 0), (&head, 3 * 2), 2));
    }

    #[test]
    fn what_is_called_apart_shares_no_byte() {
        let mut seed = 7_u64;
        let mut random = |most: u64| {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            ((seed >> 33) % most) as i64
        };
        let (mut shared, mut apart, mut missed) = (0, 0, 0);
        for _ in 0..5000 {
            let mut any = || {
                let sizes = [1 + random(3), 1 + random(3), 1 + random(4)];
                let pitch = 1 + random(12);
                view(sizes, [pitch * (1 + random(3)), pitch, random(3)])
            };
            let (a, b) = (any(), any());
            let (at_a, at_b) = (random(40) as usize, random(40) as usize);
            let meet = !bytes((&a, at_a), 2).is_disjoint(&bytes((&b, at_b), 2));
            let found = are_apart((&a, at_a), (&b, at_b), 2);
            assert!(!(found && meet), "{a:?} at {at_a}, {b:?} at {at_b}");
            shared += usize::from(meet);
            apart += usize::from(found);
            missed += usize::from(!found && !meet);
        }
        assert!(shared > 1000 && apart > 500, "{shared} {apart} {missed}");
    }
}
