//! What becomes of workspaces when memory is short, and how a limit bounds them.

use super::*;

#[test]
fn idle_workspaces_go_back_before_a_request_fails() {
    let test = "shortage::idle_workspaces_go_back_before_a_request_fails";
    in_process(test, &[("SCONCE_SIM_MEMORY", "512M")], || {
        let operands = Operands::new([3.0, 5.0]);
        let others = allocated(0);
        for all in 1..=8 {
            own_stream(0);
            operands.multiply();
            assert_eq!(count(others), all);
        }
        // The driver does not have as much, nor any stream's cache.
        drop(Block::new(440 << 20));
        assert_eq!(count(others), 0);
        assert_eq!(figures(0).num_given_back, 8);
        // One that a caller may use stays, and the message says so.
        handle();
        assert_eq!(count(others), 1);
        let mut address = std::ptr::null_mut();
        // SAFETY: a good place.
        let status = unsafe { sconce_memory_alloc(496 << 20, &raw mut address) };
        assert_eq!(status, SCONCE_ERROR_OUT_OF_MEMORY);
        let message = testkit::last_message();
        for part in ["33554432 bytes", "1 cuBLAS workspaces", "sconce_blas_clear_workspaces"] {
            assert!(message.contains(part), "{part}: {message}");
        }
        clear();
        // The message is right.
        drop(Block::new(496 << 20));
        synchronize(0);
        assert_eq!(operands.result(), 15.0);
    });
}

#[test]
fn a_workspace_goes_for_that_of_the_next_stream_when_memory_is_short() {
    let test = "shortage::a_workspace_goes_for_that_of_the_next_stream_when_memory_is_short";
    in_process(test, &[("SCONCE_SIM_MEMORY", "64M")], || {
        let rest = Block::new(24 << 20);
        for _ in 0..3 {
            own_stream(0);
            handle();
            assert_eq!(count(allocated(0) - WORKSPACE), 1);
        }
        drop(rest);
    });
}

#[test]
fn emptying_the_cache_takes_idle_workspaces() {
    in_process("shortage::emptying_the_cache_takes_idle_workspaces", &[], || {
        let operands = Operands::new([3.0, 5.0]);
        let others = allocated(0);
        let streams = [own_stream(0), own_stream(0), own_stream(0)];
        for stream in streams {
            make_current(stream);
            operands.multiply();
        }
        make_current(streams[0]);
        handle();
        assert_eq!(sconce_device_synchronize(0), SCONCE_OK);
        assert_eq!(sconce_sim_reset_call_counts(), SCONCE_OK);
        assert_eq!(sconce_memory_empty_cache(), SCONCE_OK);
        assert_eq!((count(others), figures(0).num_given_back), (1, 2));
        // The makers of the streams may have destroyed them: freeing must not ask the driver.
        clear();
        assert_eq!(count(others), 0);
        for call in ["stream_query", "stream_synchronize", "stream_wait_event", "event_record"] {
            assert_eq!(calls(call), 0, "{call}");
        }
        operands.multiply();
        synchronize(0);
        assert_eq!(operands.result(), 15.0);
    });
}

#[test]
fn a_limit_bounds_the_sum_of_workspaces() {
    let test = "shortage::a_limit_bounds_the_sum_of_workspaces";
    in_process(test, &[("SCONCE_BLAS_WORKSPACE_MAX", "64M")], || {
        let operands = Operands::new([3.0, 5.0]);
        let others = allocated(0);
        assert_eq!(figures(0).max_bytes, 64 << 20);
        let streams: Vec<_> = (0..4).map(|_| own_stream(0)).collect();
        let multiply_on = |at: usize| {
            make_current(streams[at]);
            operands.multiply();
        };
        for (at, all) in [(0, 1), (1, 2), (0, 2), (2, 2)] {
            multiply_on(at);
            assert_eq!(count(others), all);
        }
        // The one that was unused for longest went, not that of stream 0.
        assert_eq!(figures(0).num_given_back, 1);
        multiply_on(0);
        assert_eq!(figures(0).num_given_back, 1);
        multiply_on(1);
        assert_eq!((figures(0).num_given_back, figures(0).num_without), (2, 0));
        // What is in use stays; there is nothing for a third.
        handle();
        in_thread(|| {
            make_current(streams[2]);
            handle();
            let waits = in_thread(|| {
                multiply_on(3);
                count(others)
            });
            assert_eq!((waits, figures(0).num_without), (2, 1));
        });
        assert_eq!(count(others), 1);
        assert_eq!(sconce_blas_set_workspace_max_bytes(0, 0), SCONCE_OK);
        assert_eq!(count(others), 1, "in use");
        multiply_on(2);
        assert_eq!(count(others), 0, "the handle went to another stream, without a workspace");
        assert_eq!(sconce_blas_set_workspace_max_bytes(0, i64::MAX), SCONCE_OK);
        multiply_on(2);
        assert_eq!(count(others), 1);
        assert_eq!(sconce_blas_set_workspace_max_bytes(0, -1), SCONCE_ERROR_INVALID_ARGUMENT);
        assert!(testkit::last_message().contains("max_bytes is -1"));
        assert_eq!(sconce_blas_set_workspace_max_bytes(9, 1), SCONCE_ERROR_INVALID_DEVICE);
        assert_eq!(figures(1).max_bytes, 64 << 20, "each device has its own");
        assert_eq!(figures(0).max_bytes, i64::MAX as u64);
        synchronize(0);
        assert_eq!(operands.result(), 15.0);
    });
}

#[test]
fn threads_share_a_limit_and_a_short_device() {
    let test = "shortage::threads_share_a_limit_and_a_short_device";
    let environment = [("SCONCE_BLAS_WORKSPACE_MAX", "96M"), ("SCONCE_SIM_MEMORY", "256M")];
    in_process(test, &environment, || {
        std::thread::scope(|scope| {
            let work = |number: i32| {
                let operands = Operands::new([3.0, f64::from(number)]);
                for round in 0..60 {
                    if round % 4 == 0 {
                        // The product is written by one stream after another.
                        synchronize(0);
                        own_stream(0);
                    }
                    // Together the threads want more than there is, so that each may be refused.
                    if round % 30 == number
                        && let Err((status, message)) = try_handle()
                    {
                        assert_eq!(status, SCONCE_ERROR_OUT_OF_MEMORY, "{message}");
                    }
                    if round % 20 == number {
                        clear();
                    }
                    if round % 10 == number {
                        let mut address = std::ptr::null_mut();
                        // SAFETY: a good place.
                        let status = unsafe { sconce_memory_alloc(48 << 20, &raw mut address) };
                        assert!([SCONCE_OK, SCONCE_ERROR_OUT_OF_MEMORY].contains(&status));
                        assert_eq!(sconce_memory_free(address), SCONCE_OK);
                    }
                    while let Err((status, message)) = operands.try_multiply() {
                        assert_eq!(status, SCONCE_ERROR_OUT_OF_MEMORY, "{message}");
                    }
                    assert!(figures(0).bytes <= 96 << 20);
                }
                synchronize(0);
                assert_eq!(operands.result(), 3.0 * f64::from(number));
            };
            let threads: Vec<_> = (0..8).map(|number| scope.spawn(move || work(number))).collect();
            // Joined by hand, so that the threads' destructors have run.
            threads.into_iter().for_each(|thread| thread.join().unwrap());
        });
        clear();
        assert_eq!(allocated(0), 0);
    });
}
