//! Many at once: streams, events, devices, threads.

use std::sync::atomic::{AtomicUsize, Ordering};

use sconce_base::error::Result;
use sconce_base::types::DeviceIndex;

use crate::support::host;
use crate::support::stage::{Outcome, Stage};

crate::support::runner::tests![
    a_thousand_streams,
    ten_thousand_events,
    eight_devices,
    sixteen_threads_on_all_devices,
    sixteen_threads_on_one_stream,
    threads_that_hand_events_around,
];

const ZERO: DeviceIndex = DeviceIndex::ZERO;
const THREADS: usize = 16;

/// Runs `work` on 16 threads at once.
fn on_threads(work: impl Fn(usize) -> Result<()> + Sync) -> Result<()> {
    let start = std::sync::Barrier::new(THREADS);
    let (start, work) = (&start, &work);
    std::thread::scope(|scope| {
        let run = move |i| {
            start.wait();
            work(i)
        };
        let threads: Vec<_> = (0..THREADS).map(|i| scope.spawn(move || run(i))).collect();
        threads.into_iter().try_for_each(|thread| thread.join().unwrap())
    })
}

fn a_thousand_streams(stage: &Stage<'_>) -> Outcome {
    const STREAMS: usize = 1000;
    let probe = stage.probe(ZERO)?;
    let memory = stage.memory(ZERO, STREAMS * 64)?;
    let setup = stage.stream(ZERO)?;
    stage.driver.fill_async(memory.ptr, 0, STREAMS * 64, setup.at)?;
    setup.synchronize()?;
    let streams: Vec<_> = (0..STREAMS).map(|_| stage.stream(ZERO)).collect::<Result<_>>()?;
    for _ in 0..3 {
        for (i, stream) in streams.iter().enumerate() {
            probe.add(stream, memory.ptr.offset(64 * i as u64), 16, i as u32 + 1)?;
        }
    }
    stage.driver.device_synchronize(ZERO)?;
    for stream in &streams {
        assert!(stream.query()?);
    }
    let words = stage.words(ZERO, memory.ptr, STREAMS * 16)?;
    for (i, words) in words.chunks(16).enumerate() {
        assert!(words.iter().all(|word| *word == 3 * (i as u32 + 1)), "stream {i}: {words:?}");
    }
    Ok(())
}

fn ten_thousand_events(stage: &Stage<'_>) -> Outcome {
    let (first, second) = (stage.stream(ZERO)?, stage.stream(ZERO)?);
    for _ in 0..10 {
        let events: Vec<_> = (0..1000).map(|_| stage.event(ZERO)).collect::<Result<_>>()?;
        for (i, event) in events.iter().enumerate() {
            let (from, to) = if i % 2 == 0 { (&first, &second) } else { (&second, &first) };
            from.record(event)?;
            to.wait(event)?;
        }
        first.synchronize()?;
        second.synchronize()?;
        for event in events {
            assert!(event.query()?);
            event.destroy()?;
        }
    }
    Ok(())
}

fn eight_devices(stage: &Stage<'_>) -> Outcome {
    let machine = stage.machine(8)?;
    let stage = &Stage { driver: machine.driver(), subject: stage.subject };
    let devices = stage.devices();
    let mut places = Vec::new();
    for device in &devices {
        places.push((
            stage.probe(*device)?,
            stage.stream(*device)?,
            stage.memory(*device, 4096)?,
            stage.event(*device)?,
        ));
    }
    // A block of words goes round all devices three times; each adds one on the way.
    let (probe, stream, memory, event) = &places[0];
    probe.fill(stream, memory.ptr, 1024, 0)?;
    stream.record(event)?;
    for hop in 0..3 * places.len() {
        let (_, _, from, arrived) = &places[hop % places.len()];
        let (probe, stream, to, done) = &places[(hop + 1) % places.len()];
        stream.wait(arrived)?;
        let pair = ((to.device, to.ptr), (from.device, from.ptr));
        stage.driver.copy_peer_async(pair.0, pair.1, 4096, stream.at)?;
        probe.add(stream, to.ptr, 1024, 1)?;
        stream.record(done)?;
    }
    for device in &devices {
        stage.driver.device_synchronize(*device)?;
    }
    let words = stage.words(devices[0], places[0].2.ptr, 1024)?;
    assert!(words.iter().all(|word| *word == 3 * devices.len() as u32), "{:?}", &words[..4]);
    Ok(())
}

