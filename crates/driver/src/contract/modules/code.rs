//! Code of a module that a program brings: PTX, machine code, or a fat binary of both.
//!
//! A driver receives an address and no length. It trusts the lengths that machine code and fat binaries
//! contain, and reads PTX up to a NUL byte. So the lengths are checked here, and PTX gets its NUL.

use sconce_base::error::{Error, Result};

/// What the bytes of a [`ModuleCode`] are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ModuleFormat {
    /// PTX text.
    Ptx,
    /// Machine code for one architecture: an ELF file.
    Cubin,
    /// A fat binary.
    FatBinary,
    /// CUDA C++, for a driver without a compiler: its kernels are functions of the host.
    Source,
}

/// Code of a module. No length in it reaches beyond its end.
#[derive(Clone, Debug)]
pub struct ModuleCode {
    name: String,
    format: ModuleFormat,
    /// PTX ends with a NUL byte.
    bytes: Vec<u8>,
    /// What names the kernels of a source.
    expressions: Vec<String>,
}

const ELF: &[u8] = b"\x7fELF";
/// The machine number of NVIDIA's devices in ELF files.
const ELF_MACHINE: u64 = 190;
/// A section of this type takes no bytes of the file.
const ELF_NOBITS: u64 = 8;
const FAT_BINARY: &[u8] = &[0x50, 0xed, 0x55, 0xba];

impl ModuleCode {
    /// The code in some bytes, `name` for messages. Fails unless a driver can read it safely.
    pub fn new(name: &str, bytes: &[u8]) -> Result<ModuleCode> {
        let (format, sound) = if bytes.starts_with(ELF) {
            (ModuleFormat::Cubin, elf_is_whole(bytes))
        } else if bytes.starts_with(FAT_BINARY) {
            (ModuleFormat::FatBinary, fat_binary_is_whole(bytes))
        } else {
            (ModuleFormat::Ptx, is_ptx(bytes))
        };
        if sound.is_none() {
            return Err(match format == ModuleFormat::Ptx && looks_like_path(bytes) {
                true => path_instead_of_code(name, bytes),
                false => refused(name, format, bytes.len()),
            });
        }
        let mut bytes = match format {
            ModuleFormat::Ptx => without_nul(bytes).to_vec(),
            _ => bytes.to_vec(),
        };
        if format == ModuleFormat::Ptx {
            bytes.push(0);
        }
        Ok(ModuleCode { name: name.to_owned(), format, bytes, expressions: Vec::new() })
    }

    /// A source with all that it includes, and the expressions that name its kernels; `name` for messages. Only a
    /// driver that does not run code takes it. Fails with an expression that names no function of the text.
    pub fn source(
        name: &str,
        text: &str,
        expressions: &[String],
    ) -> std::result::Result<ModuleCode, String> {
        if let Some(other) = expressions.iter().find(|one| !has_word(text, function_of(one))) {
            return Err(other.clone());
        }
        Ok(ModuleCode {
            name: name.to_owned(),
            format: ModuleFormat::Source,
            bytes: text.as_bytes().to_vec(),
            expressions: expressions.to_vec(),
        })
    }

    /// The name, for messages.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// What the code is.
    pub fn format(&self) -> ModuleFormat {
        self.format
    }

    /// The code, for a driver.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Whether the code has a kernel of a name; `None` if that cannot be seen without a driver.
    pub fn has_kernel(&self, name: &str) -> Option<bool> {
        match self.format {
            ModuleFormat::Ptx => {
                let text = String::from_utf8_lossy(&self.bytes);
                let mut entries = text.split(".entry").skip(1);
                Some(entries.any(|rest| {
                    let rest = rest.trim_start();
                    let ends = |c: char| !(c.is_ascii_alphanumeric() || c == '_' || c == '$');
                    rest.split(ends).next() == Some(name)
                }))
            }
            // The symbols of machine code are texts between NUL bytes.
            ModuleFormat::Cubin => {
                let mut texts = self.bytes.split(|byte| *byte == 0);
                Some(texts.any(|text| text == name.as_bytes()))
            }
            ModuleFormat::FatBinary => None,
            // Other functions than those that expressions name have other names as entry points, unless they are
            // `extern "C"`.
            ModuleFormat::Source => {
                let text = String::from_utf8_lossy(&self.bytes);
                let is_c = || has_word(&text, "extern") && has_word(&text, name);
                Some(self.expressions.iter().any(|one| one == name) || is_c())
            }
        }
    }
}

