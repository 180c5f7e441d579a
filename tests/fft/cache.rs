//! The cache of plans against a list that is searched from end to end, over random scripts; and what
//! makes a key.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]
#![allow(unsafe_code, reason = "calls the C API")]

use std::sync::OnceLock;

use proptest::prelude::*;
use sconce::sconce_status::*;
use sconce::*;
use testkit::last_message;
use testkit::libraries::fft::{desc, free_bytes, fresh, rows, run, stats};
use testkit::places::{self, Kind, Place, alone, calls, own_stream};

/// Sizes with and without a workspace, and with small and large tables.
const SIZES: [i64; 7] = [16, 60, 64, 131, 1009, 4500, 8192];
const UNLIMITED: u64 = i64::MAX as u64;

/// What a plan of each size costs: for itself, and as workspace.
fn costs() -> &'static [(u64, u64)] {
    static COSTS: OnceLock<Vec<(u64, u64)>> = OnceLock::new();
    COSTS.get_or_init(found_costs)
}

fn found_costs() -> Vec<(u64, u64)> {
    fresh(0);
    let memory = Place::new(Kind::Device(0), 1 << 16);
    let costs = SIZES
        .iter()
        .map(|n| {
            assert_eq!(sconce_fft_cache_clear(0), SCONCE_OK);
            assert_eq!(sconce_device_synchronize(0), SCONCE_OK);
            assert_eq!(run(&rows(*n, 1), memory.start(), memory.start()), SCONCE_OK);
            let stats = stats(0);
            assert_eq!(stats.bytes, stats.plan_bytes + stats.workspace_bytes);
            (stats.plan_bytes, stats.workspace_bytes)
        })
        .collect();
    fresh(0);
    costs
}

#[test]
fn a_plan_costs_what_the_device_loses_and_its_workspace() {
    let _alone = alone();
    let costs = costs();
    assert!(costs.iter().all(|(plan, _)| *plan >= 64 << 10), "{costs:?}");
    assert_eq!(costs[0].1, 0);
    assert_eq!(costs[6], (64 << 10, 8 * 8192));
    let before = free_bytes(0);
    let memory = Place::new(Kind::Device(0), 1 << 16);
    let held = before - free_bytes(0);
    assert_eq!(run(&rows(64, 1), memory.start(), memory.start()), SCONCE_OK);
    assert_eq!((before - held - free_bytes(0)) as u64, stats(0).plan_bytes);
    assert_eq!(sconce_fft_cache_clear(0), SCONCE_OK);
    assert_eq!(free_bytes(0), before - held);
}

#[derive(Clone, Debug)]
enum Step {
    Run(usize),
    SetMaxSize(i64),
    /// A limit in bytes that is near what so many sizes cost, or none.
    SetMaxBytes(Option<(usize, i64)>),
    Clear,
    ResetStats,
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        20 => (0..SIZES.len()).prop_map(Step::Run),
        2 => (0..6_i64).prop_map(Step::SetMaxSize),
        1 => Just(Step::SetMaxSize(4096)),
        2 => prop::option::of((0..SIZES.len(), -1..2_i64)).prop_map(Step::SetMaxBytes),
        1 => Just(Step::Clear),
        1 => Just(Step::ResetStats),
    ]
}

struct Model {
    /// Indices of sizes, the newest first.
    plans: Vec<usize>,
    max_size: u64,
    max_bytes: u64,
    hits: u64,
    misses: u64,
    evictions: u64,
}

impl Model {
    fn new() -> Model {
        Model {
            plans: Vec::new(),
            max_size: 4096,
            max_bytes: UNLIMITED,
            hits: 0,
            misses: 0,
            evictions: 0,
        }
    }

    fn bytes(&self, costs: &[(u64, u64)]) -> u64 {
        self.plans.iter().map(|plan| costs[*plan].0 + costs[*plan].1).sum()
    }

    fn shrink(&mut self, costs: &[(u64, u64)]) {
        while self.plans.len() as u64 > self.max_size || self.bytes(costs) > self.max_bytes {
            self.plans.pop();
            self.evictions += 1;
        }
    }

