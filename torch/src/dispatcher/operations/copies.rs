//! Copies, other types and devices, tensors joined, and elements in another order.

#![allow(unsafe_code, reason = "calls libsconce.so")]

use crate::abi::copies::cloned;
use crate::abi::tensors::{device_of_tensor, dtype_of_tensor, sizes_of};
use crate::dispatcher::arguments::Arguments;
use crate::dispatcher::results::{Function, Results, changed, made, one};
use crate::error::{Error, Result};
use crate::registry::value::Value;
use crate::sconce::tensor::TensorHandle;
use crate::sconce::values::{integer, options};
use crate::sconce::{Tensor, api, check, operations};

/// What this file offers.
pub const OPERATIONS: &[(&str, Function)] = &[
    ("copy_(Tensor(a!) self, Tensor src, bool non_blocking=False) -> Tensor(a!)", copy_),
    ("zero_(Tensor(a!) self) -> Tensor(a!)", zero_),
    (
        "contiguous(Tensor(a) self, *, MemoryFormat memory_format=contiguous_format) -> Tensor(a)",
        contiguous,
    ),
    ("clone(Tensor self, *, MemoryFormat? memory_format=None) -> Tensor", clone),
    (
        "to.dtype(Tensor(a) self, ScalarType dtype, bool non_blocking=False, bool copy=False, MemoryFormat? \
         memory_format=None) -> Tensor(a)",
        to_dtype,
    ),
    (
        "to.device(Tensor(a) self, Device device, ScalarType dtype, bool non_blocking=False, bool copy=False, \
         MemoryFormat? memory_format=None) -> Tensor(a)",
        to_device,
    ),
    (
        "to.dtype_layout(Tensor(a) self, *, OPTIONS, bool non_blocking=False, bool copy=False, MemoryFormat? \
         memory_format=None) -> Tensor(a)",
        to_dtype_layout,
    ),
    (
        "to.other(Tensor(a) self, Tensor other, bool non_blocking=False, bool copy=False, MemoryFormat? \
         memory_format=None) -> Tensor(a)",
        to_other,
    ),
    ("is_pinned(Tensor self, Device? device=None) -> bool", is_pinned),
    ("pin_memory(Tensor(a) self, Device? device=None) -> Tensor(a)", pin_memory),
    ("cat(Tensor[] tensors, int dim=0) -> Tensor", cat),
    ("stack(Tensor[] tensors, int dim=0) -> Tensor", stack),
    ("repeat(Tensor self, SymInt[] repeats) -> Tensor", repeat),
    ("flip(Tensor self, int[] dims) -> Tensor", flip),
    // What the compiler makes of `flip` and of conversions, and leaves to these names for complex numbers.
    ("prims::rev(Tensor a, int[] dims) -> Tensor", flip),
    ("prims::convert_element_type(Tensor a, ScalarType dtype) -> Tensor", |arguments| {
        let (tensor, dtype) = (arguments.tensor(0)?, arguments.dtype(1)?);
        let converted = operations::to_dtype(tensor, dtype)?;
        one(if converted.handle() == tensor { cloned(tensor) } else { Ok(converted) })
    }),
    ("roll(Tensor self, SymInt[1] shifts, int[1] dims=[]) -> Tensor", roll),
    ("rot90(Tensor self, int k=1, int[] dims=[0,1]) -> Tensor", rot90),
];

/// `copy_(self, src, non_blocking)`
fn copy_(arguments: &mut Arguments) -> Results {
    let (tensor, source) = (arguments.tensor(0)?, arguments.tensor(1)?);
    check(api::sconce_tensor_copy(tensor, source, arguments.flag(2)?))?;
    changed(arguments)
}

/// `zero_(self)`
fn zero_(arguments: &mut Arguments) -> Results {
    operations::fill(arguments.tensor(0)?, &integer(0))?;
    changed(arguments)
}

/// `contiguous(self, memory_format)`
fn contiguous(arguments: &mut Arguments) -> Results {
    let tensor = arguments.tensor(0)?;
    let format = arguments.memory_format(1, api::SCONCE_MEMORY_FORMAT_CONTIGUOUS)?;
    made(|made| api::sconce_tensor_contiguous(tensor, format, made))
}

