//! What the kernels of `kernels/scale.cu` are launched with.
//!
//! A launch multiplies real numbers in place by a factor. It holds any number of them: below 2^31
//! units the kernel divides by multiplication, above that in 64 bits. A unit is what a thread takes
//! at once: two numbers wherever they come in pairs, as those of complex ones do.

use sconce_base::element::Dtype;
use sconce_base::types::DevicePtr;
use sconce_driver::{Dim3, KernelArguments, LaunchShape};

use super::divisor::Divisor;
use super::signature::SCALE;

/// An axis of what is multiplied; the stride is in elements, real or complex.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ScaleAxis {
    /// Elements along the axis.
    pub size: u64,
    /// From one element to the next.
    pub stride: i64,
}

/// The most axes of a launch: a batch and three dimensions.
pub(crate) const SCALE_AXES: usize = 4;

/// A block's threads, and how many units each multiplies at once.
const THREADS: u32 = 256;
const EACH: u32 = 4;
/// How many numbers of a packed run make one access: four of F32.
const OF_ACCESS: u64 = 4;
/// The most blocks; kernels loop over what is beyond.
const MOST_BLOCKS: u64 = 1 << 20;
/// The number of units from which on indices need 64 bits.
const WIDE: u64 = 1 << 31;
/// Slots before the axes, and of an axis.
const BEFORE_AXES: usize = 5;
const OF_AXIS: usize = 3;

const _: () = assert!(SCALE.slots() == BEFORE_AXES + OF_AXIS * SCALE_AXES);
/// The name of the kernel for real numbers of a type; `None` for a type that no transform takes.
pub fn scale_kernel_name(element: Dtype) -> Option<&'static str> {
    match element {
        Dtype::F16 => Some("sconce_scale_f16"),
        Dtype::F32 => Some("sconce_scale_f32"),
        Dtype::F64 => Some("sconce_scale_f64"),
        _ => None,
    }
}

/// Grid and arguments of a launch that multiplies every element of up to `SCALE_AXES` axes, each
/// of 1 or 2 real numbers, by `factor`. Elements must not lie over each other; in which order the
/// axes are given makes no difference.
pub fn scale_launch(
    address: DevicePtr,
    reals_per_element: u32,
    axes: &[ScaleAxis],
    factor: f64,
) -> (LaunchShape, KernelArguments) {
    debug_assert!(axes.len() <= SCALE_AXES, "a launch has at most {SCALE_AXES} axes");
    let units = Units::of(reals_per_element, axes);
    let arguments = SCALE.pack().u64(address.0).f64(factor).u64(units.n);
    let mut arguments = arguments.u32(units.rank as u32).u32(units.reals);
    for axis in units.axes {
        let divides = (1..WIDE).contains(&units.n);
        let factor = if divides { Divisor::by(axis.size as u32).factor } else { 0 };
        for word in [axis.size, u64::from(factor), axis.stride as u64] {
            arguments.add(word);
        }
    }
    let of_thread = if units.rank == 0 { OF_ACCESS } else { 1 };
    let of_block = u64::from(THREADS * EACH) * of_thread;
    let grid = Dim3::line(units.n.div_ceil(of_block).clamp(1, MOST_BLOCKS) as u32);
    (LaunchShape { grid, block: Dim3::line(THREADS), shared_bytes: 0 }, arguments.finish())
}

/// The elements as the kernel takes them: axes of units, strides in units. No axis: one packed run
/// of `n` real numbers.
struct Units {
    n: u64,
    reals: u32,
    rank: usize,
    axes: [ScaleAxis; SCALE_AXES],
}

