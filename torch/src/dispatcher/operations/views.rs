//! Views: tensors that share the memory of another.

#![allow(unsafe_code, reason = "calls libsconce.so")]

use crate::abi::handles::another_handle;
use crate::abi::tensors::{sizes_of, strides_of};
use crate::dispatcher::arguments::Arguments;
use crate::dispatcher::results::{Function, Results, changed, made, one};
use crate::error::{Error, Result};
use crate::operations::layout::dimension;
use crate::registry::value::Value;
use crate::sconce::tensor::TensorHandle;
use crate::sconce::{Tensor, api, check, operations};

/// What this file offers.
pub const OPERATIONS: &[(&str, Function)] = &[
    ("view(Tensor(a) self, SymInt[] size) -> Tensor(a)", view),
    ("reshape(Tensor(a) self, SymInt[] shape) -> Tensor(a)", reshape),
    ("permute(Tensor(a) self, int[] dims) -> Tensor(a)", permute),
    ("expand(Tensor(a) self, SymInt[] size, *, bool implicit=False) -> Tensor(a)", expand),
    ("transpose.int(Tensor(a) self, int dim0, int dim1) -> Tensor(a)", transpose),
    ("select.int(Tensor(a) self, int dim, SymInt index) -> Tensor(a)", select),
    ("flatten.using_ints(Tensor(a) self, int start_dim=0, int end_dim=-1) -> Tensor(a)", flatten),
    ("squeeze(Tensor(a) self) -> Tensor(a)", squeeze),
    ("squeeze.dim(Tensor(a) self, int dim) -> Tensor(a)", squeeze_dim),
    ("squeeze.dims(Tensor(a) self, int[] dim) -> Tensor(a)", squeeze_dims),
    ("unsqueeze(Tensor(a) self, int dim) -> Tensor(a)", unsqueeze),
    (
        "slice.Tensor(Tensor(a) self, int dim=0, SymInt? start=None, SymInt? end=None, SymInt step=1) -> Tensor(a)",
        slice,
    ),
    ("narrow(Tensor(a) self, int dim, SymInt start, SymInt length) -> Tensor(a)", narrow),
    ("unfold(Tensor(a) self, int dimension, int size, int step) -> Tensor(a)", unfold),
    ("t(Tensor(a) self) -> Tensor(a)", t),
    ("alias(Tensor(a) self) -> Tensor(a)", same),
    ("detach(Tensor(a) self) -> Tensor(a)", same),
    ("expand_as(Tensor(a) self, Tensor other) -> Tensor(a)", expand_as),
    ("view_as(Tensor(a) self, Tensor other) -> Tensor(a)", view_as),
    ("diagonal(Tensor(a) self, int offset=0, int dim1=0, int dim2=1) -> Tensor(a)", diagonal),
    ("unflatten.int(Tensor(a) self, int dim, SymInt[] sizes) -> Tensor(a)", unflatten),
    ("unbind.int(Tensor(a -> *) self, int dim=0) -> Tensor(a)[]", unbind),
    ("split.Tensor(Tensor(a -> *) self, SymInt split_size, int dim=0) -> Tensor(a)[]", split),
    (
        "split_with_sizes(Tensor(a -> *) self, SymInt[] split_sizes, int dim=0) -> Tensor(a)[]",
        split_with_sizes,
    ),
    ("chunk(Tensor(a -> *) self, int chunks, int dim=0) -> Tensor(a)[]", chunk),
    (
        "resize_(Tensor(a!) self, SymInt[] size, *, MemoryFormat? memory_format=None) -> Tensor(a!)",
        resize_,
    ),
];

/// `unfold(self, dimension, size, step)`: windows of a dimension as a new last one.
fn unfold(arguments: &mut Arguments) -> Results {
    let (tensor, size, step) = (arguments.tensor(0)?, arguments.int(2)?, arguments.int(3)?);
    let (mut sizes, mut strides) = (sizes_of(tensor)?, strides_of(tensor)?);
    let dim = dimension(arguments.int(1)?, sizes.len())?;
    let (length, stride) = match sizes.get(dim) {
        Some(&length) => (length, strides[dim]),
        None => (1, 1),
    };
    if size < 0 || size > length || step <= 0 {
        return Err(Error::invalid_argument(format!(
            "unfold: dimension {dim} has {length} elements, but size is {size} and step is {step}; size must be from 0 \
             to {length}, and step more than 0"
        )));
    }
    if let Some(place) = sizes.get_mut(dim) {
        *place = (length - size) / step + 1;
        strides[dim] = stride.saturating_mul(step);
    }
    sizes.push(size);
    strides.push(stride);
    one(operations::as_strided(tensor, &sizes, &strides, None))
}

