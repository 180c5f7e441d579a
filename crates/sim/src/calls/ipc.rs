//! Memory and events between processes.
//!
//! The handle of an allocation leads to a small file that lists the allocation's pages. The handle
//! of an event leads to the page that processes share of it.
#![forbid(unsafe_code)]

use std::collections::hash_map::Entry;
use std::ffi::CStr;
use std::fs::File;
use std::io::{self, Read};
use std::os::fd::AsRawFd;
use std::sync::Arc;

use sconce_base::error::{Cause, Error, Result};
use sconce_base::types::{DeviceIndex, DevicePtr};
use sconce_driver::{EventFlags, EventHandle, Ipc, IpcHandle};

use crate::call::Call;
use crate::codes;
use crate::host::pages::constant_file;
use crate::machine::event::Event;
use crate::memory::{Backing, DEVICE_FILE, Extent, Mapping, MappingKind, Physical};
use crate::processes::event_page::{EVENT_FILE, EventPage, Nonce};
use crate::processes::handle::{EVENT, HandleFields, MEMORY, nonce, numbers};
use crate::state::{Simulator, State};

/// The name of the files that list pages.
const LISTING_FILE: &CStr = c"sconce-sim-listing";
/// The longest listing that is read. One of a device's 4 KiB pages each apart is 8 MiB for 4 GiB.
const LONGEST_LISTING: u64 = 1 << 30;

impl Ipc for Simulator {
    fn ipc_memory_export(&self, ptr: DevicePtr) -> Result<IpcHandle> {
        let (inner, call) = (&self.inner, Call::IpcMemoryExport);
        inner.enter(call)?;
        let space = inner.space.read();
        let (base, device, physical) = match space.mapping_at(ptr.0) {
            Some((base, Mapping { kind: MappingKind::Plain, physical, .. })) => {
                (base, physical.device, Arc::clone(physical))
            }
            _ => {
                let why = format!("ptr {ptr} is not in an allocation of memory_alloc");
                return Err(codes::failure_because(call, codes::INVALID_VALUE, why));
            }
        };
        // The other process cannot know which pages are untouched.
        space.touch_all(base);
        let mut exports = inner.exports.lock();
        let (nonce, file) = match exports.0.entry(base) {
            Entry::Occupied(entry) => entry.into_mut(),
            Entry::Vacant(entry) => {
                let nonce = nonce()?;
                let listing = listing(nonce, &physical)
                    .map_err(|_| codes::failure(call, codes::OPERATING_SYSTEM))?;
                entry.insert((nonce, listing))
            }
        };
        Ok(HandleFields::here(MEMORY, file.as_raw_fd(), inner.visible.number_of(device), *nonce)
            .pack())
    }

    fn ipc_memory_open(&self, device: DeviceIndex, handle: &IpcHandle) -> Result<DevicePtr> {
        let (inner, call) = (&self.inner, Call::IpcMemoryOpen);
        inner.enter_context(call, device)?;
        inner.check_held_back(call)?;
        let number = inner.visible.number_of(device);
        let fields =
            HandleFields::of(handle, MEMORY, number).map_err(|code| refused(call, code))?;
        let mut space = inner.space.write();
        if let Some(address) = space.open_again(fields.nonce) {
            return Ok(DevicePtr(address));
        }
        let physical =
            foreign(&fields, device).map_err(|_| refused(call, codes::INVALID_HANDLE))?;
        let kind = MappingKind::Opened { opens: 1, export: fields.nonce };
        space.place(Arc::new(physical), kind).map(DevicePtr).map_err(|code| refused(call, code))
    }

    fn ipc_memory_close(&self, ptr: DevicePtr) -> Result<()> {
        let (inner, call) = (&self.inner, Call::IpcMemoryClose);
        inner.enter(call)?;
        let device = match inner.space.read().mapping_at(ptr.0) {
            Some((base, Mapping { kind: MappingKind::Opened { .. }, physical, .. }))
                if base == ptr.0 =>
            {
                physical.device
            }
            _ => {
                let why = format!("ptr {ptr} did not come from ipc_memory_open");
                return Err(codes::failure_because(call, codes::INVALID_VALUE, why));
            }
        };
        inner.await_device(call, device)?;
        inner.space.write().close(ptr.0).map_err(|code| codes::failure(call, code))
    }

