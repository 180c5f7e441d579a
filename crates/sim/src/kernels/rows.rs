//! Copies of rows. Every row's range is checked, and that both sides are equally far from alignment.
#![forbid(unsafe_code)]

use sconce_kernels::{COPY_ROWS, RowsLaunch};

use super::kernel::Kernel;
use crate::codes;
use crate::memory::{DeviceMemoryView, Intent, MemoryAccess};

macro_rules! copies {
    ($($cell:literal $name:literal),*) => {
        &[$(Kernel {
            name: $name,
            parameters: COPY_ROWS.slots(),
            duration_ns: |_, latency| latency,
            accesses,
            run: |memory, _, arguments| copy(memory, arguments, $cell),
        },)*]
    };
}

pub(crate) const KERNELS: &[Kernel] = copies![
    1 "sconce_copy_rows_1",
    2 "sconce_copy_rows_2",
    4 "sconce_copy_rows_4",
    8 "sconce_copy_rows_8",
    16 "sconce_copy_rows_16"
];

/// Bytes a piece; small enough for the stack of a worker.
const PIECE: u64 = 8192;

fn accesses(arguments: &[u64]) -> Vec<MemoryAccess> {
    let Some(launch) = RowsLaunch::read(arguments) else { return Vec::new() };
    let (first, second) = (launch.row(0), launch.row(1));
    let rows = |intent, first: u64, second: u64| {
        let dimension = (launch.height, second.wrapping_sub(first) as i64);
        MemoryAccess::strided(intent, first, launch.width, [dimension])
    };
    vec![rows(Intent::Write, first.0, second.0), rows(Intent::Read, first.1, second.1)]
}

fn copy(memory: &DeviceMemoryView<'_>, arguments: &[u64], cell: u64) -> Result<(), i32> {
    let launch = RowsLaunch::read(arguments).ok_or(codes::INVALID_VALUE)?;
    let mut buffer = [0_u8; PIECE as usize];
    for row in 0..launch.height {
        let (to, from) = launch.row(row);
        if to % cell != from % cell {
            return Err(codes::MISALIGNED_ADDRESS);
        }
        let mut done = 0;
        while done < launch.width {
            let bytes = &mut buffer[..PIECE.min(launch.width - done) as usize];
            memory.read(from.wrapping_add(done), bytes)?;
            memory.write(to.wrapping_add(done), bytes)?;
            done += bytes.len() as u64;
        }
    }
    Ok(())
}
