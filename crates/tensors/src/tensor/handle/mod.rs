//! The handles of the C API: counted places in a pool, each with a tensor.
//!
//! A handle names a place and a generation ([`PlaceKind`]). Any number may be passed: a handle that was released finds
//! another generation in its place. A place whose generations are used up is not used again.
//!
//! A call copies the tensor out of its place and works on the copy, so no lock is held while it works. A call
//! that asks for a word or two copies these alone.
//!
//! | file | idea |
//! |---|---|
//! | `place` | the counts and words of a place, read without a lock |
//! | `written` | what a tensor consists of, for writing it to a place |
//! | `direct_view` | views that are written from place to place |
//! | `loom_models` | models of a place under concurrent threads |

mod direct_view;
#[cfg(all(test, loom))]
mod loom_models;
mod place;
#[cfg(all(test, not(loom)))]
mod tests;
mod written;

use super::layout::TensorLayout;
use super::shared_storage::StorageRef;
use super::value::Tensor;
pub use direct_view::{NewExtents, ViewPosition};
pub use place::TensorWords;
use sconce_base::collections::handle_kind::HandleKind;
use sconce_base::collections::pool::handle::PlaceKind;
use sconce_base::collections::pool::{FreePlaces, Pool, ThreadList};
use sconce_base::collections::slab::Key;
use sconce_base::element::Dtype;
use sconce_base::error::{Error, Result, Status};
use sconce_base::sync::shared_static;

use place::{HandlePlace, Release};
use written::{NO_STORAGE, Written};

shared_static! {
    static PLACES: Pool<HandlePlace> = Pool::new();
}

thread_local! {
    static LIST: ThreadList<HandlePlace> = const { ThreadList::new(|| &PLACES) };
}

/// The calling thread's list of free places; `None` while the thread ends.
#[inline]
fn list() -> Option<&'static FreePlaces> {
    LIST.try_with(ThreadList::get).ok()
}

/// The place that a handle names, its number and the generation that it has while the handle is alive.
#[inline]
fn find(key: Key) -> Option<(&'static HandlePlace, u32, u32)> {
    let (number, generation) = PlaceKind::Tensor.place(key)?;
    Some((PLACES.at(number)?, number, generation))
}

/// The error about a tensor that has been released.
#[cold]
#[inline(never)]
fn released(name: &str) -> Error {
    Error::invalid_handle(format!("{name} {RELEASED}"))
}

/// The error about a handle that is no tensor's.
#[cold]
#[inline(never)]
fn not_of_a_tensor(key: Key, name: &str) -> Error {
    Error::invalid_handle(HandleKind::Tensor.refusal(key.bits(), name, RELEASED))
}

const RELEASED: &str =
    "is not a tensor: it was released already, or never returned by this library";

#[cold]
#[inline(never)]
fn full() -> Error {
    Error::new(Status::OutOfMemory, "67 million tensors are alive; release some")
}

