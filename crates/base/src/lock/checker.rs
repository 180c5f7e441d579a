//! Checks of debug builds: which locks each thread holds, and whether it may take another one.
//!
//! A violation ends the process. Its message would otherwise become a status that a caller may not look at, and the
//! deadlock that it warns of needs another thread at the wrong moment.

use std::cell::Cell;
use std::fmt::Write;
use std::panic::Location;

use super::rank::{LockHold, LockRank, Nesting, RankClass};
use crate::process;

/// How many different locks a thread may hold at a time. Locks that may be nested in each other count as one.
const MOST: usize = 32;

/// A lock that a thread holds, or several of one class.
#[derive(Clone, Copy)]
struct HeldLock {
    class: &'static RankClass,
    /// Of several, the newest.
    address: usize,
    hold: LockHold,
    count: usize,
}

/// The locks of a thread. Without a destructor: a thread that ends takes locks, too.
struct HeldLocks {
    count: Cell<usize>,
    places: [Cell<Option<HeldLock>>; MOST],
}

thread_local! {
    static HELD: HeldLocks =
        const { HeldLocks { count: Cell::new(0), places: [const { Cell::new(None) }; MOST] } };
}

impl HeldLocks {
    fn all(&self) -> impl Iterator<Item = HeldLock> {
        self.places[..self.count.get()].iter().filter_map(Cell::get)
    }

    /// Why the thread may not wait for a lock with this class and address, if it may not.
    fn objection(&self, class: &RankClass, address: usize) -> Option<&'static str> {
        for held in self.all() {
            let is_lock = held.hold != LockHold::Serving;
            if is_lock && held.address == address && address != 0 {
                return Some("the thread holds this lock already");
            }
            if held.class.number < class.number {
                continue;
            }
            if held.class.number > class.number || !is_lock {
                return Some("it comes before a lock that the thread holds");
            }
            match class.nesting {
                Nesting::Never => return Some("the thread holds another lock of this kind"),
                Nesting::InOrder if held.address > address => {
                    return Some("locks of this kind are taken in an order of their own");
                }
                Nesting::Behind(gate) => {
                    let closed = |other: HeldLock| {
                        other.class.number == gate.number && other.hold == LockHold::Alone
                    };
                    if !self.all().any(closed) {
                        return Some("several locks of this kind need the lock before them, alone");
                    }
                }
                Nesting::InOrder => {}
            }
        }
        None
    }

    fn add(&self, class: &'static RankClass, address: usize, hold: LockHold) {
        let count = self.count.get();
        if let Some(newest) = count.checked_sub(1).and_then(|at| self.places[at].get())
            && newest.class.number == class.number
            && newest.hold == hold
            && hold != LockHold::Serving
        {
            let more = HeldLock { address, count: newest.count + 1, ..newest };
            self.places[count - 1].set(Some(more));
            return;
        }
        assert!(count < MOST, "a thread holds more than {MOST} locks");
        self.places[count].set(Some(HeldLock { class, address, hold, count: 1 }));
        self.count.set(count + 1);
    }

    /// Takes out a lock, which need not be the newest.
    fn remove(&self, class: &RankClass, hold: LockHold) {
        let count = self.count.get();
        let is_it = |at: &usize| {
            let held = self.places[*at].get();
            held.is_some_and(|held| held.class.number == class.number && held.hold == hold)
        };
        let Some(at) = (0..count).rev().find(is_it) else { return };
        let Some(held) = self.places[at].get() else { return };
        if held.count > 1 {
            // Which of them was left is not known, so neither is which one is the newest.
            self.places[at].set(Some(HeldLock { count: held.count - 1, address: 0, ..held }));
            return;
        }
        for later in at + 1..count {
            self.places[later - 1].set(self.places[later].get());
        }
        self.count.set(count - 1);
    }

    fn text(&self) -> String {
        let mut text = String::new();
        for held in self.all() {
            let (class, hold, count) = (held.class, held.hold, held.count);
            let _ = write!(text, "\n  {} {hold:?} ×{count} ({})", class.name, class.what);
        }
        text
    }
}

