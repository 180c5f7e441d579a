//! Captures that begin and end all the time, while other threads make calls that a capture forbids.

use std::ptr::null_mut;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use sconce::sconce_status::*;
use sconce::*;
use testkit::last_message;
use testkit::simulated::runtime;
use testkit::statuses::ok;

use crate::world::*;

/// A call, made again and again with the same objects. Fails only where it may.
type Hammer = Box<dyn FnMut()>;

/// Makes what a thread calls; is given the stream that is captured.
type MakeHammer = fn(sconce_stream) -> Hammer;

/// What threads do meanwhile; each makes its objects itself.
const HAMMERS: [(&str, MakeHammer); 12] = [
    ("event_query", |_| {
        let event = recorded(0);
        Box::new(move || {
            let mut is_done = false;
            // SAFETY: a writable place.
            ok(unsafe { sconce_event_query(event, &raw mut is_done) });
        })
    }),
    ("event_synchronize", |_| {
        let event = recorded(0);
        Box::new(move || ok(sconce_event_synchronize(event)))
    }),
    ("stream_query", |_| {
        let stream = stream_of(0);
        Box::new(move || {
            let mut is_idle = false;
            // SAFETY: a writable place.
            ok(unsafe { sconce_stream_query(stream, &raw mut is_idle) });
        })
    }),
    ("stream_synchronize", |_| {
        let stream = stream_of(0);
        Box::new(move || ok(sconce_stream_synchronize(stream)))
    }),
    ("device_synchronize", |_| {
        Box::new(|| {
            let status = sconce_device_synchronize(0);
            assert!([SCONCE_OK, SCONCE_ERROR_INVALID_STATE].contains(&status), "{status:?}");
        })
    }),
    ("device_try_synchronize", |_| {
        Box::new(|| {
            let mut has_waited = false;
            // SAFETY: a writable place.
            ok(unsafe { sconce_device_try_synchronize(0, &raw mut has_waited) });
        })
    }),
    ("copy", |_| {
        let (block, to, stream) = (block(), host(BYTES), stream_of(0));
        Box::new(move || {
            // SAFETY: memory of a device, and as much of the host.
            ok(unsafe { sconce_copy_on(to, block, BYTES, CBool::FALSE, stream) });
        })
    }),
    ("graph_destroy", |_| {
        let (stream, block) = (stream_of(0), block());
        Box::new(move || {
            let graph = empty_graph(false);
            let begun =
                sconce_graph_capture_begin(graph, stream, null_mut(), SCONCE_CAPTURE_THREAD_LOCAL);
            ok(begun);
            let mut inside = null_mut();
            // SAFETY: a writable place.
            ok(unsafe { sconce_memory_alloc_on(BYTES, stream, &raw mut inside) });
            // SAFETY: memory of a device.
            ok(unsafe { sconce_copy_on(block, inside, BYTES, CBool::TRUE, stream) });
            ok(sconce_memory_free(inside));
            ok(sconce_graph_capture_end(graph));
            ok(sconce_graph_replay(graph, stream));
            ok(sconce_graph_destroy(graph));
        })
    }),
    ("pool_destroy", |_| {
        Box::new(|| {
            // SAFETY: a writable place.
            let pool = made(|out| unsafe { sconce_memory_pool_create(out) });
            ok(sconce_memory_pool_begin(pool, 0));
            let inside = block();
            ok(sconce_memory_pool_end(pool, 0));
            ok(sconce_memory_free(inside));
            ok(sconce_memory_pool_destroy(pool));
        })
    }),
    ("free of used memory", |captured| {
        Box::new(move || {
            let memory = block();
            ok(sconce_memory_record_stream(memory, captured));
            ok(sconce_memory_free(memory));
        })
    }),
    ("pinned memory", |captured| {
        let mut bytes = BYTES;
        Box::new(move || {
            bytes = bytes % (4 << 20) + (1 << 20);
            let mut memory = null_mut();
            // SAFETY: a writable place.
            ok(unsafe { sconce_host_memory_alloc(bytes, &raw mut memory) });
            ok(sconce_host_memory_record_stream(memory, captured));
            ok(sconce_host_memory_free(memory));
        })
    }),
    ("generator", |_| {
        let generator = used_generator();
        Box::new(move || {
            let mut offset = 0;
            // SAFETY: a writable place.
            ok(unsafe { sconce_generator_get_offset(generator, &raw mut offset) });
            ok(sconce_generator_set_seed(generator, offset));
        })
    }),
];

