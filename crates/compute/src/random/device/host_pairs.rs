//! Pairs of numbers in host memory that devices read and write. The memory is never freed: a driver may still use it
//! after a call has failed.

use std::sync::atomic::{AtomicU64, Ordering};

use sconce_base::error::Result;
use sconce_base::lock::{Mutex, rank};
use sconce_base::types::DeviceIndex;
use sconce_driver::{Driver, HostRange, RelaxedCapture};

/// Two numbers.
pub(in crate::random) type HostPair = [AtomicU64; 2];

/// Pairs that are page-locked at once: as many as a page has.
const PAIRS: usize = 256;

/// A page of pairs.
#[repr(align(4096))]
struct PairPage([HostPair; PAIRS]);

/// The pairs that no copy uses, in ordinary memory.
static SPARE: Mutex<rank::GeneratorPairs, Vec<&'static HostPair>> = Mutex::new(Vec::new());

/// The page-locked pairs that nothing uses.
static PAGE_LOCKED: Mutex<rank::GeneratorPairs, Vec<&'static HostPair>> = Mutex::new(Vec::new());

/// The numbers that a pair holds now.
pub(in crate::random) fn numbers(pair: &HostPair) -> [u64; 2] {
    [0, 1].map(|index: usize| pair[index].load(Ordering::Acquire))
}

/// A pair in ordinary memory, for one copy.
pub(in crate::random) fn ordinary(numbers: [u64; 2]) -> &'static HostPair {
    let spare = SPARE.lock().pop();
    let pair = spare.unwrap_or_else(|| Box::leak(Box::default()));
    pair.iter().zip(numbers).for_each(|(to, from)| to.store(from, Ordering::Relaxed));
    pair
}

/// Gives back a pair of [`ordinary`], whose copy is done.
pub(in crate::random) fn give_back_ordinary(pair: &'static HostPair) {
    SPARE.lock().push(pair);
}

/// A page-locked pair, to which kernels write.
pub(in crate::random) fn page_locked(
    driver: &dyn Driver,
    device: DeviceIndex,
) -> Result<&'static HostPair> {
    if let Some(pair) = PAGE_LOCKED.lock().pop() {
        return Ok(pair);
    }
    let page: &'static PairPage =
        Box::leak(Box::new(PairPage([const { [AtomicU64::new(0), AtomicU64::new(0)] }; PAIRS])));
    let memory = HostRange::of_static(page.0.as_flattened());
    {
        // Locking pages has nothing to do with what is being captured.
        let _relaxed = RelaxedCapture::enter(driver)?;
        driver.host_register(device, memory.raw(), memory.bytes())?;
    }
    let [first, rest @ ..] = &page.0;
    PAGE_LOCKED.lock().extend(rest);
    Ok(first)
}

/// Gives back a pair of [`page_locked`] to which no kernel will write any more.
pub(in crate::random) fn give_back_page_locked(pair: &'static HostPair) {
    PAGE_LOCKED.lock().push(pair);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_are_used_again() {
        let first = ordinary([1, 2]);
        assert_eq!(numbers(first), [1, 2]);
        let other = ordinary([3, 4]);
        assert_eq!((numbers(first), numbers(other)), ([1, 2], [3, 4]));
        give_back_ordinary(first);
        assert_eq!(numbers(ordinary([5, 6])), [5, 6]);
    }

    #[test]
    fn a_page_holds_its_pairs_and_nothing_else() {
        assert_eq!((size_of::<PairPage>(), align_of::<PairPage>()), (4096, 4096));
    }
}
