//! Sums, means, products and extremes of segments of a dimension, and their gradients.
//!
//! A search in the begins of the segments finds that of each element, and elements are combined at the index of their
//! segment. What belongs to none goes to one segment more, which is left out.

use crate::abi::tensors::{device_of_tensor, dtype_of_tensor, sizes_of};
use crate::error::{Error, Result};
use crate::operations::indexed::{gather, scatter_reduce};
use crate::operations::search::{Search, search_sorted};
use crate::operations::tensors::{check_device, check_floating, filled, filled_like, name_of};
use crate::sconce::operations::{Operand, all_true, binary, choose, widened};
use crate::sconce::tensor::TensorHandle;
use crate::sconce::values::options;
use crate::sconce::{Tensor, api, operations};

/// How the elements of a segment become one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reduction {
    /// Their sum.
    Sum,
    /// Their mean, NaN of none.
    Mean,
    /// Their product.
    Product,
    /// The largest one, or a NaN.
    Most,
    /// The smallest one, or a NaN.
    Least,
}

impl Reduction {
    /// That of a name of PyTorch's.
    pub fn new(name: &str) -> Result<Reduction> {
        Ok(match name {
            "sum" => Reduction::Sum,
            "mean" => Reduction::Mean,
            "prod" => Reduction::Product,
            "max" => Reduction::Most,
            "min" => Reduction::Least,
            other => {
                return Err(Error::invalid_argument(format!(
                    "reduce is {other}; it must be sum, mean, prod, max or min"
                )));
            }
        })
    }

    /// The name of the scatter that combines elements so.
    fn scatter(self) -> &'static str {
        match self {
            Reduction::Sum | Reduction::Mean => "sum",
            Reduction::Product => "prod",
            Reduction::Most => "amax",
            Reduction::Least => "amin",
        }
    }

    /// The result of no elements, before a mean is divided.
    fn nothing(self) -> f64 {
        match self {
            Reduction::Sum | Reduction::Mean => 0.0,
            Reduction::Product => 1.0,
            Reduction::Most => f64::NEG_INFINITY,
            Reduction::Least => f64::INFINITY,
        }
    }
}

/// The segments of a tensor along a dimension, the last that the segments have.
struct Segments {
    /// The segment of each element, repeated to the tensor's sizes; `count` for none.
    places: Tensor,
    /// The dimension.
    dim: usize,
    /// How many segments there are.
    count: i64,
    /// How many elements each has, with the dimensions behind as ones.
    lengths: Tensor,
}

