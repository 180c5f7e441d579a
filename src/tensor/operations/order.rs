//! Sorts along a dimension, and selections by index.

use super::join::placed;
use super::operand::same_place;
use crate::element::Dtype;
use crate::error::{Error, Result};
use crate::ordering::{SelectCall, SelectIndex, SortCall};
use crate::tensor::dims::wrap_dim;
use crate::tensor::iteration::preserved_strides;
use crate::tensor::launch;
use crate::tensor::promotion::is_complex;
use crate::tensor::{Dims, Tensor, TensorOptions, views};

/// The elements of each line in order, and where they were. Equal elements keep their order.
pub(crate) fn sort(input: &Tensor, dim: i64, descending: bool) -> Result<[Tensor; 2]> {
    let at = wrap_dim(dim, input.rank())?;
    if is_complex(input.dtype()) {
        return Err(Error::not_supported("Sort currently does not support complex dtypes"));
    }
    let strides = preserved_strides(input);
    let options = TensorOptions::of(input);
    let values = options.empty_strided(input.sizes(), &strides)?;
    let indices = options.with(Dtype::I64).empty_strided(input.sizes(), &strides)?;
    if input.numel() == 0 {
        return Ok([values, indices]);
    }
    let raised = [input, &values, &indices].map(|tensor| match tensor.rank() {
        0 => views::unsqueeze(tensor, 0),
        _ => Ok(tensor.clone()),
    });
    let [from, to, places] = raised;
    let (from, to, places) = (from?, to?, places?);
    launch::sort(
        &values,
        &SortCall {
            dtype: input.dtype(),
            sizes: from.sizes(),
            axis: at,
            descending,
            input: placed(&from),
            values: placed(&to),
            indices: placed(&places),
        },
    )?;
    Ok([values, indices])
}

/// The elements at the given indices of a dimension.
pub(crate) fn index_select(input: &Tensor, dim: i64, index: &Tensor) -> Result<Tensor> {
    same_place([input, index])?;
    let at = wrap_dim(dim, input.rank())?;
    if index.rank() > 1 {
        return Err(Error::invalid_argument("index_select(): Index is supposed to be a vector"));
    }
    if !matches!(index.dtype(), Dtype::I32 | Dtype::I64) {
        return Err(Error::invalid_argument(
            "index_select(): Expected dtype int32 or int64 for index",
        ));
    }
    let raised = if input.rank() == 0 { views::unsqueeze(input, 0)? } else { input.clone() };
    let count = index.numel();
    if input.rank() == 0 && count != 1 {
        return Err(Error::invalid_argument(
            "index_select(): Index to scalar can have only 1 value, got a different number",
        ));
    }
    let mut sizes = Dims::from_slice(raised.sizes());
    sizes[at] = count;
    let output =
        TensorOptions::of(input).empty(if input.rank() == 0 { &[] } else { &sizes[..] })?;
    if output.numel() == 0 {
        return Ok(output);
    }
    let written = if input.rank() == 0 { views::unsqueeze(&output, 0)? } else { output.clone() };
    launch::select(
        &output,
        &SelectCall {
            dtype: input.dtype(),
            sizes: &sizes,
            axis: at,
            input_size: raised.sizes()[at],
            input: placed(&raised),
            output: placed(&written),
            index: SelectIndex {
                address: index.raw(),
                dtype: index.dtype(),
                stride: index.strides().first().copied().unwrap_or(1),
            },
        },
    )?;
    Ok(output)
}
