//! Private pools: memory that is kept apart from the default pool, for graph captures and for
//! callers that want their own.
//!
//! Between [`begin`] and [`end`] the calling thread's allocations on a device, on whatever stream,
//! come from the pool; it does not matter whether a capture is under way. Blocks go back to the pool
//! they came from, whichever thread frees them. The memory of a pool stays with it until it is trimmed or
//! destroyed; what is live then stays valid, and goes back like any other memory once it is freed.

use std::cell::RefCell;
use std::mem::ManuallyDrop;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};

use super::fixed_pools;
pub use super::pool_holds::AwaitLaunch;
use super::pool_holds::{self, SleepFlags};
use super::pool_release;
pub use super::pool_release::give_back_late;
use super::sleep;
pub use super::source::pool_policy::PoolPolicy;
use super::source::{pool_policy, uncached};
pub use super::streams::launch_uses::busy;
use super::streams::sleepers;
use crate::context::{Runtime, refuse_forked_child, runtime};
use crate::device;
use crate::stream::{self, Named};
use sconce_base::collections::handle_kind::HandleKind;
pub use sconce_base::collections::slab::Key;
use sconce_base::collections::slab::{Live, Slab};
use sconce_base::error::{Error, Result, Status};
use sconce_base::lock::{OnceCell, rank};
use sconce_base::log;
use sconce_base::process;
use sconce_base::thread_state;
use sconce_base::types::DeviceIndex;
use sconce_driver::StreamRef;

static POOLS: Slab<PoolCell> = Slab::new(HandleKind::MemoryPool);
static NUMBERS: AtomicU64 = AtomicU64::new(1);

/// The place of a pool.
#[derive(Default)]
struct PoolCell {
    /// The pool's number, never used again.
    number: AtomicU64,
    /// How many threads and devices it is begun on; [`GONE`] when it is being destroyed.
    begun: AtomicUsize,
    /// The graph that made the pool has gone: the pool is destroyed once it is begun nowhere.
    ends: AtomicBool,
}

/// What is begun of a pool that is being destroyed.
const GONE: usize = usize::MAX;

thread_local! {
    /// Where this thread's allocations go, newest last. Without a destructor, so that a thread can
    /// allocate while it ends; `change` frees the vector's storage instead.
    static DIVERSIONS: ManuallyDrop<RefCell<Vec<Diversion>>> =
        const { ManuallyDrop::new(RefCell::new(Vec::new())) };
}

/// A pool that a thread has begun.
struct Diversion {
    device: DeviceIndex,
    /// The pool's number.
    number: u64,
    /// A stream of the program was found to be captured meanwhile, which other threads know of.
    captured: bool,
}

/// Called with a device and the number of a pool from which the calling thread no longer allocates there.
static ON_END: OnceCell<rank::FirstTime, fn(DeviceIndex, u64)> = OnceCell::new();

/// Names the function that frees what was allocated from a pool for the calling thread's libraries, once.
pub fn on_end(ended: fn(DeviceIndex, u64)) {
    ON_END.get_or_init(|| ended);
}

fn cell(pool: Key) -> Result<Live<'static, PoolCell>> {
    POOLS.get(pool).ok_or_else(|| dead(pool))
}

fn dead(pool: Key) -> Error {
    let otherwise = "is not a live memory pool: never created, or destroyed";
    Error::invalid_handle(HandleKind::MemoryPool.refusal(pool.bits(), "pool", otherwise))
}

/// The number of the pool that the calling thread's allocations on a device come from; 0 is the
/// default one.
pub fn current(device: DeviceIndex) -> u64 {
    if !thread_state::has_diversions() {
        return 0;
    }
    DIVERSIONS.with(|diversions| {
        diversions
            .borrow()
            .iter()
            .rev()
            .find(|diversion| diversion.device == device)
            .map_or(0, |diversion| diversion.number)
    })
}

/// Lets other threads know that a stream of the program is being captured, if it is, until the calling
/// thread ends its pool. They may not ask the stream itself, which the running call names.
pub(super) fn note_capture(runtime: &Runtime, stream: StreamRef) {
    DIVERSIONS.with(|diversions| {
        let mut diversions = diversions.borrow_mut();
        let newest = diversions.iter_mut().rev().find(|it| it.device == stream.device);
        if let Some(newest) = newest.filter(|newest| !newest.captured)
            && runtime.driver().stream_is_capturing(stream).unwrap_or(false)
        {
            newest.captured = true;
            stream::add_capture(stream.device);
        }
    });
}

fn change(action: impl FnOnce(&mut Vec<Diversion>) -> Result<()>) -> Result<()> {
    DIVERSIONS.with(|diversions| {
        let diversions = &mut *diversions.borrow_mut();
        action(diversions)?;
        if diversions.is_empty() {
            *diversions = Vec::new();
        }
        thread_state::set_diversions(diversions.len() as u32);
        Ok(())
    })
}

