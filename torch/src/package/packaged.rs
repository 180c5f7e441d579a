//! A model of a package: what the package says of it, and the files that it opens itself.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::archive::{Archive, WEIGHTS};
use super::folder::PrivateFolder;
use super::json;
use super::nodes::{Node, nodes};
use super::unnamed::LibraryFile;
use super::weights::{Weight, storage, weights};
use crate::error::{Error, Result};

/// Files of kernels, which a model of CUDA opens where it first needs them.
const KERNELS: [&str; 4] = [".cubin", ".fatbin", ".ptx", ".hsaco"];

/// The source that the compiler generated.
#[derive(Clone, Debug, Default)]
pub struct GeneratedSource {
    /// The source of the model.
    pub model: String,
    /// The source of its kernels for the CPU.
    pub kernels: String,
}

/// The custom operators that a model calls, if a file names any. A file that is damaged is none that is missing: it
/// matters to models that call such operators alone.
pub type NamedOperators = Result<Option<Vec<Node>>>;

/// A model of a package. Its files are read where they are needed.
#[derive(Debug)]
pub struct PackagedModel {
    archive: Archive,
    /// The shared library: its name and its number.
    library: (String, usize),
    /// Numbers of files of kernels by their names.
    kernels: Vec<(String, usize)>,
    /// The number of the file with all weights, if the package has one beside the library.
    blob: Option<usize>,
    /// The generated source, if the package has it.
    pub source: Option<GeneratedSource>,
    /// Keys and values of the metadata: `AOTI_DEVICE_KEY` and others.
    pub metadata: BTreeMap<String, String>,
    /// The custom operators that the model calls.
    pub operators: NamedOperators,
    /// Weights in files of their own.
    pub weights: Vec<Weight>,
}

/// The files that are opened by their paths.
#[derive(Debug)]
pub enum Extracted {
    /// A library alone, until the loader has opened it.
    Library(LibraryFile),
    /// A library, and kernels beside it that the model opens later. The folder is removed with this value.
    Folder(PrivateFolder, PathBuf),
}

impl Extracted {
    /// The shared library.
    pub fn library(&self) -> &Path {
        match self {
            Extracted::Library(file) => file.path(),
            Extracted::Folder(_, library) => library,
        }
    }
}

/// The source that lies beside a library, if there is one.
pub fn source_beside(library: &Path) -> Option<GeneratedSource> {
    let model = std::fs::read_to_string(library.with_extension("cpp")).ok()?;
    Some(GeneratedSource { model, kernels: String::new() })
}

/// The custom operators that a file beside a library names.
pub fn operators_beside(library: &Path) -> NamedOperators {
    let path = library.with_extension("json");
    let failed = |why: &dyn std::fmt::Display| {
        Error::io(format!("{}, which names the model's custom operators: {why}", path.display()))
    };
    match std::fs::read_to_string(&path) {
        Err(why) if why.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(why) => Err(failed(&why)),
        Ok(text) => nodes(&text).map_err(|why| failed(&why.message)),
    }
}

impl PackagedModel {
    /// Reads a package and what it says of a model. Without a name it is the one that there is, or the one called
    /// `model`. Nothing is written.
    pub fn open(path: &Path, model: Option<&str>) -> Result<PackagedModel> {
        let archive = Archive::open(path)?;
        let (name, files) = archive.chosen(model)?;
        let (name, files) = (name.to_owned(), files.to_vec());
        let mut package = PackagedModel {
            archive,
            library: (String::new(), 0),
            kernels: Vec::new(),
            blob: None,
            source: None,
            metadata: BTreeMap::new(),
            operators: Ok(None),
            weights: Vec::new(),
        };
        let (mut libraries, mut kernels) = (Vec::new(), String::new());
        for (file, index) in files {
            if file.ends_with(".so") {
                libraries.push((file, index));
            } else if file.ends_with(".wrapper.cpp") {
                package.source.get_or_insert_default().model = package.archive.text(index)?;
            } else if file.ends_with(".kernel.cpp") {
                kernels = package.archive.text(index)?;
            } else if file.ends_with("wrapper_metadata.json")
                || (file.ends_with("_metadata.json") && package.metadata.is_empty())
            {
                let text = package.archive.text(index)?;
                package.metadata =
                    texts(&text).map_err(|why| package.archive.damaged(&file, why))?;
            } else if file == "weights_config.json" {
                let text = package.archive.text(index)?;
                package.weights =
                    weights(&text).map_err(|why| package.archive.damaged(&file, why))?;
            } else if file.ends_with("_weights.blob") {
                package.blob = Some(index);
            } else if file.ends_with(".json") {
                let text = package.archive.text(index)?;
                match nodes(&text).map_err(|why| package.archive.damaged(&file, why)) {
                    Ok(None) => {}
                    named => package.operators = named,
                }
            } else if KERNELS.iter().any(|kind| file.ends_with(kind)) {
                package.kernels.push((file, index));
            }
        }
        if let Some(source) = &mut package.source {
            source.kernels = kernels;
        }
        let path = path.display();
        package.library = match &libraries[..] {
            [library] => library.clone(),
            [] => {
                return Err(Error::invalid_argument(format!(
                    "{path}: the model {name} has no shared library; it was packaged without compiling \
                     (aot_inductor.compile_standalone or package_cpp_only). Package it again without that option"
                )));
            }
            _ => {
                let count = libraries.len();
                return Err(package
                    .archive
                    .broken(format!("the model {name} has {count} shared libraries")));
            }
        };
        for weight in &package.weights {
            if package.archive.weight(&weight.file).is_none() {
                let file = &weight.file;
                return Err(package.archive.broken(format!(
                    "weights_config.json names {file:?}, which is not in {WEIGHTS}"
                )));
            }
        }
        Ok(package)
    }

