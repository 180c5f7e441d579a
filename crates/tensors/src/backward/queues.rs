//! Ready nodes of devices, and the thread that runs those of a device.

use std::cell::Cell;
use std::collections::BinaryHeap;
use std::thread::{Builder, Thread, park_timeout};
use std::time::{Duration, Instant};

use sconce_base::collections::per_device::{PerDevice, per_device};
use sconce_base::error::{Error, Result, Status};
use sconce_base::lock::{Mutex, park, rank};
use sconce_base::types::DeviceIndex;
use sconce_base::{log, process};
use sconce_runtime::context::runtime;
use sconce_runtime::device;

use super::progress::{NextStep, Progress, ReadyNode};

/// How long a thread without work stays.
const IDLE: Duration = Duration::from_secs(10);

/// The stack of a thread: functions are the program's, and may start passes of their own.
const STACK_BYTES: usize = 8 << 20;

struct DeviceQueue {
    ready: BinaryHeap<ReadyNode>,
    /// The thread that runs them, if one lives.
    thread: Option<Thread>,
}

static QUEUES: PerDevice<Mutex<rank::BackwardQueue, DeviceQueue>> =
    per_device!(Mutex::new(DeviceQueue { ready: BinaryHeap::new(), thread: None }));

thread_local! {
    /// The device whose nodes the thread runs.
    static OF_DEVICE: Cell<Option<DeviceIndex>> = const { Cell::new(None) };
}

fn with_queue<R>(device: DeviceIndex, action: impl FnOnce(&mut DeviceQueue) -> R) -> R {
    action(&mut QUEUES[device].lock())
}

/// Hands a node to the thread of its device, which is started if there is none.
pub(super) fn push(device: DeviceIndex, ready: ReadyNode) -> Result<()> {
    with_queue(device, |queue| {
        let thread = match &queue.thread {
            Some(thread) => thread.clone(),
            None => {
                let thread = start(device)?;
                queue.thread = Some(thread.clone());
                thread
            }
        };
        queue.ready.push(ready);
        thread.unpark();
        Ok(())
    })
}

fn start(device: DeviceIndex) -> Result<Thread> {
    let builder = Builder::new().name(format!("sconce-back-{device}")).stack_size(STACK_BYTES);
    // Never joined: it ends when it is idle or with the process, and holds nothing that other threads wait for.
    let handle = builder.spawn(move || serve(device)).map_err(|error| {
        Error::new(
            Status::OutOfMemory,
            format!(
                "no thread could be started for the backward nodes of device {device}: {error}"
            ),
        )
    })?;
    Ok(handle.thread().clone())
}

/// The most urgent ready node of passes at least so deep.
fn pop(device: DeviceIndex, depth: usize) -> Option<ReadyNode> {
    with_queue(device, |queue| {
        let deep = queue.ready.peek().is_some_and(|first| first.depth >= depth);
        if deep { queue.ready.pop() } else { None }
    })
}

/// What the thread of a device does.
fn serve(device: DeviceIndex) {
    OF_DEVICE.set(Some(device));
    if let Ok(runtime) = runtime()
        && let Err(error) = device::switch(runtime, device)
    {
        // Each node makes its device current again, and fails with the reason.
        log::debug(format_args!("backward thread of device {device}: {error}"));
    }
    let mut last = Instant::now();
    loop {
        if let Some(ready) = pop(device, 0) {
            (ready.run)();
            if process::has_work_at_end() {
                log::flush();
            }
            last = Instant::now();
            continue;
        }
        park_timeout(IDLE);
        if last.elapsed() >= IDLE && retired(device) {
            return;
        }
    }
}

/// Whether the thread may end. A node that comes later starts another.
fn retired(device: DeviceIndex) -> bool {
    with_queue(device, |queue| {
        let idle = queue.ready.is_empty();
        if idle {
            queue.thread = None;
        }
        idle
    })
}

/// Waits for a pass, and meanwhile runs the nodes that are for this thread: those of the CPU, and, on the thread of a
/// device, those of passes as deep as this one.
pub(super) fn wait(progress: &Progress, depth: usize) {
    let device = OF_DEVICE.get();
    loop {
        match progress.next() {
            NextStep::Run(ready) => (ready.run)(),
            NextStep::Done => return,
            NextStep::Wait => match device.and_then(|device| pop(device, depth)) {
                Some(ready) => (ready.run)(),
                None => park::<rank::Idle>(),
            },
        }
    }
}
