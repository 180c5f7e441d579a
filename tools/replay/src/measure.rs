//! The figures of a replay: memory, driver calls, time.

use sconce_base::config::Config;
use sconce_runtime::memory;
use serde::{Deserialize, Serialize};

use crate::cli::Options;
use crate::error::Result;
use crate::place;
use crate::progress::Progress;
use crate::replay::Replay;
use crate::trace::Trace;

/// The figures of one configuration.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub(crate) struct Measurement {
    /// The allocator's settings, or `uncached`.
    pub(crate) configuration: String,
    pub(crate) backend: String,
    pub(crate) threads: u32,
    /// The peak of requested bytes that were not yet freed. With one thread it is the trace's; with
    /// more it is the allocator's, since the copies need not reach their peaks at the same time.
    pub(crate) peak_requested: Option<u64>,
    /// The peak of bytes in blocks that the program held. Unknown without the cache, as is the next
    /// one.
    pub(crate) peak_allocated: Option<u64>,
    /// The peak of bytes held from the driver.
    pub(crate) peak_reserved: Option<u64>,
    /// The number of driver calls that allocate and free, in the first pass.
    pub(crate) driver_calls: u64,
    /// Nanoseconds for each event in the first pass: the mean of the threads' times.
    pub(crate) first_pass_ns: f64,
    /// Nanoseconds for each event in the best of the later passes.
    pub(crate) later_pass_ns: Option<f64>,
    /// Events of all threads in a second, in the best pass.
    pub(crate) events_per_second: f64,
    /// Whether threads had to share streams.
    pub(crate) shares_streams: bool,
}

impl Measurement {
    /// Reserved over requested.
    pub(crate) fn ratio(&self) -> Option<f64> {
        ratio(self.peak_reserved, self.peak_requested)
    }
}

/// Reserved over requested, where both are known.
pub(crate) fn ratio(reserved: Option<u64>, requested: Option<u64>) -> Option<f64> {
    Some(reserved? as f64 / requested?.max(1) as f64)
}

/// A measurement, and the texts that are printed on request only.
pub(crate) struct Outcome {
    pub(crate) measurement: Measurement,
    pub(crate) summary: Option<String>,
}

/// Replays the trace with the options of the command line.
pub(crate) fn measure(options: &Options, trace: &Trace, progress: Progress) -> Result<Outcome> {
    let backend = place::start(options, trace)?;
    if let Some(text) = &options.conf {
        memory::configure(text)?;
    }
    let device = options.device;
    let replay = Replay::new(trace, device, options.threads)?;
    let events = trace.events.len() as u64;
    let bar_of = |what| progress.events(what, events * u64::from(options.threads));

    if options.snapshot.is_some() {
        let entries = trace.events.len().saturating_mul(3 * options.threads as usize);
        memory::record_history(true, entries)?;
    }
    let bar = bar_of("replaying");
    let first = replay.pass(&bar)?;
    bar.finish();
    let stats = memory::stats(device)?;
    if let Some(path) = &options.snapshot {
        memory::report::save_snapshot(path, &memory::snapshot()?)?;
        memory::record_history(false, 0)?;
    }
    let summary = options.summary.then(|| memory::report::summary(&stats, device, false));

    let per_event = |time: std::time::Duration| time.as_nanos() as f64 / events as f64;
    let mut wall = first.wall;
    let first_pass_ns = per_event(first.thread);
    let mut later_pass_ns: Option<f64> = None;
    first.free_left()?;
    for _ in 1..options.repeat {
        let bar = bar_of("repeating");
        let pass = replay.pass(&bar)?;
        bar.finish();
        let own = per_event(pass.thread);
        later_pass_ns = Some(later_pass_ns.map_or(own, |best| best.min(own)));
        wall = wall.min(pass.wall);
        pass.free_left()?;
    }

    let cached = !uncached();
    let figure = |value: i64| cached.then(|| u64::try_from(value).unwrap_or(0));
    let requested = figure(stats.requested_bytes.all.peak);
    Ok(Outcome {
        measurement: Measurement {
            configuration: configuration(),
            backend: backend.to_owned(),
            threads: options.threads,
            peak_requested: if options.threads == 1 {
                Some(trace.peak_requested)
            } else {
                requested
            },
            peak_allocated: figure(stats.allocated_bytes.all.peak),
            peak_reserved: figure(stats.reserved_bytes.all.peak),
            driver_calls: figure(stats.num_device_alloc + stats.num_device_free)
                .unwrap_or_else(|| calls_without_cache(trace) * u64::from(options.threads)),
            first_pass_ns,
            later_pass_ns,
            events_per_second: (events * u64::from(options.threads)) as f64
                / wall.as_secs_f64().max(1e-9),
            shares_streams: replay.shares_streams(),
        },
        summary,
    })
}

/// The variable that turns the cache off.
pub(crate) const UNCACHED: &str = "PYTORCH_NO_CUDA_MEMORY_CACHING";

fn uncached() -> bool {
    Config::get().no_memory_caching
}

/// Without the cache every event is a driver call, except those of 0 bytes.
fn calls_without_cache(trace: &Trace) -> u64 {
    trace.events.iter().filter(|event| event.bytes > 0).count() as u64
}

fn configuration() -> String {
    if uncached() {
        return "uncached".to_owned();
    }
    let settings = memory::settings::current();
    match settings.text.as_str() {
        "" => "default".to_owned(),
        text => text.to_owned(),
    }
}
