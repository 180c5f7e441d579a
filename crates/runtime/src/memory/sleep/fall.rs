//! Falling asleep: the pool gives no more memory, its work is waited for, its live bytes are saved, and its pages go to
//! the driver, the first ones while later ones are still being saved.

use sconce_base::error::{Error, Result};
use sconce_base::types::DeviceIndex;
use sconce_driver::RelaxedCapture;

use super::mark::{self, PoolSurvey};
use super::{LiveBlock, PoolNumber, SavedBytes, SavedPool, lock, rise, state};
use crate::caching::size_class::PoolKind;
use crate::caching::wait_for_devices;
use crate::context::Runtime;
use crate::device::peers;
use crate::memory::fixed_pools;
use crate::memory::miss::{reclaim, release, release_pages};
use crate::memory::pool_holds;
use crate::memory::source::{pages, uncached};
use crate::memory::streams::deferred;
use crate::memory::streams::device::DeviceMemory;
use crate::memory::streams::sleepers::{self, SleepMode, SleepPhase, SleepingPool};
use crate::stream::{self, GivingBack};

/// How many pages are taken before other threads get at the pages.
const AT_ONCE: usize = 64;

/// Puts a pool to sleep on a device, and returns whether there was one. `make` makes storage for the bytes of the live
/// blocks.
pub(crate) fn sleep(
    runtime: &Runtime,
    device: DeviceIndex,
    pool: PoolNumber<'_>,
    mode: SleepMode,
    make: impl FnOnce(&[LiveBlock]) -> Result<Box<dyn SavedBytes>>,
) -> Result<bool> {
    if uncached::is_on() {
        return Err(Error::not_supported(
            "memory does not sleep without caching (PYTORCH_NO_CUDA_MEMORY_CACHING); unset that variable, and set \
             policy:pages (expandable_segments:True)",
        ));
    }
    let mut saved = lock(device);
    let Some(number) = pool()? else { return Ok(false) };
    state::check(device, number, false)?;
    fixed_pools::refuse_sleep(device, number)?;
    let users = users(runtime, device);
    let begun = hold_captures(runtime, device, number, &users)?;
    let _relaxed = RelaxedCapture::enter(runtime.driver())?;
    give_back_free(runtime, device, number, begun.first())?;
    let survey = mark::set_apart(device, number, mode)?;
    let mut falling = Falling::new(runtime, device, number, &survey);
    let outcome = falling.fall(&users, &survey, make);
    let below = falling.below;
    let mut keep = |bytes: Box<dyn SavedBytes>, below| {
        let saved_bytes = bytes.bytes();
        let pool = SleepingPool { phase: SleepPhase::Asleep, mode, saved_bytes };
        let is_destroyed = state::is_abandoned(device, number);
        saved.insert(number, SavedPool { bytes: Some(bytes), below, is_destroyed });
        sleepers::enter(device, number, pool);
    };
    let (error, bytes) = match outcome {
        Ok(bytes) => {
            keep(bytes, u64::MAX);
            return Ok(true);
        }
        Err(failed) => failed,
    };
    // The way back.
    if let Some(bytes) = bytes {
        let blocks = before(&survey.live, below);
        let back = rise::rise(runtime, device, number, &survey, Some((&*bytes, &blocks)));
        if let Err(second) = back {
            keep(bytes, below);
            let name = sleepers::name(device, number);
            return Err(error.followed_by(format_args!(
                "{name} is asleep all the same, because waking it again failed: {}; call sconce_memory_pool_wake to try \
                 again",
                second.message()
            )));
        }
    }
    mark::bring_back(device, number);
    Err(error)
}

/// What of blocks lies below an address.
pub(super) fn before(blocks: &[LiveBlock], below: u64) -> Vec<LiveBlock> {
    let cut = |block: &LiveBlock| {
        let bytes = block.bytes.min(below.saturating_sub(block.address));
        LiveBlock { bytes, ..*block }
    };
    blocks.iter().map(cut).filter(|block| block.bytes != 0).collect()
}

/// The devices whose work may use memory of a device.
fn users(runtime: &Runtime, device: DeviceIndex) -> Vec<DeviceIndex> {
    let others = runtime.devices().filter(|user| peers::is_enabled(*user, device));
    others.chain([device]).collect()
}

