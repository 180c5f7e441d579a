//! Whether elements meet: those of a tensor that is written, and those of two tensors.

use crate::driver::ConvolutionTensor;

/// Where the elements of a tensor lie.
pub(super) struct Footprint<'a> {
    /// Of the first.
    pub(super) address: usize,
    pub(super) tensor: &'a ConvolutionTensor,
    /// Bytes of an element.
    pub(super) element: usize,
}

/// Size and stride of the dimensions along which there is more than one element.
pub(super) fn axes(tensor: &ConvolutionTensor) -> impl Iterator<Item = (i64, i64)> {
    tensor.sizes.into_iter().zip(tensor.strides).filter(|(size, _)| *size > 1)
}

/// The dimension whose stride is smaller than what is within it, if there is one. Strides are
/// positive, and reach no further than addresses do.
pub(super) fn within(tensor: &ConvolutionTensor) -> Option<usize> {
    let mut order = [0, 1, 2, 3, 4];
    order.sort_unstable_by_key(|axis| tensor.strides[*axis]);
    let mut span = 1;
    for axis in order.into_iter().filter(|axis| tensor.sizes[*axis] > 1) {
        if tensor.strides[axis] < span {
            return Some(axis);
        }
        span += (tensor.sizes[axis] - 1) * tensor.strides[axis];
    }
    None
}

impl Footprint<'_> {
    /// From the first byte to the last, along strides of less than `below` bytes.
    fn reach(&self, below: u128) -> u128 {
        self.lines()
            .filter(|(_, stride)| *stride < below)
            .map(|(size, stride)| (size - 1) * stride)
            .sum::<u128>()
            + self.element as u128
    }

    /// Sizes, and strides in bytes.
    fn lines(&self) -> impl Iterator<Item = (u128, u128)> {
        let element = self.element as u128;
        axes(self.tensor).map(move |(size, stride)| (size as u128, stride as u128 * element))
    }

    /// Whether the two have no byte in common. Tensors that interleave in a way that is not seen
    /// through count as if they had.
    pub(super) fn is_apart_from(&self, other: &Footprint<'_>) -> bool {
        let [begin, other_begin] = [self.address as u128, other.address as u128];
        let ends_before = begin + self.reach(u128::MAX) <= other_begin;
        ends_before || other_begin + other.reach(u128::MAX) <= begin || self.alternates_with(other)
    }

    /// Whether both come back with a common period, and lie apart within it, as slices of a larger
    /// tensor do.
    #[cold]
    fn alternates_with(&self, other: &Footprint<'_>) -> bool {
        let strides = || self.lines().chain(other.lines()).map(|(_, stride)| stride);
        strides().any(|least| {
            let period = strides().filter(|stride| *stride >= least).fold(0, greatest_divisor);
            let ahead = other.address as i128 - self.address as i128;
            let ahead = ahead.rem_euclid(period as i128) as u128;
            self.reach(least) <= ahead && ahead + other.reach(least) <= period
        })
    }
}

fn greatest_divisor(a: u128, b: u128) -> u128 {
    if b == 0 { a } else { greatest_divisor(b, a % b) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tensor(sizes: &[i64], strides: &[i64]) -> ConvolutionTensor {
        let mut tensor = ConvolutionTensor { sizes: [1; 5], strides: [1; 5], alignment: 4 };
        tensor.sizes[..sizes.len()].copy_from_slice(sizes);
        tensor.strides[..strides.len()].copy_from_slice(strides);
        tensor
    }

    /// Of each element.
    fn places(tensor: &ConvolutionTensor) -> Vec<i64> {
        let mut places = vec![0];
        for (size, stride) in axes(tensor) {
            places = places
                .iter()
                .flat_map(|place| (0..size).map(move |index| place + index * stride))
                .collect();
        }
        places
    }

    #[test]
    fn tensors_said_to_hold_each_element_once_do() {
        let mut apart = 0;
        for code in 0..6_i64.pow(4) {
            let at = |place: u32| code / 6_i64.pow(place) % 6 + 1;
            let tensor = tensor(&[at(0) % 4 + 1, at(1) % 3 + 1], &[at(2), at(3)]);
            let mut places = places(&tensor);
            let all = places.len();
            places.sort_unstable();
            places.dedup();
            if within(&tensor).is_none() {
                assert_eq!(places.len(), all, "{tensor:?}");
                apart += 1;
            }
        }
        assert!(apart > 300, "{apart}");
        assert_eq!(within(&tensor(&[2, 3], &[2, 1])), Some(0));
        assert_eq!(within(&tensor(&[2, 3], &[3, 1])), None);
        assert_eq!(within(&tensor(&[1, 3], &[0, 1])), None);
    }

    #[test]
    fn tensors_said_to_be_apart_have_no_byte_in_common() {
        let (mut said, mut missed) = (0, 0);
        for code in 0..7_i64.pow(4) {
            let at = |place: u32| code / 7_i64.pow(place) % 7 + 1;
            let [a, b] = [
                tensor(&[3, 2], &[at(0) + 3, at(1)]),
                tensor(&[2, 3], &[at(2) + at(0), at(1) % 3 + 1]),
            ];
            let ahead = at(3) - 3;
            let others: Vec<i64> = places(&b).iter().map(|place| place + ahead).collect();
            let meet = places(&a).iter().any(|place| others.contains(place));
            let footprint = |address: i64, tensor| Footprint {
                address: (1000 + 4 * address) as usize,
                tensor,
                element: 4,
            };
            let (first, second) = (footprint(0, &a), footprint(ahead, &b));
            for apart in [first.is_apart_from(&second), second.is_apart_from(&first)] {
                assert!(!(apart && meet), "{a:?} {b:?} {ahead}");
                said += usize::from(apart);
                missed += usize::from(!apart && !meet);
            }
        }
        assert!(said > 50, "{said}, {missed} missed");
    }

    #[test]
    fn slices_of_a_larger_tensor_are_seen_to_be_apart() {
        // 8 and 4 of 12 channels, channels last and first.
        for strides in [[12 * 35, 1, 12 * 7, 12], [12 * 35, 35, 7, 1]] {
            let first = tensor(&[2, 8, 5, 7], &strides);
            let second = tensor(&[2, 4, 5, 7], &strides);
            let at = |channel: i64| 512 + (2 * channel * strides[1]) as usize;
            let slice = |channel, tensor| Footprint { address: at(channel), tensor, element: 2 };
            assert!(slice(0, &first).is_apart_from(&slice(8, &second)));
            assert!(slice(4, &first).is_apart_from(&slice(0, &second)));
            assert!(!slice(0, &first).is_apart_from(&slice(7, &second)));
            assert!(!slice(0, &first).is_apart_from(&slice(0, &second)));
            assert!(!slice(3, &first).is_apart_from(&slice(0, &second)));
        }
    }
}
