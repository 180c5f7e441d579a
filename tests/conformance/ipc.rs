//! Memory and events shared with another process: the suite's binary, run again.

use std::os::fd::AsRawFd as _;

use sconce_base::types::{DeviceIndex, DevicePtr};
use sconce_driver::{EventFlags, IpcHandle};

use crate::support::child::{self, Child, Role};
use crate::support::host;
use crate::support::stage::{Outcome, Stage, fails};
use crate::virtual_memory::Range;

crate::support::runner::tests![
    another_process_opens_an_allocation,
    an_export_names_the_whole_allocation,
    another_process_sees_and_waits_for_an_event,
    another_process_maps_physical_memory,
    what_cannot_be_shared_is_refused,
];

pub(crate) const ROLES: &[Role] = &[
    Role { name: "ipc-memory", run: open_memory },
    Role { name: "ipc-event", run: open_event },
    Role { name: "ipc-physical", run: map_physical },
];

const ZERO: DeviceIndex = DeviceIndex::ZERO;
const WORDS: usize = 512 << 10;

fn another_process_opens_an_allocation(stage: &Stage<'_>) -> Outcome {
    share(stage, 0)
}

fn an_export_names_the_whole_allocation(stage: &Stage<'_>) -> Outcome {
    share(stage, 4096)
}

/// Exports memory by an address `offset` bytes within it; the child sees the start.
fn share(stage: &Stage<'_>, offset: u64) -> Outcome {
    let (probe, stream) = (stage.probe(ZERO)?, stage.stream(ZERO)?);
    let memory = stage.memory(ZERO, WORDS * 4)?;
    probe.fill(&stream, memory.ptr, WORDS as u64, 7)?;
    probe.fill(&stream, memory.ptr, 1, 70)?;
    stream.synchronize()?;
    let handle = stage.driver.ipc_memory_export(memory.ptr.offset(offset))?;
    let mut child = Child::start(stage, "ipc-memory");
    child.say(&child::to_hex(&handle.0));
    assert_eq!(child.hear(), "changed");
    let words = stage.words(ZERO, memory.ptr, WORDS)?;
    assert_eq!(words[0], 75);
    assert!(words[1..].iter().all(|word| *word == 12), "{:?}", &words[..4]);
    // Both have it at the same time.
    probe.fill(&stream, memory.ptr, 1, 1)?;
    stream.synchronize()?;
    child.say("look");
    assert_eq!(child.hear(), "1");
    child.finish()?;
    assert_eq!(stage.words(ZERO, memory.ptr, 2)?, [1, 12], "closing leaves the memory alone");
    Ok(())
}

fn open_memory(stage: &Stage<'_>) -> Outcome {
    let handle = IpcHandle(child::from_hex(&child::hear()));
    let ptr = stage.driver.ipc_memory_open(ZERO, &handle)?;
    // What the parent says it says behind its work.
    sconce::sconce_sanitizer_heard_from_processes();
    let words = stage.words(ZERO, ptr, WORDS)?;
    assert_eq!(words[0], 70, "the opened address is the start of the allocation");
    assert!(words[1..].iter().all(|word| *word == 7));
    let (probe, stream) = (stage.probe(ZERO)?, stage.stream(ZERO)?);
    probe.add(&stream, ptr, WORDS as u64, 5)?;
    stream.synchronize()?;
    child::say("changed");
    assert_eq!(child::hear(), "look");
    sconce::sconce_sanitizer_heard_from_processes();
    child::say(&stage.words(ZERO, ptr, 1)?[0].to_string());
    stage.driver.ipc_memory_close(ptr)?;
    fails(stage.driver.ipc_memory_close(ptr));
    Ok(())
}

