//! From elements to threads, draws and offsets.
//!
//! torch fixes the bits by a launch: blocks of 256 threads, as many as the elements ask for and at
//! most as many as the device holds at once. Element `i` belongs to thread `t = i mod T` and is its
//! `q = i div T`-th; a draw of four words gives a thread `U` elements. So the counter of an element
//! is (block `offset / 4 + q div U`, sequence `t`), and its place in the words `q mod U`. Which real
//! thread computes it does not matter, and no two draws of one generator share a counter as long as
//! the offset then moves on by [`LaunchPlan::increment`].
//!
//! A tensor that 32-bit byte offsets cannot reach is filled in parts. torch first reserves as if it
//! were whole, then halves it until every part can be reached, and reserves for each part anew.

/// Threads of a block, in torch's launch.
const BLOCK: u64 = 256;
/// By how much a draw of four words moves the offset, which counts 32-bit words.
const WORDS_PER_DRAW: u64 = 4;
/// The farthest byte that a part may reach, its own first byte being number 1.
const FARTHEST_BYTE: u64 = i32::MAX as u64;

/// What of a device decides the bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DeviceShape {
    /// Streaming multiprocessors.
    pub multi_processors: u32,
    /// Threads a multiprocessor can hold.
    pub threads_per_multi_processor: u32,
}

impl DeviceShape {
    /// Blocks the device holds at once; at least one, where torch would divide by zero.
    pub(crate) fn resident_blocks(self) -> u64 {
        let blocks = u64::from(self.threads_per_multi_processor) / BLOCK;
        (u64::from(self.multi_processors) * blocks).max(1)
    }

    /// Threads that share `n` elements.
    fn threads(self, n: u64) -> u64 {
        BLOCK * self.resident_blocks().min(n.div_ceil(BLOCK))
    }
}

/// An increment as generators take it: a multiple of four words.
pub fn rounded_increment(increment: u64) -> u64 {
    increment.div_ceil(WORDS_PER_DRAW).wrapping_mul(WORDS_PER_DRAW)
}

/// What one launch fills.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Part {
    /// The first element, counted in the whole fill.
    pub first: u64,
    /// How many.
    pub n: u64,
    /// Threads that share them, in torch's launch.
    pub threads: u64,
    /// How far from the reserved offset this part draws.
    pub distance: u64,
}

/// How a fill of `n` elements is launched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LaunchPlan {
    n: u64,
    bytes: u64,
    elements_per_draw: u64,
    shape: DeviceShape,
    farthest_byte: u64,
}

impl LaunchPlan {
    /// `n` elements of `bytes` bytes, `elements_per_draw` of which come from four words.
    pub fn new(n: u64, bytes: usize, elements_per_draw: u64, shape: DeviceShape) -> LaunchPlan {
        let farthest_byte = FARTHEST_BYTE;
        LaunchPlan { n, bytes: bytes as u64, elements_per_draw, shape, farthest_byte }
    }

    fn is_reachable(&self, n: u64) -> bool {
        n == 0 || (n - 1).saturating_mul(self.bytes).saturating_add(1) <= self.farthest_byte
    }

    fn increment_of(&self, n: u64) -> u64 {
        let per_draw = self.shape.threads(n) * self.elements_per_draw;
        n.div_ceil(per_draw) * WORDS_PER_DRAW
    }

    /// By how much the generator's offset moves on; 0 when there is nothing to fill.
    pub fn increment(&self) -> u64 {
        if self.n == 0 {
            return 0;
        }
        self.parts().last().map_or(0, |part| part.distance + self.increment_of(part.n))
    }

