//! The kernel that sets a condition of a graph.
#![forbid(unsafe_code)]

use sconce_kernels::SET_CONDITION;

use super::kernel::Kernel;
use crate::codes;
use crate::machine::graphs::Condition;
use crate::memory::{Intent, MemoryAccess};

/// The most bytes that the kernel reads.
const MOST_BYTES: usize = 8;

pub(crate) const KERNELS: &[Kernel] = &[Kernel {
    name: SET_CONDITION.family,
    parameters: SET_CONDITION.slots(),
    duration_ns: |_, latency| latency,
    accesses: |arguments| {
        vec![MemoryAccess::range(Intent::Read, arguments[1], u64::from(arguments[2] as u32))]
    },
    run: |memory, _, arguments| {
        let bytes = arguments[2] as u32 as usize;
        let condition = Condition::find(arguments[0]).ok_or(codes::ILLEGAL_ADDRESS)?;
        let mut value = [0_u8; MOST_BYTES];
        let read = value.get_mut(..bytes).ok_or(codes::ILLEGAL_ADDRESS)?;
        memory.read(arguments[1], read)?;
        condition.set(u32::try_from(u64::from_le_bytes(value)).unwrap_or(u32::MAX));
        Ok(())
    },
}];
