//! Every driver call of captures, instantiations, replays and updates made to fail, each at each of its turns: the
//! capture ends, nothing is lost, and the next one works.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use sconce::sconce_status::*;
use sconce::*;
use testkit::fork::forked_result;
use testkit::places::calls;
use testkit::simulated::driver_calls;

use crate::program::Setup;
use crate::support::*;

/// A failure of the driver that means no more than itself, and having no memory.
const CODES: [i32; 2] = [999, 2];

/// Later calls of a kind in the program are like earlier ones.
const MOST_TURNS: u64 = 16;

/// Calls that the program does not make. Every other call of the driver must be made, and is failed.
const ELSEWHERE: &[&str] = &[
    // Devices, contexts and the driver itself, which are looked at once or by calls of their own.
    "device_count",
    "device_processes",
    "can_access_peer",
    "enable_peer_access",
    "bind_device",
    "unbind_device",
    "current_device",
    "memory_info",
    "compile_source",
    // Streams: properties, waits and words in memory that are no part of a graph.
    "stream_priority_range",
    "stream_check",
    "stream_id",
    "stream_priority",
    "stream_write_word",
    // Events are recycled; those of a capture are not waited for.
    "event_destroy",
    "event_synchronize",
    "event_elapsed_ms",
    // A copy of rows inside a device is a kernel of this library; peers need a second device.
    "copy_2d_async",
    "copy_peer_async",
    // Pinned memory that goes back or is the program's, and memory made of pages.
    "host_free",
    "host_unregister",
    "virtual_granularity",
    "virtual_reserve",
    "virtual_release",
    "physical_create",
    "physical_release",
    "physical_retain",
    "virtual_map",
    "virtual_unmap",
    "virtual_set_access",
    "physical_export",
    "physical_import",
    // Code that is unloaded, and what is asked about kernels.
    "module_unload",
    "module_release",
    "kernel_allow_shared",
    "kernel_occupancy",
    "kernel_best_block",
    // Other processes.
    "ipc_memory_export",
    "ipc_memory_open",
    "ipc_memory_close",
    "ipc_event_export",
    "ipc_event_open",
    // The CUDA libraries, whose tests have faults of their own.
    "blas_create",
    "blas_set_stream",
    "blas_set_workspace",
    "blas_set_math_mode",
    "blas_is_set",
    "blas_gemm",
    "dnn_create",
    "dnn_version",
    "dnn_set_stream",
    "dnn_is_set",
    "dnn_engines",
    "dnn_plan",
    "dnn_plan_destroy",
    "dnn_execute",
    "fft_plan",
    "fft_most_plans",
    "fft_execute",
    "comm_version",
    "comm_unique_id",
    "comm_create",
    "comm_group_start",
    "comm_group_end",
    "comm_queue",
    "comm_split",
    "comm_finalize",
    "comm_abort",
];

/// Calls whose failure need not reach the caller, since the work is done without their answer.
const UNREPORTED: &[&str] = &[
    // Pinned memory and modules of which this is not known count as captured.
    "stream_is_capturing",
    // A stream of which this is not known counts as busy: memory that a launch may use goes back later.
    "stream_query",
    // Freed memory of which it is not known whether it is in use is asked about again.
    "event_query",
    // Without memory, what is cached goes back and the request is repeated.
    "memory_alloc",
    "host_alloc",
    // Memory is pinned through a device that has a context; idle devices need not be waited for.
    "context_is_active",
];

/// Calls that are made for the caller and on the way, too: some failures are reported.
const PARTLY_REPORTED: &[&str] = &[
    // A mode that is not restored is logged.
    "exchange_capture_mode",
    // Pinned memory waits for events when it is freed; if that fails, it waits for the device.
    "event_create",
    "event_record",
    "current_context",
];

fn run(setup: &Setup) -> Result<Vec<Vec<u8>>, String> {
    setup.run().map_err(|failure| failure.message)?;
    Ok(setup.results())
}

/// How often the program makes each call of the driver, on a device where nothing was done before, or where all was
/// done once.
fn counts(warm: bool) -> Vec<(String, u64)> {
    let text = forked_result(|| {
        let names = driver_calls();
        let setup = Setup::new();
        if warm {
            setup.run().map_err(|failure| failure.message)?;
        }
        ok(sconce_sim_reset_call_counts());
        setup.run().map_err(|failure| failure.message)?;
        let count = |call: &String| format!("{call} {}", calls(call));
        Err(names.iter().map(count).collect::<Vec<_>>().join("\n"))
    })
    .unwrap_err();
    let pairs = text.lines().filter_map(|line| line.split_once(' '));
    pairs
        .map(|(call, count)| (call.to_owned(), count.parse().unwrap_or_else(|_| panic!("{text}"))))
        .collect()
}

/// The words of a scenario in which the fault struck and every call succeeded.
const QUIET: &str = "nobody was told";

