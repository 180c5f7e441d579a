//! An element, written to pinned memory of the host in words with a tag.
#![forbid(unsafe_code)]

use super::kernel::Kernel;
use crate::driver::sim::codes;
use crate::driver::sim::memory::{DeviceMemoryView, Intent, MemoryAccess};
use crate::kernels::{READ_BYTES, READ_ELEMENT, READ_KERNEL, READ_WORDS, ReadLaunch};

/// Bytes of a word.
const WORD: u64 = 8;

pub(crate) const KERNELS: &[Kernel] = &[Kernel {
    name: READ_KERNEL,
    parameters: READ_ELEMENT.slots(),
    duration_ns: |_, latency| latency,
    accesses,
    run: |memory, _, arguments| read(memory, arguments),
}];

fn accesses(arguments: &[u64]) -> Vec<MemoryAccess> {
    let Some(launch) = ReadLaunch::read(arguments) else { return Vec::new() };
    vec![
        MemoryAccess::range(Intent::Read, launch.src.0, u64::from(launch.bytes)),
        MemoryAccess::range(Intent::Write, launch.place, WORD * READ_WORDS as u64),
    ]
}

fn read(memory: &DeviceMemoryView<'_>, arguments: &[u64]) -> Result<(), i32> {
    let launch = ReadLaunch::read(arguments).ok_or(codes::INVALID_VALUE)?;
    if launch.place % WORD != 0 {
        return Err(codes::MISALIGNED_ADDRESS);
    }
    let mut element = [0; READ_BYTES];
    memory.read(launch.src.0, &mut element[..launch.bytes as usize])?;
    for (at, word) in (0..).zip(ReadLaunch::words(element, launch.tag)) {
        memory.write(launch.place + WORD * at, &word.to_le_bytes())?;
    }
    Ok(())
}
