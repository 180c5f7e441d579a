//! Kernels on the CPU, under the names of the CUDA ones.
//!
//! A kernel is an entry of a table: its name, how many parameters it has, how long it takes in the
//! model, and what it does. It reaches memory only through [`DeviceMemory`], which checks every
//! range as the device would; a bad one is an illegal address, which ends the device.
#![forbid(unsafe_code)]

mod basic;
mod random;
mod rows;
mod scale;
mod strided;

use std::collections::HashMap;

use crate::driver::{KernelArguments, LaunchShape};
use crate::types::DeviceIndex;

use crate::driver::sim::Inner;
use crate::driver::sim::codes;
use crate::driver::sim::memory::{Accessor, Intent};

/// Most threads of a block, as on every GPU.
pub(crate) const MAX_THREADS_PER_BLOCK: u64 = 1024;

/// A kernel of the simulator.
pub(crate) struct Kernel {
    pub(crate) name: &'static str,
    pub(crate) parameters: usize,
    /// How long it takes, given its arguments and the latency of operations in general.
    pub(crate) duration_ns: fn(&[u64], u64) -> u64,
    pub(crate) run: fn(&DeviceMemory<'_>, LaunchShape, &[u64]) -> std::result::Result<(), i32>,
}

/// All kernels, a slice for each file of this room.
const KERNELS: &[&[Kernel]] =
    &[basic::KERNELS, random::KERNELS, rows::KERNELS, scale::KERNELS, strided::KERNELS];

impl Kernel {
    pub(crate) fn find(name: &str) -> Option<&'static Kernel> {
        KERNELS.iter().flat_map(|kernels| kernels.iter()).find(|kernel| kernel.name == name)
    }

    /// Whether a launch is one that a device would accept.
    pub(crate) fn check(
        &self,
        shape: LaunchShape,
        arguments: &KernelArguments,
    ) -> std::result::Result<(), String> {
        let given = arguments.slots().len();
        if given != self.parameters {
            return Err(format!("{} takes {} arguments, not {given}", self.name, self.parameters));
        }
        let (grid, block) = (shape.grid, shape.block);
        if [grid.x, grid.y, grid.z, block.x, block.y, block.z].contains(&0) {
            return Err(format!("{}: grid and block must not be empty", self.name));
        }
        let threads = u64::from(block.x) * u64::from(block.y) * u64::from(block.z);
        if threads > MAX_THREADS_PER_BLOCK {
            return Err(format!(
                "{}: a block has at most {MAX_THREADS_PER_BLOCK} threads, not {threads}",
                self.name
            ));
        }
        Ok(())
    }
}

/// Device memory as a kernel of one device sees it. Lengths are small pieces; kernels loop.
pub(crate) struct DeviceMemory<'a> {
    inner: &'a Inner,
    device: DeviceIndex,
}

impl<'a> DeviceMemory<'a> {
    pub(crate) fn new(inner: &'a Inner, device: DeviceIndex) -> DeviceMemory<'a> {
        DeviceMemory { inner, device }
    }

    /// Whether so many bytes could be read from `address` on, for those who need memory for them.
    pub(crate) fn covers(&self, address: u64, bytes: u64) -> std::result::Result<(), i32> {
        let space = self.inner.space.read();
        let usable = space.is_usable(Accessor::kernel(self.device), address, bytes, Intent::Read);
        usable.then_some(()).ok_or(codes::ILLEGAL_ADDRESS)
    }

    /// Reads from `address` on.
    pub(crate) fn read(&self, address: u64, into: &mut [u8]) -> std::result::Result<(), i32> {
        let space = self.inner.space.read();
        let accessor = Accessor::kernel(self.device);
        space.resolve(accessor, address, into.len() as u64, Intent::Read)?.read(into);
        Ok(())
    }

    /// Writes from `address` on.
    pub(crate) fn write(&self, address: u64, from: &[u8]) -> std::result::Result<(), i32> {
        let space = self.inner.space.read();
        let accessor = Accessor::kernel(self.device);
        space.resolve(accessor, address, from.len() as u64, Intent::Write)?.write(from);
        Ok(())
    }
}

/// Loaded modules and the kernels found in them.
#[derive(Default)]
pub(crate) struct Modules {
    next: usize,
    pub(crate) modules: HashMap<usize, DeviceIndex>,
    /// Device, module and kernel of each handle.
    pub(crate) kernels: HashMap<usize, (DeviceIndex, usize, &'static Kernel)>,
}

impl Modules {
    pub(crate) fn new_handle(&mut self) -> usize {
        self.next += crate::driver::sim::machine::handles::HANDLE_STEP;
        self.next
    }
}
