//! The work that uses memory of a pool.
#![allow(unsafe_code, reason = "calls the C API")]

use std::ffi::c_void;
use std::ptr::null_mut;

use sconce::*;
use testkit::libraries::{fft, handles, products};

use super::places::*;
use super::ways::Way;
use crate::support::*;

/// What uses memory of the pool. Its own owner has let go of the memory when the other call comes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum User {
    /// A launch on a stream other than the one that was captured.
    Launch,
    /// A launch on the stream that was captured.
    LaunchOnOwn,
    /// A launch on a stream of the program.
    LaunchOnForeign,
    /// A launch on a stream of the program that is destroyed meanwhile.
    LaunchOnGone,
    /// A launch on the default stream of another thread.
    LaunchOnThread,
    /// A capture that another thread has begun.
    Capture,
    /// A copy on a stream that was noted.
    Recorded,
    /// A launch of a product, which has a workspace.
    Workspace,
    /// A launch of a Fourier transform, which has a plan.
    Transform,
    /// A collective call, which runs on a stream of its communicator.
    Collective,
    /// A copy of ordinary memory, which is staged.
    StagedCopy,
}

impl User {
    pub(super) const ALL: [User; 11] = [
        User::Launch,
        User::LaunchOnOwn,
        User::LaunchOnForeign,
        User::LaunchOnGone,
        User::LaunchOnThread,
        User::Capture,
        User::Recorded,
        User::Workspace,
        User::Transform,
        User::Collective,
        User::StagedCopy,
    ];

    /// Whether it is a launch of the graph.
    pub(super) fn launches(self) -> bool {
        !matches!(self, User::Capture | User::Recorded | User::Collective | User::StagedCopy)
    }
}

/// The side of the square matrices of [`User::Workspace`].
const SIDE: i64 = 16;

/// Memory that stays, for all of the work.
#[derive(Clone, Copy)]
struct Kept {
    input: *mut c_void,
    output: *mut c_void,
}

/// A graph, the work, and the memory that both use.
pub(super) struct Scene {
    user: User,
    way: Way,
    /// The stream that is captured, and current at first.
    pub(super) stream: sconce_stream,
    /// Where the work runs, if it has a stream of its own.
    other: sconce_stream,
    foreign: *mut c_void,
    kept: Kept,
    expected: Vec<u8>,
    /// `None` once it was destroyed.
    pub(super) pool: Option<*mut sconce_memory_pool>,
    /// The graph that holds the pool.
    pub(super) graph: Option<*mut sconce_graph>,
    /// The capture of [`User::Capture`].
    capture: Option<*mut sconce_graph>,
    comm: Option<*mut sconce_comm>,
    work: Option<*mut sconce_comm_work>,
    host: Vec<u8>,
    /// What was reserved before the graph was captured.
    pub(super) before: i64,
}

impl Scene {
    /// Captures the graph and queues the work.
    pub(super) fn new(user: User, way: Way) -> Scene {
        let stream = current_stream();
        let kept = Kept { input: allocate(BYTES), output: allocate(BYTES) };
        let mut scene = Scene {
            user,
            way,
            stream,
            other: pool_stream(),
            foreign: null_mut(),
            kept,
            expected: Vec::new(),
            pool: None,
            graph: None,
            capture: None,
            comm: None,
            work: None,
            host: vec![7; BYTES],
            before: 0,
        };
        // 0x3f3f3f3f is a float below 1.
        ok(set(kept.input, 0x3f, BYTES));
        ok(set(kept.output, 0, BYTES));
        ok(sconce_device_synchronize(0));
        scene.make_streams();
        // Once before, which shows what comes out.
        let temporary = allocate_for_all(BYTES);
        scene.queue(temporary, stream);
        free(temporary);
        scene.expected = read(kept.output, BYTES);
        ok(set(kept.output, 0, BYTES));
        ok(sconce_device_synchronize(0));
        ok(sconce_memory_empty_cache());
        scene.before = reserved();
        scene.capture_graph();
        ok(sconce_device_synchronize(0));
        ok(sconce_sim_set_manual(true.into()));
        scene.begin();
        scene
    }

