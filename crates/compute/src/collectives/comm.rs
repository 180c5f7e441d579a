//! One rank of a communicator: the driver's object for the rank, called its *endpoint*, the lock of that object, and
//! how callers wait for the other ranks.
//!
//! One thread at a time uses the endpoint. Operations that need the other ranks, such as making or finalizing a
//! communicator, are started under the lock and polled afterwards, without the lock between two polls. The first call
//! of a kind may block in the driver in spite of that, with the lock held; an abort therefore waits for the lock only
//! briefly, and then goes on without it.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use sconce_base::error::{Error, Result, Status};
use sconce_base::lock::{Mutex, MutexGuard, OnceCell, about_to_wait, rank};
use sconce_base::log;
use sconce_base::types::DeviceIndex;
use sconce_driver::{CommAbort, CommEndpoint, RelaxedCapture};
use sconce_runtime::context::Runtime;
use sconce_runtime::stream::{self, LentStream, Stream, StreamUser};

use super::config::{CommConfig, Limit};
use super::failure::{FirstFailure, aborted};
use super::watched_work::WatchedWork;

/// How long a waiting thread polls without a pause, and the pause between two polls afterwards.
const EAGER: Duration = Duration::from_micros(500);
const PAUSE: Duration = Duration::from_micros(200);
/// How long an abort waits for a call that holds the lock. Such a call ends shortly, unless it waits for another rank.
const ABORT_PATIENCE: Duration = Duration::from_millis(200);

/// One rank of a communicator.
pub(super) struct Comm {
    pub(super) runtime: &'static Runtime,
    pub(super) device: DeviceIndex,
    pub(super) config: CommConfig,
    /// Rank and number of ranks.
    place: OnceCell<rank::CommStream, (usize, usize)>,
    end: Mutex<rank::CommEnd, CommEnd>,
    aborter: Arc<dyn CommAbort>,
    /// When the call that is inside of the driver began, in milliseconds after `made`; 0 if no call is. The watchdog
    /// reads it.
    inside_since: AtomicU64,
    made: Instant,
    pub(super) failure: Arc<FirstFailure>,
    /// How many calls have been made.
    sequence: AtomicU64,
    /// The stream of asynchronous calls, which no other communicator has as long as there are enough.
    stream: OnceCell<rank::CommStream, (Stream, Option<LentStream>)>,
    /// Queued work with a limit.
    pub(super) watched: Mutex<rank::CommWatched, VecDeque<WatchedWork>>,
}

/// What the lock of a rank guards.
pub(super) struct CommEnd {
    /// The driver's object; `None` once the rank was aborted or destroyed.
    pub(super) endpoint: Option<Box<dyn CommEndpoint>>,
    is_finalized: bool,
}

impl CommEnd {
    /// The driver's object, if it still takes calls.
    #[inline]
    pub(super) fn open(&mut self) -> Result<&mut Box<dyn CommEndpoint>> {
        match &mut self.endpoint {
            Some(endpoint) if !self.is_finalized => Ok(endpoint),
            _ => Err(is_over()),
        }
    }
}

#[cold]
#[inline(never)]
fn is_over() -> Error {
    Error::invalid_state("the communicator has been finalized; it takes no more calls")
}

impl Comm {
    pub(super) fn new(
        runtime: &'static Runtime,
        device: DeviceIndex,
        config: CommConfig,
        endpoint: Box<dyn CommEndpoint>,
    ) -> Comm {
        Comm {
            runtime,
            device,
            config,
            place: OnceCell::new(),
            aborter: endpoint.aborter(),
            inside_since: AtomicU64::new(0),
            made: Instant::now(),
            end: Mutex::new(CommEnd { endpoint: Some(endpoint), is_finalized: false }),
            failure: Arc::default(),
            sequence: AtomicU64::new(0),
            stream: OnceCell::new(),
            watched: Mutex::default(),
        }
    }

