//! The nodes of a graph, by number.

use std::collections::BTreeMap;
use std::sync::Arc;

use sconce_base::error::{Error, Result};
use sconce_base::lock::{Mutex, rank};
use sconce_runtime::context::runtime;
use sconce_runtime::stream;

use super::leaf::LeafGradient;
use super::node::{BackwardFunction, Edge, Node, NodeWork};
use crate::tensor::{Place, Tensor};

/// Recorded operations and leaves.
#[derive(Default)]
pub struct Graph {
    nodes: Mutex<rank::BackwardNodes, NodeTable>,
}

#[derive(Default)]
struct NodeTable {
    newest: u64,
    by_number: BTreeMap<u64, Arc<Node>>,
}

impl Graph {
    /// Records an operation on the stream that is current on its device. Returns the node's number.
    pub fn add_function(
        &self,
        name: String,
        place: Place,
        inputs: usize,
        edges: Vec<Option<Edge>>,
        function: BackwardFunction,
    ) -> Result<u64> {
        let function = Mutex::new(Some(Arc::new(function)));
        self.add(name, place, inputs, NodeWork::Function { function, edges })
    }

    /// Adds a leaf on the stream that is current on its device. Returns the node's number.
    pub fn add_leaf(&self, name: String, place: Place) -> Result<u64> {
        self.add(name, place, 1, NodeWork::Leaf(LeafGradient::default()))
    }

    fn add(&self, name: String, place: Place, inputs: usize, work: NodeWork) -> Result<u64> {
        let stream = match place {
            Place::Cpu => None,
            Place::Device(device) => Some(stream::current_on(runtime()?, device)?),
        };
        let mut node = Node { number: 0, name, place, stream, inputs, work };
        let mut nodes = self.nodes.lock();
        let wrong = node.edges().iter().enumerate().find_map(|(index, edge)| {
            let edge = (*edge)?;
            nodes.check(edge).err().map(|error| error.context(format_args!("edges[{index}]")))
        });
        if let Some(wrong) = wrong {
            drop(nodes); // The function may be freed by a caller's code.
            return Err(wrong);
        }
        nodes.newest += 1;
        node.number = nodes.newest;
        nodes.by_number.insert(node.number, Arc::new(node));
        Ok(nodes.newest)
    }

    /// Forgets all operations; leaves and their gradients stay.
    pub fn clear(&self) {
        let mut nodes = self.nodes.lock();
        let all = std::mem::take(&mut nodes.by_number);
        let (leaves, others) = all.into_iter().partition(|(_, node)| node.leaf().is_some());
        nodes.by_number = leaves;
        drop(nodes);
        let others: BTreeMap<u64, Arc<Node>> = others;
        drop(others);
    }

    fn leaf(&self, number: u64) -> Result<Arc<Node>> {
        let node = self.nodes.lock().find(number)?;
        match node.leaf() {
            Some(_) => Ok(node),
            None => Err(Error::invalid_argument(format!(
                "leaf is {number}, the node {:?}, which is not a leaf; pass what sconce_backward_add_leaf returned",
                node.name
            ))),
        }
    }

    /// The gradient of a leaf; undefined if it has none.
    pub fn gradient(&self, leaf: u64) -> Result<Tensor> {
        Ok(self.leaf(leaf)?.leaf().map(LeafGradient::get).unwrap_or_default())
    }

    /// Replaces the gradient of a leaf.
    pub fn set_gradient(&self, leaf: u64, gradient: Tensor) -> Result<()> {
        let node = self.leaf(leaf)?;
        if gradient.is_defined() && gradient.place() != node.place {
            return Err(Error::new(
                sconce_base::error::Status::CrossDevice,
                format!("gradient is on {}, but the leaf is on {}", gradient.place(), node.place),
            ));
        }
        if let Some(leaf) = node.leaf() {
            leaf.set(gradient);
        }
        Ok(())
    }

    /// The node that an edge leads to.
    pub(super) fn target(&self, edge: Edge) -> Result<Arc<Node>> {
        self.nodes.lock().check(edge)
    }
}

impl NodeTable {
    fn find(&self, number: u64) -> Result<Arc<Node>> {
        self.by_number.get(&number).cloned().ok_or_else(|| {
            Error::invalid_argument(format!(
                "the graph has no node {number}: it was cleared, or never added to this graph"
            ))
        })
    }

    /// The node of an edge, if it has such an input.
    fn check(&self, edge: Edge) -> Result<Arc<Node>> {
        let node = self.find(edge.node)?;
        if edge.input >= node.inputs {
            return Err(Error::invalid_argument(format!(
                "input {} of node {}, but {:?} takes {} gradients",
                edge.input, edge.node, node.name, node.inputs
            )));
        }
        Ok(node)
    }
}
