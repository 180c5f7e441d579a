//! A loaded model, and runs.

#![allow(unsafe_code, reason = "calls a model")]

use std::collections::{BTreeMap, HashSet};
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError, RwLock};

use super::captures::{Captures, Graphs};
use super::check;
use super::constant_state::ConstantState;
use super::description::Description;
use super::device::{DeviceInUse, cuda_device};
use super::functions::Container;
use super::inputs::{Facts, InputChecks};
use super::operators::Operators;
use super::results::RunHandles;
use crate::abi::devices::{current_stream, native};
use crate::abi::live::counted;
use crate::error::{Error, Result};
use crate::package::archive::is_library;
use crate::package::constants::constants;
use crate::package::packaged::{
    Extracted, GeneratedSource, NamedOperators, PackagedModel, operators_beside, source_beside,
};
use crate::sconce::declared::{DeclaredOperation, UsedTensors};
use crate::sconce::operations::laid_out;
use crate::sconce::properties::strides_of;
use crate::sconce::tensor::TensorHandle;
use crate::sconce::{Tensor, api};

/// Sets of shapes that are remembered as run before.
const MOST_SHAPES: usize = 4096;

/// A loaded model.
pub struct Model {
    /// Held for reading by runs, and for writing by runs that may change the model: its first, which may compute
    /// constants from others, and those that may load kernels, which a model does without a lock of its own.
    pub(super) container: RwLock<Container>,
    /// What the model is.
    pub description: Description,
    /// What reports call it: the name of its file.
    name: String,
    /// Sconce's device of the model.
    pub device: i32,
    /// Keys and values of the package's metadata.
    pub metadata: BTreeMap<String, String>,
    /// What is compared of the inputs of a run.
    pub(super) checks: InputChecks,
    /// Both sets of constants.
    pub(super) constants: ConstantState,
    /// Whether the library had the values of its constants.
    pub(super) has_constants: bool,
    pub(super) graphs: Mutex<Graphs>,
    /// Types and shapes of inputs that were run before: their kernels are loaded.
    warm: RwLock<HashSet<Box<[i64]>>>,
    /// Whether the model was run since its constants were changed.
    was_run: AtomicBool,
    /// The custom operators that the model calls.
    pub operators: Box<Operators>,
    /// The most bytes of tensors that a run made at the same time.
    pub(super) run_bytes: AtomicU64,
    /// Kernels of CUDA that the model opens where it first needs them. Removed after the library is closed.
    files: Option<Extracted>,
}

/// A library, and what is called as soon as the loader has opened it.
struct LibraryPlace<'a> {
    library: &'a Path,
    opened: &'a mut dyn FnMut(),
}

/// Where a model is to run, and which one of a package.
#[derive(Clone, Copy, Debug, Default)]
pub struct ModelChoice<'a> {
    /// The index of a device for a model of CUDA; `None` for the current one.
    pub device: Option<i32>,
    /// The name of the model within its package.
    pub name: Option<&'a str>,
}

fn name_of(path: &Path) -> String {
    format!("model {}", path.file_name().unwrap_or(path.as_os_str()).display())
}

impl Model {
    /// Loads a package, or a bare shared library.
    pub fn load(path: &Path, choice: ModelChoice<'_>) -> Result<Model> {
        if is_library(path)? {
            let path = std::path::absolute(path)
                .map_err(|why| Error::io(format!("{}: {why}", path.display())))?;
            let source = source_beside(&path);
            let operators = operators_beside(&path);
            let files = LibraryPlace { library: &path, opened: &mut || {} };
            let mut model =
                Model::open(files, source.as_ref(), operators, BTreeMap::new(), choice)?;
            model.constants.list_library_memory();
            model.name = name_of(&path);
            return Ok(model);
        }
        let mut package = PackagedModel::open(path, choice.name)?;
        let name = package.library_name().to_owned();
        let extracted = package.extract()?;
        let library = extracted.library().to_owned();
        crate::loading::older_system::admit(&library)?;
        let mut extracted = Some(extracted);
        let mut loaded = || {
            // What the loader has opened needs no file any more, unless the model opens kernels beside it.
            let mut opened = || drop(extracted.take_if(|it| matches!(it, Extracted::Library(_))));
            let files = LibraryPlace { library: &library, opened: &mut opened };
            let (source, metadata) = (package.source.as_ref(), package.metadata.clone());
            let operators = package.operators.clone();
            let model = Model::open(files, source, operators, metadata, choice)?;
            model.read_weights(&mut package)?;
            Ok(model)
        };
        let mut model = loaded().map_err(|error: Error| {
            // The file that the loader opens is none that the program knows.
            let Error { status, message } = error;
            let message = message.replace(&*library.to_string_lossy(), &name);
            Error { status, message }.within(&path.display().to_string())
        })?;
        model.constants.list_library_memory();
        model.name = name_of(path);
        model.files = extracted;
        Ok(model)
    }

