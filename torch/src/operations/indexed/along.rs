//! One list of indices along one dimension.

#![allow(unsafe_code, reason = "reads and writes elements")]

use super::{Access, Combine, IndexList, Indexed, StridedOperand};
use crate::abi::copies::cloned;
use crate::abi::tensors::{data_of, sizes_of};
use crate::error::{Error, Result};
use crate::operations::layout::{Layout, dimension};
use crate::operations::tensors::{check_device, empty, filled, name_of};
use crate::sconce::tensor::TensorHandle;
use crate::sconce::{Tensor, api, operations};

/// The layout, with one dimension where the tensor has none.
fn with_dimension(mut layout: Layout) -> Layout {
    if layout.sizes.is_empty() {
        layout.sizes.push(1);
        layout.strides.push(1);
    }
    layout
}

/// Whether indices are I64, else I32.
pub(in crate::operations) fn is_wide(index: &Layout) -> Result<bool> {
    match index.dtype {
        api::SCONCE_DTYPE_I64 => Ok(true),
        api::SCONCE_DTYPE_I32 => Ok(false),
        other => Err(Error::invalid_argument(format!(
            "Expected dtype int32/int64 for index, but got {}",
            name_of(other)
        ))),
    }
}

/// A table, a dimension of it, and indices of the table's rank that choose there.
struct Along {
    table: Layout,
    dim: usize,
    index: Layout,
}

impl Along {
    fn new(table: TensorHandle, dim: i64, index: TensorHandle) -> Result<Along> {
        let table = with_dimension(Layout::of(table)?);
        let dim = dimension(dim, table.rank())?;
        let index = with_dimension(Layout::of(index)?);
        is_wide(&index)?;
        check_device("index", index.device, table.device)?;
        Ok(Along { table, dim, index })
    }

    /// Refuses indices that the operands of gather and scatter do not have.
    fn check_sizes(&self, other: Option<&Layout>) -> Result<()> {
        if self.index.numel() == 0 {
            return Ok(());
        }
        let (index, table) = (&self.index.sizes, &self.table.sizes);
        if index.len() != table.len() {
            return Err(Error::invalid_argument(
                "Index tensor must have the same number of dimensions as self tensor",
            ));
        }
        let fits = |at: usize| index[at] <= table[at] || at == self.dim;
        let in_other = |at: usize| other.is_none_or(|other| index[at] <= other.sizes[at]);
        if other.is_some_and(|other| other.rank() != index.len()) {
            return Err(Error::invalid_argument(
                "Index tensor must have the same number of dimensions as src tensor",
            ));
        }
        if (0..index.len()).all(|at| fits(at) && in_other(at)) {
            return Ok(());
        }
        let src = other.map(|other| format!(" and to be no larger than src {:?}", other.sizes));
        Err(Error::invalid_argument(format!(
            "Expected index {index:?} to be no larger than self {table:?} apart from dimension {}{}",
            self.dim,
            src.unwrap_or_default()
        )))
    }

    /// The loop over the indices, beside another operand with these strides.
    fn indexed(&self, other: StridedOperand) -> Result<Indexed> {
        let mut strides = self.table.strides.clone();
        strides[self.dim] = 0;
        let list = IndexList {
            data: self.index.data,
            dim: self.dim,
            size: self.table.sizes[self.dim],
            step: self.table.strides[self.dim],
        };
        Ok(Indexed {
            device: self.table.device,
            dtype: self.table.dtype,
            sizes: self.index.sizes.clone(),
            table: StridedOperand { data: self.table.data, strides },
            other,
            lists: vec![list],
            index_strides: self.index.strides.clone(),
            wide: is_wide(&self.index)?,
            from_end: false,
        })
    }
}

/// An operand whose elements are all the one of a tensor, which has to live as long.
fn repeated(value: &Tensor, rank: usize) -> Result<StridedOperand> {
    Ok(StridedOperand { data: data_of(value.handle())?, strides: vec![0; rank] })
}

/// `gather(self, dim, index)`
pub fn gather(tensor: TensorHandle, dim: i64, index: TensorHandle) -> Result<Tensor> {
    let along = Along::new(tensor, dim, index)?;
    along.check_sizes(None)?;
    let sizes = sizes_of(index)?;
    let result = empty(&sizes, along.table.dtype, along.table.device)?;
    if along.index.numel() != 0 {
        let to = with_dimension(Layout::of(result.handle())?);
        let indexed = along.indexed(StridedOperand { data: to.data, strides: to.strides })?;
        // SAFETY: the sizes were checked, and the result is new.
        unsafe { indexed.run(Access::Get) }?;
    }
    Ok(result)
}

