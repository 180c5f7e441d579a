//! The functions that an ELF file has and those that it needs, read without opening it as a library: its initialisers do
//! not run, and all that are missing are named, where the system's loader names the first.

use std::collections::BTreeSet;
use std::path::Path;

use crate::error::{Error, Result};

/// A 64-bit number of an ELF file, little-endian.
pub(super) fn number(bytes: &[u8], at: usize, width: usize) -> Option<usize> {
    let bytes = bytes.get(at..at.checked_add(width)?)?;
    let mut word = [0; 8];
    word[..width].copy_from_slice(bytes);
    usize::try_from(u64::from_le_bytes(word)).ok()
}

/// A section: its type, offset, bytes and linked section.
pub(super) struct Section {
    pub(super) kind: usize,
    pub(super) offset: usize,
    pub(super) bytes: usize,
    pub(super) link: usize,
}

/// The sections of a file.
pub(super) fn sections(file: &[u8]) -> Option<Vec<Section>> {
    let (table, entry, count) = (number(file, 40, 8)?, number(file, 58, 2)?, number(file, 60, 2)?);
    (0..count).map(|index| section(file, table, entry, index)).collect()
}

fn section(file: &[u8], table: usize, entry: usize, index: usize) -> Option<Section> {
    let at = table.checked_add(entry.checked_mul(index)?)?;
    Some(Section {
        kind: number(file, at + 4, 4)?,
        offset: number(file, at + 24, 8)?,
        bytes: number(file, at + 32, 8)?,
        link: number(file, at + 40, 4)?,
    })
}

const DYNAMIC: usize = 6;
const DYNAMIC_BYTES: usize = 16;
const NEEDED: usize = 1;
const DYNAMIC_SYMBOLS: usize = 11;
const SYMBOL_BYTES: usize = 24;
const WEAK: u8 = 2;

/// The functions of a shared library.
#[derive(Debug, Default)]
pub struct Symbols {
    /// Those that it needs from others. Weak ones, which may stay without a value, are left out.
    pub undefined: Vec<String>,
    /// Those that others may call.
    pub defined: BTreeSet<String>,
    /// The names of the libraries that it lists as needed.
    pub libraries: Vec<String>,
}

/// The bytes of a section.
fn contents<'a>(file: &'a [u8], section: &Section) -> Option<&'a [u8]> {
    file.get(section.offset..section.offset.checked_add(section.bytes)?)
}

/// A text of a table of texts.
fn text_at(texts: &[u8], at: usize) -> Option<String> {
    let text = texts.get(at..)?;
    let end = text.iter().position(|&byte| byte == 0)?;
    Some(String::from_utf8_lossy(&text[..end]).into_owned())
}

fn names(file: &[u8]) -> Option<Symbols> {
    let sections = sections(file)?;
    let mut found = Symbols::default();
    for symbols in sections.iter().filter(|section| section.kind == DYNAMIC_SYMBOLS) {
        let texts = contents(file, sections.get(symbols.link)?)?;
        for symbol in contents(file, symbols)?.chunks_exact(SYMBOL_BYTES).skip(1) {
            let name = text_at(texts, number(symbol, 0, 4)?)?;
            if number(symbol, 6, 2)? != 0 {
                found.defined.insert(name);
            } else if symbol[4] >> 4 != WEAK {
                found.undefined.push(name);
            }
        }
    }
    for dynamic in sections.iter().filter(|section| section.kind == DYNAMIC) {
        let texts = contents(file, sections.get(dynamic.link)?)?;
        for entry in contents(file, dynamic)?.chunks_exact(DYNAMIC_BYTES) {
            if number(entry, 0, 8)? == NEEDED {
                found.libraries.push(text_at(texts, number(entry, 8, 8)?)?);
            }
        }
    }
    Some(found)
}

/// Reads the functions of a shared library.
pub fn symbols(path: &Path) -> Result<Symbols> {
    let file = std::fs::read(path)
        .map_err(|why| Error::io(format!("{} could not be read: {why}", path.display())))?;
    symbols_of(&file, path)
}

/// As [`symbols`], of the bytes of a file. The path is for messages.
pub fn symbols_of(file: &[u8], path: &Path) -> Result<Symbols> {
    let wrong = |why: &str| Error::io(format!("{} is no shared library: {why}", path.display()));
    if !file.starts_with(b"\x7fELF\x02\x01") {
        return Err(wrong("it does not begin as a 64-bit ELF file"));
    }
    let machine = if cfg!(target_arch = "x86_64") { 62 } else { 183 };
    if number(file, 18, 2) != Some(machine) {
        return Err(wrong(
            "it was compiled for another processor; compile the model on this kind of machine",
        ));
    }
    names(file).ok_or_else(|| wrong("its tables are cut off"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_and_damage_is_refused() {
        let library = std::env::current_exe().unwrap();
        let found = symbols(&library).unwrap();
        let needed = |name: &str| found.undefined.iter().any(|other| other == name);
        assert!(needed("dlopen") || needed("malloc"), "{:?}", found.undefined);
        assert!(found.undefined.iter().all(|name| !found.defined.contains(name)));
        assert!(found.libraries.iter().any(|name| name == "libc.so.6"), "{:?}", found.libraries);
        let file = std::fs::read(&library).unwrap();
        let folder = crate::package::folder::PrivateFolder::new().unwrap();
        for length in [0, 5, 20, 64, 1000] {
            let path = folder.write("cut", &file[..length]).unwrap();
            let message = symbols(&path).unwrap_err().message;
            assert!(message.contains("is no shared library"), "{message}");
        }
    }
}
