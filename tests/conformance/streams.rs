//! Streams one by one: queues that run in order, are asked, awaited, and destroyed.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use parking_lot::Mutex;
use sconce_base::error::Status;
use sconce_base::types::DeviceIndex;
use sconce_driver::{CaptureMode, RelaxedCapture, StreamFlags, StreamRef};

use crate::support::stage::{Outcome, SOON, Stage, fails_with};

crate::support::runner::tests![
    a_new_stream_is_idle_and_not_capturing,
    capture_modes_belong_to_threads,
    work_runs_in_order,
    a_word_is_written_in_order_and_shows_earlier_work,
    query_tells_pending_work_from_finished_work,
    query_stays_false_while_the_last_piece_of_work_runs,
    synchronize_waits_for_all_work_queued_before,
    synchronize_leaves_other_streams_alone,
    synchronize_works_from_any_thread,
    device_synchronize_waits_for_every_stream,
    the_default_stream_is_a_stream_too,
    queueing_never_waits_for_the_stream,
    destroying_a_busy_stream_lets_its_work_run,
    priorities_are_clamped_and_read_back,
    a_priority_range_starts_at_zero,
    check_accepts_live_streams,
    ids_are_never_used_twice,
    unknown_devices_are_refused,
];

const ZERO: DeviceIndex = DeviceIndex::ZERO;

fn a_new_stream_is_idle_and_not_capturing(stage: &Stage<'_>) -> Outcome {
    for device in stage.devices() {
        for non_blocking in [false, true] {
            let stream = stage.stream_with(device, StreamFlags { non_blocking }, 0)?;
            assert_ne!(stream.at.handle.native(), 0, "0 is the default stream");
            assert!(stream.query()?);
            stream.synchronize()?;
            assert!(!stage.driver.stream_is_capturing(stream.at)?);
            stream.destroy()?;
        }
    }
    assert!(!stage.driver.stream_is_capturing(StreamRef::default_of(ZERO))?);
    Ok(())
}

/// What captures themselves do is checked elsewhere: nothing here begins one.
fn capture_modes_belong_to_threads(stage: &Stage<'_>) -> Outcome {
    let exchange = |mode| stage.driver.exchange_capture_mode(mode);
    assert_eq!(exchange(CaptureMode::Relaxed)?, CaptureMode::Global, "threads begin with it");
    assert_eq!(exchange(CaptureMode::ThreadLocal)?, CaptureMode::Relaxed);
    let there = std::thread::scope(|scope| {
        let other = scope.spawn(|| stage.driver.exchange_capture_mode(CaptureMode::Relaxed));
        other.join().unwrap()
    })?;
    assert_eq!(there, CaptureMode::Global);
    {
        let _relaxed = RelaxedCapture::enter(stage.driver)?;
        assert_eq!(exchange(CaptureMode::Relaxed)?, CaptureMode::Relaxed);
        let memory = stage.memory(ZERO, 512)?;
        memory.free()?;
    }
    assert_eq!(exchange(CaptureMode::Global)?, CaptureMode::ThreadLocal, "the scope put it back");
    Ok(())
}

fn work_runs_in_order(stage: &Stage<'_>) -> Outcome {
    let probe = stage.probe(ZERO)?;
    let stream = stage.stream(ZERO)?;
    let memory = stage.memory(ZERO, 4096)?;
    // Each kernel's result depends on all before it.
    for round in 0..50 {
        probe.fill(&stream, memory.ptr, 1024, round)?;
        probe.add(&stream, memory.ptr, 1024, 1000)?;
        stage.driver.fill_async(memory.ptr, 0, 2048, stream.at)?;
        probe.add(&stream, memory.ptr, 1024, 7)?;
    }
    let words = stage.words(ZERO, memory.ptr, 1024)?;
    assert!(words[..512].iter().all(|word| *word == 7), "{:?}", &words[..4]);
    assert!(words[512..].iter().all(|word| *word == 49 + 1000 + 7), "{:?}", &words[512..516]);
    Ok(())
}

fn a_word_is_written_in_order_and_shows_earlier_work(stage: &Stage<'_>) -> Outcome {
    const BYTES: usize = 4096;
    for device in stage.devices() {
        let stream = stage.stream(device)?;
        let memory = stage.memory(device, BYTES)?;
        let target = stage.pinned(device, BYTES, 0)?;
        let word = stage.pinned(device, 8, 0xff)?;
        let place = word.range().part(0, 4);
        for round in 1..=20_u8 {
            let gate = stream.gate()?;
            stage.driver.fill_async(memory.ptr, round, BYTES, stream.at)?;
            stage.driver.copy_async(target.raw(), memory.ptr.into(), BYTES, stream.at)?;
            match stage.driver.stream_write_word(stream.at, place, u32::from(round)) {
                Err(error) if error.status() == Status::NotSupported => {
                    gate.open();
                    return Ok(stream.synchronize()?);
                }
                written => written?,
            }
            let before = if round == 1 { [0xff; 4] } else { u32::from(round - 1).to_le_bytes() };
            assert_eq!(word.read()[..4], before, "the write waits for what the stream had");
            gate.open();
            let start = Instant::now();
            while word.read()[..4] == before {
                assert!(start.elapsed() < SOON, "the word is never written");
                std::thread::yield_now();
            }
            assert_eq!(word.read()[..4], u32::from(round).to_le_bytes());
            assert!(target.read().iter().all(|byte| *byte == round), "round {round}");
        }
        assert_eq!(word.read()[4..], [0xff; 4], "one word is written");
        stream.synchronize()?;
    }
    Ok(())
}

