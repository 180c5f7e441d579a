//! What the calls work on: objects of the calling thread, made before the capture begins.

use std::ffi::{CStr, c_void};
use std::ptr::{null, null_mut};

use sconce::*;
use testkit::simulated::launch_desc;
use testkit::statuses::ok;

pub(crate) use crate::program::*;

/// Bytes of a block.
pub(crate) const BYTES: usize = 1 << 16;

/// The streams of the calling thread on device 0. Everything else is made when a call asks for it, and lives as long as
/// the process.
pub(crate) struct World {
    /// Current on the thread.
    pub(crate) stream: sconce_stream,
    pub(crate) other: sconce_stream,
}

/// Memory of the process.
pub(crate) fn leaked<T>(value: T) -> *mut T {
    Box::into_raw(Box::new(value))
}

/// A place for a result; zeros at first.
pub(crate) fn out<T>() -> *mut T {
    // SAFETY: results are numbers, pointers and structs of them, for which zeros are a value.
    leaked(unsafe { std::mem::zeroed() })
}

/// A place for a struct that tells its size.
pub(crate) fn sized<T>() -> *mut T {
    let place = out::<T>();
    // SAFETY: the struct begins with its size.
    unsafe { place.cast::<u32>().write(size_of::<T>() as u32) };
    place
}

/// Memory of the host that is not page-locked.
pub(crate) fn host(bytes: usize) -> *mut c_void {
    Box::leak(vec![0_u8; bytes].into_boxed_slice()).as_mut_ptr().cast()
}

/// A result that a call writes.
pub(crate) fn made<T>(make: impl FnOnce(*mut T) -> sconce_status) -> T {
    let place = out::<T>();
    ok(make(place));
    // SAFETY: the place is this function's, and the call has written it.
    *unsafe { Box::from_raw(place) }
}

pub(crate) fn stream_of(device: i32) -> sconce_stream {
    // SAFETY: a writable place.
    made(|out| unsafe { sconce_stream_get_from_pool(device, 0, out) })
}

/// Device memory of a device, with zeros that work of any stream may use.
pub(crate) fn block_on(device: i32) -> *mut c_void {
    let stream = stream_of(device);
    // SAFETY: a writable place.
    let block = made(|out| unsafe { sconce_memory_alloc_on(BYTES, stream, out) });
    // SAFETY: memory of a device.
    ok(unsafe { sconce_memory_set_on(block, 0, BYTES, stream) });
    ok(sconce_stream_synchronize(stream));
    block
}

pub(crate) fn block() -> *mut c_void {
    block_on(0)
}

pub(crate) fn pinned() -> *mut c_void {
    // SAFETY: a writable place.
    made(|out| unsafe { sconce_host_memory_alloc(BYTES, out) })
}

pub(crate) fn pool() -> *mut sconce_memory_pool {
    // SAFETY: a writable place.
    made(|out| unsafe { sconce_memory_pool_create(out) })
}

const PAGES: i32 = sconce_memory_policy::SCONCE_MEMORY_POLICY_PAGES as i32;

/// A pool of pages with a block, on device 0.
pub(crate) fn pages() -> (*mut sconce_memory_pool, *mut c_void) {
    // SAFETY: a writable place.
    let pool = made(|out| unsafe { sconce_memory_pool_create_with_policy(PAGES, out) });
    ok(sconce_memory_pool_begin(pool, 0));
    let block = block();
    ok(sconce_memory_pool_end(pool, 0));
    (pool, block)
}

pub(crate) fn asleep() -> (*mut sconce_memory_pool, *mut c_void) {
    let (pool, block) = pages();
    // SAFETY: a complete struct.
    ok(unsafe { sconce_memory_pool_sleep(pool, 0, sleep_desc()) });
    (pool, block)
}

pub(crate) fn sleep_desc() -> *const sconce_sleep_desc {
    let mode = sconce_sleep_mode::SCONCE_SLEEP_HOST_PINNED as i32;
    leaked(sconce_sleep_desc {
        struct_size: size_of::<sconce_sleep_desc>() as u32,
        mode,
        path: null(),
    })
}

/// A pool that is current for allocations of the thread on device 0.
pub(crate) fn begun_pool() -> *mut sconce_memory_pool {
    let pool = pool();
    ok(sconce_memory_pool_begin(pool, 0));
    pool
}

/// A freed block of a pool, so that there is something to give back.
pub(crate) fn pool_with_cache() -> *mut sconce_memory_pool {
    let pool = begun_pool();
    ok(sconce_memory_free(block()));
    ok(sconce_memory_pool_end(pool, 0));
    pool
}

/// Caches that hold memory which nothing uses.
pub(crate) fn with_cache<T>(value: T) -> T {
    // SAFETY: a writable place.
    let large: *mut c_void = made(|out| unsafe { sconce_memory_alloc(64 << 20, out) });
    ok(sconce_memory_free(large));
    ok(sconce_host_memory_free(pinned()));
    value
}