    /// Takes the lock.
    #[inline]
    pub(super) fn lock(&self) -> MutexGuard<'_, rank::CommEnd, CommEnd> {
        self.end.lock()
    }

    /// Rank and number of ranks.
    #[inline]
    pub(super) fn place(&self) -> (usize, usize) {
        self.place.get().copied().unwrap_or((0, 0))
    }

    /// Refuses a stream of another device.
    #[inline]
    pub(super) fn check_stream(&self, call: &str, stream: Stream) -> Result<()> {
        if stream.device() == self.device { Ok(()) } else { Err(self.other_device(call, stream)) }
    }

    #[cold]
    #[inline(never)]
    fn other_device(&self, call: &str, stream: Stream) -> Error {
        Error::new(
            Status::CrossDevice,
            format!(
                "{call}: the stream is of device {}, but the communicator works on device {}",
                stream.device(),
                self.device
            ),
        )
    }

    /// The number of the next call.
    #[inline]
    pub(super) fn next_sequence(&self) -> u64 {
        self.sequence.fetch_add(1, Ordering::Relaxed) + 1
    }

    /// The stream of asynchronous calls, lent at the first.
    pub(super) fn stream(&self) -> Result<Stream> {
        let user = match self.config.high_priority {
            true => StreamUser::UrgentCommunicator,
            false => StreamUser::Communicator,
        };
        let lend = || stream::lend_or_share(self.runtime, self.device, user);
        self.stream.get_or_try_init(lend).map(|(stream, _)| *stream)
    }

    /// Notes the rank's number and the number of ranks, once the communicator is ready.
    pub(super) fn note_place(&self) -> Result<()> {
        let place = match &mut self.lock().endpoint {
            Some(endpoint) => endpoint.place()?,
            None => return Err(aborted()),
        };
        let _ = self.place.set(place);
        Ok(())
    }

    /// Asks the driver whether the operation that was started last has finished.
    pub(super) fn poll(&self) -> Result<bool> {
        self.failure.check()?;
        // Another thread has a call inside of the driver, which learns of failures by itself.
        let Some(mut end) = self.end.try_lock() else { return Ok(false) };
        let Some(endpoint) = &mut end.endpoint else { return Ok(true) };
        let polled = endpoint.poll();
        drop(end);
        polled.inspect_err(|why| {
            self.failure.break_for(why);
        })
    }

    /// Waits until all of `comms` are ready. `what` says what is waited for. When the limit has passed, they are
    /// aborted.
    pub(super) fn wait_ready(comms: &[Arc<Comm>], limit: Limit, what: &str) -> Result<()> {
        about_to_wait::<rank::Device>();
        let began = Instant::now();
        let limit = limit.of_calls();
        loop {
            let mut is_ready = true;
            for comm in comms {
                is_ready &= comm.poll()?;
            }
            if is_ready {
                return Ok(());
            }
            let waited = began.elapsed();
            if let Some(limit) = limit.filter(|limit| waited > *limit) {
                let why = Error::new(
                    Status::Timeout,
                    format!(
                        "{what} is not done after {limit:?}; is every rank alive, and does every rank \
                         make the call? timeout_ms of the configuration sets the limit"
                    ),
                );
                for comm in comms {
                    comm.break_off(&why);
                }
                return Err(why);
            }
            if waited < EAGER {
                std::thread::yield_now();
            } else {
                std::thread::sleep(PAUSE);
            }
        }
    }

    /// Finalizes the rank, unless that was done before. Fails if the communicator is broken.
    pub(super) fn finalize(self: &Arc<Self>) -> Result<()> {
        self.failure.check()?;
        {
            let mut end = self.lock();
            if end.is_finalized {
                return Ok(());
            }
            // It frees, which no capture has to do with.
            let _relaxed = RelaxedCapture::enter(self.runtime.driver())?;
            end.open()?.finalize()?;
            end.is_finalized = true;
        }
        let comms = [Arc::clone(self)];
        Comm::wait_ready(&comms, self.config.limit, "finalizing a communicator")
    }

    /// Takes the lock; `None` if a call has held it for [`ABORT_PATIENCE`].
    fn lock_soon(&self) -> Option<MutexGuard<'_, rank::CommEnd, CommEnd>> {
        let began = Instant::now();
        loop {
            match self.end.try_lock() {
                Some(end) => return Some(end),
                None if began.elapsed() > ABORT_PATIENCE => return None,
                None => std::thread::sleep(PAUSE),
            }
        }
    }

    /// Whether there may be work of the communicator that has not ended.
    pub(super) fn may_have_work(&self) -> bool {
        let is_over = |end: &CommEnd| end.is_finalized || end.endpoint.is_none();
        self.failure.check().is_ok() && !self.end.try_lock().is_some_and(|end| is_over(&end))
    }

    /// Ends the communicator at once on this rank. Later calls fail for this reason, unless there was another before.
    pub(super) fn break_off(&self, why: &Error) {
        self.failure.break_for(why);
        let mut end = self.lock_soon();
        let aborted = {
            // As finalizing. A communicator that is broken is aborted in any case.
            let _relaxed = RelaxedCapture::enter(self.runtime.driver());
            self.aborter.abort()
        };
        let endpoint = end.as_mut().and_then(|end| end.endpoint.take());
        drop((endpoint, end));
        if let Err(error) = aborted {
            log::warn(format_args!("a communicator could not be aborted: {error}"));
        }
    }

    /// Makes calls of the driver that may wait for other ranks; the watchdog sees how long they take.
    #[inline]
    pub(super) fn inside<T>(comms: &[&Comm], calls: impl FnOnce() -> Result<T>) -> Result<T> {
        for comm in comms {
            if comm.config.limit.of_calls().is_some() {
                let now = comm.made.elapsed().as_millis() as u64;
                comm.inside_since.store(now.max(1), Ordering::Release);
            }
        }
        let result = calls();
        for comm in comms {
            if comm.config.limit.of_calls().is_some() {
                comm.inside_since.store(0, Ordering::Release);
            }
        }
        // A call that ends because its communicator was aborted fails for that reason.
        result
            .map_err(|why| comms.iter().find_map(|comm| comm.failure.check().err()).unwrap_or(why))
    }

    /// How long a call has been inside of the driver.
    pub(super) fn inside_for(&self) -> Option<Duration> {
        match self.inside_since.load(Ordering::Acquire) {
            0 => None,
            since => Some(self.made.elapsed().saturating_sub(Duration::from_millis(since))),
        }
    }
}

impl Drop for Comm {
    fn drop(&mut self) {
        // The driver aborts an endpoint that is dropped before it was finalized. If the mode cannot be entered, it
        // says so itself.
        let _relaxed = RelaxedCapture::enter(self.runtime.driver());
        self.lock().endpoint = None;
    }
}
