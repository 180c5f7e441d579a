//! Elements that indices or masks choose.

#![allow(unsafe_code, reason = "calls libsconce.so")]

use crate::abi::tensors::{device_of_tensor, dtype_of_tensor, numel_of, sizes_of};
use crate::dispatcher::arguments::Arguments;
use crate::dispatcher::results::{Function, Results, changed, made, one};
use crate::error::{Error, Result};
use crate::operations::{advanced_indexing, selected};
use crate::sconce::tensor::TensorHandle;
use crate::sconce::values::options;
use crate::sconce::{Tensor, api, check, operations};

/// What this file offers.
pub const OPERATIONS: &[(&str, Function)] = &[
    ("index_select(Tensor self, int dim, Tensor index) -> Tensor", index_select),
    (
        "embedding(Tensor weight, Tensor indices, SymInt padding_idx=-1, bool scale_grad_by_freq=False, bool \
         sparse=False) -> Tensor",
        embedding,
    ),
    ("_unsafe_index.Tensor(Tensor self, Tensor?[] indices) -> Tensor", index),
    ("index.Tensor(Tensor self, Tensor?[] indices) -> Tensor", index),
    (
        "index_put(Tensor self, Tensor?[] indices, Tensor values, bool accumulate=False) -> Tensor",
        |arguments| {
            let (tensor, values) = (arguments.tensor(0)?, arguments.tensor(2)?);
            let indices = arguments.optional_tensors(1)?;
            one(advanced_indexing::index_put(tensor, &indices, values, arguments.flag(3)?))
        },
    ),
    (
        "index_put_(Tensor(a!) self, Tensor?[] indices, Tensor values, bool accumulate=False) -> Tensor(a!)",
        |arguments| {
            let (tensor, values) = (arguments.tensor(0)?, arguments.tensor(2)?);
            let (indices, accumulate) = (arguments.optional_tensors(1)?, arguments.flag(3)?);
            advanced_indexing::index_put_out(tensor, tensor, &indices, values, accumulate)?;
            changed(arguments)
        },
    ),
    ("masked_select(Tensor self, Tensor mask) -> Tensor", masked_select),
    ("nonzero(Tensor self) -> Tensor", nonzero),
    (
        "index_fill_.int_Tensor(Tensor(a!) self, int dim, Tensor index, Tensor value) -> Tensor(a!)",
        index_fill_,
    ),
    (
        "repeat_interleave.self_int(Tensor self, SymInt repeats, int? dim=None, *, SymInt? output_size=None) -> Tensor",
        repeat_interleave_int,
    ),
    (
        "repeat_interleave.self_Tensor(Tensor self, Tensor repeats, int? dim=None, *, SymInt? output_size=None) -> \
         Tensor",
        repeat_interleave_tensor,
    ),
    (
        "repeat_interleave.Tensor(Tensor repeats, *, SymInt? output_size=None) -> Tensor",
        repeat_interleave_counts,
    ),
];

/// `embedding(weight, indices, …)`: the rows that indices select. The rest matters to the gradient alone.
fn embedding(arguments: &mut Arguments) -> Results {
    let (weight, indices) = (arguments.tensor(0)?, arguments.tensor(1)?);
    let sizes = sizes_of(weight)?;
    let [_, columns] = sizes[..] else {
        return Err(Error::invalid_argument(format!(
            "'weight' must be 2-D, but has the sizes {sizes:?}"
        )));
    };
    let flat = operations::reshape(indices, &[-1])?;
    let rows = operations::index_select(weight, 0, flat.handle())?;
    let whole = [&sizes_of(indices)?[..], &[columns]].concat();
    one(operations::reshape(rows.handle(), &whole))
}

/// `index_select(self, dim, index)`
fn index_select(arguments: &mut Arguments) -> Results {
    let (tensor, dim, index) = (arguments.tensor(0)?, arguments.int(1)?, arguments.tensor(2)?);
    made(|made| api::sconce_tensor_index_select(tensor, dim, index, made))
}