/// Functions of libsconce.so that take a tensor and a list of integers.
macro_rules! by_list {
    ($($name:ident = $function:ident;)*) => {
        $(
            /// As the function of this name of torch: `(self, list)`.
            fn $name(arguments: &mut Arguments) -> Results {
                let (tensor, list) = (arguments.tensor(0)?, arguments.ints(1)?);
                // SAFETY: the list has as many entries; the place is valid for a write.
                made(|made| unsafe { api::$function(tensor, list.as_ptr(), list.len(), made) })
            }
        )*
    };
}

by_list! {
    view = sconce_tensor_view;
    reshape = sconce_tensor_reshape;
    permute = sconce_tensor_permute;
    expand = sconce_tensor_expand;
    squeeze_dims = sconce_tensor_squeeze;
}

/// Functions of libsconce.so that take a tensor and two integers.
macro_rules! by_two {
    ($($name:ident = $function:ident;)*) => {
        $(
            /// As the function of this name of torch: `(self, integer, integer)`.
            fn $name(arguments: &mut Arguments) -> Results {
                let (tensor, first, second) =
                    (arguments.tensor(0)?, arguments.int(1)?, arguments.int(2)?);
                made(|made| api::$function(tensor, first, second, made))
            }
        )*
    };
}

by_two! {
    transpose = sconce_tensor_transpose;
    select = sconce_tensor_select;
    flatten = sconce_tensor_flatten;
}

/// `squeeze(self)`
fn squeeze(arguments: &mut Arguments) -> Results {
    let tensor = arguments.tensor(0)?;
    // SAFETY: NULL stands for all dimensions; the place is valid for a write.
    made(|made| unsafe { api::sconce_tensor_squeeze(tensor, std::ptr::null(), 0, made) })
}

/// `squeeze.dim(self, dim)`
fn squeeze_dim(arguments: &mut Arguments) -> Results {
    let (tensor, dim) = (arguments.tensor(0)?, arguments.int(1)?);
    one(operations::squeeze(tensor, dim))
}

/// `unsqueeze(self, dim)`
fn unsqueeze(arguments: &mut Arguments) -> Results {
    let (tensor, dim) = (arguments.tensor(0)?, arguments.int(1)?);
    made(|made| api::sconce_tensor_unsqueeze(tensor, dim, made))
}

/// `slice(self, dim, start, end, step)`
fn slice(arguments: &mut Arguments) -> Results {
    let (tensor, dim, step) = (arguments.tensor(0)?, arguments.int(1)?, arguments.int(4)?);
    let (start, end) = (arguments.optional_int(2)?, arguments.optional_int(3)?);
    one(operations::slice(tensor, dim, start, end, step))
}

/// `narrow(self, dim, start, length)`
fn narrow(arguments: &mut Arguments) -> Results {
    let (tensor, dim) = (arguments.tensor(0)?, arguments.int(1)?);
    let (start, length) = (arguments.int(2)?, arguments.int(3)?);
    made(|made| api::sconce_tensor_narrow(tensor, dim, start, length, made))
}

/// `t(self)`
fn t(arguments: &mut Arguments) -> Results {
    let tensor = arguments.tensor(0)?;
    match sizes_of(tensor)?.len() {
        0 | 1 => same(arguments),
        2 => one(operations::transpose(tensor, 0, 1)),
        rank => Err(Error::invalid_argument(format!(
            "self must have at most 2 dimensions, but has {rank}; use transpose"
        ))),
    }
}

/// Another tensor over the same memory.
fn same(arguments: &mut Arguments) -> Results {
    one(another_handle(arguments.tensor(0)?))
}

/// `expand_as(self, other)`
fn expand_as(arguments: &mut Arguments) -> Results {
    one(operations::expand(arguments.tensor(0)?, &sizes_of(arguments.tensor(1)?)?))
}

/// `view_as(self, other)`
fn view_as(arguments: &mut Arguments) -> Results {
    let (tensor, sizes) = (arguments.tensor(0)?, sizes_of(arguments.tensor(1)?)?);
    // SAFETY: there are as many sizes; the place is valid for a write.
    made(|made| unsafe { api::sconce_tensor_view(tensor, sizes.as_ptr(), sizes.len(), made) })
}

/// `diagonal(self, offset, dim1, dim2)`
fn diagonal(arguments: &mut Arguments) -> Results {
    let (tensor, offset) = (arguments.tensor(0)?, arguments.int(1)?);
    let (first, second) = (arguments.int(2)?, arguments.int(3)?);
    made(|made| api::sconce_tensor_diagonal(tensor, offset, first, second, made))
}

