use std::collections::HashSet;
use std::sync::atomic::AtomicI32;

use super::*;

#[test]
fn any_number_may_be_looked_up() {
    static POOL: Pool<AtomicI32> = Pool::new();
    let pool = &POOL;
    assert!(pool.at(0).is_none());
    let (number, _) = pool.take(None).unwrap();
    assert!(pool.at(number).is_some());
    let places = (0..CHUNK as u32).map(|number| std::ptr::from_ref(pool.at(number).unwrap()));
    assert_eq!(places.collect::<HashSet<_>>().len(), CHUNK);
    for number in [CHUNK as u32, MOST_PLACES as u32, u32::MAX] {
        assert!(pool.at(number).is_none(), "{number}");
    }
}

#[test]
#[cfg_attr(miri, ignore = "the lists of threads are never freed")]
fn a_thread_gets_its_own_places_back_and_gives_batches_away() {
    static POOL: Pool<AtomicI32> = Pool::new();
    let pool = &POOL;
    let list = Some(pool.open_list());
    let (number, _) = pool.take(list).unwrap();
    pool.give_back(list, number);
    assert_eq!(pool.take(list).unwrap().0, number);
    let many: HashSet<u32> = (0..10 * KEPT).map(|_| pool.take(list).unwrap().0).collect();
    assert_eq!((many.len(), pool.in_use()), (10 * KEPT, 10 * KEPT + 1));
    for number in &many {
        pool.give_back(list, *number);
    }
    assert_eq!(pool.in_use(), 1);
    assert!(
        pool.shared.lock().as_ref().unwrap().free.len() >= 9 * KEPT,
        "a thread keeps too many places"
    );
    let made = pool.shared.lock().as_ref().unwrap().made;
    // Another thread uses what this one gave back.
    let other = pool.open_list();
    assert!(many.contains(&pool.take(Some(other)).unwrap().0));
    assert_eq!(pool.shared.lock().as_ref().unwrap().made, made);
    pool.close_list(other);
    assert_eq!((other.count(), pool.in_use()), (0, 2));
    assert!(std::ptr::eq(pool.open_list(), other), "the list of an ended thread is used again");
}

#[test]
#[cfg_attr(miri, ignore = "the lists of threads are never freed")]
fn threads_never_share_a_place() {
    let rounds = if cfg!(miri) { 20 } else { 2000 };
    static POOL: Pool<AtomicI32> = Pool::new();
    let pool = &POOL;
    let (give, taken) = std::sync::mpsc::channel::<u32>();
    std::thread::scope(|scope| {
        for _ in 0..4 {
            let give = give.clone();
            scope.spawn(move || {
                let list = pool.open_list();
                for round in 0..rounds {
                    let (number, value) = pool.take(Some(list)).unwrap();
                    assert_eq!(value.fetch_add(1, Ordering::Relaxed), 0);
                    if round % 3 == 0 {
                        give.send(number).unwrap();
                    } else {
                        assert_eq!(value.fetch_sub(1, Ordering::Relaxed), 1);
                        pool.give_back(Some(list), number);
                    }
                }
                pool.close_list(list);
            });
        }
        drop(give);
        // This thread gives back what others took.
        for number in taken {
            assert_eq!(pool.at(number).unwrap().fetch_sub(1, Ordering::Relaxed), 1);
            pool.give_back(None, number);
        }
    });
    assert_eq!(pool.in_use(), 0);
}

/// A thread's list closes after the thread's function has returned, so others may count meanwhile.
#[test]
#[cfg_attr(miri, ignore = "the lists of threads are never freed")]
fn places_that_an_ending_thread_kept_are_not_counted() {
    static POOL: Pool<AtomicI32> = Pool::new();
    let pool = &POOL;
    std::thread::scope(|scope| {
        let ends = scope.spawn(|| {
            for _ in 0..20_000 {
                let list = pool.open_list();
                let (number, _) = pool.take(Some(list)).unwrap();
                pool.give_back(Some(list), number);
                pool.close_list(list);
            }
        });
        while !ends.is_finished() {
            assert!(pool.in_use() <= 1);
        }
    });
    assert_eq!(pool.in_use(), 0);
}
