//! The lock under threads.

use sconce_base::lock::{LockRank, rank};

use super::raw::{FIRST_RUN, GROWTH, LONGEST_RUN};

type BiasedLock<T> = super::BiasedLock<rank::Cache, T>;
type OtherLock<T> = super::BiasedLock<rank::DeviceAccounting, T>;
use sconce_base::announcements::has_fence;
use sconce_base::sync::Ordering;
use sconce_base::thread_state::owner_word;

fn is_biased<R: LockRank, T>(lock: &super::BiasedLock<R, T>) -> bool {
    !lock.raw.owner.load(Ordering::Relaxed).is_null()
}

/// Takes the lock until it is biased to the calling thread; how often that took.
fn bias<R: LockRank, T>(lock: &super::BiasedLock<R, T>) -> Option<u32> {
    (1..=LONGEST_RUN).find(|_| {
        drop(lock.lock(owner_word()));
        is_biased(lock)
    })
}

#[test]
fn one_thread_at_a_time_is_inside() {
    let rounds = if cfg!(miri) { 30 } else { 20_000 };
    let count = BiasedLock::new(0_u64);
    std::thread::scope(|scope| {
        for thread in 0..4 {
            let count = &count;
            scope.spawn(move || {
                for round in 0..rounds {
                    let mut count = count.lock(owner_word());
                    let before = *count;
                    std::hint::black_box(&mut count);
                    *count = before + 1;
                    drop(count);
                    // Long runs of one thread, which bias the lock to it.
                    if thread != 0 && round % 500 == 0 {
                        std::thread::sleep(std::time::Duration::from_micros(300));
                    }
                }
            });
        }
    });
    assert_eq!(*count.lock(owner_word()), 4 * rounds);
}

#[test]
fn a_lock_is_biased_to_the_thread_that_takes_it_all_the_time_and_less_easily_the_next_time() {
    let lock = BiasedLock::new(0);
    let Some(first) = bias(&lock) else { return assert!(!has_fence()) };
    assert_eq!(first, FIRST_RUN);
    *lock.lock(owner_word()) += 1;
    assert_eq!(lock.raw.held.load(Ordering::Relaxed), 0, "it was taken as its owner");
    std::thread::scope(|scope| {
        scope.spawn(|| *lock.lock(owner_word()) += 1);
    });
    assert!(!is_biased(&lock));
    assert_eq!(*lock.lock(owner_word()), 2);
    assert_eq!(bias(&lock), Some(FIRST_RUN * GROWTH - 1));
}

#[test]
fn the_other_thread_waits_for_the_owner_and_trying_does_not() {
    let lock = BiasedLock::new(());
    let _ = bias(&lock);
    let held = lock.lock(owner_word());
    std::thread::scope(|scope| {
        let tried = scope.spawn(|| lock.try_lock(owner_word()).is_none());
        assert!(tried.join().unwrap());
        // Nor does one come in after another has tried in vain.
        let waiter = scope.spawn(|| drop(lock.lock(owner_word())));
        std::thread::sleep(std::time::Duration::from_millis(20));
        assert!(!waiter.is_finished());
        drop(held);
        waiter.join().unwrap();
        let got = scope.spawn(|| lock.try_lock(owner_word()).is_some());
        assert!(got.join().unwrap());
    });
}

#[test]
fn a_thread_holds_several_locks_and_none_twice() {
    let (one, other) = (BiasedLock::new(1), OtherLock::new(2));
    let _ = (bias(&one), bias(&other));
    let first = one.lock(owner_word());
    let second = other.lock(owner_word());
    assert!(one.try_lock(owner_word()).is_none());
    assert!(other.try_lock(owner_word()).is_none());
    drop(first);
    // Its word is free, and the second lock is still held.
    assert!(other.try_lock(owner_word()).is_none());
    assert_eq!(one.try_lock(owner_word()).map(|one| *one + *second), Some(3));
    drop(second);
    assert!(other.try_lock(owner_word()).is_some());
}

#[test]
fn a_thread_that_comes_later_may_have_the_word_of_one_that_has_ended() {
    let lock = BiasedLock::new(0);
    for round in 0..3 {
        std::thread::scope(|scope| {
            scope.spawn(|| {
                let _ = bias(&lock);
                *lock.lock(owner_word()) += 1;
            });
        });
        assert_eq!(*lock.lock(owner_word()), round + 1);
    }
}
