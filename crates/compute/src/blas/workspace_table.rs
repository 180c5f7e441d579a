//! The table of a device's workspaces: which there are, how much memory they hold, and the limit.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use super::stream_workspace::{NOBODY, TakenWorkspaces, Workspace};

/// The figures of a device's cuBLAS workspaces.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WorkspaceFigures {
    /// How many there are.
    pub count: u64,
    /// The sum of their bytes.
    pub bytes: u64,
    /// The greatest sum there ever was.
    pub peak_bytes: u64,
    /// Bytes that go back to the allocator as soon as it needs them.
    pub idle_bytes: u64,
    /// The most that the sum may be; `i64::MAX` is no limit.
    pub max_bytes: u64,
    /// Workspaces that went back because memory was short, the cache was emptied, or for the limit.
    pub num_given_back: u64,
    /// How often a handle was left without a workspace because of the limit.
    pub num_without: u64,
}

/// The workspaces of one device.
pub(super) struct WorkspaceTable {
    kept: Vec<Arc<Workspace>>,
    /// Bytes for which memory is being allocated.
    coming: u64,
    figures: WorkspaceFigures,
}

impl WorkspaceTable {
    /// A table without workspaces.
    pub(super) fn new(max_bytes: u64) -> WorkspaceTable {
        let figures = WorkspaceFigures { max_bytes, ..WorkspaceFigures::default() };
        WorkspaceTable { kept: Vec::new(), coming: 0, figures }
    }

    pub(super) fn kept(&self) -> &[Arc<Workspace>] {
        &self.kept
    }

    pub(super) fn figures(&self) -> WorkspaceFigures {
        let idle = self.kept.iter().filter(|it| it.is_idle()).map(|it| it.bytes as u64).sum();
        WorkspaceFigures { count: self.kept.len() as u64, idle_bytes: idle, ..self.figures }
    }

    /// Takes out the workspaces for which `which` holds, except those with which a thread is queuing a
    /// product.
    pub(super) fn take_out(&mut self, which: impl Fn(&Arc<Workspace>) -> bool) -> TakenWorkspaces {
        let taken = self.kept.extract_if(.., |workspace| {
            if !which(workspace) {
                return false;
            }
            // No thread queues a product with a workspace that its owner is giving up: others have it
            // locked for a moment only.
            let gone = match workspace.is_owned_by(NOBODY) {
                true => workspace.gone.try_lock(),
                false => Some(workspace.gone.lock()),
            };
            gone.map(|mut gone| *gone = true).is_some()
        });
        let taken = TakenWorkspaces(taken.collect());
        self.figures.bytes -= taken.bytes() as u64;
        taken
    }

    /// Takes out all that is idle.
    pub(super) fn give_back_idle(&mut self) -> TakenWorkspaces {
        let idle = self.take_out(|it| it.is_idle());
        self.figures.num_given_back += idle.0.len() as u64;
        idle
    }

    /// Takes out idle workspaces, those that were used longest ago first, until `bytes` more fit.
    pub(super) fn evict_for(&mut self, bytes: u64) -> TakenWorkspaces {
        let mut evicted = TakenWorkspaces::default();
        if self.fits(bytes) {
            return evicted;
        }
        let mut idle: Vec<_> = self.kept.iter().filter(|it| it.is_idle()).cloned().collect();
        idle.sort_by_key(|it| it.used_at.load(Ordering::Relaxed));
        for workspace in idle {
            if self.fits(bytes) {
                break;
            }
            let mut taken = self.take_out(|it| Arc::ptr_eq(it, &workspace));
            self.figures.num_given_back += taken.0.len() as u64;
            evicted.0.append(&mut taken.0);
        }
        evicted
    }

    fn fits(&self, bytes: u64) -> bool {
        let sum = self.figures.bytes.saturating_add(self.coming).saturating_add(bytes);
        sum <= self.figures.max_bytes
    }

    /// Makes room for a workspace that is about to be allocated; says whether there is.
    pub(super) fn reserve(&mut self, bytes: usize) -> (bool, TakenWorkspaces) {
        let bytes = bytes as u64;
        if bytes > self.figures.max_bytes {
            self.figures.num_without += 1;
            return (false, TakenWorkspaces::default());
        }
        let evicted = self.evict_for(bytes);
        let fits = self.fits(bytes);
        match fits {
            true => self.coming += bytes,
            false => self.figures.num_without += 1,
        }
        (fits, evicted)
    }

    /// Ends a reservation.
    pub(super) fn cancel(&mut self, bytes: usize) {
        self.coming -= bytes as u64;
    }

    /// Adds a workspace for which there is a reservation.
    pub(super) fn insert(&mut self, workspace: &Arc<Workspace>) {
        self.cancel(workspace.bytes);
        self.figures.bytes += workspace.bytes as u64;
        self.figures.peak_bytes = self.figures.peak_bytes.max(self.figures.bytes);
        self.kept.push(Arc::clone(workspace));
    }

    pub(super) fn set_max_bytes(&mut self, max_bytes: u64) -> TakenWorkspaces {
        self.figures.max_bytes = max_bytes;
        self.evict_for(0)
    }
}
