//! What is counted, in torch's terms (`host_memory_stats`).

use crate::memory::Stat;

/// Time spent in a kind of driver call, in microseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DurationStat {
    /// The sum.
    pub total: i64,
    /// The longest since the last reset of peaks.
    pub max: i64,
    /// The shortest since then.
    pub min: i64,
    /// How many.
    pub count: i64,
}

impl DurationStat {
    /// Nothing counted yet.
    pub const NONE: DurationStat = DurationStat { total: 0, max: 0, min: 0, count: 0 };

    /// A call took so long.
    pub fn add(&mut self, microseconds: i64) {
        // At least 1, so that 0 can mean that there was no call.
        let took = microseconds.max(1);
        self.min = if self.min == 0 { took } else { self.min.min(took) };
        self.max = self.max.max(took);
        self.total += took;
        self.count += 1;
    }

    /// The average of all calls, rounded down; 0 before the first.
    pub fn average(&self) -> i64 {
        self.total.checked_div(self.count).unwrap_or(0)
    }
}

/// All figures of pinned host memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HostMemoryStats {
    /// Segments got from the driver.
    pub allocations: Stat,
    /// Their bytes.
    pub allocated_bytes: Stat,
    /// Blocks held by callers, or freed with events pending.
    pub active_requests: Stat,
    /// Their bytes.
    pub active_bytes: Stat,
    /// Their bytes as they were asked for.
    pub requested_bytes: Stat,
    /// Time spent in pinning.
    pub host_alloc_time: DurationStat,
    /// Time spent in unpinning.
    pub host_free_time: DurationStat,
    /// How often memory was pinned.
    pub num_host_alloc: i64,
    /// How often memory was unpinned.
    pub num_host_free: i64,
}

/// A figure as it is kept: what has fallen follows from the rest.
#[derive(Clone, Copy, Debug)]
struct Figure {
    current: i64,
    peak: i64,
    /// The sum of all rises since the last reset.
    risen: i64,
    /// The value at that time.
    at_reset: i64,
}

impl Figure {
    const NONE: Figure = Figure { current: 0, peak: 0, risen: 0, at_reset: 0 };

    #[inline]
    fn increase(&mut self, by: i64) {
        self.current += by;
        self.risen += by;
        self.peak = self.peak.max(self.current);
    }

    #[inline]
    fn decrease(&mut self, by: i64) {
        self.current -= by;
    }

    fn stat(&self) -> Stat {
        let Figure { current, peak, risen, at_reset } = *self;
        Stat { current, peak, allocated: risen, freed: at_reset + risen - current }
    }
}

/// The figures of the heap.
#[derive(Clone, Debug)]
pub(crate) struct HeapFigures {
    segments: Figure,
    pinned: Figure,
    requests: Figure,
    active: Figure,
    requested: Figure,
    pub(crate) host_alloc_time: DurationStat,
    pub(crate) host_free_time: DurationStat,
    pub(crate) num_host_alloc: i64,
    pub(crate) num_host_free: i64,
}

impl HeapFigures {
    pub(crate) const NONE: HeapFigures = HeapFigures {
        segments: Figure::NONE,
        pinned: Figure::NONE,
        requests: Figure::NONE,
        active: Figure::NONE,
        requested: Figure::NONE,
        host_alloc_time: DurationStat::NONE,
        host_free_time: DurationStat::NONE,
        num_host_alloc: 0,
        num_host_free: 0,
    };

    /// The figures in torch's terms.
    pub(crate) fn stats(&self) -> HostMemoryStats {
        HostMemoryStats {
            allocations: self.segments.stat(),
            allocated_bytes: self.pinned.stat(),
            active_requests: self.requests.stat(),
            active_bytes: self.active.stat(),
            requested_bytes: self.requested.stat(),
            host_alloc_time: self.host_alloc_time,
            host_free_time: self.host_free_time,
            num_host_alloc: self.num_host_alloc,
            num_host_free: self.num_host_free,
        }
    }

