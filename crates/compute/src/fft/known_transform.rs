//! A validated descriptor, the entry of the descriptor memo.
//!
//! Only transforms whose sides the library takes as they lie are remembered. The addresses of a call are
//! checked each time: against the blocks of the last call first, which takes three loads for each.

use std::cell::Cell;

use sconce_base::element::Dtype;
use sconce_base::sync::Shared;
use sconce_base::thread_state;
use sconce_base::types::{DeviceIndex, DevicePtr};
use sconce_driver::{FftCall, FftDirection};
use sconce_runtime::context::{Runtime, runtime};
use sconce_runtime::memory::BlockRef;
use sconce_runtime::operand::{self, Operand};
use sconce_runtime::stream::{self, Stream};

use super::cached_plan::CachedPlan;
use super::plan::DevicePlan;
use super::route::FftRoute;
use super::scale::factor;
use super::shape::{FftSide, FftSides};
use super::{RawDescriptor, Transform};

/// A transform that the thread has done before. The fields stand in the order in which they are read.
#[repr(C, align(64))]
pub(super) struct KnownTransform {
    words: [u64; 15],
    may_overwrite_input: u8,
    /// A call only executes the plan: there is no workspace, no division and no waiting for the device.
    pub(super) only_executes: bool,
    pub(super) device: DeviceIndex,
    direction: FftDirection,
    /// The blocks that began at the addresses of the last call that passed all checks.
    last_blocks: Cell<Option<[BlockRef; 2]>>,
    /// The extent of each side.
    bytes: [usize; 2],
    /// The thread's stream at the last call.
    pub(super) stream: Cell<Stream>,
    pub(super) plan: Shared<CachedPlan<DevicePlan>>,
    pub(super) runtime: &'static Runtime,
    pub(super) workspace: usize,
    /// What results are multiplied by.
    pub(super) factor: f64,
    pub(super) element: Dtype,
    pub(super) output: FftSide,
    in_place: bool,
    /// For each side its alignment less 1.
    alignment_masks: [usize; 2],
}

impl KnownTransform {
    /// The entry of a transform that has been checked and done; `None` if the library does not take its
    /// sides as they lie.
    pub(super) fn new(
        runtime: &'static Runtime,
        descriptor: &RawDescriptor,
        request: &Transform,
        sides: &FftSides,
        route: &FftRoute,
        stream: Stream,
        plan: &Shared<CachedPlan<DevicePlan>>,
    ) -> Option<KnownTransform> {
        let takes_as_they_lie = route.input_through.is_none() && route.output_through.is_none();
        let begin_there =
            sides.input.begins_at_its_address() && sides.output.begins_at_its_address();
        if !takes_as_they_lie || !begin_there {
            return None;
        }
        let (workspace, factor) = (plan.workspace(), factor(request));
        Some(KnownTransform {
            words: *descriptor.words,
            may_overwrite_input: descriptor.may_overwrite_input,
            in_place: route.in_place,
            device: stream.device(),
            direction: request.direction,
            last_blocks: Cell::new(None),
            stream: Cell::new(stream),
            alignment_masks: [&sides.input, &sides.output].map(|side| side.pair_bytes() - 1),
            bytes: route.operands.map(|operand| operand.bytes),
            plan: plan.clone(),
            workspace,
            runtime,
            only_executes: workspace == 0 && factor == 1.0 && !runtime.launch_blocking(),
            factor,
            element: request.element,
            output: sides.output,
        })
    }

    /// Whether the descriptor has the same bytes.
    #[inline(always)]
    pub(super) fn is_of(&self, descriptor: &RawDescriptor) -> bool {
        // Without branches; `==` would call a function of the C library.
        let pairs = self.words.iter().zip(descriptor.words);
        let differ = pairs.fold(0, |differ, (one, two)| differ | (one ^ two));
        differ == 0 && self.may_overwrite_input == descriptor.may_overwrite_input
    }

    /// The arguments of the library's call.
    #[inline(always)]
    pub(super) fn call(
        &self,
        stream: Stream,
        workspace: DevicePtr,
        input: usize,
        output: usize,
    ) -> FftCall {
        FftCall {
            stream: stream.driver_ref(),
            workspace,
            input: DevicePtr(input as u64),
            output: DevicePtr(output as u64),
            direction: self.direction,
        }
    }

    /// Whether the last call was on the same stream, and the blocks of its addresses still begin at these
    /// addresses and are large enough. Nothing needs to be checked then.
    #[inline(always)]
    pub(super) fn is_as_last(&self, input: usize, output: usize) -> bool {
        let Some([from, to]) = &self.last_blocks.get() else { return false };
        from.is_still(input, self.bytes[0])
            && to.is_still(output, self.bytes[1])
            && thread_state::stream_id(self.device) == self.stream.get().id()
            && thread_state::may_use(self.device)
    }

    /// Checks addresses and the current stream, and notes them for the next call. Returns false if the
    /// transform cannot be done in this way; the full checks then find out why.
    #[inline(never)]
    pub(super) fn accepts(&self, input: usize, output: usize) -> bool {
        let Ok(runtime) = runtime() else { return false };
        let Ok(stream) = stream::current_on(runtime, self.device) else { return false };
        self.stream.set(stream);
        if (input & self.alignment_masks[0]) | (output & self.alignment_masks[1]) != 0 {
            return false;
        }
        // Blocks that begin at two addresses are two blocks, and do not overlap.
        if let (Some(from), Some(to)) = (self.block_at(input, 0), self.block_at(output, 1)) {
            let accepted = (input == output) == self.in_place;
            if accepted {
                self.last_blocks.set(Some([from, to]));
            }
            return accepted;
        }
        self.accepts_inside_blocks(runtime, [input, output])
    }

    /// The block that begins at an address, if a side fits into it.
    #[inline]
    fn block_at(&self, address: usize, side: usize) -> Option<BlockRef> {
        let (sighting, device, available) = BlockRef::of(address)?;
        (device == self.device && self.bytes[side] <= available).then_some(sighting)
    }

    /// [`KnownTransform::accepts`] for sides inside of blocks, or in memory of others.
    fn accepts_inside_blocks(&self, runtime: &Runtime, [input, output]: [usize; 2]) -> bool {
        let operand = |address, side: usize, name| Operand {
            name,
            address,
            bytes: self.bytes[side],
            alignment: 1,
        };
        let overlap = input < output.saturating_add(self.bytes[1])
            && output < input.saturating_add(self.bytes[0]);
        let may_lie_so = if input == output { self.in_place } else { !self.in_place && !overlap };
        let operands = [operand(input, 0, "input"), operand(output, 1, "output")];
        may_lie_so
            && operand::device_of(runtime, &operands).is_ok_and(|device| device == self.device)
    }
}
