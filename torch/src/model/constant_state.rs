//! The two sets of a model's constants: which constants of a set have values, and what keeps these alive.
//!
//! Runs read the active set; a swap makes the inactive set the active one. At first the active set has the values of
//! the library, and the inactive set has none.

use std::collections::{BTreeSet, HashMap};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::description::Constant;
use crate::abi::handles::another_handle;
use crate::abi::tensors::storage_of;
use crate::error::{Error, Result};
use crate::operations::tensors::empty;
use crate::sconce::tensor::TensorHandle;
use crate::sconce::{Tensor, api};

/// The program's tensor, and the model's own handle of it.
pub(super) struct KeptConstant {
    pub(super) tensor: Tensor,
    pub(super) model: Option<Tensor>,
}

/// A set of constants, by their numbers.
#[derive(Default)]
pub(super) struct Set {
    /// Tensors that the program or the package passed.
    pub(super) kept: HashMap<usize, KeptConstant>,
    /// Those that have no value.
    missing: BTreeSet<usize>,
    /// Whether the values of the library belong to this set.
    is_of_library: bool,
    /// Whether the set was ever given values.
    is_filled: bool,
    /// Handles of the model whose memory was given up.
    emptied: Vec<Tensor>,
}

/// Both sets.
pub(super) struct Sets {
    pub(super) active: Set,
    pub(super) inactive: Set,
    /// The values of the library, as far as it has them.
    library: Vec<Option<Tensor>>,
    /// All constants that the model does not compute itself.
    all: BTreeSet<usize>,
}

impl Sets {
    fn set(&self, inactive: bool) -> &Set {
        if inactive { &self.inactive } else { &self.active }
    }

    /// The value of a constant in a set, as far as it is known.
    fn value(&self, inactive: bool, constant: usize) -> Option<TensorHandle> {
        let set = self.set(inactive);
        let kept = set.kept.get(&constant).map(|kept| kept.tensor.handle());
        kept.or_else(|| {
            let own = set.is_of_library.then(|| self.library.get(constant))??;
            own.as_ref().map(Tensor::handle)
        })
    }

    /// Another handle of the value that a constant has in a set.
    pub(super) fn another(&self, inactive: bool, constant: usize) -> Result<Option<Tensor>> {
        self.value(inactive, constant).map(another_handle).transpose()
    }

    /// Whether a constant has a value in a set.
    pub(super) fn has(&self, inactive: bool, constant: usize) -> bool {
        !self.set(inactive).missing.contains(&constant)
    }

    /// Notes that constants of a set were given values.
    pub(super) fn fill(&mut self, inactive: bool, given: Vec<(usize, KeptConstant)>) {
        let set = if inactive { &mut self.inactive } else { &mut self.active };
        set.is_filled = true;
        for (constant, kept) in given {
            set.missing.remove(&constant);
            set.kept.insert(constant, kept);
        }
    }

    /// Notes that the library read all its constants from a file.
    pub(super) fn fill_library(&mut self, own: Vec<Option<Tensor>>) {
        self.active.missing.clear();
        self.active.is_filled = true;
        self.library = own;
    }

    /// Refuses to make the inactive set the active one while it lacks a value.
    pub(super) fn check_swap(&self, constants: &[Constant]) -> Result<()> {
        let missing = &self.inactive.missing;
        let first = missing.iter().next().and_then(|first| constants.get(*first));
        match (self.inactive.is_filled, first) {
            (true, None) => Ok(()),
            (false, _) => Err(Error::new(
                api::SCONCE_ERROR_INVALID_STATE,
                "the inactive set of constants has no values: pass them with sconce_model_update_constants, with \
                 inactive set, before sconce_model_swap_constants",
            )),
            (true, Some(first)) => Err(Error::new(
                api::SCONCE_ERROR_INVALID_STATE,
                format!(
                    "{} of the constants of the inactive set have no values, such as {}: pass all of them with \
                     sconce_model_update_constants, with inactive set, before sconce_model_swap_constants",
                    missing.len(),
                    first.original
                ),
            )),
        }
    }

    pub(super) fn swap(&mut self) {
        std::mem::swap(&mut self.active, &mut self.inactive);
    }

    /// Takes the values of the inactive set from it. The model goes on listing its own handles of them, and asks each
    /// for its address when another constant is replaced. So these handles stay, and hold no memory.
    pub(super) fn empty_inactive(&mut self) -> Result<()> {
        let nothing = empty(&[0], api::SCONCE_DTYPE_U8, api::SCONCE_DEVICE_CPU)?;
        let freed = std::mem::take(&mut self.inactive);
        self.inactive.missing = self.all.clone();
        self.inactive.emptied = freed.emptied;
        if freed.is_of_library {
            self.library.clear();
        }
        for handle in freed.kept.into_values().filter_map(|kept| kept.model) {
            // One that the model has deleted is no handle any more.
            let _ = api::sconce_tensor_assign(handle.handle(), nothing.handle());
            self.inactive.emptied.push(handle);
        }
        Ok(())
    }

