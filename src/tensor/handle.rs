//! The handles of the C API: counted places in a slab, each with a tensor.
//!
//! A call copies the tensor out of its place and works on the copy, so no lock is held while it works.

use std::sync::atomic::{AtomicU32, Ordering};

use super::value::Tensor;
use crate::collections::slab::{Key, Live, Slab};
use crate::error::{Error, Result, Status};
use crate::lock::RwLock;

/// A place: how often its handle is owned, and the tensor.
#[derive(Default)]
struct HandlePlace {
    owners: AtomicU32,
    tensor: RwLock<Tensor>,
}

static PLACES: Slab<HandlePlace> = Slab::new();

fn live(key: Key, name: &str) -> Result<Live<'static, HandlePlace>> {
    PLACES.get(key).ok_or_else(|| released(name))
}

#[cold]
fn released(name: &str) -> Error {
    Error::invalid_handle(format!(
        "{name} is no tensor: it was released already, or never returned by this library"
    ))
}

/// A new handle, owned once.
#[inline]
pub(crate) fn insert(tensor: Tensor) -> Result<Key> {
    let (key, place) = PLACES.insert().ok_or_else(full)?;
    place.owners.store(1, Ordering::Relaxed);
    *place.tensor.write() = tensor;
    Ok(key)
}

#[cold]
fn full() -> Error {
    Error::new(Status::OutOfMemory, "67 million tensors are alive; release some")
}

/// The tensor of a handle.
#[inline]
pub(crate) fn get(key: Key, name: &str) -> Result<Tensor> {
    with(key, name, Tensor::clone)
}

/// Looks at the tensor of a handle. `look` takes no other tensor's place.
#[inline]
pub(crate) fn with<R>(key: Key, name: &str, look: impl FnOnce(&Tensor) -> R) -> Result<R> {
    let place = live(key, name)?;
    let result = look(&place.tensor.read());
    // It may have been released, and its place taken by another, in between.
    if place.still() { Ok(result) } else { Err(released(name)) }
}

/// Owns the handle once more.
pub(crate) fn retain(key: Key, name: &str) -> Result<()> {
    let place = live(key, name)?;
    let more = |owners: u32| (owners != 0).then(|| owners.checked_add(1)).flatten();
    place
        .owners
        .fetch_update(Ordering::Relaxed, Ordering::Relaxed, more)
        .map(|_| ())
        .map_err(|_| released(name))
}

/// Gives up one ownership; with the last one the tensor goes.
#[inline]
pub(crate) fn release(key: Key, name: &str) -> Result<()> {
    let place = live(key, name)?;
    let fewer = |owners: u32| owners.checked_sub(1);
    match place.owners.fetch_update(Ordering::AcqRel, Ordering::Relaxed, fewer) {
        Ok(1) => {
            let mut last = Tensor::default();
            let removed =
                PLACES.remove(key, |place| last = std::mem::take(&mut *place.tensor.write()));
            // Memory goes back outside of all locks: deleters of others may call this library.
            drop(last);
            if removed { Ok(()) } else { Err(released(name)) }
        }
        Ok(_) => Ok(()),
        Err(_) => Err(released(name)),
    }
}

/// Makes the handle hold another tensor.
pub(crate) fn assign(key: Key, name: &str, tensor: Tensor) -> Result<()> {
    let place = live(key, name)?;
    let before = std::mem::replace(&mut *place.tensor.write(), tensor);
    drop(before);
    if place.still() { Ok(()) } else { Err(released(name)) }
}

/// How many handles are alive: for tests that look for leaks.
pub(crate) fn count() -> usize {
    PLACES.live()
}
