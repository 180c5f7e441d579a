//! Live objects for calls by name, and the arguments with which a call is an ordinary one.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by panicking")]
#![allow(unsafe_code, reason = "calls functions by address")]

use std::cell::Cell;
use std::collections::BTreeMap;

use sconce::*;
use testkit::header::Prototype;

use crate::calls::{Arguments, Library};
use crate::descriptions::good;
use crate::misuse::{
    no_error, no_gradients, no_kernel, no_message, no_observer, no_range, no_report, nothing,
    scratch,
};
use crate::ordinary::{entries, is_tensor_instead, number, patience, small, text};

/// Bytes of the memory on the device that calls get.
pub(crate) const BLOCK_BYTES: u64 = 64 << 10;
/// Bytes of the place for each result.
const RESULT_BYTES: usize = 64 << 10;
/// Entries of each array of the caller.
pub(crate) const ENTRIES: usize = 64;

/// Where tensors are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    Cpu,
    Device,
}

/// What calls get.
pub(crate) struct World {
    library: Library,
    pub(crate) place: Place,
    block: u64,
    /// Objects by the names of their types.
    objects: BTreeMap<&'static str, u64>,
    /// Tensors by what they are for.
    tensors: BTreeMap<&'static str, u64>,
    /// A leaf of the graph of backward passes.
    leaf: u64,
    /// A condition of the graph that is being captured.
    condition: Cell<u64>,
    graph: Cell<u64>,
    /// The id of a stream that can be captured, or is.
    stream: Cell<u64>,
    scratch: &'static [u64],
}

/// A value that lives as long as the process, for a pointer.
pub(crate) fn leaked<T>(value: T) -> u64 {
    Box::into_raw(Box::new(value)) as u64
}

/// An array of the caller: what it repeats.
pub(crate) fn array(entries: &[i64]) -> u64 {
    leaked::<[i64; ENTRIES]>(std::array::from_fn(|at| entries[at % entries.len()]))
}

/// A file of this process in the folder for the tests' files.
fn own_path() -> u64 {
    let path = format!("{}/sizes-{}\0", env!("CARGO_TARGET_TMPDIR"), std::process::id());
    Box::leak(path.into_boxed_str()).as_ptr() as u64
}

pub(crate) fn options(place: Place, dtype: i32) -> u64 {
    leaked(sconce_tensor_options {
        struct_size: size_of::<sconce_tensor_options>() as u32,
        dtype,
        device: if place == Place::Cpu { SCONCE_DEVICE_CPU } else { 0 },
        memory_format: 0,
        pinned: false.into(),
        reserved: [0; 7],
    })
}

/// A number as the C API takes it.
pub(crate) fn scalar(kind: i32, integer: i64, real: f64) -> u64 {
    leaked(sconce_scalar { kind, reserved: 0, integer, real, imaginary: 0.0 })
}

pub(crate) fn plain(kind: &str) -> String {
    kind.trim_start_matches("const ").replace("struct ", "").replace("enum ", "")
}

impl World {
    /// Starts the library and makes all objects. The backend and the policy are those of the environment.
    pub(crate) fn new(place: Place) -> World {
        let mut world = World {
            library: Library::open(),
            place,
            block: 0,
            objects: BTreeMap::new(),
            tensors: BTreeMap::new(),
            leaf: 0,
            condition: Cell::new(0),
            graph: Cell::new(0),
            stream: Cell::new(0),
            scratch: scratch(),
        };
        world.block = world.make("sconce_memory_alloc", &[BLOCK_BYTES]);
        world.renew();
        let device = if place == Place::Cpu { SCONCE_DEVICE_CPU } else { 0 };
        let generator = world.make("sconce_generator_create", &[device as u32 as u64]);
        let path = own_path();
        world.objects = BTreeMap::from([
            ("sconce_event *", world.make("sconce_event_create", &[0])),
            ("sconce_generator *", generator),
            ("sconce_memory_pool *", world.make("sconce_memory_pool_create", &[])),
            ("sconce_kernel *", world.kernel()),
            ("sconce_store *", world.make("sconce_store_create_file", &[path, 1, 1000])),
            ("sconce_comm *", world.make("sconce_comm_init_all", &[leaked([0_i32]), 1, 0])),
            ("sconce_comm_id *", world.comm_id()),
            ("sconce_backward_graph *", world.make("sconce_backward_graph_create", &[])),
        ]);
        let graph = world.objects["sconce_backward_graph *"];
        let device = device as u32 as u64;
        world.leaf = world.make("sconce_backward_add_leaf", &[graph, device, text("name")]);
        let key = [world.objects["sconce_store *"], text("key"), text("value"), 4];
        assert_eq!(world.status("sconce_store_set", &key), 0, "{}", world.message());
        world
    }

