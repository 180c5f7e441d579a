//! Launches of a join: parts that are rows on both sides, several in a launch.

use sconce_base::collections::per_device::PerDevice;
use sconce_base::error::Result;
use sconce_base::strided::SharedAxes;
use sconce_base::sync::shared_static;
use sconce_base::types::DevicePtr;
use sconce_driver::RawAddress;
use sconce_kernels::images::GATHER_JOIN;
use sconce_kernels::{JOIN_BYTES, JOIN_PARTS, JoinLaunch, JoinRows, join_kernel_name};
use sconce_runtime::context::Runtime;
use sconce_runtime::stream::Stream;
use smallvec::SmallVec;

use super::axes::with_operand;
use super::many_kernels::ManyQueue;
use super::select_kernels::{self, KernelsByWidth, take_run, unit_shift};

shared_static! {
    static KERNELS: PerDevice<KernelsByWidth> =
        sconce_base::collections::per_device::per_device!(KernelsByWidth::new());
}

/// From here on parts are not copied in narrower units for the sake of others: that would cost more than
/// another launch.
const LARGE_BYTES: u64 = 4 << 20;

/// Parts that wait for a launch.
pub(super) struct JoinQueue<'a> {
    runtime: &'a Runtime,
    stream: Stream,
    /// Bytes from one row to the next in the destination; none as long as no part has a second row.
    dst_pitch: Option<i64>,
    bytes: u64,
    waiting: JoinLaunch,
    /// For short parts, if there are more parts than a launch takes.
    many: Option<ManyQueue<'a>>,
}

/// What a part's parts are at most: a multiple of every unit.
const MOST_OF_ROW: u64 = 1 << 30;

impl<'a> JoinQueue<'a> {
    /// A queue for so many parts.
    pub(super) fn new(runtime: &'a Runtime, stream: Stream, expected: usize) -> JoinQueue<'a> {
        let waiting = JoinLaunch { shift: 0, dst_pitch: 0, parts: SmallVec::new() };
        let many = (expected > JOIN_PARTS).then(|| ManyQueue::new(runtime, stream, expected));
        JoinQueue { runtime, stream, dst_pitch: None, bytes: 0, waiting, many }
    }

    /// Adds a part, given the axes of both sides; `width` is the bytes of an element.
    pub(super) fn add(
        &mut self,
        [dst, src]: [RawAddress; 2],
        width: usize,
        mut axes: SharedAxes<2>,
    ) -> Result<()> {
        let given = if axes.len() > 1 { axes.clone() } else { SharedAxes::new() };
        let run = take_run(&mut axes, [width as i64; 2]);
        let (rows, [dst_pitch, src_pitch]) = match axes[..] {
            [] => (1, [0, 0]),
            [rows] => (rows.size, rows.strides),
            _ => {
                let with_index = given.iter().map(|axis| with_operand(axis, 0));
                let axes = with_index.collect();
                return select_kernels::launch(
                    self.runtime,
                    self.stream,
                    [dst, src],
                    width,
                    axes,
                    None,
                );
            }
        };
        let sides = [dst, src].map(|address| address.get() as u64);
        self.add_rows(sides, run, rows, [dst_pitch, src_pitch])
    }

    /// Adds a part that is rows of `run` bytes, given where they begin on both sides, and from there to the next.
    pub(super) fn add_rows(
        &mut self,
        [dst, src]: [u64; 2],
        run: u64,
        rows: u64,
        [dst_pitch, src_pitch]: [i64; 2],
    ) -> Result<()> {
        if let Some(many) = &mut self.many
            && rows == 1
            && ManyQueue::takes(run)
        {
            return many.add(DevicePtr(dst), DevicePtr(src), run);
        }
        let piece_of_row = run.min(MOST_OF_ROW);
        let rows_of_piece = (JOIN_BYTES / piece_of_row).min(rows);
        let mut column = 0;
        while column < run {
            let mut row = 0;
            while row < rows {
                let at = |start: u64, pitch: i64| {
                    let distance = (row as i64).wrapping_mul(pitch).wrapping_add(column as i64);
                    DevicePtr(start.wrapping_add_signed(distance))
                };
                let piece = JoinRows {
                    dst: at(dst, dst_pitch),
                    src: at(src, src_pitch),
                    src_pitch,
                    width: piece_of_row.min(run - column),
                    rows: rows_of_piece.min(rows - row),
                };
                self.add_piece(piece, dst_pitch)?;
                row += rows_of_piece;
            }
            column += piece_of_row;
        }
        Ok(())
    }

    fn add_piece(&mut self, piece: JoinRows, dst_pitch: i64) -> Result<()> {
        let pitch = (piece.rows > 1).then_some(dst_pitch);
        let pitches =
            [pitch.unwrap_or(0) as u64, if piece.rows > 1 { piece.src_pitch as u64 } else { 0 }];
        let shift = unit_shift(pitches.into_iter().chain([piece.dst.0, piece.src.0, piece.width]));
        let bytes = piece.width * piece.rows;
        let other_pitch = pitch.is_some() && self.dst_pitch.is_some() && pitch != self.dst_pitch;
        let too_narrow = match shift.cmp(&self.waiting.shift) {
            std::cmp::Ordering::Less => self.bytes >= LARGE_BYTES,
            std::cmp::Ordering::Equal => false,
            std::cmp::Ordering::Greater => bytes >= LARGE_BYTES,
        };
        if self.waiting.parts.len() == JOIN_PARTS || other_pitch || too_narrow {
            self.launch()?;
        }
        let waiting = &mut self.waiting;
        waiting.shift = if waiting.parts.is_empty() { shift } else { waiting.shift.min(shift) };
        self.dst_pitch = self.dst_pitch.or(pitch);
        self.bytes += bytes;
        self.waiting.parts.push(piece);
        Ok(())
    }

    /// Launches what waits, at the end.
    pub(super) fn finish(mut self) -> Result<()> {
        if let Some(many) = &mut self.many {
            many.launch()?;
        }
        self.launch()
    }

    fn launch(&mut self) -> Result<()> {
        if self.waiting.parts.is_empty() {
            return Ok(());
        }
        // The parts stay where they are: they are moved by a copy of all their places.
        self.waiting.dst_pitch = self.dst_pitch.take().unwrap_or(0);
        self.bytes = 0;
        let (shape, arguments) = self.waiting.launch();
        self.waiting.parts.clear();
        let shift = self.waiting.shift;
        let (runtime, stream) = (self.runtime, self.stream.driver_ref());
        let name = || join_kernel_name(1 << shift);
        let kernels = &KERNELS[stream.device];
        let kernel = kernels.get(runtime, stream.device, &GATHER_JOIN, shift as usize, name)?;
        runtime.driver().kernel_launch(kernel, shape, &arguments, stream)
    }
}
