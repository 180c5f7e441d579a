//! The ways by which graphs end.
#![allow(unsafe_code, reason = "calls the C API")]

use std::ptr::null_mut;

use sconce::sconce_status::*;
use sconce::*;
use testkit::places::run_until_idle;

use super::things::{Kept, Scene};
use crate::support::*;
use crate::users::places::{count_waits, on_thread, pool};

/// How a graph ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum End {
    Destroyed,
    Reset,
    /// Reset, and captured again.
    Recaptured,
    /// The capture is discarded.
    Aborted,
    /// The capture fails.
    Failed,
    /// Another graph was updated from it.
    TakenOver,
    /// The same, and then from a third, or instantiated anew.
    TakenOverAgain,
    Reinstantiated,
    /// Two graphs share a pool; the program keeps it.
    PoolShared,
    /// The pool is destroyed before its graphs.
    PoolGone,
    /// The work is in a body of a conditional node.
    InBody,
    /// A launch is queued.
    Queued,
    /// A launch is queued on a stream of the program, which the program destroys.
    QueuedOnGone,
    /// A launch of a graph that was updated from it is queued.
    QueuedAfterUpdate,
    /// The graph is captured again while a launch is queued.
    QueuedRecaptured,
    /// Another thread captures.
    BesideCapture,
    /// The thread that captured has ended.
    OfOtherThread,
}

impl End {
    pub(super) const ALL: [End; 17] = [
        End::Destroyed,
        End::Reset,
        End::Recaptured,
        End::Aborted,
        End::Failed,
        End::TakenOver,
        End::TakenOverAgain,
        End::Reinstantiated,
        End::PoolShared,
        End::PoolGone,
        End::InBody,
        End::Queued,
        End::QueuedOnGone,
        End::QueuedAfterUpdate,
        End::QueuedRecaptured,
        End::BesideCapture,
        End::OfOtherThread,
    ];

    /// Captures, launches, and ends all graphs. Says what is wrong.
    pub(super) fn run(self, scene: &mut Scene) -> Result<(), String> {
        match self {
            End::Destroyed => {
                let graph = scene.captured(null_mut());
                scene.launch(graph)?;
                scene.launch(graph)?;
                ok(sconce_graph_destroy(graph));
            }
            End::Reset => {
                let graph = scene.captured(null_mut());
                scene.launch(graph)?;
                ok(sconce_graph_reset(graph));
            }
            End::Recaptured => {
                let graph = scene.captured(null_mut());
                for _ in 0..3 {
                    scene.launch(graph)?;
                    ok(sconce_graph_reset(graph));
                    scene.capture(graph, null_mut());
                }
                scene.launch(graph)?;
                ok(sconce_graph_destroy(graph));
            }
            End::Aborted => {
                let graph = graph(false);
                scene.begin(graph, null_mut());
                ok(sconce_graph_capture_abort(graph));
            }
            End::Failed => {
                let graph = graph(false);
                scene.begin(graph, null_mut());
                scene.spoil();
                assert_ne!(sconce_graph_capture_end(graph), SCONCE_OK);
            }
            End::TakenOver => {
                let to = updated(scene, 1);
                scene.launch(to)?;
                ok(sconce_graph_destroy(to));
            }
            End::TakenOverAgain => {
                let to = updated(scene, 2);
                scene.launch(to)?;
                ok(sconce_graph_destroy(to));
            }
            End::Reinstantiated => {
                let to = updated(scene, 1);
                scene.launch(to)?;
                ok(sconce_graph_instantiate(to));
                scene.launch(to)?;
                ok(sconce_graph_destroy(to));
            }
            End::PoolShared | End::PoolGone => {
                let pool = pool();
                let [first, second] = [0, 1].map(|_| scene.captured(pool));
                scene.launch(first)?;
                ok(sconce_graph_destroy(first));
                if self == End::PoolGone {
                    ok(sconce_memory_pool_destroy(pool));
                }
                scene.launch(second)?;
                ok(sconce_graph_destroy(second));
                if self == End::PoolShared {
                    ok(sconce_memory_pool_destroy(pool));
                }
            }
            End::InBody => {
                let graph = in_body(scene);
                scene.launch(graph)?;
                ok(sconce_graph_destroy(graph));
            }
            End::Queued | End::QueuedOnGone | End::QueuedAfterUpdate | End::QueuedRecaptured => {
                self.run_queued(scene)?;
            }
            End::BesideCapture => {
                let graph = scene.captured(null_mut());
                scene.launch(graph)?;
                on_thread(|| {
                    let (other, stream) = (crate::support::graph(false), pool_stream());
                    ok(begin(other, stream));
                    on_thread(|| ok(sconce_graph_destroy(graph)));
                    ok(sconce_graph_capture_end(other));
                    ok(sconce_graph_destroy(other));
                });
            }
            End::OfOtherThread => {
                let stream = scene.stream;
                let graph = graph(false);
                on_thread(|| {
                    ok(sconce_stream_set_current(stream));
                    scene.capture(graph, null_mut());
                });
                scene.launch(graph)?;
                ok(sconce_graph_destroy(graph));
            }
        }
        Ok(())
    }

