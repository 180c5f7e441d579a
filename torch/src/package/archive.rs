//! The zip of a package: which models it has, and reading its files.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufReader, Read, Seek};
use std::path::{Path, PathBuf};

use zip::ZipArchive;

use crate::error::{Error, Result};

/// Where a package keeps its models, behind a folder with the package's own name.
pub(super) const MODELS: &str = "data/aotinductor/";
/// Where a package keeps weights that are in no library.
pub(super) const WEIGHTS: &str = "data/weights/";
/// More bytes than a model has, unpacked: a zip can say anything.
const MOST_BYTES: u64 = 1 << 40;
/// More bytes than a source or a list of a model has.
const MOST_TEXT: u64 = 1 << 28;
/// What a package has: numbers of files by their names.
#[derive(Debug, Default)]
struct Contents {
    /// The files of each model.
    models: BTreeMap<String, Vec<(String, usize)>>,
    /// Files of weights.
    weights: BTreeMap<String, usize>,
}

/// A package that is open.
#[derive(Debug)]
pub(super) struct Archive {
    pub(super) path: PathBuf,
    zip: ZipArchive<BufReader<File>>,
    contents: Contents,
}

fn broken(path: &Path, why: impl std::fmt::Display) -> Error {
    Error::io(format!("{} is no package that can be read: {why}", path.display()))
}

/// Whether a file is a shared library, and no package.
pub fn is_library(path: &Path) -> Result<bool> {
    if path.as_os_str().is_empty() {
        return Err(Error::invalid_argument("path is empty; pass the path of a package (.pt2)"));
    }
    let mut begin = Vec::new();
    let read = File::open(path).and_then(|file| file.take(4).read_to_end(&mut begin));
    read.map_err(|why| Error::io(format!("{} could not be read: {why}", path.display())))?;
    Ok(begin == b"\x7fELF")
}

impl Archive {
    pub(super) fn open(path: &Path) -> Result<Archive> {
        let file = File::open(path)
            .map_err(|why| Error::io(format!("{} could not be opened: {why}", path.display())))?;
        let mut zip = ZipArchive::new(BufReader::new(file)).map_err(|why| {
            broken(path, format!("it is no zip file, or its end is missing ({why})"))
        })?;
        let contents = contents(&mut zip, path)?;
        Ok(Archive { path: path.to_owned(), zip, contents })
    }

    /// The name and the files of a model, with their numbers. Without a name it is the one that there is, or the one
    /// called `model`.
    pub(super) fn chosen(&self, model: Option<&str>) -> Result<(&str, &[(String, usize)])> {
        chosen(&self.contents, model, &self.path)
    }

    /// The number of a file of weights.
    pub(super) fn weight(&self, file: &str) -> Option<usize> {
        self.contents.weights.get(file).copied()
    }

    /// What is wrong with the package.
    pub(super) fn broken(&self, why: impl std::fmt::Display) -> Error {
        broken(&self.path, why)
    }

    /// A file that is not what it should be.
    pub(super) fn damaged(&self, file: &str, why: Error) -> Error {
        let Error { status, message } = why;
        Error { status, message: self.broken(format!("{file}: {message}")).message }
    }

    /// Reads a file part by part. Failures name it.
    pub(super) fn read(
        &mut self,
        index: usize,
        take: impl FnMut(&[u8]) -> Result<()>,
    ) -> Result<()> {
        copy_entry(&mut self.zip, index, &self.path, take)
    }

    /// A file as bytes.
    pub(super) fn bytes(&mut self, index: usize) -> Result<Vec<u8>> {
        let mut bytes = Vec::new();
        self.read(index, |part| {
            bytes.extend_from_slice(part);
            Ok(())
        })?;
        Ok(bytes)
    }

    /// A source or a list.
    pub(super) fn text(&mut self, index: usize) -> Result<String> {
        let entry = self.zip.by_index_raw(index).map_err(|why| broken(&self.path, why))?;
        let (name, bytes) = (entry_name(&entry), entry.size());
        if bytes > MOST_TEXT {
            return Err(broken(
                &self.path,
                format!("{name} has {bytes} bytes, more than any model's"),
            ));
        }
        drop(entry);
        String::from_utf8(self.bytes(index)?)
            .map_err(|why| self.broken(format!("{name}: {}", no_text(why.utf8_error()))))
    }
}

/// What of a name is behind a folder of packages, which the package's own name may stand before.
fn behind<'a>(name: &'a str, folder: &str) -> Option<&'a str> {
    match name.find(folder) {
        Some(0) => Some(&name[folder.len()..]),
        Some(at) if name[..at - 1].split('/').count() == 1 && name.as_bytes()[at - 1] == b'/' => {
            Some(&name[at + folder.len()..])
        }
        _ => None,
    }
}

