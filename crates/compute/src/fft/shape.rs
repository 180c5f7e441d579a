//! From a caller's description to two sides that have been checked: bounds, defaults, extents.

use sconce_base::error::{Error, Result};
use sconce_base::strided::{ByteSpan, Footprint, StridedView, row_major};
use sconce_driver::{FftDirection, FftKind, MOST_FFT_RANK};
use sconce_runtime::operand::Operand;

use super::Transform;

/// The batch, then the dimensions from the outermost to the innermost.
pub(super) const AXES: usize = 1 + MOST_FFT_RANK;

/// Where the elements of one side lie. Axes past the rank have one element.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct FftSide {
    pub(super) sizes: [i64; AXES],
    /// In elements; of axes with one element they mean nothing.
    pub(super) strides: [i64; AXES],
    pub(super) is_complex: bool,
    /// Bytes of an element.
    pub(super) element: i64,
    span: ByteSpan,
}

/// How a side is called in messages.
pub(super) struct ArgumentNames {
    address: &'static str,
    strides: &'static str,
}

pub(super) const INPUT: ArgumentNames =
    ArgumentNames { address: "input", strides: "desc.in_strides" };
pub(super) const OUTPUT: ArgumentNames =
    ArgumentNames { address: "output", strides: "desc.out_strides" };

/// Both sides of a batch of transforms.
#[derive(Clone, Copy, Debug)]
pub(super) struct FftSides {
    pub(super) input: FftSide,
    pub(super) output: FftSide,
}

impl FftSides {
    /// Checks a description; `None` when there is nothing to do.
    pub(super) fn of(request: &Transform) -> Result<Option<FftSides>> {
        let Transform { kind, rank, sizes, batch, .. } = *request;
        check_direction(kind, request.direction)?;
        if !(1..=MOST_FFT_RANK).contains(&rank) {
            return Err(Error::invalid_argument(format!("desc.rank is {rank}; it must be 1 to 3")));
        }
        if let Some(axis) = sizes[..rank].iter().position(|size| *size < 1) {
            return Err(Error::invalid_argument(format!(
                "desc.sizes[{axis}] is {}; it must be at least 1",
                sizes[axis]
            )));
        }
        match batch {
            0 => return Ok(None),
            1.. => {}
            _ => {
                return Err(Error::invalid_argument(format!(
                    "desc.batch is {batch}; it must not be negative"
                )));
            }
        }
        let real = request.element.bytes() as i64;
        let side = |is_real: bool, strides, batch_stride, names| {
            let mut all = [1; AXES];
            all[0] = batch;
            all[1..=rank].copy_from_slice(&sizes[..rank]);
            if kind != FftKind::C2C && !is_real {
                all[rank] = all[rank] / 2 + 1;
            }
            let side = FftSide {
                sizes: all,
                strides: spread(batch_stride, strides, rank),
                is_complex: !is_real,
                element: if is_real { real } else { 2 * real },
                span: ByteSpan { low: 0, bytes: 0 },
            };
            side.measured(names)
        };
        let input =
            side(kind == FftKind::R2C, &request.in_strides, request.in_batch_stride, &INPUT)?;
        let output =
            side(kind == FftKind::C2R, &request.out_strides, request.out_batch_stride, &OUTPUT)?;
        if let Some(axis) = output.overlap() {
            return Err(overlaps(axis, output.strides[axis]));
        }
        Ok(Some(FftSides { input, output }))
    }
}

fn check_direction(kind: FftKind, direction: FftDirection) -> Result<()> {
    match (kind, direction) {
        (FftKind::R2C, FftDirection::Inverse) => Err(Error::invalid_argument(
            "desc.direction is SCONCE_FFT_INVERSE, but desc.kind SCONCE_FFT_R2C is forward only",
        )),
        (FftKind::C2R, FftDirection::Forward) => Err(Error::invalid_argument(
            "desc.direction is SCONCE_FFT_FORWARD, but desc.kind SCONCE_FFT_C2R is inverse only",
        )),
        _ => Ok(()),
    }
}

/// The strides of all axes as they were given.
fn spread(batch: i64, strides: &[i64; MOST_FFT_RANK], rank: usize) -> [i64; AXES] {
    let mut all = [0; AXES];
    all[0] = batch;
    all[1..=rank].copy_from_slice(&strides[..rank]);
    all
}

impl FftSide {
    /// With strides where none were given, and how far all of it reaches.
    fn measured(mut self, names: &ArgumentNames) -> Result<FftSide> {
        if self.strides == [0; AXES] {
            return self.packed().ok_or_else(|| too_large(names));
        }
        self.span = self.view().byte_span(self.element).ok_or_else(|| too_large(names))?;
        Ok(self)
    }

    fn view(&self) -> StridedView<'_> {
        StridedView::new(&self.sizes, &self.strides)
    }

    /// These elements, packed; `None` where there are more than memory could hold, which strides
    /// of 0 make possible.
    pub(super) fn packed(&self) -> Option<FftSide> {
        let (strides, elements) = row_major(&self.sizes)?;
        let bytes = elements.checked_mul(self.element)?;
        Some(FftSide { strides, span: ByteSpan { low: 0, bytes }, ..*self })
    }

    /// The bytes of a complex number of the side's type.
    pub(super) fn pair_bytes(&self) -> usize {
        (if self.is_complex { self.element } else { 2 * self.element }) as usize
    }

    /// How many bytes there are from the lowest to the highest.
    pub(super) fn bytes(&self) -> usize {
        self.span.bytes as usize
    }

    /// The lowest byte, where the element with the indices 0 is at `address`.
    fn lowest(&self, address: usize) -> Option<usize> {
        address.checked_add_signed(self.span.low as isize)
    }

    /// Whether no element lies below the one with the indices 0.
    pub(super) fn begins_at_its_address(&self) -> bool {
        self.span.low == 0
    }

    /// The side as memory that must be there.
    pub(super) fn operand(&self, address: usize, names: &ArgumentNames) -> Result<Operand> {
        let name = names.address;
        if address == 0 {
            return Err(Error::invalid_argument(format!("{name} is NULL")));
        }
        let lowest = self.lowest(address).filter(|lowest| *lowest != 0).ok_or_else(|| {
            Error::invalid_argument(format!(
                "{name} {address:#x} and {} reach below address 0",
                names.strides
            ))
        })?;
        Ok(Operand { name, address: lowest, bytes: self.bytes(), alignment: self.element as usize })
    }

    /// An axis whose elements lie over those of others, or between them.
    pub(super) fn overlap(&self) -> Option<usize> {
        self.view().overlap().map(|overlap| overlap.axis)
    }

    /// Where the elements lie, if the one with the indices 0 is at an address.
    pub(super) fn footprint(&self, address: usize) -> Footprint<'_> {
        let element = self.element as usize;
        Footprint { address, element, view: self.view() }
    }
}

#[cold]
fn too_large(names: &ArgumentNames) -> Error {
    Error::invalid_argument(format!(
        "desc.sizes, desc.batch and {} reach beyond the address space",
        names.strides
    ))
}

#[cold]
fn overlaps(axis: usize, stride: i64) -> Error {
    let name = match axis {
        0 => "desc.out_batch_stride".to_owned(),
        axis => format!("desc.out_strides[{}]", axis - 1),
    };
    Error::invalid_argument(format!(
        "{name} is {stride}, with which elements of the output overlap or interleave; each stride \
         must be at least what the axes with smaller strides span"
    ))
}
