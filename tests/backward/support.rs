//! Graphs and tensors that are given back by themselves, and functions of nodes that are closures.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by panicking")]
#![allow(unsafe_code, reason = "calls the C API")]

use std::ffi::{CString, c_void};
use std::ptr::{null, null_mut};
use std::sync::atomic::{AtomicUsize, Ordering};

use sconce::sconce_status::*;
use sconce::*;
use testkit::last_message;

/// Elements of the tensors that the tests make.
pub(crate) const ELEMENTS: usize = 64;

/// An owned handle.
pub(crate) struct Handle(pub(crate) *mut sconce_tensor);

// SAFETY: a handle is a number.
unsafe impl Send for Handle {}
// SAFETY: a handle is a number.
unsafe impl Sync for Handle {}

impl Drop for Handle {
    fn drop(&mut self) {
        assert_eq!(sconce_tensor_release(self.0), SCONCE_OK);
    }
}

fn options(device: i32, pinned: bool) -> sconce_tensor_options {
    sconce_tensor_options {
        struct_size: size_of::<sconce_tensor_options>() as u32,
        dtype: SCONCE_DTYPE_F32,
        device,
        memory_format: SCONCE_MEMORY_FORMAT_CONTIGUOUS,
        pinned: pinned.into(),
        reserved: [0; 7],
    }
}

fn made(
    make: impl FnOnce(*mut *mut sconce_tensor) -> sconce_status,
) -> Result<Handle, sconce_status> {
    let mut tensor = null_mut();
    match make(&raw mut tensor) {
        SCONCE_OK => Ok(Handle(tensor)),
        status => Err(status),
    }
}

impl Handle {
    /// A tensor whose values are not set.
    pub(crate) fn empty(device: i32, pinned: bool) -> Result<Handle, sconce_status> {
        let (sizes, options) = ([ELEMENTS as i64], options(device, pinned));
        // SAFETY: good places.
        made(|out| unsafe { sconce_tensor_empty(sizes.as_ptr(), 1, &raw const options, out) })
    }

    /// A tensor of equal values, there when the call returns.
    pub(crate) fn of(device: i32, pinned: bool, value: f32) -> Handle {
        let tensor = Handle::empty(device, pinned).unwrap();
        tensor.write(value);
        tensor
    }

    fn data(&self) -> *mut c_void {
        let mut address = null_mut();
        // SAFETY: a good place.
        assert_eq!(unsafe { sconce_tensor_get_data(self.0, &raw mut address) }, SCONCE_OK);
        address
    }

    fn device(&self) -> i32 {
        let mut device = -9;
        // SAFETY: a good place.
        assert_eq!(unsafe { sconce_tensor_get_device(self.0, &raw mut device) }, SCONCE_OK);
        device
    }

    /// Writes at once, with no stream's order.
    pub(crate) fn write(&self, value: f32) {
        let values = [value; ELEMENTS];
        let bytes = size_of_val(&values);
        if self.device() == SCONCE_DEVICE_CPU {
            // SAFETY: memory of the tensor, which is as large.
            unsafe { self.data().cast::<f32>().copy_from(values.as_ptr(), ELEMENTS) };
        } else {
            // The memory was allocated for another stream than the one that writes.
            assert_eq!(sconce_device_synchronize(self.device()), SCONCE_OK, "{}", last_message());
            // SAFETY: as many readable bytes.
            let status =
                unsafe { sconce_sim_memory_write(self.data(), bytes, values.as_ptr().cast()) };
            assert_eq!(status, SCONCE_OK, "{}", last_message());
        }
    }

    /// What the tensor holds now, with no stream's order; all elements are equal. Not in manual mode, unless it is of
    /// the CPU.
    pub(crate) fn read(&self) -> f32 {
        let mut values = [0_f32; ELEMENTS];
        let bytes = size_of_val(&values);
        if self.device() == SCONCE_DEVICE_CPU {
            // SAFETY: memory of the tensor, which is as large.
            unsafe { self.data().cast::<f32>().copy_to(values.as_mut_ptr(), ELEMENTS) };
        } else {
            // SAFETY: as many writable bytes.
            let status =
                unsafe { sconce_sim_memory_read(self.data(), bytes, values.as_mut_ptr().cast()) };
            assert_eq!(status, SCONCE_OK, "{}", last_message());
        }
        assert!(values.iter().all(|value| *value == values[0]), "{values:?}");
        values[0]
    }

    /// Copies another tensor, in the order of the current stream.
    pub(crate) fn copy(&self, source: &Handle) {
        let status = sconce_tensor_copy(self.0, source.0, true.into());
        assert_eq!(status, SCONCE_OK, "{}", last_message());
    }

    pub(crate) fn is_defined(&self) -> bool {
        let mut defined = false;
        // SAFETY: a good place.
        assert_eq!(unsafe { sconce_tensor_is_defined(self.0, &raw mut defined) }, SCONCE_OK);
        defined
    }

    /// Gives the handle away.
    pub(crate) fn into_raw(self) -> *mut sconce_tensor {
        let raw = self.0;
        std::mem::forget(self);
        raw
    }
}