    fn open(
        files: LibraryPlace<'_>,
        source: Option<&GeneratedSource>,
        operators: NamedOperators,
        metadata: BTreeMap<String, String>,
        choice: ModelChoice<'_>,
    ) -> Result<Model> {
        let LibraryPlace { library, opened } = files;
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
        let names = source.map(|it| constants(&it.model)).unwrap_or_default();
        let (container, own) = Container::create(library, opened, &name, names)?;
        let operators = Operators::new(operators, container.undefined(), device)?;
        let mut description = Description::read(&container, source)?;
        drop(guard);
        let has_constants = !own.is_empty();
        let own = description.by_constant(own);
        for (constant, own) in description.constants.iter_mut().zip(&own) {
            own.as_ref().map_or(Ok(()), |own| constant.complete(own))?;
        }
        Ok(Model {
            container: RwLock::new(container),
            checks: InputChecks::new(&description.inputs, &description.symbols, device),
            constants: ConstantState::new(&description.constants, own, has_constants),
            has_constants,
            description,
            name: String::new(),
            device,
            metadata,
            graphs: Mutex::new(Graphs::default()),
            warm: RwLock::new(HashSet::new()),
            was_run: AtomicBool::new(false),
            operators,
            run_bytes: AtomicU64::new(0),
            files: None,
        })
    }

    /// What runs pass to the model for its custom operators. The model keeps it no longer than the run.
    pub(super) fn operators_address(&self) -> usize {
        (&raw const *self.operators).expose_provenance()
    }

    /// What the inputs are; refuses those that the model does not take.
    pub(super) fn check(&self, inputs: &[TensorHandle]) -> Result<Facts> {
        let slots = &self.description.inputs;
        check::count("input", inputs.len(), slots.len())?;
        let facts = Facts::of(inputs)?;
        self.checks.check(&facts, slots, inputs)?;
        Ok(facts)
    }

    /// The inputs of a run where the model takes them, in the order of elements that it was compiled for: the inputs
    /// themselves, or copies.
    pub fn arranged(&self, inputs: &[TensorHandle]) -> Result<Vec<Tensor>> {
        check::count("input", inputs.len(), self.description.inputs.len())?;
        let facts = Facts::of(inputs)?;
        let arranged = |(index, &input): (usize, &TensorHandle)| {
            let place = self.checks.place(index).unwrap_or(self.device);
            let wanted = match self.checks.strides(&facts, index) {
                Some(wanted) => wanted,
                None => strides_of(input)?,
            };
            laid_out(input, place, &wanted)
        };
        inputs.iter().enumerate().map(arranged).collect()
    }

    /// Runs the model on the current stream of its device.
    pub fn run(&self, inputs: &[TensorHandle]) -> Result<Vec<Tensor>> {
        let facts = self.check(inputs)?;
        self.run_checked(inputs, &facts)
    }

    /// As [`Model::run`], for inputs that were checked.
    pub(super) fn run_checked(
        &self,
        inputs: &[TensorHandle],
        facts: &Facts,
    ) -> Result<Vec<Tensor>> {
        let guard = (self.device >= 0).then(|| DeviceInUse::begin(self.device)).transpose()?;
        let stream = match self.device {
            api::SCONCE_DEVICE_CPU => 0,
            device => native(current_stream(device)?)?.expose_provenance(),
        };
        let outputs = self.call(inputs, facts.shapes(), stream);
        drop(guard);
        outputs
    }