    fn run(&mut self, plan: usize, costs: &[(u64, u64)]) {
        let found = self.plans.iter().position(|other| *other == plan);
        match found {
            Some(at) => {
                self.hits += 1;
                self.plans.remove(at);
                self.plans.insert(0, plan);
            }
            None => {
                self.misses += 1;
                if self.max_size == 0 {
                    return;
                }
                while self.plans.len() as u64 >= self.max_size {
                    self.plans.pop();
                    self.evictions += 1;
                }
                if costs[plan].0 + costs[plan].1 > self.max_bytes {
                    // Used once, at nobody else's cost in bytes.
                    self.evictions += 1;
                    return;
                }
                self.plans.insert(0, plan);
                self.shrink(costs);
            }
        }
    }

    fn check(&self, device: i32, costs: &[(u64, u64)]) {
        let stats = stats(device);
        let sum = |part: fn(&(u64, u64)) -> u64| -> u64 {
            self.plans.iter().map(|plan| part(&costs[*plan])).sum()
        };
        assert_eq!((stats.size, stats.max_size), (self.plans.len() as u64, self.max_size));
        assert_eq!((stats.bytes, stats.max_bytes), (self.bytes(costs), self.max_bytes));
        assert_eq!(
            (stats.plan_bytes, stats.workspace_bytes),
            (sum(|cost| cost.0), sum(|cost| cost.1))
        );
        assert_eq!(
            (stats.hits, stats.misses, stats.evictions),
            (self.hits, self.misses, self.evictions)
        );
        let (mut size, mut max_size, mut max_bytes) = (0, 0, 0);
        // SAFETY: a good place.
        let got = unsafe { sconce_fft_cache_get_size(device, &raw mut size) };
        // SAFETY: a writable number for the limit.
        let got_max = unsafe { sconce_fft_cache_get_max_size(device, &raw mut max_size) };
        // SAFETY: a writable number for the bytes.
        let got_bytes = unsafe { sconce_fft_cache_get_max_bytes(device, &raw mut max_bytes) };
        assert_eq!([got, got_max, got_bytes], [SCONCE_OK; 3]);
        assert_eq!(
            (size as u64, max_size as u64, max_bytes),
            (stats.size, stats.max_size, stats.max_bytes)
        );
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 25, failure_persistence: None, ..Default::default() })]

    #[test]
    fn random_scripts_go_as_a_searched_list_has_it(
        steps in prop::collection::vec((0..2_i32, step()), 1..60),
    ) {
        let _alone = alone();
        let costs = costs();
        (0..2).for_each(fresh);
        let places = [0, 1].map(|device| Place::new(Kind::Device(device), 1 << 16));
        let mut models = [Model::new(), Model::new()];
        assert_eq!(sconce_sim_reset_call_counts(), SCONCE_OK);
        let mut made = 0;
        for (device, step) in steps {
            let model = &mut models[device as usize];
            // What is still queued would go while others' costs are found.
            prop_assert_eq!(sconce_device_synchronize(device), SCONCE_OK);
            match step {
                Step::Run(plan) => {
                    let before = model.misses;
                    model.run(plan, costs);
                    made += model.misses - before;
                    let start = places[device as usize].start();
                    prop_assert_eq!(run(&rows(SIZES[plan], 1), start, start), SCONCE_OK);
                }
                Step::SetMaxSize(most) => {
                    model.max_size = most as u64;
                    model.shrink(costs);
                    prop_assert_eq!(sconce_fft_cache_set_max_size(device, most), SCONCE_OK);
                }
                Step::SetMaxBytes(most) => {
                    let most = most.map_or(i64::MAX, |(several, off)| {
                        costs[..several].iter().map(|cost| (cost.0 + cost.1) as i64).sum::<i64>() + off
                    });
                    let most = most.max(0);
                    model.max_bytes = most as u64;
                    model.shrink(costs);
                    prop_assert_eq!(sconce_fft_cache_set_max_bytes(device, most), SCONCE_OK);
                }
                Step::Clear => {
                    model.plans.clear();
                    prop_assert_eq!(sconce_fft_cache_clear(device), SCONCE_OK);
                }
                Step::ResetStats => {
                    (model.hits, model.misses, model.evictions) = (0, 0, 0);
                    prop_assert_eq!(sconce_fft_cache_reset_stats(device), SCONCE_OK);
                }
            }
            for (device, model) in models.iter().enumerate() {
                model.check(device as i32, costs);
            }
            prop_assert_eq!(calls("fft_plan"), made);
        }
        (0..2).for_each(fresh);
    }
}