pub(crate) fn generator() -> *mut sconce_generator {
    // SAFETY: a writable place.
    made(|out| unsafe { sconce_generator_create(0, out) })
}

pub(crate) fn cpu_generator() -> *mut sconce_generator {
    // SAFETY: a writable place.
    made(|out| unsafe { sconce_generator_create(SCONCE_DEVICE_CPU, out) })
}

/// A generator that a graph has drawn from, which is gone.
pub(crate) fn used_generator() -> *mut sconce_generator {
    let generator = generator();
    let (graph, stream) = (graph_with(generator, false), stream_of(0));
    ok(sconce_graph_replay(graph, stream));
    ok(sconce_stream_synchronize(stream));
    ok(sconce_graph_destroy(graph));
    generator
}

pub(crate) fn empty_graph(keep: bool) -> *mut sconce_graph {
    // SAFETY: a writable place.
    made(|out| unsafe { sconce_graph_create(keep.into(), out) })
}

/// A graph that allocates, sets memory, and fills it with random numbers.
pub(crate) fn graph_with(generator: *mut sconce_generator, keep: bool) -> *mut sconce_graph {
    let graph = capturing_with(generator, keep);
    ok(sconce_graph_capture_end(graph));
    graph
}

fn capturing_with(generator: *mut sconce_generator, keep: bool) -> *mut sconce_graph {
    let (graph, stream) = (empty_graph(keep), stream_of(0));
    ok(sconce_graph_capture_begin(graph, stream, null_mut(), SCONCE_CAPTURE_THREAD_LOCAL));
    // SAFETY: a writable place.
    let inside: *mut c_void = made(|out| unsafe { sconce_memory_alloc_on(BYTES, stream, out) });
    // SAFETY: memory of a device.
    ok(unsafe { sconce_memory_set_on(inside, 1, BYTES, stream) });
    ok(sconce_random_uniform_on(inside, 100, SCONCE_DTYPE_F32, 0.0, 1.0, generator, stream));
    graph
}

pub(crate) fn graph(keep: bool) -> *mut sconce_graph {
    let graph = graph_with(generator(), keep);
    if keep {
        ok(sconce_graph_instantiate(graph));
    }
    graph
}

/// A graph that the thread captures, on a stream of its own.
pub(crate) fn capturing() -> *mut sconce_graph {
    capturing_with(generator(), false)
}

/// A condition of a graph that the thread captures, the graph, and its stream.
pub(crate) fn condition() -> (*mut sconce_graph, u64, sconce_stream) {
    let (graph, stream) = (empty_graph(false), stream_of(0));
    ok(sconce_graph_capture_begin(graph, stream, null_mut(), SCONCE_CAPTURE_THREAD_LOCAL));
    // SAFETY: a writable place.
    let condition = made(|out| unsafe { sconce_graph_condition_create(graph, out) });
    (graph, condition, stream)
}

/// A graph in the first of two bodies.
pub(crate) fn in_body() -> *mut sconce_graph {
    let (graph, condition, stream) = condition();
    let value = zeros_for_capture();
    // SAFETY: memory of a device.
    ok(unsafe { sconce_graph_condition_set(graph, condition, value, 4, stream) });
    ok(sconce_graph_conditional_begin(graph, condition, SCONCE_GRAPH_IF, 2, stream_of(0)));
    graph
}

/// Memory that is not waited for.
pub(crate) fn zeros_for_capture() -> *mut c_void {
    // SAFETY: a writable place.
    made(|out| unsafe { sconce_memory_alloc_on(BYTES, stream_of(0), out) })
}

pub(crate) fn event() -> *mut sconce_event {
    // SAFETY: a writable place.
    made(|out| unsafe { sconce_event_create(0, out) })
}

/// An event with a record that is done.
pub(crate) fn recorded(flags: u32) -> *mut sconce_event {
    // SAFETY: a writable place.
    let event = made(|out| unsafe { sconce_event_create(flags, out) });
    ok(sconce_event_record(event, stream_of(0)));
    ok(sconce_event_synchronize(event));
    event
}

/// An event whose record is not done for a while.
pub(crate) fn pending_event() -> *mut sconce_event {
    let (event, stream) = (event(), stream_of(0));
    ok(sconce_stream_sleep(stream, 3_000_000));
    ok(sconce_event_record(event, stream));
    event
}

/// Text without parameters.
pub(crate) const MODULE: &CStr =
    c".version 8.0\n.target sm_75\n.address_size 64\n.visible .entry nothing()\n{ ret; }\n";

