//! Libraries, schemas and kernels that are registered in the process.

use std::collections::{BTreeMap, HashMap};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, LazyLock, RwLock, RwLockReadGuard, RwLockWriteGuard};

use super::schema::{Schema, full_name};
use crate::error::{Error, Result};
use crate::foreign::BoxedKernel;

/// The kind of a library object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LibraryKind {
    /// Defines a namespace's operators.
    Def,
    /// Defines more of them.
    Fragment,
    /// Implements operators for a key.
    Impl,
}

/// Something that must stay in the process while a kernel of it may run.
pub type Owner = Arc<dyn std::any::Any + Send + Sync>;

/// What a static initialiser of a kernel library created.
pub struct LibraryObject {
    namespace: String,
    key: String,
    kind: LibraryKind,
    place: String,
    /// The file that was being opened; empty if the program opened it itself.
    path: String,
    owner: Option<Owner>,
    /// Not while its file is unloaded but remains in the process.
    active: bool,
}

struct Definition {
    library: u64,
    schema: Arc<Schema>,
}

struct RegisteredKernel {
    library: u64,
    function: BoxedKernel,
}

#[derive(Default)]
struct Operator {
    definitions: Vec<Definition>,
    kernels: Vec<RegisteredKernel>,
}

/// All that is registered.
#[derive(Default)]
pub struct Table {
    last: u64,
    libraries: HashMap<u64, LibraryObject>,
    operators: BTreeMap<(String, String), Operator>,
}

/// A kernel that can be called.
pub struct Found {
    /// What it takes and returns.
    pub schema: Arc<Schema>,
    /// The function.
    pub function: BoxedKernel,
    /// Keeps its library in the process.
    pub owner: Option<Owner>,
}

/// Where the first tensor of a call is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// On the CPU.
    Cpu,
    /// On a device.
    Cuda,
    /// There is none.
    Nowhere,
}

static TABLE: LazyLock<RwLock<Table>> = LazyLock::new(RwLock::default);
static GENERATION: AtomicU64 = AtomicU64::new(0);

/// The table, to read.
pub fn read() -> Result<RwLockReadGuard<'static, Table>> {
    TABLE.read().map_err(|_| Error::internal("a thread panicked in the registry"))
}

/// The table, to change.
pub fn write() -> Result<RwLockWriteGuard<'static, Table>> {
    let table = TABLE.write().map_err(|_| Error::internal("a thread panicked in the registry"))?;
    GENERATION.fetch_add(1, Ordering::Release);
    Ok(table)
}

/// A number that is another one after every change of the table.
pub fn generation() -> u64 {
    GENERATION.load(Ordering::Acquire)
}

/// Keys whose kernels run for tensors of any device.
const COMPOSITE: [&str; 3] = ["CompositeExplicitAutograd", "CompositeImplicitAutograd", ""];

impl Table {
    /// Adds a library object and returns its number.
    pub fn add_library(
        &mut self,
        kind: LibraryKind,
        namespace: String,
        key: String,
        place: String,
        file: (String, Option<Owner>),
    ) -> u64 {
        self.last += 1;
        let (path, owner) = file;
        let library = LibraryObject { namespace, key, kind, place, path, owner, active: true };
        self.libraries.insert(self.last, library);
        self.last
    }

    /// A library object. One that is not alive is an error.
    pub fn library(&self, number: u64) -> Result<&LibraryObject> {
        self.libraries.get(&number).ok_or_else(|| {
            Error::invalid_handle(
                "the library object is not alive; use the handle that its init function returned",
            )
        })
    }

    /// A name with its namespace; a name may carry it already.
    fn qualified(library: &LibraryObject, name: &str) -> Result<String> {
        match name.split_once("::") {
            None => Ok(format!("{}::{name}", library.namespace)),
            Some((namespace, _)) if namespace == library.namespace => Ok(name.to_owned()),
            Some(_) => Err(Error::invalid_argument(format!(
                "{name} is of another namespace than its library {} ({})",
                library.namespace, library.place
            ))),
        }
    }