    /// Whether the inactive set has the values of the library.
    pub(super) fn inactive_is_of_library(&self) -> bool {
        self.inactive.is_of_library
    }

    /// Whether the values of the library are still there.
    pub(super) fn has_library(&self) -> bool {
        self.active.is_of_library || self.inactive.is_of_library
    }

    /// What the inactive set has, in words.
    pub(super) fn inactive_words(&self) -> String {
        match (self.inactive.is_filled, self.inactive.missing.len()) {
            (false, _) => "no values".to_owned(),
            (true, 0) => "all values".to_owned(),
            (true, missing) => format!("no values for {missing}"),
        }
    }
}

/// The sets of a model, and whether runs may read the active one.
pub(super) struct ConstantState {
    sets: Mutex<Sets>,
    /// Whether a constant of the active set has no value.
    is_incomplete: AtomicBool,
    /// Where the values of the library lie, from the lowest address: begin and end. They stay listed when they are
    /// freed.
    library_memory: Vec<(usize, usize)>,
}

impl ConstantState {
    /// The state after the library was opened, which has these values of its constants, or none at all.
    pub(super) fn new(
        constants: &[Constant],
        library: Vec<Option<Tensor>>,
        has_values: bool,
    ) -> ConstantState {
        let all = constants.iter().enumerate().filter(|(_, constant)| !constant.folded);
        let all: BTreeSet<usize> = all.map(|(index, _)| index).collect();
        let missing = if has_values { BTreeSet::new() } else { all.clone() };
        let is_incomplete = AtomicBool::new(!missing.is_empty());
        let active = Set { missing, is_of_library: true, is_filled: has_values, ..Set::default() };
        let inactive = Set { missing: all.clone(), ..Set::default() };
        let sets = Mutex::new(Sets { active, inactive, library, all });
        ConstantState { sets, is_incomplete, library_memory: Vec::new() }
    }

    /// Lists where the values of the library lie, once all are read.
    pub(super) fn list_library_memory(&mut self) {
        let sets = self.sets.get_mut().unwrap_or_else(PoisonError::into_inner);
        let memory = sets.library.iter().flatten().filter_map(|tensor| {
            let (address, bytes) = storage_of(tensor.handle()).ok()?;
            let begin = address.addr();
            (begin != 0).then_some((begin, begin + bytes))
        });
        self.library_memory = memory.collect();
        self.library_memory.sort_unstable();
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, Sets> {
        self.sets.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds the values that runs read, as far as they are known.
    pub(super) fn add_values(&self, into: &mut Vec<TensorHandle>) {
        let sets = self.lock();
        into.extend(sets.all.iter().filter_map(|constant| sets.value(false, *constant)));
    }

    /// Notes whether runs may read the active set, after it has changed.
    pub(super) fn changed(&self, sets: &Sets) {
        self.is_incomplete.store(!sets.active.missing.is_empty(), Relaxed);
    }

    /// Refuses a run while a constant of the active set has no value.
    pub(super) fn check(&self, constants: &[Constant]) -> Result<()> {
        if !self.is_incomplete.load(Relaxed) {
            return Ok(());
        }
        let sets = self.lock();
        let missing = &sets.active.missing;
        let first = missing.iter().next().and_then(|first| constants.get(*first));
        let Some(first) = first else { return Ok(()) };
        Err(Error::new(
            api::SCONCE_ERROR_INVALID_STATE,
            format!(
                "{} of the model's constants have no values, such as {}: it was compiled with \
                 aot_inductor.package_constants_in_so = False, and the package does not have them. Pass them with \
                 sconce_model_update_constants, or set aot_inductor.package_constants_on_disk_format, too",
                missing.len(),
                first.name
            ),
        ))
    }

    /// Whether a tensor is a view of the library's memory, which goes when the model is unloaded.
    pub(super) fn is_in_library(&self, tensor: TensorHandle) -> Result<bool> {
        if self.library_memory.is_empty() {
            return Ok(false);
        }
        let begin = storage_of(tensor)?.0.addr();
        let after = self.library_memory.partition_point(|&(first, _)| first <= begin);
        let before = after.checked_sub(1).and_then(|at| self.library_memory.get(at));
        Ok(before.is_some_and(|&(_, end)| begin < end))
    }
}