/// The calling thread is about to wait for a lock.
#[track_caller]
pub(crate) fn about_to_take<R: LockRank>(address: usize) {
    assert!(!process::in_child(), "a forked child takes a lock, which may be held for ever");
    wait(R::CLASS, address, "take");
}

/// The calling thread is about to wait for something that another thread does.
#[track_caller]
pub(crate) fn about_to_wait<R: LockRank>() {
    wait(R::CLASS, 0, "wait for");
}

#[track_caller]
fn wait(class: &'static RankClass, address: usize, what: &str) {
    let at = Location::caller();
    HELD.with(|held| {
        if let Some(why) = held.objection(class, address) {
            let what = format!("about to {what} {} ({}): {why}", class.name, class.what);
            violated(&what, at, held);
        }
    });
}

/// The calling thread has a lock, or begins to do what others wait for.
pub(super) fn taken<R: LockRank>(address: usize, hold: LockHold) {
    HELD.with(|held| held.add(R::CLASS, address, hold));
}

/// The calling thread has left a lock.
pub(super) fn left<R: LockRank>(hold: LockHold) {
    HELD.with(|held| held.remove(R::CLASS, hold));
}

/// The number of the library's locks that the calling thread holds.
fn held() -> usize {
    let locks = |held: &HeldLocks| {
        held.all().filter(|held| held.hold != LockHold::Serving).map(|held| held.count).sum()
    };
    HELD.with(locks)
}

/// A function of the program is about to run, which may call the library.
#[track_caller]
pub(crate) fn refuse_held(what: &str) {
    let at = Location::caller();
    if !process::in_child() && held() != 0 {
        let what = format!("{what} runs while its thread holds locks");
        HELD.with(|held| violated(&what, at, held));
    }
}

#[cold]
fn violated(what: &str, at: &Location<'_>, held: &HeldLocks) -> ! {
    eprintln!(
        "sconce: {what}\n at {}\nthe thread holds{}\nThe order of all locks is in docs/design/locks.md and \
         crates/base/src/lock/rank.rs.\n{}",
        at,
        held.text(),
        std::backtrace::Backtrace::force_capture()
    );
    std::process::abort();
}

#[cfg(test)]
mod tests {
    use super::super::rank;
    use super::*;

