//! The group of a thread: calls that are checked at once and queued together when the outermost group ends.

use std::cell::RefCell;
use std::sync::Arc;

use sconce_base::error::{Error, Result};
use sconce_base::log;

use super::pending::{Pending, Staged, submit_together};

#[derive(Default)]
struct Group {
    depth: u32,
    /// Whether a group inside of the outermost one has been cancelled.
    is_cancelled: bool,
    calls: Vec<Pending>,
    /// Freed after the calls are queued.
    staged: Vec<Staged>,
}

thread_local! {
    static GROUP: RefCell<Group> = RefCell::new(Group::default());
}

/// Begins a group, or one more inside of it.
pub fn group_start() -> Result<()> {
    GROUP.with_borrow_mut(|group| group.depth += 1);
    Ok(())
}

/// Ends the innermost group; the outermost one queues its calls.
pub fn group_end() -> Result<()> {
    let outermost = GROUP.with_borrow_mut(|group| {
        if group.depth == 0 {
            return Err(no_group());
        }
        group.depth -= 1;
        Ok((group.depth == 0).then(|| std::mem::take(group)))
    })?;
    let Some(Group { is_cancelled, calls, staged, .. }) = outermost else { return Ok(()) };
    if is_cancelled {
        return Err(Error::invalid_state(
            "a group inside of this one was cancelled, so none of the calls is queued",
        ));
    }
    check_streams(&calls)?;
    submit_together(&calls, &staged)
}

/// Ends the innermost group; no call of the thread's groups is queued.
pub fn group_cancel() -> Result<()> {
    let (depth, calls) = GROUP.with_borrow(|group| (group.depth, group.calls.len()));
    if depth == 0 {
        return Err(no_group());
    }
    leave();
    if calls > 0 {
        log::warn(format_args!("a group was cancelled; its calls are not queued ({calls} so far)"));
    }
    Ok(())
}

#[cold]
fn no_group() -> Error {
    Error::invalid_state("the thread is in no group; begin one with sconce_comm_group_start")
}

/// Runs `body` in a group. If it fails, none of its calls is queued.
pub fn group<T>(body: impl FnOnce() -> Result<T>) -> Result<T> {
    group_start()?;
    let unwinding = EndsGroup;
    let result = body();
    std::mem::forget(unwinding);
    match result {
        Ok(value) => group_end().map(|()| value),
        Err(why) => {
            leave();
            Err(why)
        }
    }
}

/// Leaves the group without its calls if `body` panics.
struct EndsGroup;

impl Drop for EndsGroup {
    fn drop(&mut self) {
        leave();
    }
}

/// Ends the innermost group without queueing; drops all calls of the thread's groups. Those outside of it fail at
/// their end.
fn leave() {
    let dropped = GROUP.with_borrow_mut(|group| {
        group.depth = group.depth.saturating_sub(1);
        group.is_cancelled = group.depth > 0;
        (std::mem::take(&mut group.calls), std::mem::take(&mut group.staged))
    });
    drop(dropped);
}

/// Adds a call to the thread's group; returns it if there is none.
#[inline]
pub(super) fn add(pending: Pending) -> Option<Pending> {
    GROUP.with_borrow_mut(|group| {
        if group.depth == 0 {
            return Some(pending);
        }
        group.calls.push(pending);
        None
    })
}

/// Adds memory that stands for a tensor in the calls of the thread's group.
pub(super) fn add_staged(staged: Staged) -> Result<()> {
    require()?;
    GROUP.with_borrow_mut(|group| group.staged.push(staged));
    Ok(())
}

/// Refuses what must be done inside of a group.
pub(super) fn require() -> Result<()> {
    if is_in_group() { Ok(()) } else { Err(no_group()) }
}

/// Whether the thread is in a group, so that its calls are queued later.
pub fn is_in_group() -> bool {
    GROUP.with_borrow(|group| group.depth) != 0
}

/// Refuses what must not be done inside of a group.
pub(super) fn refuse_inside(what: &str) -> Result<()> {
    if !is_in_group() {
        return Ok(());
    }
    Err(Error::invalid_state(format!("{what} inside of a group; end the group before")))
}

/// Refuses calls of one communicator on several streams: their order would be open.
fn check_streams(calls: &[Pending]) -> Result<()> {
    for (index, call) in calls.iter().enumerate() {
        let differs = |other: &&Pending| {
            Arc::ptr_eq(&other.comm, &call.comm) && other.goes_to() != call.goes_to()
        };
        if calls[..index].iter().any(|other| differs(&other)) {
            return Err(Error::invalid_argument(
                "a group has calls of one communicator on several streams; use the same stream for all",
            ));
        }
    }
    Ok(())
}