    /// What the output must hold.
    pub(super) fn is_right(&self) -> bool {
        peek(self.kept.output, BYTES) == self.expected
    }

    fn make_streams(&mut self) {
        if matches!(self.user, User::LaunchOnForeign | User::LaunchOnGone) {
            // SAFETY: a writable place.
            ok(unsafe {
                sconce_sim_stream_create(0, SCONCE_SIM_STREAM_NON_BLOCKING, 0, &mut self.foreign)
            });
            // SAFETY: a handle of the simulator, and a writable place.
            ok(unsafe { sconce_stream_get_from_external(self.foreign, 0, &mut self.other) });
        }
        if self.user == User::LaunchOnThread {
            let of_thread = std::ptr::without_provenance_mut(2);
            // SAFETY: CUDA's handle for the stream of a thread, and a writable place.
            ok(unsafe { sconce_stream_get_from_external(of_thread, 0, &mut self.other) });
        }
        if self.user == User::Collective {
            let mut comm = null_mut();
            // SAFETY: one device, and a place for one handle.
            ok(unsafe { sconce_comm_init_all([0].as_ptr(), 1, std::ptr::null(), &mut comm) });
            self.comm = Some(comm);
        }
    }

    /// Queues what the user does with the memory.
    fn queue(&mut self, temporary: *mut c_void, stream: sconce_stream) {
        let Kept { input, output } = self.kept;
        match self.user {
            User::Workspace => {
                let desc = products::plain(1, SIDE, SIDE, SIDE);
                // SAFETY: a whole description; memory of devices is checked.
                ok(unsafe { sconce_matmul_on(&desc, input, input, temporary, stream) });
                copy_on(output, temporary, (SIDE * SIDE * 4) as usize, stream);
            }
            User::Transform => {
                let desc = fft::rows(1 << 6, 2);
                // SAFETY: a whole description; memory of devices is checked.
                ok(unsafe { sconce_fft_on(&desc, input, temporary, stream) });
                copy_on(output, temporary, 2 << 9, stream);
            }
            User::Recorded => {
                ok(sconce_memory_record_stream(temporary, self.other));
                copy_on(temporary, input, BYTES, self.other);
                copy_on(output, temporary, BYTES, self.other);
            }
            User::Collective => {
                copy_on(temporary, input, BYTES, stream);
                let (comm, mut work) = (self.comm.unwrap_or(null_mut()), null_mut());
                let (count, sum) = (BYTES / 4, SCONCE_COMM_SUM);
                let dtype = SCONCE_DTYPE_F32;
                // SAFETY: memory of the communicator's device, and a writable place.
                ok(unsafe {
                    sconce_comm_all_reduce(
                        comm, temporary, output, count, dtype, sum, 0.0, stream, &mut work,
                    )
                });
                if let Some(before) = self.work.replace(work) {
                    ok(sconce_comm_work_destroy(before));
                }
            }
            User::StagedCopy => {
                copy_on(temporary, self.host.as_ptr().cast(), BYTES, stream);
                copy_on(output, temporary, BYTES, stream);
            }
            _ => {
                copy_on(temporary, input, BYTES, stream);
                copy_on(output, temporary, BYTES, stream);
            }
        }
    }

    /// Captures the work of a launch with memory of a pool.
    pub(super) fn capture_into(
        &mut self,
        graph: *mut sconce_graph,
        pool: *mut sconce_memory_pool,
        stream: sconce_stream,
    ) {
        let mode = SCONCE_CAPTURE_THREAD_LOCAL;
        ok(sconce_graph_capture_begin(graph, stream, pool, mode));
        let temporary = allocate_on(BYTES, stream);
        match self.user.launches() {
            true => self.queue(temporary, stream),
            false => set_on(temporary, 1, BYTES, stream),
        }
        free(temporary);
        ok(sconce_graph_capture_end(graph));
    }