/// Keeps captures from beginning; refused while a stream of one of the devices is captured, since the device could not
/// be waited for.
fn hold_captures(
    runtime: &Runtime,
    device: DeviceIndex,
    number: u64,
    users: &[DeviceIndex],
) -> Result<Vec<GivingBack<'static>>> {
    let hold = |user: &DeviceIndex| {
        stream::give_back(runtime, *user, None).ok_or_else(|| {
            let name = sleepers::name(device, number);
            Error::invalid_state(format!(
                "a stream of device {user} is being captured, and {name} cannot sleep until the capture has ended"
            ))
        })
    };
    users.iter().map(hold).collect()
}

/// Gives back what needs no saving: idle blocks of other modules, and, unless graphs may name it, what is free.
fn give_back_free(
    runtime: &Runtime,
    device: DeviceIndex,
    number: u64,
    begun: Option<&GivingBack<'_>>,
) -> Result<()> {
    reclaim::free_idle_blocks(device);
    let home = DeviceMemory::of(device);
    let _rescue = home.rescue(begun);
    home.count_sync();
    deferred::wait_for_all(runtime, device)?;
    if pool_holds::is_held(number) {
        return Ok(());
    }
    release::segments(runtime, device, |_, _, pool| pool.number == number)?;
    release_pages::of_pools(runtime, device, |pool| pool.number == number)?;
    Ok(())
}

/// A page of a pool that falls asleep.
struct FallingPage {
    address: u64,
    bytes: u64,
    kind: PoolKind,
}

/// The pages of a pool on their way to the driver.
struct Falling<'a> {
    runtime: &'a Runtime,
    device: DeviceIndex,
    number: u64,
    pages: Vec<FallingPage>,
    /// How many of them are gone.
    gone: usize,
    /// All live bytes below are saved.
    below: u64,
}

/// Why a pool did not fall asleep, and the saved bytes if there are any.
type FallFailure = (Error, Option<Box<dyn SavedBytes>>);

impl<'a> Falling<'a> {
    fn new(
        runtime: &'a Runtime,
        device: DeviceIndex,
        number: u64,
        survey: &PoolSurvey,
    ) -> Falling<'a> {
        let table = pages::lock(device);
        let mut pages = Vec::new();
        for run in &survey.runs {
            let of_run = table.asleep_with_memory(run.address, run.end()).into_iter();
            pages.extend(of_run.map(|page| FallingPage {
                address: page.address,
                bytes: page.bytes,
                kind: run.kind,
            }));
        }
        drop(table);
        Falling { runtime, device, number, pages, gone: 0, below: 0 }
    }

    fn fall(
        &mut self,
        users: &[DeviceIndex],
        survey: &PoolSurvey,
        make: impl FnOnce(&[LiveBlock]) -> Result<Box<dyn SavedBytes>>,
    ) -> std::result::Result<Box<dyn SavedBytes>, FallFailure> {
        // Any stream may use a live block, and programs need not report which one does.
        let users = if survey.runs.is_empty() { Vec::new() } else { users.to_vec() };
        wait_for_devices(self.runtime, users).map_err(|error| (error, None))?;
        let mut bytes = make(&survey.live).map_err(|error| (error, None))?;
        let (runtime, device) = (self.runtime, self.device);
        let saved = bytes.save(runtime, device, &survey.live, &mut |below| self.put_down(below));
        match saved.and_then(|()| self.put_down(u64::MAX)) {
            Ok(()) => Ok(bytes),
            Err(error) => Err((error, Some(bytes))),
        }
    }

    /// All live bytes below an address are saved: the pages that end there go to the driver.
    fn put_down(&mut self, below: u64) -> Result<()> {
        self.below = below;
        let until = self.pages.partition_point(|page| page.address + page.bytes <= below);
        while self.gone < until {
            let home = DeviceMemory::of(self.device);
            let _passage = home.gate.shared();
            let mut table = pages::lock(self.device);
            for page in &self.pages[self.gone..until.min(self.gone + AT_ONCE)] {
                let bytes = table.put_down(self.runtime.driver(), page.address, self.number)?;
                home.accounting.lock().lost_pages(page.kind, bytes);
                self.gone += 1;
            }
        }
        Ok(())
    }
}
