//! Where a thread keeps what it knows: its address is among the thread's own cells, which one access
//! reaches together with the thread's device and streams.

use std::cell::{Cell, RefCell};
use std::mem;
use std::ptr::{NonNull, null};

use super::memo::Known;
use crate::thread_state;

/// A power of two.
pub(super) const PLACES: usize = 32;

/// What a thread keeps. Tests keep something else than the library does.
type Places<T> = RefCell<[Option<Box<T>>; PLACES]>;

/// Frees the places that it was noted with.
type Free = unsafe fn(NonNull<()>);

/// The places of a thread, which has them until it ends.
struct Owner(Cell<Option<(NonNull<()>, Free)>>);

impl Drop for Owner {
    fn drop(&mut self) {
        thread_state::set_transforms(null());
        if let Some((places, free)) = self.0.take() {
            // SAFETY: what `made` noted for these places. Nobody finds them any more, and nobody is in
            // them: the thread is ending.
            unsafe { free(places) };
        }
    }
}

thread_local! {
    static OWNER: Owner = const { Owner(Cell::new(None)) };
}

/// Uses what is in a place, if anything is; `None` also where the thread is ending, or is changing its
/// places.
#[inline(always)]
pub(super) fn with<R>(place: usize, action: impl FnOnce(&Known) -> Option<R>) -> Option<R> {
    // SAFETY: threads that come here keep nothing else.
    unsafe { with_as(place, action) }
}

/// Puts something into a place, if that can be: not while the thread is in its places, or ending.
pub(super) fn put(place: usize, known: Known) {
    // SAFETY: threads that come here keep nothing else.
    unsafe { put_as(place, known) }
}

/// # Safety
/// The thread keeps nothing but `T`s.
#[inline(always)]
unsafe fn with_as<T, R>(place: usize, action: impl FnOnce(&T) -> Option<R>) -> Option<R> {
    let places = thread_state::transforms().cast::<Places<T>>();
    // SAFETY: null, or made by `made`, for `T`s as the caller promises; it lives until the thread ends.
    let places = unsafe { places.as_ref() }?.try_borrow().ok()?;
    action(places[place % PLACES].as_deref()?)
}

/// # Safety
/// The thread keeps nothing but `T`s.
unsafe fn put_as<T>(place: usize, value: T) {
    let places = OWNER.try_with(|owner| match owner.0.get() {
        Some((places, _)) => places.cast(),
        None => made::<T>(owner),
    });
    // Not to be remembered is no failure.
    let Ok(places) = places else { return };
    // SAFETY: made by `made`, for `T`s as the caller promises; it lives until the thread ends.
    let Ok(mut places) = unsafe { places.as_ref() }.try_borrow_mut() else { return };
    let before = match &mut places[place % PLACES] {
        Some(kept) => Some(mem::replace(kept.as_mut(), value)),
        empty => {
            *empty = Some(Box::new(value));
            None
        }
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

    /// What the tests keep, on threads of their own.
    type Kept = Arc<u32>;

    fn with(place: usize) -> Option<u32> {
        // SAFETY: nothing else is kept.
        unsafe { with_as(place, |kept: &Kept| Some(**kept)) }
    }

    fn put(place: usize, kept: &Kept) {
        // SAFETY: nothing else is kept.
        unsafe { put_as(place, kept.clone()) }
    }

    fn on_its_own(test: impl FnOnce() + Send) {
        thread::scope(|scope| assert!(scope.spawn(test).join().is_ok()));
    }

    #[test]
    fn a_thread_finds_what_it_put_and_leaves_nothing_behind() {
        let kept = [Arc::new(1), Arc::new(2), Arc::new(3)];
        on_its_own(|| {
            assert_eq!(with(7), None);
            put(7, &kept[0]);
            put(8, &kept[1]);
            assert_eq!((with(7), with(8), with(9)), (Some(1), Some(2), None));
            put(7 + PLACES, &kept[2]);
            assert_eq!((with(7), Arc::strong_count(&kept[0])), (Some(3), 1));
            on_its_own(|| assert_eq!(with(7), None));
        });
        assert_eq!(kept.map(|kept| Arc::strong_count(&kept)), [1; 3]);
    }

    #[test]
    fn what_is_being_used_stays() {
        on_its_own(|| {
            let (one, two) = (Arc::new(1), Arc::new(2));
            put(3, &one);
            let used = |kept: &Kept| {
                put(3, &two);
                assert_eq!(with(3), Some(1), "looking is no change");
                Some(**kept)
            };
            // SAFETY: nothing else is kept.
            assert_eq!(unsafe { with_as(3, used) }, Some(1));
            assert_eq!((with(3), Arc::strong_count(&two)), (Some(1), 1));
            put(3, &two);
            assert_eq!((with(3), Arc::strong_count(&one)), (Some(2), 1));
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
                    unsafe { put_as(5, Putting(false)) };
                }
            }
        }
        on_its_own(|| {
            for puts in [true, false] {
                // SAFETY: nothing else is kept.
                unsafe { put_as(4, Putting(puts)) };
            }
            // SAFETY: nothing else is kept.
            assert_eq!(unsafe { with_as(5, |put: &Putting| Some(put.0)) }, Some(false));
            // SAFETY: nothing else is kept.
            unsafe { put_as(4, Putting(true)) };
        });
    }

    #[test]
    fn an_ending_thread_finds_nothing() {
        struct Last;
        impl Drop for Last {
            fn drop(&mut self) {
                let kept = Arc::new(1);
                assert_eq!(with(1), None);
                put(1, &kept);
                assert_eq!((with(1), Arc::strong_count(&kept)), (None, 1));
            }
        }
        thread_local! {
            static LAST: Last = const { Last };
        }
        on_its_own(|| {
            // Destroyed in the opposite order.
            LAST.with(|_| ());
            put(1, &Arc::new(1));
            assert_eq!(with(1), Some(1));
        });
    }
}
