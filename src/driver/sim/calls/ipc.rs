//! Memory and events between processes.
//!
//! A handle names the process and one of its descriptors. The other process opens that descriptor
//! through `/proc`, which the system allows to processes of the same user. For memory the descriptor is
//! a small file that lists the pages, whose own file is then opened the same way. A random number in
//! the handle and in the file distinguishes the right descriptor from a reused one.
//!
//! A descriptor is opened in two steps (see [`Fields::open`]): nothing is read, and nothing can block,
//! before it is known to be a memory file of the expected name, type and seals.
#![forbid(unsafe_code)]

use std::collections::HashMap;
use std::ffi::CStr;
use std::fs::{File, read_link};
use std::io::{self, Read};
use std::os::fd::AsRawFd;
use std::os::unix::fs::OpenOptionsExt;
use std::sync::Arc;

use crate::driver::{EventFlags, EventHandle, Ipc, IpcHandle};
use crate::entropy::random_bytes;
use crate::error::{Cause, Error, Result};
use crate::types::{DeviceIndex, DevicePtr};

use super::events::Event;
use crate::driver::sim::call::Call;
use crate::driver::sim::codes;
use crate::driver::sim::host::pages::{constant_file, is_sealed};
use crate::driver::sim::memory::{Backing, DEVICE_FILE, Extent, Kind, Mapping, Physical};
use crate::driver::sim::processes::event_page::{EVENT_FILE, EventPage, Nonce, started};
use crate::driver::sim::{Inner, Simulator};

const MEMORY: u64 = u64::from_le_bytes(*b"sconMEM2");
const EVENT: u64 = u64::from_le_bytes(*b"sconEVT2");

/// The name of the files that list pages.
const LISTING_FILE: &CStr = c"sconce-sim-listing";
/// The longest listing that is read. One of a device's 4 KiB pages each apart is 8 MiB for 4 GiB.
const LONGEST_LISTING: u64 = 1 << 30;

/// The files that list exported allocations' pages, by the allocations' addresses.
#[derive(Default)]
pub(crate) struct Exports(HashMap<u64, (Nonce, File)>);

/// The numbers in a handle.
struct Fields {
    kind: u64,
    pid: u64,
    pid_started: u64,
    fd: u32,
    device: u32,
    nonce: Nonce,
}

impl Fields {
    fn here(kind: u64, fd: i32, device: DeviceIndex, nonce: Nonce) -> Fields {
        let pid = u64::from(std::process::id());
        let pid_started = started(pid).unwrap_or(0);
        Fields { kind, pid, pid_started, fd: fd as u32, device: device.as_usize() as u32, nonce }
    }

    fn pack(&self) -> IpcHandle {
        let place = u64::from(self.fd) | u64::from(self.device) << 32;
        let [a, b, c] = self.nonce;
        let mut content = [0; IpcHandle::CONTENT_BYTES];
        let fields = [self.kind, self.pid, self.pid_started, place, a, b, c];
        for (slot, number) in content.chunks_exact_mut(8).zip(fields) {
            slot.copy_from_slice(&number.to_le_bytes());
        }
        IpcHandle::sealed(&content)
    }

    /// `None` for a damaged handle.
    fn unpack(handle: &IpcHandle) -> Option<Fields> {
        let [kind, pid, pid_started, place, a, b, c] = numbers(&handle.content()?)[..] else {
            return None;
        };
        let (fd, device) = (place as u32, (place >> 32) as u32);
        Some(Fields { kind, pid, pid_started, fd, device, nonce: [a, b, c] })
    }

    /// The numbers of a handle that may be opened here, or the code with which CUDA refuses it.
    fn of(handle: &IpcHandle, kind: u64, device: DeviceIndex) -> std::result::Result<Fields, i32> {
        let fields = Fields::unpack(handle).ok_or(codes::INVALID_VALUE)?;
        if fields.kind != kind || fields.device != device.as_usize() as u32 {
            return Err(codes::INVALID_VALUE);
        }
        if fields.pid == u64::from(std::process::id()) {
            return Err(codes::INVALID_CONTEXT);
        }
        if started(fields.pid) != Some(fields.pid_started) {
            return Err(codes::INVALID_HANDLE);
        }
        Ok(fields)
    }

