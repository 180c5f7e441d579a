//! Bytes read as a sequence of C calls on device memory, sensible and hostile ones, each with what
//! it must answer. Used by a test and by the fuzz target.

use std::collections::BTreeMap;
use std::ffi::{CString, c_void};

use sconce::sconce_status::*;
use sconce::*;

/// Takes bytes from the front; zeros when there are no more.
struct Bytes<'a>(&'a [u8]);

impl Bytes<'_> {
    fn next(&mut self) -> usize {
        let Some((first, rest)) = self.0.split_first() else { return 0 };
        self.0 = rest;
        usize::from(*first)
    }

    fn size(&mut self) -> usize {
        let (shape, low, high) = (self.next(), self.next(), self.next());
        let number = high << 8 | low;
        match shape % 8 {
            0 => 0,
            1..4 => number % 5000,
            4 => number << 5,
            5 => number << 11,
            6 => 1 << (low % 40),
            // Around what overflows when it is rounded up.
            _ => usize::MAX << (low % 24) >> (high % 3),
        }
    }
}

fn pointer(address: usize) -> *mut c_void {
    std::ptr::without_provenance_mut(address)
}

/// What has been done so far.
struct Player {
    streams: Vec<sconce_stream>,
    /// Start and usable bytes of what is held.
    held: BTreeMap<usize, usize>,
    /// Addresses that were freed.
    freed: Vec<usize>,
    pools: Vec<*mut sconce_memory_pool>,
    dead_pools: Vec<*mut sconce_memory_pool>,
    /// Pools begun by this thread, with their devices.
    begun: Vec<(*mut sconce_memory_pool, i32)>,
}

/// An address, and what the library must know about it.
enum Found {
    Held(usize),
    Inside(usize),
    Null,
    Foreign(usize),
}

impl Player {
    fn address(&self, bytes: &mut Bytes) -> Found {
        let (kind, pick) = (bytes.next(), bytes.next());
        let place = |len: usize| pick.checked_rem(len);
        let held = place(self.held.len()).and_then(|n| self.held.iter().nth(n));
        match (kind % 8, held) {
            (0..4, Some((start, _))) => Found::Held(*start),
            (4, Some((start, len))) if *len > 1 => Found::Inside(start + 1 + pick % (len - 1)),
            (5, _) => match place(self.freed.len()).map(|place| self.freed[place]) {
                // The address may be handed out again, or lie in a larger block by now.
                Some(address) => match self.held.range(..=address).next_back() {
                    Some((start, _)) if *start == address => Found::Held(address),
                    Some((start, len)) if start + len > address => Found::Inside(address),
                    _ => Found::Foreign(address),
                },
                None => Found::Null,
            },
            (6, _) => {
                let local = 0_u8;
                let ours = &raw const local as usize;
                let numbers = [1, 511, 512, ours, usize::MAX, usize::MAX - 511, 1 << 52, 1 << 63];
                Found::Foreign(numbers[pick % numbers.len()])
            }
            _ => Found::Null,
        }
    }

    fn stream(&self, bytes: &mut Bytes) -> (sconce_stream, bool) {
        let pick = bytes.next();
        if pick % 16 == 15 {
            let wrong = [(0, 99), (0, -2), (12345, 0), (i64::MIN, 1), (-1, 0)];
            let (id, device) = wrong[pick / 16 % wrong.len()];
            return (sconce_stream { id, device, reserved: 0 }, false);
        }
        (self.streams[pick % self.streams.len()], true)
    }