fn sixteen_threads_on_all_devices(stage: &Stage<'_>) -> Outcome {
    let devices = stage.devices();
    let probes: Vec<_> =
        devices.iter().map(|device| stage.probe(*device)).collect::<Result<_>>()?;
    on_threads(|i| {
        let which = i % devices.len();
        let (device, probe) = (devices[which], &probes[which]);
        if i % 3 == 0 {
            stage.driver.bind_device(devices[i % devices.len()])?;
        }
        let memory = stage.memory(device, 4096)?;
        for round in 0..25 {
            let (a, b) = (stage.stream(device)?, stage.blocking_stream(device)?);
            let (done, back) = (stage.event(device)?, stage.timed_event(device)?);
            probe.fill(&a, memory.ptr, 1024, round)?;
            a.record(&done)?;
            b.wait(&done)?;
            probe.add(&b, memory.ptr, 1024, i as u32)?;
            b.record(&back)?;
            back.query()?;
            a.wait(&back)?;
            stage.driver.fill_async(memory.ptr, 0, 64, a.at)?;
            a.synchronize()?;
            assert!(done.query()? && back.query()? && b.query()?);
        }
        let words = stage.words(device, memory.ptr, 1024)?;
        assert!(words[..16].iter().all(|word| *word == 0));
        assert!(words[16..].iter().all(|word| *word == 24 + i as u32), "thread {i}");
        Ok(())
    })?;
    Ok(())
}

fn sixteen_threads_on_one_stream(stage: &Stage<'_>) -> Outcome {
    static RAN: AtomicUsize = AtomicUsize::new(0);
    let before = RAN.load(Ordering::SeqCst);
    let probe = stage.probe(ZERO)?;
    let stream = stage.stream(ZERO)?;
    let memory = stage.memory(ZERO, 4096)?;
    let event = stage.event(ZERO)?;
    probe.fill(&stream, memory.ptr, 1024, 0)?;
    on_threads(|i| {
        for round in 0..30 {
            probe.add(&stream, memory.ptr, 1024, 1)?;
            if round % 5 == i % 5 {
                stage.driver.launch_host_function(stream.at, host::counting(&RAN))?;
                stream.record(&event)?;
                event.query()?;
                event.synchronize()?;
            }
        }
        stream.synchronize()
    })?;
    let words = stage.words(ZERO, memory.ptr, 1024)?;
    assert!(words.iter().all(|word| *word == 30 * THREADS as u32), "{:?}", &words[..4]);
    assert_eq!(RAN.load(Ordering::SeqCst) - before, 6 * THREADS);
    Ok(())
}

fn threads_that_hand_events_around(stage: &Stage<'_>) -> Outcome {
    let devices = stage.devices();
    let count = devices.len();
    let streams: Vec<_> =
        (0..THREADS).map(|i| stage.stream(devices[i % count])).collect::<Result<_>>()?;
    let events: Vec<_> =
        (0..THREADS).map(|i| stage.event(devices[i % count])).collect::<Result<_>>()?;
    // Everybody records its own event and waits for everybody's, of every device, in any order.
    on_threads(|i| {
        for round in 0..20 {
            streams[i].record(&events[i])?;
            for j in 0..THREADS {
                streams[i].wait(&events[(i + j * 5 + round) % THREADS])?;
            }
        }
        Ok(())
    })?;
    for (stream, event) in streams.iter().zip(&events) {
        event.assert_completes("waits bound to earlier records make no circle")?;
        stream.synchronize()?;
        assert!(stream.query()?);
    }
    Ok(())
}
