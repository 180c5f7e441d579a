//! Every driver call that a module's life makes, failed at every point in turn: a status tells, nothing is lost,
//! and the same works afterwards.

use sconce::sconce_status::*;
use sconce::*;
use testkit::fork::forked_result;
use testkit::simulated::{Memory, driver_calls};

use crate::support::{FILL, desc, fill_values, get, launch, load, numbers, ptx, register_fill};

/// Loads, launches on two devices, asks, and unloads; the statuses in order.
fn script(memory: &Memory, value: u32) -> Vec<sconce_status> {
    let Ok(module) = load(ptx(&[FILL]).as_bytes()) else { panic!("loading makes no driver call") };
    let mut statuses = Vec::new();
    match get(module, FILL) {
        Err(status) => statuses.push(status),
        Ok(kernel) => {
            let mut shaped = desc(1, 64);
            shaped.shared_bytes = 100 << 10;
            let values = fill_values(memory.as_ptr() as u64, 4, value);
            statuses.push(launch(kernel, &shaped, &values, None));
            let other = sconce_stream { id: 0, device: 1, reserved: 0 };
            statuses.push(launch(kernel, &desc(1, 64), &fill_values(0, 0, 0), Some(other)));
            let (mut blocks, mut threads, mut least) = (0, 0, 0);
            // SAFETY: a writable place.
            let status = unsafe { sconce_kernel_get_occupancy(kernel, 0, 64, 0, &mut blocks) };
            statuses.push(status);
            // SAFETY: writable places.
            let status =
                unsafe { sconce_kernel_get_best_block(kernel, 0, 0, 0, &mut threads, &mut least) };
            statuses.push(status);
        }
    }
    statuses.push(sconce_module_unload(module));
    statuses
}

fn scenario(fault: Option<(&str, u64)>) -> Result<(), String> {
    forked_result(|| {
        register_fill();
        let memory = Memory::new(64);
        // The devices' contexts, so that figures do not depend on who makes them.
        assert_eq!(sconce_device_synchronize(1), SCONCE_OK);
        sconce::sim_controls::reset_call_counts().unwrap();
        let Some((call, nth)) = fault else {
            let statuses = script(&memory, 1);
            assert!(statuses.iter().all(|status| *status == SCONCE_OK), "{statuses:?}");
            let counts: Vec<String> = driver_calls()
                .iter()
                .map(|call| format!("{call} {}", sconce::sim_controls::call_count(call).unwrap()))
                .collect();
            return Err(counts.join(","));
        };
        sconce::sim_controls::fail_call(call, nth, 999).unwrap();
        let statuses = script(&memory, 2);
        let struck = sconce::sim_controls::call_count(call).unwrap() >= nth;
        let failed = statuses.iter().filter(|status| **status != SCONCE_OK).count();
        // A capture mode that cannot be put back, and a capture that cannot be asked for, are not failures of
        // the call.
        let silent = matches!(call, "stream_is_capturing")
            || (call == "exchange_capture_mode" && nth % 2 == 0);
        if struck && !silent {
            assert!(failed >= 1, "{call} {nth} failed in silence: {statuses:?}");
        }
        sconce::sim_controls::clear_faults().unwrap();
        let statuses = script(&memory, 3);
        assert!(statuses.iter().all(|status| *status == SCONCE_OK), "afterwards: {statuses:?}");
        assert_eq!(numbers(&memory, 5), [3, 3, 3, 3, u32::MAX]);
        Ok(())
    })
}

#[test]
fn every_failing_driver_call_gives_a_status_and_harms_nothing_later() {
    let counts = scenario(None).unwrap_err();
    let mut tried = 0;
    for count in counts.split(',') {
        let Some((call, count)) = count.rsplit_once(' ') else { panic!("{counts}") };
        for nth in 1..=count.trim().parse::<u64>().unwrap_or(0).min(12) {
            tried += 1;
            scenario(Some((call.trim(), nth))).unwrap_or_else(|why| panic!("{call} {nth}: {why}"));
        }
    }
    assert!(tried >= 20, "{tried}: {counts}");
}

#[test]
fn a_launch_that_fails_when_it_runs_fails_its_device() {
    register_fill();
    let memory = Memory::new(64);
    let module = load(ptx(&[FILL]).as_bytes()).unwrap();
    let kernel = get(module, FILL).unwrap();
    sconce::sim_controls::fail_operation("kernel_launch_values", 2, 719).unwrap();
    let fill =
        |value| launch(kernel, &desc(1, 64), &fill_values(memory.as_ptr() as u64, 1, value), None);
    assert_eq!([fill(1), fill(2)], [SCONCE_OK; 2]);
    assert_eq!(sconce_device_synchronize(0), SCONCE_ERROR_DRIVER);
    assert_eq!(sconce_last_error_backend_code(), 719);
    let status = sconce_module_unload(module);
    assert_eq!(status, SCONCE_ERROR_DRIVER, "the device cannot be waited for");
    assert_eq!(fill(3), SCONCE_ERROR_INVALID_HANDLE, "the module is gone all the same");
    assert_eq!(sconce_sim_clear_device_error(0), SCONCE_OK);
    assert_eq!(numbers(&memory, 1), [1]);
}