impl Segments {
    /// Those that lengths say, or offsets, which have one entry more.
    fn of(
        tensor: TensorHandle,
        lengths: Option<TensorHandle>,
        offsets: Option<TensorHandle>,
        axis: i64,
        is_trusted: bool,
    ) -> Result<Segments> {
        let named = match (offsets, lengths) {
            (Some(offsets), _) => offsets,
            (None, Some(lengths)) => lengths,
            (None, None) => {
                return Err(Error::invalid_argument(
                    "segment_reduce(): Either lengths or offsets must be defined.",
                ));
            }
        };
        let dtype = dtype_of_tensor(named)?;
        if ![api::SCONCE_DTYPE_I64, api::SCONCE_DTYPE_I32].contains(&dtype) {
            return Err(Error::invalid_argument(format!(
                "lengths and offsets must be of int64 or int32, got {}",
                name_of(dtype)
            )));
        }
        check_device("lengths or offsets", device_of_tensor(named)?, device_of_tensor(tensor)?)?;
        let (sizes, shape) = (sizes_of(tensor)?, sizes_of(named)?);
        let rank = sizes.len() as i64;
        let dim = if axis < 0 { axis + rank } else { axis };
        // The segments have the dimensions in front of the axis.
        let fits = usize::try_from(dim).is_ok_and(|dim| {
            dim < sizes.len() && shape.len() == dim + 1 && shape[..dim] == sizes[..dim]
        });
        if !fits {
            return Err(Error::invalid_argument(format!(
                "segment_reduce(): lengths or offsets have the sizes {shape:?}, which do not fit axis {axis} of a \
                 tensor with the sizes {sizes:?}"
            )));
        }
        let (dim, wide) = (dim as usize, api::SCONCE_DTYPE_I64);
        let named = operations::to_dtype(named, wide)?;
        let (begins, lengths) = match offsets {
            Some(_) if shape[dim] == 0 => {
                return Err(Error::invalid_argument("offsets needs at least one entry"));
            }
            Some(_) => {
                let ends = operations::narrow(named.handle(), dim as i64, 1, shape[dim] - 1)?;
                let first = operations::narrow(named.handle(), dim as i64, 0, shape[dim] - 1)?;
                let lengths = binary(api::SCONCE_BINARY_SUB, &ends, Operand::Tensor(&first))?;
                (operations::contiguous(named.handle())?, lengths)
            }
            None => {
                if !is_trusted {
                    check_lengths(&named, sizes[dim])?;
                }
                let line = api::SCONCE_LINE_CUMSUM;
                let ends = operations::along(line, named.handle(), dim as i64, wide)?;
                let mut first = shape.clone();
                first[dim] = 1;
                let zero = filled(&first, wide, device_of_tensor(tensor)?, 0.0)?;
                let begins = operations::cat(&[zero.handle(), ends.handle()], dim as i64)?;
                (begins, named)
            }
        };
        let count = sizes_of(lengths.handle())?[dim];
        let places = places(&begins, &sizes, dim, count)?;
        let behind = vec![1; sizes.len() - dim - 1];
        let shape = [&sizes_of(lengths.handle())?[..], &behind].concat();
        Ok(Segments { places, dim, count, lengths: operations::reshape(lengths.handle(), &shape)? })
    }

    /// The sizes of a tensor with an entry for each segment.
    fn sizes(&self, like: &[i64], count: i64) -> Vec<i64> {
        let mut sizes = like.to_vec();
        sizes[self.dim] = count;
        sizes
    }

    /// The elements of each segment combined, beginning with a number.
    fn combined(&self, values: &Tensor, how: &str, first: f64) -> Result<Tensor> {
        let sizes = self.sizes(&sizes_of(values.handle())?, self.count + 1);
        let all = filled_like(values.handle(), &sizes, first)?;
        let at = all.handle();
        scatter_reduce(
            at,
            at,
            [self.places.handle(), values.handle()],
            self.dim as i64,
            how,
            true,
        )?;
        operations::narrow(at, self.dim as i64, 0, self.count)
    }

    /// The entry of each element's segment; that of elements of none is 0.
    fn spread(&self, values: &Tensor) -> Result<Tensor> {
        let last = filled_like(values.handle(), &self.sizes(&sizes_of(values.handle())?, 1), 0.0)?;
        let all = operations::cat(&[values.handle(), last.handle()], self.dim as i64)?;
        gather(all.handle(), self.dim as i64, self.places.handle())
    }

    /// The lengths in the type of values, repeated to the sizes of the result.
    fn lengths_as(&self, values: &Tensor) -> Result<Tensor> {
        let lengths =
            operations::to_dtype(self.lengths.handle(), dtype_of_tensor(values.handle())?)?;
        operations::expand(lengths.handle(), &sizes_of(values.handle())?)
    }
}

