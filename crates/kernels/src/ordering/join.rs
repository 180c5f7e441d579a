//! What the kernels of `kernels/gather_join.cu` are launched with.

use sconce_base::types::DevicePtr;
use sconce_driver::{Dim3, KernelArguments, LaunchShape};
use smallvec::SmallVec;

use super::super::divisor::Divisor;
use super::super::signature::JOIN;

/// The most parts of a launch, a block's threads, and how many units each copies;
/// `kernels/gather_join.cu` has them too.
pub const JOIN_PARTS: usize = 6;
const THREADS: u32 = 256;
const EACH: u32 = 4;
/// The most bytes of a part: a kernel's arithmetic is in 32 bits.
pub const JOIN_BYTES: u64 = (1 << 31) - 1;
/// Slots before the parts, and of a part.
const BEFORE_PARTS: usize = 1;
const OF_PART: usize = 5;

const _: () = assert!(JOIN.slots() == BEFORE_PARTS + OF_PART * JOIN_PARTS);

/// Rows of bytes that are copied.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct JoinRows {
    pub dst: DevicePtr,
    pub src: DevicePtr,
    /// From one row to the next in the source.
    pub src_pitch: i64,
    /// Bytes of a row, at least 1.
    pub width: u64,
    pub rows: u64,
}

/// A launch of 1 to [`JOIN_PARTS`] parts, each of at most [`JOIN_BYTES`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JoinLaunch {
    /// The kernel copies units of `1 << shift` bytes, and everything is a multiple of that.
    pub shift: u32,
    /// From one row to the next in the destination.
    pub dst_pitch: i64,
    pub parts: SmallVec<[JoinRows; JOIN_PARTS]>,
}

/// The kernel for units of a width, which is 1, 2, 4, 8 or 16.
pub fn join_kernel_name(width: u32) -> &'static str {
    match width {
        1 => "sconce_join_1",
        2 => "sconce_join_2",
        4 => "sconce_join_4",
        8 => "sconce_join_8",
        _ => "sconce_join_16",
    }
}

impl JoinLaunch {
    /// Grid and arguments.
    pub fn launch(&self) -> (LaunchShape, KernelArguments) {
        let mut packing = JOIN.pack();
        packing.add(self.dst_pitch as u64);
        let mut most = 1;
        for rows in &self.parts {
            let units = rows.width >> self.shift;
            let n = units * rows.rows;
            most = most.max(n);
            let divisor = Divisor::by(units as u32).to_slot();
            for word in [rows.dst.0, rows.src.0, rows.src_pitch as u64, divisor, n] {
                packing.add(word);
            }
        }
        // The grid has no blocks for other parts.
        packing.skip((JOIN_PARTS - self.parts.len()) * OF_PART);
        let x = (most as u32).div_ceil(THREADS * EACH);
        let grid = Dim3 { x, y: self.parts.len() as u32, z: 1 };
        (LaunchShape { grid, block: Dim3::line(THREADS), shared_bytes: 0 }, packing.finish())
    }

    /// Reads the slots of a launch of the kernel for units of `1 << shift` bytes. Parts without rows
    /// are left out.
    pub fn read(slots: &[u64], shift: u32) -> Option<JoinLaunch> {
        let (before, parts) = slots.split_at_checked(BEFORE_PARTS)?;
        let &[dst_pitch] = before else { return None };
        if parts.len() != OF_PART * JOIN_PARTS {
            return None;
        }
        let parts = parts.chunks_exact(OF_PART).filter(|slots| slots[4] > 0).map(|slots| {
            let units = u64::from(Divisor::from_slot(slots[3]).size);
            JoinRows {
                dst: DevicePtr(slots[0]),
                src: DevicePtr(slots[1]),
                src_pitch: slots[2] as i64,
                width: units << shift,
                rows: slots[4] / units,
            }
        });
        Some(JoinLaunch { shift, dst_pitch: dst_pitch as i64, parts: parts.collect() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_launch_is_read_as_it_was_packed() {
        let rows = |dst, width, rows| JoinRows {
            dst: DevicePtr(dst),
            src: DevicePtr(dst + 0x1000),
            src_pitch: -16,
            width,
            rows,
        };
        let parts = [rows(64, 24, 1000), rows(88, 8, 1000), rows(96, 1 << 20, 1)];
        let parts = SmallVec::from_slice(&parts);
        let launch = JoinLaunch { shift: 3, dst_pitch: 32, parts };
        let (shape, arguments) = launch.launch();
        assert_eq!(shape.grid, Dim3 { x: 128, y: 3, z: 1 });
        assert_eq!(JoinLaunch::read(arguments.slots(), 3), Some(launch));
        assert_eq!(JoinLaunch::read(&arguments.slots()[1..], 3), None);
    }
}
