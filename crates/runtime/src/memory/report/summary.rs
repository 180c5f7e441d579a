//! The figures as a table for people: torch's `memory_summary()` to the character, except for the
//! title.
//!
//! The unit of a column is chosen by the figure of all memory and used for both pools under it, so
//! that the three can be added up by eye. Values are cut, not rounded.

use crate::memory::{MemoryStats, PoolStats, Stat};

/// Characters between the outer bars.
const WIDTH: usize = 75;
/// A value of this many of a unit or more is written in the next larger unit.
const MOST_BYTES: f64 = 768.0 * 1024.0;
const MOST_COUNT: f64 = 750.0 * 1000.0;

/// The table; short, without the pools, when `abbreviated`.
pub fn summary(stats: &MemoryStats, device: i32, abbreviated: bool) -> String {
    let mut table = Table { text: String::new(), abbreviated };
    table.rule('=');
    table.line(&format!("{:21}Sconce memory summary, device ID {device:<20} ", ""));
    table.rule('-');
    table.line(&format!(
        "{:12}CUDA OOMs: {:<12} | {:6} cudaMalloc retries: {:<8}  ",
        "", stats.num_ooms, "", stats.num_alloc_retries
    ));
    table.rule('=');
    table.line("        Metric         | Cur Usage  | Peak Usage | Tot Alloc  | Tot Freed  ");
    for (name, pools) in [
        ("Allocated memory", &stats.allocated_bytes),
        ("Active memory", &stats.active_bytes),
        ("Requested memory", &stats.requested_bytes),
        ("GPU reserved memory", &stats.reserved_bytes),
        ("Non-releasable memory", &stats.inactive_split_bytes),
    ] {
        table.pools(name, pools, size);
    }
    for (name, pools) in [
        ("Allocations", &stats.allocation),
        ("Active allocs", &stats.active),
        ("GPU reserved segments", &stats.segment),
        ("Non-releasable allocs", &stats.inactive_split),
    ] {
        table.pools(name, pools, count);
    }
    for (name, stat) in [
        ("Oversize allocations", &stats.oversize_allocations),
        ("Oversize GPU segments", &stats.oversize_segments),
    ] {
        table.rule('-');
        table.row(name, stat, stat, count);
    }
    table.rule('=');
    table.text
}

/// A value in the unit that another value, mostly the same, calls for.
type Format = fn(value: i64, unit_of: i64) -> String;

/// The lines so far.
struct Table {
    text: String,
    abbreviated: bool,
}

impl Table {
    fn line(&mut self, line: &str) {
        self.text.push_str(&format!("|{line}|\n"));
    }

    fn rule(&mut self, character: char) {
        self.line(&character.to_string().repeat(WIDTH));
    }

    fn pools(&mut self, name: &str, pools: &PoolStats, format: Format) {
        self.rule('-');
        self.row(name, &pools.all, &pools.all, format);
        if !self.abbreviated {
            self.row("      from large pool", &pools.large_pool, &pools.all, format);
            self.row("      from small pool", &pools.small_pool, &pools.all, format);
        }
    }

    fn row(&mut self, name: &str, stat: &Stat, unit_of: &Stat, format: Format) {
        self.line(&format!(
            " {name:<21} | {} | {} | {} | {} ",
            format(stat.current, unit_of.current),
            format(stat.peak, unit_of.peak),
            format(stat.allocated, unit_of.allocated),
            format(stat.freed, unit_of.freed),
        ));
    }
}

/// Bytes.
fn size(value: i64, unit_of: i64) -> String {
    let units = ["B  ", "KiB", "MiB", "GiB", "TiB", "PiB"];
    let (value, unit) = scaled(value, unit_of, 1024, MOST_BYTES, units.len());
    format!("{value:6} {}", units[unit])
}

/// How many.
fn count(value: i64, unit_of: i64) -> String {
    let units = [" ", "K", "M"];
    let (value, unit) = scaled(value, unit_of, 1000, MOST_COUNT, units.len());
    format!("{value:7} {} ", units[unit])
}

