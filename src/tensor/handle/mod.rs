//! The handles of the C API: counted places in a pool, each with a tensor.
//!
//! A handle is `generation << 32 | KIND << 26 | number of the place`. It is never an address: any number may
//! be passed, and a handle that was released finds another generation in its place. A place whose
//! generations are used up is not used again.
//!
//! A call copies the tensor out of its place and works on the copy, so no lock is held while it works.
//!
//! | file | idea |
//! |---|---|
//! | `place` | the counts and words of a place, read without a lock |
//! | `loom_models` | models of a place under concurrent threads |

#[cfg(all(test, loom))]
mod loom_models;
mod place;
#[cfg(all(test, not(loom)))]
mod tests;

use super::shared_storage::StorageRef;
use super::value::{Defined, Tensor};
use crate::collections::pool::{FreePlaces, MOST_PLACES, Pool, ThreadList};
use crate::collections::slab::Key;
use crate::element::Dtype;
use crate::error::{Error, Result, Status};
use crate::sync::shared_static;
use place::{HandlePlace, NO_STORAGE, Release, Written};

shared_static! {
    static PLACES: Pool<HandlePlace> = Pool::new();
}

thread_local! {
    static LIST: ThreadList<HandlePlace> = const { ThreadList::new(|| &PLACES) };
}

const NUMBER_BITS: u32 = 26;
/// Between the number and the generation: handles of other kinds never have these bits there.
const KIND: u64 = 0x3f << NUMBER_BITS;
#[cfg(not(loom))]
const _: () = assert!(MOST_PLACES <= 1 << NUMBER_BITS);
#[cfg(loom)]
const _: usize = MOST_PLACES;

/// The calling thread's list of free places; `None` while the thread ends.
#[inline]
fn list() -> Option<&'static FreePlaces> {
    LIST.try_with(ThreadList::get).ok()
}

fn key_of(number: u32, generation: u32) -> Key {
    Key::from_bits(u64::from(generation) << 32 | KIND | u64::from(number))
}

/// The place that a handle names, its number and the generation that it has while the handle is alive.
#[inline]
fn find(key: Key) -> Option<(&'static HandlePlace, u32, u32)> {
    let bits = key.bits();
    if bits & KIND != KIND {
        return None;
    }
    let number = bits as u32 & ((1 << NUMBER_BITS) - 1);
    Some((PLACES.at(number)?, number, (bits >> 32) as u32))
}

#[cold]
#[inline(never)]
fn released(name: &str) -> Error {
    Error::invalid_handle(format!(
        "{name} is no tensor: it was released already, or never returned by this library"
    ))
}

#[cold]
#[inline(never)]
fn full() -> Error {
    Error::new(Status::OutOfMemory, "67 million tensors are alive; release some")
}

/// Calls `write` with the words of a tensor, to which its ownership of the storage goes.
#[inline]
fn given_up<R>(tensor: Tensor, write: impl FnOnce(Written<'_>) -> R) -> R {
    match tensor.into_parts() {
        None => write(Written::UNDEFINED),
        Some(Defined { storage, dtype, offset, numel, sizes, strides }) => write(Written {
            storage: storage.into_number(),
            dtype: dtype as u8,
            offset,
            numel,
            sizes: &sizes,
            strides: &strides,
        }),
    }
}

/// Drops the ownership that a place had.
#[inline]
fn let_go(storage: u32) {
    if storage != NO_STORAGE {
        // SAFETY: the number comes out of a place, where `given_up` put it, and is taken out once.
        drop(unsafe { StorageRef::from_number(storage) });
    }
}

/// A new handle, owned once.
#[inline]
pub(crate) fn insert(tensor: Tensor) -> Result<Key> {
    let (number, place) = PLACES.take(list()).ok_or_else(full)?;
    let generation = given_up(tensor, |tensor| place.publish(tensor));
    Ok(key_of(number, generation))
}

/// The tensor of a handle.
#[inline]
pub(crate) fn get(key: Key, name: &str) -> Result<Tensor> {
    let Some((place, _, generation)) = find(key) else { return Err(released(name)) };
    let Some(read) = place.read(generation, StorageRef::try_own) else {
        return Err(released(name));
    };
    let Some(storage) = read.storage else { return Ok(Tensor::default()) };
    let Some(dtype) = Dtype::ALL.get(usize::from(read.dtype)) else { return Err(released(name)) };
    Ok(Tensor::from_parts(Defined {
        storage,
        dtype: *dtype,
        offset: read.offset,
        numel: read.numel,
        sizes: read.sizes,
        strides: read.strides,
    }))
}

/// Owns the handle once more.
pub(crate) fn retain(key: Key, name: &str) -> Result<()> {
    match find(key) {
        Some((place, _, generation)) if place.retain(generation) => Ok(()),
        _ => Err(released(name)),
    }
}

/// Gives up one ownership; with the last one the tensor goes.
#[inline]
pub(crate) fn release(key: Key, name: &str) -> Result<()> {
    let Some((place, number, generation)) = find(key) else { return Err(released(name)) };
    match place.release(generation) {
        Release::Last => {
            end(place, number);
            Ok(())
        }
        Release::Shared => Ok(()),
        Release::Dead => Err(released(name)),
    }
}

/// Clears a place whose last owner has gone.
#[inline]
fn end(place: &HandlePlace, number: u32) {
    let storage = place.take_out();
    if place.is_reusable() {
        PLACES.give_back(list(), number);
    } else {
        PLACES.retire();
    }
    // Last: deleters of others may call this library.
    let_go(storage);
}

/// Makes the handle hold another tensor.
pub(crate) fn assign(key: Key, name: &str, tensor: Tensor) -> Result<()> {
    let Some((place, number, generation)) = find(key) else { return Err(released(name)) };
    // As an owner: so the place stays this handle's.
    if !place.retain(generation) {
        return Err(released(name));
    }
    let before = given_up(tensor, |tensor| place.assign(tensor));
    if place.release(generation) == Release::Last {
        end(place, number);
    }
    let_go(before);
    Ok(())
}

/// How many handles are alive: for tests that look for leaks.
pub(crate) fn count() -> usize {
    PLACES.in_use()
}