/// Makes a pool whose memory is what the settings say.
pub fn create() -> Result<Key> {
    create_with(PoolPolicy::OfSettings)
}

/// Makes a pool.
pub fn create_with(policy: PoolPolicy) -> Result<Key> {
    refuse_forked_child()?;
    let (key, cell) = POOLS
        .insert()
        .ok_or_else(|| Error::new(Status::OutOfMemory, "too many memory pools are alive"))?;
    let number = NUMBERS.fetch_add(1, Ordering::Relaxed);
    pool_policy::set(number, policy);
    cell.begun.store(0, Ordering::Relaxed);
    cell.ends.store(false, Ordering::Relaxed);
    cell.number.store(number, Ordering::Release);
    Ok(key)
}

/// The number by which snapshots know a pool.
pub fn number(pool: Key) -> Result<u64> {
    Ok(cell(pool)?.number.load(Ordering::Acquire))
}

/// From now on the calling thread's allocations on a device (-1: the current one) come from the
/// pool.
pub fn begin(pool: Key, index: i32) -> Result<()> {
    let runtime = runtime()?;
    let device = device::resolve(runtime, index)?;
    let cell = cell(pool)?;
    let number = cell.number.load(Ordering::Acquire);
    change(|diversions| {
        if diversions.iter().any(|it| (it.device, it.number) == (device, number)) {
            return Err(Error::invalid_state(format!(
                "this thread already allocates from the pool on device {device}; call \
                 sconce_memory_pool_end first"
            )));
        }
        enter(pool, &cell)?;
        diversions.push(Diversion { device, number, captured: false });
        Ok(())
    })
}

/// Counts a use of a pool, which is not destroyed until it is taken off again.
fn enter(pool: Key, cell: &Live<'static, PoolCell>) -> Result<()> {
    let begun = cell.begun.fetch_update(Ordering::AcqRel, Ordering::Acquire, |begun| {
        begun.checked_add(1).filter(|_| begun != GONE)
    });
    begun.map_err(|_| dead(pool))?;
    if !cell.still() {
        // Destroyed, and perhaps another pool by now, since it was looked up.
        cell.begun.fetch_sub(1, Ordering::AcqRel);
        return Err(dead(pool));
    }
    Ok(())
}

/// Undoes [`begin`].
pub fn end(pool: Key, index: i32) -> Result<()> {
    let runtime = runtime()?;
    let device = device::resolve(runtime, index)?;
    let cell = cell(pool)?;
    let number = cell.number.load(Ordering::Acquire);
    change(|diversions| {
        let is_it = |it: &Diversion| (it.device, it.number) == (device, number);
        let Some(place) = diversions.iter().rposition(is_it) else {
            return Err(Error::invalid_state(format!(
                "this thread does not allocate from the pool on device {device}; call \
                 sconce_memory_pool_begin on the thread that calls sconce_memory_pool_end"
            )));
        };
        if diversions.remove(place).captured {
            stream::remove_capture(device);
        }
        Ok(())
    })?;
    if let Some(ended) = ON_END.get() {
        ended(device, number);
    }
    cell.begun.fetch_sub(1, Ordering::SeqCst);
    if cell.ends.load(Ordering::SeqCst) {
        // Another thread has begun the pool meanwhile, or has destroyed it: then there is nothing to do here.
        if let Err(error) = destroy(pool) {
            log::debug(format_args!("the pool of a graph that has gone: {}", error.message()));
        }
    }
    Ok(())
}

/// Fixes a pool's memory, on all devices, or makes the pool an ordinary one again. While it is fixed, none of its
/// memory sleeps or goes back to the driver, and the pool is not destroyed.
pub fn set_fixed(pool: Key, fixed: bool) -> Result<()> {
    let runtime = runtime()?;
    if fixed && uncached::is_on() {
        return Err(Error::not_supported(
            "memory is not fixed without caching (PYTORCH_NO_CUDA_MEMORY_CACHING): each free returns it to the driver; \
             unset that variable",
        ));
    }
    let cell = cell(pool)?;
    // Meanwhile the pool cannot be destroyed.
    enter(pool, &cell)?;
    let number = cell.number.load(Ordering::Acquire);
    let outcome = match fixed {
        true => process::watch_exit().and_then(|()| sleep::fix(runtime, number)),
        false => {
            fixed_pools::release(number);
            Ok(())
        }
    };
    cell.begun.fetch_sub(1, Ordering::AcqRel);
    outcome
}

/// Whether a pool's memory is fixed.
pub fn is_fixed(pool: Key) -> Result<bool> {
    Ok(fixed_pools::is_fixed(number(pool)?))
}

