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

impl HostMemoryStats {
    pub(crate) const NONE: HostMemoryStats = HostMemoryStats {
        allocations: Stat::NONE,
        allocated_bytes: Stat::NONE,
        active_requests: Stat::NONE,
        active_bytes: Stat::NONE,
        requested_bytes: Stat::NONE,
        host_alloc_time: DurationStat::NONE,
        host_free_time: DurationStat::NONE,
        num_host_alloc: 0,
        num_host_free: 0,
    };

    #[inline]
    pub(crate) fn hand_out(&mut self, bytes: usize, requested: usize) {
        self.active_requests.increase(1);
        self.active_bytes.increase(bytes as i64);
        self.requested_bytes.increase(requested as i64);
    }

    #[inline]
    pub(crate) fn take_back(&mut self, bytes: usize, requested: usize) {
        self.active_requests.decrease(1);
        self.active_bytes.decrease(bytes as i64);
        self.requested_bytes.decrease(requested as i64);
    }

    /// Counts that a block was freed and handed out again `times` times.
    pub(crate) fn repeat(&mut self, bytes: usize, requested: usize, times: i64) {
        for (stat, by) in [
            (&mut self.active_requests, 1),
            (&mut self.active_bytes, bytes as i64),
            (&mut self.requested_bytes, requested as i64),
        ] {
            stat.freed += by * times;
            stat.allocated += by * times;
        }
    }

    pub(crate) fn pin(&mut self, bytes: usize) {
        self.allocations.increase(1);
        self.allocated_bytes.increase(bytes as i64);
    }

    pub(crate) fn unpin(&mut self, bytes: usize) {
        self.allocations.decrease(1);
        self.allocated_bytes.decrease(bytes as i64);
    }

    /// What was to be unpinned stays.
    pub(crate) fn keep(&mut self, bytes: usize) {
        for (stat, by) in [(&mut self.allocations, 1), (&mut self.allocated_bytes, bytes as i64)] {
            stat.current += by;
            stat.freed -= by;
        }
    }

    fn stats(&mut self) -> [&mut Stat; 5] {
        [
            &mut self.allocations,
            &mut self.allocated_bytes,
            &mut self.active_requests,
            &mut self.active_bytes,
            &mut self.requested_bytes,
        ]
    }

    pub(crate) fn reset_peaks(&mut self) {
        for stat in self.stats() {
            stat.reset_peak();
        }
        for time in [&mut self.host_alloc_time, &mut self.host_free_time] {
            time.max = 0;
            time.min = 0;
        }
    }

    pub(crate) fn reset_accumulated(&mut self) {
        for stat in self.stats() {
            stat.reset_accumulated();
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
