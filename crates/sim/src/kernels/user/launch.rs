//! A launch of a program's kernel, as the function that stands for the kernel sees it.
#![forbid(unsafe_code)]

use std::cell::{Cell, RefCell};

use sconce_base::types::DeviceIndex;
use sconce_driver::LaunchConfig;

use crate::codes;
use crate::memory::{DeviceMemoryView, take_complaint};

/// A launch that runs. Its memory is that of the device: the function reaches it through `read` and `write`
/// alone, which check each range when it is used.
pub struct SimLaunch<'a> {
    kernel: &'a str,
    memory: DeviceMemoryView<'a>,
    /// Grid, block and the rest.
    pub config: LaunchConfig,
    /// The device.
    pub device: DeviceIndex,
    /// The bytes of each argument.
    pub values: &'a [Box<[u8]>],
    /// The block and the thread that the function computes at present, for messages.
    pub position: Cell<([u32; 3], [u32; 3])>,
    /// The code and the words of the first failure.
    failure: RefCell<Option<(i32, String)>>,
}

impl<'a> SimLaunch<'a> {
    pub(super) fn new(
        kernel: &'a str,
        memory: DeviceMemoryView<'a>,
        config: LaunchConfig,
        device: DeviceIndex,
        values: &'a [Box<[u8]>],
    ) -> SimLaunch<'a> {
        let (position, failure) = (Cell::default(), RefCell::default());
        SimLaunch { kernel, memory, config, device, values, position, failure }
    }

    /// Reads device memory. Returns false, and fails the launch, if the device may not read there.
    pub fn read(&self, address: u64, into: &mut [u8]) -> bool {
        let bytes = into.len();
        bytes == 0 || self.note(self.memory.read(address, into), "reads", address, bytes)
    }

    /// Writes device memory. Returns false, and fails the launch, if the device may not write there.
    pub fn write(&self, address: u64, from: &[u8]) -> bool {
        let bytes = from.len();
        bytes == 0 || self.note(self.memory.write(address, from), "writes", address, bytes)
    }

    /// Fails the launch, and with it the device.
    pub fn fail(&self, code: i32, words: &str) {
        let mut failure = self.failure.borrow_mut();
        if failure.is_none() {
            let (block, thread) = self.position.get();
            let name = self.kernel;
            let words = format!("kernel {name}, block {block:?}, thread {thread:?}: {words}");
            *failure = Some((code, words));
        }
    }

    /// Whether the launch has failed. Nothing that it writes matters any more.
    pub fn has_failed(&self) -> bool {
        self.failure.borrow().is_some()
    }

    fn note(&self, done: Result<(), i32>, verb: &str, address: u64, bytes: usize) -> bool {
        let Err(code) = done else { return true };
        let device = self.device;
        let why = match (take_complaint(), code) {
            (Some(complaint), _) => complaint,
            (None, codes::ILLEGAL_ADDRESS) => format!(
                "it {verb} {bytes} bytes at {address:#x}, which is not memory that device {device} may use"
            ),
            (None, code) => {
                format!("it {verb} {bytes} bytes at {address:#x}: {}", codes::spelled(code))
            }
        };
        self.fail(code, &why);
        false
    }

    pub(super) fn into_failure(self) -> Option<(i32, String)> {
        self.failure.into_inner()
    }
}
