//! Whether an event is alive: one atomic word in the event's slot.
//!
//! The upper 30 bits are the number of the event. A slot serves many events one after the other, each with another
//! number. The lower two bits are the state: `ALIVE`, and `BOUND` once the event has a driver's event.
//!
//! An event gets its driver's event at the first record, so many are destroyed before they have one. Such an event is
//! destroyed by one compare-and-exchange, without a lock. A first record on another thread may run at the same time. It
//! sets `BOUND` before it stores the driver's event: if the event was destroyed before that, setting the bit fails; if
//! the bit was set before, the destroyer sees it, takes the event's lock and finds the driver's event.

use sconce_base::sync::{AtomicU32, Ordering};

/// The event is alive.
const ALIVE: u32 = 1;
/// The event has a driver's event, or is being given one.
const BOUND: u32 = 2;
/// The difference between the numbers of two successive events of a slot.
const STEP: u32 = 4;

/// The word of a slot.
#[derive(Debug)]
pub(super) struct EventLife(AtomicU32);

/// The number of an event among those of its slot, as the event's handle has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct EventNumber(u32);

impl EventNumber {
    /// The number in a handle; `None` if no event has it.
    #[inline]
    pub(super) fn from_bits(bits: u32) -> Option<EventNumber> {
        (bits & (ALIVE | BOUND) == ALIVE).then_some(EventNumber(bits))
    }

    /// The number for a handle.
    #[inline]
    pub(super) fn bits(self) -> u32 {
        self.0
    }

    /// Whether this is the last number: the slot can have no more events.
    #[inline]
    pub(super) fn is_last(self) -> bool {
        self.0 >= u32::MAX - STEP
    }
}

/// How a call that ends an event found it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ended {
    /// It had ended before.
    Before,
    /// It had no driver's event, and gets none.
    Unbound,
    /// It has a driver's event, or a thread with the event's lock is giving it one.
    Bound,
}

impl Default for EventLife {
    fn default() -> EventLife {
        EventLife(AtomicU32::new(0))
    }
}

impl EventLife {
    /// Begins the life of an event. The caller has taken the free slot, so no other thread changes the word.
    #[inline]
    pub(super) fn begin(&self, bound: bool) -> EventNumber {
        let number = EventNumber(self.0.load(Ordering::Relaxed) | ALIVE);
        let bound = if bound { BOUND } else { 0 };
        self.0.store(number.0 | bound, Ordering::Release);
        number
    }

    /// Whether an event is alive.
    #[inline]
    pub(super) fn is_alive(&self, event: EventNumber) -> bool {
        self.0.load(Ordering::Acquire) & !BOUND == event.0
    }

    /// Says that the event is about to get a driver's event; `false` if the event has ended. The event's lock is held.
    pub(super) fn bind(&self, event: EventNumber) -> bool {
        let bound = event.0 | BOUND;
        match self.0.compare_exchange(event.0, bound, Ordering::AcqRel, Ordering::Acquire) {
            Ok(_) => true,
            Err(now) => now == bound,
        }
    }