fn query_tells_pending_work_from_finished_work(stage: &Stage<'_>) -> Outcome {
    let stream = stage.stream(ZERO)?;
    let gate = stream.gate()?;
    for _ in 0..100 {
        assert!(!stream.query()?, "work is pending");
    }
    gate.open();
    let start = Instant::now();
    while !stream.query()? {
        assert!(start.elapsed() < SOON, "the stream never becomes idle");
    }
    Ok(())
}

fn query_stays_false_while_the_last_piece_of_work_runs(stage: &Stage<'_>) -> Outcome {
    let stream = stage.stream(ZERO)?;
    let started = Arc::new(AtomicBool::new(false));
    let seen = Arc::clone(&started);
    stream.run(move || seen.store(true, Ordering::SeqCst))?;
    let gate = stream.gate()?;
    let start = Instant::now();
    while !started.load(Ordering::SeqCst) {
        assert!(start.elapsed() < SOON, "the stream does not start");
        std::thread::yield_now();
    }
    // By now nothing is left in the queue: the gate is what runs.
    std::thread::sleep(crate::support::stage::A_WHILE);
    assert!(!stream.query()?, "running work is not finished work");
    gate.open();
    stream.synchronize()?;
    assert!(stream.query()?);
    Ok(())
}

fn synchronize_waits_for_all_work_queued_before(stage: &Stage<'_>) -> Outcome {
    let probe = stage.probe(ZERO)?;
    let stream = stage.stream(ZERO)?;
    let event = stage.event(ZERO)?;
    probe.sleep_ms(&stream, 60)?;
    stream.record(&event)?;
    stream.synchronize()?;
    assert!(event.query()?, "the event was queued before");
    assert!(stream.query()?);
    Ok(())
}

fn synchronize_leaves_other_streams_alone(stage: &Stage<'_>) -> Outcome {
    let (busy, other) = (stage.stream(ZERO)?, stage.stream(ZERO)?);
    let gate = busy.gate()?;
    other.synchronize()?;
    assert!(!busy.query()?);
    gate.open();
    busy.synchronize()?;
    Ok(())
}

fn synchronize_works_from_any_thread(stage: &Stage<'_>) -> Outcome {
    for device in stage.devices() {
        let probe = stage.probe(device)?;
        let stream = stage.stream(device)?;
        for bound in [None, Some(ZERO)] {
            let event = stage.event(device)?;
            probe.sleep_ms(&stream, 20)?;
            stream.record(&event)?;
            let ended = std::thread::scope(|scope| {
                let thread = scope.spawn(|| {
                    if let Some(bound) = bound {
                        stage.driver.bind_device(bound)?;
                    }
                    stream.synchronize()?;
                    event.query()
                });
                thread.join().unwrap()
            })?;
            assert!(ended, "the other thread did not wait");
        }
    }
    Ok(())
}

fn device_synchronize_waits_for_every_stream(stage: &Stage<'_>) -> Outcome {
    let probe = stage.probe(ZERO)?;
    let mut pairs = Vec::new();
    for i in 0..6 {
        let stream = stage.stream_with(ZERO, StreamFlags { non_blocking: i % 2 == 0 }, 0)?;
        let event = stage.event(ZERO)?;
        probe.sleep_ms(&stream, 40 + 5 * i)?;
        stream.record(&event)?;
        pairs.push((stream, event));
    }
    stage.driver.device_synchronize(ZERO)?;
    for (stream, event) in &pairs {
        assert!(stream.query()? && event.query()?, "work of a stream was left");
    }
    Ok(())
}

fn the_default_stream_is_a_stream_too(stage: &Stage<'_>) -> Outcome {
    for device in stage.devices() {
        let probe = stage.probe(device)?;
        let stream = stage.default_stream(device);
        let event = stage.event(device)?;
        let gate = stream.gate()?;
        stream.record(&event)?;
        assert!(!stream.query()?);
        event.assert_stays_pending("it was recorded behind a closed gate")?;
        gate.open();
        stream.synchronize()?;
        assert!(event.query()? && stream.query()?);
        probe.sleep_ms(&stream, 1)?;
        stage.driver.stream_priority(stream.at)?;
        stream.synchronize()?;
    }
    Ok(())
}