fn refused(name: &str, format: ModuleFormat, bytes: usize) -> Error {
    let why = match format {
        ModuleFormat::Ptx => {
            "it is neither PTX (text with .version and .target, and no NUL byte inside), nor machine code \
             (an ELF file), nor a fat binary; compile with nvcc -ptx, -cubin or -fatbin"
        }
        ModuleFormat::Cubin => {
            "it is not a whole ELF file of NVIDIA machine code; compile with nvcc -cubin, and pass all of it"
        }
        ModuleFormat::Source => "it is a source; compile it",
        ModuleFormat::FatBinary => {
            "it is not a whole fat binary; compile with nvcc -fatbin, and pass all of it"
        }
    };
    Error::invalid_argument(format!("{name} of {bytes} bytes cannot be loaded: {why}"))
}

fn path_instead_of_code(name: &str, path: &[u8]) -> Error {
    let path = String::from_utf8_lossy(without_nul(path));
    Error::invalid_argument(format!(
        "{name} is \"{}\", which is not code but looks like a path; sconce_module_load_file (C++ Module::load_file) \
         loads a file",
        path.escape_debug()
    ))
}

/// Whether a text that should be code is the path of a file with code.
pub fn looks_like_path(text: &[u8]) -> bool {
    const MOST_BYTES: usize = 4096;
    let Ok(text) = std::str::from_utf8(without_nul(text)) else { return false };
    let is_one_line = text.len() <= MOST_BYTES && !text.contains(|c: char| c.is_control());
    let name = text.rsplit('/').next().unwrap_or_default();
    let extension = name.rsplit_once('.').map_or("", |(_, extension)| extension);
    is_one_line && ["ptx", "cubin", "fatbin", "cu", "cuh", "so", "o"].contains(&extension)
}

/// PTX up to its NUL bytes at the end.
fn without_nul(bytes: &[u8]) -> &[u8] {
    let end = bytes.iter().rposition(|byte| *byte != 0).map_or(0, |last| last + 1);
    &bytes[..end]
}

/// The identifier of the function that an expression names: `mine::scale<float>` names `scale`.
fn function_of(expression: &str) -> &str {
    let path = expression.split('<').next().unwrap_or_default();
    path.rsplit([':', '&']).next().unwrap_or_default().trim()
}

/// Whether a text has an identifier.
fn has_word(text: &str, word: &str) -> bool {
    let ends = |c: char| !(c.is_ascii_alphanumeric() || c == '_' || c == '$');
    !word.is_empty() && text.split(ends).any(|one| one == word)
}

fn is_ptx(bytes: &[u8]) -> Option<()> {
    let text = without_nul(bytes);
    let has = |word: &[u8]| text.windows(word.len()).any(|part| part == word);
    (!text.contains(&0) && has(b".version") && has(b".target")).then_some(())
}

/// The little-endian number in `bytes` bytes from `at` on.
fn number(code: &[u8], at: u64, bytes: usize) -> Option<u64> {
    let at = usize::try_from(at).ok()?;
    let part = code.get(at..at.checked_add(bytes)?)?;
    Some(part.iter().rev().fold(0, |value, byte| value << 8 | u64::from(*byte)))
}

/// Whether `bytes` from `at` on lie inside the code.
fn lies_inside(code: &[u8], at: u64, bytes: u64) -> Option<()> {
    (at.checked_add(bytes)? <= code.len() as u64).then_some(())
}

