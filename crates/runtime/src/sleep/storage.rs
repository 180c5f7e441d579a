//! Storage of bytes: ordinary memory of the host, and files without a name.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use rustix::fs::{FallocateFlags, fallocate};
use sconce_base::entropy;
use sconce_base::error::{Error, Result, Status};
use sconce_driver::HostRange;

use super::host_block::{self, PageableStore};
use super::staged::{ByteShelf, ShelvedCopy};
use crate::memory::sleep::LiveBlock;

/// Ordinary memory.
pub(super) struct MemoryShelf(Vec<PageableStore>);

/// Storage of blocks in ordinary memory.
pub(super) fn in_memory(blocks: &[LiveBlock]) -> Result<ShelvedCopy<MemoryShelf>> {
    ShelvedCopy::new(blocks, |parcels| {
        let parcels = parcels.iter().map(|bytes| PageableStore::new(*bytes as usize));
        Ok(MemoryShelf(parcels.collect::<Result<_>>()?))
    })
}

impl MemoryShelf {
    fn part(&self, parcel: usize, offset: u64, bytes: usize) -> HostRange {
        self.0[parcel].range().part(offset as usize, bytes)
    }
}

impl ByteShelf for MemoryShelf {
    fn put(&self, parcel: usize, offset: u64, from: HostRange) -> Result<()> {
        host_block::copy(self.part(parcel, offset, from.bytes()), from);
        Ok(())
    }

    fn get(&self, parcel: usize, offset: u64, into: HostRange) -> Result<()> {
        host_block::copy(into, self.part(parcel, offset, into.bytes()));
        Ok(())
    }

    fn place(&self, parcel: usize, offset: u64) -> Option<usize> {
        Some(self.part(parcel, offset, 1).get())
    }
}

/// A file that no folder names: it goes when the process ends, however it ends.
pub(super) struct FileShelf {
    file: File,
    /// Where each parcel begins.
    begins: Vec<u64>,
    /// For messages.
    folder: PathBuf,
}

/// Storage of blocks in a file in a folder.
pub(super) fn in_file(blocks: &[LiveBlock], folder: &Path) -> Result<ShelvedCopy<FileShelf>> {
    ShelvedCopy::new(blocks, |parcels| {
        let file =
            nameless(folder).map_err(|why| failed("no file could be made in", folder, &why))?;
        let mut begins = Vec::with_capacity(parcels.len());
        let mut end = 0;
        for bytes in parcels {
            begins.push(end);
            end += bytes;
        }
        let shelf = FileShelf { file, begins, folder: folder.to_owned() };
        shelf.reserve(end)?;
        Ok(shelf)
    })
}

impl FileShelf {
    /// Has the system reserve space, where its file system can, so that a full one is known now.
    fn reserve(&self, bytes: u64) -> Result<()> {
        if bytes == 0 {
            return Ok(());
        }
        match fallocate(&self.file, FallocateFlags::empty(), 0, bytes) {
            Err(why) if matches!(why, rustix::io::Errno::NOSPC | rustix::io::Errno::FBIG) => {
                let what = format!("{bytes} bytes have no room in");
                Err(failed(&what, &self.folder, &why.into()))
            }
            _ => Ok(()),
        }
    }
}

impl ByteShelf for FileShelf {
    fn put(&self, parcel: usize, offset: u64, from: HostRange) -> Result<()> {
        host_block::write(&self.file, self.begins[parcel] + offset, from)
            .map_err(|why| failed("memory could not be written to a file in", &self.folder, &why))
    }

    fn get(&self, parcel: usize, offset: u64, into: HostRange) -> Result<()> {
        host_block::read(&self.file, self.begins[parcel] + offset, into)
            .map_err(|why| failed("memory could not be read from a file in", &self.folder, &why))
    }

    fn place(&self, _: usize, _: u64) -> Option<usize> {
        None
    }
}

/// A file for this process alone, without a name, or with one that is taken away at once.
fn nameless(folder: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true).write(true).mode(0o600);
    match options.clone().custom_flags(libc::O_TMPFILE).open(folder) {
        // Not all file systems have such files.
        Err(why)
            if matches!(
                why.raw_os_error(),
                Some(libc::EOPNOTSUPP | libc::EISDIR | libc::EINVAL)
            ) => {}
        outcome => return outcome,
    }
    let random = entropy::random_bytes::<16>().map_err(io::Error::other)?;
    let path = folder.join(format!(".sconce-sleep-{:032x}", u128::from_ne_bytes(random)));
    let file = options.create_new(true).open(&path)?;
    fs::remove_file(&path)?;
    Ok(file)
}

#[cold]
fn failed(what: &str, folder: &Path, why: &io::Error) -> Error {
    Error::new(
        Status::Io,
        format!(
            "path: {what} {}: {why}; pass a folder that can be written to and has room",
            folder.display()
        ),
    )
}
