//! The handles of the C API: places in a slab, each with a graph.

use std::sync::Arc;

use sconce_base::collections::handle_kind::HandleKind;
use sconce_base::collections::slab::{Key, Slab};
use sconce_base::error::{Error, Result, Status};
use sconce_base::lock::{Mutex, rank};

use super::graph::Graph;

#[derive(Default)]
struct GraphPlace(Mutex<rank::BackwardHandle, Option<Arc<Graph>>>);

static GRAPHS: Slab<GraphPlace> = Slab::new(HandleKind::BackwardGraph);

/// A new graph.
pub fn create() -> Result<Key> {
    let full = || Error::new(Status::OutOfMemory, "too many graphs are alive; destroy some");
    let (key, place) = GRAPHS.insert().ok_or_else(full)?;
    *place.0.lock() = Some(Arc::default());
    Ok(key)
}

#[cold]
fn destroyed(key: Key) -> Error {
    let otherwise = "is not a graph: it was destroyed already, or never returned by this library";
    Error::invalid_handle(HandleKind::BackwardGraph.refusal(key.bits(), "graph", otherwise))
}

/// The graph of a handle. It lives on while a call uses it.
pub fn get(key: Key) -> Result<Arc<Graph>> {
    let place = GRAPHS.get(key).ok_or_else(|| destroyed(key))?;
    let graph = place.0.lock().clone();
    // It may have been destroyed, and its place taken by another, in between.
    graph.filter(|_| place.still()).ok_or_else(|| destroyed(key))
}

/// Ends a handle; the graph goes when no call uses it any more.
pub fn destroy(key: Key) -> Result<()> {
    let mut last = None;
    let removed = GRAPHS.remove(key, |place| last = place.0.lock().take());
    // Deleters of contexts run outside of all locks.
    drop(last);
    if removed { Ok(()) } else { Err(destroyed(key)) }
}
