//! Which of the sides go through packed temporaries, and what the plan is then.

use std::hash::{Hash, Hasher};

use sconce_base::error::{Error, Result};
use sconce_driver::{FftKind, FftLayout, FftShape};
use sconce_runtime::operand::Operand;

use super::Transform;
use super::shape::{FftSide, FftSides, INPUT, OUTPUT};

/// A shape as the key of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct FftKey(pub(super) FftShape);

impl Hash for FftKey {
    /// What most shapes differ in. The rest is compared.
    #[inline]
    fn hash<H: Hasher>(&self, state: &mut H) {
        let FftShape { kind, element, rank, sizes, batch, input, output } = &self.0;
        state.write_u64((*kind as u64) << 16 | (*element as u64) << 8 | *rank as u64);
        state.write_u64(sizes[0] as u64 ^ (batch << 24) as u64);
        state.write_u64(sizes[1] as u64 ^ (sizes[2] << 24) as u64);
        state.write_u64(input.stride as u64 ^ (input.distance << 16) as u64);
        state.write_u64(output.stride as u64 ^ (output.distance << 16) as u64);
    }
}

/// How a batch of transforms is carried out.
#[derive(Clone, Copy, Debug)]
pub(super) struct FftRoute {
    pub(super) key: FftKey,
    /// What memory must be there.
    pub(super) operands: [Operand; 2],
    pub(super) in_place: bool,
    /// The input is copied into a temporary of this form.
    pub(super) input_through: Option<FftSide>,
    /// The output is copied from a temporary of this form.
    pub(super) output_through: Option<FftSide>,
}

impl FftRoute {
    /// The route of transforms between two addresses.
    pub(super) fn of(
        request: &Transform,
        sides: &FftSides,
        input: usize,
        output: usize,
    ) -> Result<FftRoute> {
        let FftSides { input: from, output: to } = sides;
        let operands = [from.operand(input, &INPUT)?, to.operand(output, &OUTPUT)?];
        let in_place = input == output && sides.have_one_layout(request);
        // Libraries use the real side as pairs, and C2R transforms what they do not keep.
        let in_pairs =
            |side: &FftSide, address| side.is_complex || address & (side.pair_bytes() - 1) == 0;
        let overwrites = request.kind == FftKind::C2R
            && !in_place
            && (!request.may_overwrite_input || from.overlap().is_some());
        let rank = request.rank;
        let (input, input_through) =
            told(from, rank, !overwrites && in_pairs(from, input)).ok_or_else(too_many)?;
        let (output, output_through) = told(to, rank, in_pairs(to, output)).ok_or_else(too_many)?;
        let mut sizes = [1; sconce_driver::MOST_FFT_RANK];
        sizes[..rank].copy_from_slice(&request.sizes[..rank]);
        let Transform { kind, element, batch, .. } = *request;
        let key = FftKey(FftShape { kind, element, rank, sizes, batch, input, output });
        Ok(FftRoute { key, operands, in_place, input_through, output_through })
    }
}

/// Refuses sides that share memory other than in place. To be called when the operands have been
/// found: that they are too long says more.
pub(super) fn check_overlap(
    route: &FftRoute,
    sides: &FftSides,
    [input, output]: [usize; 2],
) -> Result<()> {
    let [from, to] = [sides.input.footprint(input), sides.output.footprint(output)];
    if !route.in_place && from.meets(&to) {
        return Err(overlap(route.key.0.kind, input == output));
    }
    Ok(())
}

/// The layout of a side as the library takes it, and the temporary that the side goes through.
fn told(side: &FftSide, rank: usize, direct: bool) -> Option<(FftLayout, Option<FftSide>)> {
    if direct && let Some(layout) = side.layout(rank) {
        return Some((layout, None));
    }
    let packed = side.packed()?;
    Some((packed.layout(rank)?, Some(packed)))
}

impl FftSides {
    /// Whether each element of the output lies where one of the same transform's input lies, given
    /// that the first ones do.
    fn have_one_layout(&self, request: &Transform) -> bool {
        let last = request.rank;
        let (complex, real) = match request.kind {
            FftKind::R2C => (&self.output, &self.input),
            _ => (&self.input, &self.output),
        };
        let reals = if request.kind == FftKind::C2C { 1 } else { 2 };
        (0..=last).all(|axis| {
            let (one, two) = (complex.strides[axis], real.strides[axis]);
            match real.sizes[axis] {
                1 => true,
                _ if reals == 2 && axis == last => one == 1 && two == 1,
                _ => one.checked_mul(reals) == Some(two),
            }
        })
    }
}

#[cold]
fn overlap(kind: FftKind, in_place: bool) -> Error {
    let remedy = match (in_place, kind) {
        (false, _) => "give it memory of its own, or transform in place",
        (true, FftKind::C2C) => "in place both sides have the same strides",
        (true, _) => {
            "in place the innermost strides are 1, and the other strides of the real side twice \
             those of the complex side: rows of 2 * (n / 2 + 1) reals"
        }
    };
    Error::invalid_argument(format!("output lies over input; {remedy}"))
}

#[cold]
fn too_many() -> Error {
    Error::invalid_argument("desc.sizes and desc.batch make more elements than memory can hold")
}
