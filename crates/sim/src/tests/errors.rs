//! Errors of queued work, faults on demand, counters, contexts, peers.

use sconce_base::error::Status;
use sconce_driver::prelude::*;
use sconce_driver::{EventFlags, KernelArguments, StreamFlags, StreamRef};

use super::support::*;
use crate::{Call, Simulator};

#[test]
fn an_asynchronous_error_sticks_to_its_device_and_stops_what_is_queued() {
    let sim = manual(2);
    let (stream, other) = (stream(&sim), stream(&sim));
    let (event, journal) = (event(&sim), Journal::default());
    let ptr = sim.memory_alloc(D0, 512).unwrap();
    sim.fail_operation(Call::FillAsync, 2, 719);
    sim.fill_async(ptr, 1, 512, stream).unwrap();
    sim.fill_async(ptr, 1, 512, stream).unwrap();
    sim.launch_host_function(stream, journal.note("behind")).unwrap();
    sim.launch_host_function(other, journal.note("beside")).unwrap();
    sim.event_record(event, other).unwrap();
    assert!(sim.step(stream).unwrap());
    assert!(!sim.stream_query(stream).unwrap());
    assert!(sim.step(stream).unwrap());
    assert_eq!(sim.device_error(D0), Some(719));
    let failures = [
        sim.stream_query(stream).map(drop),
        sim.stream_synchronize(other),
        sim.device_synchronize(D0),
        sim.event_query(event).map(drop),
        sim.event_synchronize(event),
        sim.event_record(event, other),
        sim.fill_async(ptr, 1, 512, other),
        sim.launch_host_function(other, journal.note("later")),
        sim.memory_alloc(D0, 512).map(drop),
        sim.memory_free(D0, ptr),
        sim.stream_create(D0, StreamFlags::default(), 0).map(drop),
    ];
    for failure in failures {
        let failure = failure.unwrap_err();
        assert_eq!((failure.status(), failure.backend_code()), (Status::Driver, 719));
        assert!(failure.message().contains("CUDA_ERROR_LAUNCH_FAILED"), "{failure}");
    }
    assert_eq!(sim.run_until_idle(), 0);
    assert_eq!(journal.read(), [""; 0]);
    // The other device goes on, and a test may heal this one.
    sim.device_synchronize(device(1)).unwrap();
    sim.clear_device_error(D0).unwrap();
    sim.device_synchronize(D0).unwrap();
    sim.memory_free(D0, ptr).unwrap();
}

/// Whichever call meets the failure, it names the operation, and what helps on a simulated device.
#[test]
fn a_failure_of_queued_work_names_the_operation() {
    let sim = manual(1);
    let (stream, other) = (stream(&sim), stream(&sim));
    let ptr = sim.memory_alloc(D0, 512).unwrap();
    let (pinned, event) = (sim.host_alloc(D0, 512).unwrap(), event(&sim));
    let operations: [(Call, &str, &dyn Fn()); 5] = [
        (Call::FillAsync, "fill_async (512 bytes)", &|| {
            sim.fill_async(ptr, 1, 512, stream).unwrap()
        }),
        (Call::CopyAsync, "copy_async (16 bytes)", &|| {
            sim.copy_async(ptr.into(), host(pinned), 16, stream).unwrap();
        }),
        (Call::LaunchHostFunction, "launch_host_function", &|| {
            sim.launch_host_function(stream, host_function(|| ())).unwrap();
        }),
        (Call::KernelLaunch, "kernel_launch (sconce_sleep_ns, grid", &|| {
            sleep(&sim, stream, std::time::Duration::from_nanos(1));
        }),
        (Call::EventRecord, "event_record", &|| sim.event_record(event, stream).unwrap()),
    ];
    for (call, operation, queue) in operations {
        for code in [700, 719, 999] {
            sim.fail_operation(call, 1, code);
            queue();
            sim.run_until_idle();
            let failures = [
                sim.stream_synchronize(stream),
                sim.event_record(event, other),
                sim.device_synchronize(D0),
                sim.memory_alloc(D0, 512).map(drop),
            ];
            for failure in failures {
                let text = failure.unwrap_err().message().to_owned();
                let earlier =
                    format!("device 0 failed in work that was queued earlier: {operation}");
                assert!(text.contains(&earlier), "{text}");
                assert!(text.contains("sconce_sim_clear_device_error"), "{text}");
                assert!(!text.to_lowercase().contains("restart"), "{text}");
            }
            sim.clear_device_error(D0).unwrap();
            sim.device_synchronize(D0).unwrap();
        }
    }
}