/// Makes `out` a copy of `tensor`, unless it is the same.
pub(in crate::operations) fn begin_with(out: TensorHandle, tensor: TensorHandle) -> Result<()> {
    let (to, from) = (Layout::of(out)?, Layout::of(tensor)?);
    if to.dtype != from.dtype {
        return Err(Error::invalid_argument(format!(
            "Expected out.dtype to be equal to self.dtype, but they are {} and {}",
            name_of(to.dtype),
            name_of(from.dtype)
        )));
    }
    if (to.data, &to.sizes, &to.strides) == (from.data, &from.sizes, &from.strides) {
        return Ok(());
    }
    operations::resize(out, &from.sizes)?;
    operations::copy(&Tensor::retained(out)?, tensor)
}

fn check_type(name: &str, source: &Layout, table: &Layout) -> Result<()> {
    if source.dtype == table.dtype {
        return Ok(());
    }
    Err(Error::invalid_argument(format!(
        "Expected self.dtype to be equal to {name}.dtype, but they are {} and {}",
        name_of(table.dtype),
        name_of(source.dtype)
    )))
}

/// `scatter.src_out(self, dim, index, src, out)`
pub fn scatter(
    out: TensorHandle,
    tensor: TensorHandle,
    dim: i64,
    index: TensorHandle,
    source: TensorHandle,
) -> Result<()> {
    scattered(out, tensor, dim, index, source, |_, indexed| {
        // SAFETY: the sizes were checked.
        unsafe { indexed.run(Access::Put) }
    })
}

/// Checks the operands, makes `out` a copy of `tensor`, and calls `write` unless there are no indices.
fn scattered(
    out: TensorHandle,
    tensor: TensorHandle,
    dim: i64,
    index: TensorHandle,
    source: TensorHandle,
    write: impl FnOnce(&Along, Indexed) -> Result<()>,
) -> Result<()> {
    let along = Along::new(tensor, dim, index)?;
    let from = with_dimension(Layout::of(source)?);
    check_type("src", &from, &along.table)?;
    check_device("src", from.device, along.table.device)?;
    along.check_sizes(Some(&from))?;
    begin_with(out, tensor)?;
    let along = Along::new(out, dim, index)?;
    if along.index.numel() == 0 {
        return Ok(());
    }
    let indexed = along.indexed(StridedOperand { data: from.data, strides: from.strides })?;
    write(&along, indexed)
}

/// `scatter.value_out(self, dim, index, value, out)`
pub fn scatter_value(
    out: TensorHandle,
    tensor: TensorHandle,
    dim: i64,
    index: TensorHandle,
    value: f64,
) -> Result<()> {
    Along::new(tensor, dim, index)?.check_sizes(None)?;
    begin_with(out, tensor)?;
    let along = Along::new(out, dim, index)?;
    if along.index.numel() == 0 {
        return Ok(());
    }
    let value = filled(&[], along.table.dtype, along.table.device, value)?;
    let indexed = along.indexed(repeated(&value, along.index.rank())?)?;
    // SAFETY: the sizes were checked; one value stands for all.
    unsafe { indexed.run(Access::Put) }
}

/// What `reduce` names.
fn reduction(name: &str, names: &[&str]) -> Result<(Combine, f64, bool)> {
    match name {
        _ if !names.contains(&name) => Err(Error::invalid_argument(format!(
            "reduce argument must be one of {}, but is {name}",
            names.join(", ")
        ))),
        "sum" => Ok((Combine::Sum, 0.0, false)),
        "mean" => Ok((Combine::Sum, 0.0, true)),
        "prod" => Ok((Combine::Product, 1.0, false)),
        "amax" => Ok((Combine::Most, f64::NEG_INFINITY, false)),
        _ => Ok((Combine::Least, f64::INFINITY, false)),
    }
}

/// Combines what the loop reads with the table that `out` is.
fn reduce(
    out: TensorHandle,
    along: &Along,
    indexed: Indexed,
    (how, identity, is_mean): (Combine, f64, bool),
    include_self: bool,
) -> Result<()> {
    let (dtype, device) = (along.table.dtype, along.table.device);
    if !include_self {
        let value = filled(&[], dtype, device, identity)?;
        let other = repeated(&value, indexed.sizes.len())?;
        // SAFETY: the sizes were checked; one value stands for all.
        unsafe { Indexed { other, ..indexed.clone() }.run(Access::Put) }?;
    }
    // SAFETY: the sizes were checked.
    unsafe { indexed.run(Access::Combine(how)) }?;
    if !is_mean {
        return Ok(());
    }
    divide_by_counts(out, along, &indexed, include_self)
}

