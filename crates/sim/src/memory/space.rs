//! The address space: which memory is mapped where, and which devices may use it.
#![forbid(unsafe_code)]

use std::collections::{BTreeMap, HashMap};
use std::ffi::CStr;
use std::fs::File;
use std::io;
use std::sync::Arc;

use sconce_base::types::{DeviceIndex, DevicePtr, MAX_DEVICES};
use sconce_driver::{Access, PointerInfo, PointerKind, VisibleDevices};

use super::access::Intent;
use super::physical::{Backing, Extent, POISON, Physical};
use super::pinned::PinnedRanges;
use super::ranges::FreeRanges;
use super::sleeping::SleepingRanges;
use crate::codes;
use crate::host::pages::{AddressWindow, PAGE, memory_file, punch_hole};
use crate::host::place::HostPlace;
use crate::processes::event_page::Nonce;

/// The name of the file of a device's memory.
pub(crate) const DEVICE_FILE: &CStr = c"sconce-sim-device";

/// The smallest window, and the factor between the devices' memory and the window.
const WINDOW_BYTES: u64 = 64 << 30;
const WINDOW_FACTOR: u64 = 16;

/// The unit that accesses memory.
#[derive(Clone, Copy)]
pub(crate) struct Accessor {
    device: DeviceIndex,
    copy_engine: bool,
}

impl Accessor {
    /// A kernel of the device: needs peer access to other devices' memory.
    pub(crate) fn kernel(device: DeviceIndex) -> Accessor {
        Accessor { device, copy_engine: false }
    }

    /// A copy on a stream of the device: the driver finds a way between any two devices.
    pub(crate) fn copy_engine(device: DeviceIndex) -> Accessor {
        Accessor { device, copy_engine: true }
    }
}

/// How a mapping came to be.
pub(crate) enum MappingKind {
    /// `memory_alloc`.
    Plain,
    /// `virtual_map`, with each device's rights.
    Virtual(Box<[Access; MAX_DEVICES]>),
    /// Mapped by `ipc_memory_open` of this export; the number counts the calls.
    Opened { opens: usize, export: Nonce },
}

/// A range of addresses with memory behind it.
pub(crate) struct Mapping {
    pub(crate) bytes: u64,
    pub(crate) physical: Arc<Physical>,
    /// Where in the physical memory it begins.
    pub(crate) offset: u64,
    pub(crate) kind: MappingKind,
    /// No other mapping has had it.
    pub(crate) id: u64,
}

/// The memory of one device.
pub(crate) struct DeviceStore {
    pub(crate) file: Arc<File>,
    pub(crate) pages: FreeRanges,
    pub(crate) used: u64,
    /// The devices whose memory this device's kernels may use, a bit each.
    pub(crate) peers: u64,
}

/// The address space of a simulator. Accesses hold its lock shared, changes hold it exclusively.
pub(crate) struct AddressSpace {
    pub(crate) window: AddressWindow,
    pub(crate) free: FreeRanges,
    pub(crate) total: u64,
    pub(crate) devices: Vec<DeviceStore>,
    pub(crate) mappings: BTreeMap<u64, Mapping>,
    pub(crate) reservations: BTreeMap<u64, u64>,
    pub(crate) handles: HashMap<u64, Arc<Physical>>,
    pub(crate) next_handle: u64,
    pub(crate) mappings_made: u64,
    pub(crate) pinned: PinnedRanges,
    pub(crate) sleeping: SleepingRanges,
    pub(crate) visible: VisibleDevices,
}

impl AddressSpace {
    pub(crate) fn new(devices: i32, bytes: u64) -> io::Result<AddressSpace> {
        let total = bytes.checked_next_multiple_of(PAGE).ok_or(io::ErrorKind::OutOfMemory)?;
        let all = total.saturating_mul(devices as u64);
        let mut wanted = all.saturating_mul(WINDOW_FACTOR).max(WINDOW_BYTES);
        let window = loop {
            match AddressWindow::reserve(wanted) {
                Ok(window) => break window,
                Err(why) if wanted / 2 < all => return Err(why),
                Err(_) => wanted /= 2,
            }
        };
        let store = |_| {
            let file = Arc::new(memory_file(DEVICE_FILE, total)?);
            Ok(DeviceStore { file, pages: FreeRanges::new(0, total), used: 0, peers: 0 })
        };
        Ok(AddressSpace {
            // Nothing at the very start, so that running below it is seen.
            free: FreeRanges::new(window.base() + PAGE, window.bytes() - PAGE),
            window,
            total,
            devices: (0..devices).map(store).collect::<io::Result<_>>()?,
            mappings: BTreeMap::new(),
            reservations: BTreeMap::new(),
            handles: HashMap::new(),
            next_handle: 1,
            visible: VisibleDevices::all(devices),
            mappings_made: 0,
            pinned: PinnedRanges::default(),
            sleeping: SleepingRanges::default(),
        })
    }

