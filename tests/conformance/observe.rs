//! Reports of the allocator's blocks: a backend takes them without effect on anything that it does.
//!
//! The trait only takes reports. That the allocator makes the right ones, in the right order, is
//! checked in `tests/memory/history.rs`.

use sconce_base::types::DevicePtr;
use sconce_driver::StreamRef;

use crate::support::stage::{Outcome, Stage, pattern};

crate::support::runner::tests![
    whether_blocks_are_observed_does_not_depend_on_reports,
    reports_neither_wait_nor_touch_the_block,
    reports_make_no_context,
    threads_report_at_once,
];

/// The reports of one block, in their order.
fn report(stage: &Stage<'_>, own: StreamRef, users: &[StreamRef], block: DevicePtr, bytes: usize) {
    stage.driver.block_handed_out(own, block, bytes);
    for user in users {
        stage.driver.block_used(*user, block);
    }
    stage.driver.block_taken_back(own, block);
}

fn whether_blocks_are_observed_does_not_depend_on_reports(stage: &Stage<'_>) -> Outcome {
    let device = stage.devices()[0];
    let observes = stage.driver.observes_blocks();
    let memory = stage.memory(device, 4096)?;
    let [own, other] = [stage.stream(device)?, stage.stream(device)?];
    for bytes in [4096, 512] {
        report(stage, own.at, &[other.at, other.at], memory.ptr, bytes);
        assert_eq!(stage.driver.observes_blocks(), observes);
    }
    Ok(())
}

fn reports_neither_wait_nor_touch_the_block(stage: &Stage<'_>) -> Outcome {
    let device = stage.devices()[0];
    let probe = stage.probe(device)?;
    let memory = stage.memory(device, 4096)?;
    let content = pattern(4096, 3);
    let pinned = stage.pinned(device, 4096, 0)?;
    pinned.write(&content);
    let [own, other] = [stage.stream(device)?, stage.stream(device)?];
    stage.driver.copy_async(memory.ptr.into(), pinned.raw(), 4096, own.at)?;
    own.synchronize()?;
    let gates = own.gate()?;
    // Between two kernels that use the blocks, of which one is inside the allocation.
    probe.add(&own, memory.ptr, 4, 0)?;
    report(stage, own.at, &[other.at], memory.ptr, 512);
    report(
        stage,
        own.at,
        &[other.at, stage.default_stream(device).at],
        memory.ptr.offset(512),
        3584,
    );
    probe.add(&own, memory.ptr.offset(512), 4, 0)?;
    assert!(!own.query()?, "the stream stands still");
    assert!(other.query()?, "a report queued something");
    gates.open();
    own.synchronize()?;
    assert_eq!(stage.read(device, memory.ptr, 4096)?, content);
    Ok(memory.free()?)
}

fn reports_make_no_context(stage: &Stage<'_>) -> Outcome {
    let machine = stage.machine(1)?;
    let driver = machine.driver();
    let fresh = Stage { driver, subject: stage.subject };
    for device in fresh.devices() {
        let before = driver.context_is_active(device)?;
        report(&fresh, StreamRef::default_of(device), &[], DevicePtr(1 << 40), 512);
        assert_eq!(driver.context_is_active(device)?, before);
    }
    Ok(())
}

fn threads_report_at_once(stage: &Stage<'_>) -> Outcome {
    let device = stage.devices()[0];
    let memory = stage.memory(device, 8 * 512)?;
    let streams = [stage.stream(device)?, stage.stream(device)?];
    std::thread::scope(|scope| {
        for index in 0..8_u64 {
            let (streams, block) = (&streams, memory.ptr.offset(512 * index));
            scope.spawn(move || {
                for _ in 0..200 {
                    report(stage, streams[0].at, &[streams[1].at], block, 512);
                }
            });
        }
    });
    // The driver goes on as before.
    stage.driver.fill_async(memory.ptr, 9, memory.bytes, streams[1].at)?;
    let content = stage.read(device, memory.ptr, memory.bytes)?;
    assert!(content.iter().all(|byte| *byte == 9));
    Ok(())
}
