//! How a stream's id is built: torch's layout, so that ids mean the same in both.
//!
//! Bit 0 is set for pooled streams; bits 1–4 hold the pool's number + 1, bits 5–9 the place in the pool. The number
//! of a pool is its priority level, or one of [`CAPTURES`] and those that follow. The default stream is
//! 0. The id of a stream from outside is its handle, whose bit 0 is clear.

/// Streams a pool has.
pub(super) const STREAMS_PER_POOL: usize = 32;

/// Priority levels: level 0 is priority 0 (low), level 1 is -1, and so on. torch has as many.
pub(super) const LEVELS: usize = 4;

/// The number of the pool whose streams are lent to captures. torch has no such ids.
pub(super) const CAPTURES: usize = LEVELS;

/// The numbers of the pools whose streams are lent to communicators, of priority 0 and of priority -1.
pub(super) const COLLECTIVES: usize = CAPTURES + 1;
pub(super) const URGENT_COLLECTIVES: usize = COLLECTIVES + 1;

/// The number of the pool for copies between devices.
pub(super) const LANES: usize = URGENT_COLLECTIVES + 1;

/// Pools that a device has.
pub(super) const POOLS: usize = LANES + 1;

/// The id of every device's default stream.
pub(super) const DEFAULT: i64 = 0;

/// The kind of stream that an id names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum StreamKind {
    Default,
    Pooled {
        pool: usize,
        index: usize,
    },
    /// A stream of the program, by its number. Only a number that a call has announced has a handle.
    External(usize),
}

impl StreamKind {
    /// The kind of stream of an id; `None` if no stream can have the id.
    #[inline]
    pub(super) fn of(id: i64) -> Option<StreamKind> {
        if id == DEFAULT {
            return Some(StreamKind::Default);
        }
        if id & 1 == 0 {
            return Some(StreamKind::External(id as usize));
        }
        // Pools are counted from 1, so 0 wraps to one that does not exist.
        let pool = ((id >> 1) & 0xf).wrapping_sub(1) as usize;
        let index = (id >> 5) as usize;
        (pool < POOLS && index < STREAMS_PER_POOL).then_some(StreamKind::Pooled { pool, index })
    }
}

/// The number of indices of the library's streams on a device; see [`own_index`].
pub(crate) const OWN_INDICES: usize = (POOLS + 1) * STREAMS_PER_POOL;

/// The index of a stream of the library among those of its device; `None` for other ids.
#[inline]
pub(crate) fn own_index(id: i64) -> Option<usize> {
    if id == DEFAULT {
        return Some(0);
    }
    let (pool, index) = ((id >> 1) & 0xf, id >> 5);
    let is_own = id & 1 == 1
        && (1..=POOLS as i64).contains(&pool)
        && (0..STREAMS_PER_POOL as i64).contains(&index);
    is_own.then(|| pool as usize * STREAMS_PER_POOL + index as usize)
}

/// The id of a pooled stream.
#[inline]
pub(super) fn pooled(pool: usize, index: usize) -> i64 {
    debug_assert!(pool < POOLS && index < STREAMS_PER_POOL);
    1 | ((pool as i64 + 1) << 1) | ((index as i64) << 5)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_pooled_id_reads_back_and_none_collide() {
        let mut seen = std::collections::HashSet::new();
        let mut own = std::collections::HashSet::from([own_index(DEFAULT)]);
        for pool in 0..POOLS {
            for index in 0..STREAMS_PER_POOL {
                let id = pooled(pool, index);
                assert!(seen.insert(id));
                assert_eq!(StreamKind::of(id), Some(StreamKind::Pooled { pool, index }));
                assert!(own.insert(own_index(id)) && own_index(id) < Some(OWN_INDICES));
            }
        }
    }

    #[test]
    fn impossible_ids_are_refused() {
        let past_pools = 1 | ((POOLS as i64 + 1) << 1);
        for id in [1, -1, past_pools, pooled(0, 0) | 1 << 10, i64::MIN + 1, i64::MAX] {
            assert_eq!((StreamKind::of(id), own_index(id)), (None, None), "{id:#x}");
        }
        assert_eq!(StreamKind::of(0), Some(StreamKind::Default));
        assert_eq!(StreamKind::of(0x7f00_1230), Some(StreamKind::External(0x7f00_1230)));
    }
}
