//! Figures and the history keep torch's meaning.

use std::collections::BTreeMap;

use sconce_runtime::memory;
use sconce_runtime::memory::snapshot::Action;
use testkit::memory::figures::differences;
use testkit::memory::golden;

use crate::golden::replay;

use super::{MIB, alloc, comb, pool_stream, with_pages};

/// What depends on how large pages are, and on whether free ones are put together.
fn is_of_pages(key: &str) -> bool {
    key.starts_with("reserved_bytes") || key.starts_with("num_device_")
}

/// The figures are PyTorch's, and no more memory is reserved.
fn check(number: usize) {
    replay(&golden::of_pages()[number], |step, ours, torchs| {
        let wrong = differences(ours, torchs);
        let wrong: Vec<_> = wrong.into_iter().filter(|(key, ..)| !is_of_pages(key)).collect();
        assert!(wrong.is_empty(), "call {step}: (key, ours, PyTorch's) {wrong:#?}");
        let peak = "reserved_bytes.all.peak";
        assert!(ours[peak] <= torchs[peak], "call {step}: more than torch's pages");
    });
}

#[test]
fn figures_are_those_of_torchs_expandable_segments() {
    with_pages("figures_are_those_of_torchs_expandable_segments", "64G", || check(0));
}

#[test]
fn figures_of_another_script_are_too() {
    with_pages("figures_of_another_script_are_too", "64G", || check(1));
}

/// The history says which addresses have memory: at its end, those of the snapshot.
#[test]
fn the_history_tells_where_pages_came_and_went() {
    with_pages("the_history_tells_where_pages_came_and_went", "1G", || {
        memory::record_history(true, 100_000).unwrap();
        let own = pool_stream();
        let held = comb(12, 5 * MIB, own);
        let alias = alloc(20 * MIB, own);
        memory::free(alias).unwrap();
        memory::empty_cache().unwrap();
        let more = comb(6, 9 * MIB, own);
        let snapshot = memory::snapshot().unwrap();
        let mut mapped: BTreeMap<u64, u64> = BTreeMap::new();
        let unit = 2 * MIB as u64;
        for entry in &snapshot.traces[0] {
            let units = (0..entry.bytes / unit).map(|place| entry.address + place * unit);
            match entry.action {
                Action::SegmentMap => {
                    assert!(units.clone().all(|at| mapped.insert(at, unit).is_none()), "{entry:?}");
                }
                Action::SegmentUnmap => {
                    assert!(units.clone().all(|at| mapped.remove(&at).is_some()), "{entry:?}");
                }
                _ => {}
            }
        }
        let bytes: u64 = snapshot.segments.iter().map(|segment| segment.bytes).sum();
        assert_eq!(mapped.len() as u64 * unit, bytes);
        for segment in &snapshot.segments {
            assert!(mapped.contains_key(&segment.address), "{segment:x?}");
        }
        held.into_iter().chain(more).for_each(|block| memory::free(block).unwrap());
    });
}
