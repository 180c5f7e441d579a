//! The driver's calls for pages. Each undoes what it has done if a later step fails; what cannot be undone
//! is noted, never used again, and tried again later.

use std::sync::atomic::{AtomicBool, Ordering};

use sconce_base::collections::per_device::{PerDevice, per_device};
use sconce_base::error::{Cause, Error, Result, Status};
use sconce_base::types::{DeviceIndex, DevicePtr};
use sconce_driver::{Access, Driver, EventFlags, PhysicalHandle, StreamRef};

use super::free::PageId;
use super::table::MappingUse;
use super::{DevicePages, SMALLEST_PAGE, lock};
use crate::context::Runtime;
use crate::device::peers;
use crate::event::NativeEvent;

/// Lets the driver's devices that may use a device's memory use a range of its pages.
pub(super) fn open(runtime: &Runtime, device: DeviceIndex, address: u64, bytes: u64) -> Result<()> {
    let driver = runtime.driver();
    let (at, bytes) = (DevicePtr(address), bytes as usize);
    driver.virtual_set_access(at, bytes, device, Access::ReadWrite)?;
    for user in runtime.devices().filter(|user| *user != device) {
        if peers::is_enabled(user, device) {
            driver.virtual_set_access(at, bytes, user, Access::ReadWrite)?;
        }
    }
    Ok(())
}

/// Lets a device use all pages of a peer, which it has got access to.
pub(super) fn open_to_peer(runtime: &Runtime, user: DeviceIndex, owner: DeviceIndex) -> Result<()> {
    let pages = lock(owner);
    for (address, mapping) in
        pages.table.all().filter(|(_, mapping)| mapping.used != MappingUse::Broken)
    {
        let bytes = mapping.bytes as usize;
        runtime.driver().virtual_set_access(DevicePtr(address), bytes, user, Access::ReadWrite)?;
    }
    Ok(())
}

/// The devices whose driver refuses to make memory that other processes can open.
static REFUSES_SHARING: PerDevice<AtomicBool> = per_device!(AtomicBool::new(false));

/// Gets physical memory from the driver that other processes can open. If the driver refuses to make such memory, it
/// makes other memory, and is not asked again.
pub(crate) fn create_memory(
    driver: &dyn Driver,
    device: DeviceIndex,
    bytes: u64,
) -> Result<PhysicalHandle> {
    let refuses = &REFUSES_SHARING[device];
    if !refuses.load(Ordering::Relaxed) {
        match driver.physical_create(device, bytes as usize, true) {
            Err(error) if is_refusal(&error) => {}
            outcome => return outcome,
        }
    }
    let handle = driver.physical_create(device, bytes as usize, false)?;
    refuses.store(true, Ordering::Relaxed);
    Ok(handle)
}

/// Whether an error means that the driver does not make such memory, rather than that it failed.
fn is_refusal(error: &Error) -> bool {
    matches!(error.status(), Status::InvalidArgument | Status::NotSupported)
        || error.cause() == Some(Cause::NotPermitted)
}

/// Of more new pages than this, it is worth asking first whether there is memory for all of them.
const MANY_PAGES: usize = 64;

impl DevicePages {
    /// Refuses devices whose pages are larger than this library's.
    pub(crate) fn check_unit(driver: &dyn Driver, device: DeviceIndex) -> Result<()> {
        let unit = driver.virtual_granularity(device)? as u64;
        if unit != 0 && SMALLEST_PAGE.is_multiple_of(unit) {
            return Ok(());
        }
        Err(Error::new(
            Status::NotSupported,
            format!("device {device} has pages of {unit} bytes; policy:pages needs 2 MiB or less"),
        ))
    }

    /// Refuses many pages for which the device has no memory, before any of them is made: thousands would have to be
    /// given back. The driver may have more memory than it reports as free, so the refusal is the driver's, to a
    /// request for all of it in one piece.
    fn check_free_memory(
        &mut self,
        driver: &dyn Driver,
        device: DeviceIndex,
        sizes: &[u64],
    ) -> Result<()> {
        if sizes.len() <= MANY_PAGES {
            return Ok(());
        }
        let wanted = sizes.iter().sum();
        let free = driver.memory_info(device).map_or(usize::MAX, |info| info.free_bytes) as u64;
        if free >= wanted {
            return Ok(());
        }
        match create_memory(driver, device, wanted) {
            Ok(handle) => {
                let piece = self.table.add_page(handle, wanted);
                self.release(driver, &[piece]);
                Ok(())
            }
            Err(error) if error.status() == Status::OutOfMemory => Err(error),
            // What is refused in one piece may be had in pages.
            Err(_) => Ok(()),
        }
    }

    /// Gets pages from the driver, without mappings.
    pub(crate) fn create(
        &mut self,
        driver: &dyn Driver,
        device: DeviceIndex,
        sizes: &[u64],
    ) -> Result<Vec<PageId>> {
        self.check_free_memory(driver, device, sizes)?;
        let mut made = Vec::with_capacity(sizes.len());
        for &bytes in sizes {
            let of_size = |id: &PageId| self.table.page(*id).is_some_and(|it| it.bytes == bytes);
            if let Some(place) = self.spares.iter().position(of_size) {
                made.push(self.spares.swap_remove(place));
                continue;
            }
            match create_memory(driver, device, bytes) {
                Ok(handle) => made.push(self.table.add_page(handle, bytes)),
                Err(error) => {
                    self.release(driver, &made);
                    return Err(error);
                }
            }
        }
        Ok(made)
    }