    fn alloc(&mut self, bytes: &mut Bytes) {
        let (stream, known) = self.stream(bytes);
        let size = bytes.size();
        let untouched = pointer(7);
        let mut out = untouched;
        // SAFETY: a good place.
        let status = unsafe { sconce_memory_alloc_on(size, stream, &raw mut out) };
        if !known {
            let expected = [SCONCE_ERROR_INVALID_DEVICE, SCONCE_ERROR_INVALID_HANDLE];
            assert!(expected.contains(&status), "a stream of nobody: {status:?}");
        }
        match status {
            SCONCE_OK if size == 0 => assert!(out.is_null()),
            SCONCE_OK => {
                let mut usable = 0;
                // SAFETY: a good place.
                let status = unsafe { sconce_memory_get_usable_bytes(out, &raw mut usable) };
                assert!(status == SCONCE_OK && usable >= size);
                let (start, end) = (out as usize, out as usize + usable);
                assert_eq!(start % 512, 0);
                let before = self.held.range(..end).next_back();
                let overlaps = before.is_some_and(|(other, len)| other + len > start);
                assert!(!overlaps, "{start:#x}..{end:#x} overlaps {before:x?}");
                self.held.insert(start, usable);
            }
            SCONCE_ERROR_OUT_OF_MEMORY => {
                let nothing_held = self.held.is_empty() && self.pools.is_empty();
                assert!(out == untouched && !(nothing_held && size < 64 << 20));
            }
            status => assert!(!known && out == untouched, "alloc of {size}: {status:?}"),
        }
    }

    fn free(&mut self, found: Found, elsewhere: bool) {
        let free = |address: usize| sconce_memory_free(pointer(address));
        match found {
            Found::Held(start) if elsewhere => {
                let status = std::thread::scope(|scope| scope.spawn(|| free(start)).join());
                assert_eq!(status.ok(), Some(SCONCE_OK));
                assert_eq!(free(start), SCONCE_ERROR_INVALID_ARGUMENT, "a second time");
                self.held.remove(&start);
                self.freed.push(start);
            }
            Found::Held(start) => {
                assert_eq!(free(start), SCONCE_OK);
                self.held.remove(&start);
                self.freed.push(start);
            }
            Found::Null => assert_eq!(free(0), SCONCE_OK),
            Found::Inside(address) | Found::Foreign(address) => {
                assert_eq!(free(address), SCONCE_ERROR_INVALID_ARGUMENT, "{address:#x}");
            }
        }
    }

    fn look(&self, found: &Found) {
        let (mut usable, mut base, mut whole) = (0, std::ptr::null_mut(), 0);
        let (address, expected, held) = match *found {
            Found::Held(start) => (start, SCONCE_OK, self.held[&start]),
            Found::Null => (0, SCONCE_ERROR_INVALID_ARGUMENT, 0),
            Found::Inside(at) | Found::Foreign(at) => (at, SCONCE_ERROR_INVALID_ARGUMENT, 0),
        };
        // SAFETY: a good place.
        let status = unsafe { sconce_memory_get_usable_bytes(pointer(address), &raw mut usable) };
        assert_eq!(status, expected, "{address:#x}");
        assert_eq!(usable, held);
        // SAFETY: good places.
        let status =
            unsafe { sconce_memory_get_base(pointer(address), &raw mut base, &raw mut whole) };
        match found {
            Found::Held(_) | Found::Inside(_) => {
                assert_eq!(status, SCONCE_OK);
                assert!((base as usize..base as usize + whole).contains(&address));
            }
            _ => assert_eq!(status, SCONCE_ERROR_INVALID_ARGUMENT, "{address:#x}"),
        }
    }