    /// Ends an event. If several threads do so, all but one get [`Ended::Before`]; that one clears the slot and gives
    /// it back.
    #[inline]
    pub(super) fn end(&self, event: EventNumber) -> Ended {
        let next = (event.0 & !ALIVE).wrapping_add(STEP);
        let end = |from: u32| {
            self.0.compare_exchange(from, next, Ordering::AcqRel, Ordering::Relaxed).is_ok()
        };
        if end(event.0) {
            return Ended::Unbound;
        }
        if end(event.0 | BOUND) { Ended::Bound } else { Ended::Before }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn an_event_is_alive_from_its_beginning_to_its_end() {
        let life = EventLife::default();
        let first = life.begin(false);
        assert!(life.is_alive(first));
        assert_eq!(EventNumber::from_bits(first.bits()), Some(first));
        assert_eq!(life.end(first), Ended::Unbound);
        assert!(!life.is_alive(first) && !life.bind(first));
        assert_eq!(life.end(first), Ended::Before);
        let second = life.begin(true);
        assert!(life.is_alive(second) && !life.is_alive(first));
        assert_eq!(life.end(second), Ended::Bound);
        let third = life.begin(false);
        assert!(life.bind(third) && life.bind(third) && life.is_alive(third));
        assert_eq!(life.end(third), Ended::Bound);
    }

    #[test]
    fn no_number_of_a_handle_is_that_of_a_free_or_bound_place() {
        for bits in [0, 2, 3, 4, 7, u32::MAX] {
            assert_eq!(EventNumber::from_bits(bits), None, "{bits}");
        }
    }

    #[test]
    fn a_place_ends_with_its_numbers() {
        let life = EventLife(AtomicU32::new(u32::MAX - 7));
        let event = life.begin(false);
        assert!(!event.is_last());
        assert_eq!(life.end(event), Ended::Unbound);
        let last = life.begin(false);
        assert!(last.is_last());
        assert_eq!(life.end(last), Ended::Unbound);
    }
}

#[cfg(all(test, loom))]
mod loom_models {
    use loom::sync::Arc;
    use sconce_base::lock::rank;
    use sconce_base::sync::Mutex;

    use super::*;

    /// A place as events use it: the lock guards what stands for the driver's event.
    #[derive(Clone)]
    struct Place(Arc<(EventLife, Mutex<rank::EventState, Option<u32>>)>);

    impl Place {
        fn new() -> Place {
            Place(Arc::new((EventLife::default(), Mutex::new(None))))
        }

        /// The first record.
        fn record(&self, event: EventNumber) -> bool {
            let (life, native) = &*self.0;
            let mut native = native.lock();
            let bound = life.is_alive(event) && life.bind(event);
            if bound {
                *native = Some(event.bits());
            }
            bound
        }

        /// Whether this call destroyed the event, and whether it found a driver's event.
        fn destroy(&self, event: EventNumber) -> (bool, bool) {
            let (life, native) = &*self.0;
            match life.end(event) {
                Ended::Before => (false, false),
                Ended::Unbound => (true, false),
                Ended::Bound => {
                    let taken = native.lock().take();
                    assert_eq!(taken, Some(event.bits()), "a bound event has its driver's event");
                    (true, true)
                }
            }
        }
    }

    #[test]
    fn of_two_destroyers_one_wins() {
        loom::model(|| {
            let place = Place::new();
            let event = place.0.0.begin(false);
            let other = place.clone();
            let thread = loom::thread::spawn(move || other.destroy(event).0);
            let here = place.destroy(event).0;
            assert_eq!(usize::from(here) + usize::from(thread.join().unwrap()), 1);
        });
    }

    #[test]
    fn a_first_record_leaves_nothing_in_a_place_that_was_freed() {
        loom::model(|| {
            let place = Place::new();
            let event = place.0.0.begin(false);
            let other = place.clone();
            let thread = loom::thread::spawn(move || other.record(event));
            let (destroyed, bound) = place.destroy(event);
            assert!(destroyed);
            // The place has another event now.
            let next = place.0.0.begin(false);
            let recorded = thread.join().unwrap();
            assert_eq!(recorded, bound);
            assert_eq!(
                *place.0.1.lock(),
                None,
                "the next event has the driver's event of this one"
            );
            assert_eq!(place.destroy(next), (true, false));
        });
    }

    #[test]
    fn two_first_records_meet_a_destroyer() {
        loom::model(|| {
            let place = Place::new();
            let event = place.0.0.begin(false);
            let threads: Vec<_> = (0..2)
                .map(|_| {
                    let other = place.clone();
                    loom::thread::spawn(move || other.record(event))
                })
                .collect();
            let (destroyed, bound) = place.destroy(event);
            let recorded = threads.into_iter().map(|t| t.join().unwrap());
            let recorded = recorded.filter(|recorded| *recorded).count();
            assert!(destroyed && (bound || recorded == 0));
            assert_eq!(*place.0.1.lock(), None);
        });
    }
}
