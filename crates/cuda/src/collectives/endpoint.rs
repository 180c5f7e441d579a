//! A rank's end of a communicator.

use std::ffi::c_int;
use std::ptr::null_mut;
use std::sync::Arc;
use std::sync::atomic::{AtomicPtr, AtomicUsize, Ordering};

use sconce_base::error::{Error, Result, Status};
use sconce_base::log;
use sconce_driver::{
    CommAbort, CommCall, CommEndpoint, CommId, CommMember, CommOptions, StreamRef,
};

use super::call::Target;
use super::functions::{NcclComm, NcclUniqueId};
use super::task::Task;
use super::{Nccl, check, config_of, end_group, start_group};
use crate::primary::HeldContext;

/// `NCCL_SPLIT_NOCOLOR`.
const NO_COLOR: c_int = -1;

/// An `ncclComm_t` with the context of its device. The end, its tasks and its aborter share it.
struct SharedComm {
    functions: Nccl,
    context: HeldContext,
    /// NULL before it is made, and once it has ended.
    comm: AtomicPtr<std::ffi::c_void>,
    /// Tasks that use it, which a call by which it ends must not overtake.
    tasks: AtomicUsize,
    /// Nobody wants it any more: the task that makes it ends it, too.
    is_unwanted: std::sync::atomic::AtomicBool,
}

impl SharedComm {
    fn new(functions: &Nccl, context: HeldContext) -> Arc<SharedComm> {
        Arc::new(SharedComm {
            functions: functions.clone(),
            context,
            comm: AtomicPtr::new(null_mut()),
            tasks: AtomicUsize::new(0),
            is_unwanted: false.into(),
        })
    }

    /// The communicator, if it lives.
    #[inline]
    fn get(&self) -> Result<NcclComm> {
        let comm = self.comm.load(Ordering::Acquire);
        if comm.is_null() { Err(has_ended()) } else { Ok(comm) }
    }

    /// Takes note of a communicator that has been made.
    fn set(&self, comm: NcclComm) {
        self.comm.store(comm, Ordering::Release);
        if self.is_unwanted.load(Ordering::Acquire) {
            let _ = self.abort();
        }
    }

    fn end(&self, name: &str, function: unsafe extern "C" fn(NcclComm) -> i32) -> Result<()> {
        let comm = self.comm.swap(null_mut(), Ordering::AcqRel);
        if comm.is_null() {
            return Ok(());
        }
        let _entered = self.context.enter()?;
        // SAFETY: a live communicator; nobody gets it from now on.
        let code = unsafe { function(comm) };
        check(&self.functions, name, code)
    }
}

#[cold]
#[inline(never)]
fn has_ended() -> Error {
    Error::new(Status::Aborted, "the communicator has ended")
}

impl CommAbort for SharedComm {
    fn abort(&self) -> Result<()> {
        self.is_unwanted.store(true, Ordering::Release);
        self.end("ncclCommAbort", self.functions.ncclCommAbort()?)
    }
}

/// A rank's end.
struct NcclEndpoint {
    shared: Arc<SharedComm>,
    /// What has been begun.
    task: Option<Task>,
    rank: usize,
    is_finalized: bool,
}

/// Begins to make the ends of some ranks, together.
pub(super) fn make_all(
    functions: &Nccl,
    id: &CommId,
    ranks: usize,
    members: &[CommMember],
    contexts: Vec<HeldContext>,
    options: &CommOptions,
) -> Result<Vec<Box<dyn CommEndpoint>>> {
    let init = functions.ncclCommInitRankConfig()?;
    let shared: Vec<_> =
        contexts.into_iter().map(|context| SharedComm::new(functions, context)).collect();
    let numbers: Vec<usize> = members.iter().map(|member| member.rank).collect();
    let (functions, made, id, options) = (functions.clone(), shared.clone(), *id, *options);
    let work = move || {
        let mut places: Vec<NcclComm> = vec![null_mut(); made.len()];
        start_group(&functions)?;
        let mut result = Ok(());
        for ((shared, place), rank) in made.iter().zip(&mut places).zip(numbers) {
            let mut config = config_of(&options);
            let (ranks, rank) = (ranks as c_int, rank as c_int);
            result = shared.context.enter().and_then(|_entered| {
                // SAFETY: the place lives until the group has ended; the configuration is read at once; the
                // device's context is current.
                let code = unsafe { init(place, ranks, NcclUniqueId(id.0), rank, &mut config) };
                check(&functions, "ncclCommInitRankConfig", code)
            });
            if result.is_err() {
                break;
            }
        }
        let ended = end_group(&functions);
        result.and(ended)?;
        for (shared, comm) in made.iter().zip(places) {
            shared.set(comm);
        }
        Ok(())
    };
    let task = Task::begin(work)?;
    let end = |shared| -> Box<dyn CommEndpoint> {
        Box::new(NcclEndpoint { shared, task: Some(task.clone()), rank: 0, is_finalized: false })
    };
    Ok(shared.into_iter().map(end).collect())
}

