//! Handles that lead to another process's memory and events.
//!
//! A handle names the process and one of its descriptors. The other process opens that descriptor
//! through `/proc`, which the system allows to processes of the same user. For memory the
//! descriptor is a small file that lists the pages, whose own file is then opened the same way. A
//! random number in the handle and in the file distinguishes the right descriptor from a reused
//! one.
//!
//! A descriptor is opened in two steps (see [`open_memory_file`]): nothing is read, and nothing
//! can block, before it is known to be a memory file of the expected name, type and seals.
#![forbid(unsafe_code)]

use std::collections::HashMap;
use std::ffi::CStr;
use std::fs::{File, read_link};
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::fs::OpenOptionsExt;

use sconce_base::entropy::random_bytes;
use sconce_base::error::Result;
use sconce_base::types::DeviceIndex;
use sconce_driver::IpcHandle;

use super::event_page::{Nonce, started};
use crate::codes;
use crate::host::pages::is_sealed;

/// The kind of handles of memory.
pub(crate) const MEMORY: u64 = u64::from_le_bytes(*b"sconMEM2");
/// The kind of handles of events.
pub(crate) const EVENT: u64 = u64::from_le_bytes(*b"sconEVT2");
/// The kind of handles of boards.
pub(crate) const BOARD: u64 = u64::from_le_bytes(*b"sconCOM1");

/// The files that list exported allocations' pages, by the allocations' addresses.
#[derive(Default)]
pub(crate) struct Exports(pub(crate) HashMap<u64, (Nonce, File)>);

/// The numbers in a handle.
pub(crate) struct HandleFields {
    pub(crate) kind: u64,
    pub(crate) pid: u64,
    pub(crate) pid_started: u64,
    pub(crate) fd: u32,
    pub(crate) device: u32,
    pub(crate) nonce: Nonce,
}

impl HandleFields {
    /// The handle of a descriptor of this process.
    pub(crate) fn here(kind: u64, fd: i32, device: DeviceIndex, nonce: Nonce) -> HandleFields {
        let pid = u64::from(std::process::id());
        let pid_started = started(pid).unwrap_or(0);
        HandleFields {
            kind,
            pid,
            pid_started,
            fd: fd as u32,
            device: device.as_usize() as u32,
            nonce,
        }
    }

    /// The handle.
    pub(crate) fn pack(&self) -> IpcHandle {
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
    pub(crate) fn unpack(handle: &IpcHandle) -> Option<HandleFields> {
        let [kind, pid, pid_started, place, a, b, c] = numbers(&handle.content()?)[..] else {
            return None;
        };
        let (fd, device) = (place as u32, (place >> 32) as u32);
        Some(HandleFields { kind, pid, pid_started, fd, device, nonce: [a, b, c] })
    }

    /// The numbers of a handle that may be opened here, or the code with which CUDA refuses it.
    pub(crate) fn of(
        handle: &IpcHandle,
        kind: u64,
        device: DeviceIndex,
    ) -> std::result::Result<HandleFields, i32> {
        let fields = HandleFields::unpack(handle).ok_or(codes::INVALID_VALUE)?;
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

    /// Opens a descriptor of the exporting process, if it is a memory file of this name.
    pub(crate) fn open(&self, fd: u64, name: &CStr, constant: bool) -> io::Result<File> {
        open_memory_file(self.pid, fd, name, constant)
    }
}

/// Opens a descriptor of a process, if it is a memory file of this name. By now the descriptor may refer to any file:
/// opening a pipe could block, and opening a device could act on it. A path descriptor does neither; its file is
/// checked, and then the same file is opened.
pub(crate) fn open_memory_file(pid: u64, fd: u64, name: &CStr, constant: bool) -> io::Result<File> {
    let invalid = || io::Error::from(io::ErrorKind::InvalidData);
    let path = File::options()
        .read(true)
        .custom_flags(libc::O_PATH)
        .open(format!("/proc/{pid}/fd/{fd}"))?;
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

/// The name of a memory file; `None` for any other file.
pub(crate) fn memory_file_name(file: &File) -> Option<String> {
    let link = read_link(format!("/proc/self/fd/{}", file.as_raw_fd())).ok()?;
    let name = link.to_str()?.strip_prefix("/memfd:")?.strip_suffix(" (deleted)")?;
    Some(name.to_owned())
}

/// The numbers that bytes hold, the lowest byte first.
pub(crate) fn numbers(bytes: &[u8]) -> Vec<u64> {
    bytes
        .chunks_exact(8)
        .map(|slot| slot.iter().rev().fold(0, |number, byte| number << 8 | u64::from(*byte)))
        .collect()
}

/// Makes a random number, which no other handle has and which cannot be guessed.
pub(crate) fn nonce() -> Result<Nonce> {
    let bytes: [u8; 24] = random_bytes()?;
    let numbers = numbers(&bytes);
    Ok(std::array::from_fn(|at| numbers[at]))
}
