//! Where a thread keeps what it knows: its address is among the thread's own cells, which one access
//! reaches together with the thread's device and streams.
//!
//! What has the same first place has a second one, too: two that are used in turn do not drive each other
//! out.

use std::cell::{Cell, RefCell};
use std::mem;
use std::ptr::{NonNull, null};

use super::memo::Known;
use crate::{process, thread_state};

/// A power of two.
pub(super) const PLACES: usize = 64;

/// What a thread keeps. Tests keep something else than the library does.
type Places<T> = RefCell<[Option<Box<T>>; PLACES]>;

/// Frees the places that it was noted with.
type Free = unsafe fn(NonNull<()>);

/// The places of a thread, which has them until it ends.
struct Owner(Cell<Option<(NonNull<()>, Free)>>);

impl Drop for Owner {
    fn drop(&mut self) {
        thread_state::set_transforms(null());
        // In a forked child the plans behind the places stay: letting go of one takes locks.
        if !process::in_child()
            && let Some((places, free)) = self.0.take()
        {
            // SAFETY: what `made` noted for these places. Nobody finds them any more, and nobody is in
            // them: the thread is ending.
            unsafe { free(places) };
        }
    }
}

thread_local! {
    static OWNER: Owner = const { Owner(Cell::new(None)) };
}

/// Uses what `is_it` among what belongs into a place, if it is there; `None` also where the thread is
/// ending, or is changing its places.
#[inline(always)]
pub(super) fn with<R>(
    place: usize,
    is_it: impl Fn(&Known) -> bool,
    action: impl FnOnce(&Known) -> Option<R>,
) -> Option<R> {
    // SAFETY: threads that come here keep nothing else.
    unsafe { with_as(place, is_it, action) }
}

/// Puts something into a place, for what `is_it` or what was there longest; if that can be: not while
/// the thread is in its places, or ending.
pub(super) fn put(place: usize, is_it: impl Fn(&Known) -> bool, known: Known) {
    // SAFETY: threads that come here keep nothing else.
    unsafe { put_as(place, is_it, known) }
}

/// # Safety
/// The thread keeps nothing but `T`s.
#[inline(always)]
unsafe fn with_as<T, R>(
    place: usize,
    is_it: impl Fn(&T) -> bool,
    action: impl FnOnce(&T) -> Option<R>,
) -> Option<R> {
    let places = thread_state::transforms().cast::<Places<T>>();
    // SAFETY: null, or made by `made`, for `T`s as the caller promises; it lives until the thread ends.
    let places = unsafe { places.as_ref() }?.try_borrow().ok()?;
    let kept = match places[place % PLACES].as_deref() {
        Some(kept) if is_it(kept) => kept,
        Some(_) => in_second(&places, place, is_it)?,
        None => return None,
    };
    action(kept)
}

#[inline(never)]
fn in_second<T>(
    places: &[Option<Box<T>>; PLACES],
    place: usize,
    is_it: impl Fn(&T) -> bool,
) -> Option<&T> {
    places[second(place)].as_deref().filter(|kept| is_it(kept))
}

/// The second place of what belongs into a place.
fn second(place: usize) -> usize {
    (place ^ 1) % PLACES
}

/// # Safety
/// The thread keeps nothing but `T`s.
unsafe fn put_as<T>(place: usize, is_it: impl Fn(&T) -> bool, value: T) {
    let places = OWNER.try_with(|owner| match owner.0.get() {
        Some((places, _)) => places.cast(),
        None => made::<T>(owner),
    });
    // Not to be remembered is no failure.
    let Ok(places) = places else { return };
    // SAFETY: made by `made`, for `T`s as the caller promises; it lives until the thread ends.
    let Ok(mut places) = unsafe { places.as_ref() }.try_borrow_mut() else { return };
    let (first, second) = (place % PLACES, second(place));
    let there = |kept: &Option<Box<T>>| kept.as_deref().is_some_and(&is_it);
    let before = if there(&places[second]) {
        places[second].replace(Box::new(value))
    } else if places[first].is_none() || there(&places[first]) {
        places[first].replace(Box::new(value))
    } else {
        let moved = places[first].replace(Box::new(value));
        mem::replace(&mut places[second], moved)
    };
    // What it does when it is dropped may come back here.
    drop((places, before));
}