/// How many captures each pair of a call and a mode has at least.
const CAPTURES: usize = 150;
/// How long the threads may take to make their first calls, and how long each pair takes otherwise.
const PATIENCE: Duration = Duration::from_secs(60);
const TIME: Duration = Duration::from_millis(120);

/// A graph, and what became of its capture, on a stream of the program or on one of the library.
fn captured(mode: i32, on: Option<sconce_stream>) -> (*mut sconce_graph, Result<(), String>) {
    let graph = empty_graph(false);
    (graph, capture_into(graph, mode, on))
}

fn capture_into(
    graph: *mut sconce_graph,
    mode: i32,
    on: Option<sconce_stream>,
) -> Result<(), String> {
    let done = |status| if status == SCONCE_OK { Ok(()) } else { Err(last_message()) };
    let mut stream = on.unwrap_or(sconce_stream { id: 0, device: 0, reserved: 0 });
    done(match on {
        Some(stream) => sconce_graph_capture_begin(graph, stream, null_mut(), mode),
        // SAFETY: a writable place.
        None => unsafe {
            sconce_graph_capture_begin_own_stream(graph, 0, null_mut(), mode, &raw mut stream)
        },
    })?;
    let mut inside = null_mut();
    // SAFETY: a writable place.
    let worked = done(unsafe { sconce_memory_alloc_on(BYTES, stream, &raw mut inside) })
        // SAFETY: memory of a device.
        .and_then(|()| done(unsafe { sconce_memory_set_on(inside, 1, BYTES, stream) }))
        .and_then(|()| done(sconce_memory_free(inside)));
    let ended = done(sconce_graph_capture_end(graph));
    worked.and(ended)
}

#[test]
fn captures_begin_beside_calls_that_they_forbid() {
    runtime();
    // SAFETY: a writable place. The other threads have streams of another priority.
    let pooled = made(|out| unsafe { sconce_stream_get_from_pool(0, -1, out) });
    for (name, hammer) in HAMMERS {
        for mode in [SCONCE_CAPTURE_GLOBAL, SCONCE_CAPTURE_THREAD_LOCAL, SCONCE_CAPTURE_RELAXED] {
            let (stops, calls) = (AtomicBool::new(false), AtomicUsize::new(0));
            std::thread::scope(|scope| {
                for _ in 0..2 {
                    scope.spawn(|| {
                        let mut call = hammer(pooled);
                        while !stops.load(Ordering::Relaxed) {
                            call();
                            calls.fetch_add(1, Ordering::Relaxed);
                        }
                    });
                }
                let started = Instant::now();
                let mut captures = 0;
                let mut failed = None;
                // On a busy machine the threads may not have run by then.
                let is_over = || {
                    let time = if calls.load(Ordering::Relaxed) > 10 { TIME } else { PATIENCE };
                    started.elapsed() >= time
                };
                while failed.is_none() && (captures < CAPTURES || !is_over()) {
                    let on = (captures % 2 == 0).then_some(pooled);
                    let (graph, outcome) = captured(mode, on);
                    ok(sconce_graph_destroy(graph));
                    failed = outcome.err().map(|message| (on, message));
                    captures += 1;
                }
                stops.store(true, Ordering::Relaxed);
                if let Some((on, message)) = failed {
                    panic!("{name}, mode {mode}, {on:?}: capture {captures} is lost: {message}");
                }
            });
            assert!(calls.load(Ordering::Relaxed) > 10, "{name}: the threads did not run");
        }
    }
}

/// A thread waits for the device, which waits for something that the capturing thread does later.
#[test]
fn a_capture_does_not_wait_for_a_device_that_waits_for_it() {
    runtime();
    let stream = stream_of(0);
    ok(sconce_sim_set_manual(CBool::TRUE));
    ok(sconce_stream_sleep(stream, 1));
    std::thread::scope(|scope| {
        let waits = scope.spawn(|| sconce_device_synchronize(0));
        std::thread::sleep(Duration::from_millis(20));
        assert!(!waits.is_finished(), "the device is idle");
        let (graph, outcome) = captured(SCONCE_CAPTURE_GLOBAL, None);
        assert_eq!(outcome, Ok(()));
        assert!(!waits.is_finished(), "the device runs by itself");
        let mut steps = 0;
        // SAFETY: a writable place.
        ok(unsafe { sconce_sim_run_until_idle(&raw mut steps) });
        assert_eq!(waits.join().unwrap(), SCONCE_OK);
        // The driver waits for the device before it frees memory.
        ok(sconce_graph_destroy(graph));
    });
    ok(sconce_sim_set_manual(CBool::FALSE));
}