impl Units {
    fn of(reals_per_element: u32, given: &[ScaleAxis]) -> Units {
        let reals = i64::from(reals_per_element);
        // The numbers of an element are the innermost axis.
        let mut axes = [ScaleAxis { size: 1, stride: 1 }; SCALE_AXES + 1];
        axes[0].size = u64::from(reals_per_element);
        let mut rank = 1;
        for axis in given.iter().take(SCALE_AXES).filter(|axis| axis.size != 1) {
            axes[rank] = ScaleAxis { size: axis.size, stride: axis.stride.wrapping_mul(reals) };
            rank += 1;
        }
        axes[1..rank].sort_unstable_by_key(|axis| axis.stride.unsigned_abs());
        let mut last = 0;
        for index in 1..rank {
            let (axis, into) = (axes[index], &mut axes[last]);
            let reach = into.stride.wrapping_mul(into.size as i64);
            if into.size == 1 || axis.stride == reach {
                into.stride = if into.size == 1 { axis.stride } else { into.stride };
                into.size = into.size.saturating_mul(axis.size);
            } else {
                last += 1;
                axes[last] = axis;
            }
        }
        let n = axes[..=last].iter().fold(1, |n: u64, axis| n.saturating_mul(axis.size));
        let mut units = Units { n, reals: 1, rank: 0, axes: [axes[0]; SCALE_AXES] };
        if last == 0 && axes[0].stride == 1 {
            units.axes = [ScaleAxis { size: 1, stride: 0 }; SCALE_AXES];
            return units;
        }
        let in_pairs = axes[0].stride == 1
            && axes[0].size.is_multiple_of(2)
            && axes[1..=last].iter().all(|axis| axis.stride % 2 == 0);
        if in_pairs {
            (units.reals, units.n) = (2, n / 2);
            axes[0].size /= 2;
            axes[1..=last].iter_mut().for_each(|axis| axis.stride /= 2);
        }
        // A complex element alone is one unit: its axis goes, and four are left at most.
        let first = usize::from(axes[0].size == 1 && last > 0);
        units.rank = last + 1 - first;
        units.axes = [ScaleAxis { size: 1, stride: 0 }; SCALE_AXES];
        units.axes[..units.rank].copy_from_slice(&axes[first..=last]);
        units
    }
}

/// A launch as the kernel sees it, for a backend that runs it itself.
pub struct ScaleLaunch<'a> {
    pub factor: f64,
    /// How many units.
    pub n: u64,
    /// Real numbers of a unit.
    pub reals: u64,
    slots: &'a [u64],
}

