//! What a thread found out about the descriptions that it used last: the same one again takes a
//! comparison rather than all the checks, and no way through the cache.
//!
//! Only descriptions are remembered whose sides the library takes as they lie. Addresses are looked at
//! each time. Places of plans are kept here, which keeps no plan: the cache takes plans out of places
//! that leave it.

use std::cell::Cell;

use super::places::{self, PLACES};
use super::plan::Plan;
use super::route::Route;
use super::scale::factor;
use super::shape::{Side, Sides};
use super::slot::Slot;
use super::{Description, Transform};
use crate::context::{Runtime, runtime};
use crate::driver::{FftCall, FftDirection};
use crate::element::Dtype;
use crate::memory::Sighting;
use crate::operand::{self, Operand};
use crate::stream::{self, Stream};
use crate::sync::Shared;
use crate::thread_state;
use crate::types::{DeviceIndex, DevicePtr};

/// What is known of one description. In the order in which it is looked at.
#[repr(C, align(64))]
pub(super) struct Known {
    words: [u64; 15],
    may_overwrite_input: u8,
    /// There is nothing to be done but to execute: no workspace, no division, no waiting.
    pub(super) is_plain: bool,
    pub(super) device: DeviceIndex,
    direction: FftDirection,
    /// The blocks at the addresses that it last went for.
    last: Cell<Option<[Sighting; 2]>>,
    /// How many bytes of each side are used.
    bytes: [usize; 2],
    /// The thread's stream at the last call.
    pub(super) stream: Cell<Stream>,
    /// The place of the plan.
    pub(super) slot: Shared<Slot<Plan>>,
    pub(super) runtime: &'static Runtime,
    pub(super) workspace: usize,
    /// What results are multiplied by.
    pub(super) factor: f64,
    pub(super) element: Dtype,
    pub(super) output: Side,
    in_place: bool,
    /// What addresses must be multiples of so that sides can be taken as they lie, less 1.
    misaligned: [usize; 2],
}

/// Which place a description has.
#[inline(always)]
fn place_of(description: &Description) -> usize {
    let [kinds, types, _, x, y, z, batch, ..] = *description.words;
    let sizes = x ^ y.rotate_left(20) ^ z.rotate_left(40) ^ batch.rotate_left(10);
    let device = u64::from(thread_state::device().as_u8());
    let hash = sizes ^ (kinds ^ types.rotate_left(6)).rotate_left(50) ^ device << 9;
    (hash.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (64 - PLACES.ilog2())) as usize
}

/// Uses what is known of a description, if anything is; `None` also where `action` gives that, where the
/// thread is ending, or is changing what it knows.
#[inline(always)]
pub(super) fn with<R>(
    description: &Description,
    action: impl FnOnce(&Known) -> Option<R>,
) -> Option<R> {
    places::with(place_of(description), |known| known.is_of(description), action)
}

/// Remembers a description that has been checked, if its sides are taken as they lie.
pub(super) fn keep(
    runtime: &'static Runtime,
    description: &Description,
    request: &Transform,
    sides: &Sides,
    route: &Route,
    stream: Stream,
    slot: &Shared<Slot<Plan>>,
) {
    let takes_as_they_lie = route.input_through.is_none() && route.output_through.is_none();
    let begin_there = sides.input.begins_at_its_address() && sides.output.begins_at_its_address();
    if !takes_as_they_lie || !begin_there {
        return;
    }
    let (workspace, factor) = (slot.workspace(), factor(request));
    let known = Known {
        words: *description.words,
        may_overwrite_input: description.may_overwrite_input,
        in_place: route.in_place,
        device: stream.device(),
        direction: request.direction,
        last: Cell::new(None),
        stream: Cell::new(stream),
        misaligned: [&sides.input, &sides.output].map(|side| side.pair_bytes() - 1),
        bytes: route.operands.map(|operand| operand.bytes),
        slot: slot.clone(),
        workspace,
        runtime,
        is_plain: workspace == 0 && factor == 1.0 && !runtime.launch_blocking(),
        factor,
        element: request.element,
        output: sides.output,
    };
    places::put(place_of(description), |other| other.is_of(description), known);
}

impl Known {
    /// Whether it is what is known of this description.
    #[inline(always)]
    fn is_of(&self, description: &Description) -> bool {
        // Without branches; `==` would call a function of the C library.
        let pairs = self.words.iter().zip(description.words);
        let differ = pairs.fold(0, |differ, (one, two)| differ | (one ^ two));
        differ == 0 && self.may_overwrite_input == description.may_overwrite_input
    }

    /// The execution.
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

    /// Whether blocks and stream are those of the last call.
    #[inline(always)]
    pub(super) fn goes_as_it_was(&self, input: usize, output: usize) -> bool {
        let Some([from, to]) = &self.last.get() else { return false };
        from.is_still(input, self.bytes[0])
            && to.is_still(output, self.bytes[1])
            && thread_state::stream_id(self.device) == self.stream.get().id()
    }

    /// Whether all of it goes for these addresses, which are of memory that may be used, on the stream of
    /// now. Otherwise it is for the long way to judge.
    #[inline(never)]
    pub(super) fn goes_for(&self, input: usize, output: usize) -> bool {
        let Ok(runtime) = runtime() else { return false };
        let Ok(stream) = stream::current_on(runtime, self.device) else { return false };
        self.stream.set(stream);
        if (input & self.misaligned[0]) | (output & self.misaligned[1]) != 0 {
            return false;
        }
        // Blocks that begin at two addresses are two, and do not meet.
        if let (Some(from), Some(to)) = (self.block_at(input, 0), self.block_at(output, 1)) {
            let goes = (input == output) == self.in_place;
            if goes {
                self.last.set(Some([from, to]));
            }
            return goes;
        }
        self.goes_inside(runtime, [input, output])
    }

    /// The block that begins there, if it has room for a side.
    #[inline]
    fn block_at(&self, address: usize, side: usize) -> Option<Sighting> {
        let (sighting, device, room) = Sighting::of(address)?;
        (device == self.device && self.bytes[side] <= room).then_some(sighting)
    }

    /// The same as [`Known::goes_for`] where sides begin inside blocks, or are others' memory.
    fn goes_inside(&self, runtime: &Runtime, [input, output]: [usize; 2]) -> bool {
        let operand = |address, side: usize, name| Operand {
            name,
            address,
            bytes: self.bytes[side],
            alignment: 1,
        };
        let meet = input < output.saturating_add(self.bytes[1])
            && output < input.saturating_add(self.bytes[0]);
        let lie_right = if input == output { self.in_place } else { !self.in_place && !meet };
        let operands = [operand(input, 0, "input"), operand(output, 1, "output")];
        lie_right
            && operand::device_of(runtime, &operands).is_ok_and(|device| device == self.device)
    }
}
