//! The communicators by their handles.

use std::sync::Arc;

use sconce_base::collections::handle_kind::HandleKind;
use sconce_base::collections::slab::Slab;
use sconce_base::error::{Error, Result, Status};
use sconce_base::lock::{Mutex, rank};
use sconce_runtime::stream;

use super::Key;
use super::comm::Comm;
use super::{exit, watchdog};

static COMMS: Slab<Mutex<rank::CommHandle, Option<Arc<Comm>>>> = Slab::new(HandleKind::Comm);

/// The communicator of a handle.
#[inline]
pub(super) fn comm(key: Key) -> Result<Arc<Comm>> {
    let found = COMMS.get(key).and_then(|slot| {
        let comm = slot.lock().clone();
        comm.filter(|_| slot.still())
    });
    found.ok_or_else(|| dead(key))
}

#[cold]
#[inline(never)]
fn dead(key: Key) -> Error {
    let otherwise = "is not a live communicator; make communicators with sconce_comm_init_rank, _init_store, _init_all \
                     or _split";
    Error::invalid_handle(HandleKind::Comm.refusal(key.bits(), "comm", otherwise))
}

/// Gives communicators handles. `Err`: there are too many.
pub(super) fn publish(comms: Vec<Arc<Comm>>) -> Result<Vec<Key>> {
    exit::watch(&comms);
    stream::note_work_may_need_threads();
    let publish = |comm: Arc<Comm>| {
        let (key, slot) = COMMS
            .insert()
            .ok_or_else(|| Error::new(Status::OutOfMemory, "too many communicators"))?;
        if comm.config.limit.of_calls().is_some() {
            watchdog::watch(&comm);
        }
        *slot.lock() = Some(comm);
        Ok(key)
    };
    comms.into_iter().map(publish).collect()
}

/// Ends a handle.
pub(super) fn remove(key: Key) -> Result<()> {
    let alive = COMMS.remove(key, |slot| *slot.lock() = None);
    if alive { Ok(()) } else { Err(dead(key)) }
}