/// Checks the tables of an ELF file of 64 bits, and what they point to.
fn elf_is_whole(code: &[u8]) -> Option<()> {
    let is_64_bit_little_endian = number(code, 4, 2)? == 0x0102;
    if !is_64_bit_little_endian || number(code, 18, 2)? != ELF_MACHINE {
        return None;
    }
    let (programs, sections) = (number(code, 32, 8)?, number(code, 40, 8)?);
    let (program_bytes, program_count) = (number(code, 54, 2)?, number(code, 56, 2)?);
    let (section_bytes, section_count) = (number(code, 58, 2)?, number(code, 60, 2)?);
    if section_count == 0 || section_bytes < 64 || (program_count > 0 && program_bytes < 56) {
        return None;
    }
    lies_inside(code, sections, section_bytes * section_count)?;
    lies_inside(code, programs, program_bytes * program_count)?;
    for index in 0..section_count {
        let at = sections + index * section_bytes;
        if number(code, at + 4, 4)? != ELF_NOBITS {
            lies_inside(code, number(code, at + 24, 8)?, number(code, at + 32, 8)?)?;
        }
    }
    for index in 0..program_count {
        let at = programs + index * program_bytes;
        lies_inside(code, number(code, at + 8, 8)?, number(code, at + 32, 8)?)?;
    }
    Some(())
}

