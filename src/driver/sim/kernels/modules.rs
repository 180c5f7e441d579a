//! Loaded modules and the kernels found in them.
#![forbid(unsafe_code)]

use std::collections::HashMap;

use super::kernel::Kernel;
use super::{
    basic, conditions, ordering, pointwise, random, read_element, reduction, rows, scale,
    small_product, strided,
};
use crate::driver::sim::handles::HANDLE_STEP;
use crate::types::DeviceIndex;

/// All kernels, a slice for each file of this folder.
const KERNELS: &[&[Kernel]] = &[
    basic::KERNELS,
    conditions::KERNELS,
    pointwise::ELEMENTWISE,
    pointwise::CONVERSIONS,
    random::KERNELS,
    read_element::KERNELS,
    rows::KERNELS,
    scale::KERNELS,
    small_product::KERNELS,
    strided::KERNELS,
    ordering::SORTS,
    ordering::GATHERS,
    reduction::REDUCTIONS[0],
    reduction::REDUCTIONS[1],
    reduction::LINES,
];

/// The kernel with a name.
pub(crate) fn kernel_named(name: &str) -> Option<&'static Kernel> {
    KERNELS.iter().flat_map(|kernels| kernels.iter()).find(|kernel| kernel.name == name)
}

/// Loaded modules and the kernels found in them.
#[derive(Default)]
pub(crate) struct LoadedModules {
    next: usize,
    pub(crate) modules: HashMap<usize, DeviceIndex>,
    /// Device, module and kernel of each handle.
    pub(crate) kernels: HashMap<usize, (DeviceIndex, usize, &'static Kernel)>,
}

impl LoadedModules {
    /// A handle that no module or kernel has had.
    pub(crate) fn new_handle(&mut self) -> usize {
        self.next += HANDLE_STEP;
        self.next
    }
}
