//! What a thread found out about the descriptions that it used last: the same one again takes a
//! comparison rather than all the checks, and no way through the cache.
//!
//! Only descriptions are remembered whose sides the library takes as they lie. Addresses are looked at
//! each time. Places of plans are kept here, which keeps no plan: the cache takes plans out of places
//! that leave it.

use std::cell::RefCell;

use super::plan::Plan;
use super::route::Route;
use super::scale::factor;
use super::shape::{Side, Sides};
use super::slot::Slot;
use super::{Description, Transform};
use crate::context::Runtime;
use crate::driver::{Element, FftDirection};
use crate::memory;
use crate::operand::{self, Operand};
use crate::sync::Shared;
use crate::thread_state;
use crate::types::DeviceIndex;

/// A power of two.
const PLACES: usize = 32;

/// What is known of one description. The order is that in which it is looked at.
#[repr(C, align(64))]
pub(super) struct Known {
    words: [u64; 15],
    may_overwrite_input: bool,
    in_place: bool,
    pub(super) device: DeviceIndex,
    pub(super) direction: FftDirection,
    /// What addresses must be multiples of so that sides can be taken as they lie, less 1.
    misaligned: [usize; 2],
    /// How many bytes of each side are used.
    bytes: [usize; 2],
    /// The place of the plan, and its workspace.
    pub(super) slot: Shared<Slot<Plan>>,
    pub(super) workspace: usize,
    /// What results are multiplied by.
    pub(super) factor: f64,
    pub(super) element: Element,
    pub(super) output: Side,
}

type Places = [Option<Box<Known>>; PLACES];

thread_local! {
    static PLACES_OF_THREAD: RefCell<Places> = const { RefCell::new([const { None }; PLACES]) };
}

/// Which place a description has.
#[inline]
fn place_of(description: &Description) -> usize {
    let [kinds, types, norm, x, y, z, batch, ..] = *description.words;
    let sizes = x ^ y.rotate_left(20) ^ z.rotate_left(40) ^ batch.rotate_left(10);
    let kinds = kinds ^ types.rotate_left(6) ^ norm.rotate_left(12);
    let device = u64::from(thread_state::device().as_u8());
    let hash = sizes ^ kinds.rotate_left(50) ^ device.rotate_left(57);
    (hash.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 59) as usize & (PLACES - 1)
}

/// Uses what is known of a description, if anything is that goes for these addresses; `None` also where
/// `action` gives that, where the thread is ending, or is changing what it knows.
#[inline]
pub(super) fn with<R>(
    runtime: &Runtime,
    description: &Description,
    addresses: [usize; 2],
    action: impl FnOnce(&Known) -> Option<R>,
) -> Option<R> {
    PLACES_OF_THREAD
        .try_with(|places| {
            let places = places.try_borrow().ok()?;
            let known = places[place_of(description)].as_deref()?;
            let goes = known.is_of(description) && known.goes_for(runtime, addresses);
            if goes { action(known) } else { None }
        })
        .ok()?
}

/// Remembers a description that has been checked, if its sides are taken as they lie.
pub(super) fn keep(
    description: &Description,
    request: &Transform,
    sides: &Sides,
    route: &Route,
    device: DeviceIndex,
    slot: &Shared<Slot<Plan>>,
) {
    let takes_as_they_lie = route.input_through.is_none() && route.output_through.is_none();
    let begin_there = sides.input.begins_at_its_address() && sides.output.begins_at_its_address();
    if !takes_as_they_lie || !begin_there {
        return;
    }
    let known = Known {
        words: *description.words,
        may_overwrite_input: description.may_overwrite_input,
        in_place: route.in_place,
        device,
        direction: request.direction,
        misaligned: [&sides.input, &sides.output].map(|side| side.pair_bytes() - 1),
        bytes: route.operands.map(|operand| operand.bytes),
        slot: slot.clone(),
        workspace: slot.workspace(),
        factor: factor(request),
        element: request.element,
        output: sides.output,
    };
    // Not to be remembered is no failure.
    let _ = PLACES_OF_THREAD.try_with(|places| {
        if let Ok(mut places) = places.try_borrow_mut() {
            places[place_of(description)] = Some(Box::new(known));
        }
    });
}

impl Known {
    /// Whether it is what is known of this description.
    #[inline]
    fn is_of(&self, description: &Description) -> bool {
        // Without branches; `==` would call a function of the C library.
        let pairs = self.words.iter().zip(description.words);
        let differ = pairs.fold(0, |differ, (one, two)| differ | (one ^ two));
        differ == 0 && self.may_overwrite_input == description.may_overwrite_input
    }

    /// Whether all of it goes for these addresses too, which are of memory that may be used. Otherwise
    /// it is for the long way to judge.
    #[inline]
    fn goes_for(&self, runtime: &Runtime, addresses: [usize; 2]) -> bool {
        let [input, output] = addresses;
        if (input & self.misaligned[0]) | (output & self.misaligned[1]) != 0 {
            return false;
        }
        // Blocks that begin at two addresses are two, and do not meet.
        if self.is_room_at(input, 0) && self.is_room_at(output, 1) {
            return (input == output) == self.in_place;
        }
        self.goes_inside(runtime, addresses)
    }

    /// Whether a block of ours begins there that has room for a side.
    #[inline]
    fn is_room_at(&self, address: usize, side: usize) -> bool {
        memory::is_room_at(address, self.bytes[side], self.device)
    }

    /// The same as [`Known::goes_for`] where sides begin inside blocks, or are others' memory.
    #[inline(never)]
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
        let operands = [operand(input, 0, "in"), operand(output, 1, "out")];
        lie_right
            && operand::device_of(runtime, &operands).is_ok_and(|device| device == self.device)
    }
}
