//! Failures: bad arguments fail at once and harm nothing, failures of queued work stick.
//!
//! A device that has failed stays so for the life of the process, hence the processes of their own.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use sconce_base::error::{Error, Result, Status};
use sconce_base::types::{DeviceIndex, DevicePtr};
use sconce_driver::{IpcHandle, StreamFlags};

use crate::support::child::{self, Role};
use crate::support::host;
use crate::support::stage::{
    A_WHILE, Event, Outcome, Probe, Stage, Stream, carries_number, fails, fails_with,
};

crate::support::runner::tests![
    a_failure_of_queued_work_sticks,
    a_failure_stays_on_its_device,
    host_functions_do_not_run_after_a_failure,
    memory_of_a_peer_needs_peer_access,
    bad_arguments_do_not_stick,
    every_call_refuses_unknown_devices,
];

pub(crate) const ROLES: &[Role] = &[
    Role { name: "error-sticks", run: fail_and_try_everything },
    Role { name: "error-on-one-device", run: fail_on_one_of_two },
    Role { name: "error-host-function", run: fail_before_a_host_function },
    Role { name: "error-no-peer-access", run: use_a_peer_without_access },
];

const ZERO: DeviceIndex = DeviceIndex::ZERO;

/// No allocation is down there.
const NOWHERE: DevicePtr = DevicePtr(0x1000);

fn a_failure_of_queued_work_sticks(stage: &Stage<'_>) -> Outcome {
    child::run(stage, "error-sticks")
}

fn fail_and_try_everything(stage: &Stage<'_>) -> Outcome {
    let driver = stage.driver;
    let (probe, stream, other) = (stage.probe(ZERO)?, stage.stream(ZERO)?, stage.stream(ZERO)?);
    let (memory, pinned) = (stage.memory(ZERO, 4096)?, stage.pinned(ZERO, 4096, 0)?);
    let (event, spare) = (stage.event(ZERO)?, stage.event(ZERO)?);
    probe.sleep_ms(&stream, 50)?;
    probe.fill(&stream, NOWHERE, 16, 1)?; // Only the work fails, not the call.
    stream.record(&event)?;
    let first = fails(stream.synchronize());
    carries_number(&first);
    assert_eq!(first.status(), Status::Driver, "{first}");

    let (at, ptr) = (stream.at, memory.ptr);
    let again: Vec<(&str, Result<()>)> = vec![
        ("stream_synchronize", stream.synchronize()),
        ("stream_synchronize of another stream", other.synchronize()),
        ("device_synchronize", driver.device_synchronize(ZERO)),
        ("event_synchronize", event.synchronize()),
        ("event_record", other.record(&spare)),
        ("stream_wait_event", other.wait(&event)),
        ("kernel_launch", probe.fill(&other, ptr, 16, 1)),
        ("fill_async", driver.fill_async(ptr, 1, 4096, other.at)),
        ("copy_async", driver.copy_async(ptr.into(), pinned.raw(), 4096, at)),
        ("copy_peer_async", driver.copy_peer_async((ZERO, ptr), (ZERO, ptr.offset(64)), 64, at)),
        ("launch_host_function", other.run(|| ())),
        ("stream_synchronize, once more", stream.synchronize()),
    ];
    for (call, result) in again {
        match result {
            Err(error) => assert_eq!(error.backend_code(), first.backend_code(), "{call}: {error}"),
            Ok(()) => panic!("{call} works on a failed device"),
        }
    }
    leak((probe, stream, other, memory, pinned, (event, spare)))
}

/// Objects of a failed device are of no more use, and giving them back may fail.
fn leak<T>(objects: T) -> Outcome {
    std::mem::forget(objects);
    Ok(())
}

fn a_failure_stays_on_its_device(stage: &Stage<'_>) -> Outcome {
    stage.two_devices()?;
    child::run(stage, "error-on-one-device")
}

fn fail_on_one_of_two(stage: &Stage<'_>) -> Outcome {
    let (sound, failed) = stage.two_devices()?;
    let (good, bad): ((Probe<'_>, Stream<'_>), _) = (
        (stage.probe(sound)?, stage.stream(sound)?),
        (stage.probe(failed)?, stage.stream(failed)?),
    );
    bad.0.fill(&bad.1, NOWHERE, 16, 1)?;
    let error = fails(bad.1.synchronize());
    let memory = stage.memory(sound, 4096)?;
    good.0.fill(&good.1, memory.ptr, 1024, 6)?;
    good.1.synchronize()?;
    assert!(stage.words(sound, memory.ptr, 1024)?.iter().all(|word| *word == 6));
    let still = fails(stage.driver.device_synchronize(failed));
    assert_eq!(still.backend_code(), error.backend_code());
    leak(bad)
}

fn host_functions_do_not_run_after_a_failure(stage: &Stage<'_>) -> Outcome {
    child::run(stage, "error-host-function")
}

