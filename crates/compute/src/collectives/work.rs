//! Asynchronous calls. A work holds the event at the end of a call, and tensors that the call uses.

use std::any::Any;
use std::sync::Arc;
use std::time::{Duration, Instant};

use sconce_base::collections::handle_kind::HandleKind;
use sconce_base::collections::slab::Slab;
use sconce_base::error::{Error, Result, Status};
use sconce_base::lock::{Mutex, about_to_wait, rank};
use sconce_driver::RelaxedCapture;
use sconce_runtime::context::Runtime;
use sconce_runtime::event::NativeEvent;
use sconce_runtime::stream::Stream;

use super::Key;
use super::comm::Comm;

/// How long a thread that waits for a work looks without a pause, and the pause afterwards.
const EAGER: Duration = Duration::from_micros(200);
const PAUSE: Duration = Duration::from_micros(100);

static WORKS: Slab<Mutex<rank::WorkHandle, Option<Arc<Work>>>> = Slab::new(HandleKind::CommWork);

/// What a work keeps until it is waited for.
pub type Kept = Box<dyn Any + Send>;

/// One call.
pub(super) struct Work {
    comm: Arc<Comm>,
    runtime: &'static Runtime,
    sequence: u64,
    name: &'static str,
    state: Mutex<rank::CommWork, WorkState>,
}

#[derive(Default)]
struct WorkState {
    /// The end of the call; `None` until it is queued, which a call in a group is at the group's end.
    event: Option<Arc<NativeEvent>>,
    is_done: bool,
    kept: Vec<Kept>,
}

impl Work {
    pub(super) fn new(comm: &Arc<Comm>, sequence: u64, name: &'static str) -> Work {
        let (comm, runtime) = (Arc::clone(comm), comm.runtime);
        Work { comm, runtime, sequence, name, state: Mutex::default() }
    }

    /// Notes the end of the call.
    pub(super) fn is_queued(&self, event: Arc<NativeEvent>) {
        self.state.lock().event = Some(event);
    }

    fn event(&self) -> Result<Arc<NativeEvent>> {
        let event = self.state.lock().event.clone();
        event.ok_or_else(|| {
            Error::invalid_state(
                "the work is of a group that has not ended, or that failed; end the group",
            )
        })
    }

    /// Whether the call has ended. A broken communicator is an error, unless the call was seen to end before.
    fn poll(&self) -> Result<bool> {
        if self.state.lock().is_done {
            return Ok(true);
        }
        self.check()?;
        let is_done = {
            let (driver, event) = (self.runtime.driver(), self.event()?);
            let _relaxed = RelaxedCapture::enter(driver)?;
            driver.event_query(event.handle())?
        };
        if is_done {
            // The call may have ended because the communicator broke.
            self.comm.poll().map_err(|why| self.named(why))?;
            self.state.lock().is_done = true;
        }
        Ok(is_done)
    }

    fn check(&self) -> Result<()> {
        self.comm.failure.check().map_err(|why| self.named(why))
    }

    fn named(&self, why: Error) -> Error {
        why.context(format_args!("call {} ({})", self.sequence, self.name))
    }

    /// Lets go of what it keeps.
    fn let_go(&self) {
        // What is kept may call back into the library when it is dropped.
        let kept = std::mem::take(&mut self.state.lock().kept);
        drop(kept);
    }
}

/// Gives a work a handle.
pub(super) fn publish(work: &Arc<Work>) -> Result<Key> {
    let (key, slot) =
        WORKS.insert().ok_or_else(|| Error::new(Status::OutOfMemory, "too many works"))?;
    *slot.lock() = Some(Arc::clone(work));
    Ok(key)
}

fn work(key: Key) -> Result<Arc<Work>> {
    let found = WORKS.get(key).and_then(|slot| {
        let work = slot.lock().clone();
        work.filter(|_| slot.still())
    });
    found.ok_or_else(|| dead_work(key))
}

/// Orders later work of a stream after the call; the work lets go of what it keeps.
pub fn wait(key: Key, stream: Stream) -> Result<()> {
    let work = work(key)?;
    work.check()?;
    let event = work.event()?;
    work.runtime.driver().stream_wait_event(stream.driver_ref(), event.handle())?;
    work.let_go();
    Ok(())
}

/// Whether the call has ended.
pub fn query(key: Key) -> Result<bool> {
    work(key)?.poll()
}

/// Waits on the calling thread until the call has ended, at most for `limit`. The work lets go of what it keeps.
pub fn synchronize(key: Key, limit: Option<Duration>) -> Result<()> {
    about_to_wait::<rank::Device>();
    let work = work(key)?;
    let began = Instant::now();
    let mut watched = None;
    while !work.poll()? {
        let waited = began.elapsed();
        if let Some(limit) = limit.filter(|limit| waited >= *limit) {
            let why = format!(
                "call {} ({}) is not done after {limit:?}; wait again, or abort the communicator",
                work.sequence, work.name
            );
            return Err(Error::new(Status::Timeout, why));
        }
        if waited < EAGER {
            std::thread::yield_now();
        } else {
            if watched.is_none() {
                watched = work.runtime.driver().host_waits_for(work.event()?.handle());
            }
            std::thread::sleep(PAUSE);
            work.comm.poll().map_err(|why| work.named(why))?;
        }
    }
    work.let_go();
    Ok(())
}

/// Lets a work keep something until it is waited for.
pub fn keep(key: Key, kept: Kept) -> Result<()> {
    let work = work(key)?;
    work.state.lock().kept.push(kept);
    Ok(())
}

/// The number of the call among those of its communicator's end.
pub fn sequence(key: Key) -> Result<u64> {
    Ok(work(key)?.sequence)
}

/// Destroys a work; the call goes on.
pub fn destroy_work(key: Key) -> Result<()> {
    let mut taken = None;
    if !WORKS.remove(key, |slot| taken = slot.lock().take()) {
        return Err(dead_work(key));
    }
    drop(taken);
    Ok(())
}

#[cold]
#[inline(never)]
fn dead_work(key: Key) -> Error {
    let otherwise = "is not a live work handle; calls return works through out_work";
    Error::invalid_handle(HandleKind::CommWork.refusal(key.bits(), "work", otherwise))
}