    fn pool(&mut self, bytes: &mut Bytes) {
        let (action, pick) = (bytes.next(), bytes.next());
        let device = [0, 0, 1, -1, 99][pick % 5];
        let dead = pick % 7 == 6;
        let choices = if dead { &self.dead_pools } else { &self.pools };
        let Some(pool) = pick.checked_rem(choices.len()).map(|place| choices[place]) else {
            let mut pool = std::ptr::null_mut();
            // SAFETY: a good place.
            assert_eq!(unsafe { sconce_memory_pool_create(&raw mut pool) }, SCONCE_OK);
            self.pools.push(pool);
            return;
        };
        // -1 is the current device, which is always 0 here.
        let on = (pool, device.max(0));
        let begun = self.begun.contains(&on);
        let expected = |when_live| match (dead, device) {
            (true, 99) => [SCONCE_ERROR_INVALID_HANDLE, SCONCE_ERROR_INVALID_DEVICE],
            (true, _) => [SCONCE_ERROR_INVALID_HANDLE; 2],
            (_, 99) => [SCONCE_ERROR_INVALID_DEVICE; 2],
            _ => [when_live; 2],
        };
        match action % 4 {
            0 => {
                let when_live = if begun { SCONCE_ERROR_INVALID_STATE } else { SCONCE_OK };
                let status = sconce_memory_pool_begin(pool, device);
                assert!(expected(when_live).contains(&status), "begin: {status:?}");
                if status == SCONCE_OK {
                    self.begun.push(on);
                }
            }
            1 => {
                let when_live = if begun { SCONCE_OK } else { SCONCE_ERROR_INVALID_STATE };
                let status = sconce_memory_pool_end(pool, device);
                assert!(expected(when_live).contains(&status), "end: {status:?}");
                if status == SCONCE_OK {
                    self.begun.retain(|other| *other != on);
                }
            }
            2 => {
                let mut trimmed = 0;
                // SAFETY: a good place.
                let status = unsafe { sconce_memory_pool_trim(pool, &raw mut trimmed) };
                let when = if dead { SCONCE_ERROR_INVALID_HANDLE } else { SCONCE_OK };
                assert_eq!(status, when);
            }
            _ => {
                let in_use = self.begun.iter().any(|(other, _)| *other == pool);
                let status = sconce_memory_pool_destroy(pool);
                match (dead, in_use) {
                    (true, _) => assert_eq!(status, SCONCE_ERROR_INVALID_HANDLE),
                    (_, true) => assert_eq!(status, SCONCE_ERROR_INVALID_STATE),
                    _ => {
                        assert_eq!(status, SCONCE_OK);
                        self.pools.retain(|other| *other != pool);
                        self.dead_pools.push(pool);
                    }
                }
            }
        }
    }

    fn settings(&mut self, bytes: &mut Bytes) {
        let texts = [
            "",
            "max_split_size_mb:21",
            "max_split_size_mb:5",
            "roundup_power2_divisions:[1:2,>:8]",
            "roundup_power2_divisions:[",
            "garbage_collection_threshold:0.1",
            "garbage_collection_threshold:nan",
            "large_segment_size_mb:40",
            "no_such_key:1",
            ":,:,[]",
        ];
        let pick = bytes.next();
        let text = match texts.get(pick % 12) {
            Some(text) => CString::new(*text),
            None => CString::new(bytes.0.iter().copied().take(20).collect::<Vec<u8>>()),
        };
        if let Ok(text) = text {
            // SAFETY: a NUL-terminated text.
            let status = unsafe { sconce_memory_configure(text.as_ptr()) };
            let refused = [SCONCE_ERROR_INVALID_ARGUMENT, SCONCE_ERROR_NOT_SUPPORTED];
            assert!(status == SCONCE_OK || refused.contains(&status), "{text:?}: {status:?}");
        }
        let fractions = [1.0, 0.5, 0.0, -0.1, 1.5, f64::NAN, f64::INFINITY, 1e-300];
        let fraction = fractions[bytes.next() % fractions.len()];
        let status = sconce_memory_set_fraction(fraction, 0);
        let good = (0.0..=1.0).contains(&fraction);
        assert_eq!(status == SCONCE_OK, good, "{fraction}: {status:?}");
        // Enough for what must not fail.
        assert_eq!(sconce_memory_set_fraction(1.0, 0), SCONCE_OK);
    }

