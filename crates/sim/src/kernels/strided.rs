//! Copies of elements with strides. Every element's range is checked, and that it is aligned.
#![forbid(unsafe_code)]

use sconce_kernels::{COPY_STRIDED, StridedLaunch};

use super::kernel::Kernel;
use crate::codes;
use crate::memory::{DeviceMemoryView, Intent, MemoryAccess};

macro_rules! copies {
    ($($width:literal $name:literal),*) => {
        &[$(Kernel {
            name: $name,
            parameters: COPY_STRIDED.slots(),
            duration_ns: |_, latency| latency,
            accesses: |arguments| accesses(arguments, $width),
            run: |memory, _, arguments| copy(memory, arguments, $width),
        },)*]
    };
}

pub(crate) const KERNELS: &[Kernel] = copies![
    1 "sconce_copy_strided_1",
    2 "sconce_copy_strided_2",
    4 "sconce_copy_strided_4",
    8 "sconce_copy_strided_8",
    16 "sconce_copy_strided_16"
];

/// Bytes a piece; small enough for the stack of a worker.
const PIECE: usize = 8192;

fn accesses(arguments: &[u64], width: u64) -> Vec<MemoryAccess> {
    let Some(launch) = StridedLaunch::read(arguments) else { return Vec::new() };
    let (to, from) = launch.element(0);
    let dst = launch.axes().map(|axis| (u64::from(axis.size), axis.dst_stride));
    let src = launch.axes().map(|axis| (u64::from(axis.size), axis.src_stride));
    vec![
        MemoryAccess::strided(Intent::Write, to, width, dst),
        MemoryAccess::strided(Intent::Read, from, width, src),
    ]
}

fn copy(memory: &DeviceMemoryView<'_>, arguments: &[u64], width: u64) -> Result<(), i32> {
    let launch = StridedLaunch::read(arguments).ok_or(codes::INVALID_VALUE)?;
    let mut buffer = [0_u8; PIECE];
    let run = launch.run(width);
    let mut index = 0;
    while index < launch.n {
        // To the end of the run, or as much as the buffer holds.
        let elements = (run - index % run).min((PIECE as u64 / width) as u32);
        let (to, from) = launch.element(index);
        if to % width != 0 || from % width != 0 {
            return Err(codes::MISALIGNED_ADDRESS);
        }
        let bytes = &mut buffer[..elements as usize * width as usize];
        memory.read(from, bytes)?;
        memory.write(to, bytes)?;
        index += elements;
    }
    Ok(())
}
