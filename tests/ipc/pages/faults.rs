//! Every driver call that sharing pages makes, failed at each page: nothing is left behind, and the same thing works
//! afterwards.

use super::*;
use crate::waiting_bytes;
use sconce::sim_controls as sim;
use sconce_base::error::Status;
use std::collections::BTreeSet;

const PAGES: usize = 4;

/// The calls of the process that exports, and of the one that opens.
const CALLS: [&str; 11] = [
    "exchange_capture_mode",
    "device_properties",
    "device_synchronize",
    "physical_export",
    "physical_release",
    "physical_import",
    "virtual_reserve",
    "virtual_map",
    "virtual_set_access",
    "virtual_unmap",
    "virtual_release",
];

fn clear() {
    sconce::sim_controls::clear_faults().unwrap();
}

#[test]
fn an_export_that_failed_can_be_made_again() {
    let _alone = with_pages();
    let mut failed = BTreeSet::new();
    for call in CALLS {
        for nth in 1..=PAGES as u64 + 1 {
            for code in [999, 801] {
                let block = memory::alloc(PAGES * PAGE).unwrap();
                sim::fail_call(call, nth, code).unwrap();
                let first = ipc::export(block);
                clear();
                let export = ipc::export(block).unwrap();
                match first {
                    Ok(first) => assert_eq!(first, export),
                    Err(error) => {
                        failed.insert((call, nth));
                        let refused = code == 801 && call == "physical_export";
                        assert_eq!(error.message().contains("policy:segments"), refused, "{error}");
                    }
                }
                memory::free(block).unwrap();
                assert_eq!(waiting_bytes(), 0, "{call}");
                memory::check::walk().unwrap();
            }
        }
    }
    for page in 1..=PAGES as u64 {
        assert!(failed.contains(&("physical_export", page)), "{failed:?}");
    }
}

#[test]
fn an_opening_or_closing_that_failed_can_be_made_again() {
    let _alone = with_pages();
    let mut other = Remote::start_with_pages();
    let there = other.number(&format!("alloc {}", PAGES * PAGE));
    other.fill(there, 7, PAGES * PAGE);
    let export = other.export(there);
    let mut failed = BTreeSet::new();
    let reserved_before = reservations();
    for call in CALLS {
        for nth in 1..=PAGES as u64 {
            let before = device::shared_descriptors();
            sim::fail_call(call, nth, 999).unwrap();
            let here = ipc::open(0, &export.0, export.1).or_else(|error| {
                failed.insert((call, nth));
                assert_eq!(error.backend_code(), 999, "{call}: {error}");
                assert_eq!(device::shared_descriptors(), before, "{call} left something open");
                clear();
                ipc::open(0, &export.0, export.1)
            });
            let here = here.unwrap();
            assert!(holds(&device::read(here, PAGES * PAGE), 7), "{call}");
            if let Err(error) = ipc::close(here) {
                failed.insert((call, nth));
                assert_eq!(error.backend_code(), 999, "{call}: {error}");
                assert!(holds(&device::read(here, PAGES * PAGE), 7), "open still");
                ipc::close(here).unwrap();
            }
            clear();
            assert_eq!(device::shared_descriptors(), before, "{call} left something open");
        }
    }
    for page in 1..=PAGES as u64 {
        for call in ["physical_import", "virtual_map", "physical_release"] {
            assert!(failed.contains(&(call, page)), "{call} of page {page}: {failed:?}");
        }
    }
    for call in ["virtual_reserve", "virtual_set_access", "virtual_unmap", "device_synchronize"] {
        assert!(failed.contains(&(call, 1)), "{call}: {failed:?}");
    }
    // A failed `virtual_release` after a closing keeps addresses, which has no consequence.
    assert!(reservations() <= reserved_before + 1);
    other.ask(&format!("free {there}")).unwrap();
    other.ask("collect").unwrap();
    assert_eq!(other.number(&format!("alloc {}", PAGES * PAGE)), there, "nothing holds it");
}

/// How many ranges of addresses are reserved and not released.
fn reservations() -> u64 {
    let [made, gone] =
        ["virtual_reserve", "virtual_release"].map(|call| sim::call_count(call).unwrap());
    made - gone
}

#[test]
fn a_failure_of_the_exporter_is_told_and_grants_nothing() {
    let _alone = with_pages();
    let mut other = Remote::start_with_pages();
    let there = other.number(&format!("alloc {}", PAGES * PAGE));
    let export = other.export(there);
    let before = device::shared_descriptors();
    for (call, nth) in (1..=PAGES)
        .map(|nth| ("physical_export", nth))
        .chain([("exchange_capture_mode", 1), ("exchange_capture_mode", 2)])
    {
        other.ask(&format!("fault {call} {nth}")).unwrap();
        match ipc::open(0, &export.0, export.1) {
            Ok(here) => {
                // The end of the relaxed mode is not reported.
                assert_eq!((call, nth), ("exchange_capture_mode", 2));
                ipc::close(here).unwrap();
            }
            Err(error) => {
                assert_eq!(error.status(), Status::Driver, "{call}: {error}");
                assert!(error.message().contains("the process that made"), "{error}");
            }
        }
        other.ask("clear").unwrap();
        assert_eq!(device::shared_descriptors(), before, "{call}");
        let here = open(&export);
        ipc::close(here).unwrap();
    }
    other.ask(&format!("free {there}")).unwrap();
    other.ask("collect").unwrap();
    assert_eq!(other.number(&format!("alloc {}", PAGES * PAGE)), there, "nothing holds it");
}

#[test]
fn a_process_without_descriptors_is_told_so() {
    let _alone = with_pages();
    let block = memory::alloc(40 * PAGE).unwrap();
    device::fill(block, 6, 40 * PAGE);
    let export = ipc::export(block).unwrap();
    let mut other = Remote::start();
    other.close(0);
    other.ask("limit 20").unwrap();
    let error = other.try_open(&export).unwrap_err();
    assert_eq!(error.0, "SCONCE_ERROR_IO", "{}", error.1);
    assert!(error.1.contains("RLIMIT_NOFILE"), "{}", error.1);
    assert_eq!(other.number("sharing"), 0, "what came is closed");
    other.ask("limit 200").unwrap();
    let there = other.open(&export);
    assert!(other.holds(there, 6, 40 * PAGE));
    other.close(there);
    memory::free(block).unwrap();
    ipc::collect().unwrap();
    assert_eq!(waiting_bytes(), 0);
}
