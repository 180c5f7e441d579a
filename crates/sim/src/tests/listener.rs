//! Listeners, and the memory that operations declare.

use std::sync::Arc;

use parking_lot::Mutex;
use sconce_base::element::Dtype;
use sconce_base::types::DevicePtr;
use sconce_driver::KernelArguments;
use sconce_driver::{Blas, Copies, Events, Gemm, Kernels, Matrix, Memory, Streams};

use super::support::*;
use crate::memory::DeviceMemoryView;
use crate::{Accesses, Call, Intent, MemoryAccess, OperationListener, QueuedOperation, Simulator};

/// The calls that a listener received.
#[derive(Clone, Debug, PartialEq)]
enum Seen {
    Queued { number: u64, call: Call, stream: u64, accesses: Accesses, after: Vec<u64> },
    Started(u64),
    Finished(u64, Result<(), i32>),
}

#[derive(Default)]
pub(super) struct Recorder(Mutex<Vec<Seen>>);

impl OperationListener for Recorder {
    fn queued(&self, operation: &QueuedOperation<'_>) {
        let QueuedOperation { number, call, stream, accesses, after, .. } = *operation;
        let (accesses, after) = (accesses.clone(), after.to_vec());
        self.0.lock().push(Seen::Queued { number, call, stream, accesses, after });
    }

    fn started(&self, number: u64, _start_ns: u64) {
        self.0.lock().push(Seen::Started(number));
    }

    fn finished(&self, number: u64, _end_ns: u64, result: Result<(), i32>) {
        self.0.lock().push(Seen::Finished(number, result));
    }
}

impl Recorder {
    pub(super) fn on(sim: &Simulator) -> Arc<Recorder> {
        let recorder = Arc::new(Recorder::default());
        sim.set_listener(Some(recorder.clone()));
        recorder
    }

    fn take(&self) -> Vec<Seen> {
        std::mem::take(&mut self.0.lock())
    }

    /// The accesses of the only operation that was queued.
    pub(super) fn accesses(&self) -> Accesses {
        match &self.take()[..] {
            [Seen::Queued { accesses, .. }] => accesses.clone(),
            other => panic!("{other:?}"),
        }
    }
}

/// A listener that keeps the defaults.
struct Idle;

impl OperationListener for Idle {}

fn known(accesses: &[MemoryAccess]) -> Accesses {
    Accesses::Known(accesses.to_vec())
}

#[test]
fn operations_are_reported_when_queued_started_and_finished_with_what_orders_them() {
    let sim = manual(1);
    let recorder = Recorder::on(&sim);
    let (first, second, journal) = (stream(&sim), stream(&sim), Journal::default());
    let (a, b) = (sim.stream_id(first).unwrap().unwrap(), sim.stream_id(second).unwrap().unwrap());
    let event = event(&sim);
    sim.launch_host_function(first, journal.note("a")).unwrap();
    sim.event_record(event, first).unwrap();
    sim.stream_wait_event(second, event).unwrap();
    let queued = |number, call, stream, accesses: &Accesses, after: &[u64]| {
        let (accesses, after) = (accesses.clone(), after.to_vec());
        Seen::Queued { number, call, stream, accesses, after }
    };
    let (none, unknown) = (&Accesses::NONE, &Accesses::Unknown);
    let expected = [
        queued(1, Call::LaunchHostFunction, a, unknown, &[]),
        queued(2, Call::EventRecord, a, none, &[]),
        queued(3, Call::StreamWaitEvent, b, none, &[2]),
    ];
    assert_eq!(recorder.take(), expected);
    assert_eq!(sim.run_until_idle(), 3);
    let done = |number| [Seen::Started(number), Seen::Finished(number, Ok(()))];
    assert_eq!(recorder.take(), [done(1), done(2), done(3)].as_flattened());
    // A wait for a record that has completed still orders.
    sim.stream_wait_event(second, event).unwrap();
    assert_eq!(recorder.take(), [queued(4, Call::StreamWaitEvent, b, none, &[2])]);
    sim.set_listener(Some(Arc::new(Idle)));
    assert_eq!(sim.run_until_idle(), 1);
    sim.set_listener(None);
    // Without a listener there is nothing to wait for.
    sim.stream_wait_event(second, event).unwrap();
    assert_eq!(sim.pending(second).unwrap(), 0);
    assert_eq!(recorder.take(), []);
}

#[test]
fn the_legacy_streams_rule_is_reported_though_its_operations_have_ended() {
    let sim = manual(1);
    let blocking = stream_on(&sim, D0, false);
    let legacy = sconce_driver::StreamRef::default_of(D0);
    let recorder = Recorder::on(&sim);
    for (stream, after) in [(blocking, vec![]), (legacy, vec![1]), (blocking, vec![2])] {
        sim.launch_host_function(stream, host_function(|| ())).unwrap();
        assert_eq!(sim.run_until_idle(), 1);
        let seen = recorder.take();
        assert!(
            matches!(&seen[0], Seen::Queued { after: found, .. } if *found == after),
            "{seen:?}"
        );
    }
}