    /// The graph, which holds the pool: of the capture, or of a graph from which it was updated.
    fn capture_graph(&mut self) {
        let graph = graph(self.way.updates());
        let given = if self.way.has_own_pool() { null_mut() } else { pool() };
        if self.way.updates() {
            self.capture_into(graph, null_mut(), self.stream);
            ok(sconce_graph_instantiate(graph));
            self.update_from(graph, given);
            self.pool = Some(given);
        } else {
            self.capture_into(graph, given, self.stream);
            let mut pool = null_mut();
            // SAFETY: a writable place.
            ok(unsafe { sconce_graph_get_pool(graph, &mut pool) });
            self.pool = Some(pool);
        }
        self.graph = Some(graph);
    }

    /// Updates a graph from one with memory of a pool, which is destroyed.
    pub(super) fn update_from(&mut self, to: *mut sconce_graph, pool: *mut sconce_memory_pool) {
        let from = graph(true);
        self.capture_into(from, pool, self.stream);
        let mut updated = false;
        // SAFETY: a writable place.
        ok(unsafe { sconce_graph_update(to, from, &mut updated) });
        assert!(updated);
        ok(sconce_graph_destroy(from));
    }

    /// Queues the work, and lets go of its memory.
    fn begin(&mut self) {
        let (pool, graph) = (self.pool.unwrap_or(null_mut()), self.graph.unwrap_or(null_mut()));
        match self.user {
            User::LaunchOnOwn => ok(sconce_graph_replay(graph, self.stream)),
            User::LaunchOnGone => {
                ok(sconce_graph_replay(graph, self.other));
                ok(sconce_sim_stream_destroy(self.foreign));
            }
            User::LaunchOnThread => {
                let other = self.other;
                on_thread(|| ok(sconce_graph_replay(graph, other)));
            }
            user if user.launches() => ok(sconce_graph_replay(graph, self.other)),
            User::Capture => {
                let (graph, stream) = (crate::support::graph(false), pool_stream());
                ok(sconce_graph_capture_begin(graph, stream, pool, SCONCE_CAPTURE_GLOBAL));
                let temporary = allocate_on(BYTES, stream);
                self.queue(temporary, stream);
                free(temporary);
                self.capture = Some(graph);
            }
            _ => {
                ok(sconce_memory_pool_begin(pool, 0));
                let temporary = allocate_on(BYTES, self.stream);
                ok(sconce_memory_pool_end(pool, 0));
                // Nothing is queued there: from here on work of any stream may use the memory.
                ok(sconce_stream_synchronize(self.stream));
                self.queue(temporary, self.stream);
                free(temporary);
            }
        }
    }

    /// Ends a capture under way, and launches its graph.
    pub(super) fn finish(&mut self) {
        if let Some(graph) = self.capture {
            ok(sconce_graph_capture_end(graph));
            ok(sconce_graph_replay(graph, self.other));
        }
    }

    /// The pool, if a program may allocate from it and rely on what it writes: no graph holds it.
    pub(super) fn open_pool(&self) -> Option<*mut sconce_memory_pool> {
        self.pool.filter(|_| self.capture.is_none() && self.way.opens_pool())
    }

    /// Destroys what is left.
    pub(super) fn end(&mut self) {
        for graph in self.graph.take().into_iter().chain(self.capture.take()) {
            ok(sconce_graph_destroy(graph));
        }
        if let Some(work) = self.work.take() {
            ok(sconce_comm_work_destroy(work));
        }
        if let Some(comm) = self.comm.take() {
            ok(sconce_comm_destroy(comm));
        }
        if let Some(pool) = self.pool.take().filter(|_| !self.way.has_own_pool()) {
            ok(sconce_memory_pool_destroy(pool));
        }
        if self.user == User::Workspace {
            handles::clear();
        }
        if self.user == User::LaunchOnForeign {
            ok(sconce_sim_stream_destroy(self.foreign));
        }
    }
}
