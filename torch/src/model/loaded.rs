//! A loaded model, and runs.

#![allow(unsafe_code, reason = "calls a model")]

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError, RwLock};

use super::captures::{Captures, Graphs, shapes_of};
use super::check;
use super::constant_state::{Absent, Kept};
use super::description::Description;
use super::device::{DeviceInUse, cuda_device};
use super::functions::Container;
use super::operators::Operators;
use crate::abi::devices::{current_stream, native};
use crate::abi::live::counted;
use crate::error::{Error, Result};
use crate::package::archive::{is_library, unpack};
use crate::package::folder::PrivateFolder;
use crate::package::nodes::{Node, nodes};
use crate::package::source;
use crate::sconce::operations::undefined;
use crate::sconce::tensor::TensorHandle;
use crate::sconce::{Tensor, api};

/// Sets of shapes that are remembered as run before.
const MOST_SHAPES: usize = 4096;

/// A loaded model.
pub struct Model {
    /// Held for reading by runs whose kernels are loaded, for writing by others: a model loads its kernels in its
    /// first run, without a lock of its own.
    pub(super) container: RwLock<Container>,
    /// What the model is.
    pub description: Description,
    /// Sconce's device of the model.
    pub device: i32,
    /// Keys and values of the package's metadata.
    pub metadata: BTreeMap<String, String>,
    pub(super) kept: Mutex<Kept>,
    pub(super) graphs: Mutex<Graphs>,
    /// Sets of shapes whose kernels are loaded.
    warm: RwLock<HashSet<u64>>,
    /// Whether values of tensors decide which kernels run: then no set of shapes is known to have loaded all.
    branches: bool,
    /// The custom operators that the model calls.
    pub operators: Box<Operators>,
    /// The model's names of constants that have no values yet.
    pub(super) absent: Absent,
    /// The most bytes of tensors that a run made at the same time.
    pub(super) run_bytes: AtomicU64,
    /// The model's files, which are removed after the library is closed.
    folder: Option<PrivateFolder>,
}

/// Where a model is to run, and which one of a package.
#[derive(Clone, Copy, Debug, Default)]
pub struct ModelChoice<'a> {
    /// The index of a device for a model of CUDA; `None` for the current one.
    pub device: Option<i32>,
    /// The name of the model within its package.
    pub name: Option<&'a str>,
}

impl Model {
    /// Loads a package, or a bare shared library.
    pub fn load(path: &Path, choice: ModelChoice<'_>) -> Result<Model> {
        if is_library(path)? {
            let path = std::path::absolute(path)
                .map_err(|why| Error::io(format!("{}: {why}", path.display())))?;
            let source = std::fs::read_to_string(path.with_extension("cpp")).ok();
            let operators = std::fs::read_to_string(path.with_extension("json")).ok();
            let operators = operators.and_then(|text| nodes(&text)).transpose()?;
            return Model::open(&path, source.as_deref(), operators, BTreeMap::new(), choice);
        }
        let unpacked = unpack(path, choice.name)?;
        crate::loading::older_system::admit(&unpacked.library)?;
        let loaded = || {
            let (source, metadata) = (unpacked.source.as_deref(), unpacked.metadata.clone());
            let operators = unpacked.operators.clone();
            let model = Model::open(&unpacked.library, source, operators, metadata, choice)?;
            model.read_weights(&unpacked)?;
            Ok(model)
        };
        let mut model =
            loaded().map_err(|error: Error| error.within(&path.display().to_string()))?;
        model.folder = Some(unpacked.folder);
        Ok(model)
    }

    fn open(
        library: &Path,
        source: Option<&str>,
        operators: Option<Vec<Node>>,
        metadata: BTreeMap<String, String>,
        choice: ModelChoice<'_>,
    ) -> Result<Model> {
        let is_cuda = match metadata.get("AOTI_DEVICE_KEY").map(String::as_str) {
            Some("cuda") => true,
            Some("cpu") => false,
            Some(other) => {
                return Err(Error::not_supported(format!(
                    "the model was compiled for {other}; models for cpu and cuda are run"
                )));
            }
            None => {
                let undefined = crate::loading::symbols::symbols(library)?.undefined;
                crate::loading::process::needs_runtime(&undefined)
            }
        };
        let device =
            if is_cuda { cuda_device(choice.device, &metadata)? } else { api::SCONCE_DEVICE_CPU };
        let name = if is_cuda { format!("cuda:{device}") } else { "cpu".to_owned() };
        let guard = is_cuda.then(|| DeviceInUse::begin(device)).transpose()?;
        let constants = source.map(source::constants).unwrap_or_default();
        let container = Container::create(library, &name, constants)?;
        let operators = Operators::new(operators, container.undefined(), device)?;
        let description = Description::read(&container, source)?;
        drop(guard);
        let own = description.constants.iter().filter(|constant| !constant.folded);
        let absent = match container.has_constants {
            true => BTreeSet::new(),
            false => own.map(|constant| constant.name.clone()).collect(),
        };
        let branches =
            container.undefined().iter().any(|name| name.starts_with("aoti_torch_item_"));
        Ok(Model {
            container: RwLock::new(container),
            description,
            device,
            metadata,
            kept: Mutex::new(Kept::default()),
            graphs: Mutex::new(Graphs::default()),
            warm: RwLock::new(HashSet::new()),
            branches,
            operators,
            run_bytes: AtomicU64::new(0),
            folder: None,
            absent: Absent::new(absent),
        })
    }