    /// Ends the graph while a launch is queued.
    fn run_queued(self, scene: &mut Scene) -> Result<(), String> {
        let graph = match self {
            End::QueuedAfterUpdate => updated(scene, 1),
            _ => scene.captured(null_mut()),
        };
        scene.launch(graph)?;
        scene.forget();
        let (mut foreign, mut stream) = (null_mut(), pool_stream());
        if self == End::QueuedOnGone {
            // SAFETY: a writable place.
            ok(unsafe {
                sconce_sim_stream_create(0, SCONCE_SIM_STREAM_NON_BLOCKING, 0, &mut foreign)
            });
            // SAFETY: a handle of the simulator, and a writable place.
            ok(unsafe { sconce_stream_get_from_external(foreign, 0, &mut stream) });
        }
        ok(sconce_sim_set_manual(true.into()));
        ok(sconce_graph_replay(graph, stream));
        if !foreign.is_null() {
            ok(sconce_sim_stream_destroy(foreign));
        }
        let (waits, kept) = (count_waits(), Kept::now());
        if self == End::QueuedRecaptured {
            ok(sconce_graph_reset(graph));
            scene.capture(graph, null_mut());
        } else {
            ok(sconce_graph_destroy(graph));
        }
        // Nothing of it has gone to others, who write now.
        scene.clear_caches();
        scene.squat();
        if !kept.is_still() {
            return Err(format!("{kept:?} before, {:?} while the launch is queued", Kept::now()));
        }
        if count_waits() != waits {
            return Err("a call waited for the launch".to_owned());
        }
        run_until_idle();
        ok(sconce_sim_set_manual(false.into()));
        ok(sconce_device_synchronize(0));
        scene.is_right()?;
        if self == End::QueuedRecaptured {
            scene.launch(graph)?;
            ok(sconce_graph_destroy(graph));
        }
        Ok(())
    }
}

/// A graph that was updated some times from others, which are gone.
fn updated(scene: &Scene, times: usize) -> *mut sconce_graph {
    let to = graph(true);
    scene.capture(to, null_mut());
    ok(sconce_graph_instantiate(to));
    for _ in 0..times {
        let from = graph(true);
        scene.capture(from, null_mut());
        let mut updated = false;
        // SAFETY: a writable place.
        ok(unsafe { sconce_graph_update(to, from, &mut updated) });
        assert!(updated);
        ok(sconce_graph_destroy(from));
    }
    to
}

/// A graph that does the work in a body of a conditional node.
fn in_body(scene: &Scene) -> *mut sconce_graph {
    let (graph, flag) = (graph(false), allocate(8));
    ok(set(flag, 1, 1));
    ok(sconce_device_synchronize(0));
    let body = pool_stream();
    ok(sconce_graph_capture_begin(graph, scene.stream, null_mut(), SCONCE_CAPTURE_RELAXED));
    let mut condition = 0;
    // SAFETY: a writable place.
    ok(unsafe { sconce_graph_condition_create(graph, &mut condition) });
    // SAFETY: memory of a device is checked.
    ok(unsafe { sconce_graph_condition_set(graph, condition, flag, 1, scene.stream) });
    ok(sconce_graph_conditional_begin(graph, condition, SCONCE_GRAPH_IF, 1, body));
    scene.queue(body);
    ok(sconce_graph_conditional_end(graph));
    ok(sconce_graph_capture_end(graph));
    free(flag);
    graph
}