    /// Makes tensors that no call has changed.
    pub(crate) fn renew(&mut self) {
        let world = &*self;
        let zeros = |sizes: &[i64], dtype: i32| {
            let arguments = [array(sizes), sizes.len() as u64, options(world.place, dtype)];
            world.make("sconce_tensor_zeros", &arguments)
        };
        let tensors = BTreeMap::from([
            ("matrix", zeros(&[2, 2], SCONCE_DTYPE_F32)),
            ("image", zeros(&[1, 1, 4], SCONCE_DTYPE_F32)),
            ("filter", zeros(&[1, 1, 2], SCONCE_DTYPE_F32)),
            ("bias", zeros(&[1], SCONCE_DTYPE_F32)),
            ("index", zeros(&[2], SCONCE_DTYPE_I64)),
            ("condition", zeros(&[2, 2], SCONCE_DTYPE_BOOL)),
            ("output", zeros(&[2, 2], SCONCE_DTYPE_F32)),
            ("indices", zeros(&[2, 2], SCONCE_DTYPE_I64)),
            ("spectrum", zeros(&[2, 2], SCONCE_DTYPE_C64)),
        ]);
        let former = std::mem::replace(&mut self.tensors, tensors);
        for tensor in former.into_values() {
            self.release(tensor);
        }
    }

    /// A tensor that repeats one number.
    pub(crate) fn repeated(&self, sizes: &[i64]) -> u64 {
        let one = [array(&[1]), 1, options(self.place, SCONCE_DTYPE_F32)];
        let one = self.make("sconce_tensor_zeros", &one);
        let huge = self.make("sconce_tensor_expand", &[one, array(sizes), sizes.len() as u64]);
        self.release(one);
        huge
    }

    pub(crate) fn release(&self, tensor: u64) {
        assert_eq!(self.status("sconce_tensor_release", &[tensor]), 0, "{}", self.message());
    }

    /// Calls a function whose last parameter receives one value. Returns the value.
    pub(crate) fn make(&self, function: &str, arguments: &[u64]) -> u64 {
        let out = leaked(0_u64);
        let status = self.status(function, &[arguments, &[out]].concat());
        assert_eq!(status, 0, "{function}: {}", self.message());
        // SAFETY: the place that was just written.
        unsafe { *(out as *const u64) }
    }

    fn comm_id(&self) -> u64 {
        let id = leaked([0_u64; 64]);
        assert_eq!(self.status("sconce_comm_get_unique_id", &[id]), 0, "{}", self.message());
        id
    }

    pub(crate) fn status(&self, function: &str, arguments: &[u64]) -> i32 {
        let mut all = Arguments::default();
        arguments.iter().for_each(|argument| all.words(&[*argument]));
        // SAFETY: callers pass good arguments.
        unsafe { self.library.function(function).call(&all) as i32 }
    }

    /// The message of the last failure.
    pub(crate) fn message(&self) -> String {
        let function = self.library.function("sconce_last_error_message");
        // SAFETY: it has no arguments.
        let text = unsafe { function.call(&Arguments::default()) };
        // SAFETY: the result is a NUL-terminated text of this thread.
        let text = unsafe { std::ffi::CStr::from_ptr(text as *const _) };
        text.to_string_lossy().into_owned()
    }

    /// A kernel without parameters.
    fn kernel(&self) -> u64 {
        let ptx = c".version 8.0\n.target sm_75\n.visible .entry nothing() {}";
        let name = c"nothing".as_ptr() as u64;
        let function = no_kernel as *const () as u64;
        let status =
            self.status("sconce_sim_register_kernel", &[name, 0, 0, 16, 0, function, 0, 0]);
        assert_eq!(status, 0, "{}", self.message());
        let text = [ptx.as_ptr() as u64, ptx.count_bytes() as u64];
        let module = self.make("sconce_module_load", &text);
        self.make("sconce_kernel_get", &[module, name])
    }

