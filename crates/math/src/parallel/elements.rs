//! The elements of a result, in parts that are worth a thread.

use sconce_base::lock::{FutexMutex, rank};
use std::ops::Range;

use super::{available, for_each};

/// The least elements of a part, where each takes a nanosecond or two: some 30 µs. It is PyTorch's number, too.
pub const GRAIN: u64 = 1 << 15;

/// Parts of each thread, so that one that is held up costs a quarter of its share.
const PARTS: u64 = 4;

/// Calls `body` with ranges that together are all elements, each of at least `grain` of them, on several threads if
/// there are two such parts. Fails as the first range that does.
pub fn for_elements<E: Send>(
    count: u64,
    grain: u64,
    body: &(dyn Fn(Range<u64>) -> Result<(), E> + Sync),
) -> Result<(), E> {
    let most = count / grain.max(1);
    let threads = if most < 2 { 1 } else { available() as u64 };
    if threads < 2 {
        return body(0..count);
    }
    let step = count.div_ceil(most.min(PARTS * threads));
    let failure: FutexMutex<rank::ParallelOutcome, Option<(u64, E)>> = FutexMutex::new(None);
    for_each(count.div_ceil(step) as usize, &|part| {
        let first = step * part as u64;
        // Parts are taken in their order, so that those before the first failure are all calculated.
        if let Err(error) = body(first..count.min(first + step)) {
            let mut failure = failure.lock();
            if failure.as_ref().is_none_or(|(earlier, _)| first < *earlier) {
                *failure = Some((first, error));
            }
        }
    });
    let failure = failure.into_inner();
    failure.map_or(Ok(()), |(_, error)| Err(error))
}