/// Checks the header of a fat binary, and the sizes of its entries.
fn fat_binary_is_whole(code: &[u8]) -> Option<()> {
    let (header, bytes) = (number(code, 6, 2)?, number(code, 8, 8)?);
    if header < 16 || bytes == 0 {
        return None;
    }
    lies_inside(code, header, bytes)?;
    let (mut at, end) = (header, header + bytes);
    while at < end {
        let entry = number(code, at + 4, 4)?.checked_add(number(code, at + 8, 8)?)?;
        if entry < 16 || entry > end - at {
            return None;
        }
        at += entry;
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{CodeFormat, KernelCode};

    const PTX: &[u8] = b".version 8.0\n.target sm_75\n.visible .entry one(\n)\n.entry\ttwo() {}";

    fn cubin() -> Vec<u8> {
        let bytes = include_bytes!("../../../../../kernels/generated/probe.sm_90.cubin.lzma");
        let format = CodeFormat::Cubin { major: 9, minor: 0 };
        KernelCode::generated(format, bytes).unpack().unwrap_or_default()
    }

    fn fat_binary(entries: &[&[u8]]) -> Vec<u8> {
        let mut payload = Vec::new();
        for entry in entries {
            payload.extend([2, 0, 1, 1]);
            payload.extend(24_u32.to_le_bytes());
            payload.extend((entry.len() as u64).to_le_bytes());
            payload.extend([0; 8]);
            payload.extend(*entry);
        }
        let mut code = FAT_BINARY.to_vec();
        code.extend([1, 0, 16, 0]);
        code.extend((payload.len() as u64).to_le_bytes());
        code.extend(payload);
        code
    }

    fn format(bytes: &[u8]) -> Option<ModuleFormat> {
        ModuleCode::new("image", bytes).ok().map(|code| code.format())
    }

    #[test]
    fn code_is_told_apart() {
        assert_eq!(format(PTX), Some(ModuleFormat::Ptx));
        assert_eq!(format(&cubin()), Some(ModuleFormat::Cubin));
        assert_eq!(format(&fat_binary(&[b"abc", b""])), Some(ModuleFormat::FatBinary));
    }

    #[test]
    fn ptx_has_one_nul_at_its_end() {
        for end in ["", "\0", "\0\0\0"] {
            let code = ModuleCode::new("image", &[PTX, end.as_bytes()].concat());
            assert_eq!(code.ok().map(|code| code.bytes().to_vec()), Some([PTX, b"\0"].concat()));
        }
        let inside = [&PTX[..20], b"\0", &PTX[20..]].concat();
        let other = b"int main() {}".as_slice();
        for bad in [&inside, other, b"", b"\0", b".version 8.0"] {
            let error = ModuleCode::new("image", bad).err();
            assert!(error.is_some_and(|error| error.message().contains("nvcc -ptx")), "{bad:?}");
        }
    }

    #[test]
    fn machine_code_that_is_cut_or_lies_about_a_length_is_refused() {
        let whole = cubin();
        assert!(whole.len() > 200);
        for end in (4..whole.len()).step_by(7).chain([whole.len() - 1]) {
            let cut = ModuleCode::new("image", &whole[..end]);
            // The tables stand at the end, so no part of the file is whole.
            assert!(cut.is_err(), "{end} of {} bytes", whole.len());
        }
        // Offsets and sizes of the first section that has bytes.
        for field in [24, 32] {
            let mut lying = whole.clone();
            let at = number(&whole, 40, 8).unwrap_or(0) as usize + 64 + field;
            lying[at..at + 8].copy_from_slice(&u64::MAX.to_le_bytes());
            assert_eq!(format(&lying), None, "field {field}");
        }
        let mut other_machine = whole.clone();
        other_machine[18] = 62;
        assert_eq!(format(&other_machine), None);
    }

    #[test]
    fn fat_binaries_that_are_cut_or_lie_about_a_length_are_refused() {
        let whole = fat_binary(&[b"abc", b"de"]);
        for end in 4..whole.len() {
            assert_eq!(format(&whole[..end]), None, "{end} of {} bytes", whole.len());
        }
        for (at, value) in [(8, u64::MAX), (8, 1), (24, u64::MAX), (24, 5)] {
            let mut lying = whole.clone();
            lying[at..at + 8].copy_from_slice(&value.to_le_bytes());
            assert_eq!(format(&lying), None, "{value} at {at}");
        }
        let mut no_header = whole;
        no_header[6] = 0;
        assert_eq!(format(&no_header), None);
    }

    #[test]
    fn kernels_of_a_source_are_those_that_expressions_name_and_c_functions() {
        let text = "namespace mine { template <class T> __global__ void scale(T* x) {} }";
        let named = |text, expressions: &[&str]| {
            let expressions: Vec<String> = expressions.iter().map(|one| (*one).into()).collect();
            ModuleCode::source("source.cu", text, &expressions)
        };
        let good = ["scale<float>", "&mine::scale<mine::pair<int, 3>>", "mine::scale"];
        let code = named(text, &good).unwrap();
        assert!(good.iter().all(|name| code.has_kernel(name) == Some(true)));
        for other in ["scale", "scale<double>", "", "mine"] {
            assert_eq!(code.has_kernel(other), Some(false), "{other}");
        }
        for other in ["", "<float>", "scal", "scales<int>", "mine::", "mine::other"] {
            assert_eq!(named(text, &["mine::scale<int>", other]).err().as_deref(), Some(other));
        }
        let c = named("extern \"C\" __global__ void add(int* x) {}", &[]).unwrap();
        assert_eq!(["add", "ad"].map(|name| c.has_kernel(name)), [Some(true), Some(false)]);
    }

    #[test]
    fn kernels_are_found_by_their_whole_names() {
        let has = |bytes: &[u8], name| {
            ModuleCode::new("image", bytes).ok().and_then(|code| code.has_kernel(name))
        };
        assert_eq!([has(PTX, "one"), has(PTX, "two")], [Some(true); 2]);
        assert_eq!(["on", "one(", "", "three"].map(|name| has(PTX, name)), [Some(false); 4]);
        assert_eq!(has(&cubin(), "sconce_fill_u32"), Some(true));
        assert_eq!(has(&cubin(), "fill_u32"), Some(false));
        assert_eq!(has(&fat_binary(&[b"abc"]), "one"), None);
    }

    #[test]
    fn a_path_instead_of_code_is_told_what_loads_it() {
        for path in ["scale.ptx", "/a b/scale.cubin", "../scale.fatbin\0", "scale.cu"] {
            let why = ModuleCode::new("image", path.as_bytes()).unwrap_err();
            assert!(why.message().contains("sconce_module_load_file"), "{path}: {why}");
        }
        for text in
            ["", "scale", ".version 8.0\n.target sm_90", "int a; // scale.cu\n", "\u{1}.ptx"]
        {
            assert!(!looks_like_path(text.as_bytes()), "{text}");
        }
    }
}
