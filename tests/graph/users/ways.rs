//! The ways by which memory leaves a pool.
#![allow(unsafe_code, reason = "calls the C API")]

use std::ptr::null_mut;

use sconce::sconce_status::*;
use sconce::*;
use testkit::last_message;

use super::places::*;
use super::work::{Scene, User};
use crate::support::*;

/// What happens to the graph, to its pool, or to all memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Way {
    /// The graph lets go; its pool is the program's.
    Reset,
    Destroy,
    Recapture,
    /// The graph lets go, and its own pool ends with it.
    ResetOwn,
    DestroyOwn,
    RecaptureOwn,
    /// The graph lets go of what it held since an update: it is updated once more, or instantiated anew.
    UpdateAgain,
    Instantiate,
    /// The graph holds the pool.
    Trim,
    PoolDestroy,
    EmptyCache,
    OutOfMemory,
    Sleep,
    /// The graph was destroyed before.
    DestroyTrim,
    DestroyPoolDestroy,
    PoolDestroyDestroy,
    DestroyEmptyCache,
    DestroyOutOfMemory,
    DestroySleep,
    DestroyOwnEmptyCache,
    DestroyOwnOutOfMemory,
}

impl Way {
    pub(super) const ALL: [Way; 21] = [
        Way::Reset,
        Way::Destroy,
        Way::Recapture,
        Way::ResetOwn,
        Way::DestroyOwn,
        Way::RecaptureOwn,
        Way::UpdateAgain,
        Way::Instantiate,
        Way::Trim,
        Way::PoolDestroy,
        Way::EmptyCache,
        Way::OutOfMemory,
        Way::Sleep,
        Way::DestroyTrim,
        Way::DestroyPoolDestroy,
        Way::PoolDestroyDestroy,
        Way::DestroyEmptyCache,
        Way::DestroyOutOfMemory,
        Way::DestroySleep,
        Way::DestroyOwnEmptyCache,
        Way::DestroyOwnOutOfMemory,
    ];

    /// Whether the graph was updated from another, whose memory it uses.
    pub(super) fn updates(self) -> bool {
        matches!(self, Way::UpdateAgain | Way::Instantiate)
    }

    pub(super) fn has_own_pool(self) -> bool {
        matches!(
            self,
            Way::ResetOwn
                | Way::DestroyOwn
                | Way::RecaptureOwn
                | Way::DestroyOwnEmptyCache
                | Way::DestroyOwnOutOfMemory
        )
    }

    /// Whether there is such a cell.
    pub(super) fn applies(self, user: User) -> bool {
        // Only a graph that is launched holds what it was updated from for the work.
        user.launches() || !self.updates()
    }

    /// Whether the call may wait for the work, which the threads of the program are told.
    pub(super) fn may_wait(self, user: User) -> bool {
        match self {
            Way::Reset
            | Way::Destroy
            | Way::Recapture
            | Way::ResetOwn
            | Way::DestroyOwn
            | Way::RecaptureOwn
            | Way::UpdateAgain
            | Way::Instantiate
            | Way::PoolDestroy
            | Way::PoolDestroyDestroy => false,
            // As in torch, the end of a pool waits for streams that were noted, but not for launches.
            Way::DestroyPoolDestroy => !user.launches(),
            _ => true,
        }
    }

    /// Whether no graph holds the pool afterwards, and it gives memory.
    pub(super) fn opens_pool(self) -> bool {
        matches!(
            self,
            Way::Reset
                | Way::Destroy
                | Way::Recapture
                | Way::UpdateAgain
                | Way::Instantiate
                | Way::DestroyTrim
                | Way::DestroyEmptyCache
                | Way::DestroyOutOfMemory
        )
    }

