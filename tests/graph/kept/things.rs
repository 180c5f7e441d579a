//! What graphs keep of libraries, and of programs that ask for it.
#![allow(unsafe_code, reason = "calls the C API")]

use std::cell::RefCell;
use std::ffi::c_void;
use std::ptr::null_mut;

use sconce::*;
use testkit::libraries::{convolutions, fft, handles, products};

use crate::support::*;
use crate::users::places::{copy_on, on_thread, peek, set_on};

/// What a library keeps for a graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Thing {
    /// The workspace of a product in the graph's pool.
    Workspace,
    /// The same with a handle that the thread was given.
    HandleWorkspace,
    /// The workspace of a product that another thread queues, which does not allocate from the pool.
    OtherThreadsWorkspace,
    /// The plan of a transform, which stays in the cache.
    Transform,
    /// The plan of a transform that leaves the cache at once.
    UncachedTransform,
    /// The plan of a convolution.
    Convolution,
    /// A tensor that the program lets the graph keep.
    Tensor,
}

impl Thing {
    pub(super) const ALL: [Thing; 7] = [
        Thing::Workspace,
        Thing::HandleWorkspace,
        Thing::OtherThreadsWorkspace,
        Thing::Transform,
        Thing::UncachedTransform,
        Thing::Convolution,
        Thing::Tensor,
    ];
}

const BYTES: usize = 1 << 20;
/// The side of the square matrices.
const SIDE: i64 = 16;
/// The bytes that are compared.
const COMPARED: usize = (SIDE * SIDE * 4) as usize;
/// A part of a segment, as others ask for it.
const TENSOR_ELEMENTS: i64 = (64 << 10) / 4;
const TENSORS: usize = 24;

/// What must be as before when all graphs are gone.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Figures {
    free: u64,
    kept: Kept,
}

/// Workspaces, bytes of transforms, and plans of convolutions.
#[derive(Debug, PartialEq, Eq, PartialOrd)]
pub(super) struct Kept(u64, u64, u64);

impl Kept {
    pub(super) fn now() -> Kept {
        let plans = calls("dnn_plan") - calls("dnn_plan_destroy");
        Kept(
            sconce_compute::blas::workspace_figures(0).unwrap().count,
            fft::stats(0).bytes as u64,
            plans,
        )
    }

    /// Whether nothing of it has gone since.
    pub(super) fn is_still(&self) -> bool {
        let now = Kept::now();
        now.0 >= self.0 && now.1 >= self.1 && now.2 >= self.2
    }
}

impl Figures {
    pub(super) fn now() -> Figures {
        Figures { free: free_bytes(), kept: Kept::now() }
    }
}

/// The work, and memory that stays.
pub(super) struct Scene {
    thing: Thing,
    /// Captured, and current.
    pub(super) stream: sconce_stream,
    input: *mut c_void,
    output: *mut c_void,
    expected: Vec<u8>,
    /// Tensors that are written already, for a capture each. So many that one of a segment is left.
    tensors: RefCell<Vec<*mut sconce_tensor>>,
}

impl Scene {
    pub(super) fn new(thing: Thing) -> Scene {
        let stream = current_stream();
        let (input, output) = (allocate(BYTES), allocate(BYTES));
        if thing == Thing::UncachedTransform {
            ok(sconce_fft_cache_set_max_size(0, 0));
        }
        // 0x3f3f3f3f is a float below 1.
        ok(set(input, 0x3f, BYTES));
        ok(set(output, 0, BYTES));
        let mut scene = Scene {
            thing,
            stream,
            input,
            output,
            expected: Vec::new(),
            tensors: RefCell::default(),
        };
        if thing == Thing::Tensor {
            scene.tensors = (0..TENSORS).map(|_| ones()).collect::<Vec<_>>().into();
        }
        // Handles are made, and what comes out is seen.
        scene.queue(stream);
        scene.expected = read(output, COMPARED);
        assert!(scene.expected.iter().any(|byte| *byte != 0));
        scene.forget();
        handles::clear();
        scene.drop_caches();
        scene
    }

    /// Empties the caches in which the thing is kept while it is not in use. Everything else goes by itself.
    pub(super) fn drop_caches(&self) {
        self.clear_caches();
        ok(sconce_memory_empty_cache());
    }

    /// The same without the allocator's, which waits for work.
    pub(super) fn clear_caches(&self) {
        match self.thing {
            // What graphs keep stays.
            Thing::OtherThreadsWorkspace => handles::clear(),
            Thing::Transform => ok(sconce_fft_cache_clear(0)),
            Thing::Convolution => ok(sconce_convolution_clear_plans()),
            Thing::Workspace
            | Thing::HandleWorkspace
            | Thing::UncachedTransform
            | Thing::Tensor => {}
        }
    }

