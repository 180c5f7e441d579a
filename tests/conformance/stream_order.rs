//! The order between streams: waits for events, and the legacy default stream.

use sconce_base::types::DeviceIndex;

use crate::support::stage::{Outcome, Stage, Stream};

crate::support::runner::tests![
    a_wait_orders_later_work_after_the_record,
    a_wait_lets_earlier_work_go_first,
    a_wait_binds_when_it_is_queued_not_when_it_runs,
    a_later_record_does_not_release_an_earlier_wait,
    a_wait_on_a_never_recorded_event_has_no_effect,
    a_wait_on_a_complete_event_has_no_effect,
    one_event_releases_many_streams,
    waits_work_across_devices,
    the_default_stream_waits_for_blocking_streams,
    blocking_streams_wait_for_the_default_stream,
    blocking_streams_do_not_wait_for_each_other,
    non_blocking_streams_and_the_default_stream_ignore_each_other,
    default_streams_of_two_devices_ignore_each_other,
    two_streams_overlap,
    one_stream_does_not_overlap_itself,
];

const ZERO: DeviceIndex = DeviceIndex::ZERO;

fn a_wait_orders_later_work_after_the_record(stage: &Stage<'_>) -> Outcome {
    let probe = stage.probe(ZERO)?;
    let (first, second) = (stage.stream(ZERO)?, stage.stream(ZERO)?);
    let memory = stage.memory(ZERO, 4096)?;
    let (written, read) = (stage.event(ZERO)?, stage.event(ZERO)?);
    for round in 0..20 {
        let gate = first.gate()?;
        probe.fill(&first, memory.ptr, 1024, round)?;
        first.record(&written)?;
        second.wait(&written)?;
        probe.add(&second, memory.ptr, 1024, 500)?;
        second.record(&read)?;
        gate.open();
        first.wait(&read)?;
        first.synchronize()?;
        let words = stage.words(ZERO, memory.ptr, 1024)?;
        assert!(words.iter().all(|word| *word == round + 500), "{:?}", &words[..4]);
    }
    Ok(())
}

fn a_wait_lets_earlier_work_go_first(stage: &Stage<'_>) -> Outcome {
    let (first, second) = (stage.stream(ZERO)?, stage.stream(ZERO)?);
    let (far, before, after) = (stage.event(ZERO)?, stage.event(ZERO)?, stage.event(ZERO)?);
    let gate = first.gate()?;
    first.record(&far)?;
    second.record(&before)?;
    second.wait(&far)?;
    second.record(&after)?;
    before.assert_completes("it was queued before the wait")?;
    after.assert_stays_pending("it was queued after the wait")?;
    assert!(!second.query()?);
    gate.open();
    after.assert_completes("the wait is over")?;
    Ok(())
}

fn a_wait_binds_when_it_is_queued_not_when_it_runs(stage: &Stage<'_>) -> Outcome {
    let probe = stage.probe(ZERO)?;
    let (recorder, waiter) = (stage.stream(ZERO)?, stage.stream(ZERO)?);
    let (moved, after) = (stage.event(ZERO)?, stage.event(ZERO)?);
    recorder.record(&moved)?;
    recorder.synchronize()?;
    probe.sleep_ms(&waiter, 40)?; // The wait runs after the second record is queued.
    waiter.wait(&moved)?;
    waiter.record(&after)?;
    let gate = recorder.gate()?;
    recorder.record(&moved)?;
    assert!(!moved.query()?);
    after.assert_completes("its wait is bound to the first record")?;
    assert!(!moved.query()?, "the second record is behind a closed gate");
    gate.open();
    recorder.synchronize()?;
    Ok(())
}

fn a_later_record_does_not_release_an_earlier_wait(stage: &Stage<'_>) -> Outcome {
    let (held, waiter, free) = (stage.stream(ZERO)?, stage.stream(ZERO)?, stage.stream(ZERO)?);
    let (moved, after) = (stage.event(ZERO)?, stage.event(ZERO)?);
    let gate = held.gate()?;
    held.record(&moved)?;
    waiter.wait(&moved)?;
    waiter.record(&after)?;
    free.record(&moved)?;
    moved.assert_completes("its newest record is on an idle stream")?;
    after.assert_stays_pending("its wait is bound to the first record")?;
    gate.open();
    after.assert_completes("the first record is complete")?;
    Ok(())
}

fn a_wait_on_a_never_recorded_event_has_no_effect(stage: &Stage<'_>) -> Outcome {
    let stream = stage.stream(ZERO)?;
    let (never, after) = (stage.event(ZERO)?, stage.event(ZERO)?);
    stream.wait(&never)?;
    stream.record(&after)?;
    after.assert_completes("there is nothing to wait for")?;
    // Not even when the event is recorded later.
    let late = stage.event(ZERO)?;
    let held = stage.stream(ZERO)?;
    let probe = stage.probe(ZERO)?;
    probe.sleep_ms(&stream, 40)?;
    stream.wait(&late)?;
    stream.record(&after)?;
    let gate = held.gate()?;
    held.record(&late)?;
    after.assert_completes("the record came after the wait")?;
    gate.open();
    held.synchronize()?;
    Ok(())
}

fn a_wait_on_a_complete_event_has_no_effect(stage: &Stage<'_>) -> Outcome {
    let (first, second) = (stage.stream(ZERO)?, stage.stream(ZERO)?);
    let (done, after) = (stage.event(ZERO)?, stage.event(ZERO)?);
    first.record(&done)?;
    first.synchronize()?;
    let gate = first.gate()?;
    second.wait(&done)?;
    second.record(&after)?;
    after.assert_completes("the event is complete; later work of its stream does not count")?;
    gate.open();
    first.synchronize()?;
    Ok(())
}

