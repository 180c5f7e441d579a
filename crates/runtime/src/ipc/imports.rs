//! The allocations of other processes that this process has opened: each once with the driver, and counted
//! by offset.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use sconce_base::error::{Cause, Error, Result};
use sconce_base::lock::{Mutex, Once, rank};
use sconce_base::types::{DeviceIndex, DevicePtr};
use sconce_driver::{Access, Driver, IpcHandle, RelaxedCapture};

use super::consumer::Consumer;
use super::mapping::{self, ImportedMapping};
use super::refusals::{beyond_end, captured, granted, not_open, own};
use super::{handle, service};
use crate::context::{Runtime, runtime};
use crate::device::{self, parked, peers};
use crate::stream;

static IMPORTS: Mutex<rank::IpcImports, Option<Imports>> = Mutex::new(None);

/// All imports. Not locked during a wait, nor while an import's lock is taken.
#[derive(Default)]
struct Imports {
    by_handle: HashMap<(DeviceIndex, IpcHandle), Arc<Import>>,
    by_address: BTreeMap<u64, ImportPlace>,
}

/// Where an import is, by its base address.
struct ImportPlace {
    bytes: u64,
    /// This library has mapped it, and opens it to devices.
    mapped: bool,
    import: Arc<Import>,
}

/// An allocation that is open or being opened.
struct Import {
    device: DeviceIndex,
    handle: IpcHandle,
    /// Locked while the allocation is being opened or closed; other threads wait for the outcome.
    opened: Mutex<rank::IpcImport, Option<OpenImport>>,
}

struct OpenImport {
    memory: ImportedMemory,
    base: u64,
    bytes: u64,
    /// `None` if the handle has no door.
    consumer: Option<Consumer>,
    /// For each offset, the number of times that it is open.
    uses: HashMap<u64, usize>,
}

enum ImportedMemory {
    Segment,
    Virtual(ImportedMapping),
}

/// Whether an address is in memory of another process.
pub(super) fn holds(address: usize) -> bool {
    find(address).is_some()
}

/// The open allocation that contains an address, with its base address.
fn find(address: usize) -> Option<(u64, Arc<Import>)> {
    let imports = IMPORTS.lock();
    let (base, place) = imports.as_ref()?.by_address.range(..=address as u64).next_back()?;
    (address as u64 - base < place.bytes).then(|| (*base, Arc::clone(&place.import)))
}

/// Opens another process's allocation for a device (-1: the current one). Returns the address at the offset.
pub fn open(device: i32, handle: &IpcHandle, offset: usize) -> Result<usize> {
    let runtime = runtime()?;
    let device = device::resolve(runtime, device)?;
    let _relaxed = RelaxedCapture::enter(runtime.driver())?;
    if service::is_own(handle) {
        return Err(own());
    }
    let offset = offset as u64;
    let import = {
        let mut imports = IMPORTS.lock();
        let by_handle = &mut imports.get_or_insert_default().by_handle;
        let entry = by_handle.entry((device, *handle)).or_insert_with(|| {
            Arc::new(Import { device, handle: *handle, opened: Mutex::new(None) })
        });
        Arc::clone(entry)
    };
    let base = import.open(runtime, offset);
    remove_unused(import);
    Ok((base? + offset) as usize)
}

/// Lets a device use all mapped imports of a peer, which it has got access to.
fn open_to_peer(runtime: &Runtime, user: DeviceIndex, owner: DeviceIndex) -> Result<()> {
    let imports = IMPORTS.lock();
    let places = imports.iter().flat_map(|imports| &imports.by_address);
    let mut mapped = places.filter(|(_, it)| it.mapped && it.import.device == owner);
    mapped.try_for_each(|(base, it)| {
        let (base, bytes) = (DevicePtr(*base), it.bytes as usize);
        runtime.driver().virtual_set_access(base, bytes, user, Access::ReadWrite)
    })
}

/// Takes an import out of the table, before another one can get its addresses.
fn leave(base: u64) {
    if let Some(imports) = &mut *IMPORTS.lock() {
        imports.by_address.remove(&base);
    }
}

/// Removes an import that is not open and that no other thread is opening.
fn remove_unused(import: Arc<Import>) {
    let mut imports = IMPORTS.lock();
    // One reference is in the table and one here; others are only made under the lock.
    if Arc::strong_count(&import) == 2
        && import.opened.try_lock().is_some_and(|opened| opened.is_none())
        && let Some(imports) = &mut *imports
    {
        imports.by_handle.remove(&(import.device, import.handle));
    }
    drop(import);
}

impl Import {
    /// Opens the allocation at an offset. Returns its base address.
    fn open(self: &Arc<Import>, runtime: &Runtime, offset: u64) -> Result<u64> {
        let mut opened = self.opened.lock();
        if let Some(opened) = &mut *opened {
            opened.open_again(offset)?;
            return Ok(opened.base);
        }
        let found = self.open_first(runtime.driver(), offset)?;
        // Entered first: a device that becomes a peer from now on is given access by `open_to_peer`.
        self.enter(&found);
        if let Err(error) = self.open_to_peers(runtime, &found) {
            leave(found.base);
            return Err(mapping::after(error, found.close_memory(runtime.driver())));
        }
        let base = found.base;
        *opened = Some(found);
        Ok(base)
    }

    fn enter(self: &Arc<Import>, opened: &OpenImport) {
        let mapped = matches!(opened.memory, ImportedMemory::Virtual(_));
        let place = ImportPlace { bytes: opened.bytes, mapped, import: Arc::clone(self) };
        IMPORTS.lock().get_or_insert_default().by_address.insert(opened.base, place);
    }

