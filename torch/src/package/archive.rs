//! What is in a package, and writing it to a folder.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufReader, Read, Seek, Write};
use std::path::{Path, PathBuf};

use zip::ZipArchive;

use super::folder::PrivateFolder;
use crate::error::{Error, Result};

/// Where a package keeps its models, behind a folder with the package's own name.
const MODELS: &str = "data/aotinductor/";
/// More bytes than a model has, unpacked: a zip can say anything.
const MOST_BYTES: u64 = 1 << 40;

/// A model of a package, written to a private folder.
#[derive(Debug)]
pub struct Unpacked {
    /// The folder of the files, removed with this value.
    pub folder: PrivateFolder,
    /// The shared library.
    pub library: PathBuf,
    /// The generated source, if the package has it.
    pub source: Option<String>,
    /// Keys and values of the metadata: `AOTI_DEVICE_KEY` and others.
    pub metadata: BTreeMap<String, String>,
}

/// The models of a package: the number of each file by its name, for each model.
type Models = BTreeMap<String, Vec<(String, usize)>>;

fn broken(path: &Path, why: impl std::fmt::Display) -> Error {
    Error::io(format!("{} is no package that can be read: {why}", path.display()))
}

/// Writes a model of a package to a private folder. Without a name it is the one that there is, or the one called
/// `model`.
pub fn unpack(path: &Path, model: Option<&str>) -> Result<Unpacked> {
    let file = File::open(path)
        .map_err(|why| Error::io(format!("{} could not be opened: {why}", path.display())))?;
    let mut archive = ZipArchive::new(BufReader::new(file)).map_err(|why| broken(path, why))?;
    let models = models(&mut archive, path)?;
    let (name, files) = chosen(&models, model, path)?;
    let folder = PrivateFolder::new()?;
    let mut unpacked =
        Unpacked { library: PathBuf::new(), source: None, metadata: BTreeMap::new(), folder };
    let mut libraries = Vec::new();
    for (file, index) in files {
        let target = unpacked.folder.path().join(file);
        write_file(&mut archive, *index, &target, path)?;
        let text = || std::fs::read_to_string(&target).unwrap_or_default();
        if file.ends_with(".so") {
            libraries.push(target);
        } else if file.ends_with(".wrapper.cpp") {
            unpacked.source = Some(text());
        } else if file.ends_with("wrapper_metadata.json")
            || (file.ends_with("_metadata.json") && unpacked.metadata.is_empty())
        {
            unpacked.metadata = flat_object(&text());
        }
    }
    match <[PathBuf; 1]>::try_from(libraries) {
        Ok([library]) => unpacked.library = library,
        Err(none) if none.is_empty() => {
            return Err(Error::invalid_argument(format!(
                "{}: the model {name} has no shared library; it was packaged without compiling \
                 (aot_inductor.compile_standalone or package_cpp_only). Package it again without that option",
                path.display()
            )));
        }
        Err(several) => {
            return Err(broken(
                path,
                format!("the model {name} has {} shared libraries", several.len()),
            ));
        }
    }
    Ok(unpacked)
}

fn models<R: Read + Seek>(archive: &mut ZipArchive<R>, path: &Path) -> Result<Models> {
    let mut models = Models::new();
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
        let inside = match name.find(MODELS) {
            Some(0) => &name[MODELS.len()..],
            // Before it stands the name of the package alone.
            Some(at)
                if name[..at - 1].split('/').count() == 1 && name.as_bytes()[at - 1] == b'/' =>
            {
                &name[at + MODELS.len()..]
            }
            _ => continue,
        };
        let Some((model, file)) = inside.rsplit_once('/') else { continue };
        models.entry(model.to_owned()).or_default().push((file.to_owned(), index));
    }
    Ok(models)
}

fn check_format<R: Read + Seek>(
    archive: &mut ZipArchive<R>,
    index: usize,
    path: &Path,
) -> Result<()> {
    let mut format = String::new();
    let entry = archive.by_index(index).map_err(|why| broken(path, why))?;
    entry.take(64).read_to_string(&mut format).map_err(|why| broken(path, why))?;
    if format.trim() == "pt2" {
        return Ok(());
    }
    Err(broken(path, format!("its archive_format is {format:?}, not pt2")))
}

fn chosen<'a>(
    models: &'a Models,
    wanted: Option<&str>,
    path: &Path,
) -> Result<(&'a str, &'a Vec<(String, usize)>)> {
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

fn write_file<R: Read + Seek>(
    archive: &mut ZipArchive<R>,
    index: usize,
    target: &Path,
    path: &Path,
) -> Result<()> {
    let mut entry = archive.by_index(index).map_err(|why| broken(path, why))?;
    let mut file = File::create_new(target)
        .map_err(|why| Error::io(format!("{} could not be written: {why}", target.display())))?;
    let size = entry.size();
    let mut buffer = vec![0; 1 << 20];
    let mut written = 0_u64;
    loop {
        let count = entry.read(&mut buffer).map_err(|why| broken(path, why))?;
        if count == 0 {
            break;
        }
        written += count as u64;
        if written > size {
            return Err(broken(path, "a file is longer than the package says"));
        }
        file.write_all(&buffer[..count]).map_err(|why| {
            Error::io(format!(
                "{} could not be written: {why}; set TMPDIR to a folder with room",
                target.display()
            ))
        })?;
    }
    if written != size {
        return Err(broken(path, "a file is shorter than the package says"));
    }
    Ok(())
}

/// Texts of a JSON object whose values are texts; other members are left out.
fn flat_object(json: &str) -> BTreeMap<String, String> {
    let mut texts = Vec::new();
    let mut rest = json;
    while let Some(begin) = rest.find('"') {
        let text = &rest[begin + 1..];
        let Some(end) = text.find('"') else { break };
        let after = text[end + 1..].trim_start();
        texts.push((&text[..end], after.starts_with(':')));
        rest = &text[end + 1..];
    }
    let mut members = BTreeMap::new();
    for pair in texts.windows(2) {
        if let [(key, true), (value, false)] = pair {
            members.insert((*key).to_owned(), (*value).to_owned());
        }
    }
    members
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn metadata_is_read() {
        let read =
            flat_object(r#"{"AOTI_DEVICE_KEY": "cuda", "n": 3, "AOTI_COMPUTE_CAPABILITY": "90"}"#);
        assert_eq!(read.get("AOTI_DEVICE_KEY").map(String::as_str), Some("cuda"));
        assert_eq!(read.get("AOTI_COMPUTE_CAPABILITY").map(String::as_str), Some("90"));
        assert_eq!(flat_object("\"").len(), 0);
    }
}
