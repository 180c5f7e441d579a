//! Models that were compiled on a system with a newer C library.
//!
//! Such a model names versions of the C library that this system does not have, though it calls a function or two of
//! them: since glibc 2.38, `strtol` is compiled to `__isoc23_strtol`. In the private copy of a package's library those
//! versions are marked as ones that may be absent, and a small library has the functions. A bare library is not changed.

#![allow(unsafe_code, reason = "asks the C library for its version")]

use std::ffi::CStr;
use std::path::Path;

use object::LittleEndian;
use object::read::elf::FileHeader as _;

use super::symbols::header;
use crate::error::{Error, Result};

const MAY_BE_ABSENT: u8 = 2; // VER_FLG_WEAK, in the first byte of the flags.

/// The minor number of this system's C library.
fn minor_of_system() -> u32 {
    // SAFETY: no preconditions.
    let version = unsafe { libc::gnu_get_libc_version() };
    // SAFETY: a static text.
    let version = unsafe { CStr::from_ptr(version) }.to_string_lossy();
    version.split('.').nth(1).and_then(|minor| minor.parse().ok()).unwrap_or(0)
}

/// Places of the flags of versions that this system does not have.
fn newer_versions(file: &[u8], minor: u32) -> object::read::Result<Vec<usize>> {
    let mut places = Vec::new();
    let sections = header(file)?.sections(LittleEndian, file)?;
    let Some((mut libraries, strings)) = sections.gnu_verneed(LittleEndian, file)? else {
        return Ok(places);
    };
    let strings = sections.strings(LittleEndian, file, strings)?;
    while let Some((_, mut versions)) = libraries.next()? {
        while let Some(version) = versions.next()? {
            let wanted = std::str::from_utf8(version.name(LittleEndian, strings)?)
                .ok()
                .and_then(|name| name.strip_prefix("GLIBC_2."))
                .and_then(|rest| rest.split('.').next()?.parse::<u32>().ok());
            if wanted.is_some_and(|wanted| wanted > minor) {
                let flags = std::ptr::from_ref(&version.vna_flags).addr();
                places.push(flags - file.as_ptr().addr());
            }
        }
    }
    Ok(places)
}

/// Marks versions of the C library that this system does not have, in a private copy of a library.
pub fn admit(path: &Path) -> Result<()> {
    let failed = |why| Error::io(format!("{}: {why}", path.display()));
    let mut file = std::fs::read(path).map_err(failed)?;
    // What cannot be read is named when the library is opened.
    let places = newer_versions(&file, minor_of_system()).unwrap_or_default();
    if places.is_empty() {
        return Ok(());
    }
    for place in places {
        if let Some(flags) = file.get_mut(place) {
            *flags |= MAY_BE_ABSENT;
        }
    }
    std::fs::write(path, file).map_err(failed)
}