    /// What runs pass to the model for its custom operators. The model keeps it no longer than the run.
    pub(super) fn operators_address(&self) -> usize {
        (&raw const *self.operators).expose_provenance()
    }

    /// Refuses inputs that the model does not take.
    pub fn check(&self, inputs: &[TensorHandle]) -> Result<()> {
        check::count("inputs", inputs.len(), self.description.inputs.len())?;
        for (index, (tensor, input)) in inputs.iter().zip(&self.description.inputs).enumerate() {
            check::input(index, input, *tensor, self.device).map_err(|error| {
                match error.status {
                    api::SCONCE_ERROR_INVALID_HANDLE => error.within(&format!("input {index}")),
                    _ => error,
                }
            })?;
        }
        Ok(())
    }

    /// Runs the model on the current stream of its device.
    pub fn run(&self, inputs: &[TensorHandle]) -> Result<Vec<Tensor>> {
        self.check(inputs)?;
        self.run_checked(inputs)
    }

    /// As [`Model::run`], for inputs that were checked.
    pub(super) fn run_checked(&self, inputs: &[TensorHandle]) -> Result<Vec<Tensor>> {
        let guard = (self.device >= 0).then(|| DeviceInUse::begin(self.device)).transpose()?;
        let stream = match self.device {
            api::SCONCE_DEVICE_CPU => 0,
            device => native(current_stream(device)?)?.expose_provenance(),
        };
        let shapes = shapes_of(inputs)?;
        let outputs = self.call(inputs, shapes, stream);
        drop(guard);
        outputs
    }

    fn call(&self, inputs: &[TensorHandle], shapes: u64, stream: usize) -> Result<Vec<Tensor>> {
        let warm =
            |shapes| self.warm.read().unwrap_or_else(PoisonError::into_inner).contains(&shapes);
        if !self.branches && warm(shapes) {
            let container = self.container.read().unwrap_or_else(PoisonError::into_inner);
            return self.call_container(&container, inputs, stream);
        }
        let container = self.container.write().unwrap_or_else(PoisonError::into_inner);
        if warm(shapes) {
            return self.call_container(&container, inputs, stream);
        }
        let (outputs, bytes) = counted(inputs, || self.call_container(&container, inputs, stream));
        let outputs = outputs?;
        self.run_bytes.fetch_max(bytes as u64, Ordering::Relaxed);
        let mut warm = self.warm.write().unwrap_or_else(PoisonError::into_inner);
        if warm.len() == MOST_SHAPES {
            warm.clear();
        }
        warm.insert(shapes);
        Ok(outputs)
    }

    fn call_container(
        &self,
        container: &Container,
        inputs: &[TensorHandle],
        stream: usize,
    ) -> Result<Vec<Tensor>> {
        self.absent.check()?;
        let mut owned = Vec::with_capacity(inputs.len());
        for input in inputs {
            owned.push(Tensor::retained(*input)?);
        }
        let mut given: Vec<TensorHandle> = owned.into_iter().map(Tensor::into_handle).collect();
        let mut returned = vec![std::ptr::null_mut(); self.description.outputs.len()];
        // SAFETY: there are as many inputs and outputs as the model has; `call` holds the lock that its shapes need.
        let result =
            unsafe { container.run(&mut given, &mut returned, stream, self.operators_address()) };
        let outputs: Vec<Option<Tensor>> = returned
            .into_iter()
            .map(|handle| (!handle.is_null()).then(|| Tensor::from_handle(handle)))
            .collect();
        result?;
        // The model sets no handle where the program that was compiled returned None.
        outputs.into_iter().map(|output| output.map_or_else(undefined, Ok)).collect()
    }
}

impl Drop for Model {
    fn drop(&mut self) {
        if self.device >= 0
            && let Ok(_guard) = DeviceInUse::begin(self.device)
        {
            let _captures = Captures::stop();
            // SAFETY: no preconditions. Queued work uses kernels and constants that go now. A failed device has no
            // work left.
            let waited = unsafe { api::sconce_device_synchronize(self.device) };
            if waited == api::SCONCE_ERROR_INVALID_STATE {
                // The program captures a stream, so nothing is known of the work that is queued.
                self.container.get_mut().unwrap_or_else(PoisonError::into_inner).keep_open();
            }
        }
    }
}