    /// Gives pages without mappings back. Those that the driver does not take are kept for later.
    pub(crate) fn release(&mut self, driver: &dyn Driver, pages: &[PageId]) {
        for &id in pages {
            // One whose mapping could not be undone goes when that has been undone.
            let bare = self.table.page(id).filter(|page| page.mappings.is_empty());
            let Some(page) = bare else { continue };
            match driver.physical_release(page.handle) {
                Ok(()) => self.table.remove_page(id),
                Err(_) => self.spares.push(id),
            }
        }
    }

    /// Tries once more to give back what the driver did not take.
    pub(crate) fn release_spares(&mut self, driver: &dyn Driver) {
        let spares = std::mem::take(&mut self.spares);
        self.release(driver, &spares);
        let broken: Vec<u64> = self
            .table
            .all()
            .filter(|(_, mapping)| mapping.used == MappingUse::Broken)
            .map(|(address, _)| address)
            .collect();
        for address in broken {
            let _ = self.unmap(driver, address);
        }
        self.release_unmapped(driver);
    }

    /// Releases pages whose last mapping was a broken one, which is gone now.
    fn release_unmapped(&mut self, driver: &dyn Driver) {
        let lost: Vec<PageId> = self.table.without_mapping();
        let lost: Vec<PageId> = lost.into_iter().filter(|id| !self.spares.contains(id)).collect();
        self.release(driver, &lost);
    }

    /// Maps pages side by side, for the device and its peers, at an address or where there is room. No mapping
    /// is present yet. Returns the address.
    pub(crate) fn map(
        &mut self,
        runtime: &Runtime,
        device: DeviceIndex,
        pages: &[PageId],
        at: Option<u64>,
        device_bytes: u64,
    ) -> Result<u64> {
        let driver = runtime.driver();
        let size = |id: &PageId| self.table.page(*id).map_or(0, |page| page.bytes);
        let bytes: u64 = pages.iter().map(size).sum();
        let base = match at.filter(|at| self.space.take_at(*at, bytes)) {
            Some(at) => at,
            None => self.space.take(driver, bytes, device_bytes)?,
        };
        let mut end = base;
        let mut outcome = Ok(());
        for &id in pages {
            let Some(page) = self.table.page(id) else { continue };
            let size = page.bytes;
            outcome = driver.virtual_map(DevicePtr(end), size as usize, page.handle, 0);
            if outcome.is_err() {
                break;
            }
            self.table.add_mapping(end, id);
            end += size;
        }
        if outcome.is_ok() {
            outcome = open(runtime, device, base, bytes);
        }
        let Err(error) = outcome else { return Ok(base) };
        // No work has used these mappings.
        let mapped: Vec<u64> = self
            .table
            .all()
            .map(|(address, _)| address)
            .filter(|it| (base..end).contains(it))
            .collect();
        for address in mapped {
            if self.unmap(driver, address).is_err() {
                self.table.set_used(address, MappingUse::Broken, None);
            }
        }
        if end < base + bytes {
            self.space.give_back(end, base + bytes - end);
        }
        Err(error)
    }

    /// Undoes a mapping that no work uses.
    pub(crate) fn unmap(&mut self, driver: &dyn Driver, address: u64) -> Result<()> {
        let Some(mapping) = self.table.mapping(address) else { return Ok(()) };
        let bytes = mapping.bytes;
        driver.virtual_unmap(DevicePtr(address), bytes as usize)?;
        self.table.remove_mapping(address);
        self.space.give_back(address, bytes);
        Ok(())
    }

    /// Gives a page back whose work is done: every mapping is undone, the present one last, and then the
    /// memory goes. If the driver refuses to undo one, the page stays where it is present.
    pub(crate) fn give_back(&mut self, driver: &dyn Driver, present: u64) -> Result<()> {
        let Some(mapping) = self.table.mapping(present) else { return Ok(()) };
        let id = mapping.page;
        let mut others = self.table.page(id).map_or(Vec::new(), |page| page.mappings.clone());
        others.retain(|address| *address != present);
        for address in others {
            self.unmap(driver, address)?;
        }
        self.unmap(driver, present)?;
        self.release(driver, &[id]);
        Ok(())
    }

    /// Gives addresses back that nothing is mapped at, once there is no page.
    pub(crate) fn release_addresses(&mut self, driver: &dyn Driver) -> Result<()> {
        if self.table.is_empty() { self.space.release_unused(driver) } else { Ok(()) }
    }

    /// Counts bytes that came into runs from the driver, or went back.
    pub(crate) fn count_bytes(&mut self, change: i64) {
        self.bytes = self.bytes.saturating_add_signed(change);
    }

    /// Undoes spare mappings once there are many, without waiting: those that the library's stream `stream` used
    /// last, when an event that was recorded on it since is complete.
    pub(crate) fn evict(&mut self, runtime: &Runtime, stream: Option<StreamRef>) -> Result<()> {
        let driver = runtime.driver();
        if let Some((number, event)) = &self.fence {
            let _asks = driver.asks_for_itself();
            if !driver.event_query(event.handle())? {
                return Ok(());
            }
            for address in self.table.fenced(*number) {
                self.unmap(driver, address)?;
            }
            self.fence = None;
        }
        let (pages, mappings) = self.table.counts();
        let Some(stream) = stream.filter(|_| mappings > 3 * pages) else { return Ok(()) };
        let event = NativeEvent::obtain(runtime, stream.device, EventFlags::default())?;
        driver.event_record(event.handle(), stream)?;
        let number = self.last_fence + 1;
        if self.table.mark(stream, number) > 0 {
            self.last_fence = number;
            self.fence = Some((number, event));
        }
        Ok(())
    }
}
