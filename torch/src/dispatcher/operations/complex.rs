//! Complex numbers and their parts, and what compilers leave to such names for tensors of them, as they generate no code
//! for these.

use crate::abi::copies::cloned;
use crate::abi::tensors::{device_of_tensor, dtype_of_tensor, sizes_of};
use crate::dispatcher::arguments::Arguments;
use crate::dispatcher::results::{Function, Results, one};
use crate::error::{Error, Result};
use crate::operations::elementwise::{angle, complex, conjugate, is_infinite, polar, power_of_two};
use crate::operations::layout::sum_of;
use crate::operations::tensors::{copy_in_format, on_device};
use crate::operations::views::{as_complex, as_real, real_of};
use crate::sconce::operations;
use crate::sconce::{Tensor, api};

/// What this file offers.
pub const OPERATIONS: &[(&str, Function)] = &[
    ("complex(Tensor real, Tensor imag) -> Tensor", |arguments| {
        one(complex(arguments.tensor(0)?, arguments.tensor(1)?))
    }),
    ("polar(Tensor abs, Tensor angle) -> Tensor", |arguments| {
        one(polar(arguments.tensor(0)?, arguments.tensor(1)?))
    }),
    ("angle(Tensor self) -> Tensor", |arguments| one(angle(arguments.tensor(0)?))),
    ("isinf(Tensor self) -> Tensor", |arguments| one(is_infinite(arguments.tensor(0)?))),
    ("exp2(Tensor self) -> Tensor", |arguments| one(power_of_two(arguments.tensor(0)?))),
    ("view_as_real(Tensor(a) self) -> Tensor(a)", |arguments| one(as_real(arguments.tensor(0)?))),
    ("view_as_complex(Tensor(a) self) -> Tensor(a)", |arguments| {
        one(as_complex(arguments.tensor(0)?))
    }),
    // PyTorch marks a tensor as conjugate and reads its elements so; here they are.
    ("_conj(Tensor(a) self) -> Tensor(a)", conj),
    ("_conj_physical(Tensor self) -> Tensor", conj),
    ("conj_physical(Tensor self) -> Tensor", conj),
    ("_neg_view(Tensor(a) self) -> Tensor(a)", |arguments| {
        let tensor = Tensor::retained(arguments.tensor(0)?)?;
        one(operations::unary(api::SCONCE_UNARY_NEG, &tensor))
    }),
    ("real(Tensor(a) self) -> Tensor(a)", |arguments| one(part(arguments, 0))),
    ("imag(Tensor(a) self) -> Tensor(a)", |arguments| one(part(arguments, 1))),
    (
        "_to_copy(Tensor self, *, OPTIONS, bool non_blocking=False, MemoryFormat? memory_format=None) -> Tensor",
        to_copy,
    ),
    ("lift_fresh_copy(Tensor self) -> Tensor", |arguments| one(cloned(arguments.tensor(0)?))),
    (
        "as_strided(Tensor(a) self, SymInt[] size, SymInt[] stride, SymInt? storage_offset=None) -> Tensor(a)",
        |arguments| {
            let (sizes, strides) = (arguments.ints(1)?, arguments.ints(2)?);
            let offset = arguments.optional_int(3)?;
            one(operations::as_strided(arguments.tensor(0)?, &sizes, &strides, offset))
        },
    ),
    (
        "slice_scatter(Tensor self, Tensor src, int dim=0, SymInt? start=None, SymInt? end=None, SymInt step=1) -> Tensor",
        |arguments| {
            let made = cloned(arguments.tensor(0)?)?;
            let (start, end) = (arguments.optional_int(3)?, arguments.optional_int(4)?);
            let (dim, step) = (arguments.int(2)?, arguments.int(5)?);
            written(made, arguments, |made| operations::slice(made.handle(), dim, start, end, step))
        },
    ),
    ("select_scatter(Tensor self, Tensor src, int dim, SymInt index) -> Tensor", |arguments| {
        let made = cloned(arguments.tensor(0)?)?;
        let (dim, index) = (arguments.int(2)?, arguments.int(3)?);
        written(made, arguments, |made| operations::select(made.handle(), dim, index))
    }),
    ("constant_pad_nd(Tensor self, SymInt[] pad, Scalar value=0) -> Tensor", constant_pad),
    (
        "full_like(Tensor self, Scalar fill_value, *, OPTIONS, MemoryFormat? memory_format=None) -> Tensor",
        |arguments| {
            let tensor = arguments.tensor(0)?;
            let mut options = arguments.options(2, device_of_tensor(tensor)?)?;
            if options.dtype == api::SCONCE_DTYPE_DEFAULT {
                options.dtype = dtype_of_tensor(tensor)?;
            }
            one(operations::full(&sizes_of(tensor)?, &arguments.scalar(1)?, &options))
        },
    ),
    ("fill.Scalar(Tensor self, Scalar value) -> Tensor", |arguments| {
        let made = operations::empty_like(arguments.tensor(0)?, api::SCONCE_DTYPE_DEFAULT)?;
        operations::fill(made.handle(), &arguments.scalar(1)?)?;
        one(Ok(made))
    }),
    ("copy(Tensor self, Tensor src, bool non_blocking=False) -> Tensor", |arguments| {
        let made = operations::empty_like(arguments.tensor(0)?, api::SCONCE_DTYPE_DEFAULT)?;
        operations::copy(&made, arguments.tensor(1)?)?;
        one(Ok(made))
    }),
];

