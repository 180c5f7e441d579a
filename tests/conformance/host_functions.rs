//! Host functions: closures of the caller that run in stream order.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use parking_lot::Mutex;
use sconce_base::types::DeviceIndex;

use crate::support::host;
use crate::support::stage::{A_WHILE, Outcome, Stage};

crate::support::runner::tests![
    each_runs_once,
    they_run_in_stream_order,
    they_see_the_work_before_them,
    later_work_waits_for_them,
    they_run_on_another_thread,
    events_order_them_between_streams,
    they_run_on_the_default_stream_and_every_device,
];

const ZERO: DeviceIndex = DeviceIndex::ZERO;

fn each_runs_once(stage: &Stage<'_>) -> Outcome {
    static COUNTERS: [AtomicUsize; 32] = [const { AtomicUsize::new(0) }; 32];
    let stream = stage.stream(ZERO)?;
    let before: Vec<usize> = COUNTERS.iter().map(|n| n.load(Ordering::SeqCst)).collect();
    for counter in &COUNTERS {
        stage.driver.launch_host_function(stream.at, host::counting(counter))?;
    }
    stream.synchronize()?;
    std::thread::sleep(A_WHILE); // A second run would come by now.
    for (counter, before) in COUNTERS.iter().zip(before) {
        assert_eq!(counter.load(Ordering::SeqCst), before + 1);
    }
    Ok(())
}

fn they_run_in_stream_order(stage: &Stage<'_>) -> Outcome {
    let stream = stage.stream(ZERO)?;
    let order = Arc::new(Mutex::new(Vec::new()));
    for i in 0..200 {
        let order = Arc::clone(&order);
        stream.run(move || order.lock().push(i))?;
    }
    stream.synchronize()?;
    assert_eq!(*order.lock(), (0..200).collect::<Vec<_>>());
    Ok(())
}

fn they_see_the_work_before_them(stage: &Stage<'_>) -> Outcome {
    let probe = stage.probe(ZERO)?;
    let stream = stage.stream(ZERO)?;
    let memory = stage.memory(ZERO, 4096)?;
    let pinned = Arc::new(host::Pageable::new(4096, 0));
    stage.driver.host_register(ZERO, pinned.raw(), 4096)?;
    let seen = Arc::new(Mutex::new(Vec::new()));
    for value in 1..=10_u32 {
        probe.sleep_ms(&stream, 2)?;
        probe.fill(&stream, memory.ptr, 1024, value)?;
        stage.driver.copy_async(pinned.raw(), memory.ptr.into(), 4096, stream.at)?;
        let (pinned, seen) = (Arc::clone(&pinned), Arc::clone(&seen));
        stream.run(move || seen.lock().push(pinned.read()))?;
    }
    stream.synchronize()?;
    for (i, bytes) in seen.lock().iter().enumerate() {
        assert!(*bytes == (i as u32 + 1).to_le_bytes().repeat(1024), "function {i} saw other work");
    }
    assert_eq!(seen.lock().len(), 10);
    stage.driver.host_unregister(pinned.address())?;
    Ok(())
}

fn later_work_waits_for_them(stage: &Stage<'_>) -> Outcome {
    let stream = stage.stream(ZERO)?;
    let event = stage.event(ZERO)?;
    let ran = Arc::new(AtomicBool::new(false));
    for _ in 0..5 {
        ran.store(false, Ordering::SeqCst);
        let flag = Arc::clone(&ran);
        stream.run(move || {
            std::thread::sleep(std::time::Duration::from_millis(20));
            flag.store(true, Ordering::SeqCst);
        })?;
        stream.record(&event)?;
        event.synchronize()?;
        assert!(ran.load(Ordering::SeqCst), "the event came before the function's end");
    }
    Ok(())
}

fn they_run_on_another_thread(stage: &Stage<'_>) -> Outcome {
    let stream = stage.stream(ZERO)?;
    let (send, receive) = std::sync::mpsc::channel();
    stream.run(move || send.send(std::thread::current().id()).unwrap_or(()))?;
    stream.synchronize()?;
    assert_ne!(receive.recv().unwrap(), std::thread::current().id());
    Ok(())
}

fn events_order_them_between_streams(stage: &Stage<'_>) -> Outcome {
    let streams = [stage.stream(ZERO)?, stage.stream(ZERO)?, stage.stream(ZERO)?];
    let event = stage.event(ZERO)?;
    let order = Arc::new(Mutex::new(Vec::new()));
    for i in 0..60 {
        let stream = &streams[i % 3];
        stream.wait(&event)?;
        let order = Arc::clone(&order);
        stream.run(move || order.lock().push(i))?;
        stream.record(&event)?;
    }
    event.synchronize()?;
    assert_eq!(*order.lock(), (0..60).collect::<Vec<_>>());
    Ok(())
}

fn they_run_on_the_default_stream_and_every_device(stage: &Stage<'_>) -> Outcome {
    for device in stage.devices() {
        for stream in [stage.default_stream(device), stage.blocking_stream(device)?] {
            let ran = Arc::new(AtomicBool::new(false));
            let flag = Arc::clone(&ran);
            stream.run(move || flag.store(true, Ordering::SeqCst))?;
            stage.driver.device_synchronize(device)?;
            assert!(ran.load(Ordering::SeqCst));
        }
    }
    Ok(())
}
