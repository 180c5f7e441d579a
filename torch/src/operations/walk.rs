//! Loops over the elements of several tensors.

/// Calls `visit` for each element of `sizes`, the last dimension first, with its place in each of several tensors:
/// the sum of index times stride.
pub fn walk<const COUNT: usize>(
    sizes: &[i64],
    strides: [&[i64]; COUNT],
    mut visit: impl FnMut([i64; COUNT]),
) {
    let _ = try_walk(sizes, strides, |places| {
        visit(places);
        Ok::<(), std::convert::Infallible>(())
    });
}

/// As [`walk`]; the first failure ends it.
pub fn try_walk<const COUNT: usize, E>(
    sizes: &[i64],
    strides: [&[i64]; COUNT],
    mut visit: impl FnMut([i64; COUNT]) -> Result<(), E>,
) -> Result<(), E> {
    if sizes.contains(&0) {
        return Ok(());
    }
    let (outer, inner) = match sizes.split_last() {
        Some((inner, outer)) => (outer, *inner),
        None => (sizes, 1),
    };
    let step: [i64; COUNT] = strides.map(|strides| strides.get(outer.len()).copied().unwrap_or(0));
    let mut begin = [0_i64; COUNT];
    let mut index = vec![0_i64; outer.len()];
    loop {
        let mut places = begin;
        for _ in 0..inner {
            visit(places)?;
            for (place, step) in places.iter_mut().zip(step) {
                *place += step;
            }
        }
        // The next index of the outer dimensions, the last of them first.
        let mut at = outer.len();
        loop {
            if at == 0 {
                return Ok(());
            }
            at -= 1;
            index[at] += 1;
            for (place, strides) in begin.iter_mut().zip(strides) {
                *place += strides[at];
            }
            if index[at] < outer[at] {
                break;
            }
            index[at] = 0;
            for (place, strides) in begin.iter_mut().zip(strides) {
                *place -= strides[at] * outer[at];
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn places(sizes: &[i64], first: &[i64], second: &[i64]) -> Vec<[i64; 2]> {
        let mut seen = Vec::new();
        walk(sizes, [first, second], |places| seen.push(places));
        seen
    }

    #[test]
    fn all_elements_are_visited_in_order() {
        let transposed = places(&[2, 3], &[3, 1], &[1, 2]);
        assert_eq!(transposed, [[0, 0], [1, 2], [2, 4], [3, 1], [4, 3], [5, 5]]);
        assert_eq!(places(&[2, 2, 1], &[2, 1, 9], &[0, 0, 0]).len(), 4);
    }

    #[test]
    fn one_element_has_no_dimensions_and_an_empty_tensor_no_elements() {
        assert_eq!(places(&[], &[], &[]), [[0, 0]]);
        assert!(places(&[3, 0], &[1, 1], &[1, 1]).is_empty());
    }

    #[test]
    fn a_failure_ends_the_loop() {
        let mut count = 0;
        let result = try_walk(&[4], [&[1]], |[place]| {
            count += 1;
            if place == 2 { Err("two") } else { Ok(()) }
        });
        assert_eq!((result, count), (Err("two"), 3));
    }
}