    /// Makes what the next call of a function uses up.
    pub(crate) fn prepare(&self, function: &str) {
        if !captures(function) {
            return;
        }
        self.settle();
        let stream = leaked([0_u64; 2]);
        assert_eq!(self.status("sconce_stream_get_from_pool", &[0, 0, stream]), 0);
        // SAFETY: the place that was just written.
        self.stream.set(unsafe { *(stream as *const u64) });
        self.graph.set(self.make("sconce_graph_create", &[1]));
        if function.contains("capture_begin") {
            return;
        }
        let begun = [self.graph.get(), 0, 0, SCONCE_CAPTURE_RELAXED as u64, leaked([0_u64; 2])];
        assert_eq!(self.status("sconce_graph_capture_begin_own_stream", &begun), 0);
        self.condition.set(self.make("sconce_graph_condition_create", &[self.graph.get()]));
        if function.contains("condition_set") {
            // SAFETY: the place that was just written.
            self.stream.set(unsafe { *(begun[4] as *const u64) });
        }
        if function.contains("debug_dump") {
            assert_eq!(self.status("sconce_graph_capture_end", &[self.graph.get()]), 0);
        }
    }

    /// Ends a capture that calls have begun.
    fn settle(&self) {
        if self.graph.get() != 0 {
            let _ = self.status("sconce_graph_capture_abort", &[self.graph.get()]);
            let _ = self.status("sconce_graph_destroy", &[self.graph.get()]);
        }
    }

    /// The place for the result of a parameter.
    pub(crate) fn result(&self, at: usize) -> u64 {
        self.scratch.as_ptr() as u64 + ((at + 1) * RESULT_BYTES) as u64
    }

    /// Clears the places for the results of a function.
    pub(crate) fn clear_results(&self, of: &Prototype) {
        for (at, _) in of.parameters.iter().enumerate() {
            // SAFETY: part of the writable memory.
            unsafe { std::ptr::write_bytes(self.result(at) as *mut u8, 0, 4096) };
        }
    }

    /// Releases the tensors that a call has returned.
    pub(crate) fn release_results(&self, of: &Prototype) {
        for (at, (kind, name)) in of.parameters.iter().enumerate() {
            if plain(kind) != "sconce_tensor **" || !name.starts_with("out_") {
                continue;
            }
            // SAFETY: part of the memory that calls write results to.
            let handles: [u64; ENTRIES] = unsafe { *(self.result(at) as *const _) };
            for handle in handles.iter().filter(|handle| **handle != 0) {
                let _ = self.status("sconce_tensor_release", &[*handle]);
            }
        }
    }