    /// Adds a schema.
    pub fn define(
        &mut self,
        number: u64,
        name: &str,
        overload: &str,
        schema: Option<Schema>,
    ) -> Result<()> {
        let library = self.library(number)?;
        let name = Self::qualified(library, name)?;
        if library.kind == LibraryKind::Impl {
            return Err(Error::invalid_argument(format!(
                "{name} is defined in a library object that only implements ({})",
                library.place
            )));
        }
        // A name alone would need its schema from the type of a C++ function.
        let Some(mut schema) = schema else {
            return Err(Error::not_supported(format!(
                "{name} is defined without a schema; write its arguments and results"
            )));
        };
        schema.name.clone_from(&name);
        let defined = self.operators.get(&(name.clone(), overload.to_owned()));
        if let Some(other) = defined.and_then(|operator| self.definition_of(operator)) {
            let other = self.libraries.get(&other.library).map_or("", |library| &library.place);
            return Err(Error::invalid_argument(format!(
                "the operator {} is defined twice: here and at {other}",
                full_name(&name, overload)
            )));
        }
        let operator = self.operators.entry((name, overload.to_owned())).or_default();
        operator.definitions.push(Definition { library: number, schema: Arc::new(schema) });
        Ok(())
    }

    /// Adds a schema of the program, for kernels whose library leaves the schema to Python. It stays. The same schema may
    /// be there already.
    pub fn declare(&mut self, name: &str, overload: &str, schema: Option<Schema>) -> Result<()> {
        let Some((namespace, _)) = name.split_once("::") else {
            return Err(Error::invalid_argument(format!(
                "schema names {name} without a namespace; write namespace::{name}"
            )));
        };
        let operator = self.operators.get(&(name.to_owned(), overload.to_owned()));
        if let Some(other) = operator.and_then(|operator| self.definition_of(operator)) {
            let text = schema.as_ref().map(ToString::to_string);
            if text.is_some_and(|text| text == other.schema.to_string()) {
                return Ok(());
            }
        }
        let place = "sconce_op_define".to_owned();
        let file = (String::new(), None);
        let number = self.add_library(
            LibraryKind::Fragment,
            namespace.to_owned(),
            String::new(),
            place,
            file,
        );
        let defined = self.define(number, name, overload, schema);
        if defined.is_err() {
            self.remove_library(number)?;
        }
        defined
    }

    /// Adds a kernel for the key of its library object. The newest kernel of a key counts.
    pub fn implement(
        &mut self,
        number: u64,
        name: &str,
        overload: &str,
        function: BoxedKernel,
    ) -> Result<()> {
        let name = Self::qualified(self.library(number)?, name)?;
        let operator = self.operators.entry((name, overload.to_owned())).or_default();
        operator.kernels.push(RegisteredKernel { library: number, function });
        Ok(())
    }

    /// Removes a library object with its schemas and kernels. One that is not alive is an error.
    pub fn remove_library(&mut self, number: u64) -> Result<LibraryObject> {
        self.library(number)?;
        for operator in self.operators.values_mut() {
            operator.definitions.retain(|definition| definition.library != number);
            operator.kernels.retain(|kernel| kernel.library != number);
        }
        self.operators
            .retain(|_, operator| !operator.definitions.is_empty() || !operator.kernels.is_empty());
        self.libraries.remove(&number).ok_or_else(|| Error::internal("a library object went"))
    }

    /// Hides what a file registered, and returns what kept it in the process. If the system's loader does not remove the
    /// file, [`Table::show`] brings it back.
    pub fn hide(&mut self, path: &str) -> Vec<Owner> {
        let of_file = self.libraries.values_mut().filter(|library| library.path == path);
        of_file
            .filter_map(|library| {
                library.active = false;
                library.owner.take()
            })
            .collect()
    }

    /// Removes what a file registered, and returns what kept it in the process.
    pub fn remove_file(&mut self, path: &str) -> Vec<Owner> {
        let of_file = self.libraries.iter().filter(|(_, library)| library.path == path);
        let numbers: Vec<u64> = of_file.map(|(number, _)| *number).collect();
        let removed = numbers.into_iter().filter_map(|number| self.remove_library(number).ok());
        removed.filter_map(|library| library.owner).collect()
    }

