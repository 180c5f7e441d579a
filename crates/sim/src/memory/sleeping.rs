//! Addresses whose memory is asleep, as the allocator reports it. Work that uses them fails, and the message says so.
#![forbid(unsafe_code)]

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::time::Instant;

/// A range that is asleep.
struct SleepingRange {
    bytes: u64,
    pool: u64,
    since: Instant,
}

/// The ranges that are asleep, by their start.
#[derive(Default)]
pub(crate) struct SleepingRanges(BTreeMap<u64, SleepingRange>);

thread_local! {
    /// Why the last access of the thread was refused, if the memory was asleep.
    static COMPLAINT: RefCell<Option<String>> = const { RefCell::new(None) };
}

/// Takes what the thread's last refused access leaves to say.
pub(crate) fn take_complaint() -> Option<String> {
    COMPLAINT.take()
}

impl SleepingRanges {
    /// A range is asleep, with a pool (0: the default pool).
    pub(crate) fn add(&mut self, address: u64, bytes: u64, pool: u64) {
        self.0.insert(address, SleepingRange { bytes, pool, since: Instant::now() });
    }

    /// A range is not asleep any more.
    pub(crate) fn remove(&mut self, address: u64) {
        self.0.remove(&address);
    }

    /// The first byte of a range that is asleep.
    pub(crate) fn first(&self, address: u64, bytes: u64) -> Option<u64> {
        let end = address.checked_add(bytes.max(1))?;
        match self.0.range(..=address).next_back() {
            Some((start, range)) if address - start < range.bytes => Some(address),
            _ => self.0.range(address..end).next().map(|(start, _)| *start),
        }
    }

    /// Writes since when an address is asleep; `false` if it is not.
    pub(crate) fn describe(
        &self,
        address: u64,
        to: &mut dyn Write,
    ) -> Result<bool, std::fmt::Error> {
        let Some((start, range)) = self.0.range(..=address).next_back() else { return Ok(false) };
        if address - start >= range.bytes {
            return Ok(false);
        }
        to.write_str("its memory is asleep: sconce_memory_pool_sleep put ")?;
        match range.pool {
            0 => to.write_str("the default pool")?,
            pool => write!(to, "pool {pool}")?,
        }
        let ago = range.since.elapsed().as_secs_f64();
        write!(
            to,
            " to sleep {ago:.3} s ago; wake it with sconce_memory_pool_wake before its memory is used"
        )?;
        Ok(true)
    }

    /// Why a range cannot be used, if it is asleep.
    pub(crate) fn words(&self, address: u64, bytes: u64) -> Option<String> {
        let first = self.first(address, bytes)?;
        let mut words = format!("{bytes} bytes at {address:#x}: ");
        self.describe(first, &mut words).ok()?;
        Some(words)
    }

    /// Leaves a complaint about an access of the calling thread, if the range is asleep.
    pub(crate) fn complain(&self, address: u64, bytes: u64) {
        if let Some(words) = self.words(address, bytes) {
            COMPLAINT.set(Some(format!("it used {words}")));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_sleeping_byte_of_a_range_is_found() {
        let mut ranges = SleepingRanges::default();
        ranges.add(100, 10, 0);
        ranges.add(110, 10, 3);
        ranges.add(200, 10, 3);
        for (address, bytes, first) in [
            (0, 100, None),
            (0, 101, Some(100)),
            (105, 1, Some(105)),
            (119, 500, Some(119)),
            (120, 80, None),
            (120, 81, Some(200)),
            (95, 300, Some(100)),
            (210, 5, None),
            (u64::MAX, 5, None),
        ] {
            assert_eq!(ranges.first(address, bytes), first, "{address} {bytes}");
        }
        assert!(ranges.words(205, 1).unwrap().contains("put pool 3 to sleep"));
        assert!(ranges.words(99, 2).unwrap().contains("put the default pool to sleep"));
        ranges.remove(200);
        assert_eq!(ranges.words(205, 1), None);
    }
}