    /// Opens a descriptor of the exporting process, if it is a memory file of this name. It may be
    /// anything by now: opening a pipe could block, and opening a device could act on it. A path
    /// descriptor does neither; what it refers to is checked, and that same file is opened then.
    fn open(&self, fd: u64, name: &CStr, constant: bool) -> io::Result<File> {
        let invalid = || io::Error::from(io::ErrorKind::InvalidData);
        let path = File::options()
            .read(true)
            .custom_flags(libc::O_PATH)
            .open(format!("/proc/{}/fd/{fd}", self.pid))?;
        if !path.metadata()?.is_file() || memory_file_name(&path).as_deref() != name.to_str().ok() {
            return Err(invalid());
        }
        let file = File::options()
            .read(true)
            .write(!constant)
            .custom_flags(libc::O_NONBLOCK)
            .open(format!("/proc/self/fd/{}", path.as_raw_fd()))?;
        if is_sealed(&file, constant) { Ok(file) } else { Err(invalid()) }
    }
}

/// The name of a memory file; `None` for any other file.
pub(crate) fn memory_file_name(file: &File) -> Option<String> {
    let link = read_link(format!("/proc/self/fd/{}", file.as_raw_fd())).ok()?;
    let name = link.to_str()?.strip_prefix("/memfd:")?.strip_suffix(" (deleted)")?;
    Some(name.to_owned())
}

fn numbers(bytes: &[u8]) -> Vec<u64> {
    bytes
        .chunks_exact(8)
        .map(|slot| slot.iter().rev().fold(0, |number, byte| number << 8 | u64::from(*byte)))
        .collect()
}

/// A number that no other handle has and nobody can guess.
pub(crate) fn nonce() -> Result<Nonce> {
    let bytes: [u8; 24] = random_bytes()?;
    let numbers = numbers(&bytes);
    Ok(std::array::from_fn(|at| numbers[at]))
}

impl Ipc for Simulator {
    fn ipc_memory_export(&self, ptr: DevicePtr) -> Result<IpcHandle> {
        let (inner, call) = (&self.inner, Call::IpcMemoryExport);
        inner.enter(call)?;
        let space = inner.space.read();
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
        let mut exports = inner.exports.lock();
        let (nonce, file) = match exports.0.entry(base) {
            std::collections::hash_map::Entry::Occupied(entry) => entry.into_mut(),
            std::collections::hash_map::Entry::Vacant(entry) => {
                let nonce = nonce()?;
                let listing = listing(nonce, &physical)
                    .map_err(|_| codes::failure(call, codes::OPERATING_SYSTEM))?;
                entry.insert((nonce, listing))
            }
        };
        Ok(Fields::here(MEMORY, file.as_raw_fd(), device, *nonce).pack())
    }

    fn ipc_memory_open(&self, device: DeviceIndex, handle: &IpcHandle) -> Result<DevicePtr> {
        let (inner, call) = (&self.inner, Call::IpcMemoryOpen);
        inner.enter_context(call, device)?;
        let fields = Fields::of(handle, MEMORY, device).map_err(|code| refused(call, code))?;
        let mut space = inner.space.write();
        if let Some(address) = space.open_again(fields.nonce) {
            return Ok(DevicePtr(address));
        }
        let physical =
            foreign(&fields, device).map_err(|_| refused(call, codes::INVALID_HANDLE))?;
        let kind = Kind::Opened { opens: 1, export: fields.nonce };
        space.place(Arc::new(physical), kind).map(DevicePtr).map_err(|code| refused(call, code))
    }

    fn ipc_memory_close(&self, ptr: DevicePtr) -> Result<()> {
        let (inner, call) = (&self.inner, Call::IpcMemoryClose);
        inner.enter(call)?;
        let device = match inner.space.read().mapping_at(ptr.0) {
            Some((base, Mapping { kind: Kind::Opened { .. }, physical, .. })) if base == ptr.0 => {
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
        let engine = inner.engine.lock();
        let event = engine.event(call, event)?;
        match &event.shared {
            Some((page, _)) => {
                Ok(Fields::here(EVENT, page.fd(), event.device, page.nonce()).pack())
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
        let fields = Fields::of(handle, EVENT, device).map_err(|code| refused(call, code))?;
        let page = fields
            .open(fields.fd.into(), EVENT_FILE, false)
            .and_then(|file| EventPage::open(file, device.as_i32(), fields.nonce))
            .map_err(|_| refused(call, codes::INVALID_HANDLE))?;
        let flags = EventFlags { interprocess: true, ..EventFlags::default() };
        Ok(inner.engine.lock().add_event(Event::new(device, flags, Some(page))))
    }
}

impl Inner {
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

/// A file that tells where an allocation's pages are: the random number, the descriptor of the pages'
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
fn foreign(fields: &Fields, device: DeviceIndex) -> io::Result<Physical> {
    let invalid = || io::Error::from(io::ErrorKind::InvalidData);
    // Opening through /proc gives a description of its own, so the position is ours.
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