    fn call(&self, inputs: &[TensorHandle], shapes: &[i64], stream: usize) -> Result<Vec<Tensor>> {
        if self.is_warm(shapes) {
            let container = self.container.read().unwrap_or_else(PoisonError::into_inner);
            // Constants may have been changed meanwhile.
            if self.was_run.load(Ordering::Acquire) {
                return self.call_container(&container, inputs, stream);
            }
        }
        if self.device < 0 {
            // A model of the CPU loads nothing.
            let container = self.container.read().unwrap_or_else(PoisonError::into_inner);
            if self.was_run.load(Ordering::Acquire) {
                return self.first_call(&container, inputs, shapes, stream);
            }
        }
        let container = self.container.write().unwrap_or_else(PoisonError::into_inner);
        self.first_call(&container, inputs, shapes, stream)
    }

    /// Whether inputs of these types and shapes were run before.
    fn is_warm(&self, shapes: &[i64]) -> bool {
        self.warm.read().unwrap_or_else(PoisonError::into_inner).contains(shapes)
    }

    /// As `call_container`, for types and shapes that were not run before: their memory is counted.
    fn first_call(
        &self,
        container: &Container,
        inputs: &[TensorHandle],
        shapes: &[i64],
        stream: usize,
    ) -> Result<Vec<Tensor>> {
        if self.was_run.load(Ordering::Acquire) && self.is_warm(shapes) {
            return self.call_container(container, inputs, stream);
        }
        let (outputs, bytes) = counted(inputs, || self.call_container(container, inputs, stream));
        let outputs = outputs?;
        self.run_bytes.fetch_max(bytes as u64, Ordering::Relaxed);
        let mut warm = self.warm.write().unwrap_or_else(PoisonError::into_inner);
        if warm.len() == MOST_SHAPES {
            warm.clear();
        }
        warm.insert(shapes.into());
        drop(warm);
        self.was_run.store(true, Ordering::Release);
        Ok(outputs)
    }

    /// Lets the next run have the model alone. The caller has it, too.
    pub(super) fn forget_runs(&self) {
        self.was_run.store(false, Ordering::Release);
    }

    fn call_container(
        &self,
        container: &Container,
        inputs: &[TensorHandle],
        stream: usize,
    ) -> Result<Vec<Tensor>> {
        self.constants.check(&self.description.constants)?;
        let mut owned = Vec::with_capacity(inputs.len());
        for input in inputs {
            owned.push(Tensor::retained(*input)?);
        }
        let mut given: Vec<TensorHandle> = owned.into_iter().map(Tensor::into_handle).collect();
        let mut returned = vec![std::ptr::null_mut(); self.description.outputs.len()];
        let operation = DeclaredOperation::begin(&self.name, || {
            let mut reads = inputs.to_vec();
            self.constants.add_values(&mut reads);
            Ok(UsedTensors { reads, writes: Vec::new() })
        });
        // SAFETY: there are as many inputs and outputs as the model has; `call` holds the lock that its shapes need.
        let result =
            unsafe { container.run(&mut given, &mut returned, stream, self.operators_address()) };
        let returned = RunHandles::new(returned);
        result?;
        let outputs = returned.outputs(inputs, &self.constants)?;
        if let Some(operation) = operation {
            operation.end_with(&outputs.iter().map(Tensor::handle).collect::<Vec<_>>());
        }
        Ok(outputs)
    }
}

impl Drop for Model {
    fn drop(&mut self) {
        if self.device >= 0
            && let Ok(_guard) = DeviceInUse::begin(self.device)
        {
            let _captures = Captures::stop();
            // Queued work uses kernels and constants that go now. A failed device has no work left.
            let waited = api::sconce_device_synchronize(self.device);
            if waited == api::SCONCE_ERROR_INVALID_STATE {
                // The program captures a stream, so nothing is known of the work that is queued.
                self.container.get_mut().unwrap_or_else(PoisonError::into_inner).keep_open();
            }
        }
    }
}