fn fail_before_a_host_function(stage: &Stage<'_>) -> Outcome {
    let (probe, stream) = (stage.probe(ZERO)?, stage.stream(ZERO)?);
    let (before, after) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicBool::new(false)));
    let (first, second) = (Arc::clone(&before), Arc::clone(&after));
    static OUTCOMES: [[AtomicUsize; 2]; 3] = [const { [const { AtomicUsize::new(0) }; 2] }; 3];
    let other = stage.stream(ZERO)?;
    stage.driver.launch_host_function(stream.at, host::either(&OUTCOMES[0]))?;
    probe.sleep_ms(&other, 300)?;
    stream.run(move || first.store(true, Ordering::SeqCst))?;
    probe.sleep_ms(&stream, 50)?;
    probe.fill(&stream, NOWHERE, 16, 1)?;
    stream.run(move || second.store(true, Ordering::SeqCst))?;
    stage.driver.launch_host_function(stream.at, host::either(&OUTCOMES[1]))?;
    stage.driver.launch_host_function(other.at, host::either(&OUTCOMES[2]))?;
    fails(stream.synchronize());
    fails(other.synchronize());
    std::thread::sleep(A_WHILE);
    assert!(before.load(Ordering::SeqCst), "it was queued before the failure");
    assert!(!after.load(Ordering::SeqCst), "a host function ran after a failure");
    let outcomes =
        OUTCOMES.each_ref().map(|pair| pair.each_ref().map(|n| n.load(Ordering::SeqCst)));
    assert_eq!(outcomes, [[1, 0], [0, 1], [0, 1]], "functions and alternatives that ran");
    leak((probe, stream, other))
}

fn memory_of_a_peer_needs_peer_access(stage: &Stage<'_>) -> Outcome {
    let (device, peer) = stage.two_peers()?;
    {
        let (probe, stream) = (stage.probe(device)?, stage.stream(device)?);
        let memory = stage.memory(peer, 4096)?;
        stage.driver.enable_peer_access(device, peer)?;
        probe.fill(&stream, memory.ptr, 1024, 31)?;
        stream.synchronize()?;
        assert!(stage.words(peer, memory.ptr, 1024)?.iter().all(|word| *word == 31));
    }
    child::run(stage, "error-no-peer-access")
}

fn use_a_peer_without_access(stage: &Stage<'_>) -> Outcome {
    let (device, peer) = stage.two_peers()?;
    let (probe, stream) = (stage.probe(device)?, stage.stream(device)?);
    let memory = stage.memory(peer, 4096)?;
    let used = probe.fill(&stream, memory.ptr, 16, 1).and_then(|()| stream.synchronize());
    carries_number(&fails(used));
    leak((probe, stream, memory))
}

fn bad_arguments_do_not_stick(stage: &Stage<'_>) -> Outcome {
    let stream = stage.stream(ZERO)?;
    let event = stage.event(ZERO)?;
    fails(stage.driver.memory_alloc(ZERO, usize::MAX / 4));
    fails(stage.driver.memory_free(ZERO, NOWHERE));
    fails(stage.driver.fill_async(NOWHERE, 1, 64, stream.at));
    fails(stage.driver.ipc_memory_export(NOWHERE));
    fails(stage.driver.ipc_event_export(event.handle));
    stream.record(&event)?;
    stream.synchronize()?;
    let memory = stage.memory(ZERO, 4096)?;
    stage.driver.fill_async(memory.ptr, 3, 4096, stream.at)?;
    stream.synchronize()?;
    assert!(stage.read(ZERO, memory.ptr, 4096)?.iter().all(|byte| *byte == 3));
    Ok(())
}

fn every_call_refuses_unknown_devices(stage: &Stage<'_>) -> Outcome {
    let driver = stage.driver;
    let Some(beyond) = DeviceIndex::new(driver.device_count()) else { return Ok(()) };
    let nowhere = sconce_driver::StreamRef::default_of(beyond);
    let event: Event<'_> = stage.event(ZERO)?;
    let memory = stage.memory(ZERO, 4096)?;
    let host = crate::support::host::Pageable::new(4096, 0);
    let handle = IpcHandle([0; 64]);
    let ptr = memory.ptr;
    let flags = sconce_driver::EventFlags::default();
    let refused: Vec<(&str, Option<Error>)> = vec![
        ("memory_alloc", driver.memory_alloc(beyond, 64).err()),
        ("memory_free", driver.memory_free(beyond, ptr).err()),
        ("host_alloc", driver.host_alloc(beyond, 64).err()),
        ("host_register", driver.host_register(beyond, host.raw(), 4096).err()),
        ("virtual_granularity", driver.virtual_granularity(beyond).err()),
        ("physical_create", driver.physical_create(beyond, 2 << 20, false).err()),
        ("stream_create", driver.stream_create(beyond, StreamFlags::default(), 0).err()),
        ("stream_synchronize", driver.stream_synchronize(nowhere).err()),
        ("stream_query", driver.stream_query(nowhere).err()),
        ("stream_check", driver.stream_check(nowhere).err()),
        ("stream_id", driver.stream_id(nowhere).err()),
        ("stream_priority", driver.stream_priority(nowhere).err()),
        ("stream_is_capturing", driver.stream_is_capturing(nowhere).err()),
        ("stream_wait_event", driver.stream_wait_event(nowhere, event.handle).err()),
        ("event_create", driver.event_create(beyond, flags).err()),
        ("event_record", driver.event_record(event.handle, nowhere).err()),
        ("fill_async", driver.fill_async(ptr, 0, 64, nowhere).err()),
        ("copy_async", driver.copy_async(ptr.into(), host.raw(), 64, nowhere).err()),
        ("module_load", driver.module_load(beyond, &crate::support::subject::PROBE).err()),
        ("ipc_memory_open", driver.ipc_memory_open(beyond, &handle).err()),
        ("ipc_event_open", driver.ipc_event_open(beyond, &handle).err()),
    ];
    for (call, error) in refused {
        let error = error.unwrap_or_else(|| panic!("{call} takes a device that does not exist"));
        assert_eq!(error.status(), Status::InvalidDevice, "{call}: {error}");
    }
    let peer =
        driver.copy_peer_async((beyond, ptr), (ZERO, ptr), 64, stage.default_stream(ZERO).at);
    fails_with(peer, Status::InvalidDevice);
    memory.free()?; // The refused free did not free it.
    Ok(())
}