    fn figures(&self, bytes: &mut Bytes) {
        let device = [0, 1, -1, 99, i32::MIN][bytes.next() % 5];
        let known = (-1..2).contains(&device);
        let (mut now, mut most) = (0, 0);
        // SAFETY: a good place.
        let status = unsafe { sconce_memory_get_allocated(device, &raw mut now) };
        assert_eq!(status == SCONCE_OK, known, "{device}: {status:?}");
        // SAFETY: a good place.
        assert_eq!(unsafe { sconce_memory_get_max_allocated(device, &raw mut most) }, status);
        assert!(most >= now);
        if bytes.next().is_multiple_of(4) {
            assert_eq!(sconce_memory_reset_peak_stats(device), status);
            assert_eq!(sconce_memory_reset_accumulated_stats(device), status);
        }
        let enabled = bytes.next().is_multiple_of(3);
        assert_eq!(sconce_memory_record_history(enabled.into(), 1 + bytes.next() % 9), SCONCE_OK);
    }

    fn step(&mut self, bytes: &mut Bytes) {
        match bytes.next() % 32 {
            0..12 => self.alloc(bytes),
            12..20 => {
                let found = self.address(bytes);
                self.free(found, bytes.next() % 8 == 7);
            }
            20..23 => self.look(&self.address(bytes)),
            23..26 => {
                let found = self.address(bytes);
                let (stream, known) = self.stream(bytes);
                let (Found::Held(at) | Found::Inside(at) | Found::Foreign(at)) = found else {
                    return;
                };
                let status = sconce_memory_record_stream(pointer(at), stream);
                // A use of any part counts for the block, and memory of others is ignored. Memory of the
                // library that is not in use is a mistake.
                let refused = status == SCONCE_ERROR_INVALID_ARGUMENT;
                if !refused || matches!(found, Found::Held(_) | Found::Inside(_)) {
                    assert_eq!(status == SCONCE_OK, known, "{at:#x}: {status:?}");
                }
            }
            26 => assert_eq!(sconce_memory_empty_cache(), SCONCE_OK),
            27..30 => self.pool(bytes),
            30 => self.settings(bytes),
            _ => self.figures(bytes),
        }
    }

    fn finish(mut self) {
        for (pool, device) in std::mem::take(&mut self.begun) {
            assert_eq!(sconce_memory_pool_end(pool, device), SCONCE_OK);
        }
        for start in self.held.keys() {
            assert_eq!(sconce_memory_free(pointer(*start)), SCONCE_OK);
        }
        for pool in std::mem::take(&mut self.pools) {
            assert_eq!(sconce_memory_pool_destroy(pool), SCONCE_OK);
        }
        assert_eq!(sconce_memory_empty_cache(), SCONCE_OK);
        sconce_runtime::memory::check::walk().unwrap();
        for device in 0..2 {
            let (mut free, mut total) = (0, 1);
            // SAFETY: good places.
            let status =
                unsafe { sconce_device_get_memory_info(device, &raw mut free, &raw mut total) };
            assert_eq!((status, free), (SCONCE_OK, total), "device {device} got not all back");
            let mut reserved = 1;
            // SAFETY: a good place.
            let status = unsafe { sconce_memory_get_reserved(device, &raw mut reserved) };
            assert_eq!((status, reserved), (SCONCE_OK, 0));
        }
    }
}

/// Makes the calls that the bytes stand for; panics when one answers what it must not, and leaves
/// nothing allocated.
pub fn play(bytes: &[u8]) {
    let mut streams = Vec::new();
    for device in [0, 0, 1] {
        let mut stream = sconce_stream { id: 0, device, reserved: 0 };
        streams.push(stream);
        // SAFETY: a good place.
        let status = unsafe { sconce_stream_get_from_pool(device, 0, &raw mut stream) };
        assert_eq!(status, SCONCE_OK);
        streams.push(stream);
    }
    // SAFETY: a NUL-terminated text.
    assert_eq!(unsafe { sconce_memory_configure(c"".as_ptr()) }, SCONCE_OK);
    let mut player = Player {
        streams,
        held: BTreeMap::new(),
        freed: Vec::new(),
        pools: Vec::new(),
        dead_pools: Vec::new(),
        begun: Vec::new(),
    };
    let mut bytes = Bytes(bytes);
    while !bytes.0.is_empty() {
        player.step(&mut bytes);
    }
    player.finish();
}
