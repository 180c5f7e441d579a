//! The nodes that a pass reaches, and what each waits for.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use sconce_base::error::Result;
use sconce_base::lock::{Mutex, rank};

use super::graph::Graph;
use super::input::InputGradient;
use super::node::{Edge, Node};

/// A node of a pass.
pub(super) struct PlannedNode {
    pub(super) node: Arc<Node>,
    /// For each of its results: the node of the pass and its input.
    pub(super) targets: Vec<Option<(usize, usize)>>,
    /// How many gradients, defined or not, are still to come.
    missing: AtomicUsize,
    pub(super) inputs: Mutex<rank::BackwardInputs, Vec<InputGradient>>,
}

impl PlannedNode {
    /// Notes that one more gradient has come; true for the last one.
    pub(super) fn arrived(&self) -> bool {
        self.missing.fetch_sub(1, Ordering::AcqRel) == 1
    }
}

/// The nodes of a pass.
pub(super) struct BackwardPlan {
    pub(super) nodes: Vec<PlannedNode>,
    /// Where initial gradients go.
    pub(super) roots: Vec<(usize, usize)>,
}

impl BackwardPlan {
    /// Finds what the roots reach.
    pub(super) fn new(graph: &Graph, roots: &[Edge]) -> Result<BackwardPlan> {
        let mut plan = BackwardPlan { nodes: Vec::new(), roots: Vec::new() };
        let mut indices = HashMap::new();
        for (index, root) in roots.iter().enumerate() {
            let found = plan.index_of(graph, *root, &mut indices);
            let found = found.map_err(|error| error.context(format_args!("roots[{index}]")))?;
            plan.roots.push((found, root.input));
        }
        let mut next = 0;
        while next < plan.nodes.len() {
            let node = plan.nodes[next].node.clone();
            let target = |edge: &Option<Edge>| {
                let Some(edge) = *edge else { return Ok(None) };
                let found = plan.index_of(graph, edge, &mut indices);
                found
                    .map(|found| Some((found, edge.input)))
                    .map_err(|error| error.context(format_args!("an edge of {:?}", node.name)))
            };
            let targets = node.edges().iter().map(target).collect::<Result<_>>()?;
            plan.nodes[next].targets = targets;
            next += 1;
        }
        Ok(plan)
    }

    /// The place of an edge's node in the pass. The node waits for one gradient more.
    fn index_of(
        &mut self,
        graph: &Graph,
        edge: Edge,
        indices: &mut HashMap<u64, usize>,
    ) -> Result<usize> {
        let index = match indices.entry(edge.node) {
            Entry::Occupied(known) => {
                graph.target(edge)?;
                *known.get()
            }
            Entry::Vacant(place) => {
                let node = graph.target(edge)?;
                let inputs = (0..node.inputs).map(|_| InputGradient::default()).collect();
                self.nodes.push(PlannedNode {
                    node,
                    targets: Vec::new(),
                    missing: AtomicUsize::new(0),
                    inputs: Mutex::new(inputs),
                });
                *place.insert(self.nodes.len() - 1)
            }
        };
        *self.nodes[index].missing.get_mut() += 1;
        Ok(index)
    }
}