    /// Queues the work.
    pub(super) fn queue(&self, stream: sconce_stream) {
        let Scene { input, output, .. } = *self;
        let product = |input: *mut c_void, output: *mut c_void| {
            let desc = products::plain(1, SIDE, SIDE, SIDE);
            // SAFETY: a whole description; memory of devices is checked.
            ok(unsafe { sconce_matmul_on(&desc, input, input, output, stream) });
        };
        match self.thing {
            Thing::Tensor => self.copy_from_tensor(stream),
            Thing::Workspace => product(input, output),
            Thing::HandleWorkspace => {
                assert_ne!(products::handle(), 0);
                product(input, output);
            }
            Thing::OtherThreadsWorkspace => on_thread(|| product(input, output)),
            Thing::Transform | Thing::UncachedTransform => {
                // It has a workspace.
                let desc = fft::rows(4098, 1);
                // SAFETY: a whole description; memory of devices is checked.
                ok(unsafe { sconce_fft_on(&desc, input, output, stream) });
            }
            Thing::Convolution => {
                let desc = convolutions::desc(SCONCE_CONVOLUTION_FORWARD, SCONCE_DTYPE_F32);
                let filter = input.wrapping_byte_add(BYTES / 2);
                // SAFETY: a whole description; memory of devices is checked.
                ok(unsafe { sconce_convolution_on(&desc, input, filter, output, stream) });
            }
        }
    }

    /// Copies from a tensor that is released at once. A graph that is being captured keeps it.
    fn copy_from_tensor(&self, stream: sconce_stream) {
        let tensor = self.tensors.borrow_mut().pop().unwrap();
        let mut data = null_mut();
        // SAFETY: a writable place.
        ok(unsafe { sconce_tensor_get_data(tensor, &mut data) });
        copy_on(self.output, data, COMPARED, stream);
        let mut graph = null_mut();
        // SAFETY: a writable place.
        ok(unsafe { sconce_graph_get_capturing(&mut graph) });
        if !graph.is_null() {
            ok(sconce_graph_keep_tensor(graph, tensor));
        }
        ok(sconce_tensor_release(tensor));
    }

    /// Begins a capture and queues the work into it.
    pub(super) fn begin(&self, graph: *mut sconce_graph, pool: *mut sconce_memory_pool) {
        let mode = SCONCE_CAPTURE_RELAXED;
        ok(sconce_graph_capture_begin(graph, self.stream, pool, mode));
        // More than once, so that things are kept once.
        for _ in 0..2 {
            self.queue(self.stream);
        }
    }

    /// Captures the work.
    pub(super) fn capture(&self, graph: *mut sconce_graph, pool: *mut sconce_memory_pool) {
        self.begin(graph, pool);
        ok(sconce_graph_capture_end(graph));
    }

    /// A graph of the work.
    pub(super) fn captured(&mut self, pool: *mut sconce_memory_pool) -> *mut sconce_graph {
        let graph = graph(false);
        self.capture(graph, pool);
        graph
    }

    /// Overwrites the output.
    pub(super) fn forget(&self) {
        ok(set(self.output, 0, BYTES));
        ok(sconce_device_synchronize(0));
    }

    /// Whether the output holds the result.
    pub(super) fn is_right(&self) -> Result<(), String> {
        match peek(self.output, COMPARED) == self.expected {
            true => Ok(()),
            false => Err("the launch gave a wrong result".to_owned()),
        }
    }

    /// Launches the graph, after what nobody keeps was given to others, who write to it; the result must be right.
    pub(super) fn launch(&self, graph: *mut sconce_graph) -> Result<(), String> {
        self.forget();
        self.drop_caches();
        self.squat();
        ok(sconce_graph_replay(graph, self.stream));
        ok(sconce_device_synchronize(0));
        self.is_right()
    }

    /// Others take memory of all sizes, write to it, and let go of it.
    pub(super) fn squat(&self) {
        let sizes = [33 << 20, 32 << 20, 8 << 20, BYTES, 64 << 10, 4 << 10];
        let blocks: Vec<_> = sizes.iter().map(|bytes| (allocate(*bytes), *bytes)).collect();
        for (block, bytes) in &blocks {
            set_on(*block, 0xEE, *bytes, self.stream);
        }
        blocks.into_iter().for_each(|(block, _)| free(block));
    }

    /// Makes a capture invalid: another stream takes part, and does not come back.
    pub(super) fn spoil(&self) {
        let (mut event, other) = (null_mut(), pool_stream());
        // SAFETY: a writable place.
        ok(unsafe { sconce_event_create(0, &mut event) });
        ok(sconce_event_record(event, self.stream));
        ok(sconce_stream_wait_event(other, event));
        copy_on(self.output, self.input, COMPARED, other);
        ok(sconce_event_destroy(event));
    }
}

/// A tensor of ones on the device.
fn ones() -> *mut sconce_tensor {
    let options = sconce_tensor_options {
        struct_size: size_of::<sconce_tensor_options>() as u32,
        dtype: SCONCE_DTYPE_F32,
        device: 0,
        memory_format: 0,
        pinned: CBool::FALSE,
        reserved: [0; 7],
    };
    let sizes = [TENSOR_ELEMENTS];
    let mut tensor = null_mut();
    // SAFETY: sizes, options and a writable place.
    ok(unsafe { sconce_tensor_ones(sizes.as_ptr(), 1, &options, &mut tensor) });
    tensor
}
