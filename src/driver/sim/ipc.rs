//! Memory and events between processes.
//!
//! A handle names the process and one of its descriptors, and the other side opens that descriptor
//! through `/proc`, which the system allows to processes of the same user. For memory the descriptor
//! is a small file that lists the pages; those are then opened the same way. A random number in
//! handle and file tells a reused descriptor from the right one.
#![forbid(unsafe_code)]

use std::collections::HashMap;
use std::collections::hash_map::RandomState;
use std::fs::File;
use std::hash::{BuildHasher, Hasher};
use std::io::{self, Read, Seek, Write};
use std::os::fd::AsRawFd;
use std::sync::Arc;

use crate::driver::{EventFlags, EventHandle, IpcHandle};
use crate::error::Result;
use crate::types::{DeviceIndex, DevicePtr};

use super::Inner;
use super::calls::Call;
use super::codes;
use super::event_page::{EventPage, started};
use super::events::Event;
use super::host_mem::memory_file;
use super::memory::{Backing, Extent, Kind, Mapping, Physical};

const MEMORY: u64 = u64::from_le_bytes(*b"sconMEM1");
const EVENT: u64 = u64::from_le_bytes(*b"sconEVT1");

/// The files that list exported allocations' pages, by the allocations' addresses.
#[derive(Default)]
pub(super) struct Exports(HashMap<u64, (u64, File)>);

/// The numbers in a handle.
struct Fields {
    kind: u64,
    pid: u64,
    pid_started: u64,
    fd: u64,
    device: u64,
    nonce: u64,
}

impl Fields {
    fn here(kind: u64, fd: i32, device: DeviceIndex, nonce: u64) -> Fields {
        let pid = u64::from(std::process::id());
        let pid_started = started(pid).unwrap_or(0);
        Fields { kind, pid, pid_started, fd: fd as u64, device: device.as_usize() as u64, nonce }
    }

    fn pack(&self) -> IpcHandle {
        let numbers = [self.kind, self.pid, self.pid_started, self.fd, self.device, self.nonce];
        let mut bytes = [0; 64];
        for (slot, number) in bytes.chunks_exact_mut(8).zip(numbers) {
            slot.copy_from_slice(&number.to_le_bytes());
        }
        IpcHandle(bytes)
    }

    fn unpack(handle: &IpcHandle) -> Fields {
        let [kind, pid, pid_started, fd, device, nonce, ..] = numbers(&handle.0)[..] else {
            return Fields { kind: 0, pid: 0, pid_started: 0, fd: 0, device: 0, nonce: 0 };
        };
        Fields { kind, pid, pid_started, fd, device, nonce }
    }

    /// The codes with which CUDA refuses handles.
    fn check(&self, kind: u64, device: DeviceIndex) -> std::result::Result<(), i32> {
        if self.kind != kind || self.device != device.as_usize() as u64 {
            return Err(codes::INVALID_VALUE);
        }
        if self.pid == u64::from(std::process::id()) {
            return Err(codes::INVALID_CONTEXT);
        }
        if started(self.pid) != Some(self.pid_started) {
            return Err(codes::INVALID_HANDLE);
        }
        Ok(())
    }

    fn open(&self, fd: u64) -> io::Result<File> {
        File::options().read(true).write(true).open(format!("/proc/{}/fd/{fd}", self.pid))
    }
}

fn numbers(bytes: &[u8]) -> Vec<u64> {
    bytes
        .chunks_exact(8)
        .map(|slot| slot.iter().rev().fold(0, |number, byte| number << 8 | u64::from(*byte)))
        .collect()
}

/// Different each time, in this process and among processes.
fn nonce() -> u64 {
    RandomState::new().build_hasher().finish()
}

impl Inner {
    pub(super) fn ipc_memory_export(&self, call: Call, ptr: DevicePtr) -> Result<IpcHandle> {
        let space = self.space.read();
        let (base, device, physical) = match space.mapping_at(ptr.0) {
            Some((base, Mapping { kind: Kind::Plain, physical, .. })) => {
                (base, physical.device, Arc::clone(physical))
            }
            _ => {
                let why = format!("ptr {ptr} is not in an allocation of memory_alloc");
                return Err(codes::failure_because(call, codes::INVALID_VALUE, why));
            }
        };
        // The other process cannot know which pages are untouched.
        space.touch_all(base);
        let mut exports = self.exports.lock();
        let (nonce, file) = match exports.0.entry(base) {
            std::collections::hash_map::Entry::Occupied(entry) => entry.into_mut(),
            std::collections::hash_map::Entry::Vacant(entry) => {
                let nonce = nonce();
                let listing = listing(nonce, &physical)
                    .map_err(|_| codes::failure(call, codes::OPERATING_SYSTEM))?;
                entry.insert((nonce, listing))
            }
        };
        Ok(Fields::here(MEMORY, file.as_raw_fd(), device, *nonce).pack())
    }