/// The elements at indices of some dimensions.
fn index(arguments: &mut Arguments) -> Results {
    one(advanced_indexing::index(arguments.tensor(0)?, &arguments.optional_tensors(1)?))
}

/// `masked_select(self, mask)`: the host waits for the mask, as in torch, since it decides the result's size.
fn masked_select(arguments: &mut Arguments) -> Results {
    one(selected::masked_select(arguments.tensor(0)?, arguments.tensor(1)?))
}

/// `nonzero(self)`: the host waits for the tensor, as in torch, since it decides the result's size.
fn nonzero(arguments: &mut Arguments) -> Results {
    one(selected::nonzero(arguments.tensor(0)?))
}

/// `index_fill_.int_Tensor(self, dim, index, value)`
fn index_fill_(arguments: &mut Arguments) -> Results {
    let (tensor, index, value) = (arguments.tensor(0)?, arguments.tensor(2)?, arguments.tensor(3)?);
    let sizes = sizes_of(tensor)?;
    let dim = operations::dim_in(arguments.int(1)?, sizes.len())?;
    if !sizes_of(value)?.is_empty() {
        return Err(Error::invalid_argument("value must be a tensor without dimensions"));
    }
    if sizes_of(index)?.len() > 1 {
        return Err(Error::invalid_argument("index must be a vector"));
    }
    let index = operations::reshape(index, &[-1])?;
    let (at, size) = (dim as usize, sizes.get(dim as usize).copied().unwrap_or(1));
    let chosen = read_integers(index.handle(), "index")?;
    let mut mask = vec![0_u8; usize::try_from(size).unwrap_or_default()];
    for number in chosen {
        let place = if number < 0 { number + size } else { number };
        let element = usize::try_from(place).ok().and_then(|place| mask.get_mut(place));
        *element.ok_or_else(|| {
            Error::invalid_argument(format!(
                "index {number} is out of range of the {size} of dimension {dim}"
            ))
        })? = 1;
    }
    let of_device = options(api::SCONCE_DTYPE_BOOL, device_of_tensor(tensor)?);
    let mask = operations::from_values(&mask, &of_device)?;
    // The mask lies along its dimension and is repeated along the others.
    let mut shape = vec![1; sizes.len()];
    if let Some(place) = shape.get_mut(at) {
        *place = size;
    }
    let mask = operations::reshape(mask.handle(), &shape)?;
    let value = operations::to_dtype(value, dtype_of_tensor(tensor)?)?;
    let filled = Tensor::made(|made| {
        api::sconce_tensor_where(mask.handle(), value.handle(), None, tensor, None, made)
    })?;
    operations::copy(&Tensor::retained(tensor)?, filled.handle())?;
    changed(arguments)
}

/// The integers of a vector, for which the host waits.
fn read_integers(tensor: TensorHandle, name: &str) -> Result<Vec<i64>> {
    if ![api::SCONCE_DTYPE_I64, api::SCONCE_DTYPE_I32].contains(&dtype_of_tensor(tensor)?) {
        return Err(Error::invalid_argument(format!("{name} must have int64 or int32 elements")));
    }
    let wide = operations::to_dtype(tensor, api::SCONCE_DTYPE_I64)?;
    let mut values = vec![0_i64; usize::try_from(numel_of(tensor)?).unwrap_or_default()];
    // SAFETY: the buffer has the bytes of the elements.
    check(unsafe {
        let bytes = size_of_val(values.as_slice());
        api::sconce_tensor_to_values(wide.handle(), values.as_mut_ptr().cast(), bytes)
    })?;
    Ok(values)
}

/// The tensor and the dimension along which elements repeat: all elements in a row without one.
fn along(arguments: &Arguments, at: usize) -> Result<(Tensor, i64)> {
    let tensor = arguments.tensor(0)?;
    match arguments.optional_int(at)? {
        Some(dim) if !sizes_of(tensor)?.is_empty() => {
            Ok((Tensor::retained(tensor)?, operations::dim_in(dim, sizes_of(tensor)?.len())?))
        }
        _ => Ok((operations::reshape(tensor, &[-1])?, 0)),
    }
}