#[test]
fn dropped_operations_finish_without_a_start() {
    let sim = manual(1);
    let stream = stream(&sim);
    let recorder = Recorder::on(&sim);
    sim.fail_operation(Call::LaunchHostFunction, 1, 700);
    for _ in 0..2 {
        sim.launch_host_function(stream, host_function(|| ())).unwrap();
    }
    recorder.take();
    sim.run_until_idle();
    let expected = [Seen::Started(1), Seen::Finished(1, Err(700)), Seen::Finished(2, Err(700))];
    assert_eq!(recorder.take(), expected);
}

#[test]
fn work_declares_what_it_reads_and_writes() {
    let sim = manual(1);
    let stream = stream(&sim);
    let at = sim.memory_alloc(D0, 1 << 16).unwrap();
    let range = |intent, offset, bytes| MemoryAccess::range(intent, at.0 + offset, bytes);
    let recorder = Recorder::on(&sim);

    sim.fill_async(at, 1, 100, stream).unwrap();
    assert_eq!(recorder.accesses(), known(&[range(Intent::Write, 0, 100)]));

    sim.fill_2d_async((at, 256), 1, 16, 3, stream).unwrap();
    let rows = MemoryAccess::strided(Intent::Write, at.0, 16, [(3, 256)]);
    assert_eq!(recorder.accesses(), known(&[rows]));

    sim.copy_async(at.into(), at.offset(4096).into(), 64, stream).unwrap();
    let copied = [range(Intent::Write, 0, 64), range(Intent::Read, 4096, 64)];
    assert_eq!(recorder.accesses(), known(&copied));

    // The call has read pageable memory already.
    sim.copy_async(at.into(), host_of(&[1_u8; 64]), 64, stream).unwrap();
    assert_eq!(recorder.accesses(), known(&[range(Intent::Write, 0, 64)]));

    let add = kernel(&sim, D0, "sconce_add_u32");
    let arguments = KernelArguments::new().u64(at.0).u64(10).u32(1);
    sim.kernel_launch(add, ONE, &arguments, stream).unwrap();
    let added = [range(Intent::Read, 0, 40), range(Intent::Write, 0, 40)];
    assert_eq!(recorder.accesses(), known(&added));
}

#[test]
fn a_product_declares_its_matrices() {
    let sim = manual(1);
    let at = sim.memory_alloc(D0, 1 << 16).unwrap();
    let recorder = Recorder::on(&sim);
    let matrix = |offset, column| Matrix { address: DevicePtr(at.0 + offset), column, batch: 0 };
    let mut gemm = Gemm {
        element: Dtype::F32,
        transpose: [false; 2],
        m: 4,
        n: 3,
        k: 2,
        batch: 1,
        alpha: 1.0,
        beta: 0.0,
        a: matrix(0, 4),
        b: matrix(1024, 2),
        c: matrix(2048, 8),
    };
    let mut handle = sim.blas_create(D0).unwrap();
    handle.gemm(&gemm).unwrap();
    let a = MemoryAccess::range(Intent::Read, at.0, 4 * 2 * 4);
    let b = MemoryAccess::range(Intent::Read, at.0 + 1024, 2 * 3 * 4);
    let c = |intent| MemoryAccess::strided(intent, at.0 + 2048, 16, [(3, 32)]);
    assert_eq!(recorder.accesses(), known(&[c(Intent::Write), a, b]));
    (gemm.alpha, gemm.beta) = (0.0, 1.0);
    handle.gemm(&gemm).unwrap();
    assert_eq!(recorder.accesses(), known(&[c(Intent::Write), c(Intent::Read)]));
}

#[test]
#[cfg_attr(not(debug_assertions), ignore = "only debug builds check")]
fn memory_that_was_not_declared_is_noticed() {
    let sim = automatic(1);
    let at = sim.memory_alloc(D0, 4096).unwrap();
    let declared = known(&[MemoryAccess::strided(Intent::Read, at.0, 4, [(4, 16)])]);
    let memory = DeviceMemoryView::new(&sim.inner.space, D0, &declared);
    let panics =
        |action: &dyn Fn()| std::panic::catch_unwind(std::panic::AssertUnwindSafe(action)).is_err();
    let read = |at: u64, bytes: usize| panics(&|| memory.read(at, &mut vec![0; bytes]).unwrap());
    assert!(!read(at.0 + 16, 4) && !read(at.0 + 50, 2) && !read(at.0 + 5, 0));
    assert!(read(at.0 + 16, 5) && read(at.0 + 15, 1) && read(at.0 + 64, 4));
    assert!(panics(&|| memory.write(at.0, &[1; 4]).unwrap()));
    let gaps = memory.with_gaps();
    assert!(!panics(&|| gaps.read(at.0, &mut [0; 52]).unwrap()));
    assert!(panics(&|| gaps.read(at.0, &mut [0; 53]).unwrap()));
    let nothing = Accesses::NONE;
    let none = DeviceMemoryView::new(&sim.inner.space, D0, &nothing);
    assert!(panics(&|| none.read(at.0, &mut [0; 1]).unwrap()));
    // A range that the device may not use is still an error and no panic.
    assert_eq!(memory.read(at.0 + (1 << 20), &mut [0; 4]), Err(Simulator::ILLEGAL_ADDRESS));
}
