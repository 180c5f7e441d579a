//! Sorts along a dimension, and selections by index.

use sconce_base::element::Dtype;
use sconce_base::error::{Error, Result};
use sconce_compute::ordering::{SelectCall, SelectIndex, SortCall};

use super::join::placed;
use super::operand::same_place;
use super::output::{Destination, InPlace};
use crate::tensor::dims::wrap_dim;
use crate::tensor::iteration::preserved_strides;
use crate::tensor::launch;
use crate::tensor::overlap::{Sharing, shared, sharing};
use crate::tensor::promotion::is_complex;
use crate::tensor::{Dims, Tensor, TensorOptions, views};

/// The elements of each line in order, and where they were, in new tensors or in those of `into`. Equal elements keep
/// their order.
pub fn sort(
    input: &Tensor,
    dim: i64,
    descending: bool,
    into: [Option<&Tensor>; 2],
) -> Result<[Tensor; 2]> {
    let at = wrap_dim(dim, input.rank())?;
    if is_complex(input.dtype()) {
        return Err(Error::not_supported("Sort currently does not support complex dtypes"));
    }
    refuse_shared(into)?;
    let strides = preserved_strides(input);
    let output = |into, dtype| {
        Destination::at(input.place(), into)?.exactly(dtype)?.reads(input, InPlace::Copies)?.output(
            TensorOptions::of(input).with(dtype),
            input.sizes(),
            strides.clone(),
        )
    };
    let [values, indices] = [output(into[0], input.dtype())?, output(into[1], Dtype::I64)?];
    if input.numel() == 0 {
        return Ok([values.finish()?, indices.finish()?]);
    }
    let raised = [input, values.tensor(), indices.tensor()].map(|tensor| match tensor.rank() {
        0 => views::unsqueeze(tensor, 0),
        _ => Ok(tensor.clone()),
    });
    let [from, to, places] = raised;
    let (from, to, places) = (from?, to?, places?);
    launch::sort(
        values.tensor(),
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
    Ok([values.finish()?, indices.finish()?])
}

/// Refuses outputs that share memory with each other.
fn refuse_shared(into: [Option<&Tensor>; 2]) -> Result<()> {
    match into {
        [Some(values), Some(indices)] if values.is_defined() && indices.is_defined() => {
            match sharing(values, indices) {
                Sharing::Nothing => Ok(()),
                _ => Err(shared()),
            }
        }
        _ => Ok(()),
    }
}

/// The elements at the given indices of a dimension, in a new tensor or in `into`.
pub fn index_select(
    input: &Tensor,
    dim: i64,
    index: &Tensor,
    into: Option<&Tensor>,
) -> Result<Tensor> {
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
    let (raised_input, raised_result);
    let raised = if input.rank() == 0 {
        raised_input = views::unsqueeze(input, 0)?;
        &raised_input
    } else {
        input
    };
    let count = index.numel();
    if input.rank() == 0 && count != 1 {
        return Err(Error::invalid_argument(
            "index_select(): Index to scalar can have only 1 value, got a different number",
        ));
    }
    let mut sizes = Dims::from_slice(raised.sizes());
    sizes[at] = count;
    let output_sizes = if input.rank() == 0 { &[] } else { &sizes[..] };
    let output = Destination::at(input.place(), into)?
        .exactly(input.dtype())?
        .reads(input, InPlace::Refused)?
        .reads(index, InPlace::Refused)?
        .packed(TensorOptions::of(input), output_sizes)?;
    let result = output.tensor();
    if result.numel() == 0 {
        return output.finish();
    }
    let written = if input.rank() == 0 {
        raised_result = views::unsqueeze(result, 0)?;
        &raised_result
    } else {
        result
    };
    launch::select(
        result,
        &SelectCall {
            dtype: input.dtype(),
            sizes: &sizes,
            axis: at,
            input_size: raised.sizes()[at],
            input: placed(raised),
            output: placed(written),
            index: SelectIndex {
                address: index.raw(),
                dtype: index.dtype(),
                stride: index.strides().first().copied().unwrap_or(1),
            },
        },
    )?;
    output.finish()
}