/// Checks what the caller says of the result's size, if it does.
fn check_output_size(arguments: &Arguments, at: usize, size: i64) -> Result<()> {
    match arguments.optional_int(at)? {
        Some(wanted) if wanted != size => Err(Error::invalid_argument(format!(
            "output_size is {wanted}, but the repeats add up to {size}"
        ))),
        _ => Ok(()),
    }
}

/// `repeat_interleave.self_int(self, repeats, dim, output_size)`
fn repeat_interleave_int(arguments: &mut Arguments) -> Results {
    let repeats = arguments.int(1)?;
    if repeats < 0 {
        return Err(Error::invalid_argument(format!(
            "repeats is {repeats}, but must not be negative"
        )));
    }
    let (tensor, dim) = along(arguments, 2)?;
    let mut sizes = sizes_of(tensor.handle())?;
    let at = dim as usize;
    let whole = sizes[at].checked_mul(repeats).ok_or_else(|| {
        Error::invalid_argument(format!("repeats is {repeats}, which is too large"))
    })?;
    check_output_size(arguments, 3, whole)?;
    let apart = operations::unsqueeze(tensor.handle(), dim + 1)?;
    sizes.insert(at + 1, repeats);
    let spread = operations::expand(apart.handle(), &sizes)?;
    let copied = operations::contiguous_copy(spread.handle())?;
    sizes.remove(at + 1);
    sizes[at] = whole;
    one(operations::reshape(copied.handle(), &sizes))
}

/// Each position as often as its count says. The host waits for the counts, as in torch, since they decide the size.
fn positions(repeats: TensorHandle) -> Result<(Tensor, i64)> {
    if sizes_of(repeats)?.len() > 1 {
        return Err(Error::invalid_argument("repeats must be a vector"));
    }
    let counts = read_integers(repeats, "repeats")?;
    let mut positions: Vec<i64> = Vec::new();
    for (position, &count) in (0..).zip(&counts) {
        let count = usize::try_from(count).map_err(|_| {
            Error::invalid_argument(format!(
                "repeats[{position}] is {count}, but must not be negative"
            ))
        })?;
        positions.try_reserve(count).map_err(|_| {
            Error::invalid_argument(format!("repeats[{position}] is {count}, which is too large"))
        })?;
        positions.extend(std::iter::repeat_n(position, count));
    }
    let of_device = options(api::SCONCE_DTYPE_I64, device_of_tensor(repeats)?);
    Ok((operations::from_values(&positions, &of_device)?, positions.len() as i64))
}

/// `repeat_interleave.self_Tensor(self, repeats, dim, output_size)`
fn repeat_interleave_tensor(arguments: &mut Arguments) -> Results {
    let (tensor, dim) = along(arguments, 2)?;
    let length = sizes_of(tensor.handle())?[dim as usize];
    let repeats = arguments.tensor(1)?;
    let repeats = match numel_of(repeats)? {
        1 => operations::expand(operations::reshape(repeats, &[1])?.handle(), &[length])?,
        _ => Tensor::retained(repeats)?,
    };
    if numel_of(repeats.handle())? != length {
        return Err(Error::invalid_argument(format!(
            "repeats has {} entries; dimension {dim} has {length}",
            numel_of(repeats.handle())?
        )));
    }
    let (positions, size) = positions(repeats.handle())?;
    check_output_size(arguments, 3, size)?;
    one(operations::index_select(tensor.handle(), dim, positions.handle()))
}

/// `repeat_interleave.Tensor(repeats, output_size)`
fn repeat_interleave_counts(arguments: &mut Arguments) -> Results {
    let (positions, size) = positions(arguments.tensor(0)?)?;
    check_output_size(arguments, 1, size)?;
    one(Ok(positions))
}
