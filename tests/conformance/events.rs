//! Events: records, queries, waits of the host, and time.

use std::time::{Duration, Instant};

use sconce_base::error::Status;
use sconce_base::types::DeviceIndex;
use sconce_driver::EventFlags;

use crate::support::host;
use crate::support::stage::{Outcome, Stage, carries_number, fails, fails_with};

crate::support::runner::tests![
    a_never_recorded_event_is_complete,
    a_record_completes_with_the_work_before_it,
    work_queued_after_a_record_does_not_count,
    a_new_record_replaces_the_old_one,
    a_record_may_move_between_streams,
    synchronize_waits_for_the_newest_record,
    synchronize_ignores_a_record_made_meanwhile,
    blocking_sync_sleeps,
    synchronize_works_from_any_thread,
    destroying_a_pending_event_keeps_its_waits,
    elapsed_measures_the_work_between,
    elapsed_times_add_up,
    elapsed_of_pending_events_is_not_ready,
    elapsed_needs_timing_and_records,
    timing_excludes_interprocess,
    every_flag_makes_a_working_event,
    a_record_needs_a_stream_of_its_device,
];

const ZERO: DeviceIndex = DeviceIndex::ZERO;

fn a_never_recorded_event_is_complete(stage: &Stage<'_>) -> Outcome {
    for device in stage.devices() {
        let event = stage.event(device)?;
        assert_ne!(event.handle.native(), 0);
        assert!(event.query()?);
        event.synchronize()?;
        event.destroy()?;
    }
    Ok(())
}

fn a_record_completes_with_the_work_before_it(stage: &Stage<'_>) -> Outcome {
    let stream = stage.stream(ZERO)?;
    let event = stage.event(ZERO)?;
    let gate = stream.gate()?;
    stream.record(&event)?;
    event.assert_stays_pending("its work is held")?;
    gate.open();
    event.assert_completes("its work goes on")?;
    stream.synchronize()?;
    Ok(())
}

fn work_queued_after_a_record_does_not_count(stage: &Stage<'_>) -> Outcome {
    let stream = stage.stream(ZERO)?;
    let event = stage.event(ZERO)?;
    stream.record(&event)?;
    let gate = stream.gate()?;
    event.assert_completes("only later work is held")?;
    assert!(!stream.query()?);
    event.synchronize()?;
    gate.open();
    stream.synchronize()?;
    Ok(())
}

fn a_new_record_replaces_the_old_one(stage: &Stage<'_>) -> Outcome {
    let stream = stage.stream(ZERO)?;
    let event = stage.event(ZERO)?;
    for _ in 0..3 {
        stream.record(&event)?;
        stream.synchronize()?;
        assert!(event.query()?);
        let gate = stream.gate()?;
        stream.record(&event)?;
        assert!(!event.query()?, "the newest record is pending");
        gate.open();
        event.synchronize()?;
        assert!(event.query()?);
    }
    Ok(())
}

fn a_record_may_move_between_streams(stage: &Stage<'_>) -> Outcome {
    let (first, second) = (stage.stream(ZERO)?, stage.stream(ZERO)?);
    let event = stage.event(ZERO)?;
    let gate = first.gate()?;
    first.record(&event)?;
    assert!(!event.query()?);
    second.record(&event)?;
    event.assert_completes("the newest record is on the idle stream")?;
    gate.open();
    first.synchronize()?;
    Ok(())
}

fn synchronize_waits_for_the_newest_record(stage: &Stage<'_>) -> Outcome {
    let probe = stage.probe(ZERO)?;
    let stream = stage.stream(ZERO)?;
    for blocking_sync in [false, true] {
        let flags = EventFlags { blocking_sync, ..EventFlags::default() };
        let (event, check) = (stage.event_with(ZERO, flags)?, stage.event(ZERO)?);
        stream.record(&event)?;
        probe.sleep_ms(&stream, 50)?;
        stream.record(&check)?;
        stream.record(&event)?;
        event.synchronize()?;
        assert!(check.query()? && event.query()?, "blocking_sync: {blocking_sync}");
    }
    Ok(())
}

fn synchronize_ignores_a_record_made_meanwhile(stage: &Stage<'_>) -> Outcome {
    let probe = stage.probe(ZERO)?;
    let (stream, held) = (stage.stream(ZERO)?, stage.stream(ZERO)?);
    let event = stage.event(ZERO)?;
    probe.sleep_ms(&stream, 250)?;
    stream.record(&event)?;
    std::thread::scope(|scope| {
        let (send, about_to_wait) = std::sync::mpsc::channel();
        let event = &event;
        let waiter = scope.spawn(move || {
            send.send(()).unwrap();
            event.synchronize()
        });
        about_to_wait.recv().unwrap();
        std::thread::sleep(Duration::from_millis(80)); // By now the other thread waits.
        let gate = held.gate()?;
        held.record(event)?;
        stream.synchronize()?;
        let start = Instant::now();
        while !waiter.is_finished() {
            assert!(
                start.elapsed() < crate::support::stage::SOON,
                "waits for a record made after the call"
            );
            std::thread::sleep(Duration::from_millis(1));
        }
        gate.open();
        waiter.join().unwrap()
    })?;
    held.synchronize()?;
    Ok(())
}

fn blocking_sync_sleeps(stage: &Stage<'_>) -> Outcome {
    let probe = stage.probe(ZERO)?;
    let stream = stage.stream(ZERO)?;
    let flags = EventFlags { blocking_sync: true, ..EventFlags::default() };
    let event = stage.event_with(ZERO, flags)?;
    probe.sleep_ms(&stream, 300)?;
    stream.record(&event)?;
    let before = host::thread_cpu_time();
    event.synchronize()?;
    let used = host::thread_cpu_time() - before;
    assert!(used < Duration::from_millis(100), "waiting 300 ms took {used:?} of processor time");
    Ok(())
}

