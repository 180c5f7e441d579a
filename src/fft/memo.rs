//! What a thread found out about the descriptions that it used last: the same one again takes a
//! comparison rather than all the checks.
//!
//! Only descriptions are remembered whose sides the library takes as they lie. Addresses are looked at
//! each time, and plans stay the cache's.

use std::cell::RefCell;

use super::Transform;
use super::cache::Hint;
use super::route::{Key, Route};
use super::shape::{Side, Sides};
use crate::operand::Operand;

/// A power of two.
const PLACES: usize = 32;

/// What is known of one description.
pub(super) struct Known {
    request: Transform,
    pub(super) in_place: bool,
    pub(super) key: Key,
    /// The operands, from address 0 on.
    operands: [Operand; 2],
    /// What the addresses must be multiples of so that sides can be taken as they lie.
    alignment: [usize; 2],
    pub(super) output: Side,
    /// Where the cache had the plan.
    pub(super) hint: Hint,
}

type Places = [Option<Known>; PLACES];

thread_local! {
    static PLACES_OF_THREAD: RefCell<Box<Places>> = RefCell::new(Box::new([const { None }; PLACES]));
}

/// Which place a description has.
#[inline]
fn place_of(request: &Transform) -> usize {
    let [x, y, z] = request.sizes;
    let mixed = x ^ y.rotate_left(20) ^ z.rotate_left(40) ^ request.batch.rotate_left(10);
    let kinds =
        (request.kind as i64) << 8 | (request.direction as i64) << 4 | request.element as i64;
    let hash = (mixed ^ kinds.rotate_left(50)) as u64;
    (hash.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 59) as usize & (PLACES - 1)
}

/// Uses what is known of a description, if anything is; `None` also where the thread is ending, or is
/// in here already.
#[inline]
pub(super) fn with<R>(
    request: &Transform,
    input: usize,
    output: usize,
    action: impl FnOnce(&mut Known, [Operand; 2]) -> R,
) -> Option<R> {
    PLACES_OF_THREAD
        .try_with(|places| {
            let mut places = places.try_borrow_mut().ok()?;
            let known = places[place_of(request)].as_mut()?;
            if known.in_place != (input == output) || known.request != *request {
                return None;
            }
            let operands = known.at([input, output])?;
            Some(action(known, operands))
        })
        .ok()?
}

/// Remembers a description that has been checked, if its sides are taken as they lie.
pub(super) fn keep(request: &Transform, sides: &Sides, route: &Route, addresses: [usize; 2]) {
    let Some(known) = Known::of(request, sides, route, addresses) else { return };
    // Not to be remembered is no failure.
    let _ = PLACES_OF_THREAD.try_with(|places| {
        if let Ok(mut places) = places.try_borrow_mut() {
            places[place_of(request)] = Some(known);
        }
    });
}

impl Known {
    fn of(
        request: &Transform,
        sides: &Sides,
        route: &Route,
        addresses: [usize; 2],
    ) -> Option<Known> {
        if route.input_through.is_some() || route.output_through.is_some() {
            return None;
        }
        // A side that shares its first element with the other is one in place or overlaps.
        if !route.in_place && addresses[0] == addresses[1] {
            return None;
        }
        let mut operands = route.operands;
        for (operand, address) in operands.iter_mut().zip(addresses) {
            operand.address = operand.address.wrapping_sub(address);
        }
        Some(Known {
            request: *request,
            in_place: route.in_place,
            key: route.key,
            operands,
            alignment: [&sides.input, &sides.output].map(Side::pair_bytes),
            output: sides.output,
            hint: Hint::default(),
        })
    }

    /// The operands at other addresses; `None` where those are for the long way to judge.
    #[inline]
    fn at(&self, addresses: [usize; 2]) -> Option<[Operand; 2]> {
        let mut operands = self.operands;
        for ((operand, address), alignment) in
            operands.iter_mut().zip(addresses).zip(self.alignment)
        {
            if address == 0 || address & (alignment - 1) != 0 {
                return None;
            }
            operand.address = address.checked_add_signed(operand.address as isize)?;
            if operand.address == 0 {
                return None;
            }
        }
        let [one, two] = &operands;
        let meet = one.address < two.address.saturating_add(two.bytes)
            && two.address < one.address.saturating_add(one.bytes);
        (self.in_place || !meet).then_some(operands)
    }
}