    /// Lets the memory leave.
    pub(super) fn take(self, scene: &mut Scene, user: User) {
        match self {
            Way::Reset | Way::ResetOwn => reset(scene),
            Way::Destroy | Way::DestroyOwn => destroy(scene),
            Way::Recapture => {
                reset(scene);
                let pool = scene.pool.unwrap_or(null_mut());
                recapture(scene, pool);
            }
            Way::RecaptureOwn => {
                reset(scene);
                recapture(scene, null_mut());
            }
            Way::UpdateAgain => {
                let graph = scene.graph.unwrap_or(null_mut());
                scene.update_from(graph, null_mut());
            }
            Way::Instantiate => ok(sconce_graph_instantiate(scene.graph.unwrap_or(null_mut()))),
            Way::Trim => assert_eq!(trim(scene), 0, "a trim took memory that a graph holds"),
            Way::PoolDestroy => end_pool(scene, user),
            Way::EmptyCache => empty_cache(user),
            Way::OutOfMemory => run_out(),
            Way::Sleep => sleep(scene),
            Way::DestroyTrim => {
                destroy(scene);
                let _ = trim(scene);
            }
            Way::DestroyPoolDestroy => {
                destroy(scene);
                end_pool(scene, user);
            }
            Way::PoolDestroyDestroy => {
                end_pool(scene, user);
                destroy(scene);
            }
            Way::DestroyEmptyCache | Way::DestroyOwnEmptyCache => {
                destroy(scene);
                empty_cache(user);
            }
            Way::DestroyOutOfMemory | Way::DestroyOwnOutOfMemory => {
                destroy(scene);
                on_thread(run_out);
            }
            Way::DestroySleep => {
                destroy(scene);
                sleep(scene);
            }
        }
    }

    /// Wakes what sleeps.
    pub(super) fn undo(self, scene: &Scene) {
        if matches!(self, Way::Sleep | Way::DestroySleep) {
            let pool = scene.pool.unwrap_or(null_mut());
            let status = sconce_memory_pool_wake(pool, 0, SCONCE_WAKE_RESTORE);
            assert!(matches!(status, SCONCE_OK | SCONCE_ERROR_INVALID_STATE), "{}", last_message());
        }
    }
}

fn reset(scene: &mut Scene) {
    ok(sconce_graph_reset(scene.graph.unwrap_or(null_mut())));
}

fn recapture(scene: &mut Scene, pool: *mut sconce_memory_pool) {
    let (graph, stream) = (scene.graph.unwrap_or(null_mut()), pool_stream());
    scene.capture_into(graph, pool, stream);
}

fn destroy(scene: &mut Scene) {
    ok(sconce_graph_destroy(scene.graph.take().unwrap_or(null_mut())));
}

/// Destroys the pool. A pool from which a capture allocates is not destroyed.
fn end_pool(scene: &mut Scene, user: User) {
    let status = sconce_memory_pool_destroy(scene.pool.unwrap_or(null_mut()));
    if user == User::Capture {
        assert_eq!(status, SCONCE_ERROR_INVALID_STATE);
    } else {
        ok(status);
        scene.pool = None;
    }
}

fn trim(scene: &Scene) -> usize {
    let mut bytes = 0;
    // SAFETY: a writable place.
    let status = unsafe { sconce_memory_pool_trim(scene.pool.unwrap_or(null_mut()), &mut bytes) };
    assert!(matches!(status, SCONCE_OK | SCONCE_ERROR_INVALID_STATE), "{}", last_message());
    bytes
}

fn empty_cache(user: User) {
    let expected = if user == User::Capture { SCONCE_ERROR_INVALID_STATE } else { SCONCE_OK };
    assert_eq!(sconce_memory_empty_cache(), expected, "{}", last_message());
}

/// Asks for more than the device has, so that whatever can go back goes back.
fn run_out() {
    let mut address = null_mut();
    // SAFETY: a writable place.
    let status = unsafe { sconce_memory_alloc(free_bytes() as usize + (1 << 30), &mut address) };
    assert_eq!(status, SCONCE_ERROR_OUT_OF_MEMORY, "{}", last_message());
}

/// Puts the pool to sleep; only pools of pages can, and not while a stream is captured.
fn sleep(scene: &Scene) {
    let desc = sconce_sleep_desc {
        struct_size: size_of::<sconce_sleep_desc>() as u32,
        mode: SCONCE_SLEEP_HOST_PINNED,
        path: std::ptr::null(),
    };
    // SAFETY: a whole description.
    let status =
        unsafe { sconce_memory_pool_sleep(scene.pool.unwrap_or(null_mut()), 0, &raw const desc) };
    let expected = [SCONCE_OK, SCONCE_ERROR_NOT_SUPPORTED, SCONCE_ERROR_INVALID_STATE];
    assert!(expected.contains(&status), "{}", last_message());
}