/// Makes the places of a thread that has none.
fn made<T>(owner: &Owner) -> NonNull<Places<T>> {
    /// # Safety
    /// A box of these places, leaked, and not used any more.
    unsafe fn free<T>(places: NonNull<()>) {
        // SAFETY: the caller's promise is the one asked for.
        drop(unsafe { Box::from_raw(places.cast::<Places<T>>().as_ptr()) });
    }
    let made = Box::<Places<T>>::new(RefCell::new([const { None }; PLACES]));
    let made = NonNull::from(Box::leak(made));
    owner.0.set(Some((made.cast(), free::<T>)));
    thread_state::set_transforms(made.as_ptr().cast_const().cast());
    made
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use std::sync::Arc;
    use std::thread;

    /// What the tests keep, on threads of their own; equal ones belong together.
    type Kept = Arc<u32>;

    fn finds(place: usize, number: u32) -> bool {
        // SAFETY: nothing else is kept.
        unsafe { with_as(place, |kept: &Kept| **kept == number, |_| Some(())) }.is_some()
    }

    fn put(place: usize, kept: &Kept) {
        // SAFETY: nothing else is kept.
        unsafe { put_as(place, |other: &Kept| other == kept, kept.clone()) }
    }

    /// How many have a part in each.
    fn holders<const N: usize>(kept: &[Kept; N]) -> [usize; N] {
        std::array::from_fn(|index| Arc::strong_count(&kept[index]))
    }

    fn on_its_own(test: impl FnOnce() + Send) {
        thread::scope(|scope| assert!(scope.spawn(test).join().is_ok()));
    }

    #[test]
    fn a_thread_finds_what_it_put_and_leaves_nothing_behind() {
        let kept = [1, 2].map(Arc::new);
        on_its_own(|| {
            assert!(!finds(6, 1));
            put(6, &kept[0]);
            put(8, &kept[1]);
            assert!(finds(6, 1) && finds(6 + PLACES, 1) && finds(8, 2));
            assert!(!finds(6, 2) && !finds(10, 1));
            on_its_own(|| assert!(!finds(6, 1)));
            assert_eq!(holders(&kept), [2, 2]);
        });
        assert_eq!(holders(&kept), [1, 1]);
    }

    #[test]
    fn two_of_one_place_stay_and_a_third_takes_that_of_the_first() {
        let kept = [1, 2, 3].map(Arc::new);
        on_its_own(|| {
            put(6, &kept[0]);
            put(6, &kept[1]);
            assert!(finds(6, 1) && finds(6, 2));
            for again in [&kept[0], &kept[1]] {
                put(6, again);
                assert_eq!(holders(&kept), [2, 2, 1]);
            }
            put(6, &kept[2]);
            assert!(!finds(6, 1) && finds(6, 2) && finds(6, 3));
            assert_eq!(holders(&kept), [1, 2, 2]);
        });
    }

    #[test]
    fn what_is_being_used_stays() {
        on_its_own(|| {
            let kept = [1, 2].map(Arc::new);
            put(3, &kept[0]);
            let use_it = |_: &Kept| {
                put(3, &kept[1]);
                assert!(finds(3, 1), "looking is no change");
                Some(())
            };
            // SAFETY: nothing else is kept.
            assert_eq!(unsafe { with_as(3, |_| true, use_it) }, Some(()));
            assert_eq!(holders(&kept), [2, 1]);
            put(3, &kept[1]);
            assert_eq!(holders(&kept), [2, 2]);
        });
    }

    #[test]
    fn what_is_dropped_may_put_something() {
        /// Puts one that does nothing when it is dropped.
        struct Putting(bool);
        impl Drop for Putting {
            fn drop(&mut self) {
                if self.0 {
                    // SAFETY: nothing else is kept.
                    unsafe { put_as(9, |_| true, Putting(false)) };
                }
            }
        }
        on_its_own(|| {
            for puts in [true, false] {
                // SAFETY: nothing else is kept.
                unsafe { put_as(4, |_| true, Putting(puts)) };
            }
            // SAFETY: nothing else is kept.
            assert_eq!(unsafe { with_as(9, |_| true, |put: &Putting| Some(put.0)) }, Some(false));
            // SAFETY: nothing else is kept.
            unsafe { put_as(4, |_| true, Putting(true)) };
        });
    }

    #[test]
    fn an_ending_thread_finds_nothing() {
        struct Last;
        impl Drop for Last {
            fn drop(&mut self) {
                let kept = [1].map(Arc::new);
                assert!(!finds(1, 1));
                put(1, &kept[0]);
                assert!(!finds(1, 1));
                assert_eq!(holders(&kept), [1]);
            }
        }
        thread_local! {
            static LAST: Last = const { Last };
        }
        on_its_own(|| {
            // Destroyed in the opposite order.
            LAST.with(|_| ());
            put(1, &Arc::new(1));
            assert!(finds(1, 1));
        });
    }
}
