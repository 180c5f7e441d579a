//! Stores behind handles.

use std::sync::Arc;

use sconce_base::collections::handle_kind::HandleKind;
use sconce_base::collections::slab::{Key, Slab};
use sconce_base::error::{Error, Result, Status};
use sconce_base::lock::{Mutex, rank};

use super::Store;

#[derive(Default)]
struct StorePlace(Mutex<rank::StoreHandle, Option<Arc<Store>>>);

static STORES: Slab<StorePlace> = Slab::new(HandleKind::Store);

/// A new handle.
pub fn insert(store: Store) -> Result<Key> {
    let Some((key, place)) = STORES.insert() else {
        store.give_up();
        return Err(Error::new(Status::OutOfMemory, "there are too many stores"));
    };
    *place.0.lock() = Some(Arc::new(store));
    Ok(key)
}

/// The store of a handle.
pub fn get(key: Key) -> Result<Arc<Store>> {
    let place = STORES.get(key).ok_or_else(|| dead(key))?;
    let store = place.0.lock().clone();
    match store {
        Some(store) if place.still() => Ok(store),
        _ => Err(dead(key)),
    }
}

/// Ends a handle. Calls of other threads that wait in the store fail.
pub fn destroy(key: Key) -> Result<()> {
    let mut store = None;
    if !STORES.remove(key, |place| store = place.0.lock().take()) {
        return Err(dead(key));
    }
    if let Some(store) = store {
        store.give_up();
    }
    Ok(())
}

fn dead(key: Key) -> Error {
    let otherwise = "is not a store of this library, or was destroyed; make one with a sconce_store_create_ function";
    Error::invalid_handle(HandleKind::Store.refusal(key.bits(), "store", otherwise))
}