    /// The name of the shared library.
    pub fn library_name(&self) -> &str {
        &self.library.0
    }

    /// The shared library as bytes.
    pub fn library(&mut self) -> Result<Vec<u8>> {
        self.archive.bytes(self.library.1)
    }

    /// The weights that lie in one file, if there are such.
    pub fn blob(&mut self) -> Result<Option<Vec<u8>>> {
        self.blob.map(|index| self.archive.bytes(index)).transpose()
    }

    /// Whether the weights lie in one file.
    pub fn has_blob(&self) -> bool {
        self.blob.is_some()
    }

    /// The bytes of a weight's storage.
    pub fn storage(&mut self, file: &str) -> Result<Vec<u8>> {
        let index = self.archive.weight(file);
        let index =
            index.ok_or_else(|| self.archive.broken(format!("{WEIGHTS}{file} is missing")))?;
        let bytes = self.archive.bytes(index)?;
        storage(&bytes).map_err(|why| self.archive.damaged(&format!("{WEIGHTS}{file}"), why))
    }

    /// Writes the files that are opened by their paths: the library, and in a private folder with it kernels of CUDA.
    pub fn extract(&mut self) -> Result<Extracted> {
        if self.kernels.is_empty() {
            let mut file = LibraryFile::new(&self.library.0)?;
            self.archive.read(self.library.1, |part| file.write(part))?;
            return Ok(Extracted::Library(file));
        }
        let folder = PrivateFolder::new()?;
        let library = folder.path().join(&self.library.0);
        let mut files = vec![(library.clone(), self.library.1)];
        files.extend(self.kernels.iter().map(|(name, index)| (folder.path().join(name), *index)));
        for (target, index) in files {
            let failed = |why: std::io::Error| {
                Error::io(format!(
                    "{} could not be written: {why}; set TMPDIR to a folder with free space",
                    target.display()
                ))
            };
            let mut file = File::create_new(&target).map_err(failed)?;
            self.archive.read(index, |part| file.write_all(part).map_err(failed))?;
        }
        Ok(Extracted::Folder(folder, library))
    }
}

/// Members of a JSON object whose values are texts; others are left out.
fn texts(json: &str) -> Result<BTreeMap<String, String>> {
    let Value::Object(members) = json::parse(json)? else { return Ok(BTreeMap::new()) };
    let text = |(name, value)| match value {
        Value::String(text) => Some((name, text)),
        _ => None,
    };
    Ok(members.into_iter().filter_map(text).collect())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::panic, reason = "a test fails by panicking")]

    use super::super::archive::MODELS;
    use super::*;

    #[test]
    fn only_what_a_model_opens_is_extracted() {
        let folder = PrivateFolder::new().unwrap();
        let path = folder.path().join("m.pt2");
        let mut writer = zip::ZipWriter::new(File::create_new(&path).unwrap());
        for name in [
            "m.so",
            "k.cubin",
            "m.wrapper.cpp",
            "m.wrapper.json",
            "a.o",
            "CMakeLists.txt",
            "m_weights.blob",
        ] {
            let options = zip::write::SimpleFileOptions::default();
            writer.start_file(format!("{MODELS}model/{name}"), options).unwrap();
            writer.write_all(if name.ends_with(".json") { b"{}" } else { b"bytes" }).unwrap();
        }
        writer.finish().unwrap();
        let mut package = PackagedModel::open(&path, None).unwrap();
        assert_eq!(package.source.as_ref().unwrap().model, "bytes");
        let extracted = package.extract().unwrap();
        let Extracted::Folder(inside, library) = &extracted else { panic!("{extracted:?}") };
        assert_eq!(extracted.library(), library);
        let files = std::fs::read_dir(inside.path()).unwrap();
        let mut names: Vec<_> = files.map(|file| file.unwrap().file_name()).collect();
        names.sort_unstable();
        assert_eq!(names, ["k.cubin", "lock", "m.so"]);
        assert_eq!(package.blob().unwrap().unwrap(), b"bytes");
        assert_eq!(package.library().unwrap(), b"bytes");
    }

    #[test]
    fn metadata_is_read() {
        let json = r#"{"AOTI_DEVICE_KEY": "cuda", "n": 3, "AOTI_COMPUTE_CAPABILITY": "90"}"#;
        let read = texts(json).unwrap();
        assert_eq!(read.get("AOTI_DEVICE_KEY").map(String::as_str), Some("cuda"));
        assert_eq!(read.get("AOTI_COMPUTE_CAPABILITY").map(String::as_str), Some("90"));
        assert_eq!(texts("[]").unwrap().len(), 0);
        assert!(texts("\"").is_err());
    }
}
