//! Handles of models: numbers that are looked up, so that a wrong one is an error.

use std::collections::HashMap;
use std::sync::{Arc, PoisonError, RwLock};

use super::loaded::Model;
use crate::error::{Error, Result};

struct ModelTable {
    models: HashMap<usize, Arc<Model>>,
    next: usize,
}

static TABLE: RwLock<Option<ModelTable>> = RwLock::new(None);

/// A new handle. Numbers are not used again.
pub fn insert(model: Model) -> usize {
    let mut table = TABLE.write().unwrap_or_else(PoisonError::into_inner);
    let table = table.get_or_insert_with(|| ModelTable { models: HashMap::new(), next: 1 });
    let handle = table.next << 4;
    table.next += 1;
    table.models.insert(handle, Arc::new(model));
    handle
}

fn unknown() -> Error {
    Error::invalid_handle(
        "model is NULL or no model: it was unloaded, or never returned by sconce_model_load",
    )
}

/// The model of a handle.
pub fn get(handle: usize) -> Result<Arc<Model>> {
    let table = TABLE.read().unwrap_or_else(PoisonError::into_inner);
    table.as_ref().and_then(|table| table.models.get(&handle).cloned()).ok_or_else(unknown)
}

/// Ends a handle. The model goes when no call uses it any more.
pub fn remove(handle: usize) -> Result<()> {
    let mut table = TABLE.write().unwrap_or_else(PoisonError::into_inner);
    let removed = table.as_mut().and_then(|table| table.models.remove(&handle));
    drop(table);
    removed.map(drop).ok_or_else(unknown)
}
