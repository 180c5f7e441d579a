//! Physical memory that other processes get: it moves to a file of its own, so that the host keeps it as long as any
//! process has it.
//!
//! Only exported memory has such a file. A process has a descriptor for each, and memory that is merely shareable may
//! be in more pieces than a process may have descriptors.
#![forbid(unsafe_code)]

use std::ffi::CString;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt as _;
use std::sync::Arc;

use sconce_base::types::DeviceIndex;

use super::physical::{Backing, Extent, Physical};
use super::space::{AddressSpace, MappingKind};
use crate::codes;
use crate::host::pages::memory_file;

/// The name of the file of exported physical memory, before the device's index.
pub(crate) const PHYSICAL_FILE: &str = "sconce-sim-physical-";

/// The bytes that are copied at once.
const PIECE: usize = 1 << 20;

/// Why physical memory is not exported.
pub(crate) enum NotExported {
    /// It was not made shareable.
    Private,
    /// A call failed, with the driver's code.
    Failed(i32),
}

impl AddressSpace {
    /// A descriptor of physical memory for other processes.
    pub(crate) fn export(&mut self, handle: u64) -> Result<File, NotExported> {
        let unknown = NotExported::Failed(codes::INVALID_VALUE);
        let physical = Arc::clone(self.handles.get(&handle).ok_or(unknown)?);
        if !physical.shareable {
            return Err(NotExported::Private);
        }
        let file = match physical.backing {
            Backing::DevicePages => self.move_to_own_file(physical).map_err(NotExported::Failed)?,
            Backing::OwnFile | Backing::Foreign => Arc::clone(&physical.file),
        };
        file.try_clone().map_err(|_| NotExported::Failed(codes::OPERATING_SYSTEM))
    }

    /// Moves physical memory to a file of its own, wherever it is mapped. Accesses hold the lock of this space, so none
    /// is under way.
    fn move_to_own_file(&mut self, from: Arc<Physical>) -> Result<Arc<File>, i32> {
        // The other process cannot know which pages are untouched.
        let address = self.place(Arc::clone(&from), MappingKind::Plain)?;
        self.touch_all(address);
        self.remove(address)?;
        let file = copied(&from, self.visible.number_of(from.device))
            .map_err(|_| codes::OPERATING_SYSTEM)?;
        let file = Arc::new(file);
        let extents = vec![Extent { offset: 0, bytes: from.bytes }];
        let to = Physical::new(from.device, Arc::clone(&file), extents, Backing::OwnFile);
        self.map_instead(&from, &to)?;
        self.devices[to.device.as_usize()].used += to.bytes;
        let to = Arc::new(to);
        let mapped = self.mappings.values_mut().map(|mapping| &mut mapping.physical);
        for owner in mapped.chain(self.handles.values_mut()) {
            if Arc::ptr_eq(owner, &from) {
                *owner = Arc::clone(&to);
            }
        }
        self.drop_physical(from);
        Ok(file)
    }

    /// Maps other memory of the same content wherever `from` is mapped. If that fails, `from` is mapped there again.
    fn map_instead(&self, from: &Arc<Physical>, to: &Physical) -> Result<(), i32> {
        let mappings = self.mappings.iter().filter(|(_, it)| Arc::ptr_eq(&it.physical, from));
        for (count, (address, mapping)) in mappings.clone().enumerate() {
            if self.map_physical(*address, to, mapping.offset, mapping.bytes).is_err() {
                for (address, mapping) in mappings.take(count + 1) {
                    let _ = self.map_physical(*address, from, mapping.offset, mapping.bytes);
                }
                return Err(codes::OPERATING_SYSTEM);
            }
        }
        Ok(())
    }
}

/// A file of the content of physical memory, named after the device's number on the machine.
fn copied(from: &Physical, number: DeviceIndex) -> io::Result<File> {
    let name = CString::new(format!("{PHYSICAL_FILE}{number}"))?;
    let file = memory_file(&name, from.bytes)?;
    let mut piece = vec![0; PIECE];
    let mut at = 0;
    for Extent { offset, bytes } in &from.extents {
        let mut done = 0;
        while done < *bytes {
            let length = (bytes - done).min(PIECE as u64);
            let part = &mut piece[..length as usize];
            from.file.read_exact_at(part, offset + done)?;
            file.write_all_at(part, at)?;
            (done, at) = (done + length, at + length);
        }
    }
    Ok(file)
}
