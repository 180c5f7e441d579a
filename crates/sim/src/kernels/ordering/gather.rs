//! Selections and joins. Every range is checked, and that it is aligned.

use sconce_base::log;
use sconce_kernels::{
    JOIN, JOIN_MANY, JOIN_MANY_NAME, JoinLaunch, JoinRows, ManyLaunch, ManyPiece, SELECT,
    SELECT_DST, SELECT_INDEX, SELECT_SRC, SelectLaunch,
};

use crate::codes;
use crate::kernels::kernel::Kernel;
use crate::memory::{DeviceMemoryView, Intent, MemoryAccess};

macro_rules! gathers {
    ($($width:literal $shift:literal),*) => {
        &[$(
            Kernel {
                name: concat!("sconce_select_", $width),
                parameters: SELECT.slots(),
                duration_ns: |_, latency| latency,
                accesses: |arguments| of_select(arguments, $width).unwrap_or_default(),
                run: |memory, _, arguments| select(memory, arguments, $width),
            },
            Kernel {
                name: concat!("sconce_join_", $width),
                parameters: JOIN.slots(),
                duration_ns: |_, latency| latency,
                accesses: |arguments| of_join(arguments, $shift).unwrap_or_default(),
                run: |memory, _, arguments| join(memory, arguments, $shift),
            },
        )*]
    };
}

pub(in crate::kernels) const KERNELS: &[Kernel] = gathers![1 0, 2 1, 4 2, 8 3, 16 4];

pub(in crate::kernels) const JOINS_OF_MANY: &[Kernel] = &[Kernel {
    name: JOIN_MANY_NAME,
    parameters: JOIN_MANY.slots(),
    duration_ns: |_, latency| latency,
    accesses: |arguments| of_many(arguments).unwrap_or_default(),
    run: |memory, _, arguments| join_many(memory, arguments),
}];

/// Bytes of an index.
fn index_bytes(launch: &SelectLaunch) -> u64 {
    if launch.wide { 8 } else { 4 }
}

/// What is read may be every element that an index can name.
fn of_select(arguments: &[u64], width: u64) -> Option<Vec<MemoryAccess>> {
    let launch = SelectLaunch::read(arguments)?;
    let along = |operand: usize| {
        launch.axes.iter().map(move |axis| (u64::from(axis.size), axis.strides[operand]))
    };
    let dst = MemoryAccess::strided(Intent::Write, launch.dst.0, width, along(SELECT_DST));
    if launch.index.0 == 0 {
        let src = MemoryAccess::strided(Intent::Read, launch.src.0, width, along(SELECT_SRC));
        return Some(vec![dst, src]);
    }
    let selected = along(SELECT_SRC).chain([(launch.size, launch.step)]);
    let bytes = index_bytes(&launch);
    Some(vec![
        dst,
        MemoryAccess::strided(Intent::Read, launch.src.0, width, selected),
        MemoryAccess::strided(Intent::Read, launch.index.0, bytes, along(SELECT_INDEX)),
    ])
}

fn require_aligned(bits: u64, width: u64) -> Result<(), i32> {
    if bits.is_multiple_of(width) { Ok(()) } else { Err(codes::MISALIGNED_ADDRESS) }
}

fn select(memory: &DeviceMemoryView<'_>, arguments: &[u64], width: u64) -> Result<(), i32> {
    let launch = SelectLaunch::read(arguments).ok_or(codes::INVALID_VALUE)?;
    let mut unit = [0; 16];
    let unit = &mut unit[..width as usize];
    for at in 0..launch.n() {
        let [to, mut from, index] = launch.element(at);
        if launch.index.0 != 0 {
            let mut bytes = [0; 8];
            require_aligned(index, index_bytes(&launch))?;
            memory.read(index, &mut bytes[..index_bytes(&launch) as usize])?;
            let [a, b, c, d, ..] = bytes;
            let short = i64::from(i32::from_le_bytes([a, b, c, d]));
            let index = if launch.wide { i64::from_le_bytes(bytes) } else { short };
            if index as u64 >= launch.size {
                // A GPU's driver prints the assertion in the same way.
                log::error(format_args!(
                    "selection: index {index} is out of range for {} elements",
                    launch.size
                ));
                return Err(codes::ASSERT);
            }
            from = from.wrapping_add_signed(index.wrapping_mul(launch.step));
        }
        require_aligned(to | from, width)?;
        memory.read(from, unit)?;
        memory.write(to, unit)?;
    }
    Ok(())
}

fn of_join(arguments: &[u64], shift: u32) -> Option<Vec<MemoryAccess>> {
    let JoinLaunch { dst_pitch, parts, .. } = JoinLaunch::read(arguments, shift)?;
    let of_part = |part: &JoinRows| {
        let side = |intent, address, pitch| {
            MemoryAccess::strided(intent, address, part.width, [(part.rows, pitch)])
        };
        [side(Intent::Write, part.dst.0, dst_pitch), side(Intent::Read, part.src.0, part.src_pitch)]
    };
    Some(parts.iter().flat_map(of_part).collect())
}

/// Bytes a piece; small enough for the stack of a worker.
const PIECE: u64 = 8192;

fn join(memory: &DeviceMemoryView<'_>, arguments: &[u64], shift: u32) -> Result<(), i32> {
    let launch = JoinLaunch::read(arguments, shift).ok_or(codes::INVALID_VALUE)?;
    let mut buffer = [0; PIECE as usize];
    for part in &launch.parts {
        for row in 0..part.rows as i64 {
            let to = part.dst.0.wrapping_add_signed(row.wrapping_mul(launch.dst_pitch));
            let from = part.src.0.wrapping_add_signed(row.wrapping_mul(part.src_pitch));
            require_aligned(to | from, 1 << shift)?;
            let mut done = 0;
            while done < part.width {
                let bytes = &mut buffer[..PIECE.min(part.width - done) as usize];
                memory.read(from.wrapping_add(done), bytes)?;
                memory.write(to.wrapping_add(done), bytes)?;
                done += bytes.len() as u64;
            }
        }
    }
    Ok(())
}

fn of_many(arguments: &[u64]) -> Option<Vec<MemoryAccess>> {
    let ManyLaunch { dst, pieces } = ManyLaunch::read(arguments)?;
    let of_piece = |piece: &ManyPiece| {
        let (to, bytes) = (dst.0.wrapping_add(u64::from(piece.start)), u64::from(piece.bytes));
        let side = |intent, address| MemoryAccess::strided(intent, address, bytes, []);
        [side(Intent::Write, to), side(Intent::Read, piece.src.0)]
    };
    Some(pieces.iter().flat_map(of_piece).collect())
}

fn join_many(memory: &DeviceMemoryView<'_>, arguments: &[u64]) -> Result<(), i32> {
    let ManyLaunch { dst, pieces } = ManyLaunch::read(arguments).ok_or(codes::INVALID_VALUE)?;
    let mut buffer = [0; PIECE as usize];
    for piece in &pieces {
        let to = dst.0.wrapping_add(u64::from(piece.start));
        let (mut done, all) = (0, u64::from(piece.bytes));
        while done < all {
            let bytes = &mut buffer[..PIECE.min(all - done) as usize];
            memory.read(piece.src.0.wrapping_add(done), bytes)?;
            memory.write(to.wrapping_add(done), bytes)?;
            done += bytes.len() as u64;
        }
    }
    Ok(())
}
