//! What the message of a failed request advises: only what the settings in force leave to try, and what the program can
//! do now.

use sconce_base::types::DeviceIndex;

use crate::memory::heap::block::RecordState;
use crate::memory::heap::heap_records::HeapPool;
use crate::memory::heap::segment::SegmentRecord;
use crate::memory::miss::lent_pages::is_common;
use crate::memory::source::pages::SMALLEST_PAGE;
use crate::memory::streams::cache::StreamCache;
use crate::memory::{fixed_pools, pool_holds};

/// Memory of a device that is reserved and not allocated, by what becomes of it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Unused {
    /// In segments of the default pool that are partly in use.
    pub(super) segments: u64,
    /// In pages of the default pool that are partly in use.
    pub(super) pages: u64,
    /// Whole segments and pages of the default pool, which would have gone back if nothing were captured.
    pub(super) whole: u64,
    /// In private pools, which can give it back.
    pub(super) pools: u64,
    /// In private pools that are fixed or that a graph holds.
    pub(super) kept: u64,
}

impl Unused {
    /// That of a device.
    pub(super) fn of(device: DeviceIndex) -> Unused {
        let mut unused = Unused::default();
        for cache in StreamCache::all_of(device) {
            let inner = cache.visit();
            let heap = &inner.heap;
            for (_, segment) in heap.segments.iter() {
                let pool = &heap.pools[usize::from(segment.pool)];
                let free = heap.blocks_of(segment).filter(|(_, it)| it.state == RecordState::Free);
                unused.add(pool, segment, free.map(|(_, block)| block.bytes));
            }
        }
        unused
    }

    fn add(&mut self, pool: &HeapPool, segment: &SegmentRecord, free: impl Iterator<Item = u64>) {
        if pool.asleep {
            return;
        }
        let (mut all, mut whole) = (0, 0);
        for bytes in free {
            all += bytes;
            let is_whole = segment.paged || bytes == segment.bytes;
            // Less than a page of pages cannot go back.
            let unit = if segment.paged { SMALLEST_PAGE } else { 1 };
            whole += if is_whole { bytes - bytes % unit } else { 0 };
        }
        if is_common(pool) {
            *if segment.paged { &mut self.pages } else { &mut self.segments } += all - whole;
            self.whole += whole;
        } else if fixed_pools::is_fixed(pool.number) || pool_holds::is_held(pool.number) {
            self.kept += all;
        } else {
            self.pools += whole;
        }
    }
}

/// A request that has failed, and what could be done about it.
pub(super) struct Situation {
    /// The bytes of the segment that was asked for, and the free memory of the device, or of its limit.
    pub(super) wanted: u64,
    pub(super) free: u64,
    pub(super) unused: Unused,
    /// A stream of the device is being captured.
    pub(super) is_capturing: bool,
    /// What the settings say.
    pub(super) is_cached: bool,
    pub(super) splits_all: bool,
    pub(super) has_pages: bool,
}

/// Sentences that say what to try.
pub(super) fn advice(situation: &Situation) -> String {
    let &Situation { wanted, free, unused, is_capturing, is_cached, splits_all, has_pages } =
        situation;
    let mut text = String::new();
    if is_capturing {
        let whole = match unused.whole {
            0 => String::new(),
            bytes => format!("; {} of it could", size(bytes)),
        };
        text.push_str(&format!(
            " While a stream of the device is captured, no unused memory goes back to the driver{whole}: make room \
             before the capture begins.",
        ));
    }
    if unused.pools > 0 {
        let when = if is_capturing { " once the capture has ended" } else { "" };
        text.push_str(&format!(
            " {} is unused in private pools and serves only their requests; sconce_memory_pool_trim (MemPool::trim) \
             gives it back{when}.",
            size(unused.pools)
        ));
    }
    if unused.kept > 0 {
        text.push_str(&format!(
            " {} is unused in private pools that are fixed or that graphs hold, and stays there.",
            size(unused.kept)
        ));
    }
    // In one piece it would have served the request.
    if is_cached && free + unused.segments >= wanted && unused.segments > 0 {
        let mut remedies = Vec::new();
        if !has_pages {
            remedies.push("policy:pages (expandable_segments:True) in SCONCE_ALLOC_CONF");
        }
        if !has_pages && splits_all {
            remedies.push("max_split_size_mb there");
        }
        if !is_capturing {
            remedies.push("sconce_memory_empty_cache between phases of the program");
        }
        text.push_str(&format!(
            " {} is unused in segments that are partly in use",
            size(unused.segments)
        ));
        text.push_str(&match &remedies[..] {
            [] => String::from("."),
            [one] => format!("; try {one}."),
            [some @ .., last] => format!("; try {}, or {last}.", some.join(", ")),
        });
    }
    if is_cached && free + unused.pages >= wanted && unused.pages > 0 {
        text.push_str(&format!(
            " {} is unused in pages that are partly in use, and cannot be put together.",
            size(unused.pages)
        ));
    }
    text
}

