//! Which constants of a model have values, and what keeps these.

use std::collections::{BTreeSet, HashMap};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Mutex, PoisonError};

use crate::error::{Error, Result};
use crate::sconce::{Tensor, api};

/// Tensors that the sets refer to, by the model's names.
#[derive(Default)]
pub(super) struct Kept {
    pub(super) active: HashMap<String, KeptConstant>,
    pub(super) inactive: HashMap<String, KeptConstant>,
}

/// The program's tensor, and the model's own handle of it.
pub(super) struct KeptConstant {
    pub(super) _tensor: Tensor,
    pub(super) _model: Option<Tensor>,
}

/// The model's names of constants that the library does not have and nobody has passed yet.
pub(super) struct Absent {
    any: AtomicBool,
    names: Mutex<BTreeSet<String>>,
}

impl Absent {
    pub(super) fn new(names: BTreeSet<String>) -> Absent {
        Absent { any: AtomicBool::new(!names.is_empty()), names: Mutex::new(names) }
    }

    /// Forgets those that have values now.
    pub(super) fn forget(&self, has_value: impl Fn(&str) -> bool) {
        let mut names = self.names.lock().unwrap_or_else(PoisonError::into_inner);
        names.retain(|name| !has_value(name));
        self.any.store(!names.is_empty(), Relaxed);
    }

    /// Refuses a run while there is one.
    pub(super) fn check(&self) -> Result<()> {
        if !self.any.load(Relaxed) {
            return Ok(());
        }
        let absent = self.names.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(first) = absent.iter().next() else { return Ok(()) };
        Err(Error::new(
            api::SCONCE_ERROR_INVALID_STATE,
            format!(
                "{} of the model's constants have no values, such as {first}: it was compiled with \
                 aot_inductor.package_constants_in_so = False, and the package does not have them. Pass them with \
                 sconce_model_update_constants, or set aot_inductor.package_constants_on_disk_format, too",
                absent.len()
            ),
        ))
    }
}
