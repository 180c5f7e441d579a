//! Models that were compiled on a system with a newer C library.
//!
//! Such a model names versions of the C library that this system does not have, though it calls a function or two of
//! them: since glibc 2.38, `strtol` is compiled to `__isoc23_strtol`. In the private copy of a package's library those
//! versions are marked as ones that may be absent, and a small library has the functions. A bare library is not changed.

#![allow(unsafe_code, reason = "asks the C library for its version")]

use std::ffi::CStr;
use std::path::Path;

use super::symbols::{number, sections};
use crate::error::{Error, Result};

const NEEDED_VERSIONS: usize = 0x6fff_fffe;
const MAY_BE_ABSENT: u8 = 2;

/// The minor number of this system's C library.
fn minor_of_system() -> u32 {
    // SAFETY: no preconditions.
    let version = unsafe { libc::gnu_get_libc_version() };
    // SAFETY: a static text.
    let version = unsafe { CStr::from_ptr(version) }.to_string_lossy();
    version.split('.').nth(1).and_then(|minor| minor.parse().ok()).unwrap_or(0)
}

/// Places of the flags of versions that this system does not have.
fn newer_versions(file: &[u8], minor: u32) -> Option<Vec<usize>> {
    let mut places = Vec::new();
    let sections = sections(file)?;
    for needed in sections.iter().filter(|section| section.kind == NEEDED_VERSIONS) {
        let texts = sections.get(needed.link)?;
        let texts = file.get(texts.offset..texts.offset.checked_add(texts.bytes)?)?;
        let end = needed.offset.checked_add(needed.bytes)?;
        let mut library = needed.offset;
        while library < end {
            let mut version = library.checked_add(number(file, library + 8, 4)?)?;
            for _ in 0..number(file, library + 2, 2)? {
                let text = texts.get(number(file, version + 8, 4)?..)?;
                let length = text.iter().position(|&byte| byte == 0)?;
                let name = String::from_utf8_lossy(&text[..length]);
                let wanted = name
                    .strip_prefix("GLIBC_2.")
                    .and_then(|rest| rest.split('.').next()?.parse::<u32>().ok());
                if wanted.is_some_and(|wanted| wanted > minor) {
                    places.push(version + 4);
                }
                version = version.checked_add(number(file, version + 12, 4)?)?;
            }
            match number(file, library + 12, 4)? {
                0 => break,
                next => library = library.checked_add(next)?,
            }
        }
    }
    Some(places)
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