    /// Shows again what a file registered when it was opened before.
    pub fn show(&mut self, path: &str, owner: &Owner) {
        for library in self.libraries.values_mut() {
            if library.path == path && !library.active {
                library.active = true;
                library.owner = Some(Arc::clone(owner));
            }
        }
    }

    fn is_active(&self, number: u64) -> bool {
        self.libraries.get(&number).is_some_and(|library| library.active)
    }

    fn definition_of<'a>(&self, operator: &'a Operator) -> Option<&'a Definition> {
        operator.definitions.iter().find(|definition| self.is_active(definition.library))
    }

    /// The schema of an operator.
    pub fn schema(&self, name: &str, overload: &str) -> Result<Arc<Schema>> {
        let operator = self.operators.get(&(name.to_owned(), overload.to_owned()));
        if let Some(definition) = operator.and_then(|operator| self.definition_of(operator)) {
            return Ok(Arc::clone(&definition.schema));
        }
        let overloads: Vec<&str> = self
            .operators
            .iter()
            .filter(|((other, _), operator)| {
                other == name && self.definition_of(operator).is_some()
            })
            .map(|((_, overload), _)| if overload.is_empty() { "the default" } else { overload })
            .collect();
        let why = match (overloads.is_empty(), operator.is_some()) {
            (false, _) => format!("its overloads are {}", overloads.join(", ")),
            (_, true) => "it has kernels but no schema: load the library that defines it, or see \
                 sconce_op_define"
                .to_owned(),
            _ => "load the library that defines it, and see sconce_op_list".to_owned(),
        };
        Err(Error::invalid_argument(format!(
            "there is no operator {}: {why}",
            full_name(name, overload)
        )))
    }

    /// The kernel for tensors of a place.
    pub fn kernel(&self, name: &str, overload: &str, place: Place) -> Result<Found> {
        let schema = self.schema(name, overload)?;
        let operator = self.operators.get(&(name.to_owned(), overload.to_owned()));
        let mut keys: Vec<(&str, &RegisteredKernel)> = Vec::new();
        for kernel in operator.map_or(&[][..], |operator| &operator.kernels) {
            if let Some(library) =
                self.libraries.get(&kernel.library).filter(|library| library.active)
            {
                keys.push((&library.key, kernel));
            }
        }
        let of = |wanted: &str| {
            keys.iter().rev().find(|(key, _)| *key == wanted).map(|(_, kernel)| *kernel)
        };
        // In PyTorch this key is in every call, before those of devices.
        let own = of("BackendSelect").or_else(|| match place {
            Place::Cpu => of("CPU"),
            Place::Cuda => of("CUDA"),
            Place::Nowhere => None,
        });
        let mut found = own.or_else(|| COMPOSITE.iter().find_map(|key| of(key)));
        if found.is_none() && place == Place::Nowhere {
            let (cpu, cuda) = (of("CPU"), of("CUDA"));
            found = if cpu.is_some() && cuda.is_some() { None } else { cpu.or(cuda) };
        }
        let Some(kernel) = found else {
            let mut names: Vec<&str> =
                keys.iter().map(|(key, _)| if key.is_empty() { "any" } else { key }).collect();
            names.sort_unstable();
            names.dedup();
            let place = match place {
                Place::Cpu => "tensors of the CPU",
                Place::Cuda => "tensors of CUDA devices",
                Place::Nowhere => "a call without a tensor",
            };
            let names = if names.is_empty() { "none".to_owned() } else { names.join(", ") };
            return Err(Error::not_supported(format!(
                "{name} has no kernel for {place}; it has kernels for the keys: {names}"
            )));
        };
        let owner = self.libraries.get(&kernel.library).and_then(|library| library.owner.clone());
        Ok(Found { schema, function: kernel.function, owner })
    }

    /// The schemas of all operators, by name.
    pub fn list(&self) -> Vec<Arc<Schema>> {
        let defined = self.operators.values().filter_map(|operator| self.definition_of(operator));
        defined.map(|definition| Arc::clone(&definition.schema)).collect()
    }

    /// How many library objects of a file are shown.
    pub fn count_of(&self, path: &str) -> usize {
        self.libraries.values().filter(|library| library.path == path && library.active).count()
    }
}