/// The segment of each element of a tensor with these sizes, which begins no later.
fn places(begins: &Tensor, sizes: &[i64], dim: usize, count: i64) -> Result<Tensor> {
    let (wide, device) = (api::SCONCE_DTYPE_I64, device_of_tensor(begins.handle())?);
    let numbers = operations::arange(0, sizes[dim], 1, &options(wide, device))?;
    let numbers = operations::expand(numbers.handle(), &sizes[..=dim])?;
    let numbers = operations::contiguous(numbers.handle())?;
    let search = Search { right: true, narrow: false };
    let found = search_sorted(begins.handle(), numbers.handle(), None, search)?;
    let found = binary(api::SCONCE_BINARY_SUB, &found, Operand::Whole(1))?;
    let is_before = binary(api::SCONCE_BINARY_LT, &found, Operand::Whole(0))?;
    let found = choose(&is_before, Operand::Whole(count), Operand::Tensor(&found))?;
    let behind = vec![1; sizes.len() - dim - 1];
    let found = operations::reshape(found.handle(), &[&sizes[..=dim], &behind].concat())?;
    operations::expand(found.handle(), sizes)
}

/// Fails if lengths are negative or have another sum than the dimension's size. Waits for their device.
fn check_lengths(lengths: &Tensor, size: i64) -> Result<()> {
    let is_size = |tensor: &Tensor| {
        let (sum, same) = (api::SCONCE_REDUCE_SUM, api::SCONCE_DTYPE_DEFAULT);
        let sum = operations::reduce(sum, tensor.handle(), &[-1], false, same)?;
        all_true(&binary(api::SCONCE_BINARY_EQ, &sum, Operand::Whole(size))?)
    };
    if !all_true(&binary(api::SCONCE_BINARY_GE, lengths, Operand::Whole(0))?)? {
        return Err(Error::invalid_argument("lengths contains negative value!"));
    }
    if !is_size(lengths)? {
        return Err(Error::invalid_argument(
            "segment_reduce(): Expected all rows of lengths along axis to sum to data.size(lengths.dim()-1) when \
             !unsafe.",
        ));
    }
    Ok(())
}

/// The arguments that `segment_reduce` and its gradient have in common.
#[derive(Clone, Copy)]
pub struct Segmented {
    /// The elements.
    pub tensor: TensorHandle,
    /// How those of a segment become one.
    pub reduction: Reduction,
    /// The lengths of the segments.
    pub lengths: Option<TensorHandle>,
    /// Where segments begin, and the end of the last one. They count before the lengths.
    pub offsets: Option<TensorHandle>,
    /// The dimension of the elements.
    pub axis: i64,
    /// What each segment begins with.
    pub initial: Option<f64>,
}

impl Segmented {
    fn segments(&self, is_trusted: bool) -> Result<Segments> {
        let dtype = dtype_of_tensor(self.tensor)?;
        check_floating(dtype)?;
        Segments::of(self.tensor, self.lengths, self.offsets, self.axis, is_trusted)
    }

    /// `segment_reduce`. Lengths are checked unless they are to be trusted, for which the host waits.
    pub fn reduce(&self, is_trusted: bool) -> Result<Tensor> {
        let segments = self.segments(is_trusted)?;
        let values = widened(self.tensor)?;
        let first = self.initial.unwrap_or(self.reduction.nothing());
        let mut made = segments.combined(&values, self.reduction.scatter(), first)?;
        if self.reduction == Reduction::Mean {
            let lengths = segments.lengths_as(&made)?;
            let is_empty = binary(api::SCONCE_BINARY_EQ, &lengths, Operand::Number(0.0))?;
            let mean = binary(api::SCONCE_BINARY_DIV, &made, Operand::Tensor(&lengths))?;
            let of_nothing = Operand::Number(self.initial.unwrap_or(f64::NAN));
            made = choose(&is_empty, of_nothing, Operand::Tensor(&mean))?;
        }
        let made = operations::contiguous(made.handle())?;
        operations::to_dtype(made.handle(), dtype_of_tensor(self.tensor)?)
    }

