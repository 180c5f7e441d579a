//! A recorded operation, or a leaf.

use std::sync::Arc;

use sconce_base::error::{Error, Result};
use sconce_base::lock::{Mutex, rank};
use sconce_runtime::stream::Stream;

use super::leaf::LeafGradient;
use crate::tensor::{Place, Tensor};

/// Computes the gradients of an operation's inputs, one for each edge, from those of its results. An undefined
/// tensor stands for no gradient.
pub(crate) type BackwardFunction = Box<dyn Fn(&[Tensor]) -> Result<Vec<Tensor>> + Send + Sync>;

/// Where a gradient goes: an input of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Edge {
    /// The node's number.
    pub node: u64,
    /// Which of its inputs.
    pub input: usize,
}

/// What a node does.
pub(super) enum NodeWork {
    Function {
        /// `None` once a pass has released it.
        function: Mutex<rank::BackwardFunction, Option<Arc<BackwardFunction>>>,
        /// Where its results go; `None`: nowhere.
        edges: Vec<Option<Edge>>,
    },
    Leaf(LeafGradient),
}

/// A node.
pub(super) struct Node {
    pub(super) number: u64,
    pub(super) name: String,
    pub(super) place: Place,
    /// The stream of its forward operation; `None` on the CPU.
    pub(super) stream: Option<Stream>,
    /// How many gradients it takes.
    pub(super) inputs: usize,
    pub(super) work: NodeWork,
}

impl Node {
    pub(super) fn edges(&self) -> &[Option<Edge>] {
        match &self.work {
            NodeWork::Function { edges, .. } => edges,
            NodeWork::Leaf(_) => &[],
        }
    }

    /// Of the ready nodes of a device the one with the greatest urgency runs first.
    pub(super) fn urgency(&self) -> u64 {
        match self.work {
            NodeWork::Function { .. } => self.number,
            NodeWork::Leaf(_) => u64::MAX,
        }
    }

    pub(super) fn leaf(&self) -> Option<&LeafGradient> {
        match &self.work {
            NodeWork::Function { .. } => None,
            NodeWork::Leaf(leaf) => Some(leaf),
        }
    }

    /// Runs the node's function, or adds to the leaf.
    pub(super) fn call(&self, mut gradients: Vec<Tensor>, keep: bool) -> Result<Vec<Tensor>> {
        match &self.work {
            NodeWork::Leaf(leaf) => {
                let gradient = gradients.pop().unwrap_or_default();
                if gradient.is_defined() {
                    leaf.add(gradient)?;
                }
                Ok(Vec::new())
            }
            NodeWork::Function { function, edges } => {
                let called = function.lock().clone().ok_or_else(second_time)?;
                let results = called(&gradients)?;
                if results.len() != edges.len() {
                    return Err(Error::invalid_argument(format!(
                        "the function returned {} gradients; the node has {} edges",
                        results.len(),
                        edges.len()
                    )));
                }
                if !keep {
                    let released = function.lock().take();
                    drop(released);
                }
                Ok(results)
            }
        }
    }
}

#[cold]
fn second_time() -> Error {
    Error::invalid_state(
        "Trying to backward through the graph a second time (or directly access saved tensors after they have \
         already been freed). Pass keep_graph to the first sconce_backward_run.",
    )
}
