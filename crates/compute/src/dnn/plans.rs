//! What is kept: the plans of a handle, and what was found out about a device.
//!
//! A plan belongs to the handle it was made with, and goes with it from thread to thread. Which engine
//! a problem is done by is known to the device, so that another thread makes its plan without
//! searching.

use std::sync::atomic::{AtomicU64, Ordering};

use sconce_base::collections::lru::{Age, Aged, Lru};
use sconce_base::collections::per_device::PerDevice;
use sconce_base::error::Result;
use sconce_base::lock::{Lazy, Mutex, rank};
use sconce_base::types::DeviceIndex;
use sconce_driver::{Convolution, ConvolutionPlan, EngineChoice, RelaxedCapture};
use sconce_runtime::context::{is_initialized, runtime};
use sconce_runtime::graph_shared::{GraphShared, Share};

/// The most plans of a handle.
pub(super) const MOST_PLANS: usize = 1024;
/// The most findings of a device: half a KiB each.
const MOST_FINDINGS: usize = 16 * 1024;

/// All that decides which plan is used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct ConvolutionKey {
    pub(super) problem: Convolution,
    pub(super) choice: EngineChoice,
    /// Engines were timed, or are to be.
    pub(super) benchmark: bool,
}

/// A plan that was chosen.
pub(super) struct Ready {
    plan: GraphShared<Box<dyn ConvolutionPlan>>,
    workspace_bytes: usize,
    age: Age,
}

impl Aged for Ready {
    #[inline]
    fn age(&self) -> &Age {
        &self.age
    }
}

impl Ready {
    pub(super) fn new(plan: Box<dyn ConvolutionPlan>) -> Ready {
        let workspace_bytes = plan.workspace_bytes();
        Ready { plan: GraphShared::new(plan), workspace_bytes, age: Age::default() }
    }

    #[inline]
    pub(super) fn workspace_bytes(&self) -> usize {
        self.workspace_bytes
    }

    /// The plan, to be executed now.
    #[inline]
    pub(super) fn plan(&mut self) -> Result<&mut dyn ConvolutionPlan> {
        Ok(self.plan.get()?.as_mut())
    }

    /// A share for the graph that an execution became part of.
    pub(super) fn share(&mut self) -> Share {
        self.plan.share()
    }
}

/// Plans that were taken out of a handle, to be destroyed with no lock held.
pub(super) struct OutdatedPlans(Vec<Ready>);

impl Drop for OutdatedPlans {
    fn drop(&mut self) {
        if self.0.is_empty() || !is_initialized() {
            return;
        }
        // Kernels are unloaded, which a capture under way would refuse and be spoilt by. If the mode
        // cannot be changed they go all the same.
        let runtime = runtime();
        let _relaxed = runtime.map(|runtime| RelaxedCapture::enter(runtime.driver()));
        self.0.clear();
    }
}

/// The plans of a handle.
pub(super) struct Plans {
    ready: Lru<ConvolutionKey, Ready>,
    epoch: u64,
}

impl Plans {
    pub(super) fn new() -> Plans {
        Plans { ready: Lru::new(MOST_PLANS, u64::MAX), epoch: epoch() }
    }

    /// Takes all out, if they were forgotten since this was last asked.
    #[inline]
    pub(super) fn outdated(&mut self) -> OutdatedPlans {
        let now = epoch();
        if self.epoch == now {
            return OutdatedPlans(Vec::new());
        }
        self.epoch = now;
        OutdatedPlans(self.ready.clear())
    }

    #[inline]
    pub(super) fn get(&mut self, key: &ConvolutionKey) -> Option<&mut Ready> {
        self.ready.get(key)
    }

    pub(super) fn insert(&mut self, key: ConvolutionKey, ready: Ready) {
        drop(self.ready.insert(key, ready, 0));
    }
}

/// How often everything was forgotten.
static EPOCH: AtomicU64 = AtomicU64::new(0);

/// The place of a problem's engine in the library's order.
struct Found {
    index: usize,
    age: Age,
}

impl Aged for Found {
    fn age(&self) -> &Age {
        &self.age
    }
}

/// What was found for a device.
type Findings = Mutex<rank::DnnPlans, Lru<ConvolutionKey, Found>>;

/// What was found, by device.
static FOUND: Lazy<rank::DnnTable, PerDevice<Findings>> =
    Lazy::new(|| PerDevice::from_fn(|_| Mutex::new(Lru::new(MOST_FINDINGS, u64::MAX))));

/// A number that changes when everything is forgotten.
pub(super) fn epoch() -> u64 {
    EPOCH.load(Ordering::Acquire)
}