    /// The bytes that are pinned.
    pub(crate) fn pinned(&self) -> usize {
        self.pinned.current as usize
    }

    #[inline]
    pub(crate) fn hand_out(&mut self, bytes: usize, requested: usize) {
        self.requests.increase(1);
        self.active.increase(bytes as i64);
        self.requested.increase(requested as i64);
    }

    #[inline]
    pub(crate) fn take_back(&mut self, bytes: usize, requested: usize) {
        self.requests.decrease(1);
        self.active.decrease(bytes as i64);
        self.requested.decrease(requested as i64);
    }

    /// Counts that a block was freed and handed out again `times` times.
    pub(crate) fn repeat(&mut self, bytes: usize, requested: usize, times: i64) {
        self.requests.risen += times;
        self.active.risen += bytes as i64 * times;
        self.requested.risen += requested as i64 * times;
    }

    pub(crate) fn pin(&mut self, bytes: usize) {
        self.segments.increase(1);
        self.pinned.increase(bytes as i64);
    }

    pub(crate) fn unpin(&mut self, bytes: usize) {
        self.segments.decrease(1);
        self.pinned.decrease(bytes as i64);
    }

    /// What was to be unpinned stays: neither a rise nor a fall.
    pub(crate) fn keep(&mut self, bytes: usize) {
        self.segments.current += 1;
        self.pinned.current += bytes as i64;
    }

    fn all(&mut self) -> [&mut Figure; 5] {
        [
            &mut self.segments,
            &mut self.pinned,
            &mut self.requests,
            &mut self.active,
            &mut self.requested,
        ]
    }

    pub(crate) fn reset_peaks(&mut self) {
        for figure in self.all() {
            figure.peak = figure.current;
        }
        for time in [&mut self.host_alloc_time, &mut self.host_free_time] {
            time.max = 0;
            time.min = 0;
        }
    }

    pub(crate) fn reset_accumulated(&mut self) {
        for figure in self.all() {
            figure.risen = 0;
            figure.at_reset = figure.current;
        }
        for time in [&mut self.host_alloc_time, &mut self.host_free_time] {
            time.total = 0;
            time.count = 0;
        }
        self.num_host_alloc = 0;
        self.num_host_free = 0;
    }
}

/// The figures as torch's `host_memory_stats()` names them, by name.
pub fn stats_json(stats: &HostMemoryStats) -> String {
    // Taken apart without `..`: a new figure does not compile before it has its place.
    let HostMemoryStats {
        allocations,
        allocated_bytes,
        active_requests,
        active_bytes,
        requested_bytes,
        host_alloc_time,
        host_free_time,
        num_host_alloc,
        num_host_free,
    } = stats;
    let mut entries = Vec::new();
    for (name, stat) in [
        ("active_bytes", active_bytes),
        ("active_requests", active_requests),
        ("allocated_bytes", allocated_bytes),
        ("allocations", allocations),
    ] {
        entries.extend(of_stat(name, stat));
    }
    for (name, time) in [("host_alloc_time", host_alloc_time), ("host_free_time", host_free_time)] {
        let DurationStat { total, max, min, count } = *time;
        let avg = time.average();
        let fields = [("avg", avg), ("count", count), ("max", max), ("min", min), ("total", total)];
        entries.extend(fields.map(|(field, value)| (format!("{name}.{field}"), value)));
    }
    entries.push(("num_host_alloc".to_owned(), *num_host_alloc));
    entries.push(("num_host_free".to_owned(), *num_host_free));
    entries.extend(of_stat("requested_bytes", requested_bytes));
    let entries: Vec<String> =
        entries.into_iter().map(|(key, value)| format!("\"{key}\":{value}")).collect();
    format!("{{{}}}", entries.join(","))
}

fn of_stat(name: &str, stat: &Stat) -> [(String, i64); 4] {
    let Stat { current, peak, allocated, freed } = *stat;
    [("allocated", allocated), ("current", current), ("freed", freed), ("peak", peak)]
        .map(|(field, value)| (format!("{name}.{field}"), value))
}