#[test]
fn whoever_waits_for_work_that_fails_is_woken_with_the_error() {
    let sim = manual(1);
    let (stream, event) = (stream(&sim), event(&sim));
    sim.fail_operation(Call::LaunchHostFunction, 1, 700);
    sim.launch_host_function(stream, host_function(|| ())).unwrap();
    sim.event_record(event, stream).unwrap();
    std::thread::scope(|scope| {
        let waiting = scope.spawn(|| sim.event_synchronize(event));
        std::thread::sleep(std::time::Duration::from_millis(5));
        assert!(!waiting.is_finished());
        assert!(sim.step(stream).unwrap());
        assert_eq!(waiting.join().unwrap().unwrap_err().backend_code(), 700);
    });
}

#[test]
fn the_nth_call_of_a_kind_fails_at_once_and_only_that_one() {
    let sim = manual(1);
    let flags = EventFlags::default();
    sim.fail_call(Call::EventCreate, 2, 2);
    sim.event_create(D0, flags).unwrap();
    let failure = sim.event_create(D0, flags).unwrap_err();
    assert_eq!((failure.status(), failure.backend_code()), (Status::OutOfMemory, 2));
    sim.event_create(D0, flags).unwrap();

    let stream = stream(&sim);
    sim.fail_call(Call::StreamQuery, 1, 999);
    assert_eq!(sim.stream_query(stream).unwrap_err().backend_code(), 999);
    assert!(sim.stream_query(stream).unwrap());

    sim.fail_call(Call::BindDevice, 1, 46);
    assert_eq!(sim.bind_device(D0).unwrap_err().backend_code(), 46);
    sim.fail_call(Call::CopyAsync, 1, 1);
    sim.clear_faults();
    let mut bytes = [0_u8; 4];
    let pinned = sim.host_alloc(D0, 4).unwrap();
    sim.copy_async(host(pinned), host(pinned), 4, stream).unwrap();
    assert!(sim.step(stream).unwrap());
    sim.host_register(D0, host_of_mut(&mut bytes), 4).unwrap();
}

#[test]
fn memory_runs_out_at_the_nth_allocation() {
    let sim = manual(1);
    sim.fail_allocation(2);
    let granularity = sim.virtual_granularity(D0).unwrap();
    sim.memory_alloc(D0, 512).unwrap();
    let failure = sim.physical_create(D0, granularity, false).unwrap_err();
    assert_eq!((failure.status(), failure.backend_code()), (Status::OutOfMemory, 2));
    sim.physical_create(D0, granularity, false).unwrap();
}

#[test]
fn a_stuck_record_never_completes_until_the_faults_are_cleared() {
    for manual_mode in [true, false] {
        let sim = if manual_mode { manual(1) } else { automatic(1) };
        let (stream, free) = (stream(&sim), stream(&sim));
        let (fine, stuck, journal) = (event(&sim), event(&sim), Journal::default());
        sim.stick_record(2);
        sim.event_record(fine, stream).unwrap();
        sim.event_record(stuck, stream).unwrap();
        sim.launch_host_function(stream, journal.note("behind")).unwrap();
        sim.launch_host_function(free, journal.note("beside")).unwrap();
        sim.run_until_idle();
        assert!(sim.event_query(fine).unwrap());
        assert!(!sim.event_query(stuck).unwrap());
        assert_eq!(journal.read(), ["beside"]);
        sim.clear_faults();
        sim.run_until_idle();
        assert!(sim.event_query(stuck).unwrap());
        assert_eq!(journal.read(), ["beside", "behind"]);
    }
}

#[test]
fn every_call_is_counted_by_kind_and_faulty_ones_too() {
    let sim = manual(1);
    let event = event(&sim);
    for _ in 0..3 {
        sim.event_query(event).unwrap();
    }
    sim.fail_call(Call::EventQuery, 1, 999);
    sim.event_query(event).unwrap_err();
    assert_eq!(sim.call_count(Call::EventQuery), 4);
    assert_eq!(sim.call_count(Call::EventCreate), 1);
    assert_eq!(sim.call_count(Call::EventRecord), 0);
    sim.reset_call_counts();
    assert!(Call::ALL.iter().all(|call| sim.call_count(*call) == 0));
}