fn queueing_never_waits_for_the_stream(stage: &Stage<'_>) -> Outcome {
    let probe = stage.probe(ZERO)?;
    let (stream, waiting) = (stage.stream(ZERO)?, stage.stream(ZERO)?);
    let memory = stage.memory(ZERO, 8192)?;
    let pinned = stage.pinned(ZERO, 4096, 3)?;
    let (event, spare) = (stage.event(ZERO)?, stage.event(ZERO)?);
    // A first copy outside the gate: a driver may set things up for it.
    stage.driver.copy_async(memory.ptr.into(), pinned.raw(), 4096, stream.at)?;
    stream.synchronize()?;
    let order = Arc::new(Mutex::new(Vec::new()));
    let gate = stream.gate()?;
    for i in 0..10 {
        probe.add(&stream, memory.ptr, 16, 1)?;
        stage.driver.fill_async(memory.ptr, 1, 4096, stream.at)?;
        stage.driver.copy_async(memory.ptr.into(), pinned.raw(), 4096, stream.at)?;
        let from = memory.ptr.offset(4096);
        stage.driver.copy_async(from.into(), memory.ptr.into(), 4096, stream.at)?;
        stream.record(&event)?;
        waiting.wait(&event)?;
        let order = Arc::clone(&order);
        stream.run(move || order.lock().push(i))?;
        assert!(!event.query()? && !stream.query()?);
        stage.driver.stream_priority(stream.at)?;
        stage.driver.stream_is_capturing(stream.at)?;
    }
    spare.destroy()?;
    let made = stage.stream(ZERO)?;
    stage.event(ZERO)?.destroy()?;
    made.destroy()?;
    assert!(order.lock().is_empty(), "work passed a closed gate");
    gate.open(); // Fails if one of the calls had waited.
    stream.synchronize()?;
    waiting.synchronize()?;
    assert_eq!(*order.lock(), (0..10).collect::<Vec<_>>());
    Ok(())
}

fn destroying_a_busy_stream_lets_its_work_run(stage: &Stage<'_>) -> Outcome {
    let probe = stage.probe(ZERO)?;
    let stream = stage.stream(ZERO)?;
    let memory = stage.memory(ZERO, 4096)?;
    let event = stage.event(ZERO)?;
    stage.driver.fill_async(memory.ptr, 0, 4096, stream.at)?;
    stream.synchronize()?;
    let gate = stream.gate()?;
    probe.add(&stream, memory.ptr, 1024, 21)?;
    stream.record(&event)?;
    stream.destroy()?;
    event.assert_stays_pending("destroying a stream must not run past its work")?;
    gate.open(); // Fails if destroying had waited.
    event.assert_completes("the work of a destroyed stream still runs")?;
    stage.driver.device_synchronize(ZERO)?;
    assert!(stage.words(ZERO, memory.ptr, 1024)?.iter().all(|word| *word == 21));
    Ok(())
}

fn priorities_are_clamped_and_read_back(stage: &Stage<'_>) -> Outcome {
    for device in stage.devices() {
        let (least, greatest) = stage.driver.stream_priority_range(device)?;
        for wish in [least, greatest, least + 100, greatest - 100, i32::MIN, i32::MAX] {
            let stream = stage.stream_with(device, StreamFlags { non_blocking: true }, wish)?;
            let got = stage.driver.stream_priority(stream.at)?;
            assert_eq!(got, wish.clamp(greatest, least), "asked for {wish}");
        }
    }
    Ok(())
}

fn a_priority_range_starts_at_zero(stage: &Stage<'_>) -> Outcome {
    for device in stage.devices() {
        let (least, greatest) = stage.driver.stream_priority_range(device)?;
        assert_eq!(least, 0);
        assert!(greatest < 0, "greatest is {greatest}");
    }
    Ok(())
}

fn check_accepts_live_streams(stage: &Stage<'_>) -> Outcome {
    for device in stage.devices() {
        stage.driver.stream_check(StreamRef::default_of(device))?;
        let stream = stage.stream(device)?;
        stage.driver.stream_check(stream.at)?;
        let blocking = stage.blocking_stream(device)?;
        stage.driver.stream_check(blocking.at)?;
    }
    Ok(())
}

fn ids_are_never_used_twice(stage: &Stage<'_>) -> Outcome {
    let held = stage.stream(ZERO)?;
    let Some(own) = stage.driver.stream_id(held.at)? else { return Ok(()) };
    let mut seen = vec![own];
    for _ in 0..20 {
        // The handle may come again, the id not.
        let stream = stage.stream(ZERO)?;
        let id = stage.driver.stream_id(stream.at)?.unwrap();
        assert_eq!(stage.driver.stream_id(stream.at)?, Some(id));
        assert!(!seen.contains(&id), "{id} was another stream's");
        seen.push(id);
        stream.destroy()?;
    }
    assert_eq!(stage.driver.stream_id(held.at)?, Some(own));
    Ok(())
}

fn unknown_devices_are_refused(stage: &Stage<'_>) -> Outcome {
    let beyond = DeviceIndex::new(stage.driver.device_count()).unwrap();
    let flags = StreamFlags::default();
    fails_with(stage.driver.stream_create(beyond, flags, 0), Status::InvalidDevice);
    fails_with(stage.driver.stream_priority_range(beyond), Status::InvalidDevice);
    fails_with(stage.driver.stream_query(StreamRef::default_of(beyond)), Status::InvalidDevice);
    Ok(())
}