#[test]
fn only_what_shapes_a_plan_makes_a_key() {
    let _alone = alone();
    fresh(0);
    let [input, output] = [0, 1].map(|_| Place::new(Kind::Device(0), 1 << 16));
    let made = |desc: &sconce_fft_desc, new: u64, what: &str| {
        let before = stats(0);
        assert_eq!(run(desc, input.start(), output.start()), SCONCE_OK, "{}", last_message());
        let after = stats(0);
        let difference = (after.misses - before.misses, after.hits - before.hits);
        assert_eq!(difference, (new, 1 - new), "{what}");
    };
    let mut base = desc(SCONCE_FFT_C2C, SCONCE_DTYPE_F32, &[4, 8], 3);
    made(&base, 1, "first");
    made(&base, 0, "again");
    base.direction = SCONCE_FFT_INVERSE;
    made(&base, 0, "direction");
    base.normalization = SCONCE_FFT_NORM_BY_N;
    made(&base, 0, "normalisation");
    assert_eq!(sconce_device_synchronize(0), SCONCE_OK);
    let stream = own_stream(0);
    made(&base, 0, "stream");
    assert_eq!(sconce_stream_synchronize(stream), SCONCE_OK);
    assert_eq!(sconce_stream_set_current(places::default_stream(0)), SCONCE_OK);
    (base.in_batch_stride, base.in_strides) = (32, [8, 1, 99]);
    made(&base, 0, "packed, said in strides");
    (base.in_batch_stride, base.in_strides) = (64, [8, 1, 0]);
    made(&base, 1, "a batch's stride");
    (base.in_batch_stride, base.in_strides) = (64, [16, 2, 0]);
    made(&base, 1, "strides");
    (base.in_batch_stride, base.in_strides) = (0, [0; 3]);
    (base.out_batch_stride, base.out_strides) = (64, [8, 1, 0]);
    made(&base, 1, "the output's");
    // Through temporaries all look packed.
    (base.out_batch_stride, base.out_strides) = (32, [1, 4, 0]);
    made(&base, 0, "packed by us");
    base.batch = 2;
    (base.out_batch_stride, base.out_strides) = (0, [0; 3]);
    made(&base, 1, "batch");
    base.dtype = SCONCE_DTYPE_F64;
    made(&base, 1, "type");
    made(&desc(SCONCE_FFT_R2C, SCONCE_DTYPE_F64, &[4, 8], 2), 1, "kind");
    made(&desc(SCONCE_FFT_C2C, SCONCE_DTYPE_F64, &[8, 4], 2), 1, "sizes");
    // One transform, and one element, lie anywhere.
    let mut one = desc(SCONCE_FFT_C2C, SCONCE_DTYPE_F32, &[1, 8], 1);
    made(&one, 1, "one");
    (one.in_batch_stride, one.in_strides) = (77, [55, 1, 0]);
    made(&one, 0, "strides that are never taken");
    fresh(0);
}

#[test]
fn with_no_room_each_transform_makes_its_own() {
    let _alone = alone();
    fresh(0);
    assert_eq!(sconce_fft_cache_set_max_size(0, 0), SCONCE_OK);
    let memory = Place::new(Kind::Device(0), 1 << 16);
    let before = free_bytes(0);
    for _ in 0..3 {
        assert_eq!(run(&rows(64, 1), memory.start(), memory.start()), SCONCE_OK);
        assert_eq!(sconce_device_synchronize(0), SCONCE_OK);
        assert_eq!(free_bytes(0), before);
    }
    let stats = stats(0);
    assert_eq!((stats.size, stats.bytes, stats.misses, stats.evictions), (0, 0, 3, 0));
    assert_eq!(calls("fft_plan"), 3);
    fresh(0);
}
