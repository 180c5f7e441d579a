//! Kernels of loaded modules: what they are called, and whether the library knows what they use.
#![forbid(unsafe_code)]

use std::collections::HashMap;

use sconce_driver::{KernelHandle, ModuleHandle};

/// What is known of a kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Kernel {
    pub(super) name: String,
    /// Whether it is the library's own.
    pub(super) is_own: bool,
    module: ModuleHandle,
}

#[derive(Default)]
pub(super) struct KnownKernels {
    all: HashMap<KernelHandle, Kernel>,
    /// Modules of the library.
    own_modules: Vec<ModuleHandle>,
}

/// A module that goes, with its kernels.
pub(super) struct Gone {
    own_module: Option<ModuleHandle>,
    kernels: HashMap<KernelHandle, Kernel>,
}

impl KnownKernels {
    /// The library has loaded a module.
    pub(super) fn loaded(&mut self, module: ModuleHandle) {
        self.own_modules.push(module);
    }

    pub(super) fn found(&mut self, module: ModuleHandle, kernel: KernelHandle, name: &str) {
        let is_own = self.own_modules.contains(&module);
        self.all.insert(kernel, Kernel { name: name.to_owned(), is_own, module });
    }

    pub(super) fn get(&self, kernel: KernelHandle) -> Option<&Kernel> {
        self.all.get(&kernel)
    }

    /// A module goes. Returns what [`KnownKernels::stays`] takes.
    pub(super) fn goes(&mut self, module: ModuleHandle) -> Gone {
        let own = self.own_modules.iter().position(|own| *own == module);
        let own_module = own.map(|at| self.own_modules.swap_remove(at));
        let (kernels, stay) =
            std::mem::take(&mut self.all).into_iter().partition(|(_, it)| it.module == module);
        self.all = stay;
        Gone { own_module, kernels }
    }

    /// The driver has refused to drop a module.
    pub(super) fn stays(&mut self, was: Gone) {
        self.own_modules.extend(was.own_module);
        self.all.extend(was.kernels);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::FORGED;

    #[test]
    fn kernels_go_with_their_module_unless_it_stays() {
        let module = |number| ModuleHandle::from_driver(FORGED, number);
        let kernel = |number| KernelHandle::from_driver(FORGED, number);
        let mut known = KnownKernels::default();
        known.loaded(module(1));
        known.found(module(1), kernel(11), "own");
        known.found(module(2), kernel(21), "the program's");
        let is_own = |known: &KnownKernels, number| known.get(kernel(number)).map(|it| it.is_own);
        assert_eq!((is_own(&known, 11), is_own(&known, 21)), (Some(true), Some(false)));
        let was = known.goes(module(1));
        assert_eq!((is_own(&known, 11), is_own(&known, 21)), (None, Some(false)));
        known.stays(was);
        known.found(module(1), kernel(12), "another");
        assert_eq!((is_own(&known, 11), is_own(&known, 12)), (Some(true), Some(true)));
        known.goes(module(1));
        known.goes(module(2));
        assert!(known.all.is_empty() && known.own_modules.is_empty());
    }
}