/// Bytes as torch's messages write them.
pub(super) fn size(bytes: u64) -> String {
    let in_units = |unit: u64| bytes as f64 / unit as f64;
    match bytes {
        0..=1024 => format!("{bytes} bytes"),
        1025..=0x10_0000 => format!("{:.2} KiB", in_units(1 << 10)),
        0x10_0001..=0x4000_0000 => format!("{:.2} MiB", in_units(1 << 20)),
        _ => format!("{:.2} GiB", in_units(1 << 30)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MIB: u64 = 1 << 20;

    fn plain() -> Situation {
        Situation {
            wanted: 100 * MIB,
            free: 50 * MIB,
            unused: Unused::default(),
            is_capturing: false,
            is_cached: true,
            splits_all: true,
            has_pages: false,
        }
    }

    /// What the advice may name, and the settings and situations in which it does.
    #[test]
    fn only_what_helps_is_advised() {
        let fragmented = Unused { segments: 60 * MIB, ..Unused::default() };
        let in_pages = Unused { pages: 60 * MIB, ..Unused::default() };
        let in_pools = Unused { pools: MIB, ..Unused::default() };
        let kept = Unused { kept: MIB, ..Unused::default() };
        let all = Unused { segments: 60 * MIB, pages: 60 * MIB, whole: 0, pools: MIB, kept: MIB };
        let whole = Unused { whole: 60 * MIB, ..Unused::default() };
        let names =
            ["max_split_size_mb", "policy:pages", "empty_cache", "pool_trim", "graphs hold"];
        let table: &[(&str, Situation, [bool; 5])] = &[
            ("nothing is unused", plain(), [false; 5]),
            (
                "fragmented",
                Situation { unused: fragmented, ..plain() },
                [true, true, true, false, false],
            ),
            (
                "too little even in one piece",
                Situation { unused: fragmented, free: 0, ..plain() },
                [false; 5],
            ),
            (
                "max_split_size_mb is set",
                Situation { unused: fragmented, splits_all: false, ..plain() },
                [false, true, true, false, false],
            ),
            (
                "pages are set",
                Situation { unused: in_pages, has_pages: true, ..plain() },
                [false; 5],
            ),
            (
                "pages are set, and older segments remain",
                Situation { unused: fragmented, has_pages: true, ..plain() },
                [false, false, true, false, false],
            ),
            (
                "without caching",
                Situation { unused: fragmented, is_cached: false, ..plain() },
                [false; 5],
            ),
            (
                "fragmented, in a capture",
                Situation { unused: fragmented, is_capturing: true, ..plain() },
                [true, true, false, false, false],
            ),
            (
                "whole segments, in a capture",
                Situation { unused: whole, is_capturing: true, ..plain() },
                [false; 5],
            ),
            (
                "pools",
                Situation { unused: in_pools, ..plain() },
                [false, false, false, true, false],
            ),
            (
                "pools, in a capture",
                Situation { unused: in_pools, is_capturing: true, ..plain() },
                [false, false, false, true, false],
            ),
            (
                "kept pools",
                Situation { unused: kept, ..plain() },
                [false, false, false, false, true],
            ),
            ("all of it", Situation { unused: all, ..plain() }, [true; 5]),
        ];
        for (what, situation, expected) in table {
            let text = advice(situation);
            assert_eq!(names.map(|name| text.contains(name)), *expected, "{what}: {text}");
            assert_eq!(
                text.contains("before the capture"),
                situation.is_capturing,
                "{what}: {text}"
            );
            assert_eq!(
                text.contains("once the capture"),
                situation.is_capturing && situation.unused.pools > 0,
                "{what}: {text}"
            );
        }
    }

    #[test]
    fn sizes_are_written_as_torch_writes_them() {
        let written = [0, 1024, 1025, 1 << 20, 20 << 20, 1 << 30, 80 << 30].map(size);
        assert_eq!(
            written,
            [
                "0 bytes",
                "1024 bytes",
                "1.00 KiB",
                "1024.00 KiB",
                "20.00 MiB",
                "1024.00 MiB",
                "80.00 GiB"
            ]
        );
    }
}
