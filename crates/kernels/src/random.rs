//! What the kernels of `kernels/random*.cu` are launched with.

use sconce_base::types::DevicePtr;
use sconce_driver::KernelArguments;
use sconce_math::philox::{Distribution, Fill};

use super::signature::{RANDOM_FILL, RANDOM_PERMUTE, RANDOM_TAKE};

/// The kernel that takes a piece of a captured generator's sequence.
pub const TAKE_KERNEL: &str = RANDOM_TAKE.family;

/// The name of the kernel of a fill: the distribution, the type, and whether an integer draw is wide.
pub fn fill_kernel_name(fill: &Fill) -> String {
    let integers = matches!(fill.distribution, Distribution::Integers | Distribution::FullRange);
    let suffix = if integers && fill.is_wide() { "_wide" } else { "" };
    let (distribution, dtype) = (fill.distribution.name(), fill.dtype.suffix());
    format!("sconce_random_{distribution}_{dtype}{suffix}")
}

/// A launch that fills `n` elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FillLaunch {
    /// The first element.
    pub address: DevicePtr,
    /// How many elements.
    pub n: u64,
    /// The generator's seed.
    pub seed: u64,
    /// The first counter of the launch in the generator's sequence.
    pub offset: u64,
    /// How many threads torch's kernel would have.
    pub threads: u64,
    /// The first parameter of the distribution, as in [`Fill`].
    pub first: u64,
    /// The second parameter of the distribution.
    pub second: u64,
    /// Where a captured generator's seed and offset lie, to which `offset` is added; 0 outside of
    /// captures.
    pub state: DevicePtr,
}

impl FillLaunch {
    /// The arguments of the launch.
    pub fn arguments(&self) -> KernelArguments {
        let arguments = RANDOM_FILL.pack().u64(self.address.0).u64(self.n).u64(self.seed);
        let arguments = arguments.u64(self.offset).u64(self.threads);
        arguments.word(self.first).word(self.second).u64(self.state.0).finish()
    }

    /// Reads the slots that [`FillLaunch::arguments`] made.
    pub fn read(slots: &[u64]) -> Option<FillLaunch> {
        let &[address, n, seed, offset, threads, first, second, state] = slots else { return None };
        let (address, state) = (DevicePtr(address), DevicePtr(state));
        let launch = FillLaunch { address, n, seed, offset, threads, first, second, state };
        (threads > 0).then_some(launch)
    }
}

/// A launch that takes a piece of a captured generator's sequence, and writes seed and offset.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TakeLaunch {
    /// What the graph has changed and taken so far.
    pub record: DevicePtr,
    /// How much is taken.
    pub increment: u64,
    /// Where seed and offset go.
    pub slot: DevicePtr,
    /// The seed at the beginning of the capture.
    pub seed: u64,
    /// The offset at the beginning of the capture.
    pub offset: u64,
}

impl TakeLaunch {
    /// The arguments of the launch.
    pub fn arguments(&self) -> KernelArguments {
        let arguments = RANDOM_TAKE.pack().u64(self.record.0).u64(self.increment);
        arguments.u64(self.slot.0).u64(self.seed).u64(self.offset).finish()
    }

    /// Reads the slots that [`TakeLaunch::arguments`] made.
    pub fn read(slots: &[u64]) -> Option<TakeLaunch> {
        let &[record, increment, slot, seed, offset] = slots else { return None };
        let (record, slot) = (DevicePtr(record), DevicePtr(slot));
        Some(TakeLaunch { record, increment, slot, seed, offset })
    }
}

/// The kernel that gives equal keys a random order.
pub const PERMUTE_KERNEL: &str = RANDOM_PERMUTE.family;

/// A launch that gives neighbours of equal keys a random order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PermuteLaunch {
    /// Sorted keys.
    pub keys: DevicePtr,
    /// The numbers of 8 bytes that belong to them.
    pub values: DevicePtr,
    /// How many there are.
    pub n: u64,
    /// Whether keys have 8 bytes; else 4.
    pub is_wide: bool,
    /// The generator's seed.
    pub seed: u64,
    /// The first counter of the launch in the generator's sequence.
    pub offset: u64,
    /// Where a captured generator's seed and offset lie, to which `offset` is added; 0 outside of
    /// captures.
    pub state: DevicePtr,
}

impl PermuteLaunch {
    /// The arguments of the launch.
    pub fn arguments(&self) -> KernelArguments {
        let arguments = RANDOM_PERMUTE.pack().u64(self.keys.0).u64(self.values.0).u64(self.n);
        let arguments = arguments.u64(u64::from(self.is_wide)).u64(self.seed).u64(self.offset);
        arguments.u64(self.state.0).finish()
    }

    /// Reads the slots that [`PermuteLaunch::arguments`] made.
    pub fn read(slots: &[u64]) -> Option<PermuteLaunch> {
        let &[keys, values, n, wide, seed, offset, state] = slots else { return None };
        let (keys, values, state) = (DevicePtr(keys), DevicePtr(values), DevicePtr(state));
        Some(PermuteLaunch { keys, values, n, is_wide: wide != 0, seed, offset, state })
    }
}

#[cfg(test)]
mod tests {
    use sconce_base::element::Dtype;

    use super::*;

    #[test]
    fn names_tell_distribution_type_and_width() {
        let name = |fill: Fill| fill_kernel_name(&fill);
        assert_eq!(name(Fill::integers(Dtype::I32, 1 << 28, 0)), "sconce_random_integers_i32_wide");
        let narrow = Fill::integers(Dtype::I64, (1 << 28) - 1, 0);
        assert_eq!(name(narrow), "sconce_random_integers_i64");
        assert_eq!(name(Fill::full_range(Dtype::I64)), "sconce_random_full_range_i64_wide");
        assert_eq!(name(Fill::full_range(Dtype::U8)), "sconce_random_full_range_u8");
        let uniform = Fill::real(Distribution::Uniform, Dtype::F64, 0.0, 1.0);
        assert_eq!(name(uniform), "sconce_random_uniform_f64");
    }

    #[test]
    fn launches_are_read_as_they_were_packed() {
        let (address, state) = (DevicePtr(1), DevicePtr(8));
        let fill = FillLaunch {
            address,
            n: 2,
            seed: 3,
            offset: 4,
            threads: 5,
            first: 6,
            second: 7,
            state,
        };
        assert_eq!(fill.arguments().slots(), [1, 2, 3, 4, 5, 6, 7, 8]);
        assert_eq!(FillLaunch::read(fill.arguments().slots()), Some(fill));
        let idle = FillLaunch { threads: 0, ..fill };
        assert_eq!(FillLaunch::read(idle.arguments().slots()), None);
        let take = TakeLaunch { record: address, increment: 2, slot: state, seed: 3, offset: 4 };
        assert_eq!(take.arguments().slots(), [1, 2, 8, 3, 4]);
        assert_eq!(TakeLaunch::read(take.arguments().slots()), Some(take));
        assert_eq!(TakeLaunch::read(fill.arguments().slots()), None);
    }
}