pub(crate) fn module() -> *mut sconce_module {
    let (name, function) = (c"nothing".as_ptr(), NO_KERNEL);
    // SAFETY: texts, and a function that does nothing.
    ok(unsafe { sconce_sim_register_kernel(name, null(), 0, 16, 0, function, null_mut(), None) });
    let (text, bytes) = (MODULE.as_ptr().cast(), MODULE.count_bytes());
    // SAFETY: readable bytes and a writable place.
    made(|out| unsafe { sconce_module_load(text, bytes, out) })
}

pub(crate) fn kernel() -> *mut sconce_kernel {
    let module = module();
    // SAFETY: a text and a writable place.
    made(|out| unsafe { sconce_kernel_get(module, c"nothing".as_ptr(), out) })
}

pub(crate) fn launch() -> *const sconce_launch_desc {
    leaked(launch_desc(1, 1))
}

pub(crate) fn options(device: i32) -> *const sconce_tensor_options {
    leaked(sconce_tensor_options {
        struct_size: size_of::<sconce_tensor_options>() as u32,
        dtype: SCONCE_DTYPE_F32,
        device,
        memory_format: 0,
        pinned: CBool::FALSE,
        reserved: [0; 7],
    })
}

fn ones(device: i32, columns: i64) -> *mut sconce_tensor {
    let sizes = leaked([4, columns]).cast::<i64>();
    // SAFETY: sizes, options and a writable place.
    made(|out| unsafe { sconce_tensor_ones(sizes, 2, options(device), out) })
}

pub(crate) fn tensor_on(device: i32) -> *mut sconce_tensor {
    ones(device, 4)
}

/// So large that a copy to another device is worth a stream of its own.
pub(crate) fn large_on(device: i32) -> *mut sconce_tensor {
    ones(device, 1 << 17)
}

/// A large tensor on each device.
pub(crate) fn tensors(devices: &[i32]) -> *const *mut sconce_tensor {
    array(devices.iter().map(|device| large_on(*device)).collect())
}

/// An array.
pub(crate) fn array<T>(values: Vec<T>) -> *mut T {
    Box::leak(values.into_boxed_slice()).as_mut_ptr()
}

/// Places for a few handles.
pub(crate) fn places<T>() -> *mut *mut T {
    array(vec![null_mut(); 8])
}

pub(crate) fn comm_config() -> *const sconce_comm_config {
    leaked(sconce_comm_config {
        struct_size: size_of::<sconce_comm_config>() as u32,
        min_ctas: 0,
        max_ctas: 0,
        cga_cluster_size: 0,
        timeout_ms: 20_000,
        split_share: CBool::FALSE,
        high_priority: CBool::FALSE,
        reserved: [0; 6],
    })
}

/// A communicator with one rank, on device 0.
pub(crate) fn comm() -> *mut sconce_comm {
    // SAFETY: a complete struct and a writable place.
    made(|out| unsafe { sconce_comm_init_all(null(), 1, comm_config(), out) })
}

/// A collective operation that is done.
pub(crate) fn comm_work() -> *mut sconce_comm_work {
    let (comm, stream) = (comm(), stream_of(0));
    // SAFETY: a writable place.
    let work = made(|out| unsafe { sconce_comm_barrier(comm, stream, out) });
    ok(sconce_stream_synchronize(stream));
    work
}

pub(crate) fn store() -> *mut sconce_store {
    // SAFETY: a text and a writable place.
    made(|out| unsafe { sconce_store_create_tcp_server(c"127.0.0.1".as_ptr(), 0, 10_000, out) })
}

pub(crate) fn port(store: *mut sconce_store) -> u16 {
    // SAFETY: a writable place.
    made(|out| unsafe { sconce_store_get_port(store, out) })
}

/// A store in which a key has a value.
pub(crate) fn store_with_key() -> *mut sconce_store {
    let store = store();
    // SAFETY: a text, and its bytes.
    ok(unsafe { sconce_store_set(store, c"key".as_ptr(), c"value".as_ptr().cast(), 5) });
    store
}

pub(crate) fn backward_graph() -> *mut sconce_backward_graph {
    // SAFETY: a writable place.
    made(|out| unsafe { sconce_backward_graph_create(out) })
}

/// A graph with a leaf.
pub(crate) fn leaf() -> (*mut sconce_backward_graph, u64) {
    let graph = backward_graph();
    // SAFETY: a writable place.
    let leaf = made(|out| unsafe { sconce_backward_add_leaf(graph, 0, c"leaf".as_ptr(), out) });
    (graph, leaf)
}

/// The root of a pass that gives a leaf its gradient.
pub(crate) fn root(node: u64) -> *const sconce_backward_root {
    leaked(sconce_backward_root { node, input: 0, gradient: tensor_on(0) })
}

pub(crate) fn snapshot() -> *mut sconce_memory_snapshot {
    // SAFETY: a writable place.
    made(|out| unsafe { sconce_memory_snapshot_create(out) })
}