/// A copy of a gradient, made on the current stream.
pub(crate) fn cloned(gradient: *mut sconce_tensor) -> Result<Handle, sconce_status> {
    // SAFETY: a good place.
    made(|out| unsafe { sconce_tensor_clone(gradient, SCONCE_MEMORY_FORMAT_PRESERVE, out) })
}

/// What a function gives: NULL for no gradient.
pub(crate) type Results = Result<Vec<*mut sconce_tensor>, i32>;
type Function = Box<dyn Fn(&[*mut sconce_tensor]) -> Results + Send + Sync>;

/// Contexts that were not given back yet.
pub(crate) static CONTEXTS: AtomicUsize = AtomicUsize::new(0);

unsafe extern "C" fn call(
    context: *mut c_void,
    gradients: *const *mut sconce_tensor,
    count: usize,
    out: *mut *mut sconce_tensor,
    out_count: usize,
) -> i32 {
    // SAFETY: the context of `Graph::node`.
    let function = unsafe { &*context.cast::<Function>() };
    // SAFETY: so many gradients.
    let gradients = unsafe { std::slice::from_raw_parts(gradients, count) };
    match function(gradients) {
        Ok(results) => {
            assert_eq!(results.len(), out_count);
            // SAFETY: so many results, which do not overlap the function's.
            unsafe { out.copy_from_nonoverlapping(results.as_ptr(), out_count) };
            0
        }
        Err(status) => status,
    }
}

unsafe extern "C" fn give_back(context: *mut c_void) {
    // SAFETY: made by `Graph::node`, and given back once.
    drop(unsafe { Box::from_raw(context.cast::<Function>()) });
    CONTEXTS.fetch_sub(1, Ordering::SeqCst);
}

/// An owned graph.
pub(crate) struct Graph(*mut sconce_backward_graph);

// SAFETY: a handle is a number.
unsafe impl Send for Graph {}
// SAFETY: a handle is a number.
unsafe impl Sync for Graph {}

impl Drop for Graph {
    fn drop(&mut self) {
        assert_eq!(sconce_backward_graph_destroy(self.0), SCONCE_OK);
    }
}

/// An edge to the first input of a node.
pub(crate) fn to(node: u64) -> sconce_backward_edge {
    sconce_backward_edge { node, input: 0 }
}

impl Graph {
    pub(crate) fn new() -> Graph {
        let mut graph = null_mut();
        // SAFETY: a good place.
        assert_eq!(unsafe { sconce_backward_graph_create(&raw mut graph) }, SCONCE_OK);
        Graph(graph)
    }

    pub(crate) fn raw(&self) -> *mut sconce_backward_graph {
        self.0
    }

    pub(crate) fn leaf(&self, device: i32) -> u64 {
        let mut node = 0;
        // SAFETY: a text and a good place.
        let status =
            unsafe { sconce_backward_add_leaf(self.0, device, c"leaf".as_ptr(), &raw mut node) };
        assert_eq!(status, SCONCE_OK, "{}", last_message());
        node
    }

    /// Records an operation whose function is a closure.
    pub(crate) fn node(
        &self,
        device: i32,
        name: &str,
        inputs: usize,
        edges: &[sconce_backward_edge],
        function: impl Fn(&[*mut sconce_tensor]) -> Results + Send + Sync + 'static,
    ) -> u64 {
        let name = CString::new(name).unwrap();
        let function: Function = Box::new(function);
        let context = Box::into_raw(Box::new(function)).cast();
        let (mut node, graph) = (0, self.0);
        let (first, count) = (if edges.is_empty() { null() } else { edges.as_ptr() }, edges.len());
        // SAFETY: good places; the function takes its context.
        let status = unsafe {
            sconce_backward_add_node(
                graph,
                device,
                name.as_ptr(),
                inputs,
                first,
                count,
                Some(call),
                Some(give_back),
                context,
                &raw mut node,
            )
        };
        assert_eq!(status, SCONCE_OK, "{}", last_message());
        CONTEXTS.fetch_add(1, Ordering::SeqCst);
        node
    }

    /// An operation whose gradient is a copy of the one that it gets.
    pub(crate) fn copying(&self, device: i32, name: &str, edge: sconce_backward_edge) -> u64 {
        self.node(device, name, 1, &[edge], |gradients| {
            cloned(gradients[0]).map(|own| vec![own.into_raw()]).map_err(|status| status as i32)
        })
    }

    pub(crate) fn gradient(&self, leaf: u64) -> Handle {
        // SAFETY: a good place.
        made(|out| unsafe { sconce_backward_get_gradient(self.0, leaf, out) }).unwrap()
    }

    pub(crate) fn run(
        &self,
        roots: &[(u64, &Handle)],
        keep: bool,
    ) -> Result<(), (sconce_status, String)> {
        let root = |(node, gradient): &(u64, &Handle)| sconce_backward_root {
            node: *node,
            input: 0,
            gradient: gradient.0,
        };
        let roots: Vec<_> = roots.iter().map(root).collect();
        // SAFETY: so many roots.
        match unsafe { sconce_backward_run(self.0, roots.as_ptr(), roots.len(), keep.into()) } {
            SCONCE_OK => Ok(()),
            status => Err((status, last_message())),
        }
    }
}