fn contents<R: Read + Seek>(archive: &mut ZipArchive<R>, path: &Path) -> Result<Contents> {
    let mut contents = Contents::default();
    let mut bytes = 0_u64;
    for index in 0..archive.len() {
        let entry = archive.by_index_raw(index).map_err(|why| broken(path, why))?;
        let name = entry.name().map_err(|why| broken(path, why))?.into_owned();
        bytes = bytes.saturating_add(entry.size());
        if bytes > MOST_BYTES {
            return Err(broken(path, "it is larger than a model can be"));
        }
        if entry.is_dir() {
            continue;
        }
        let unsafe_part = |part: &str| {
            part.is_empty() || part == "." || part == ".." || part.contains(['\\', '\0'])
        };
        if name.split('/').any(unsafe_part) {
            return Err(broken(path, format!("the name {name:?} leads out of the package")));
        }
        if name.ends_with("/archive_format") || name == "archive_format" {
            drop(entry);
            check_format(archive, index, path)?;
            continue;
        }
        if let Some(file) = behind(&name, WEIGHTS).filter(|file| !file.contains('/')) {
            contents.weights.insert(file.to_owned(), index);
        } else if let Some((model, file)) =
            behind(&name, MODELS).and_then(|inside| inside.rsplit_once('/'))
        {
            contents.models.entry(model.to_owned()).or_default().push((file.to_owned(), index));
        }
    }
    Ok(contents)
}

fn check_format<R: Read + Seek>(
    archive: &mut ZipArchive<R>,
    index: usize,
    path: &Path,
) -> Result<()> {
    let name = archive
        .by_index_raw(index)
        .map_or_else(|_| "archive_format".to_owned(), |it| entry_name(&it));
    let failed = |why: &dyn std::fmt::Display| broken(path, format!("{name}: {why}"));
    let mut format = Vec::new();
    let entry = archive.by_index(index).map_err(|why| failed(&why))?;
    entry.take(64).read_to_end(&mut format).map_err(|why| failed(&why))?;
    match std::str::from_utf8(&format) {
        Ok(format) if format.trim() == "pt2" => Ok(()),
        Ok(format) => Err(broken(path, format!("its archive_format is {format:?}, not pt2"))),
        Err(why) => Err(failed(&no_text(why))),
    }
}

fn chosen<'a>(
    contents: &'a Contents,
    wanted: Option<&str>,
    path: &Path,
) -> Result<(&'a str, &'a [(String, usize)])> {
    let models = &contents.models;
    let names = || models.keys().map(String::as_str).collect::<Vec<_>>().join(", ");
    let found = match wanted {
        Some(name) => models.get_key_value(name),
        None if models.len() == 1 => models.iter().next(),
        None => models.get_key_value("model"),
    };
    if let Some((name, files)) = found {
        return Ok((name, files));
    }
    if models.is_empty() {
        return Err(Error::invalid_argument(format!(
            "{} has no compiled model; it may be a package of torch.export.save. Compile it with \
             torch._inductor.aoti_compile_and_package",
            path.display()
        )));
    }
    Err(Error::invalid_argument(format!(
        "{} has the models {}; name one of them",
        path.display(),
        names()
    )))
}

/// The name of an entry, for messages.
fn entry_name<R: Read>(entry: &zip::read::ZipFile<'_, R>) -> String {
    entry.name().map_or_else(|_| "an entry".to_owned(), std::borrow::Cow::into_owned)
}

/// What is wrong with an entry that is read as text.
fn no_text(why: std::str::Utf8Error) -> String {
    format!("it is no text in UTF-8 (byte {})", why.valid_up_to())
}

/// Reads an entry part by part. Failures name it.
fn copy_entry<R: Read + Seek>(
    archive: &mut ZipArchive<R>,
    index: usize,
    path: &Path,
    mut take: impl FnMut(&[u8]) -> Result<()>,
) -> Result<()> {
    let name = match archive.by_index_raw(index) {
        Ok(entry) => entry_name(&entry),
        Err(why) => return Err(broken(path, why)),
    };
    let failed = |why: &dyn std::fmt::Display| broken(path, format!("{name}: {why}"));
    let mut entry = archive.by_index(index).map_err(|why| failed(&why))?;
    let size = entry.size();
    let mut buffer = vec![0; 1 << 20];
    let mut taken = 0_u64;
    loop {
        let count = entry.read(&mut buffer).map_err(|why| failed(&why))?;
        if count == 0 {
            break;
        }
        taken += count as u64;
        if taken > size {
            return Err(failed(&"it is longer than the package says"));
        }
        take(&buffer[..count])?;
    }
    if taken != size {
        return Err(failed(&"it is shorter than the package says"));
    }
    Ok(())
}
