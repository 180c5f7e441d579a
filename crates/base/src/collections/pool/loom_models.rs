//! Models of the lists of free places under concurrent threads.

use loom::sync::Arc;

use super::*;

/// Two threads take and give back; one of them gives back what the other took.
#[test]
fn a_place_has_one_user() {
    loom::model(|| {
        let pool: Arc<Pool<AtomicU32>> = Arc::new(Pool::new());
        let other = pool.clone();
        let thread = loom::thread::spawn(move || {
            let list = other.open_list();
            let (first, value) = other.take(Some(list)).unwrap();
            assert_eq!(value.fetch_add(1, Ordering::Relaxed), 0);
            let (second, value) = other.take(Some(list)).unwrap();
            assert_eq!(value.fetch_add(1, Ordering::Relaxed), 0);
            assert_eq!(value.fetch_sub(1, Ordering::Relaxed), 1);
            other.give_back(Some(list), second);
            other.close_list(list);
            first
        });
        let list = pool.open_list();
        let (number, value) = pool.take(Some(list)).unwrap();
        assert_eq!(value.fetch_add(1, Ordering::Relaxed), 0);
        assert_eq!(value.fetch_sub(1, Ordering::Relaxed), 1);
        pool.give_back(Some(list), number);
        let handed = thread.join().unwrap();
        assert_eq!(pool.at(handed).unwrap().fetch_sub(1, Ordering::Relaxed), 1);
        pool.give_back(Some(list), handed);
        assert_eq!(pool.in_use(), 0);
    });
}

/// A thread ends while another one counts.
#[test]
fn places_that_an_ending_thread_kept_are_not_counted() {
    loom::model(|| {
        let pool: Arc<Pool<AtomicU32>> = Arc::new(Pool::new());
        let list = pool.open_list();
        let (number, _) = pool.take(Some(list)).unwrap();
        pool.give_back(Some(list), number);
        let other = pool.clone();
        let thread = loom::thread::spawn(move || other.close_list(list));
        assert_eq!(pool.in_use(), 0);
        thread.join().unwrap();
    });
}
