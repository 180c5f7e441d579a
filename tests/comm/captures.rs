//! Calls in CUDA graphs.
#![allow(unsafe_code, reason = "calls the C API")]
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use std::ptr::null_mut;

use sconce::*;

use crate::support::*;

/// Captures a call on a stream of each rank, instantiated.
fn captured(comms: &[Comm], memory: &[usize], is_async: bool) -> Vec<(i32, *mut sconce_graph)> {
    let capture = |(rank, comm): (usize, &Comm)| {
        let on = pool_stream(rank as i32);
        let mut graph = null_mut();
        // SAFETY: a writable place.
        ok(unsafe { sconce_graph_create(CBool::FALSE, &mut graph) });
        ok(sconce_graph_capture_begin(graph, on, null_mut(), SCONCE_CAPTURE_GLOBAL));
        if is_async {
            let work = all_reduce_async(*comm, memory[rank], 1, on);
            ok(sconce_comm_work_wait(work, on));
            ok(sconce_comm_work_destroy(work));
        } else {
            ok(all_reduce(*comm, memory[rank], 1, on));
        }
        ok(sconce_graph_capture_end(graph));
        (rank as i32, graph)
    };
    comms.iter().enumerate().map(capture).collect()
}

fn launches_add_up(is_async: bool, config: &sconce_comm_config) {
    devices(2);
    let comms = init_all(2, config);
    let memory = [memory_of(0, &floats(&[1.0])), memory_of(1, &floats(&[2.0]))];
    let graphs = captured(&comms, &memory, is_async);
    for (device, address) in memory.iter().enumerate() {
        synchronize(device as i32);
        assert_eq!(peek(*address, 4), floats(&[1.0 + device as f32]), "nothing has run");
    }
    for round in 1..=4 {
        for graph in &graphs {
            ok(sconce_graph_replay(graph.1, stream(graph.0)));
        }
        synchronize(0);
        synchronize(1);
        let expected = floats(&[3.0 * 2_f32.powi(round - 1)]);
        assert_eq!(peek(memory[0], 4), expected, "round {round}");
        assert_eq!(peek(memory[1], 4), expected, "round {round}");
    }
    // Calls outside of the graphs and launches come one after the other.
    ok(grouped(|| {
        for (rank, comm) in comms.iter().enumerate() {
            ok(all_reduce(*comm, memory[rank], 1, stream(rank as i32)));
        }
    }));
    synchronize(0);
    assert_eq!(peek(memory[0], 4), floats(&[48.0]));
    for graph in graphs {
        ok(sconce_graph_destroy(graph.1));
    }
    for comm in &comms {
        ok(async_error(*comm));
    }
    destroy_all(&comms);
}

#[test]
fn a_call_in_a_graph_runs_at_each_launch() {
    launches_add_up(false, &unwatched());
}

#[test]
fn an_asynchronous_call_in_a_graph_runs_at_each_launch() {
    launches_add_up(true, &unwatched());
}

#[test]
fn the_watchdog_does_not_spoil_captures() {
    launches_add_up(false, &config());
}