/// `unflatten(self, dim, sizes)`
fn unflatten(arguments: &mut Arguments) -> Results {
    let (tensor, dim, sizes) = (arguments.tensor(0)?, arguments.int(1)?, arguments.ints(2)?);
    // SAFETY: there are as many sizes; the place is valid for a write.
    made(|made| unsafe {
        api::sconce_tensor_unflatten(tensor, dim, sizes.as_ptr(), sizes.len(), made)
    })
}

/// The length of a dimension, and at least 1: views along it are not more.
fn length_of(tensor: TensorHandle, dim: i64) -> Result<usize> {
    let sizes = sizes_of(tensor)?;
    let place = operations::dim_in(dim, sizes.len())? as usize;
    Ok(usize::try_from(sizes.get(place).copied().unwrap_or(1)).unwrap_or_default().max(1))
}

/// The list of at most `most` tensors that a function of libsconce.so writes.
fn list(most: usize, write: impl FnOnce(*mut TensorHandle, &mut usize) -> i32) -> Results {
    let (mut handles, mut count) = (vec![std::ptr::null_mut(); most], 0);
    check(write(handles.as_mut_ptr(), &mut count))?;
    handles.truncate(count);
    let values = handles.into_iter().map(|handle| Value::Tensor(Tensor::from_handle(handle)));
    Ok(vec![Value::List(values.collect())])
}

/// `unbind(self, dim)`
fn unbind(arguments: &mut Arguments) -> Results {
    let (tensor, dim) = (arguments.tensor(0)?, arguments.int(1)?);
    let most = length_of(tensor, dim)?;
    // SAFETY: the list has `most` entries.
    list(most, |made, count| unsafe { api::sconce_tensor_unbind(tensor, dim, made, most, count) })
}

/// `split(self, split_size, dim)`
fn split(arguments: &mut Arguments) -> Results {
    let (tensor, size, dim) = (arguments.tensor(0)?, arguments.int(1)?, arguments.int(2)?);
    let most = length_of(tensor, dim)?;
    // SAFETY: the list has `most` entries.
    list(most, |made, count| unsafe {
        api::sconce_tensor_split(tensor, size, dim, made, most, count)
    })
}

/// `split_with_sizes(self, split_sizes, dim)`
fn split_with_sizes(arguments: &mut Arguments) -> Results {
    let (tensor, sizes, dim) = (arguments.tensor(0)?, arguments.ints(1)?, arguments.int(2)?);
    let whole = sizes_of(tensor)?;
    let place = operations::dim_in(dim, whole.len())?;
    let length = whole.get(place as usize).copied().unwrap_or(1);
    if sizes.iter().try_fold(0_i64, |sum, &size| sum.checked_add(size)) != Some(length) {
        return Err(Error::invalid_argument(format!(
            "split_sizes is {sizes:?}, which does not add up to the {length} of dimension {dim}"
        )));
    }
    let mut start = 0;
    let part = |&size: &i64| {
        let part = operations::narrow(tensor, place, start, size)?;
        start += size;
        Ok(Value::Tensor(part))
    };
    let parts = sizes.iter().map(part).collect::<Result<_>>()?;
    Ok(vec![Value::List(parts)])
}

/// `chunk(self, chunks, dim)`
fn chunk(arguments: &mut Arguments) -> Results {
    let (tensor, chunks, dim) = (arguments.tensor(0)?, arguments.int(1)?, arguments.int(2)?);
    // A dimension without elements has as many parts as are asked for.
    let asked = usize::try_from(chunks).unwrap_or_default().min(1 << 20);
    let most = length_of(tensor, dim)?.max(asked);
    // SAFETY: the list has `most` entries.
    list(most, |made, count| unsafe {
        api::sconce_tensor_chunk(tensor, chunks, dim, made, most, count)
    })
}

/// `resize_(self, size, memory_format)`
fn resize_(arguments: &mut Arguments) -> Results {
    let (tensor, sizes) = (arguments.tensor(0)?, arguments.ints(1)?);
    if arguments.memory_format(2, api::SCONCE_MEMORY_FORMAT_CONTIGUOUS)?
        != api::SCONCE_MEMORY_FORMAT_CONTIGUOUS
    {
        return Err(Error::not_supported("tensors are resized in the contiguous format only"));
    }
    // SAFETY: there are as many sizes.
    check(unsafe { api::sconce_tensor_resize(tensor, sizes.as_ptr(), sizes.len()) })?;
    changed(arguments)
}
