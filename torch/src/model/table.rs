//! Handles of models: numbers that are looked up, so that a wrong one is an error.

use std::collections::HashMap;
use std::sync::{Arc, PoisonError, RwLock};

use super::loaded::Model;
use crate::error::{Error, Result};
use crate::handle_kind::HandleKind;

struct ModelTable {
    models: HashMap<usize, Arc<Model>>,
    next: u64,
}

static TABLE: RwLock<Option<ModelTable>> = RwLock::new(None);

/// A new handle. Numbers are not used again.
pub fn insert(model: Model) -> usize {
    let mut table = TABLE.write().unwrap_or_else(PoisonError::into_inner);
    let table = table.get_or_insert_with(|| ModelTable { models: HashMap::new(), next: 0 });
    let handle = HandleKind::Model.numbered(table.next) as usize;
    table.next += 1;
    table.models.insert(handle, Arc::new(model));
    handle
}

#[cold]
fn unknown(handle: usize) -> Error {
    let otherwise = "is NULL or no model: it was unloaded, or never returned by sconce_model_load";
    Error::invalid_handle(HandleKind::Model.refusal(handle as u64, "model", otherwise))
}

/// The model of a handle.
pub fn get(handle: usize) -> Result<Arc<Model>> {
    let table = TABLE.read().unwrap_or_else(PoisonError::into_inner);
    table
        .as_ref()
        .and_then(|table| table.models.get(&handle).cloned())
        .ok_or_else(|| unknown(handle))
}

/// Ends a handle. The model goes when no call uses it any more.
pub fn remove(handle: usize) -> Result<()> {
    let mut table = TABLE.write().unwrap_or_else(PoisonError::into_inner);
    let removed = table.as_mut().and_then(|table| table.models.remove(&handle));
    drop(table);
    removed.map(drop).ok_or_else(|| unknown(handle))
}