    /// The devices of the machine that the process sees; all of them at first.
    pub(crate) fn set_visible(&mut self, visible: VisibleDevices) {
        self.visible = visible;
    }

    /// Turns the reuse of freed addresses on or off: of device memory, of reserved ranges and of
    /// pinned host memory.
    pub(crate) fn set_reuse(&mut self, reuse: bool) {
        self.free.set_reuse(reuse);
        self.pinned.set_reuse(reuse);
    }

    /// Writes what lies at an address of the window, for a message. Allocates nothing.
    pub(crate) fn describe(&self, address: u64, to: &mut dyn std::fmt::Write) -> std::fmt::Result {
        match self.mapping_at(address) {
            Some((base, mapping)) => write!(
                to,
                "byte {} of the {} bytes that device {} allocated at {base:#x}",
                address - base,
                mapping.bytes,
                mapping.physical.device
            ),
            None if self.sleeping.describe(address, to)? => Ok(()),
            None => write!(to, "no memory lies there; it may have been freed"),
        }
    }

    /// Whether an address belongs to devices, mapped or not.
    pub(crate) fn is_device_address(&self, address: usize) -> bool {
        self.window.contains(address as u64)
    }

    /// The mapping that holds an address, and where it begins.
    pub(crate) fn mapping_at(&self, address: u64) -> Option<(u64, &Mapping)> {
        let (base, mapping) = self.mappings.range(..=address).next_back()?;
        (address - base < mapping.bytes).then_some((*base, mapping))
    }

    /// Resolves a range of users' addresses to the place where the simulator finds its memory, if
    /// `accessor` may use it now. The place is valid as long as the lock is held.
    pub(crate) fn resolve(
        &self,
        accessor: Accessor,
        address: u64,
        bytes: u64,
        intent: Intent,
    ) -> Result<HostPlace, i32> {
        if !self.window.contains(address) {
            return self.pinned.resolve(address, bytes).ok_or(codes::ILLEGAL_ADDRESS);
        }
        let touch = |base, mapping: &Mapping, offset, part| {
            self.touch(base, mapping, offset, part, intent == Intent::Write);
        };
        if !self.walk(accessor, address, bytes, intent, touch) {
            self.sleeping.complain(address, bytes);
            return Err(codes::ILLEGAL_ADDRESS);
        }
        self.window.shadow(address, bytes).ok_or(codes::ILLEGAL_ADDRESS)
    }

    /// Whether `accessor` could use the range if it ran now.
    pub(crate) fn is_usable(
        &self,
        accessor: Accessor,
        address: u64,
        bytes: u64,
        intent: Intent,
    ) -> bool {
        if self.window.contains(address) {
            self.walk(accessor, address, bytes, intent, |_, _, _, _| ())
        } else {
            self.pinned.resolve(address, bytes).is_some()
        }
    }

    /// Calls `visit` for each mapping of a range of the window, with its start and the part of it that
    /// belongs to the range. Returns false at a gap, and where `accessor` has no right.
    fn walk(
        &self,
        accessor: Accessor,
        address: u64,
        bytes: u64,
        intent: Intent,
        visit: impl Fn(u64, &Mapping, u64, u64),
    ) -> bool {
        let Some(end) = address.checked_add(bytes) else { return false };
        let mut at = address;
        loop {
            let Some((base, mapping)) = self.mapping_at(at) else { return false };
            if !self.may(accessor, mapping, intent) {
                return false;
            }
            let part = end.min(base + mapping.bytes) - at;
            visit(base, mapping, at - base, part);
            at += part;
            if at >= end {
                return true;
            }
        }
    }

    fn may(&self, accessor: Accessor, mapping: &Mapping, intent: Intent) -> bool {
        let (device, owner) = (accessor.device, mapping.physical.device);
        match &mapping.kind {
            MappingKind::Virtual(rights) => {
                let allows = |device: DeviceIndex| match rights[device.as_usize()] {
                    Access::None => false,
                    Access::Read => intent == Intent::Read,
                    Access::ReadWrite => true,
                };
                allows(device) || (accessor.copy_engine && allows(owner))
            }
            MappingKind::Plain | MappingKind::Opened { .. } => {
                device == owner
                    || accessor.copy_engine
                    || self.devices[device.as_usize()].peers >> owner.as_usize() & 1 == 1
            }
        }
    }