    /// `_segment_reduce_backward`: the gradient of the elements, from that of the result and the result.
    pub fn gradient(&self, gradient: TensorHandle, result: TensorHandle) -> Result<Tensor> {
        let segments = self.segments(true)?;
        let dtype = dtype_of_tensor(self.tensor)?;
        let sizes = sizes_of(self.tensor)?;
        let of_result = segments.sizes(&sizes, segments.count);
        for (name, tensor) in [("grad", gradient), ("output", result)] {
            if sizes_of(tensor)? != of_result || dtype_of_tensor(tensor)? != dtype {
                return Err(Error::invalid_argument(format!(
                    "{name} has the sizes {:?} of {}; it needs {of_result:?} of {}",
                    sizes_of(tensor)?,
                    name_of(dtype_of_tensor(tensor)?),
                    name_of(dtype)
                )));
            }
        }
        let (gradient, values) = (widened(gradient)?, widened(self.tensor)?);
        let made = match self.reduction {
            Reduction::Sum => segments.spread(&gradient)?,
            Reduction::Mean => {
                let lengths = segments.lengths_as(&gradient)?;
                let share = binary(api::SCONCE_BINARY_DIV, &gradient, Operand::Tensor(&lengths))?;
                segments.spread(&share)?
            }
            Reduction::Most | Reduction::Least => {
                of_extremes(&segments, &gradient, &values, &widened(result)?)?
            }
            Reduction::Product => of_products(&segments, &gradient, &values, self.initial)?,
        };
        let made = operations::contiguous(made.handle())?;
        operations::to_dtype(made.handle(), dtype)
    }
}

/// Elements that are equal to the segment's extreme share the gradient; so do NaN.
fn of_extremes(
    segments: &Segments,
    gradient: &Tensor,
    values: &Tensor,
    result: &Tensor,
) -> Result<Tensor> {
    let own = segments.spread(result)?;
    let is_nan = |tensor: &Tensor| operations::unary(api::SCONCE_UNARY_IS_NAN, tensor);
    let both =
        |operation, one: &Tensor, other: &Tensor| binary(operation, one, Operand::Tensor(other));
    let are_nan = both(api::SCONCE_BINARY_LOGICAL_AND, &is_nan(values)?, &is_nan(&own)?)?;
    let is_equal = both(api::SCONCE_BINARY_EQ, values, &own)?;
    let is_one = both(api::SCONCE_BINARY_LOGICAL_OR, &is_equal, &are_nan)?;
    let ones = operations::to_dtype(is_one.handle(), dtype_of_tensor(values.handle())?)?;
    let counts = segments.combined(&ones, "sum", 0.0)?;
    let share = segments.spread(&both(api::SCONCE_BINARY_DIV, gradient, &counts)?)?;
    choose(&is_one, Operand::Tensor(&share), Operand::Number(0.0))
}

/// The product of the other elements of the segment. Where one of them is 0, it is that of all but this one.
fn of_products(
    segments: &Segments,
    gradient: &Tensor,
    values: &Tensor,
    initial: Option<f64>,
) -> Result<Tensor> {
    let is_zero = binary(api::SCONCE_BINARY_EQ, values, Operand::Number(0.0))?;
    let zeros = operations::to_dtype(is_zero.handle(), dtype_of_tensor(values.handle())?)?;
    let zeros = segments.spread(&segments.combined(&zeros, "sum", 0.0)?)?;
    let others = choose(&is_zero, Operand::Number(1.0), Operand::Tensor(values))?;
    let product = segments.combined(&others, "prod", initial.unwrap_or(1.0))?;
    let product = binary(api::SCONCE_BINARY_MUL, &product, Operand::Tensor(gradient))?;
    let product = segments.spread(&product)?;
    let without = binary(api::SCONCE_BINARY_DIV, &product, Operand::Tensor(&others))?;
    // Of a segment with one 0 this one alone has a gradient, and with two of them nothing has.
    let own = operations::to_dtype(is_zero.handle(), dtype_of_tensor(values.handle())?)?;
    let has_none = binary(api::SCONCE_BINARY_EQ, &zeros, Operand::Tensor(&own))?;
    choose(&has_none, Operand::Tensor(&without), Operand::Number(0.0))
}

#[cfg(test)]
mod tests;
