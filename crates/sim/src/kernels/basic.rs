//! Small kernels: sleeping, filling and adding.
#![forbid(unsafe_code)]

use sconce_kernels::{ADD_U32, FILL_U32, SLEEP};

use super::kernel::Kernel;
use crate::codes;
use crate::memory::{DeviceMemoryView, Intent, MemoryAccess};

pub(crate) const KERNELS: &[Kernel] = &[
    Kernel {
        name: SLEEP.family,
        parameters: SLEEP.slots(),
        duration_ns: |arguments, _| arguments[0],
        accesses: |_| Vec::new(),
        run: |_, _, _| Ok(()),
    },
    Kernel {
        name: FILL_U32.family,
        parameters: FILL_U32.slots(),
        duration_ns: |_, latency| latency,
        accesses: |arguments| vec![elements(Intent::Write, arguments)],
        run: |memory, _, arguments| {
            let value = arguments[2] as u32;
            over_u32(memory, arguments[0], arguments[1], false, |_| value)
        },
    },
    Kernel {
        name: ADD_U32.family,
        parameters: ADD_U32.slots(),
        duration_ns: |_, latency| latency,
        accesses: |arguments| {
            [Intent::Read, Intent::Write].map(|it| elements(it, arguments)).into()
        },
        run: |memory, _, arguments| {
            let value = arguments[2] as u32;
            over_u32(memory, arguments[0], arguments[1], true, |old| old.wrapping_add(value))
        },
    },
];

/// Elements a piece; small enough for the stack of a worker.
const PIECE: u64 = 2048;

/// The access to the elements that the first two arguments name.
fn elements(intent: Intent, arguments: &[u64]) -> MemoryAccess {
    MemoryAccess::range(intent, arguments[0], arguments[1].saturating_mul(4))
}

/// Replaces each of `n` elements at `address` by `f` of itself (of 0 when they are not read).
fn over_u32(
    memory: &DeviceMemoryView<'_>,
    address: u64,
    n: u64,
    reads: bool,
    f: impl Fn(u32) -> u32,
) -> Result<(), i32> {
    let mut buffer = [0_u8; PIECE as usize * 4];
    let mut done = 0;
    while done < n {
        let part = PIECE.min(n - done);
        let bytes = &mut buffer[..part as usize * 4];
        let at = done
            .checked_mul(4)
            .and_then(|offset| address.checked_add(offset))
            .ok_or(codes::ILLEGAL_ADDRESS)?;
        if reads {
            memory.read(at, bytes)?;
        }
        for element in bytes.chunks_exact_mut(4) {
            let old = u32::from_le_bytes([element[0], element[1], element[2], element[3]]);
            element.copy_from_slice(&f(old).to_le_bytes());
        }
        memory.write(at, bytes)?;
        done += part;
    }
    Ok(())
}
