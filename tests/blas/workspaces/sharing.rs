//! Which threads and handles use which workspace.

use super::*;

#[test]
fn a_stream_has_one_workspace_whichever_threads_use_it() {
    in_process("sharing::a_stream_has_one_workspace_whichever_threads_use_it", &[], || {
        let operands = Operands::new([3.0, 5.0]);
        let others = allocated(0);
        let (first, second) = (own_stream(0), own_stream(0));
        for (stream, all) in [(first, 1), (second, 2), (first, 2), (default_stream(0), 3)] {
            make_current(stream);
            operands.multiply();
            operands.multiply();
            assert_eq!(count(others), all);
        }
        let turn = Barrier::new(8);
        std::thread::scope(|scope| {
            let spawn = |_| {
                scope.spawn(|| {
                    make_current(first);
                    for _ in 0..50 {
                        operands.multiply();
                    }
                    turn.wait();
                    assert_eq!(count(others), 3);
                    turn.wait();
                })
            };
            let threads: Vec<_> = (0..8).map(spawn).collect();
            threads.into_iter().for_each(|thread| thread.join().unwrap());
        });
        synchronize(0);
        assert_eq!(operands.result(), 15.0);
        clear();
        assert_eq!(count(others), 0);
        assert_eq!(figures(0).peak_bytes as i64, 3 * WORKSPACE);
    });
}

#[test]
fn the_workspaces_of_a_thread_go_when_it_ends() {
    in_process("sharing::the_workspaces_of_a_thread_go_when_it_ends", &[], || {
        let operands = Operands::new([3.0, 5.0]);
        let others = allocated(0);
        let kept = own_stream(0);
        operands.multiply();
        in_thread(|| {
            for all in 2..=31 {
                let stream = own_stream(0);
                assert_ne!(stream.id, kept.id);
                operands.multiply();
                assert_eq!(count(others), all);
            }
            // Also one that the thread used, but not last.
            make_current(kept);
            operands.multiply();
            in_thread(|| {
                make_current(kept);
                operands.multiply();
            });
            assert_eq!(count(others), 30);
            handle();
            assert_eq!(count(others), 31);
        });
        assert_eq!(count(others), 0);
        operands.multiply();
        assert_eq!(count(others), 1);
        synchronize(0);
        assert_eq!(operands.result(), 15.0);
    });
}

#[test]
fn a_handle_that_was_given_out_has_the_workspace_to_itself() {
    in_process("sharing::a_handle_that_was_given_out_has_the_workspace_to_itself", &[], || {
        let operands = Operands::new([3.0, 5.0]);
        let others = allocated(0);
        let stream = own_stream(0);
        operands.multiply();
        handle();
        operands.multiply();
        assert_eq!((count(others), figures(0).idle_bytes), (1, 0));
        // Another thread's product could come between two kernels of one that the caller queues.
        in_thread(|| {
            make_current(stream);
            operands.multiply();
            assert_eq!(count(others), 2);
            handle();
            assert_eq!((count(others), figures(0).idle_bytes), (2, 0));
            own_stream(0);
            handle();
            assert_eq!(count(others), 3, "the stream that was left keeps an idle one");
        });
        assert_eq!(count(others), 1);
        // A second idle one of a stream is not kept.
        in_thread(|| {
            make_current(stream);
            handle();
            make_current(default_stream(0));
            handle();
            assert_eq!(count(others), 3);
            own_stream(0);
            operands.multiply();
            assert_eq!(count(others), 4);
        });
        make_current(default_stream(0));
        handle();
        assert_eq!(count(others), 2);
        assert_eq!(i64::try_from(figures(0).idle_bytes), Ok(WORKSPACE));
    });
}
