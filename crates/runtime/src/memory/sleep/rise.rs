//! Memory for the pages of a pool that sleeps, at their addresses, and the saved bytes. If anything fails, every page
//! that got memory loses it again.

use sconce_base::error::{Error, Result, Status};
use sconce_base::types::DeviceIndex;

use super::mark::PoolSurvey;
use super::{LiveBlock, SavedBytes};
use crate::caching::size_class::PoolKind;
use crate::context::Runtime;
use crate::memory::miss::{reclaim, release};
use crate::memory::source::pages::{self, WakingPage};
use crate::memory::streams::device::DeviceMemory;
use crate::memory::streams::sleepers;

/// How far ahead of the bytes pages are mapped, so that neighbours are opened to devices in one call.
const AHEAD: u64 = 32 << 20;
/// How many pages are mapped before other threads get at the pages.
const AT_ONCE: usize = 64;

/// The pages of a pool on their way back.
pub(super) struct Rising<'a> {
    runtime: &'a Runtime,
    device: DeviceIndex,
    number: u64,
    /// The pages that get memory, in the order of addresses, with the kinds of their runs.
    pages: Vec<(WakingPage, PoolKind)>,
    /// How many of them are mapped.
    mapped: usize,
    /// What is set aside of the limit for the others.
    set_aside: u64,
}

/// A page without memory that is to get some.
struct WantedPage {
    address: u64,
    bytes: u64,
    /// It is the first one of its run.
    begins_run: bool,
    kind: PoolKind,
}

/// Gives memory to the pages of a pool and brings back the bytes of blocks.
pub(super) fn rise(
    runtime: &Runtime,
    device: DeviceIndex,
    number: u64,
    survey: &PoolSurvey,
    restored: Option<(&dyn SavedBytes, &[LiveBlock])>,
) -> Result<()> {
    let mut rising = Rising::new(runtime, device, number, survey)?;
    let outcome = match restored {
        Some((bytes, blocks)) => {
            bytes.restore(runtime, device, blocks, &mut |below| rising.map(below))
        }
        None => Ok(()),
    };
    let outcome = outcome.and_then(|()| rising.map(u64::MAX));
    if outcome.is_err() {
        rising.undo();
    }
    outcome
}

/// Opens the pages of a pool that kept their memory: a wake that failed may have left some before they were opened.
pub(super) fn open_kept(runtime: &Runtime, device: DeviceIndex, survey: &PoolSurvey) -> Result<()> {
    let _passage = DeviceMemory::of(device).gate.shared();
    let pages = pages::lock(device);
    survey.runs.iter().try_for_each(|run| pages.open_kept(runtime, device, run.address, run.end()))
}

impl<'a> Rising<'a> {
    /// Gets the memory for all pages; frees what is cached if there is not enough.
    fn new(
        runtime: &'a Runtime,
        device: DeviceIndex,
        number: u64,
        survey: &PoolSurvey,
    ) -> Result<Rising<'a>> {
        let mut wanted = Vec::new();
        {
            let pages = pages::lock(device);
            for run in &survey.runs {
                let without = pages.without_memory(run.address, run.end());
                wanted.extend(without.into_iter().map(|(address, bytes)| WantedPage {
                    address,
                    bytes,
                    begins_run: address == run.address,
                    kind: run.kind,
                }));
            }
        }
        let ladder: [fn(&Runtime, DeviceIndex); 2] = [
            |runtime, device| drop(release::everything(runtime, device)),
            |runtime, device| {
                reclaim::give_back(device, usize::MAX);
                drop(release::everything(runtime, device));
            },
        ];
        let mut steps = ladder.iter();
        loop {
            match Rising::create(runtime, device, number, &wanted) {
                Err(error) if error.status() == Status::OutOfMemory => match steps.next() {
                    Some(step) => step(runtime, device),
                    None => return Err(error),
                },
                outcome => return outcome,
            }
        }
    }

    fn create(
        runtime: &'a Runtime,
        device: DeviceIndex,
        number: u64,
        wanted: &[WantedPage],
    ) -> Result<Rising<'a>> {
        let need: u64 = wanted.iter().map(|page| page.bytes).sum();
        let no_memory = |why: &str| {
            let name = sleepers::name(device, number);
            Error::new(
                Status::OutOfMemory,
                format!(
                    "{name} needs {need} bytes to wake, and {why}; it stays asleep, and can be woken later"
                ),
            )
        };
        if need != 0 && !DeviceMemory::of(device).accounting.lock().set_aside(need) {
            return Err(no_memory(
                "the limit of this process does not allow that: free memory, or raise the limit with sconce_memory_set_fraction",
            ));
        }
        let pages = Vec::with_capacity(wanted.len());
        let mut rising = Rising { runtime, device, number, pages, mapped: 0, set_aside: need };
        let driver = runtime.driver();
        for &WantedPage { address, bytes, begins_run, kind } in wanted {
            match pages::create_memory(driver, device, bytes) {
                Ok(handle) => {
                    rising.pages.push((WakingPage { address, bytes, handle, begins_run }, kind));
                }
                Err(error) => {
                    rising.undo();
                    return Err(match error.status() {
                        Status::OutOfMemory => no_memory("the device has less memory: free some")
                            .followed_by(error.message()),
                        _ => error,
                    });
                }
            }
        }
        Ok(rising)
    }

    /// Maps the pages that begin below an address, and some more.
    fn map(&mut self, below: u64) -> Result<()> {
        let Some((next, _)) = self.pages.get(self.mapped) else { return Ok(()) };
        if next.address >= below {
            return Ok(());
        }
        let ahead = below.max(next.address + AHEAD);
        let until = self.pages.partition_point(|(page, _)| page.address < ahead);
        while self.mapped < until {
            let from = self.mapped;
            let these = &self.pages[from..until.min(from + AT_ONCE)];
            let home = DeviceMemory::of(self.device);
            let _passage = home.gate.shared();
            let waking: Vec<WakingPage> = these.iter().map(|(page, _)| *page).collect();
            let outcome = pages::lock(self.device).take_up(self.runtime, self.device, &waking);
            let mut count = these.len();
            if outcome.is_err() {
                let pages = pages::lock(self.device);
                count = waking
                    .iter()
                    .take_while(|page| {
                        pages.without_memory(page.address, page.address + 1).is_empty()
                    })
                    .count();
            }
            let mut accounting = home.accounting.lock();
            for (page, kind) in &these[..count] {
                accounting.gained_pages(*kind, page.bytes);
                self.set_aside -= page.bytes;
            }
            drop(accounting);
            self.mapped += count;
            outcome?;
        }
        Ok(())
    }

    /// Takes the memory of all pages again. One that the driver does not unmap keeps it, and stays asleep.
    fn undo(&mut self) {
        let home = DeviceMemory::of(self.device);
        let driver = self.runtime.driver();
        let _passage = home.gate.shared();
        let mut pages = pages::lock(self.device);
        let (mapped, unused) = self.pages.split_at(self.mapped);
        for (page, kind) in mapped {
            if let Ok(bytes) = pages.put_down(driver, page.address, self.number) {
                home.accounting.lock().lost_pages(*kind, bytes);
            }
        }
        let unused: Vec<WakingPage> = unused.iter().map(|(page, _)| *page).collect();
        pages.drop_memory(driver, &unused);
        if self.set_aside != 0 {
            home.accounting.lock().cancel(self.set_aside);
        }
    }
}