    fn touch(&self, base: u64, mapping: &Mapping, offset: u64, bytes: u64, overwrites: bool) {
        let from = mapping.offset;
        mapping.physical.touch(from + offset, bytes, overwrites, |page| {
            if let Some(place) = self.window.shadow(base + page - from, PAGE) {
                place.fill(POISON, PAGE as usize);
            }
        });
    }

    /// Touches every page of a mapping, for processes that do not know which pages are touched.
    pub(crate) fn touch_all(&self, base: u64) {
        if let Some(mapping) = self.mappings.get(&base) {
            self.touch(base, mapping, 0, mapping.bytes, false);
        }
    }

    /// Maps a range of physical memory at an address of the window; undoes a part on failure.
    pub(crate) fn map_physical(
        &self,
        address: u64,
        physical: &Physical,
        offset: u64,
        bytes: u64,
    ) -> io::Result<()> {
        let mut at = address;
        for Extent { offset, bytes: part } in physical.parts(offset, bytes) {
            if let Err(why) = self.window.map(at, part, &physical.file, offset) {
                let _ = self.window.unmap(address, bytes);
                return Err(why);
            }
            at += part;
        }
        Ok(())
    }

    /// Enters a mapping.
    pub(crate) fn enter(
        &mut self,
        address: u64,
        physical: Arc<Physical>,
        at: Extent,
        kind: MappingKind,
    ) {
        self.mappings_made += 1;
        let (Extent { offset, bytes }, id) = (at, self.mappings_made);
        self.mappings.insert(address, Mapping { bytes, physical, offset, kind, id });
    }

    /// Takes pages of a device that no one else has; `None` when there are not enough.
    pub(crate) fn take_pages(&mut self, device: DeviceIndex, bytes: u64) -> Option<Physical> {
        let store = &mut self.devices[device.as_usize()];
        if bytes > self.total - store.used {
            return None;
        }
        let pieces = store.pages.take_pieces(bytes)?;
        store.used += bytes;
        let extents = pieces.into_iter().map(|(offset, bytes)| Extent { offset, bytes }).collect();
        Some(Physical::new(device, Arc::clone(&store.file), extents, Backing::DevicePages))
    }

    /// Drops one owner of physical memory; after the last one the memory goes.
    pub(crate) fn drop_physical(&mut self, physical: Arc<Physical>) {
        let Some(physical) = Arc::into_inner(physical) else { return };
        let store = &mut self.devices[physical.device.as_usize()];
        if physical.backing == Backing::Foreign {
            return;
        }
        store.used -= physical.bytes;
        if physical.backing == Backing::DevicePages {
            for Extent { offset, bytes } in physical.extents {
                // A refusal costs the host memory and nothing else: the next user poisons the
                // pages.
                let _ = punch_hole(&store.file, offset, bytes);
                store.pages.give(offset, bytes);
            }
        }
    }

    pub(crate) fn used(&self, device: DeviceIndex) -> u64 {
        self.devices[device.as_usize()].used
    }

    /// Bytes of the host that stand behind the device's memory.
    #[cfg(test)]
    pub(crate) fn host_bytes(&self, device: DeviceIndex) -> u64 {
        use std::os::unix::fs::MetadataExt;
        self.devices[device.as_usize()].file.metadata().map_or(u64::MAX, |file| file.blocks() * 512)
    }

    pub(crate) fn total(&self) -> u64 {
        self.total
    }

    pub(crate) fn enable_peer(&mut self, device: DeviceIndex, peer: DeviceIndex) {
        self.devices[device.as_usize()].peers |= 1 << peer.as_usize();
    }

    pub(crate) fn pointer_info(&self, address: usize) -> PointerInfo {
        if let Some((base, mapping)) = self.mapping_at(address as u64) {
            return PointerInfo {
                kind: PointerKind::Device(mapping.physical.device),
                base: DevicePtr(base),
                bytes: mapping.bytes as usize,
                id: mapping.id,
            };
        }
        match self.pinned.at(address) {
            Some((base, bytes)) => PointerInfo {
                kind: PointerKind::PinnedHost,
                base: DevicePtr(base as u64),
                bytes,
                id: 0,
            },
            None => PointerInfo::unregistered(address),
        }
    }
}
