//! Along one dimension: which elements of an image a place of the grid reads, and how much of each.

use crate::error::Result;
use crate::operations::images::cubic::{CUBIC_FAR, CUBIC_NEAR, polynomial};
use crate::sconce::operations::{Operand, binary, choose, to_dtype, unary};
use crate::sconce::{Tensor, api};

use super::{Interpolation, Padding};

/// An element that each place of the grid reads, with its share.
pub(super) struct Tap {
    /// The element's place in the image, I64; 0 outside.
    pub(super) place: Tensor,
    /// Its share; 0 outside.
    pub(super) weight: Tensor,
    /// By how much the share grows with the grid's coordinate; 0 outside.
    pub(super) slope: Tensor,
}

/// A dimension of the image.
#[derive(Clone, Copy)]
pub(super) struct ImageAxis {
    pub(super) size: i64,
    pub(super) interpolation: Interpolation,
    pub(super) padding: Padding,
    pub(super) align_corners: bool,
}

/// A place and how fast it moves with the coordinate that it was made of.
struct Moved {
    place: Tensor,
    speed: Tensor,
}

fn add(tensor: &Tensor, number: f64) -> Result<Tensor> {
    binary(api::SCONCE_BINARY_ADD, tensor, Operand::Number(number))
}

fn scaled(tensor: &Tensor, by: f64) -> Result<Tensor> {
    binary(api::SCONCE_BINARY_MUL, tensor, Operand::Number(by))
}

fn less(first: &Tensor, second: &Tensor) -> Result<Tensor> {
    binary(api::SCONCE_BINARY_SUB, first, Operand::Tensor(second))
}

impl ImageAxis {
    /// The elements that are read at these coordinates, from -1 to 1.
    pub(super) fn taps(self, coordinates: &Tensor) -> Result<Vec<Tap>> {
        let size = self.size as f64;
        let (factor, shift) =
            if self.align_corners { ((size - 1.0) / 2.0, 0.0) } else { (size / 2.0, -0.5) };
        let place = add(&scaled(&add(coordinates, 1.0)?, factor)?, shift)?;
        match self.interpolation {
            Interpolation::Nearest => {
                let place = unary(api::SCONCE_UNARY_ROUND, &self.padded(&place)?.place)?;
                let one = add(&scaled(&place, 0.0)?, 1.0)?;
                let zero = scaled(&one, 0.0)?;
                Ok(vec![self.tap(&place, &one, &zero)?])
            }
            Interpolation::Linear => {
                let Moved { place, speed } = self.padded(&place)?;
                let speed = scaled(&speed, factor)?;
                let first = unary(api::SCONCE_UNARY_FLOOR, &place)?;
                let part = less(&place, &first)?;
                let rest = add(&scaled(&part, -1.0)?, 1.0)?;
                Ok(vec![
                    self.tap(&first, &rest, &scaled(&speed, -1.0)?)?,
                    self.tap(&add(&first, 1.0)?, &part, &speed)?,
                ])
            }
            Interpolation::Cubic => {
                let first = unary(api::SCONCE_UNARY_FLOOR, &place)?;
                let part = less(&place, &first)?;
                let mut taps = Vec::new();
                for number in -1..=2 {
                    let place = self.padded(&add(&first, f64::from(number))?)?.place;
                    // The distance of the element, and its sign.
                    let distance = add(&part, -f64::from(number))?;
                    let (weight, slope) = cubic(&distance, number)?;
                    taps.push(self.tap(&place, &weight, &scaled(&slope, factor)?)?);
                }
                Ok(taps)
            }
        }
    }