fn synchronize_works_from_any_thread(stage: &Stage<'_>) -> Outcome {
    for device in stage.devices() {
        let probe = stage.probe(device)?;
        let stream = stage.stream(device)?;
        let (event, check) = (stage.event(device)?, stage.event(device)?);
        probe.sleep_ms(&stream, 30)?;
        stream.record(&check)?;
        stream.record(&event)?;
        let complete = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..4)
                .map(|_| scope.spawn(|| event.synchronize().and_then(|()| check.query())))
                .collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect::<Vec<_>>()
        });
        for complete in complete {
            assert!(complete?, "a thread came back early");
        }
    }
    Ok(())
}

fn destroying_a_pending_event_keeps_its_waits(stage: &Stage<'_>) -> Outcome {
    let (first, second) = (stage.stream(ZERO)?, stage.stream(ZERO)?);
    let (gone, after) = (stage.event(ZERO)?, stage.event(ZERO)?);
    let gate = first.gate()?;
    first.record(&gone)?;
    second.wait(&gone)?;
    second.record(&after)?;
    gone.destroy()?;
    after.assert_stays_pending("its wait outlives the event")?;
    gate.open(); // Fails if destroying had waited.
    after.assert_completes("the work it waits for is done")?;
    first.synchronize()?;
    Ok(())
}

fn elapsed_measures_the_work_between(stage: &Stage<'_>) -> Outcome {
    for device in stage.devices() {
        let probe = stage.probe(device)?;
        let stream = stage.stream(device)?;
        let (start, end) = (stage.timed_event(device)?, stage.timed_event(device)?);
        stream.record(&start)?;
        probe.sleep_ms(&stream, 20)?;
        stream.record(&end)?;
        stream.synchronize()?;
        let ms = start.ms_until(&end)?;
        // Half a microsecond is what a GPU's time stamps resolve; the upper bound allows for load.
        assert!((19.99..1000.0).contains(&ms), "a sleep of 20 ms took {ms} ms");
        assert_eq!(start.ms_until(&start)?, 0.0);
    }
    Ok(())
}

fn elapsed_times_add_up(stage: &Stage<'_>) -> Outcome {
    let probe = stage.probe(ZERO)?;
    let stream = stage.stream(ZERO)?;
    let events = [stage.timed_event(ZERO)?, stage.timed_event(ZERO)?, stage.timed_event(ZERO)?];
    stream.record(&events[0])?;
    probe.sleep_ms(&stream, 5)?;
    stream.record(&events[1])?;
    probe.sleep_ms(&stream, 10)?;
    stream.record(&events[2])?;
    stream.synchronize()?;
    let (a, b) = (events[0].ms_until(&events[1])?, events[1].ms_until(&events[2])?);
    let both = events[0].ms_until(&events[2])?;
    assert!(a >= 4.99 && b >= 9.99, "{a} {b}");
    assert!((both - a - b).abs() < 0.01, "{a} + {b} is not {both}");
    Ok(())
}

fn elapsed_of_pending_events_is_not_ready(stage: &Stage<'_>) -> Outcome {
    let stream = stage.stream(ZERO)?;
    let (start, end) = (stage.timed_event(ZERO)?, stage.timed_event(ZERO)?);
    stream.record(&start)?;
    stream.synchronize()?;
    let gate = stream.gate()?;
    stream.record(&end)?;
    let error = fails_with(start.ms_until(&end), Status::NotReady);
    carries_number(&error);
    fails_with(end.ms_until(&start), Status::NotReady);
    gate.open();
    end.synchronize()?;
    assert!(start.ms_until(&end)? >= 0.0);
    Ok(())
}

fn elapsed_needs_timing_and_records(stage: &Stage<'_>) -> Outcome {
    let stream = stage.stream(ZERO)?;
    let (untimed, timed) = (stage.event(ZERO)?, stage.timed_event(ZERO)?);
    let never = stage.timed_event(ZERO)?;
    stream.record(&untimed)?;
    stream.record(&timed)?;
    stream.synchronize()?;
    for (start, end) in [(&untimed, &timed), (&timed, &untimed), (&never, &timed), (&timed, &never)]
    {
        let error = fails(start.ms_until(end));
        assert_ne!(error.status(), Status::NotReady, "waiting would not help: {error}");
    }
    Ok(())
}

fn timing_excludes_interprocess(stage: &Stage<'_>) -> Outcome {
    let flags = EventFlags { timing: true, blocking_sync: false, interprocess: true };
    fails(stage.driver.event_create(ZERO, flags));
    Ok(())
}

fn every_flag_makes_a_working_event(stage: &Stage<'_>) -> Outcome {
    let stream = stage.stream(ZERO)?;
    for blocking_sync in [false, true] {
        for (timing, interprocess) in [(false, false), (true, false), (false, true)] {
            let flags = EventFlags { timing, blocking_sync, interprocess };
            let event = stage.event_with(ZERO, flags)?;
            let gate = stream.gate()?;
            stream.record(&event)?;
            assert!(!event.query()?, "{flags:?}");
            gate.open();
            event.synchronize()?;
            assert!(event.query()?, "{flags:?}");
            event.destroy()?;
        }
    }
    Ok(())
}

fn a_record_needs_a_stream_of_its_device(stage: &Stage<'_>) -> Outcome {
    let (here, there) = stage.two_devices()?;
    let event = stage.event(here)?;
    let stream = stage.stream(there)?;
    fails(stream.record(&event));
    assert!(event.query()?, "the failed record left no trace");
    let own = stage.stream(here)?;
    own.record(&event)?;
    event.synchronize()?;
    Ok(())
}
