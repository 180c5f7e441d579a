//! Streams and memory of the table.
#![allow(unsafe_code, reason = "calls the C API")]

use std::ffi::{CStr, c_void};
use std::ptr::null_mut;

use sconce::sconce_status::*;
use sconce::*;
use testkit::last_message;
use testkit::places::calls;

use super::work::Scene;
use crate::support::*;

/// A page, or a part of a segment.
pub(super) const BYTES: usize = 2 << 20;

/// Starts simulated devices.
pub(super) fn start(policy: &CStr, reuse: bool) {
    testkit::simulated::runtime();
    ok(sconce_sim_set_address_reuse(reuse.into()));
    // SAFETY: a NUL-terminated text.
    ok(unsafe { sconce_memory_configure(policy.as_ptr()) });
}

/// Bytes that the allocator has got from the driver on device 0.
pub(super) fn reserved() -> i64 {
    sconce_runtime::memory::stats(0).map_or(-1, |stats| stats.reserved_bytes.all.current)
}

pub(crate) fn pool() -> *mut sconce_memory_pool {
    let mut pool = null_mut();
    // SAFETY: a writable place.
    ok(unsafe { sconce_memory_pool_create(&mut pool) });
    pool
}

pub(super) fn allocate_on(bytes: usize, stream: sconce_stream) -> *mut c_void {
    let mut address = null_mut();
    // SAFETY: a writable place.
    ok(unsafe { sconce_memory_alloc_on(bytes, stream, &mut address) });
    address
}

pub(crate) fn set_on(address: *mut c_void, value: u8, bytes: usize, stream: sconce_stream) {
    // SAFETY: memory of a device is checked.
    ok(unsafe { sconce_memory_set_on(address, value, bytes, stream) });
}

pub(crate) fn copy_on(to: *mut c_void, from: *const c_void, bytes: usize, stream: sconce_stream) {
    // SAFETY: host memory of the tests outlives the copy.
    ok(unsafe { sconce_copy_on(to, from, bytes, CBool::TRUE, stream) });
}

/// What device memory holds now.
pub(crate) fn peek(address: *const c_void, bytes: usize) -> Vec<u8> {
    let mut data = vec![0; bytes];
    // SAFETY: memory of a device, and a writable place of this size.
    ok(unsafe { sconce_sim_memory_read(address, bytes, data.as_mut_ptr().cast()) });
    data
}

/// How many driver calls that wait for work there were.
pub(crate) fn count_waits() -> u64 {
    let waiting = [
        "event_synchronize",
        "stream_synchronize",
        "device_synchronize",
        "memory_free",
        "host_free",
        "host_unregister",
    ];
    waiting.iter().map(|call| calls(call)).sum()
}

/// Runs something on another thread. A panic there is one here, with its message.
pub(crate) fn on_thread<T: Send>(work: impl FnOnce() -> T) -> T {
    /// What the threads share by turns.
    struct Sent<T>(T);
    // SAFETY: the calling thread does nothing until the other one has ended.
    unsafe impl<T> Send for Sent<T> {}
    let work = Sent(work);
    std::thread::scope(|scope| {
        let thread = scope.spawn(move || {
            let Sent(work) = { work };
            work()
        });
        thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    })
}

/// The sizes of the new owners' blocks, for each stream and pool.
const SIZES: [usize; 3] = [BYTES, BYTES, 64 << 10];

/// New owners of memory, who write to all of it at once.
pub(super) struct Junk {
    blocks: Vec<*mut c_void>,
    /// The streams on which they write.
    pub(super) streams: [sconce_stream; 2],
}

impl Junk {
    const VALUE: u8 = 0xEE;

    /// Gets as much memory as the work used, and more, from the default pool, and from the scene's pool if that may give
    /// any: for the stream that the work's memory was allocated for, and for another.
    pub(super) fn new(scene: &Scene) -> Junk {
        let mut junk = Junk { blocks: Vec::new(), streams: [scene.stream, pool_stream()] };
        junk.take();
        if let Some(pool) = scene.open_pool() {
            ok(sconce_memory_pool_begin(pool, 0));
            junk.take();
            ok(sconce_memory_pool_end(pool, 0));
        }
        junk
    }

    fn take(&mut self) {
        for stream in self.streams {
            for bytes in SIZES {
                let block = allocate_on(bytes, stream);
                set_on(block, Junk::VALUE, bytes, stream);
                self.blocks.push(block);
            }
        }
    }

    /// Whether the memory holds what its owners wrote.
    pub(super) fn check(&self) -> Result<(), String> {
        for (block, bytes) in self.blocks.iter().zip(SIZES.into_iter().cycle()) {
            if peek(*block, bytes) != vec![Junk::VALUE; bytes] {
                return Err("the work wrote to memory of a new owner".to_owned());
            }
        }
        Ok(())
    }
}

impl Drop for Junk {
    fn drop(&mut self) {
        for block in &self.blocks {
            let status = sconce_memory_free(*block);
            assert!(status == SCONCE_OK || std::thread::panicking(), "{}", last_message());
        }
    }
}
