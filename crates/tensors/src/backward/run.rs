//! A whole pass.

use std::sync::Arc;

use sconce_base::error::{Error, Result};
use sconce_runtime::context::runtime;
use sconce_runtime::event;
use sconce_runtime::stream::Stream;

use super::graph::Graph;
use super::node::Edge;
use super::pass::{self, Pass};
use super::plan::BackwardPlan;
use super::progress::Progress;
use super::queues;
use crate::tensor::{Place, Tensor};

/// How deep passes may be called in each other.
const MOST_DEPTH: usize = 16;

/// An initial gradient.
pub struct Root {
    pub edge: Edge,
    pub gradient: Tensor,
}

/// Runs all nodes that the roots reach. Returns when every thread is done with the pass.
pub fn run(graph: &Graph, roots: Vec<Root>, keep: bool) -> Result<()> {
    if pass::depth() >= MOST_DEPTH {
        return Err(Error::not_supported(format!(
            "backward passes are nested {MOST_DEPTH} levels deep already; start this one outside of \
             their functions"
        )));
    }
    for (index, root) in roots.iter().enumerate() {
        root.gradient.defined(&format!("roots[{index}].gradient"))?;
    }
    let edges: Vec<Edge> = roots.iter().map(|root| root.edge).collect();
    let pass = Arc::new(Pass::new(BackwardPlan::new(graph, &edges)?, keep));
    let progress = Arc::new(Progress::new());
    let mut delivered = Ok(());
    for (root, target) in roots.into_iter().zip(&pass.plan.roots) {
        // The producer is what is current on this thread.
        delivered = pass.deliver(&progress, *target, root.gradient, None);
        if delivered.is_err() {
            break;
        }
    }
    if let Err(error) = delivered {
        progress.fail(error);
    }
    progress.end();
    queues::wait(&progress, pass.depth);
    let (leaf_streams, error) = progress.outcome();
    let ordered = leaf_streams.into_iter().try_for_each(|stream| wait_for_leaves(&pass, stream));
    let noted = note_gradients(&pass);
    match error {
        // That the rest failed, too, says nothing new.
        Some(error) => Err(error),
        None => ordered.and(noted),
    }
}

/// Makes the caller's stream wait for a stream of leaves.
fn wait_for_leaves(pass: &Pass, stream: Stream) -> Result<()> {
    let runtime = runtime()?;
    let waiting = pass.caller_stream(runtime, stream.device())?;
    event::wait_stream(runtime, waiting, stream)
}

/// Notes that the caller's streams may use the gradients of leaves.
fn note_gradients(pass: &Pass) -> Result<()> {
    for planned in &pass.plan.nodes {
        let (Some(leaf), Place::Device(device)) = (planned.node.leaf(), planned.node.place) else {
            continue;
        };
        let stream = pass.caller_stream(runtime()?, device)?;
        let gradient = leaf.get();
        if planned.node.stream != Some(stream) && gradient.is_defined() {
            gradient.storage().record_stream(stream)?;
        }
    }
    Ok(())
}