impl<'a> ScaleLaunch<'a> {
    /// Reads the slots that [`scale_launch`] made.
    pub fn read(slots: &'a [u64]) -> Option<ScaleLaunch<'a>> {
        let &[_, factor, n, rank, reals, ..] = slots else { return None };
        let fits = slots.len() == SCALE.slots()
            && rank <= SCALE_AXES as u64
            && (reals == 2 || reals == 1)
            && (0..rank as usize).all(|axis| n == 0 || slots[BEFORE_AXES + OF_AXIS * axis] > 0);
        let factor = f64::from_bits(factor);
        fits.then_some(ScaleLaunch { factor, n, reals, slots })
    }

    fn axis(&self, index: usize) -> (u64, u64) {
        let at = BEFORE_AXES + OF_AXIS * index;
        (self.slots[at], self.slots[at + 2])
    }

    /// The axes of units, from the innermost to the outermost; strides in units.
    pub fn axes(&self) -> impl Iterator<Item = ScaleAxis> + Clone {
        let rank = self.slots[3] as usize;
        let packed = (rank == 0).then_some(ScaleAxis { size: self.n, stride: 1 });
        let strided = (0..rank).map(|index| {
            let (size, stride) = self.axis(index);
            ScaleAxis { size, stride: stride as i64 }
        });
        packed.into_iter().chain(strided)
    }

    /// How many units follow each other without gaps, from any multiple of that on.
    pub fn run(&self) -> u64 {
        match (self.slots[3], self.axis(0)) {
            (0, _) => self.n.max(1),
            (_, (size, 1)) => size,
            _ => 1,
        }
    }

    /// The place of a unit, with real numbers of `bytes` bytes.
    pub fn unit(&self, mut index: u64, bytes: u64) -> u64 {
        let (mut units, rank) = (0_u64, self.slots[3] as usize);
        for axis in 0..rank {
            let (size, stride) = self.axis(axis);
            let rest = if axis + 1 == rank { 0 } else { index / size };
            units = units.wrapping_add((index - rest * size).wrapping_mul(stride));
            index = rest;
        }
        let units = if rank == 0 { index } else { units };
        self.slots[0].wrapping_add(units.wrapping_mul(self.reals * bytes))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;

    const AT: u64 = 1 << 20;

    /// How often each real number is multiplied, by its place.
    fn reached(launch: &ScaleLaunch<'_>) -> BTreeMap<i64, u32> {
        let mut reached = BTreeMap::new();
        for index in 0..launch.n {
            let at = launch.unit(index, 4) as i64 - AT as i64;
            assert_eq!(at % 4, 0);
            for real in 0..launch.reals as i64 {
                *reached.entry(at / 4 + real).or_insert(0) += 1;
            }
        }
        reached
    }

    fn expected(reals: u32, axes: &[ScaleAxis]) -> BTreeMap<i64, u32> {
        let mut expected = BTreeMap::new();
        let total: u64 = axes.iter().map(|axis| axis.size).product();
        for index in 0..total {
            let (mut rest, mut at) = (index, 0);
            for axis in axes {
                at += (rest % axis.size) as i64 * axis.stride;
                rest /= axis.size;
            }
            for real in 0..i64::from(reals) {
                *expected.entry(at * i64::from(reals) + real).or_insert(0) += 1;
            }
        }
        expected
    }

    fn axis() -> impl Strategy<Value = (u64, i64, bool)> {
        (1_u64..6, 0_i64..4, any::<bool>())
    }

    proptest! {
        #[test]
        fn a_launch_reaches_each_number_once(
            reals in 1_u32..3,
            gaps in prop::collection::vec(axis(), 0..=SCALE_AXES),
            turn in 0_usize..4,
        ) {
            // Each axis begins beyond all of those before it.
            let mut reach = 1;
            let mut axes: Vec<ScaleAxis> = gaps.iter().map(|&(size, gap, back)| {
                let stride = reach + gap;
                reach = stride * size as i64;
                ScaleAxis { size, stride: if back { -stride } else { stride } }
            }).collect();
            let middle = turn.min(axes.len());
            axes.rotate_left(middle);
            let (shape, arguments) = scale_launch(DevicePtr(AT), reals, &axes, 0.5);
            prop_assert_eq!(shape.block, Dim3::line(THREADS));
            let launch = ScaleLaunch::read(arguments.slots()).unwrap();
            prop_assert_eq!(launch.factor, 0.5);
            let seen = reached(&launch);
            prop_assert_eq!(&seen, &expected(reals, &axes));
            prop_assert!(seen.values().all(|times| *times == 1));
        }
    }

    fn shape_of(reals: u32, axes: &[(u64, i64)]) -> (u64, u64, u64, u64, u32) {
        let axes: Vec<ScaleAxis> =
            axes.iter().map(|&(size, stride)| ScaleAxis { size, stride }).collect();
        let (shape, arguments) = scale_launch(DevicePtr(AT), reals, &axes, 1.0);
        let launch = ScaleLaunch::read(arguments.slots()).unwrap();
        (launch.n, launch.slots[3], launch.reals, launch.run(), shape.grid.x)
    }

    #[test]
    fn packed_axes_become_one_run() {
        assert_eq!(shape_of(1, &[]), (1, 0, 1, 1, 1));
        assert_eq!(shape_of(2, &[(8, 1), (4, 8), (3, 32), (5, 96)]), (960, 0, 1, 960, 1));
        // Interleaved transforms are packed too.
        assert_eq!(shape_of(2, &[(64, 10), (10, 1)]), (1280, 0, 1, 1280, 1));
        // A row with room behind it: pairs where both the row and the pitch are even.
        assert_eq!(shape_of(1, &[(8, 1), (4, 10)]), (16, 2, 2, 4, 1));
        assert_eq!(shape_of(1, &[(8, 1), (4, 11)]), (32, 2, 1, 8, 1));
        assert_eq!(shape_of(1, &[(7, 1), (4, 10)]), (28, 2, 1, 7, 1));
        // Complex numbers with room between them.
        assert_eq!(shape_of(2, &[(8, 3), (4, 24)]), (32, 1, 2, 1, 1));
        assert_eq!(shape_of(1, &[(0, 1), (4, 10)]).0, 0);
    }

    #[test]
    fn launches_of_any_size_have_a_grid_and_64_bits_where_they_need_them() {
        assert_eq!(shape_of(2, &[(1 << 40, 1)]), (1 << 41, 0, 1, 1 << 41, 1 << 20));
        assert_eq!(shape_of(1, &[(1 << 20, 1)]), (1 << 20, 0, 1, 1 << 20, 256));
        assert_eq!(shape_of(1, &[(1 << 20, 3)]), (1 << 20, 1, 1, 1, 1024));
        let (_, arguments) =
            scale_launch(DevicePtr(AT), 1, &[ScaleAxis { size: 1 << 32, stride: 3 }], 1.0);
        assert_eq!(arguments.slots()[BEFORE_AXES..][..3], [1 << 32, 0, 3]);
        let launch = ScaleLaunch::read(arguments.slots()).unwrap();
        assert_eq!(launch.unit((1 << 32) - 1, 8), AT + ((1 << 32) - 1) * 24);
    }

    #[test]
    fn slots_that_are_no_launch_are_refused() {
        let slots = |rank, reals| {
            let mut slots = [1; SCALE.slots()];
            (slots[3], slots[4]) = (rank, reals);
            slots
        };
        assert!(ScaleLaunch::read(&slots(4, 2)).is_some());
        assert!(ScaleLaunch::read(&slots(5, 2)).is_none());
        assert!(ScaleLaunch::read(&slots(4, 3)).is_none());
        assert!(ScaleLaunch::read(&slots(4, 2)[1..]).is_none());
        let mut empty = slots(1, 1);
        empty[BEFORE_AXES] = 0;
        assert!(ScaleLaunch::read(&empty).is_none());
    }
}