/// The value in its unit, and which unit that is. Negative values are cut downwards, as Python
/// does; the choice is made in floating point, as there.
fn scaled(mut value: i64, unit_of: i64, step: i64, most: f64, units: usize) -> (i64, usize) {
    let mut unit_of = unit_of as f64;
    let mut unit = 0;
    while unit + 1 < units && unit_of >= most {
        unit += 1;
        value = value.div_euclid(step);
        unit_of /= step as f64;
    }
    (value, unit)
}

#[cfg(test)]
mod tests {
    use super::super::golden;
    use super::*;

    /// A recording with the title in its own words and place.
    fn retitled(recorded: &str) -> String {
        let theirs =
            "|                  PyTorch CUDA memory summary, device ID 0                 |\n";
        let ours =
            "|                     Sconce memory summary, device ID 0                    |\n";
        assert_eq!((theirs.len(), ours.len()), (WIDTH + 3, WIDTH + 3));
        assert!(recorded.contains(theirs));
        recorded.replace(theirs, ours)
    }

    #[test]
    fn the_recorded_tables_come_out_to_the_character() {
        let stats = golden::stats();
        assert_eq!(summary(&stats, 0, false), retitled(golden::SUMMARY));
        assert_eq!(summary(&stats, 0, true), retitled(golden::ABBREVIATED));
    }

    #[test]
    fn bytes_change_units_at_768_of_the_next() {
        let own = |value| size(value, value);
        assert_eq!(own(0), "     0 B  ");
        assert_eq!(own((768 << 10) - 1), "786431 B  ");
        assert_eq!(own(768 << 10), "   768 KiB");
        assert_eq!(own((768 << 20) - 1), "786431 KiB");
        assert_eq!(own(768 << 20), "   768 MiB");
        assert_eq!(own(768 << 30), "   768 GiB");
        assert_eq!(own(768 << 40), "   768 TiB");
        assert_eq!(own(768 << 50), "   768 PiB");
        assert_eq!(own(i64::MAX), "  8191 PiB");
        assert_eq!(own((141 << 30) + 12_345), "144384 MiB");
        // A column's unit is that of all memory; values below it are cut, negative ones downwards.
        assert_eq!(size(1023, 1 << 20), "     0 KiB");
        assert_eq!(size(-1, 1 << 20), "    -1 KiB");
        assert_eq!(size(-(5 << 20), -(5 << 20)), "-5242880 B  ");
    }

    #[test]
    fn counts_change_units_at_750_thousand() {
        let own = |value| count(value, value);
        assert_eq!(own(749_999), " 749999   ");
        assert_eq!(own(750_000), "    750 K ");
        assert_eq!(own(749_999_999), " 749999 K ");
        assert_eq!(own(750_000_000), "    750 M ");
        assert_eq!(own(123_456_789_012_345), "123456789 M ");
    }

    #[test]
    fn every_line_is_as_wide_with_large_figures() {
        let large = Stat {
            current: 700 << 40,
            peak: 900 << 40,
            allocated: 5_000_000_000_000,
            freed: 750_000,
        };
        let pools = PoolStats { all: large, small_pool: Stat::default(), large_pool: large };
        let stats = MemoryStats {
            allocated_bytes: pools,
            reserved_bytes: pools,
            num_ooms: 123_456_789_012,
            num_alloc_retries: 12_345_678,
            ..golden::stats()
        };
        let text = summary(&stats, 63, false);
        assert!(text.lines().all(|line| line.len() == WIDTH + 2), "{text}");
        let title = "|                     Sconce memory summary, device ID 63                   |";
        assert_eq!(text.lines().nth(1), Some(title));
        let oom = "|            CUDA OOMs: 123456789012 |        cudaMalloc retries: 12345678  |";
        assert_eq!(text.lines().nth(3), Some(oom));
        let row = "| Allocated memory      | 716800 GiB |    900 TiB |   4656 GiB | 750000 B   |";
        assert_eq!(text.lines().nth(7), Some(row));
        let small = "|       from small pool |      0 GiB |      0 TiB |      0 GiB |      0 B   |";
        assert_eq!(text.lines().nth(9), Some(small));
    }
}
