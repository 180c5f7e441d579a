//! Random scripts for the allocator: sizes as programs have them, and everything that can happen to
//! a block.

use proptest::prelude::*;

use super::oracle::{MIB, STREAMS};

/// Private pools that a script may use, besides none.
pub const POOLS: usize = 2;

/// One step. What picks a block or a pool is taken modulo how many there are, so that a step keeps
/// its sense when others are left out.
#[derive(Clone, Debug)]
pub enum Step {
    /// By another thread, on which no pool is begun, or by this one.
    Alloc {
        bytes: usize,
        stream: usize,
        elsewhere: bool,
    },
    Free {
        pick: usize,
        elsewhere: bool,
    },
    RecordStream {
        pick: usize,
        stream: usize,
    },
    /// The oldest operation that is pending on a stream completes.
    Complete {
        stream: usize,
    },
    CompleteAll,
    EmptyCache,
    ResetPeaks,
    ResetAccumulated,
    BeginPool {
        pool: usize,
    },
    EndPool,
    TrimPool {
        pool: usize,
    },
    /// A pool is destroyed, and a new one takes its place.
    ReplacePool {
        pool: usize,
    },
    SetFraction {
        percent: u32,
    },
    /// The nth driver allocation within the next step fails.
    Fault {
        nth: usize,
        out_of_memory: bool,
    },
    Configure {
        text: &'static str,
    },
    RecordHistory {
        enabled: bool,
    },
}

/// A configuration and what happens under it.
#[derive(Clone, Debug)]
pub struct Script {
    pub text: &'static str,
    pub percent: u32,
    pub steps: Vec<Step>,
}

pub const CONFIGURATIONS: &[&str] = &[
    "",
    "max_split_size_mb:32",
    "max_split_size_mb:24,max_non_split_rounding_mb:21",
    "roundup_power2_divisions:4",
    "roundup_power2_divisions:[1:2,4:8,>:16]",
    "garbage_collection_threshold:0.5",
    "garbage_collection_threshold:0.3,max_split_size_mb:40,roundup_power2_divisions:2",
];

fn sizes() -> impl Strategy<Value = usize> {
    prop_oneof![
        6 => 1..3000_usize,
        // A few sizes again and again: equal blocks are what ties are made of.
        6 => prop::sample::select(vec![512, 1024, 4096, 65536, 512 << 10, MIB, 2 * MIB, 4 * MIB]),
        3 => 3000..MIB,
        3 => MIB + 1..10 * MIB,
        2 => 10 * MIB..48 * MIB,
        // Near the borders.
        2 => (prop::sample::select(vec![512, MIB, 10 * MIB, 19 * MIB, 20 * MIB, 24 * MIB, 32 * MIB]), 0..1025_usize)
            .prop_map(|(border, by)| border + by - 512),
        1 => Just(0),
        1 => 100 * MIB..400 * MIB,
    ]
}

/// Sizes that fill a device with a few blocks.
fn large_sizes() -> impl Strategy<Value = usize> {
    prop_oneof![
        8 => (20..60_usize).prop_map(|mib| mib * MIB),
        2 => (60..180_usize).prop_map(|mib| mib * MIB),
        1 => 1..2 * MIB,
    ]
}

fn step(sizes: BoxedStrategy<usize>) -> impl Strategy<Value = Step> {
    let stream = || prop_oneof![2 => Just(0), 3 => 0..STREAMS];
    let pool = || 0..POOLS;
    let pick = any::<usize>;
    let rarely = || prop::bool::weighted(0.2);
    prop_oneof![
        40 => (sizes, stream(), rarely())
            .prop_map(|(bytes, stream, elsewhere)| Step::Alloc { bytes, stream, elsewhere }),
        32 => (pick(), rarely()).prop_map(|(pick, elsewhere)| Step::Free { pick, elsewhere }),
        12 => (pick(), stream()).prop_map(|(pick, stream)| Step::RecordStream { pick, stream }),
        6 => stream().prop_map(|stream| Step::Complete { stream }),
        2 => Just(Step::CompleteAll),
        2 => Just(Step::EmptyCache),
        1 => Just(Step::ResetPeaks),
        1 => Just(Step::ResetAccumulated),
        3 => pool().prop_map(|pool| Step::BeginPool { pool }),
        4 => Just(Step::EndPool),
        1 => pool().prop_map(|pool| Step::TrimPool { pool }),
        1 => pool().prop_map(|pool| Step::ReplacePool { pool }),
        1 => prop::sample::select(vec![40, 70, 100]).prop_map(|percent| Step::SetFraction { percent }),
        2 => (1..3_usize, any::<bool>())
            .prop_map(|(nth, out_of_memory)| Step::Fault { nth, out_of_memory }),
        1 => prop::sample::select(CONFIGURATIONS).prop_map(|text| Step::Configure { text }),
        1 => any::<bool>().prop_map(|enabled| Step::RecordHistory { enabled }),
    ]
}

fn scripts(sizes: BoxedStrategy<usize>) -> impl Strategy<Value = Script> {
    (
        prop::sample::select(CONFIGURATIONS),
        prop::sample::select(vec![50, 80, 100, 100]),
        prop::collection::vec(step(sizes), 1..120),
    )
        .prop_map(|(text, percent, steps)| Script { text, percent, steps })
}

/// Scripts with sizes of all kinds.
pub fn any_script() -> impl Strategy<Value = Script> {
    scripts(sizes().boxed())
}

/// Scripts whose blocks are large, so that memory is given back again and again.
pub fn large_script() -> impl Strategy<Value = Script> {
    scripts(large_sizes().boxed())
}

/// A block of each size is freed before one of the next is wanted.
fn in_turn(text: &'static str, sizes: &[usize]) -> Script {
    let pair = |bytes: &usize| {
        let alloc = Step::Alloc { bytes: *bytes, stream: 0, elsewhere: false };
        [alloc, Step::Free { pick: 0, elsewhere: false }]
    };
    Script { text, percent: 100, steps: sizes.iter().flat_map(pair).collect() }
}

/// Where a rule begins to hold: on the border, and 512 bytes to either side of it.
pub fn border_scripts() -> Vec<Script> {
    let around = |bytes: usize| [bytes, bytes - 512, bytes + 512, bytes - 1, bytes + 1];
    let split = "max_split_size_mb:32,max_non_split_rounding_mb:22";
    let mut scripts = Vec::new();
    for text in ["", split, "roundup_power2_divisions:4"] {
        for first in [MIB, 2 * MIB, 10 * MIB, 20 * MIB, 32 * MIB, 56 * MIB, 64 * MIB] {
            // Remainders of nothing, of 512 bytes and of 1 MiB; waste of 22 MiB; sizes not cut.
            let then =
                [first - 512, first - MIB, first.saturating_sub(22 * MIB), 32 * MIB, 34 * MIB];
            for second in then.into_iter().filter(|bytes| *bytes > 512).flat_map(around) {
                scripts.push(in_turn(text, &[first, second]));
            }
        }
    }
    scripts
}
