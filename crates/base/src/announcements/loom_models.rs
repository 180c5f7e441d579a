//! Every interleaving of few threads.

use loom::cell::UnsafeCell;
use loom::sync::Arc;

use super::fence_all_threads;
use super::gate::Gate;
use crate::sync::{AtomicUsize, Ordering};

/// A number that threads inside the gate read, and one that has closed it changes; loom finds any other order.
struct Guarded {
    gate: Gate,
    number: UnsafeCell<u32>,
    words: [AtomicUsize; 2],
}

// SAFETY: the cell is used behind the gate only, which is what the model is about.
unsafe impl Sync for Guarded {}
// SAFETY: the number and the words may be used by whichever thread owns them.
unsafe impl Send for Guarded {}

impl Guarded {
    fn new() -> Arc<Guarded> {
        Arc::new(Guarded {
            gate: Gate::default(),
            number: UnsafeCell::new(0),
            words: [AtomicUsize::new(0), AtomicUsize::new(0)],
        })
    }

    fn read(&self, thread: usize) -> Option<u32> {
        let word = &self.words[thread];
        let number = self.gate.pass(word).then(|| {
            // SAFETY: the gate was passed.
            self.number.with(|number| unsafe { *number })
        });
        if number.is_some() {
            word.store(0, Ordering::Release);
        }
        number
    }

    fn change(&self) {
        self.gate.close();
        fence_all_threads();
        for word in &self.words {
            while word.load(Ordering::Acquire) == self.gate.address() {
                loom::thread::yield_now();
            }
        }
        // SAFETY: the gate is closed, and nobody is inside.
        self.number.with_mut(|number| unsafe { *number += 1 });
        self.gate.open();
    }
}

/// A thread that has read the new number never reads the old one again.
fn reads_forward(guarded: &Guarded, thread: usize) {
    let (first, second) = (guarded.read(thread), guarded.read(thread));
    if let (Some(first), Some(second)) = (first, second) {
        assert!(first <= second);
    }
}

#[test]
fn nobody_is_inside_while_the_value_changes() {
    loom::model(|| {
        let guarded = Guarded::new();
        let user = {
            let guarded = guarded.clone();
            loom::thread::spawn(move || reads_forward(&guarded, 0))
        };
        guarded.change();
        user.join().unwrap();
        assert_eq!(guarded.read(1), Some(1));
    });
}

#[test]
fn users_do_not_keep_each_other_out() {
    loom::model(|| {
        let guarded = Guarded::new();
        let user = {
            let guarded = guarded.clone();
            loom::thread::spawn(move || assert_eq!(guarded.read(0), Some(0)))
        };
        assert_eq!(guarded.read(1), Some(0));
        user.join().unwrap();
    });
}

#[test]
fn two_users_and_a_change() {
    let mut model = loom::model::Builder::new();
    model.preemption_bound = Some(3);
    model.check(|| {
        let guarded = Guarded::new();
        let users: Vec<_> = (0..2)
            .map(|thread| {
                let guarded = guarded.clone();
                loom::thread::spawn(move || guarded.read(thread))
            })
            .collect();
        guarded.change();
        for user in users {
            user.join().unwrap();
        }
    });
}