    /// The launches, in torch's order.
    pub fn parts(&self) -> impl Iterator<Item = Part> + use<> {
        let plan = *self;
        // Halves that wait; each split adds one, and 64 of them leave nothing to split.
        let mut waiting = [0_u64; 65];
        let mut depth = 0;
        if plan.n > 0 {
            waiting[0] = plan.n;
            depth = 1;
        }
        let mut first = 0;
        let mut distance = if plan.is_reachable(plan.n) { 0 } else { plan.increment_of(plan.n) };
        std::iter::from_fn(move || {
            depth = usize::checked_sub(depth, 1)?;
            let mut n = waiting[depth];
            while !plan.is_reachable(n) {
                waiting[depth] = n - n / 2;
                depth += 1;
                n /= 2;
            }
            let part = Part { first, n, threads: plan.shape.threads(n), distance };
            first += n;
            distance += plan.increment_of(n);
            Some(part)
        })
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use proptest::prelude::*;

    use super::*;

    const H200: DeviceShape =
        DeviceShape { multi_processors: 132, threads_per_multi_processor: 2048 };

    fn lengths(n: u64, bytes: usize) -> Vec<u64> {
        LaunchPlan::new(n, bytes, 4, H200).parts().map(|part| part.n).collect()
    }

    #[test]
    fn increments_are_those_of_the_documents() {
        let increment = |n, bytes, per_draw| LaunchPlan::new(n, bytes, per_draw, H200).increment();
        assert_eq!(increment(0, 4, 4), 0);
        assert_eq!(increment(1, 4, 4), 4);
        assert_eq!(increment(1_081_344, 4, 4), 4);
        assert_eq!(increment(1_081_345, 4, 4), 8);
        assert_eq!(increment(4_000_000, 4, 4), 16);
        assert_eq!(increment(1_081_344, 8, 2), 8);
    }

    #[test]
    fn a_tensor_is_split_where_32_bits_end() {
        assert_eq!(lengths(1 << 29, 4), [1 << 29]);
        assert_eq!(lengths((1 << 29) + 1, 4), [1 << 28, (1 << 28) + 1]);
        assert_eq!(lengths((1 << 31) - 1, 1), [(1 << 31) - 1]);
        assert_eq!(lengths(1 << 31, 1), [1 << 30, 1 << 30]);
        assert_eq!(
            lengths((1 << 30) + 3, 4),
            [1 << 28, (1 << 28) + 1, (1 << 28) + 1, (1 << 28) + 1]
        );
        let parts: Vec<_> = LaunchPlan::new((1 << 29) + 1, 4, 4, H200).parts().collect();
        let per_draw = 4 * 270_336;
        let whole = ((1_u64 << 29) + 1).div_ceil(per_draw) * 4;
        assert_eq!(parts[0].distance, whole);
        assert_eq!(parts[1].distance, whole + (1_u64 << 28).div_ceil(per_draw) * 4);
        assert_eq!(parts[1].first, 1 << 28);
    }

    #[test]
    fn the_largest_lengths_do_not_overflow() {
        for n in [1 << 33, 1 << 40, u64::MAX / 16] {
            let plan = LaunchPlan::new(n, 16, 2, H200);
            let sum: u64 = plan.parts().take(100).map(|part| part.n).sum();
            assert!(sum <= n && sum > 0);
        }
    }

    #[test]
    fn an_increment_is_rounded_up_to_a_draw() {
        for (given, taken) in [(0, 0), (1, 4), (4, 4), (5, 8), (u64::MAX, 0)] {
            assert_eq!(rounded_increment(given), taken);
        }
    }

    proptest! {
        /// Any fills one after the other: every element once, no counter twice.
        #[test]
        fn elements_and_counters_are_used_once(
            fills in proptest::collection::vec((0_u64..6000, 0_usize..4, any::<bool>()), 1..6),
            multi_processors in 1_u32..5,
            threads_per_multi_processor in 1_u32..1100,
            farthest_byte in 512_u64..9000,
        ) {
            let shape = DeviceShape { multi_processors, threads_per_multi_processor };
            let mut counters = HashSet::new();
            let mut offset = 0;
            for (n, log_bytes, wide) in fills {
                let per_draw = if wide { 2 } else { 4 };
                let mut plan = LaunchPlan::new(n, 1 << log_bytes, per_draw, shape);
                plan.farthest_byte = farthest_byte;
                let mut written = vec![false; n as usize];
                for part in plan.parts() {
                    prop_assert!(part.threads <= BLOCK * shape.resident_blocks());
                    let mut draws = HashSet::new();
                    for i in 0..part.n {
                        let (thread, place) = (i % part.threads, i / part.threads);
                        let block = (offset + part.distance) / 4 + place / per_draw;
                        draws.insert((block, thread));
                        let element = &mut written[(part.first + i) as usize];
                        prop_assert!(!*element);
                        *element = true;
                    }
                    let per_thread = part.n.div_ceil(part.threads * per_draw);
                    let most = part.n.min(part.threads) * per_thread;
                    prop_assert!(draws.len() as u64 <= most);
                    for draw in draws {
                        prop_assert!(counters.insert(draw), "{draw:?} twice");
                    }
                }
                prop_assert!(written.into_iter().all(|written| written));
                offset += plan.increment();
                let newest = counters.iter().map(|(block, _)| block + 1).max().unwrap_or(0);
                prop_assert!(newest * 4 <= offset, "counters beyond what was reserved");
            }
        }
    }
}