/// Calls `write` with the words of a tensor, to which its ownership of the storage goes. The tensor is then the
/// undefined one.
#[inline(always)]
fn given_up<R>(tensor: &mut Tensor, write: impl FnOnce(Written<'_>) -> R) -> R {
    if !tensor.is_defined() {
        return write(Written::UNDEFINED);
    }
    let layout = tensor.layout();
    let result = write(Written {
        storage: tensor.storage().number(),
        dtype: tensor.dtype() as u8,
        offset: layout.offset,
        numel: layout.numel,
        address: tensor.address(),
        device: tensor.place().number(),
        sizes: layout.sizes(),
        strides: layout.strides(),
    });
    std::mem::forget(tensor.take_storage());
    result
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
pub fn insert(mut tensor: Tensor) -> Result<Key> {
    insert_from(&mut tensor)
}

/// A new handle of a tensor, which is then the undefined one.
#[inline(always)]
fn insert_from(tensor: &mut Tensor) -> Result<Key> {
    let (number, place) = PLACES.take(list()).ok_or_else(full)?;
    let generation = given_up(tensor, |tensor| place.publish(tensor));
    Ok(PlaceKind::Tensor.key(number, generation))
}

/// A new handle of the tensor that `make` makes of the undefined one in its place: a tensor is 200 bytes, which are
/// not moved about.
#[inline(always)]
pub fn insert_made(make: impl FnOnce(&mut Tensor) -> Result<()>) -> Result<Key> {
    let mut tensor = Tensor::default();
    make(&mut tensor)?;
    insert_from(&mut tensor)
}

/// A new handle of another view of the memory of a handle's tensor, written from the words of one place to those of
/// another. `view` writes sizes and strides and returns the rest; the view reaches no element that the tensor did not
/// reach. `None` if `view` returns that, or if the words can be read only with the lock: [`insert_view`] then makes the
/// view, or finds out why there is none.
#[inline(always)]
pub fn insert_direct_view(
    key: Key,
    view: impl FnOnce(&TensorWords<'_>, &NewExtents<'_>) -> Option<ViewPosition>,
) -> Option<Key> {
    let (source, _, generation) = find(key)?;
    let list = list();
    let (number, place) = PLACES.take(list)?;
    let seen = source.look_once(generation, |words| {
        place.write_view(words, view)?;
        StorageRef::try_own(words.storage()?)
    });
    let Some(storage) = seen else {
        PLACES.give_back(list, number);
        return None;
    };
    let key = PlaceKind::Tensor.key(number, place.publish_written());
    std::mem::forget(storage);
    debug_assert!(
        get(key, "view")
            .map_or(true, |view| view.layout().is_within(view.storage().bytes(), view.dtype()))
    );
    Some(key)
}

/// A new handle of another view of the memory of a handle's tensor. `change` changes the layout so that it reaches no
/// element that it did not reach before. No tensor is made on the way: words go from place to place.
#[inline(always)]
pub fn insert_view(
    key: Key,
    name: &str,
    change: impl FnOnce(&mut TensorLayout) -> Result<()>,
) -> Result<Key> {
    let Some((source, _, generation)) = find(key) else { return Err(not_of_a_tensor(key, name)) };
    let mut layout = TensorLayout::default();
    let seen = source.look_once(generation, |words| {
        let dtype = *Dtype::ALL.get(usize::from(words.dtype()))?;
        words.layout(&mut layout)?;
        let storage = StorageRef::try_own(words.storage()?)?;
        Some((storage, dtype, words.address(), words.device()))
    });
    let Some((storage, dtype, address, device)) = seen else {
        return insert_view_of_tensor(key, name, change);
    };
    let first = layout.offset;
    change(&mut layout)?;
    layout.check_within(storage.bytes(), dtype)?;
    let elements = layout.offset.wrapping_sub(first) as usize;
    let moved = address.wrapping_add(elements.wrapping_mul(dtype.bytes()));
    let (number, place) = PLACES.take(list()).ok_or_else(full)?;
    let generation = place.publish(Written {
        storage: storage.number(),
        dtype: dtype as u8,
        offset: layout.offset,
        numel: layout.numel,
        // A storage without bytes has no address.
        address: if address == 0 { 0 } else { moved },
        device,
        sizes: layout.sizes(),
        strides: layout.strides(),
    });
    std::mem::forget(storage);
    Ok(PlaceKind::Tensor.key(number, generation))
}

/// As [`insert_view`], for what cannot be read without a lock, and for what is refused.
#[cold]
#[inline(never)]
fn insert_view_of_tensor(
    key: Key,
    name: &str,
    change: impl FnOnce(&mut TensorLayout) -> Result<()>,
) -> Result<Key> {
    insert(get(key, name)?.defined(name)?.viewed(change)?)
}

/// The tensor of a handle.
#[inline]
pub fn get(key: Key, name: &str) -> Result<Tensor> {
    let mut tensor = Tensor::default();
    get_into(key, name, &mut tensor)?;
    Ok(tensor)
}

/// The tensor of a handle, written to where the caller wants it.
#[inline]
pub fn get_into(key: Key, name: &str, tensor: &mut Tensor) -> Result<()> {
    let Some((place, _, generation)) = find(key) else { return Err(not_of_a_tensor(key, name)) };
    match place.look_once(generation, |words| copy_out(words, tensor)) {
        Some(()) => Ok(()),
        None => get_locked(place, generation, name, tensor),
    }
}

/// As [`get_into`], for what cannot be read without a lock, and for what is refused.
#[cold]
#[inline(never)]
fn get_locked(place: &HandlePlace, generation: u32, name: &str, tensor: &mut Tensor) -> Result<()> {
    let copied = place.look(generation, |words| copy_out(words, tensor));
    copied.ok_or_else(|| released(name))
}

/// Makes a tensor of words, and owns their storage.
#[inline(always)]
fn copy_out(words: &TensorWords<'_>, tensor: &mut Tensor) -> Option<()> {
    let Some(storage) = words.storage() else {
        drop(tensor.take_storage());
        return Some(());
    };
    let dtype = *Dtype::ALL.get(usize::from(words.dtype()))?;
    let storage = StorageRef::try_own(storage)?;
    words.layout(tensor.begin(storage, dtype))
}

/// Copies words of the tensor of a handle, without owning its storage. `copy` returns `None` for what it cannot
/// copy without a lock; it may be called more than once.
#[inline(always)]
pub fn look<R>(key: Key, name: &str, copy: impl FnMut(&TensorWords<'_>) -> Option<R>) -> Result<R> {
    let Some((place, _, generation)) = find(key) else { return Err(not_of_a_tensor(key, name)) };
    place.look(generation, copy).ok_or_else(|| released(name))
}

/// Owns the handle once more.
pub fn retain(key: Key, name: &str) -> Result<()> {
    match find(key) {
        Some((place, _, generation)) if place.retain(generation) => Ok(()),
        _ => Err(not_of_a_tensor(key, name)),
    }
}

/// Gives up one ownership; with the last one the tensor goes.
#[inline(always)]
pub fn release(key: Key, name: &str) -> Result<()> {
    let Some((place, number, generation)) = find(key) else {
        return Err(not_of_a_tensor(key, name));
    };
    match place.release(generation) {
        Release::Last => {
            end(place, number, generation);
            Ok(())
        }
        Release::Shared => Ok(()),
        Release::Dead => Err(released(name)),
    }
}

/// Clears a place whose last owner has gone, with this generation.
#[inline(always)]
fn end(place: &HandlePlace, number: u32, generation: u32) {
    let storage = place.take_out();
    // A place whose generations have come round is not used again.
    if generation != u32::MAX {
        PLACES.give_back(list(), number);
    } else {
        PLACES.retire();
    }
    // Last: deleters of others may call this library.
    let_go(storage);
}

/// Makes the handle hold another tensor.
pub fn assign(key: Key, name: &str, mut tensor: Tensor) -> Result<()> {
    let Some((place, number, generation)) = find(key) else {
        return Err(not_of_a_tensor(key, name));
    };
    // As an owner: so the place stays this handle's.
    if !place.retain(generation) {
        return Err(released(name));
    }
    let before = given_up(&mut tensor, |tensor| place.assign(tensor));
    if place.release(generation) == Release::Last {
        end(place, number, generation);
    }
    let_go(before);
    Ok(())
}

/// How many handles are alive: for tests that look for leaks.
pub fn count() -> usize {
    PLACES.in_use()
}