    /// The argument for a parameter that makes a call an ordinary one; `at` is its place.
    pub(crate) fn good(&self, function: &str, at: usize, kind: &str, name: &str) -> Vec<u64> {
        let plain = plain(kind);
        if name.starts_with("out_") {
            return vec![self.result(at)];
        }
        vec![match plain.as_str() {
            "sconce_stream" if captures(function) => return vec![self.stream.get(), 0],
            "sconce_stream" => return vec![0, 0],
            "bool" | "uint8_t" | "uint16_t" => 0,
            "int32_t" => self.code(function, name) as u32 as u64,
            "uint32_t" if name == "milliseconds" => 1000,
            "uint32_t" => u64::from(name == "threads" || name == "most_threads") * 32,
            "uint64_t" if name == "condition" => self.condition.get(),
            "uint64_t" if name == "address" => self.block,
            "uint64_t" if name == "leaf" => self.leaf,
            "size_t" | "int64_t" | "uint64_t" | "ptrdiff_t" => number(function, name),
            "int32_t *" => array(&[0]),
            "int64_t *" | "size_t *" => entries(function, name),
            "sconce_scalar *" if is_tensor_instead(name) => 0,
            "sconce_scalar *" => scalar(SCONCE_SCALAR_INTEGER, small(name), 0.0),
            "sconce_tensor_options *" => options(self.place, SCONCE_DTYPE_F32),
            "sconce_tensor *" => self.tensor(function, name),
            "sconce_tensor *const *" => leaked([self.tensor(function, name); ENTRIES]),
            "sconce_graph *" => self.graph.get(),
            "sconce_stream *const *" | "void *const *" => 0,
            "sconce_comm_config *" => patience(),
            "char *" if name == "buffer" => self.scratch.as_ptr() as u64,
            "char *" if name == "path" => own_path(),
            "char *" if function == "sconce_store_add" => c"counter".as_ptr() as u64,
            "char *" => text(name),
            "char *const *" => leaked([c"key".as_ptr() as u64; ENTRIES]),
            "void *" => self.address(function, name),
            "sconce_backward_function" => no_gradients as *const () as u64,
            "sconce_sanitizer_range *" => {
                // No address, a byte, and SCONCE_SANITIZER_READ.
                leaked::<[u64; 3 * ENTRIES]>(std::array::from_fn(|at| [0, 1, 1][at % 3]))
            }
            "sconce_backward_edge *" => leaked([0_u64; 4 * ENTRIES]),
            "sconce_backward_root *" => {
                let root = [self.leaf, 0, self.tensors["matrix"]];
                leaked::<[u64; 3 * ENTRIES]>(std::array::from_fn(|at| root[at % 3]))
            }
            "sconce_host_function" | "sconce_scoped_function" => nothing as *const () as u64,
            "sconce_deleter" => 0,
            "sconce_range_function" => no_range as *const () as u64,
            "sconce_sim_kernel_function" => no_kernel as *const () as u64,
            "sconce_dlpack_set_error" => no_error as *const () as u64,
            "sconce_log_callback" => no_message as *const () as u64,
            "sconce_sanitizer_callback" => no_report as *const () as u64,
            "sconce_oom_observer" => no_observer as *const () as u64,
            described if described.ends_with("_desc *") || described.ends_with("_copy *") => {
                leaked(good(described.trim_end_matches(" *")))
            }
            object => *self.objects.get(object).unwrap_or(&(self.scratch.as_ptr() as u64)),
        }]
    }

    fn code(&self, function: &str, name: &str) -> i32 {
        match name {
            "dtype" => SCONCE_DTYPE_F32,
            "device" if function == "sconce_tensor_from_memory" && self.place == Place::Cpu => {
                SCONCE_DEVICE_CPU
            }
            "count" | "ranks" | "world_size" | "num_threads" | "precision" | "code" => 1,
            _ => 0,
        }
    }

    fn tensor(&self, function: &str, name: &str) -> u64 {
        let convolves = function.starts_with("sconce_tensor_convolution");
        let tensor = match name {
            "tensor" if convolves => "image",
            "into" if function.contains("fft") => "spectrum",
            "into_indices" => "indices",
            "into" | "into_values" | "output" | "outputs" => "output",
            "filter" | "bias" | "index" | "condition" => name,
            _ => "matrix",
        };
        self.tensors[tensor]
    }

    /// An address of 64 KiB: of the host where the function reads or writes there.
    fn address(&self, function: &str, name: &str) -> u64 {
        let on_host = match name {
            "values" | "buffer" | "expected" | "desired" => true,
            "data" => function != "sconce_tensor_from_blob" || self.place == Place::Cpu,
            "value" => function.starts_with("sconce_store"),
            "dst" => function.starts_with("sconce_tensor_to_values"),
            "address" => self.place == Place::Cpu,
            "image" => return c".version 8.0\n.target sm_75\n".as_ptr() as u64,
            "user" | "context" | "stream" | "param" | "native" | "consumer_stream"
            | "producer_stream" | "error_ctx" | "prototype" | "event" => return 0,
            _ => false,
        };
        let is_written = ["c", "result", "recv"].contains(&name);
        match on_host {
            true => self.scratch.as_ptr() as u64,
            false => self.block + u64::from(is_written) * (BLOCK_BYTES / 2),
        }
    }

    /// Calls a function.
    ///
    /// # Safety
    /// The arguments are ones that a caller may pass.
    pub(crate) unsafe fn call(&self, function: &str, arguments: &Arguments) -> u64 {
        // SAFETY: the arguments are passed on, which a caller may pass as this function demands.
        unsafe { self.library.function(function).call(arguments) }
    }
}

/// Whether a function needs a graph, or a stream that can be captured.
fn captures(function: &str) -> bool {
    function.starts_with("sconce_graph_") || function == "sconce_sim_begin_capture"
}
