//! Waking: memory at the same addresses, and the bytes that were saved.

use sconce_base::error::{Error, Result};
use sconce_base::types::DeviceIndex;
use sconce_driver::RelaxedCapture;

use super::fall::before;
use super::{PoolNumber, lock, mark, rise, state, sweep};
use crate::context::Runtime;
use crate::memory::streams::sleepers::{self, SleepPhase};

/// Wakes a pool of a device. `restore`: its live blocks hold what they held; otherwise what they hold is undefined.
/// After a failure it sleeps as before.
pub(crate) fn wake(
    runtime: &Runtime,
    device: DeviceIndex,
    pool: PoolNumber<'_>,
    restore: bool,
) -> Result<()> {
    let mut saved = lock(device);
    let Some(number) = pool()? else { return Ok(()) };
    state::check(device, number, true)?;
    let Some(pool) = saved.get(&number) else {
        return Err(Error::invalid_state(format!(
            "{} is not asleep",
            sleepers::name(device, number)
        )));
    };
    let _relaxed = RelaxedCapture::enter(runtime.driver())?;
    sweep::of_pool(runtime, device, number);
    let survey = mark::survey(device, number);
    let live = before(&survey.live, pool.below);
    set_phase(device, number, SleepPhase::Waking);
    let bytes = pool.bytes.as_deref().filter(|_| restore);
    let restored = bytes.map(|bytes| (bytes, &live[..]));
    let risen = rise::open_kept(runtime, device, &survey)
        .and_then(|()| rise::rise(runtime, device, number, &survey, restored));
    if let Err(error) = risen {
        set_phase(device, number, SleepPhase::Asleep);
        return Err(error);
    }
    mark::bring_back(device, number);
    saved.remove(&number);
    Ok(())
}

fn set_phase(device: DeviceIndex, number: u64, phase: SleepPhase) {
    if let Some(pool) = sleepers::of(device, number) {
        sleepers::enter(device, number, sleepers::SleepingPool { phase, ..pool });
    }
}