impl NcclEndpoint {
    /// Begins work with the communicator.
    fn begin(
        &mut self,
        work: impl FnOnce(&SharedComm, NcclComm) -> Result<()> + Send + 'static,
    ) -> Result<Task> {
        // What has ended begins nothing: the caller learns it now, not when it asks.
        self.shared.get()?;
        let shared = Arc::clone(&self.shared);
        shared.tasks.fetch_add(1, Ordering::AcqRel);
        let begun = Task::begin(move || {
            let result = shared.get().and_then(|comm| {
                let _entered = shared.context.enter()?;
                work(&shared, comm)
            });
            shared.tasks.fetch_sub(1, Ordering::AcqRel);
            result
        });
        if begun.is_err() {
            self.shared.tasks.fetch_sub(1, Ordering::AcqRel);
        }
        let task = begun?;
        self.task = Some(task.clone());
        Ok(task)
    }

    fn ask(
        &self,
        name: &str,
        function: unsafe extern "C" fn(NcclComm, *mut c_int) -> i32,
    ) -> Result<usize> {
        let comm = self.shared.get()?;
        let mut number = 0;
        // SAFETY: a live communicator; the place outlives the call.
        let code = unsafe { function(comm, &mut number) };
        check(&self.shared.functions, name, code).map(|()| number as usize)
    }
}

impl CommEndpoint for NcclEndpoint {
    fn poll(&mut self) -> Result<bool> {
        if let Some(task) = &self.task {
            let Some(result) = task.result() else { return Ok(false) };
            self.task = None;
            result?;
        }
        let functions = &self.shared.functions;
        let get = functions.ncclCommGetAsyncError()?;
        let comm = self.shared.get()?;
        let mut state = 0;
        // SAFETY: a live communicator; `state` outlives the call.
        let code = unsafe { get(comm, &mut state) };
        check(functions, "ncclCommGetAsyncError", code)?;
        check(functions, "a collective call", state).map(|()| true)
    }

    #[inline]
    fn queue(&mut self, call: &CommCall, stream: StreamRef) -> Result<()> {
        let comm = self.shared.get()?;
        let _entered = self.shared.context.enter()?;
        let stream = stream.handle.native() as _;
        Target { functions: &self.shared.functions, comm, stream, rank: self.rank }.queue(call)
    }

    fn split(
        &mut self,
        color: Option<i32>,
        key: i32,
        options: &CommOptions,
    ) -> Result<Option<Box<dyn CommEndpoint>>> {
        let split = self.shared.functions.ncclCommSplit()?;
        let child = SharedComm::new(&self.shared.functions, self.shared.context);
        let (made, options) = (Arc::clone(&child), *options);
        let task = self.begin(move |parent, comm| {
            let mut place = null_mut();
            let mut config = config_of(&options);
            // SAFETY: a live communicator, which no other call uses; a blocking call, which the place and the
            // configuration outlive.
            let code =
                unsafe { split(comm, color.unwrap_or(NO_COLOR), key, &mut place, &mut config) };
            check(&parent.functions, "ncclCommSplit", code)?;
            if !place.is_null() {
                made.set(place);
            }
            Ok(())
        })?;
        let end = || -> Box<dyn CommEndpoint> {
            let task = Some(task);
            Box::new(NcclEndpoint { shared: child, task, rank: 0, is_finalized: false })
        };
        Ok(color.map(|_| end()))
    }

    fn place(&mut self) -> Result<(usize, usize)> {
        let functions = &self.shared.functions;
        self.rank = self.ask("ncclCommUserRank", functions.ncclCommUserRank()?)?;
        Ok((self.rank, self.ask("ncclCommCount", functions.ncclCommCount()?)?))
    }

    fn finalize(&mut self) -> Result<()> {
        let finalize = self.shared.functions.ncclCommFinalize()?;
        self.begin(move |shared, comm| {
            // SAFETY: a live communicator, which no other call uses.
            let code = unsafe { finalize(comm) };
            check(&shared.functions, "ncclCommFinalize", code)
        })?;
        self.is_finalized = true;
        Ok(())
    }

    fn aborter(&self) -> Arc<dyn CommAbort> {
        Arc::clone(&self.shared) as Arc<dyn CommAbort>
    }

    fn native(&self) -> usize {
        self.shared.comm.load(Ordering::Acquire).addr()
    }
}

impl Drop for NcclEndpoint {
    fn drop(&mut self) {
        let shared = &self.shared;
        let is_over = self.is_finalized && shared.tasks.load(Ordering::Acquire) == 0;
        // Destroying one that was not finalized would wait for the other ranks.
        let ended = match is_over {
            true => {
                let destroy = shared.functions.ncclCommDestroy();
                destroy.and_then(|destroy| shared.end("ncclCommDestroy", destroy))
            }
            false => shared.abort(),
        };
        if let Err(error) = ended {
            log::error(format_args!("a communicator could not be destroyed: {error}"));
        }
    }
}
