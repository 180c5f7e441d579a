//! The simulated device: its memory read and written, and virtual memory on it.

#![allow(unsafe_code, reason = "copies and forks")]

use sconce_base::config::{BackendChoice, SimConfig};
use sconce_base::types::{DeviceIndex, DevicePtr};
use sconce_driver::{Access, PhysicalHandle, RawAddress, StreamRef};
use sconce_runtime::context::{Options, Runtime, initialize_with};

pub(crate) const ZERO: DeviceIndex = DeviceIndex::ZERO;

/// The variable with the bytes of a device, for tests that need more.
pub(crate) const MEMORY: &str = "SCONCE_TEST_MEMORY";

/// The simulator, started once, with devices that are soon full.
pub(crate) fn runtime() -> &'static Runtime {
    let memory_bytes = std::env::var(MEMORY).map_or(256 << 20, |bytes| bytes.parse().unwrap());
    let sim = SimConfig { memory_bytes, ..SimConfig::default() };
    initialize_with(Options { backend: BackendChoice::Sim, sim, visible: None }).unwrap()
}

/// Reads, where the processes have told each other that their work is done.
pub(crate) fn read(address: usize, bytes: usize) -> Vec<u8> {
    sconce::sconce_sanitizer_heard_from_processes();
    let mut data = vec![0_u8; bytes];
    let (driver, stream) = (runtime().driver(), StreamRef::default_of(ZERO));
    // SAFETY: `data` outlives the wait.
    let to = unsafe { RawAddress::from_caller(data.as_mut_ptr() as usize) };
    driver.copy_async(to, DevicePtr(address as u64).into(), bytes, stream).unwrap();
    driver.stream_synchronize(stream).unwrap();
    data
}

/// Fills, and waits for it, where the processes have told each other that their work is done.
pub(crate) fn fill(address: usize, byte: u8, bytes: usize) {
    sconce::sconce_sanitizer_heard_from_processes();
    let (driver, stream) = (runtime().driver(), StreamRef::default_of(ZERO));
    driver.fill_async(DevicePtr(address as u64), byte, bytes, stream).unwrap();
    driver.stream_synchronize(stream).unwrap();
}

/// Mapped virtual memory of one unit.
pub(crate) struct Virtual {
    pub(crate) ptr: DevicePtr,
    pub(crate) bytes: usize,
    physical: PhysicalHandle,
}

pub(crate) fn map_virtual(shareable: bool) -> Virtual {
    let driver = runtime().driver();
    let bytes = driver.virtual_granularity(ZERO).unwrap();
    let ptr = driver.virtual_reserve(bytes).unwrap();
    let physical = driver.physical_create(ZERO, bytes, shareable).unwrap();
    let mapped = Virtual { ptr, bytes, physical };
    mapped.map();
    mapped
}

impl Virtual {
    pub(crate) fn map(&self) {
        let driver = runtime().driver();
        driver.virtual_map(self.ptr, self.bytes, self.physical, 0).unwrap();
        driver.virtual_set_access(self.ptr, self.bytes, ZERO, Access::ReadWrite).unwrap();
    }

    pub(crate) fn unmap(&self) {
        runtime().driver().virtual_unmap(self.ptr, self.bytes).unwrap();
    }

    pub(crate) fn release(self) {
        self.unmap();
        runtime().driver().physical_release(self.physical).unwrap();
        runtime().driver().virtual_release(self.ptr, self.bytes).unwrap();
    }
}

/// How many sockets, and files of shared memory, this process has open.
pub(crate) fn shared_descriptors() -> usize {
    let links = std::fs::read_dir("/proc/self/fd").unwrap();
    let names = links.filter_map(|link| std::fs::read_link(link.unwrap().path()).ok());
    let shared = |name: &std::path::PathBuf| {
        let name = name.to_string_lossy();
        name.starts_with("socket:") || name.contains("pidfd") || name.contains("physical")
    };
    names.filter(shared).count()
}

/// A child of this process that has all its descriptors, and does nothing for a minute.
pub(crate) fn fork_a_sleeper() -> i32 {
    // SAFETY: the child calls nothing but these functions, which are allowed there.
    let child = unsafe { libc::fork() };
    if child == 0 {
        // SAFETY: always allowed.
        unsafe { libc::alarm(60) };
        // SAFETY: always allowed.
        unsafe { libc::pause() };
        // SAFETY: ends the child.
        unsafe { libc::_exit(0) };
    }
    child
}