    /// Makes handles of a freed allocation useless.
    pub(super) fn forget_export(&self, address: u64) {
        self.exports.lock().0.remove(&address);
    }

    pub(super) fn ipc_memory_open(
        &self,
        call: Call,
        device: DeviceIndex,
        handle: &IpcHandle,
    ) -> Result<DevicePtr> {
        let fields = Fields::unpack(handle);
        fields.check(MEMORY, device).map_err(|code| refused(call, code))?;
        let mut space = self.space.write();
        if let Some(address) = space.open_again(fields.nonce) {
            return Ok(DevicePtr(address));
        }
        let physical =
            foreign(&fields, device).map_err(|_| refused(call, codes::INVALID_HANDLE))?;
        let kind = Kind::Opened { opens: 1, export: fields.nonce };
        space.place(Arc::new(physical), kind).map(DevicePtr).map_err(|code| refused(call, code))
    }

    pub(super) fn ipc_memory_close(&self, call: Call, ptr: DevicePtr) -> Result<()> {
        let device = match self.space.read().mapping_at(ptr.0) {
            Some((base, Mapping { kind: Kind::Opened { .. }, physical, .. })) if base == ptr.0 => {
                physical.device
            }
            _ => {
                let why = format!("ptr {ptr} did not come from ipc_memory_open");
                return Err(codes::failure_because(call, codes::INVALID_VALUE, why));
            }
        };
        self.await_device(call, device)?;
        self.space.write().close(ptr.0).map_err(|code| codes::failure(call, code))
    }

    pub(super) fn ipc_event_export(&self, call: Call, event: EventHandle) -> Result<IpcHandle> {
        let engine = self.engine.lock();
        let event = engine.event(call, event)?;
        match &event.shared {
            Some((page, _)) => Ok(Fields::here(EVENT, page.fd(), event.device, 0).pack()),
            None => Err(codes::failure_because(
                call,
                codes::INVALID_HANDLE,
                "the event was not made with interprocess",
            )),
        }
    }

    pub(super) fn ipc_event_open(
        &self,
        call: Call,
        device: DeviceIndex,
        handle: &IpcHandle,
    ) -> Result<EventHandle> {
        let fields = Fields::unpack(handle);
        fields.check(EVENT, device).map_err(|code| refused(call, code))?;
        let page = fields
            .open(fields.fd)
            .and_then(|file| EventPage::open(file, device.as_i32()))
            .map_err(|_| refused(call, codes::INVALID_HANDLE))?;
        let flags = EventFlags { interprocess: true, ..EventFlags::default() };
        Ok(self.engine.lock().add_event(Event::new(device, flags, Some(page))))
    }
}

fn refused(call: Call, code: i32) -> crate::error::Error {
    let why = match code {
        codes::INVALID_VALUE => "the handle is damaged, or of another kind or another device",
        codes::INVALID_CONTEXT => "the handle is of this process, which cannot open its own",
        codes::INVALID_HANDLE => "the process that made the handle, or what it names, is gone",
        _ => "the memory cannot be mapped",
    };
    codes::failure_because(call, code, why)
}

/// A file that tells where an allocation's pages are: nonce, descriptor of the pages' file, and
/// offset and length of each extent.
fn listing(nonce: u64, physical: &Physical) -> io::Result<File> {
    let mut file = memory_file(c"sconce-sim-listing", 0)?;
    let mut numbers = vec![nonce, physical.file.as_raw_fd() as u64];
    for extent in &physical.extents {
        numbers.extend([extent.offset, extent.bytes]);
    }
    let bytes: Vec<u8> = numbers.iter().flat_map(|number| number.to_le_bytes()).collect();
    file.write_all(&bytes)?;
    file.rewind()?;
    Ok(file)
}

/// The pages that a handle's listing names.
fn foreign(fields: &Fields, device: DeviceIndex) -> io::Result<Physical> {
    let mut bytes = Vec::new();
    // Opening through /proc gives a description of its own, so the position is ours.
    fields.open(fields.fd)?.read_to_end(&mut bytes)?;
    let invalid = || io::Error::from(io::ErrorKind::InvalidData);
    let numbers = numbers(&bytes);
    let [nonce, fd, extents @ ..] = &numbers[..] else { return Err(invalid()) };
    if *nonce != fields.nonce {
        return Err(invalid());
    }
    let file = fields.open(*fd)?;
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