/// `_conj(self)`
fn conj(arguments: &mut Arguments) -> Results {
    one(conjugate(arguments.tensor(0)?))
}

/// A view of one part of complex numbers.
fn part(arguments: &Arguments, at: i64) -> Result<Tensor> {
    let tensor = arguments.tensor(0)?;
    if real_of(dtype_of_tensor(tensor)?).is_some() {
        return operations::select(as_real(tensor)?.handle(), -1, at);
    }
    if at == 0 {
        return Tensor::retained(tensor);
    }
    Err(Error::invalid_argument("imag is not implemented for tensors with non-complex dtypes."))
}

/// `_to_copy(self, …)`
fn to_copy(arguments: &mut Arguments) -> Results {
    let tensor = arguments.tensor(0)?;
    let options = arguments.options(1, device_of_tensor(tensor)?)?;
    let format = arguments.memory_format(6, api::SCONCE_MEMORY_FORMAT_PRESERVE)?;
    let moved = on_device(tensor, options.device)?;
    let dtype = match options.dtype {
        api::SCONCE_DTYPE_DEFAULT => dtype_of_tensor(tensor)?,
        dtype => dtype,
    };
    let changed = operations::to_dtype(moved.handle(), dtype)?;
    if changed.handle() == tensor || format != api::SCONCE_MEMORY_FORMAT_PRESERVE {
        return one(copy_in_format(changed.handle(), format));
    }
    one(Ok(changed))
}

/// A tensor of which a view was overwritten with the second argument.
fn written(
    made: Tensor,
    arguments: &Arguments,
    view: impl FnOnce(&Tensor) -> Result<Tensor>,
) -> Results {
    let place = view(&made)?;
    let (wanted, found) = (sizes_of(place.handle())?, sizes_of(arguments.tensor(1)?)?);
    if wanted != found {
        return Err(Error::invalid_argument(format!(
            "expected src to have a size equal to the part of self. src size = {found:?}, part size = {wanted:?}"
        )));
    }
    operations::copy(&place, arguments.tensor(1)?)?;
    one(Ok(made))
}

/// `constant_pad_nd(self, pad, value)`: zeros before and after dimensions, the last one first; a negative number cuts off.
fn constant_pad(arguments: &mut Arguments) -> Results {
    let (tensor, pads) = (arguments.tensor(0)?, arguments.ints(1)?);
    let sizes = sizes_of(tensor)?;
    if !pads.len().is_multiple_of(2) || pads.len() / 2 > sizes.len() {
        return Err(Error::invalid_argument(format!(
            "Length of pad must be even and at most twice the {} dimensions of the tensor, but pad is {pads:?}",
            sizes.len()
        )));
    }
    let mut wanted = sizes.clone();
    let mut source = Tensor::retained(tensor)?;
    let mut places = Vec::new();
    for (at, pad) in pads.chunks_exact(2).enumerate() {
        let dim = sizes.len() - 1 - at;
        let (before, after) = (pad[0], pad[1]);
        wanted[dim] = sum_of(sum_of(wanted[dim], before, "pad")?, after, "pad")?;
        if wanted[dim] < 0 {
            return Err(Error::invalid_argument(format!(
                "The input size {}, plus negative padding {before} and {after}, resulted in a negative output size, \
                 which is invalid. Check dimension {dim} of your input.",
                sizes[dim]
            )));
        }
        let [cut_before, cut_after] = [before, after].map(|added| added.saturating_neg().max(0));
        let kept = sizes[dim].saturating_sub(cut_before).saturating_sub(cut_after).max(0);
        source = operations::narrow(source.handle(), dim as i64, cut_before.min(sizes[dim]), kept)?;
        places.push((dim as i64, before.max(0), kept));
    }
    let mut options =
        crate::sconce::values::options(dtype_of_tensor(tensor)?, device_of_tensor(tensor)?);
    options.memory_format = crate::operations::tensors::format_of(tensor)?;
    let made = operations::full(&wanted, &arguments.scalar(2)?, &options)?;
    let mut place = Tensor::retained(made.handle())?;
    for (dim, begin, length) in places {
        place = operations::narrow(place.handle(), dim, begin, length)?;
    }
    operations::copy(&place, source.handle())?;
    one(Ok(made))
}