/// The program with one fault, in a process of its own; says what went wrong.
fn scenario(warm: bool, call: &str, nth: u64, code: i32) -> Result<(), String> {
    forked_result(|| {
        let setup = Setup::new();
        let reference = if warm { Some(run(&setup)?) } else { None };
        ok(sconce_memory_empty_cache());
        let before = free_bytes();
        ok(sconce_sim_reset_call_counts());
        inject(call, nth, code);
        let result = setup.run();
        let struck = calls(call) >= nth;
        ok(sconce_sim_clear_faults());
        let values = setup.results();
        if !struck {
            return Err("the fault did not strike".to_owned());
        }
        if setup.is_capturing() {
            return Err("a stream stays captured".to_owned());
        }
        ok(sconce_device_synchronize(0));
        ok(sconce_memory_empty_cache());
        if warm && free_bytes() != before {
            return Err(format!("{} bytes are lost", before.abs_diff(free_bytes())));
        }
        let again = run(&setup).map_err(|message| format!("afterwards: {message}"))?;
        let expected = reference.map_or_else(|| run(&setup), Ok)?;
        if again != expected {
            return Err("afterwards: it computed other values".to_owned());
        }
        match result {
            Ok(()) if values != again => {
                let differs =
                    |(a, b): (&Vec<u8>, &Vec<u8>)| a.iter().zip(b).position(|(a, b)| a != b);
                let places: Vec<_> = values.iter().zip(&again).map(differs).collect();
                Err(format!("it succeeded with other values, at {places:?}"))
            }
            Ok(()) => Err(QUIET.to_owned()),
            Err(failure) => {
                let expected = [SCONCE_ERROR_OUT_OF_MEMORY, SCONCE_ERROR_DRIVER];
                if !expected.contains(&failure.status) || failure.message.len() < 12 {
                    return Err(format!("{:?}: {}", failure.status, failure.message));
                }
                Ok(())
            }
        }
    })
}

fn every_fault(warm: bool) {
    let (mut scenarios, mut wrong) = (0, Vec::new());
    for (call, count) in counts(warm) {
        let mut quiet = Vec::new();
        for nth in 1..=count.min(MOST_TURNS) {
            let code = CODES[(nth % 2) as usize];
            scenarios += 1;
            match scenario(warm, &call, nth, code) {
                Ok(()) => {}
                Err(text) if text == QUIET => quiet.push(nth),
                Err(text) => wrong.push(format!("{call} {nth} of {count}, code {code}: {text}")),
            }
        }
        let turns = count.min(MOST_TURNS) as usize;
        let may_be_quiet = match call.as_str() {
            call if UNREPORTED.contains(&call) => turns,
            call if PARTLY_REPORTED.contains(&call) => turns.saturating_sub(1),
            _ => 0,
        };
        if quiet.len() > may_be_quiet {
            wrong.push(format!("{call}: failures {quiet:?} of {count} were not reported"));
        }
    }
    println!("{scenarios} faults");
    assert!(wrong.is_empty(), "{} of {scenarios}:\n{}", wrong.len(), wrong.join("\n"));
}

const ENVIRONMENT: [(&str, &str); 3] =
    [("SCONCE_BACKEND", "sim"), ("SCONCE_LOG", "off"), ("RUST_BACKTRACE", "0")];

#[test]
fn every_driver_call_of_graphs_may_fail() {
    testkit::in_child("every_driver_call_of_graphs_may_fail", &ENVIRONMENT, || every_fault(true));
}

#[test]
fn every_driver_call_of_the_first_graphs_may_fail() {
    let test = "every_driver_call_of_the_first_graphs_may_fail";
    testkit::in_child(test, &ENVIRONMENT, || every_fault(false));
}

#[test]
fn no_driver_call_is_forgotten() {
    testkit::in_child("no_driver_call_is_forgotten", &ENVIRONMENT, || {
        let (cold, warm) = (counts(false), counts(true));
        let mut wrong = Vec::new();
        for ((call, first), (_, later)) in cold.iter().zip(&warm) {
            match (first + later > 0, ELSEWHERE.contains(&call.as_str())) {
                (true, true) => wrong.push(format!("{call} is called: take it off the list")),
                (false, false) => wrong.push(format!("{call} is never called by the program")),
                _ => {}
            }
        }
        for call in ELSEWHERE.iter().chain(UNREPORTED).chain(PARTLY_REPORTED) {
            if !cold.iter().any(|(known, _)| known == call) {
                wrong.push(format!("{call}: there is no such call"));
            }
        }
        assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    });
}

#[test]
fn a_node_that_fails_ends_the_device_at_its_launch() {
    let stream = current_stream();
    let output = allocate(64);
    let graph = graph(false);
    ok(begin(graph, stream));
    ok(set(output, 1, 64));
    ok(sconce_graph_capture_end(graph));
    let name = std::ffi::CString::new("fill_async").unwrap_or_default();
    #[allow(unsafe_code, reason = "calls the C API")]
    // SAFETY: a NUL-terminated name.
    ok(unsafe { sconce_sim_inject_async_fault(name.as_ptr(), 2, 700) });
    ok(sconce_graph_replay(graph, stream));
    ok(sconce_stream_synchronize(stream));
    ok(sconce_graph_replay(graph, stream));
    assert_ne!(sconce_stream_synchronize(stream), SCONCE_OK, "the second launch failed");
    assert_eq!(sconce_last_error_backend_code(), 700);
    assert_ne!(sconce_graph_replay(graph, stream), SCONCE_OK, "the device has failed");
    ok(sconce_sim_clear_device_error(0));
    ok(sconce_graph_replay(graph, stream));
    assert_eq!(read(output, 64), [1; 64]);
    ok(sconce_graph_destroy(graph));
}