    /// The place that a place outside stands for.
    fn padded(self, place: &Tensor) -> Result<Moved> {
        let still = scaled(place, 0.0)?;
        let moves = add(&still, 1.0)?;
        let same = || Tensor::retained(place.handle());
        match self.padding {
            Padding::Zeros => Ok(Moved { place: same()?, speed: moves }),
            Padding::Border => self.clipped(Moved { place: same()?, speed: moves }),
            Padding::Reflection => {
                let size = self.size as f64;
                let (low, span) = if self.align_corners { (0.0, size - 1.0) } else { (-0.5, size) };
                if span == 0.0 {
                    return Ok(Moved { place: scaled(&moves, 0.0)?, speed: still });
                }
                let shifted = add(place, -low)?;
                let is_before = binary(api::SCONCE_BINARY_LT, &shifted, Operand::Number(0.0))?;
                let distance = unary(api::SCONCE_UNARY_ABS, &shifted)?;
                let flips = unary(
                    api::SCONCE_UNARY_FLOOR,
                    &binary(api::SCONCE_BINARY_DIV, &distance, Operand::Number(span))?,
                )?;
                let rest = binary(api::SCONCE_BINARY_REMAINDER, &distance, Operand::Number(span))?;
                let odd = binary(api::SCONCE_BINARY_REMAINDER, &flips, Operand::Number(2.0))?;
                let is_odd = binary(api::SCONCE_BINARY_NE, &odd, Operand::Number(0.0))?;
                let back = add(&scaled(&rest, -1.0)?, span)?;
                let place = choose(&is_odd, Operand::Tensor(&back), Operand::Tensor(&rest))?;
                let turns =
                    binary(api::SCONCE_BINARY_LOGICAL_XOR, &is_before, Operand::Tensor(&is_odd))?;
                let speed = choose(
                    &turns,
                    Operand::Tensor(&scaled(&moves, -1.0)?),
                    Operand::Tensor(&moves),
                )?;
                self.clipped(Moved { place: add(&place, low)?, speed })
            }
        }
    }

    /// Places beyond an edge become the edge, and do not move. So do those at the edge itself.
    fn clipped(self, moved: Moved) -> Result<Moved> {
        let last = (self.size - 1) as f64;
        let bounded = binary(api::SCONCE_BINARY_MAXIMUM, &moved.place, Operand::Number(0.0))?;
        let bounded = binary(api::SCONCE_BINARY_MINIMUM, &bounded, Operand::Number(last))?;
        let is_behind = binary(api::SCONCE_BINARY_GT, &moved.place, Operand::Number(0.0))?;
        let is_before = binary(api::SCONCE_BINARY_LT, &moved.place, Operand::Number(last))?;
        let moves =
            binary(api::SCONCE_BINARY_LOGICAL_AND, &is_behind, Operand::Tensor(&is_before))?;
        let speed = choose(&moves, Operand::Tensor(&moved.speed), Operand::Number(0.0))?;
        Ok(Moved { place: bounded, speed })
    }

    fn tap(self, place: &Tensor, weight: &Tensor, slope: &Tensor) -> Result<Tap> {
        let last = (self.size - 1) as f64;
        let bounded = binary(api::SCONCE_BINARY_MAXIMUM, place, Operand::Number(0.0))?;
        let bounded = binary(api::SCONCE_BINARY_MINIMUM, &bounded, Operand::Number(last))?;
        // A place that is no number equals nothing.
        let is_inside = binary(api::SCONCE_BINARY_EQ, &bounded, Operand::Tensor(place))?;
        let inside =
            |tensor: &Tensor| choose(&is_inside, Operand::Tensor(tensor), Operand::Number(0.0));
        let place = to_dtype(inside(place)?.handle(), api::SCONCE_DTYPE_I64)?;
        Ok(Tap { place, weight: inside(weight)?, slope: inside(slope)? })
    }
}

/// The share of an element at a signed distance, and its slope. Elements -1 and 2 are the farther ones.
fn cubic(distance: &Tensor, number: i32) -> Result<(Tensor, Tensor)> {
    let from = unary(api::SCONCE_UNARY_ABS, distance)?;
    let factors = if (0..=1).contains(&number) { CUBIC_NEAR } else { CUBIC_FAR };
    let [third, second, first, _] = factors;
    let slope = polynomial(&from, [0.0, 3.0 * third, 2.0 * second, first])?;
    // Elements before the place move away from it.
    let sign = if number <= 0 { 1.0 } else { -1.0 };
    Ok((polynomial(&from, factors)?, scaled(&slope, sign)?))
}