/// Gives the pool's memory without live blocks back to the driver; returns its bytes. While a graph holds the pool, or
/// its memory is fixed, nothing goes back.
pub fn trim(pool: Key) -> Result<usize> {
    let runtime = runtime()?;
    let number = cell(pool)?.number.load(Ordering::Acquire);
    if pool_holds::is_held(number) || fixed_pools::is_fixed(number) {
        return Ok(0);
    }
    let bytes = pool_release::trim(runtime, number);
    runtime.devices().for_each(|device| sleep::drop_free(runtime, device));
    bytes
}

/// Destroys a pool. While the process ends, a fixed one stays as it is: where its memory is registered, nobody
/// unregisters it any more. Memory of others without live blocks goes back to the driver: at once, or later if blocks
/// wait for streams or a stream is being captured; if graphs hold the pool, when the last one lets go.
pub fn destroy(pool: Key) -> Result<()> {
    refuse_forked_child()?;
    let live = cell(pool)?;
    let number = live.number.load(Ordering::Acquire);
    let order = (Ordering::AcqRel, Ordering::Acquire);
    if process::is_exiting() && fixed_pools::is_fixed(number) {
        return Ok(());
    }
    refuse_fixed(number)?;
    if let Err(begun) = live.begun.compare_exchange(0, GONE, order.0, order.1) {
        if begun == GONE || !live.still() {
            return Err(dead(pool));
        }
        return Err(Error::invalid_state(
            "pool is still begun on a thread; call sconce_memory_pool_end there first",
        ));
    }
    // Another thread may have fixed it since.
    if let Err(error) = refuse_fixed(number) {
        live.begun.store(0, Ordering::Release);
        return Err(error);
    }
    if !POOLS.remove(pool, |_| ()) {
        return Err(dead(pool));
    }
    // No thread allocates from it any more.
    pool_policy::forget(number);
    if pool_holds::outlives(number) {
        return Ok(());
    }
    pool_release::destroyed(number)
}

/// Destroys the pool that a graph made, with the graph: at once, or as soon as no thread allocates from it for a
/// capture of another graph.
pub fn destroy_with_graph(pool: Key) -> Result<()> {
    let live = cell(pool)?;
    let number = live.number.load(Ordering::Acquire);
    live.ends.store(true, Ordering::SeqCst);
    match destroy(pool) {
        Err(error) if error.status() == Status::InvalidState && !fixed_pools::is_fixed(number) => {
            Ok(())
        }
        outcome => outcome,
    }
}

fn refuse_fixed(number: u64) -> Result<()> {
    if !fixed_pools::is_fixed(number) {
        return Ok(());
    }
    Err(Error::invalid_state(
        "the memory of pool is fixed, since the program has registered it elsewhere; end the registrations and call \
         sconce_memory_pool_set_fixed with false before the pool is destroyed",
    ))
}

/// A graph's hold of a pool.
pub struct PoolHold {
    number: u64,
    graph: Key,
    asleep: SleepFlags,
}

/// Keeps the memory of a pool for a graph until the hold is released. `await_launch` waits until no thread is launching
/// the graph.
pub fn hold(pool: Key, graph: Key, await_launch: AwaitLaunch) -> Result<PoolHold> {
    let cell = cell(pool)?;
    let number = cell.number.load(Ordering::Acquire);
    let asleep = pool_holds::add(number, graph, await_launch);
    let hold = PoolHold { number, graph, asleep };
    if !cell.still() {
        hold.release(&[])?;
        return Err(dead(pool));
    }
    Ok(hold)
}

impl PoolHold {
    /// Keeps the memory for another graph, too.
    pub fn share(&self, graph: Key, await_launch: AwaitLaunch) -> PoolHold {
        let asleep = pool_holds::add(self.number, graph, await_launch);
        PoolHold { number: self.number, graph, asleep }
    }

    /// Lets go. The memory of a pool that was destroyed goes back if no other graph holds it. `users` are the streams
    /// on which launches of the graph may be queued still: they use all memory of the pool until they have done the
    /// work that is queued now. The driver's calls are made in the relaxed mode of captures.
    pub fn release(self, users: &[Named]) -> Result<()> {
        pool_release::let_go(self.number, users);
        match pool_holds::remove(self.number, self.graph) {
            true => pool_release::let_go_last(self.number),
            false => Ok(()),
        }
    }

    /// Refuses a launch on a device while the pool sleeps there. The caller holds the lock that the hold's
    /// [`AwaitLaunch`] waits for until the launch is queued.
    #[inline]
    pub fn refuse_asleep(&self, device: DeviceIndex) -> Result<()> {
        if self.asleep.is_set(device) { Err(asleep(device, self.number)) } else { Ok(()) }
    }
}

#[cold]
fn asleep(device: DeviceIndex, number: u64) -> Error {
    Error::invalid_state(format!(
        "the memory of the graph is asleep with {} (sconce_memory_pool_sleep); call sconce_memory_pool_wake before the \
         graph is launched",
        sleepers::name(device, number)
    ))
}