    fn ipc_event_export(&self, event: EventHandle) -> Result<IpcHandle> {
        let (inner, call) = (&self.inner, Call::IpcEventExport);
        inner.enter(call)?;
        let engine = inner.machine.engine.lock();
        let event = engine.event(call, event)?;
        match &event.shared {
            Some((page, _)) => {
                let number = inner.visible.number_of(event.device);
                Ok(HandleFields::here(EVENT, page.fd(), number, page.nonce()).pack())
            }
            None => Err(codes::failure_because(
                call,
                codes::INVALID_HANDLE,
                "the event was not made with interprocess",
            )),
        }
    }

    fn ipc_event_open(&self, device: DeviceIndex, handle: &IpcHandle) -> Result<EventHandle> {
        let (inner, call) = (&self.inner, Call::IpcEventOpen);
        inner.enter_context(call, device)?;
        let number = inner.visible.number_of(device);
        let fields = HandleFields::of(handle, EVENT, number).map_err(|code| refused(call, code))?;
        let page = fields
            .open(fields.fd.into(), EVENT_FILE, false)
            .and_then(|file| EventPage::open(file, number.as_i32(), fields.nonce))
            .map_err(|_| refused(call, codes::INVALID_HANDLE))?;
        let flags = EventFlags { interprocess: true, ..EventFlags::default() };
        Ok(inner.machine.engine.lock().add_event(Event::new(device, flags, Some(page))))
    }
}

impl State {
    /// Makes handles of a freed allocation useless.
    pub(crate) fn forget_export(&self, address: u64) {
        self.exports.lock().0.remove(&address);
    }
}

fn refused(call: Call, code: i32) -> Error {
    let why = match code {
        codes::INVALID_VALUE => "the handle is damaged, or of another kind or another device",
        codes::INVALID_CONTEXT => "the handle is of this process, which cannot open its own",
        codes::INVALID_HANDLE => "the process that made the handle, or what it names, is gone",
        _ => "the memory cannot be mapped",
    };
    let error = codes::failure_because(call, code, why);
    if code == codes::INVALID_CONTEXT { error.with_cause(Cause::OwnHandle) } else { error }
}

/// A file that lists an allocation's pages: the random number, the descriptor of the pages'
/// file, and offset and length of each extent.
fn listing(nonce: Nonce, physical: &Physical) -> io::Result<File> {
    let mut numbers = nonce.to_vec();
    numbers.push(physical.file.as_raw_fd() as u64);
    for extent in &physical.extents {
        numbers.extend([extent.offset, extent.bytes]);
    }
    let bytes: Vec<u8> = numbers.iter().flat_map(|number| number.to_le_bytes()).collect();
    constant_file(LISTING_FILE, &bytes)
}

/// The pages that a handle's listing names.
fn foreign(fields: &HandleFields, device: DeviceIndex) -> io::Result<Physical> {
    let invalid = || io::Error::from(io::ErrorKind::InvalidData);
    // A file opened through /proc has a position of its own.
    let mut listing = fields.open(fields.fd.into(), LISTING_FILE, true)?;
    let length = listing.metadata()?.len();
    if length > LONGEST_LISTING {
        return Err(invalid());
    }
    let mut bytes = vec![0; length as usize];
    listing.read_exact(&mut bytes)?;
    let numbers = numbers(&bytes);
    let [a, b, c, fd, extents @ ..] = &numbers[..] else { return Err(invalid()) };
    if [*a, *b, *c] != fields.nonce {
        return Err(invalid());
    }
    let file = fields.open(*fd, DEVICE_FILE, false)?;
    let length = file.metadata()?.len();
    let extents: Vec<Extent> =
        extents.chunks_exact(2).map(|pair| Extent { offset: pair[0], bytes: pair[1] }).collect();
    let inside =
        |extent: &Extent| extent.offset.checked_add(extent.bytes).is_some_and(|end| end <= length);
    if extents.is_empty() || !extents.iter().all(inside) {
        return Err(invalid());
    }
    Ok(Physical::new(device, Arc::new(file), extents, Backing::Foreign))
}
