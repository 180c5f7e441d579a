//! Nodes and passes while a stream is current, on simulated devices that do nothing unless they are stepped.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by panicking")]
#![allow(unsafe_code, reason = "calls the C API")]

use std::ffi::c_void;

use sconce::sconce_status::*;
use sconce::*;
use testkit::last_message;
use testkit::places::{alone, own_stream, pending, pooled, step_all, under};

use crate::patterns::wait;
use crate::support::{Graph, Handle, to};

/// What a function of a node sees.
type Seen = (i32, i64);

fn current() -> Seen {
    let (mut device, mut stream) = (-1, sconce_stream { id: -1, device: -1, reserved: 0 });
    // SAFETY: a good place.
    assert_eq!(unsafe { sconce_device_get_current(&raw mut device) }, SCONCE_OK);
    // SAFETY: a good place.
    assert_eq!(unsafe { sconce_stream_get_current(device, &raw mut stream) }, SCONCE_OK);
    (device, stream.id)
}

/// Notes what is current, and passes the gradient on.
unsafe extern "C" fn look(
    context: *mut c_void,
    gradients: *const *mut sconce_tensor,
    _count: usize,
    out: *mut *mut sconce_tensor,
    _out_count: usize,
) -> i32 {
    // SAFETY: the context is the test's place, which outlives the pass.
    unsafe { context.cast::<Seen>().write(current()) };
    // SAFETY: the node has one gradient.
    let gradient = unsafe { gradients.read() };
    // SAFETY: a good place.
    unsafe { sconce_tensor_clone(gradient, SCONCE_MEMORY_FORMAT_PRESERVE, out) as i32 }
}

fn leaf_on(stream: sconce_stream, graph: &Graph, device: i32) -> Result<u64, sconce_status> {
    let mut node = 0;
    // SAFETY: a text and a good place.
    match under(stream, || unsafe {
        sconce_backward_add_leaf(graph.raw(), device, c"x".as_ptr(), &raw mut node)
    }) {
        SCONCE_OK => Ok(node),
        status => Err(status),
    }
}

fn node_on(
    stream: sconce_stream,
    graph: &Graph,
    device: i32,
    edge: sconce_backward_edge,
    seen: &mut Seen,
) -> Result<u64, sconce_status> {
    let (mut node, context) = (0, std::ptr::from_mut(seen).cast());
    let (name, edge, graph) = (c"look".as_ptr(), &raw const edge, graph.raw());
    let look: sconce_backward_function = Some(look);
    // SAFETY: good places; the function takes its context.
    match under(stream, || unsafe {
        sconce_backward_add_node(
            graph,
            device,
            name,
            1,
            edge,
            1,
            look,
            None,
            context,
            &raw mut node,
        )
    }) {
        SCONCE_OK => Ok(node),
        status => Err(status),
    }
}

fn run_on(stream: sconce_stream, graph: &Graph, node: u64, gradient: &Handle) -> sconce_status {
    let root = sconce_backward_root { node, input: 0, gradient: gradient.0 };
    // SAFETY: one root.
    under(stream, || unsafe { sconce_backward_run(graph.raw(), &raw const root, 1, true.into()) })
}

/// The streams of forward operations, of the gradient and of the caller are ordered, and the thread's own does nothing.
#[test]
fn a_pass_is_ordered_with_the_streams_that_its_calls_had() {
    let _alone = alone();
    for device in [0, 1] {
        let mine = [own_stream(0), own_stream(1)];
        assert_eq!(sconce_device_set_current(1 - device), SCONCE_OK);
        let before = current();
        let [forward, leaves, caller] = [0; 3].map(|_| pooled(device));
        let (graph, mut seen) = (Graph::new(), (-1, -1));
        // Without a device, nodes are on the stream's.
        let leaf = leaf_on(leaves, &graph, -1).unwrap();
        let node = node_on(forward, &graph, -1, to(leaf), &mut seen).unwrap();
        let (gradient, value) = (
            Handle::of(device, false, 0.0),
            sconce_scalar { kind: SCONCE_SCALAR_REAL, real: 3.0, ..Default::default() },
        );
        assert_eq!(sconce_sim_set_manual(true.into()), SCONCE_OK);
        for _ in 0..2 {
            // SAFETY: a number.
            let filled =
                under(caller, || unsafe { sconce_tensor_fill(gradient.0, &raw const value) });
            assert_eq!(filled, SCONCE_OK);
            assert_eq!(run_on(caller, &graph, node, &gradient), SCONCE_OK, "{}", last_message());
        }
        assert_eq!(seen, (device, forward.id));
        // The operation waits for the gradient, and the caller for the leaf.
        assert!(pending(forward) > 0 && pending(leaves) > 0);
        for stream in mine {
            assert_eq!(pending(stream), 0, "work on a stream that no call named");
        }
        step_all(forward);
        assert!(pending(forward) > 0, "the operation does not wait for the gradient");
        wait(mine[device as usize], caller);
        for _ in 0..4 {
            for stream in [caller, forward, leaves] {
                step_all(stream);
            }
        }
        step_all(mine[device as usize]);
        assert_eq!([caller, forward, leaves, mine[device as usize]].map(pending), [0; 4]);
        assert_eq!(sconce_sim_set_manual(false.into()), SCONCE_OK);
        assert_eq!(sconce_device_synchronize(device), SCONCE_OK);
        assert_eq!(graph.gradient(leaf).read(), 6.0);
        assert_eq!(current(), before);
    }
}

#[test]
fn functions_of_the_cpu_see_the_current_stream_and_may_use_other_devices() {
    let _alone = alone();
    own_stream(0);
    let before = current();
    let (graph, mut seen, named) = (Graph::new(), (-1, -1), pooled(1));
    let leaf = graph.leaf(SCONCE_DEVICE_CPU);
    let node = node_on(named, &graph, SCONCE_DEVICE_CPU, to(leaf), &mut seen).unwrap();
    let other = graph.node(SCONCE_DEVICE_CPU, "elsewhere", 1, &[to(node)], |gradients| {
        drop(Handle::of(0, false, 1.0));
        drop(crate::support::cloned(Handle::of(0, false, 1.0).0).unwrap());
        assert_eq!(sconce_tensor_retain(gradients[0]), SCONCE_OK);
        Ok(vec![gradients[0]])
    });
    let gradient = Handle::of(SCONCE_DEVICE_CPU, false, 2.0);
    assert_eq!(run_on(named, &graph, other, &gradient), SCONCE_OK, "{}", last_message());
    assert_eq!(seen, (1, named.id));
    assert_eq!(current(), before);
    assert_eq!(graph.gradient(leaf).read(), 2.0);
}