/// Divides each sum by how many elements it is of.
fn divide_by_counts(
    out: TensorHandle,
    along: &Along,
    indexed: &Indexed,
    include_self: bool,
) -> Result<()> {
    let (dtype, device) = (along.table.dtype, along.table.device);
    let (count_dtype, divide) = match dtype {
        api::SCONCE_DTYPE_F16 | api::SCONCE_DTYPE_BF16 | api::SCONCE_DTYPE_F32 => {
            (api::SCONCE_DTYPE_F32, api::SCONCE_BINARY_DIV)
        }
        api::SCONCE_DTYPE_F64 => (dtype, api::SCONCE_BINARY_DIV),
        api::SCONCE_DTYPE_BOOL => {
            return Err(Error::not_supported("the mean of truth values is not defined"));
        }
        _ => (api::SCONCE_DTYPE_I64, api::SCONCE_BINARY_FLOOR_DIVIDE),
    };
    let counts =
        filled(&along.table.sizes, count_dtype, device, if include_self { 1.0 } else { 0.0 })?;
    let one = filled(&[], count_dtype, device, 1.0)?;
    let places = Layout::of(counts.handle())?;
    let mut strides = places.strides.clone();
    strides[along.dim] = 0;
    let mut counting = indexed.clone();
    counting.dtype = count_dtype;
    counting.table = StridedOperand { data: places.data, strides };
    counting.lists[0].step = places.strides[along.dim];
    counting.other = repeated(&one, indexed.sizes.len())?;
    // SAFETY: counts have the table's sizes, and one value stands for all.
    unsafe { counting.run(Access::Combine(Combine::Sum)) }?;
    let sums = Tensor::retained(out)?;
    // What nothing was added to stays as it is.
    let counts = operations::clamped_from(&counts, 1.0)?;
    let counts = operations::reshape(counts.handle(), &sizes_of(out)?)?;
    let means = operations::binary(divide, &sums, operations::Operand::Tensor(&counts))?;
    operations::copy(&sums, means.handle())
}

/// `scatter_reduce.two_out(self, dim, index, src, reduce, include_self, out)`
pub fn scatter_reduce(
    out: TensorHandle,
    tensor: TensorHandle,
    [index, source]: [TensorHandle; 2],
    dim: i64,
    reduce_name: &str,
    include_self: bool,
) -> Result<()> {
    let reduction = reduction(reduce_name, &["sum", "prod", "mean", "amax", "amin"])?;
    scattered(out, tensor, dim, index, source, |along, indexed| {
        reduce(out, along, indexed, reduction, include_self)
    })
}

/// The loop over a source whose part at `i` along a dimension goes to the table's part at `index[i]`.
fn of_parts(along: &mut Along, source: &Layout) -> Result<Indexed> {
    let (index, table) = (&along.index, &along.table);
    if index.rank() != 1 {
        return Err(Error::invalid_argument("Index should have dimension 1 or 0"));
    }
    let mut wanted = table.sizes.clone();
    wanted[along.dim] = index.sizes[0];
    if source.sizes != wanted {
        return Err(Error::invalid_argument(format!(
            "source must have the sizes of self, and along dimension {} as many as index: {wanted:?}, but has {:?}",
            along.dim, source.sizes
        )));
    }
    let mut strides = vec![0; wanted.len()];
    strides[along.dim] = index.strides[0];
    along.index.sizes = wanted;
    along.index.strides = strides;
    along.indexed(StridedOperand { data: source.data, strides: source.strides.clone() })
}

/// `index_reduce(self, dim, index, source, reduce, include_self)`
pub fn index_reduce(
    tensor: TensorHandle,
    dim: i64,
    [index, source]: [TensorHandle; 2],
    reduce_name: &str,
    include_self: bool,
) -> Result<Tensor> {
    let reduction = reduction(reduce_name, &["prod", "mean", "amax", "amin"])?;
    let result = cloned(tensor)?;
    let mut along = Along::new(result.handle(), dim, index)?;
    let from = with_dimension(Layout::of(source)?);
    check_type("source", &from, &along.table)?;
    check_device("source", from.device, along.table.device)?;
    let indexed = of_parts(&mut along, &from)?;
    if along.index.numel() != 0 {
        reduce(result.handle(), &along, indexed, reduction, include_self)?;
    }
    Ok(result)
}
