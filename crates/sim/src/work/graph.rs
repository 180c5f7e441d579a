//! The beginning of a launch of a graph with conditions, and conditional nodes.
#![forbid(unsafe_code)]

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use sconce_driver::ConditionalKind;

use crate::machine::graph_text::write_body;
use crate::machine::graphs::{Condition, Graph};
use crate::machine::operation::{Pace, QueuedWork};
use crate::memory::Accesses;

/// Sets the conditions of a graph to 0, as each launch begins.
pub(crate) struct ResetConditionsWork(pub(crate) Vec<Arc<Condition>>);

impl QueuedWork for ResetConditionsWork {
    fn pace(&self) -> Pace {
        Pace::Thread
    }

    fn accesses(&self) -> Accesses {
        Accesses::NONE
    }

    fn run(&self) -> Result<(), i32> {
        self.0.iter().for_each(|condition| condition.set(0));
        Ok(())
    }
}

/// A conditional node. It does the work of its bodies itself, one node after the other.
pub(crate) struct ConditionalWork {
    condition: Arc<Condition>,
    kind: ConditionalKind,
    bodies: Vec<Arc<Graph>>,
    modelled_ns: AtomicU64,
}

impl ConditionalWork {
    pub(crate) fn new(
        condition: Arc<Condition>,
        kind: ConditionalKind,
        bodies: Vec<Arc<Graph>>,
    ) -> ConditionalWork {
        ConditionalWork { condition, kind, bodies, modelled_ns: AtomicU64::new(0) }
    }

    /// Runs a body, if there is one with this number, and returns how long it takes in the model.
    fn run_body(&self, number: usize) -> Result<u64, i32> {
        let Some(body) = self.bodies.get(number) else { return Ok(0) };
        let nodes = body.contents.lock().nodes.clone();
        let mut modelled_ns = 0_u64;
        for node in nodes {
            node.work.run()?;
            let inner = node.work.modelled_ns();
            modelled_ns = modelled_ns.saturating_add(node.duration_ns.max(inner));
        }
        Ok(modelled_ns)
    }
}

impl QueuedWork for ConditionalWork {
    fn pace(&self) -> Pace {
        Pace::Thread
    }

    /// What all bodies use, whichever run.
    fn accesses(&self) -> Accesses {
        let mut all = Vec::new();
        for body in &self.bodies {
            for node in &body.contents.lock().nodes {
                match node.work.accesses() {
                    Accesses::Unknown => return Accesses::Unknown,
                    Accesses::Known(some) => all.extend(some),
                }
            }
        }
        Accesses::Known(all)
    }

    fn run(&self) -> Result<(), i32> {
        let mut modelled_ns = 0_u64;
        match (self.kind, self.condition.get()) {
            (ConditionalKind::If, 0) => modelled_ns = self.run_body(1)?,
            (ConditionalKind::If, _) => modelled_ns = self.run_body(0)?,
            (ConditionalKind::Switch, number) => modelled_ns = self.run_body(number as usize)?,
            (ConditionalKind::While, _) => {
                while self.condition.get() != 0 {
                    modelled_ns = modelled_ns.saturating_add(self.run_body(0)?);
                }
            }
        }
        self.modelled_ns.store(modelled_ns, Ordering::Relaxed);
        Ok(())
    }

    fn details(&self) -> Option<String> {
        Some(format!("{:?}, condition {:#x}", self.kind, self.condition.handle()))
    }

    fn write_bodies(&self, node: &str, text: &mut String) {
        for (number, body) in self.bodies.iter().enumerate() {
            write_body(body, node, number, text);
        }
    }

    fn modelled_ns(&self) -> u64 {
        self.modelled_ns.load(Ordering::Relaxed)
    }
}
