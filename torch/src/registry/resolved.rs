//! Operators that were found, kept for further calls until something is registered or removed.

use std::any::Any;
use std::sync::{Arc, OnceLock, PoisonError, RwLock, Weak};

use super::schema::Schema;
use super::table::{self, Found, Owner, Place};
use crate::error::Result;
use crate::foreign::BoxedKernel;

/// A kernel. It does not keep its library in the process: a library that is unloaded must go.
struct KernelOnce {
    function: BoxedKernel,
    owner: Option<Weak<dyn Any + Send + Sync>>,
}

impl KernelOnce {
    /// What keeps the kernel's library during a call, or nothing if the library went.
    fn owner(&self) -> Option<Option<Owner>> {
        match &self.owner {
            Some(owner) => owner.upgrade().map(Some),
            None => Some(None),
        }
    }
}

/// What calls of an operator found in one state of the table.
pub struct FoundOnce {
    generation: u64,
    schema: Arc<Schema>,
    /// One for each [`Place`].
    kernels: [OnceLock<KernelOnce>; 3],
}

impl FoundOnce {
    /// What the operator takes and returns.
    pub fn schema(&self) -> &Schema {
        &self.schema
    }
}

/// An operator, by its name.
pub struct Resolved {
    /// The name with its namespace.
    pub name: String,
    /// Empty for the default overload.
    pub overload: String,
    kept: RwLock<Option<Arc<FoundOnce>>>,
}

impl Resolved {
    /// An operator of which nothing is known yet.
    pub fn new(name: &str, overload: &str) -> Resolved {
        Resolved { name: name.to_owned(), overload: overload.to_owned(), kept: RwLock::default() }
    }

    /// What the table has now; an error if it has no schema of the operator.
    pub fn kept(&self) -> Result<Arc<FoundOnce>> {
        let now = table::generation();
        let kept = self.kept.read().unwrap_or_else(PoisonError::into_inner);
        if let Some(kept) = kept.as_ref().filter(|kept| kept.generation == now) {
            return Ok(Arc::clone(kept));
        }
        drop(kept);
        let table = table::read()?;
        let kept = Arc::new(FoundOnce {
            // Nobody changes the table while it is read.
            generation: table::generation(),
            schema: table.schema(&self.name, &self.overload)?,
            kernels: Default::default(),
        });
        drop(table);
        *self.kept.write().unwrap_or_else(PoisonError::into_inner) = Some(Arc::clone(&kept));
        Ok(kept)
    }

    /// The kernel for tensors of a place.
    pub fn kernel(&self, kept: &FoundOnce, place: Place) -> Result<Found> {
        let slot = &kept.kernels[place as usize];
        if let Some(kernel) = slot.get()
            && let Some(owner) = kernel.owner()
        {
            let schema = Arc::clone(&kept.schema);
            return Ok(Found { schema, function: kernel.function, owner });
        }
        let table = table::read()?;
        let found = table.kernel(&self.name, &self.overload, place)?;
        if table::generation() == kept.generation {
            let owner = found.owner.as_ref().map(Arc::downgrade);
            // Another thread may have been faster, with the same kernel.
            let _ = slot.set(KernelOnce { function: found.function, owner });
        }
        Ok(found)
    }
}