/// `clone(self, memory_format)`
fn clone(arguments: &mut Arguments) -> Results {
    let tensor = arguments.tensor(0)?;
    let format = arguments.memory_format(1, api::SCONCE_MEMORY_FORMAT_PRESERVE)?;
    made(|made| api::sconce_tensor_clone(tensor, format, made))
}

/// A tensor with another type, device or order; `at` is where `non_blocking` is.
fn to(arguments: &Arguments, dtype: i32, device: i32, at: usize) -> Results {
    let tensor = arguments.tensor(0)?;
    let mut options = options(dtype, device);
    options.memory_format = arguments.memory_format(at + 2, api::SCONCE_MEMORY_FORMAT_PRESERVE)?;
    let (non_blocking, copy) = (arguments.flag(at)?, arguments.flag(at + 1)?);
    // SAFETY: the place is valid for a write.
    made(|made| unsafe { api::sconce_tensor_to(tensor, &options, non_blocking, copy, made) })
}

/// `to.dtype(self, dtype, non_blocking, copy, memory_format)`
fn to_dtype(arguments: &mut Arguments) -> Results {
    to(arguments, arguments.dtype(1)?, device_of_tensor(arguments.tensor(0)?)?, 2)
}

/// `to.device(self, device, dtype, non_blocking, copy, memory_format)`
fn to_device(arguments: &mut Arguments) -> Results {
    let device = arguments.device(1, device_of_tensor(arguments.tensor(0)?)?)?;
    to(arguments, arguments.dtype(2)?, device, 3)
}

/// `to.dtype_layout(self, dtype, layout, device, pin_memory, non_blocking, copy, memory_format)`
fn to_dtype_layout(arguments: &mut Arguments) -> Results {
    let wanted = arguments.options(1, device_of_tensor(arguments.tensor(0)?)?)?;
    if wanted.pinned {
        return Err(Error::not_supported("pin_memory is not offered here; call aten::pin_memory"));
    }
    to(arguments, wanted.dtype, wanted.device, 5)
}

/// `is_pinned(self, device)`
fn is_pinned(arguments: &mut Arguments) -> Results {
    let mut pinned = false;
    check(api::sconce_tensor_is_pinned(arguments.tensor(0)?, &mut pinned))?;
    Ok(vec![Value::Bool(pinned)])
}

/// `to.other(self, other, non_blocking, copy, memory_format)`
fn to_other(arguments: &mut Arguments) -> Results {
    let other = arguments.tensor(1)?;
    to(arguments, dtype_of_tensor(other)?, device_of_tensor(other)?, 2)
}

/// `pin_memory(self, device)`
fn pin_memory(arguments: &mut Arguments) -> Results {
    let tensor = arguments.tensor(0)?;
    made(|made| api::sconce_tensor_pin_memory(tensor, made))
}

/// `cat(tensors, dim)`
fn cat(arguments: &mut Arguments) -> Results {
    one(operations::cat(&arguments.tensors(0)?, arguments.int(1)?))
}

/// `stack(tensors, dim)`
fn stack(arguments: &mut Arguments) -> Results {
    let (tensors, dim) = (arguments.tensors(0)?, arguments.int(1)?);
    // SAFETY: there are as many tensors; the place is valid for a write.
    made(|made| unsafe { api::sconce_tensor_stack(tensors.as_ptr(), tensors.len(), dim, made) })
}

/// `repeat(self, repeats)`
fn repeat(arguments: &mut Arguments) -> Results {
    let (tensor, repeats) = (arguments.tensor(0)?, arguments.ints(1)?);
    let sizes = sizes_of(tensor)?;
    let Some(new) = repeats.len().checked_sub(sizes.len()) else {
        return Err(Error::invalid_argument(format!(
            "repeats has {} entries; the tensor has {} dimensions, and each needs one",
            repeats.len(),
            sizes.len()
        )));
    };
    // Each dimension becomes two: the repeats, of stride 0, and its elements.
    let (mut apart, mut spread, mut whole) = (Vec::new(), Vec::new(), Vec::new());
    for (at, &count) in repeats.iter().enumerate() {
        if count < 0 {
            return Err(Error::invalid_argument(format!("repeats[{at}] is {count}")));
        }
        let size = at.checked_sub(new).map_or(1, |at| sizes[at]);
        apart.extend([1, size]);
        spread.extend([count, size]);
        whole.push(count.checked_mul(size).ok_or_else(|| {
            Error::invalid_argument(format!("repeats[{at}] is {count}, which is too large"))
        })?);
    }
    let apart = operations::reshape(tensor, &apart)?;
    let spread = operations::expand(apart.handle(), &spread)?;
    // A copy, as the result must not share the tensor's memory.
    let copied = operations::contiguous_copy(spread.handle())?;
    one(operations::reshape(copied.handle(), &whole))
}