fn another_process_sees_and_waits_for_an_event(stage: &Stage<'_>) -> Outcome {
    let stream = stage.stream(ZERO)?;
    let flags = EventFlags { interprocess: true, ..EventFlags::default() };
    let event = stage.event_with(ZERO, flags)?;
    let handle = stage.driver.ipc_event_export(event.handle)?;
    let mut child = Child::start(stage, "ipc-event");
    child.say(&child::to_hex(&handle.0));
    assert_eq!(child.hear(), "open");
    for _ in 0..2 {
        let gate = stream.gate()?;
        stream.record(&event)?;
        child.say("recorded");
        assert_eq!(child.hear(), "pending: event true, stream true");
        gate.open();
        assert_eq!(child.hear(), "complete");
        assert!(event.query()?);
    }
    child.finish()?;
    stream.record(&event)?;
    event.synchronize()?; // The child's handle is gone, ours is not.
    Ok(())
}

fn open_event(stage: &Stage<'_>) -> Outcome {
    let stream = stage.stream(ZERO)?;
    let after = stage.event(ZERO)?;
    let handle = IpcHandle(child::from_hex(&child::hear()));
    let event = stage.driver.ipc_event_open(ZERO, &handle)?;
    stream.synchronize()?;
    child::say("open");
    for _ in 0..2 {
        assert_eq!(child::hear(), "recorded");
        stage.driver.stream_wait_event(stream.at, event)?;
        stream.record(&after)?;
        std::thread::sleep(crate::support::stage::A_WHILE);
        let pending = (!stage.driver.event_query(event)?, !after.query()?);
        child::say(&format!("pending: event {}, stream {}", pending.0, pending.1));
        stage.driver.event_synchronize(event)?;
        assert!(stage.driver.event_query(event)?);
        after.assert_completes("the other process's event is complete")?;
        child::say("complete");
    }
    stage.driver.event_destroy(event)?;
    Ok(())
}

fn another_process_maps_physical_memory(stage: &Stage<'_>) -> Outcome {
    let unit = stage.driver.virtual_granularity(ZERO)?;
    let memory = stage.driver.physical_create(ZERO, unit, true)?;
    let range = Range::reserve(stage, unit)?;
    range.map(memory, ZERO)?;
    let stream = stage.default_stream(ZERO);
    stage.driver.fill_async(range.ptr, 0x11, unit, stream.at)?;
    stream.synchronize()?;
    let descriptor = host::inheritable(&stage.driver.physical_export(memory)?);
    let mut child = Child::start(stage, "ipc-physical");
    child.say(&descriptor.as_raw_fd().to_string());
    assert_eq!(child.hear(), "written");
    assert!(stage.read(ZERO, range.ptr, unit)?.iter().all(|byte| *byte == 0x22));
    child.finish()?;
    range.unmap()?;
    stage.driver.physical_release(memory)?;
    range.release()?;
    Ok(())
}

fn map_physical(stage: &Stage<'_>) -> Outcome {
    let unit = stage.driver.virtual_granularity(ZERO)?;
    let descriptor = host::adopt(child::hear().parse().expect("a number"));
    let memory = stage.driver.physical_import(ZERO, descriptor)?;
    let range = Range::reserve(stage, unit)?;
    range.map(memory, ZERO)?;
    assert!(stage.read(ZERO, range.ptr, unit)?.iter().all(|byte| *byte == 0x11));
    let stream = stage.default_stream(ZERO);
    stage.driver.fill_async(range.ptr, 0x22, unit, stream.at)?;
    stream.synchronize()?;
    child::say("written");
    range.unmap()?;
    stage.driver.physical_release(memory)?;
    range.release()?;
    Ok(())
}

fn what_cannot_be_shared_is_refused(stage: &Stage<'_>) -> Outcome {
    let event = stage.event(ZERO)?;
    fails(stage.driver.ipc_event_export(event.handle));
    let timed = stage.timed_event(ZERO)?;
    fails(stage.driver.ipc_event_export(timed.handle));
    fails(stage.driver.ipc_memory_export(DevicePtr(0x40)));
    let pinned = stage.pinned(ZERO, 4096, 0)?;
    fails(stage.driver.ipc_memory_export(DevicePtr(pinned.address() as u64)));
    let memory = stage.memory(ZERO, 4096)?;
    fails(stage.driver.ipc_memory_close(memory.ptr));
    Ok(())
}
