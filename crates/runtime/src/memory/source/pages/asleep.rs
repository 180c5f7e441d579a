//! Pages that are asleep: the mapping stays part of its run, nobody uses it, and it can lose its memory and get other
//! memory at the same addresses. What is undone is undone page by page, so that a failure leaves each page either
//! with memory or without.

use sconce_base::error::Result;
use sconce_base::types::{DeviceIndex, DevicePtr};
use sconce_driver::{Driver, PhysicalHandle, StreamRef};

use super::mapping::open;
use super::table::MappingUse;
use super::{DevicePages, FreePage};
use crate::context::Runtime;

/// A page that is to get memory: where, how much, and the memory, which belongs to the driver's handle.
#[derive(Clone, Copy, Debug)]
pub(crate) struct WakingPage {
    pub(crate) address: u64,
    pub(crate) bytes: u64,
    pub(crate) handle: PhysicalHandle,
    /// It is the first one of its run. Runs side by side may lie in two reservations, which no call of the driver may
    /// reach across.
    pub(crate) begins_run: bool,
}

impl DevicePages {
    /// The pages of a run fall asleep (`asleep`), or are woken; they are mapped. `by` is the stream of the run, if
    /// the library owns it.
    pub(crate) fn set_asleep(&mut self, from: u64, to: u64, asleep: bool, by: Option<StreamRef>) {
        let (was, now) = match asleep {
            true => (MappingUse::Present, MappingUse::Asleep),
            false => (MappingUse::Asleep, MappingUse::Present),
        };
        for page in self.mapped(from, to, was) {
            self.table.set_used(page.address, now, by);
        }
    }

    /// The pages in a range that are asleep and have memory.
    pub(crate) fn asleep_with_memory(&self, from: u64, to: u64) -> Vec<FreePage> {
        self.mapped(from, to, MappingUse::Asleep)
    }

    fn mapped(&self, from: u64, to: u64, used: MappingUse) -> Vec<FreePage> {
        self.table.pages_used_as(used, from, to).collect()
    }

    /// The pages in a range that are asleep and have no memory: addresses and bytes.
    pub(crate) fn without_memory(&self, from: u64, to: u64) -> Vec<(u64, u64)> {
        self.asleep.range(from..to).map(|(address, bytes)| (*address, *bytes)).collect()
    }

    /// The bytes of all pages that have no memory.
    pub(crate) fn sleeping_bytes(&self) -> u64 {
        self.asleep.values().sum()
    }

    /// Takes the memory of a page that is asleep, and whose work is done, and gives it back to the driver. The other
    /// mappings of the page go, too. If the driver refuses, the page keeps its memory. The
    /// driver learns the number of the pool, for messages.
    pub(crate) fn put_down(&mut self, driver: &dyn Driver, address: u64, pool: u64) -> Result<u64> {
        let Some(mapping) = self.table.mapping(address) else { return Ok(0) };
        let (id, bytes) = (mapping.page, mapping.bytes);
        let mut others = self.table.page(id).map_or(Vec::new(), |page| page.mappings.clone());
        others.retain(|other| *other != address);
        for other in others {
            self.unmap(driver, other)?;
        }
        driver.virtual_unmap(DevicePtr(address), bytes as usize)?;
        self.table.remove_mapping(address);
        self.asleep.insert(address, bytes);
        driver.memory_sleeps(DevicePtr(address), bytes as usize, pool);
        self.release(driver, &[id]);
        self.count_bytes(-(bytes as i64));
        Ok(bytes)
    }

    /// Gives memory to pages that are asleep and have none, in the order of addresses: for the device and its peers,
    /// at the addresses that they had. They stay asleep. If this fails, those that have memory now are found by
    /// [`DevicePages::asleep_with_memory`], and the memory of the others is still the caller's.
    pub(crate) fn take_up(
        &mut self,
        runtime: &Runtime,
        device: DeviceIndex,
        waking: &[WakingPage],
    ) -> Result<()> {
        let driver = runtime.driver();
        let follows = |one: &WakingPage, next: &WakingPage| {
            one.address + one.bytes == next.address && !next.begins_run
        };
        for row in waking.chunk_by(follows) {
            let Some(first) = row.first() else { continue };
            for page in row {
                let (at, bytes) = (DevicePtr(page.address), page.bytes as usize);
                driver.virtual_map(at, bytes, page.handle, 0)?;
                let id = self.table.add_page(page.handle, page.bytes);
                self.table.add_mapping(page.address, id);
                self.table.set_used(page.address, MappingUse::Asleep, None);
                self.asleep.remove(&page.address);
                driver.memory_wakes(at);
                self.count_bytes(page.bytes as i64);
            }
            open(runtime, device, first.address, row.iter().map(|page| page.bytes).sum())?;
        }
        Ok(())
    }

    /// Lets the device and its peers use the pages in a range that are asleep and have memory.
    pub(crate) fn open_kept(
        &self,
        runtime: &Runtime,
        device: DeviceIndex,
        from: u64,
        to: u64,
    ) -> Result<()> {
        let kept = self.asleep_with_memory(from, to);
        let mut rows = kept.chunk_by(|one, next| one.address + one.bytes == next.address);
        rows.try_for_each(|row| {
            let Some(first) = row.first() else { return Ok(()) };
            open(runtime, device, first.address, row.iter().map(|page| page.bytes).sum())
        })
    }

    /// Gives memory back that was made for pages and is mapped nowhere.
    pub(crate) fn drop_memory(&mut self, driver: &dyn Driver, unused: &[WakingPage]) {
        for page in unused {
            if driver.physical_release(page.handle).is_err() {
                let id = self.table.add_page(page.handle, page.bytes);
                self.spares.push(id);
            }
        }
    }

    /// A page without memory is in no run any more: its addresses can serve others.
    pub(crate) fn forget_asleep(&mut self, driver: &dyn Driver, address: u64) {
        if let Some(bytes) = self.asleep.remove(&address) {
            driver.memory_wakes(DevicePtr(address));
            self.space.give_back(address, bytes);
        }
    }
}