/// The dimensions with negative ones counted from the end; none twice.
fn distinct_dims(dims: &[i64], rank: usize) -> Result<Vec<i64>> {
    let mut found: Vec<i64> = Vec::with_capacity(dims.len());
    for &dim in dims {
        let place = operations::dim_in(dim, rank)?;
        if found.contains(&place) {
            return Err(Error::invalid_argument(format!("dimension {dim} is named twice")));
        }
        found.push(place);
    }
    Ok(found)
}

/// `flip(self, dims)`
fn flip(arguments: &mut Arguments) -> Results {
    let (tensor, dims) = (arguments.tensor(0)?, arguments.ints(1)?);
    let sizes = sizes_of(tensor)?;
    let mut result = operations::contiguous_copy(tensor)?;
    for dim in distinct_dims(&dims, sizes.len())? {
        result = operations::flip(result.handle(), dim)?;
    }
    one(Ok(result))
}

fn rolled(tensor: TensorHandle, shift: i64, dim: i64) -> Result<Tensor> {
    let size = usize::try_from(dim).ok().and_then(|dim| Some(*sizes_of(tensor).ok()?.get(dim)?));
    let size = size.unwrap_or_default();
    if size < 2 || shift.rem_euclid(size) == 0 {
        return operations::contiguous_copy(tensor);
    }
    let cut = size - shift.rem_euclid(size);
    let (front, back) = (
        operations::narrow(tensor, dim, cut, size - cut)?,
        operations::narrow(tensor, dim, 0, cut)?,
    );
    operations::cat(&[front.handle(), back.handle()], dim)
}

/// `roll(self, shifts, dims)`
fn roll(arguments: &mut Arguments) -> Results {
    let (tensor, shifts, dims) = (arguments.tensor(0)?, arguments.ints(1)?, arguments.ints(2)?);
    let sizes = sizes_of(tensor)?;
    if dims.is_empty() && shifts.len() == 1 {
        let flat = operations::reshape(tensor, &[-1])?;
        let rolled = rolled(flat.handle(), shifts[0], 0)?;
        return one(operations::reshape(rolled.handle(), &sizes));
    }
    if shifts.is_empty() || shifts.len() != dims.len() {
        return Err(Error::invalid_argument(format!(
            "shifts has {} entries and dims {}; there must be as many",
            shifts.len(),
            dims.len()
        )));
    }
    let mut result = operations::contiguous_copy(tensor)?;
    for (&shift, &dim) in shifts.iter().zip(&dims) {
        result = rolled(result.handle(), shift, operations::dim_in(dim, sizes.len())?)?;
    }
    one(Ok(result))
}

/// `rot90(self, k, dims)`: quarter turns from the first dimension towards the second.
fn rot90(arguments: &mut Arguments) -> Results {
    let (tensor, turns, dims) = (arguments.tensor(0)?, arguments.int(1)?, arguments.ints(2)?);
    let found = distinct_dims(&dims, sizes_of(tensor)?.len())?;
    let &[first, second] = found.as_slice() else {
        return Err(Error::invalid_argument(format!(
            "dims has {} entries; a turn is in a plane of 2 dimensions",
            dims.len()
        )));
    };
    let turned = match turns.rem_euclid(4) {
        0 => operations::contiguous_copy(tensor),
        1 => {
            let flipped = operations::flip(tensor, second)?;
            let turned = operations::transpose(flipped.handle(), first, second)?;
            operations::contiguous_copy(turned.handle())
        }
        2 => {
            let flipped = operations::flip(tensor, first)?;
            operations::flip(flipped.handle(), second)
        }
        _ => {
            let flipped = operations::flip(tensor, first)?;
            let turned = operations::transpose(flipped.handle(), first, second)?;
            operations::contiguous_copy(turned.handle())
        }
    };
    one(turned)
}
