//! Axes cut into parts that a launch can hold.

use super::axes::{SharedAxes, SharedAxis};
use crate::error::Result;

/// What a launch can hold.
#[derive(Clone, Copy, Debug)]
pub struct LaunchLimit {
    pub axes: usize,
    /// Elements of the axes together, at least 1.
    pub elements: u64,
}

/// Launches one part, from where it begins in each operand.
type LaunchPart<'a, const N: usize> = dyn FnMut([i64; N], &[SharedAxis<N>]) -> Result<()> + 'a;

/// Cuts along the outermost axes until a launch can hold the rest. Axes go from the innermost to the
/// outermost, and none is empty.
pub fn each_part<const N: usize>(
    axes: &[SharedAxis<N>],
    limit: LaunchLimit,
    launch: &mut LaunchPart<'_, N>,
) -> Result<()> {
    cut(axes, [0; N], limit, launch)
}

fn cut<const N: usize>(
    axes: &[SharedAxis<N>],
    start: [i64; N],
    limit: LaunchLimit,
    launch: &mut LaunchPart<'_, N>,
) -> Result<()> {
    let elements = axes.iter().fold(1_u64, |all, axis| all.saturating_mul(axis.size));
    let fits = axes.len() <= limit.axes && elements <= limit.elements;
    let Some((outermost, rest)) = axes.split_last().filter(|_| !fits) else {
        return launch(start, axes);
    };
    let inner = rest.iter().fold(1_u64, |all, axis| all.saturating_mul(axis.size));
    // With too many axes this one has to go, whatever its size.
    let each = if axes.len() > limit.axes { 1 } else { (limit.elements / inner).max(1) };
    let mut done = 0;
    while done < outermost.size {
        let size = each.min(outermost.size - done);
        let mut part = SharedAxes::<N>::from_slice(rest);
        if size > 1 {
            part.push(SharedAxis { size, ..*outermost });
        }
        let mut at = start;
        for (at, stride) in at.iter_mut().zip(outermost.strides) {
            *at = at.wrapping_add((done as i64).wrapping_mul(stride));
        }
        cut(&part, at, limit, launch)?;
        done += size;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::strided::each_place;

    #[test]
    fn parts_fit_and_hold_each_element_once_in_order() {
        let axis = |size, stride| SharedAxis { size, strides: [stride, -stride] };
        let axes = [axis(3, 1), axis(5, 3), axis(2, 15), axis(4, 30)];
        for (most_axes, elements) in [(4, 1000), (4, 7), (3, 1000), (1, 2), (0, 9), (2, 1), (3, 30)]
        {
            let mut places = Vec::new();
            let limit = LaunchLimit { axes: most_axes, elements };
            each_part(&axes, limit, &mut |start, axes| {
                assert!(axes.len() <= most_axes, "{limit:?}");
                let here: u64 = axes.iter().map(|axis| axis.size).product();
                assert!(here <= elements, "{limit:?}");
                each_place(axes, start, |place| {
                    assert_eq!(place[0], -place[1]);
                    places.push(place[0]);
                    Ok(())
                })
            })
            .unwrap();
            assert_eq!(places, (0..120).collect::<Vec<i64>>(), "{limit:?}");
        }
    }

    #[test]
    fn axes_beyond_32_bits_are_cut() {
        let axes = [SharedAxis { size: 1 << 33, strides: [4] }];
        let mut parts = Vec::new();
        each_part(&axes, LaunchLimit { axes: 3, elements: (1 << 31) - 1 }, &mut |start, axes| {
            parts.push((start[0], axes.iter().map(|axis| axis.size).product::<u64>()));
            Ok(())
        })
        .unwrap();
        assert_eq!(parts.len(), 5);
        assert_eq!(parts.iter().map(|part| part.1).sum::<u64>(), 1 << 33);
        assert!(parts.windows(2).all(|two| two[0].0 + 4 * two[0].1 as i64 == two[1].0));
    }
}