    /// What is said of a lock, at an address, that a thread is about to take which holds others.
    fn said<R: LockRank>(
        held: &[(&'static RankClass, usize, LockHold)],
        address: usize,
    ) -> Option<&'static str> {
        let locks = HeldLocks { count: Cell::new(0), places: [const { Cell::new(None) }; MOST] };
        held.iter().for_each(|(class, address, hold)| locks.add(class, *address, *hold));
        locks.objection(R::CLASS, address)
    }

    const RESCUE: &RankClass = rank::Rescue::CLASS;
    const GATE: &RankClass = rank::Gate::CLASS;
    const CACHE: &RankClass = rank::Cache::CLASS;
    const COMM: &RankClass = rank::CommEnd::CLASS;
    const DEVICE: &RankClass = rank::Device::CLASS;

    #[test]
    fn locks_are_taken_in_their_order() {
        assert_eq!(said::<rank::Gate>(&[], 1), None);
        assert_eq!(said::<rank::Gate>(&[(RESCUE, 1, LockHold::Alone)], 2), None);
        let held = [(GATE, 1, LockHold::Alone), (CACHE, 2, LockHold::Alone)];
        assert_eq!(said::<rank::DeviceAccounting>(&held, 3), None);
        for hold in [LockHold::Alone, LockHold::Shared] {
            assert!(said::<rank::Rescue>(&[(GATE, 1, hold)], 2).is_some(), "{hold:?}");
            assert!(
                said::<rank::Rescue>(&[(RESCUE, 3, LockHold::Alone), (GATE, 1, hold)], 2).is_some()
            );
        }
    }

    #[test]
    fn a_lock_is_not_taken_twice_nor_read_twice() {
        for hold in [LockHold::Alone, LockHold::Shared] {
            let twice = said::<rank::Gate>(&[(GATE, 8, hold)], 8);
            assert!(twice.is_some_and(|why| why.contains("already")), "{hold:?}");
        }
        assert!(said::<rank::Gate>(&[(GATE, 8, LockHold::Shared)], 16).is_some());
    }

    #[test]
    fn several_locks_of_a_kind_are_taken_as_the_kind_says() {
        assert!(said::<rank::CommEnd>(&[(COMM, 8, LockHold::Alone)], 16).is_none());
        assert!(said::<rank::CommEnd>(&[(COMM, 16, LockHold::Alone)], 8).is_some());
        let caches = [(GATE, 1, LockHold::Alone), (CACHE, 8, LockHold::Alone)];
        assert!(said::<rank::Cache>(&caches, 4).is_none());
        let beside = [(GATE, 1, LockHold::Shared), (CACHE, 8, LockHold::Alone)];
        assert!(said::<rank::Cache>(&beside, 4).is_some());
        assert!(said::<rank::Cache>(&[(CACHE, 8, LockHold::Alone)], 16).is_some());
    }

    #[test]
    fn who_waits_for_a_device_and_who_works_for_one_hold_no_lock_in_common() {
        assert!(said::<rank::Device>(&[(GATE, 8, LockHold::Alone)], 0).is_none());
        assert!(said::<rank::Device>(&[(CACHE, 8, LockHold::Alone)], 0).is_some());
        let works = [(DEVICE, 0, LockHold::Serving)];
        assert!(said::<rank::Cache>(&works, 8).is_none());
        assert!(said::<rank::Gate>(&works, 8).is_some());
        // Work of a device waits for none.
        assert!(said::<rank::Device>(&works, 0).is_some());
    }

    #[test]
    fn locks_are_left_in_any_order() {
        let locks = HeldLocks { count: Cell::new(0), places: [const { Cell::new(None) }; MOST] };
        locks.add(GATE, 1, LockHold::Alone);
        (2..50).for_each(|address| locks.add(CACHE, address, LockHold::Alone));
        locks.add(rank::DeviceAccounting::CLASS, 60, LockHold::Alone);
        locks.remove(GATE, LockHold::Alone);
        (2..50).for_each(|_| locks.remove(CACHE, LockHold::Alone));
        assert_eq!(
            locks.all().map(|held| held.class.name).collect::<Vec<_>>(),
            ["DeviceAccounting"]
        );
        locks.remove(rank::DeviceAccounting::CLASS, LockHold::Alone);
        assert_eq!(locks.all().count(), 0);
    }

    #[test]
    fn a_lock_that_was_left_may_be_taken_again() {
        let locks = HeldLocks { count: Cell::new(0), places: [const { Cell::new(None) }; MOST] };
        locks.add(GATE, 1, LockHold::Alone);
        (2..9).for_each(|address| locks.add(CACHE, address, LockHold::Alone));
        locks.remove(CACHE, LockHold::Alone);
        assert_eq!(locks.objection(CACHE, 8), None);
    }

    /// The threads of the deadlock that this found first: one alone is enough to see it.
    #[test]
    fn a_violation_ends_the_process() {
        const CHILD: &str = "SCONCE_TEST_OF_LOCKS";
        type Lock<R> = super::super::Mutex<R, ()>;
        if std::env::var_os(CHILD).is_some() {
            let (giving_back, rescue) =
                (Lock::<rank::GivingBack>::new(()), Lock::<rank::Rescue>::new(()));
            let _rescue = rescue.lock();
            drop(giving_back.lock());
            return;
        }
        let name = "lock::checker::tests::a_violation_ends_the_process";
        let mut child = std::process::Command::new(std::env::current_exe().unwrap());
        let output = child.args([name, "--exact", "--nocapture"]).env(CHILD, "1").output().unwrap();
        let text = String::from_utf8_lossy(&output.stderr);
        assert!(!output.status.success(), "{text}");
        assert!(text.contains("about to take GivingBack") && text.contains("Rescue"), "{text}");
        assert!(text.contains("checker.rs"), "it says where: {text}");
    }
}