fn one_event_releases_many_streams(stage: &Stage<'_>) -> Outcome {
    let source = stage.stream(ZERO)?;
    let start = stage.event(ZERO)?;
    let gate = source.gate()?;
    source.record(&start)?;
    let mut followers = Vec::new();
    for _ in 0..16 {
        let (stream, event) = (stage.stream(ZERO)?, stage.event(ZERO)?);
        stream.wait(&start)?;
        stream.record(&event)?;
        followers.push((stream, event));
    }
    for (stream, event) in &followers {
        assert!(!stream.query()? && !event.query()?);
    }
    gate.open();
    for (_, event) in &followers {
        event.assert_completes("the event it waits for is complete")?;
    }
    Ok(())
}

fn waits_work_across_devices(stage: &Stage<'_>) -> Outcome {
    let (here, there) = stage.two_devices()?;
    for (from, to) in [(here, there), (there, here)] {
        let (source, target) = (stage.stream(from)?, stage.stream(to)?);
        let (start, end) = (stage.event(from)?, stage.event(to)?);
        let gate = source.gate()?;
        source.record(&start)?;
        target.wait(&start)?;
        target.record(&end)?;
        end.assert_stays_pending("it waits for the other device")?;
        gate.open();
        end.assert_completes("the other device is done")?;
        source.synchronize()?;
        target.synchronize()?;
    }
    Ok(())
}

/// Holds `first`, queues work on `second`, and tells whether that work waits for `first`.
fn second_waits(stage: &Stage<'_>, first: &Stream<'_>, second: &Stream<'_>) -> Outcome<bool> {
    let device = second.at.device;
    let probe = stage.probe(device)?;
    let memory = stage.memory(device, 4096)?;
    let done = stage.event(device)?;
    let gate = first.gate()?;
    probe.fill(second, memory.ptr, 16, 1)?;
    second.record(&done)?;
    // Long enough for an idle machine; a loaded one is given more before it counts as waiting.
    let start = std::time::Instant::now();
    let mut ended = false;
    while !ended && start.elapsed().as_millis() < 300 {
        ended = done.query()?;
        std::thread::sleep(std::time::Duration::from_millis(1));
    }
    gate.open();
    done.assert_completes("nothing is held any more")?;
    first.synchronize()?;
    second.synchronize()?;
    Ok(!ended)
}

fn the_default_stream_waits_for_blocking_streams(stage: &Stage<'_>) -> Outcome {
    let (held, default) = (stage.blocking_stream(ZERO)?, stage.default_stream(ZERO));
    assert!(second_waits(stage, &held, &default)?);
    Ok(())
}

fn blocking_streams_wait_for_the_default_stream(stage: &Stage<'_>) -> Outcome {
    let (default, stream) = (stage.default_stream(ZERO), stage.blocking_stream(ZERO)?);
    assert!(second_waits(stage, &default, &stream)?);
    Ok(())
}

fn blocking_streams_do_not_wait_for_each_other(stage: &Stage<'_>) -> Outcome {
    let (held, other) = (stage.blocking_stream(ZERO)?, stage.blocking_stream(ZERO)?);
    assert!(!second_waits(stage, &held, &other)?);
    Ok(())
}

fn non_blocking_streams_and_the_default_stream_ignore_each_other(stage: &Stage<'_>) -> Outcome {
    let (stream, default) = (stage.stream(ZERO)?, stage.default_stream(ZERO));
    assert!(!second_waits(stage, &stream, &default)?, "the default stream waited");
    assert!(!second_waits(stage, &default, &stream)?, "the non-blocking stream waited");
    Ok(())
}

fn default_streams_of_two_devices_ignore_each_other(stage: &Stage<'_>) -> Outcome {
    let (here, there) = stage.two_devices()?;
    let (first, second) = (stage.default_stream(here), stage.default_stream(there));
    assert!(!second_waits(stage, &first, &second)?);
    let blocking = stage.blocking_stream(there)?;
    assert!(!second_waits(stage, &first, &blocking)?);
    Ok(())
}

/// Milliseconds from a common start to the end of a 150 ms sleep on each of two streams.
fn two_sleeps(stage: &Stage<'_>, first: &Stream<'_>, second: &Stream<'_>) -> Outcome<f32> {
    let probe = stage.probe(ZERO)?;
    let start = stage.timed_event(ZERO)?;
    let (first_end, second_end) = (stage.timed_event(ZERO)?, stage.timed_event(ZERO)?);
    first.record(&start)?;
    probe.sleep_ms(first, 150)?;
    first.record(&first_end)?;
    probe.sleep_ms(second, 150)?;
    second.record(&second_end)?;
    first.synchronize()?;
    second.synchronize()?;
    Ok(start.ms_until(&first_end)?.max(start.ms_until(&second_end)?))
}

fn two_streams_overlap(stage: &Stage<'_>) -> Outcome {
    let (first, second) = (stage.stream(ZERO)?, stage.stream(ZERO)?);
    let both = two_sleeps(stage, &first, &second)?;
    assert!((149.0..270.0).contains(&both), "two sleeps of 150 ms took {both} ms");
    Ok(())
}

fn one_stream_does_not_overlap_itself(stage: &Stage<'_>) -> Outcome {
    let stream = stage.stream(ZERO)?;
    let both = two_sleeps(stage, &stream, &stream)?;
    assert!(both >= 299.0, "two sleeps of 150 ms took {both} ms");
    Ok(())
}
