//! What is in a package, and writing it to a folder.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::{BufReader, Read, Seek, Write};
use std::path::{Path, PathBuf};

use zip::ZipArchive;

use super::folder::PrivateFolder;
use super::json::Json;
use super::nodes::{Node, nodes};
use super::weights::{Weight, weights};
use crate::error::{Error, Result};

/// Where a package keeps its models, behind a folder with the package's own name.
const MODELS: &str = "data/aotinductor/";
/// Where a package keeps weights that are in no library.
const WEIGHTS: &str = "data/weights/";
/// More bytes than a model has, unpacked: a zip can say anything.
const MOST_BYTES: u64 = 1 << 40;

/// The source that the compiler generated.
#[derive(Clone, Debug, Default)]
pub struct Source {
    /// The source of the model.
    pub model: String,
    /// The source of its kernels for the CPU.
    pub kernels: String,
}

/// A model of a package, written to a private folder.
#[derive(Debug)]
pub struct Unpacked {
    /// The folder of the files, removed with this value.
    pub folder: PrivateFolder,
    /// The shared library.
    pub library: PathBuf,
    /// The generated source, if the package has it.
    pub source: Option<Source>,
    /// Keys and values of the metadata: `AOTI_DEVICE_KEY` and others.
    pub metadata: BTreeMap<String, String>,
    /// The custom operators that the model calls, if the package names any.
    pub operators: Option<Vec<Node>>,
    /// The file of all weights, if the package has one beside the library.
    pub blob: Option<PathBuf>,
    /// Weights in files of their own; [`Unpacked::storage`] is where.
    pub weights: Vec<Weight>,
}

impl Unpacked {
    /// The path of a weight's storage.
    pub fn storage(&self, file: &str) -> PathBuf {
        self.folder.path().join(format!("weights-{file}"))
    }
}

/// What a package has: numbers of files by their names.
#[derive(Default)]
struct Contents {
    /// The files of each model.
    models: BTreeMap<String, Vec<(String, usize)>>,
    /// Files of weights.
    weights: BTreeMap<String, usize>,
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

/// The source that lies beside a library, if there is one.
pub fn source_beside(library: &Path) -> Option<Source> {
    let model = std::fs::read_to_string(library.with_extension("cpp")).ok()?;
    Some(Source { model, kernels: String::new() })
}

/// Writes a model of a package to a private folder. Without a name it is the one that there is, or the one called
/// `model`.
pub fn unpack(path: &Path, model: Option<&str>) -> Result<Unpacked> {
    let file = File::open(path)
        .map_err(|why| Error::io(format!("{} could not be opened: {why}", path.display())))?;
    let mut archive = ZipArchive::new(BufReader::new(file))
        .map_err(|why| broken(path, format!("it is no zip file, or its end is missing ({why})")))?;
    let contents = contents(&mut archive, path)?;
    let (name, files) = chosen(&contents, model, path)?;
    let mut unpacked = Unpacked {
        folder: PrivateFolder::new()?,
        library: PathBuf::new(),
        source: None,
        metadata: BTreeMap::new(),
        operators: None,
        blob: None,
        weights: Vec::new(),
    };
    let (mut libraries, mut kernels) = (Vec::new(), String::new());
    for (file, index) in files {
        let target = unpacked.folder.path().join(file);
        write_file(&mut archive, *index, &target, path)?;
        let text = || std::fs::read_to_string(&target).unwrap_or_default();
        if file.ends_with(".so") {
            libraries.push(target);
        } else if file.ends_with(".wrapper.cpp") {
            unpacked.source.get_or_insert_default().model = text();
        } else if file.ends_with(".kernel.cpp") {
            kernels = text();
        } else if file.ends_with("wrapper_metadata.json")
            || (file.ends_with("_metadata.json") && unpacked.metadata.is_empty())
        {
            unpacked.metadata = texts(&text());
        } else if file == "weights_config.json" {
            unpacked.weights = weights(&text()).map_err(|why| broken(path, why.message))?;
        } else if file.ends_with("_weights.blob") {
            unpacked.blob = Some(target);
        } else if file.ends_with(".json")
            && let Some(operators) = nodes(&text())
        {
            unpacked.operators =
                Some(operators.map_err(|why| why.within(&path.display().to_string()))?);
        }
    }
    if let Some(source) = &mut unpacked.source {
        source.kernels = kernels;
    }
    write_weights(&mut archive, &contents, &unpacked, path)?;
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

/// Writes the files that the model's weights are in, each once.
fn write_weights<R: Read + Seek>(
    archive: &mut ZipArchive<R>,
    contents: &Contents,
    unpacked: &Unpacked,
    path: &Path,
) -> Result<()> {
    let files: BTreeSet<&str> = unpacked.weights.iter().map(|weight| &*weight.file).collect();
    for file in files {
        let index = contents.weights.get(file).ok_or_else(|| {
            broken(path, format!("weights_config.json names {file:?}, which is not in {WEIGHTS}"))
        })?;
        write_file(archive, *index, &unpacked.storage(file), path)?;
    }
    Ok(())
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
    let mut format = String::new();
    let entry = archive.by_index(index).map_err(|why| broken(path, why))?;
    entry.take(64).read_to_string(&mut format).map_err(|why| broken(path, why))?;
    if format.trim() == "pt2" {
        return Ok(());
    }
    Err(broken(path, format!("its archive_format is {format:?}, not pt2")))
}

fn chosen<'a>(
    contents: &'a Contents,
    wanted: Option<&str>,
    path: &Path,
) -> Result<(&'a str, &'a Vec<(String, usize)>)> {
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

/// Members of a JSON object whose values are texts; others are left out.
fn texts(json: &str) -> BTreeMap<String, String> {
    let Ok(Json::Object(members)) = Json::parse(json) else { return BTreeMap::new() };
    let text = |(name, value)| match value {
        Json::Text(text) => Some((name, text)),
        _ => None,
    };
    members.into_iter().filter_map(text).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn metadata_is_read() {
        let read = texts(r#"{"AOTI_DEVICE_KEY": "cuda", "n": 3, "AOTI_COMPUTE_CAPABILITY": "90"}"#);
        assert_eq!(read.get("AOTI_DEVICE_KEY").map(String::as_str), Some("cuda"));
        assert_eq!(read.get("AOTI_COMPUTE_CAPABILITY").map(String::as_str), Some("90"));
        assert_eq!(texts("\"").len(), 0);
    }
}