    /// Lets the devices that are peers of the memory's device use it. The driver does so for segments.
    fn open_to_peers(&self, runtime: &Runtime, opened: &OpenImport) -> Result<()> {
        static ONCE: Once<rank::FirstTime> = Once::new();
        if !matches!(opened.memory, ImportedMemory::Virtual(_)) {
            return Ok(());
        }
        ONCE.call_once(|| peers::on_enabled(open_to_peer));
        let (base, bytes) = (DevicePtr(opened.base), opened.bytes as usize);
        let others = runtime.devices().filter(|user| *user != self.device);
        others.filter(|user| peers::is_enabled(*user, self.device)).try_for_each(|user| {
            runtime.driver().virtual_set_access(base, bytes, user, Access::ReadWrite)
        })
    }

    fn open_first(&self, driver: &dyn Driver, offset: u64) -> Result<OpenImport> {
        let is_virtual = handle::is_of_virtual_memory(&self.handle)?;
        let uses = HashMap::from([(offset, 1)]);
        let Some(mut consumer) = Consumer::connect_to(&self.handle)? else {
            if is_virtual {
                return Err(Error::invalid_handle(
                    "the process that made the handle has ended or has freed the memory, or it \
                     cannot be reached from here (another network namespace)",
                ));
            }
            let (base, bytes) = self.open_untracked(driver, offset)?;
            return Ok(OpenImport {
                memory: ImportedMemory::Segment,
                base,
                bytes,
                consumer: None,
                uses,
            });
        };
        let reply = consumer.open(offset, false)?;
        granted(&reply, offset)?;
        if driver.device_properties(self.device)?.uuid != reply.uuid {
            return Err(Error::invalid_argument(format!(
                "handle is of memory of another device than {}; open it on the device whose \
                 memory it is",
                self.device
            )));
        }
        let (memory, base) = if is_virtual {
            let mapping = ImportedMapping::open(driver, self.device, reply.bytes, |from| {
                let (reply, pages) = consumer.pages(from)?;
                granted(&reply, offset).map(|()| pages)
            })?;
            let base = mapping.ptr;
            (ImportedMemory::Virtual(mapping), base)
        } else {
            (ImportedMemory::Segment, driver.ipc_memory_open(self.device, &self.handle)?)
        };
        Ok(OpenImport { memory, base: base.0, bytes: reply.bytes, consumer: Some(consumer), uses })
    }

    /// Opens a segment whose handle has no door, so that its uses are not counted by its exporter. Returns its
    /// base address and size.
    fn open_untracked(&self, driver: &dyn Driver, offset: u64) -> Result<(u64, u64)> {
        let base = driver
            .ipc_memory_open(self.device, &self.handle)
            .map_err(|error| if error.cause() == Some(Cause::OwnHandle) { own() } else { error })?;
        let checked = driver.pointer_info(base.0 as usize).and_then(|info| {
            let bytes = info.bytes as u64;
            if offset < bytes { Ok(bytes) } else { Err(beyond_end(offset, bytes)) }
        });
        match checked {
            Ok(bytes) => Ok((base.0, bytes)),
            Err(error) => {
                driver.ipc_memory_close(base)?;
                Err(error)
            }
        }
    }
}

impl OpenImport {
    /// Closes the memory with the driver. After an error it is still open.
    fn close_memory(&self, driver: &dyn Driver) -> Result<()> {
        match &self.memory {
            ImportedMemory::Segment => driver.ipc_memory_close(DevicePtr(self.base)),
            ImportedMemory::Virtual(mapping) => mapping.close(driver),
        }
    }

    fn open_again(&mut self, offset: u64) -> Result<()> {
        let used = self.uses.contains_key(&offset);
        match &mut self.consumer {
            Some(consumer) => granted(&consumer.open(offset, used)?, offset)?,
            None if offset >= self.bytes => return Err(beyond_end(offset, self.bytes)),
            None => {}
        }
        *self.uses.entry(offset).or_insert(0) += 1;
        Ok(())
    }
}

/// Closes an address that [`open`] returned. Waits for the device.
pub fn close(address: usize) -> Result<()> {
    let runtime = runtime()?;
    if address == 0 {
        return Ok(());
    }
    let (base, import) = find(address).ok_or_else(|| not_open(address))?;
    let closed = import.close(runtime, base, address);
    remove_unused(import);
    closed
}

impl Import {
    fn close(self: &Arc<Import>, runtime: &Runtime, base: u64, address: usize) -> Result<()> {
        let driver = runtime.driver();
        let offset = address as u64 - base;
        let mut place = self.opened.lock();
        let opened = place.as_mut().filter(|opened| opened.base == base);
        let opened = opened.ok_or_else(|| not_open(address))?;
        let uses = opened.uses.get_mut(&offset).ok_or_else(|| not_open(address))?;
        if *uses > 1 {
            *uses -= 1;
            return Ok(());
        }
        // A wait for the device would invalidate the capture.
        let Some(_no_capture_begins) = stream::give_back(runtime, self.device, None) else {
            return Err(captured(address, self.device));
        };
        let _relaxed = RelaxedCapture::enter(driver)?;
        // After it no work of this process uses the memory, and the other process may use it.
        parked::wait(runtime, self.device)?;
        if opened.uses.len() > 1 {
            opened.uses.remove(&offset);
            if let Some(consumer) = &mut opened.consumer {
                consumer.close(offset);
            }
            return Ok(());
        }
        // Removed first: once the memory is closed another import may get its addresses.
        leave(base);
        let closed = opened.close_memory(driver);
        match closed {
            Ok(()) => *place = None,
            Err(_) => {
                self.enter(opened);
                // For a device that became a peer meanwhile; the memory is to be closed anyway.
                let _ = self.open_to_peers(runtime, opened);
            }
        }
        closed
    }
}
