//! Tasks whose calls are made by any threads, as the calls of goroutines are. Each task has a stream.

use std::ptr::{null, null_mut};
use std::sync::mpsc::{Sender, channel};

use sconce::sconce_status::SCONCE_OK;
use sconce::*;
use testkit::in_child;
use testkit::numbers::Random;
use testkit::places::{own_stream, pooled, under};

use super::current;
use crate::api::{Handle, Outcome, real, returned, written};

const WORKERS: u64 = 4;
const TASKS: u64 = 6;
const STEPS: u64 = 12;
const SIZES: [i64; 1] = [1];

type Call = Box<dyn FnOnce() + Send>;

/// Makes a call on one of the workers, and returns what it returns.
fn elsewhere<T: Send + 'static>(
    worker: &Sender<Call>,
    call: impl FnOnce() -> T + Send + 'static,
) -> T {
    let (done, result) = channel();
    worker.send(Box::new(move || done.send(call()).unwrap())).unwrap();
    result.recv().unwrap()
}

/// The tensor combined with a number, on a stream.
fn combined(
    stream: sconce_stream,
    operation: i32,
    tensor: &Handle,
    number: f64,
) -> Outcome<Handle> {
    let (tensor, number) = (tensor.raw(), real(number));
    returned(|out| {
        // SAFETY: a number and a writable place.
        under(stream, || unsafe {
            sconce_tensor_binary(
                operation,
                tensor,
                null(),
                null_mut(),
                &raw const number,
                null(),
                null_mut(),
                out,
            )
        })
    })
}

/// Computes on one stream from call to call, each by a random worker.
fn task(number: u64, workers: &[Sender<Call>]) {
    let mut random = Random(number + 1);
    let stream = pooled((number % 2) as i32);
    let mut any = || &workers[random.below(WORKERS) as usize];
    let start = real(number as f64);
    let mut tensor = elsewhere(any(), move || {
        returned(|out| {
            // SAFETY: sizes, a number and a writable place.
            under(stream, || unsafe {
                sconce_tensor_full(SIZES.as_ptr(), 1, &raw const start, null(), out)
            })
        })
    })
    .unwrap();
    let mut expected = number as f64;
    for step in 0..STEPS {
        // Exact in F32.
        for (operation, number) in [(SCONCE_BINARY_ADD, step as f64), (SCONCE_BINARY_MUL, 0.5)] {
            tensor =
                elsewhere(any(), move || combined(stream, operation, &tensor, number)).unwrap();
        }
        expected = (expected + step as f64) * 0.5;
    }
    let value = elsewhere(any(), move || {
        written(sconce_scalar::default(), |out| {
            // SAFETY: a writable place.
            under(stream, || unsafe { sconce_tensor_item(tensor.raw(), out) })
        })
    });
    assert_eq!(value.unwrap().real, expected, "task {number}");
}

#[test]
fn a_task_may_change_its_thread_between_calls() {
    // Each operation takes long enough for one on another stream to overtake it.
    let environment =
        [("SCONCE_BACKEND", "sim"), ("SCONCE_LOG", "off"), ("SCONCE_SIM_LATENCY_NS", "200000")];
    in_child("a_task_may_change_its_thread_between_calls", &environment, || {
        std::thread::scope(|scope| {
            let worker = |number: u64| {
                let (calls, received) = channel::<Call>();
                scope.spawn(move || {
                    assert_eq!(sconce_device_set_current((number % 2) as i32), SCONCE_OK);
                    own_stream((number / 2 % 2) as i32);
                    let before = current();
                    for call in received {
                        call();
                        assert_eq!(current(), before);
                    }
                });
                calls
            };
            let workers: Vec<Sender<Call>> = (0..WORKERS).map(worker).collect();
            for number in 0..TASKS {
                let workers = workers.clone();
                scope.spawn(move || task(number, &workers));
            }
        });
        assert_eq!(sconce_tensor_live_count(), 0);
    });
}