#[test]
fn a_context_appears_with_the_first_call_that_needs_one_and_only_on_its_device() {
    let sim = manual(3);
    let active =
        |sim: &Simulator| [0, 1, 2].map(|index| sim.context_is_active(device(index)).unwrap());
    sim.device_count();
    for index in 0..3 {
        sim.device_properties(device(index)).unwrap();
        sim.can_access_peer(device(0), device(index)).unwrap();
        sim.stream_priority_range(device(index)).unwrap();
        sim.device_processes(device(index)).unwrap();
        sim.virtual_granularity(device(index)).unwrap();
    }
    sim.pointer_info(4096).unwrap();
    sim.unbind_device().unwrap();
    assert_eq!(active(&sim), [false, false, false]);
    sim.memory_alloc(device(1), 512).unwrap();
    assert_eq!(active(&sim), [false, true, false]);
    sim.bind_device(device(2)).unwrap();
    assert_eq!(active(&sim), [false, true, true]);
    assert_eq!(sim.bind_device(device(3)).unwrap_err().status(), Status::InvalidDevice);
}

#[test]
fn kernels_reach_a_peer_only_when_allowed_and_enabled() {
    let sim = automatic(3);
    let ptr = sim.memory_alloc(device(1), 4096).unwrap();
    let fill = |on: i32| {
        let on = device(on);
        let kernel = kernel(&sim, on, "sconce_fill_u32");
        let arguments = KernelArguments::new().u64(ptr.0).u64(1024).u32(7);
        let legacy = StreamRef::default_of(on);
        sim.kernel_launch(kernel, ONE, &arguments, legacy).unwrap();
        sim.stream_synchronize(legacy)
    };
    sim.set_peer_allowed(device(2), device(1), false).unwrap();
    assert!(!sim.can_access_peer(device(2), device(1)).unwrap());
    assert!(sim.can_access_peer(device(1), device(2)).unwrap());
    let refused = sim.enable_peer_access(device(2), device(1)).unwrap_err();
    assert_eq!((refused.status(), refused.backend_code()), (Status::NotSupported, 217));

    fill(1).unwrap();
    assert_eq!(fill(0).unwrap_err().backend_code(), 700);
    sim.clear_device_error(device(0)).unwrap();
    sim.enable_peer_access(device(0), device(1)).unwrap();
    sim.enable_peer_access(device(0), device(1)).unwrap();
    fill(0).unwrap();
    assert_eq!(fill(2).unwrap_err().backend_code(), 700);
}

#[test]
fn launches_are_checked_when_they_are_made() {
    let sim = manual(2);
    let stream = stream(&sim);
    let image = sconce_driver::KernelImage { name: "test", codes: &[] };
    let module = sim.module_load(D0, &image).unwrap();
    let missing = sim.kernel_find(D0, module, "nothing").unwrap_err();
    assert_eq!(missing.backend_code(), 500);
    let kernel = sim.kernel_find(D0, module, "sconce_sleep_ns").unwrap();
    assert_eq!(sim.kernel_find(D0, module, "sconce_sleep_ns").unwrap(), kernel);
    let one = KernelArguments::new().u64(1);
    let mut shape = ONE;
    shape.block.x = 2048;
    assert_eq!(sim.kernel_launch(kernel, shape, &one, stream).unwrap_err().backend_code(), 1);
    let two = one.u64(2);
    assert_eq!(sim.kernel_launch(kernel, ONE, &two, stream).unwrap_err().backend_code(), 1);
    let elsewhere = stream_on(&sim, device(1), true);
    assert_eq!(sim.kernel_launch(kernel, ONE, &one, elsewhere).unwrap_err().backend_code(), 400);
    sim.module_unload(D0, module).unwrap();
    assert_eq!(sim.kernel_launch(kernel, ONE, &one, stream).unwrap_err().backend_code(), 400);
    assert_eq!(sim.pending(stream).unwrap(), 0);
}