/// The engine that was found for a problem.
pub(super) fn found(device: DeviceIndex, key: &ConvolutionKey) -> Option<usize> {
    FOUND[device].lock().get(key).map(|found| found.index)
}

/// Notes an engine, unless everything was forgotten since `since`.
pub(super) fn note_found(device: DeviceIndex, key: ConvolutionKey, index: usize, since: u64) {
    let mut found = FOUND[device].lock();
    if epoch() == since {
        drop(found.insert(key, Found { index, age: Age::default() }, 0));
    }
}

/// Forgets everything. Handles notice when they are next used.
pub(super) fn forget_all() {
    EPOCH.fetch_add(1, Ordering::AcqRel);
    if let Some(found) = Lazy::get(&FOUND) {
        for (_, found) in found.iter() {
            drop(found.lock().clear());
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use sconce_base::element::Dtype;
    use sconce_base::types::DevicePtr;
    use sconce_driver::{ConvolutionOperation, ConvolutionTensor};

    use super::*;

    struct Counted(Arc<()>);

    impl ConvolutionPlan for Counted {
        fn workspace_bytes(&self) -> usize {
            Arc::strong_count(&self.0)
        }

        fn execute(
            &mut self,
            _: DevicePtr,
            _: DevicePtr,
            _: DevicePtr,
            _: DevicePtr,
        ) -> Result<()> {
            Ok(())
        }
    }

    fn key(batch: i64) -> ConvolutionKey {
        let tensor =
            ConvolutionTensor { sizes: [batch, 1, 1, 1, 1], strides: [1; 5], alignment: 4 };
        let problem = Convolution {
            operation: ConvolutionOperation::Forward,
            element: Dtype::F32,
            spatial: 1,
            groups: 1,
            input: tensor,
            filter: tensor,
            output: tensor,
            stride: [1; 3],
            padding: [0; 3],
            dilation: [1; 3],
        };
        let choice = EngineChoice { allow_tf32: true, deterministic: false };
        ConvolutionKey { problem, choice, benchmark: false }
    }

    /// The tests forget everything, which the others would notice.
    fn alone() -> parking_lot::MutexGuard<'static, ()> {
        static ONE: parking_lot::Mutex<()> = parking_lot::Mutex::new(());
        ONE.lock()
    }

    #[test]
    fn plans_leave_for_newer_ones_and_when_all_is_forgotten() {
        let _alone = alone();
        let alive = Arc::new(());
        let mut plans = Plans::new();
        let count = MOST_PLANS as i64 + 3;
        for batch in 0..count {
            plans.insert(key(batch), Ready::new(Box::new(Counted(alive.clone()))));
        }
        assert_eq!(Arc::strong_count(&alive), 1 + MOST_PLANS);
        assert!(plans.get(&key(2)).is_none());
        assert!(plans.get(&key(3)).is_some_and(|ready| ready.plan().is_ok()));
        let other = ConvolutionKey { benchmark: true, ..key(3) };
        assert!(plans.get(&other).is_none());
        drop(plans.outdated());
        assert_eq!(Arc::strong_count(&alive), 1 + MOST_PLANS);
        forget_all();
        drop(plans.outdated());
        assert_eq!(Arc::strong_count(&alive), 1);
        assert!(plans.get(&key(3)).is_none());
    }

    #[test]
    fn plans_that_graphs_execute_are_destroyed_with_the_last_graph() {
        let _alone = alone();
        let alive = Arc::new(());
        let mut plans = Plans::new();
        for batch in 0..2 {
            plans.insert(key(batch), Ready::new(Box::new(Counted(alive.clone()))));
        }
        let ready = plans.get(&key(0)).unwrap();
        let shares = [ready.share(), ready.share()];
        assert!(ready.plan().is_ok());
        forget_all();
        drop(plans.outdated());
        assert_eq!(Arc::strong_count(&alive), 2, "the other one goes");
        drop(shares);
        assert_eq!(Arc::strong_count(&alive), 1);
    }

    #[test]
    fn findings_are_the_devices_own_and_not_kept_past_a_forgetting() {
        let _alone = alone();
        let [zero, one] = [0, 1].map(|index| DeviceIndex::new(index).unwrap());
        let since = epoch();
        note_found(zero, key(1), 7, since);
        assert_eq!(found(zero, &key(1)), Some(7));
        assert_eq!((found(one, &key(1)), found(zero, &key(2))), (None, None));
        forget_all();
        assert_eq!(found(zero, &key(1)), None);
        note_found(zero, key(1), 7, since);
        assert_eq!(found(zero, &key(1)), None);
    }
}
