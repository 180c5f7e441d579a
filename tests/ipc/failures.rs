//! Every driver call of an export, an opening and a closing, made to fail: nothing is left behind, and
//! the same thing works afterwards.

use crate::remote::Remote;
use crate::{alone, device, waiting_bytes};
use sconce::sim_controls as sim;
use sconce_runtime::{ipc, memory};

const MIB: usize = 1 << 20;

/// Every call that sharing makes; each is failed at its first, second and third time.
const CALLS: [&str; 15] = [
    "exchange_capture_mode",
    "pointer_info",
    "device_properties",
    "device_synchronize",
    "ipc_memory_export",
    "ipc_memory_open",
    "ipc_memory_close",
    "physical_retain",
    "physical_export",
    "physical_release",
    "physical_import",
    "virtual_reserve",
    "virtual_map",
    "virtual_set_access",
    "virtual_unmap",
];

#[test]
fn an_export_that_failed_can_be_made_again() {
    let _alone = alone();
    let mut failed = 0;
    for call in CALLS {
        for nth in 1..=2 {
            for code in [1, 999] {
                let mapped = device::map_virtual(true);
                let block = memory::alloc(1024).unwrap();
                for address in [mapped.ptr.0 as usize, block] {
                    sim::fail_call(call, nth, code).unwrap();
                    let first = ipc::export(address);
                    failed += usize::from(first.is_err());
                    sconce::sim_controls::clear_faults().unwrap();
                    let (handle, offset) = ipc::export(address).unwrap();
                    if let Ok(first) = first {
                        assert_eq!(first, (handle, offset));
                    }
                }
                mapped.release();
                memory::free(block).unwrap();
            }
        }
    }
    assert!(failed > 10, "{failed}");
    assert_eq!(waiting_bytes(), 0);
}

#[test]
fn an_opening_or_closing_that_failed_can_be_made_again() {
    let _alone = alone();
    let mut other = Remote::start();
    let segment = other.number("alloc 4096");
    let mapped = other.number("virtual 1");
    let mut failed = std::collections::BTreeSet::new();
    for export in [other.export(segment), other.export(mapped)] {
        for call in CALLS {
            for nth in 1..=2 {
                let before = device::shared_descriptors();
                sim::fail_call(call, nth, 999).unwrap();
                let here = ipc::open(0, &export.0, export.1).or_else(|error| {
                    failed.insert(call);
                    assert_eq!(error.backend_code(), 999, "{call}: {error}");
                    assert_eq!(device::shared_descriptors(), before, "{call} left a connection");
                    ipc::open(0, &export.0, export.1)
                });
                let here = here.unwrap();
                if let Err(error) = ipc::close(here) {
                    failed.insert(call);
                    assert_eq!(error.backend_code(), 999, "{call}: {error}");
                    device::read(here, 1); // Open still.
                    ipc::close(here).unwrap();
                }
                sconce::sim_controls::clear_faults().unwrap();
                assert_eq!(device::shared_descriptors(), before, "{call} left something open");
            }
        }
    }
    for call in ["physical_retain", "physical_export", "ipc_memory_export"] {
        assert!(!failed.contains(call), "{call} is the other process's");
    }
    assert!(failed.len() >= 11, "{failed:?}");
    other.ask(&format!("free {segment}")).unwrap();
    other.ask("collect").unwrap();
    assert_eq!(other.number("alloc 4096"), segment, "nothing holds it");
}

#[test]
fn a_failure_of_the_exporter_is_told_and_grants_nothing() {
    let _alone = alone();
    let mut other = Remote::start();
    let segment = other.number("alloc 4096");
    let mapped = other.number("virtual 1");
    let exports = [other.export(segment), other.export(mapped)];
    for (export, calls) in exports.iter().zip([
        &["pointer_info"][..],
        &["pointer_info", "physical_retain", "physical_export", "physical_release"],
    ]) {
        for call in calls {
            other.ask(&format!("fault {call} 1")).unwrap();
            let error = ipc::open(0, &export.0, export.1).unwrap_err();
            assert_eq!(error.status(), sconce_base::error::Status::Driver, "{call}: {error}");
            assert!(error.message().contains("the process that made"), "{error}");
            let here = ipc::open(0, &export.0, export.1).unwrap();
            ipc::close(here).unwrap();
        }
    }
    other.ask(&format!("free {segment}")).unwrap();
    other.ask("collect").unwrap();
    assert_eq!(other.number("alloc 4096"), segment, "nothing holds it");
}

#[test]
fn what_cannot_be_given_back_meanwhile_is_kept() {
    let _alone = alone();
    let block = memory::alloc(4 * MIB).unwrap();
    let export = ipc::export(block).unwrap();
    sim::fail_call("memory_free", 1, 999).unwrap();
    let other_block = memory::alloc(30 * MIB).unwrap();
    memory::free(other_block).unwrap();
    assert!(memory::empty_cache().is_err());
    memory::check::walk().unwrap();
    // The segment is the same still.
    let mut other = Remote::start();
    let there = other.open(&export);
    other.close(there);
    memory::free(block).unwrap();
}
