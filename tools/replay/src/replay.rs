//! The replay: every thread makes the trace's calls, one after another, and nothing else.

use std::sync::Barrier;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::{self, ScopedJoinHandle};
use std::time::{Duration, Instant};

use sconce_runtime::memory;
use sconce_runtime::stream::{self, Stream};

use crate::error::{Failure, Result};
use crate::progress::Bar;
use crate::trace::{Event, Kind, Trace};

/// The number of different streams that a pool returns.
const POOL: usize = 32;
/// The number of events after which a thread checks whether another one has failed.
const CHUNK: usize = 4096;

/// A trace, and the streams on which each thread replays it.
pub(crate) struct Replay<'a> {
    trace: &'a Trace,
    streams: Vec<Vec<Stream>>,
}

/// The time of one pass over the trace, and the blocks that it left allocated.
pub(crate) struct Pass {
    /// From the start of the first thread to the end of the last.
    pub(crate) wall: Duration,
    /// The mean of the threads' times.
    pub(crate) thread: Duration,
    left: Vec<usize>,
}

impl<'a> Replay<'a> {
    /// The first thread's stream 0 is the device's default stream; all others are the pool's.
    pub(crate) fn new(trace: &'a Trace, device: i32, threads: u32) -> Result<Replay<'a>> {
        let mut taken = 0;
        let mut from_pool = || {
            let high_priority = taken % (2 * POOL) >= POOL;
            taken += 1;
            stream::from_pool(device, -i32::from(high_priority))
        };
        let mut streams = Vec::new();
        for thread in 0..threads {
            let mut own = Vec::with_capacity(trace.streams);
            for number in 0..trace.streams {
                let default = thread == 0 && number == 0;
                own.push(if default { stream::default(device)? } else { from_pool()? });
            }
            streams.push(own);
        }
        Ok(Replay { trace, streams })
    }

    /// True if threads share streams because the pool has too few.
    pub(crate) fn shares_streams(&self) -> bool {
        self.streams.len() * self.trace.streams > 2 * POOL + 1
    }

    /// Replays the trace once on every thread.
    pub(crate) fn pass(&self, bar: &Bar) -> Result<Pass> {
        let shared = Shared {
            start: Barrier::new(self.streams.len()),
            stop: AtomicBool::new(false),
            done: AtomicU64::new(0),
        };
        let outcomes = thread::scope(|scope| {
            let main = thread::current();
            let handles: Vec<ScopedJoinHandle<'_, _>> = self
                .streams
                .iter()
                .map(|streams| {
                    let (shared, main) = (&shared, main.clone());
                    scope.spawn(move || {
                        let outcome = shared.run(self.trace, streams);
                        main.unpark();
                        outcome
                    })
                })
                .collect();
            while !handles.iter().all(ScopedJoinHandle::is_finished) {
                bar.set(shared.done.load(Ordering::Relaxed));
                thread::park_timeout(Duration::from_millis(50));
            }
            handles.into_iter().map(|handle| handle.join()).collect::<Vec<_>>()
        });

        let mut pass = Pass { wall: Duration::ZERO, thread: Duration::ZERO, left: Vec::new() };
        let (mut first, mut last) = (None::<Instant>, None::<Instant>);
        for (number, outcome) in outcomes.into_iter().enumerate() {
            let run = outcome.map_err(|_| Failure::new(format!("thread {number} panicked")))??;
            first = Some(first.map_or(run.start, |time| time.min(run.start)));
            last = Some(last.map_or(run.end, |time| time.max(run.end)));
            pass.thread += run.end - run.start;
            pass.left.extend(run.left);
        }
        pass.wall = first.zip(last).map_or(Duration::ZERO, |(first, last)| last - first);
        pass.thread /= u32::try_from(self.streams.len()).unwrap_or(1);
        Ok(pass)
    }
}

impl Pass {
    /// Frees the blocks that the program never freed.
    pub(crate) fn free_left(self) -> Result<()> {
        self.left.into_iter().try_for_each(|address| Ok(memory::free(address)?))
    }
}

/// The state that the threads of a pass share.
struct Shared {
    start: Barrier,
    stop: AtomicBool,
    done: AtomicU64,
}

/// A thread's part of a pass.
struct Run {
    start: Instant,
    end: Instant,
    left: Vec<usize>,
}

impl Shared {
    fn run(&self, trace: &Trace, streams: &[Stream]) -> Result<Run> {
        let mut addresses = vec![0_usize; trace.slots];
        self.start.wait();
        let start = Instant::now();
        for (number, events) in trace.events.chunks(CHUNK).enumerate() {
            if self.stop.load(Ordering::Relaxed) {
                break;
            }
            if let Err((at, error)) = calls(events, streams, &mut addresses) {
                self.stop.store(true, Ordering::Relaxed);
                return Err(failed(trace, number * CHUNK + at, error));
            }
            self.done.fetch_add(events.len() as u64, Ordering::Relaxed);
        }
        let end = Instant::now();
        addresses.retain(|address| *address != 0);
        Ok(Run { start, end, left: addresses })
    }
}

/// Makes the calls of some events; an error names the event that failed.
fn calls(
    events: &[Event],
    streams: &[Stream],
    addresses: &mut [usize],
) -> std::result::Result<(), (usize, sconce_base::error::Error)> {
    for (number, event) in events.iter().enumerate() {
        let address = &mut addresses[event.slot as usize];
        let outcome = match event.kind {
            Kind::Alloc => memory::alloc_on(event.bytes as usize, streams[event.stream as usize])
                .map(|given| *address = given),
            Kind::Free => memory::free(std::mem::take(address)),
        };
        outcome.map_err(|error| (number, error))?;
    }
    Ok(())
}

fn failed(trace: &Trace, at: usize, error: sconce_base::error::Error) -> Failure {
    let Event { bytes, stream, kind, .. } = trace.events[at];
    let what = match kind {
        Kind::Alloc => "allocating",
        Kind::Free => "freeing",
    };
    let (number, all) = (at + 1, trace.events.len());
    Failure::from(error)
        .context(format_args!("event {number} of {all}, {what} {bytes} bytes on stream {stream}"))
}
