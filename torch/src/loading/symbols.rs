//! The functions that an ELF file has and those that it needs, read without opening it as a library: its initialisers do
//! not run, and all that are missing are named, where the system's loader names the first.

use std::collections::BTreeSet;
use std::path::Path;

use object::LittleEndian;
use object::elf::{self, FileHeader64};
use object::read::elf::{Dyn as _, FileHeader as _, Sym as _};

use crate::error::{Error, Result};

/// The header of a 64-bit, little-endian file.
pub(super) fn header(file: &[u8]) -> object::read::Result<&FileHeader64<LittleEndian>> {
    FileHeader64::<LittleEndian>::parse(file)
}

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

/// The name of a symbol or a library; one that is not UTF-8 belongs to no function that there is here.
fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn names(file: &[u8]) -> object::read::Result<Symbols> {
    let sections = header(file)?.sections(LittleEndian, file)?;
    let mut found = Symbols::default();
    let symbols = sections.symbols(LittleEndian, file, elf::SHT_DYNSYM)?;
    // The first symbol has no name and no meaning.
    for symbol in symbols.iter().skip(1) {
        let name = text(symbol.name(LittleEndian, symbols.strings())?);
        if symbol.st_shndx(LittleEndian) != elf::SHN_UNDEF {
            found.defined.insert(name);
        } else if symbol.st_bind() != elf::STB_WEAK {
            found.undefined.push(name);
        }
    }
    if let Some((entries, strings)) = sections.dynamic(LittleEndian, file)? {
        let strings = sections.strings(LittleEndian, file, strings)?;
        for entry in entries.iter().filter(|entry| entry.d_tag(LittleEndian) == elf::DT_NEEDED) {
            found.libraries.push(text(entry.string(LittleEndian, strings)?));
        }
    }
    Ok(found)
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
    let cut_off = |_| wrong("its tables are cut off");
    let machine = if cfg!(target_arch = "x86_64") { elf::EM_X86_64 } else { elf::EM_AARCH64 };
    if header(file).map_err(cut_off)?.e_machine(LittleEndian) != machine {
        return Err(Error::not_supported(format!(
            "{} was compiled for another processor; compile the model on this kind of machine",
            path.display()
        )));
    }
    names(file).map_err(cut_off)
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
        let mut file = std::fs::read(&library).unwrap();
        let folder = crate::package::folder::PrivateFolder::new().unwrap();
        for length in [0, 5, 20, 64, 1000] {
            let path = folder.write("cut", &file[..length]).unwrap();
            let message = symbols(&path).unwrap_err().message;
            assert!(message.contains("is no shared library"), "{message}");
        }
        // The number of the processor in the header of the file.
        file[18] ^= 1;
        let refused = symbols(&folder.write("other", &file).unwrap()).unwrap_err();
        assert_eq!(refused.status, crate::api::SCONCE_ERROR_NOT_SUPPORTED);
        assert!(refused.message.contains("another processor"), "{}", refused.message);
    }
}
