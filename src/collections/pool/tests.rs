use std::collections::HashSet;
use std::sync::atomic::AtomicI32;

use super::*;

#[test]
fn numbers_fill_the_chunks_without_gaps() {
    let mut expected = (0, 0);
    for number in 0..5000 {
        assert_eq!(locate(number), expected);
        expected.1 += 1;
        if expected.1 == FIRST_CHUNK << expected.0 {
            expected = (expected.0 + 1, 0);
        }
    }
    assert_eq!(locate(MOST_PLACES as u32 - 1).0, CHUNKS - 1);
    assert_eq!(locate(MOST_PLACES as u32).0, CHUNKS);
}

#[test]
fn any_number_may_be_looked_up() {
    let pool: Pool<AtomicI32> = Pool::new();
    assert!(pool.at(0).is_none());
    let (number, _) = pool.take(None).unwrap();
    assert!(pool.at(number).is_some());
    for number in [FIRST_CHUNK as u32, MOST_PLACES as u32, u32::MAX] {
        assert!(pool.at(number).is_none(), "{number}");
    }
}

#[test]
#[cfg_attr(miri, ignore = "the lists of threads are never freed")]
fn a_thread_gets_its_own_places_back_and_gives_batches_away() {
    let pool: Pool<AtomicI32> = Pool::new();
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
    assert!(pool.shared.lock().free.len() >= 9 * KEPT, "a thread keeps too many places");
    // Counting takes no lock.
    let shared = pool.shared.lock();
    assert_eq!(pool.in_use(), 1);
    let made = shared.made;
    drop(shared);
    // Another thread uses what this one gave back.
    let other = pool.open_list();
    assert!(many.contains(&pool.take(Some(other)).unwrap().0));
    assert_eq!(pool.shared.lock().made, made);
    pool.close_list(other);
    assert_eq!((other.count(), pool.in_use()), (0, 2));
    assert!(std::ptr::eq(pool.open_list(), other), "the list of an ended thread is used again");
}

#[test]
#[cfg_attr(miri, ignore = "the lists of threads are never freed")]
fn threads_never_share_a_place() {
    let rounds = if cfg!(miri) { 20 } else { 2000 };
    let pool: Pool<AtomicI32> = Pool::new();
    let (give, taken) = std::sync::mpsc::channel::<u32>();
    std::thread::scope(|scope| {
        for _ in 0..4 {
            let (pool, give) = (&pool, give.clone());
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
