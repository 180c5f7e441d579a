//! Where a result goes: to a new tensor, or to one of the caller's. See `docs/design/outputs.md`.

use sconce_base::element::Dtype;
use sconce_base::error::{Error, Result};

use super::operand::apart;
use crate::tensor::overlap::{Sharing, refuse_unwritable, shared, sharing};
use crate::tensor::promotion::can_cast;
use crate::tensor::transfer::{copy_into, resized};
use crate::tensor::{Dims, Place, Tensor, TensorOptions, dims};

/// What an operation does if its output is one of its inputs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum InPlace {
    /// It reads each element before it writes it.
    Works,
    /// It calculates in new memory first.
    Copies,
    /// It refuses that, as torch.
    Refused,
}

/// The tensor that a caller named for a result, while an operation finds out whether it is fit for that.
pub(crate) struct Destination<'a> {
    into: Option<&'a Tensor>,
    /// Whether its memory must not be written while the inputs are read.
    is_read: bool,
    /// Whether it has the memory of an input.
    shares: bool,
    /// Whether it is an input of an operation that works in place.
    is_input: bool,
}

impl<'a> Destination<'a> {
    /// For a result at `place`. Without a tensor, or with the undefined one, the result is new.
    #[inline]
    pub(crate) fn at(place: Place, into: Option<&'a Tensor>) -> Result<Destination<'a>> {
        let into = into.filter(|into| into.is_defined());
        if let Some(into) = into {
            if into.place() != place {
                return Err(apart(into.place(), place));
            }
            refuse_unwritable(into)?;
        }
        Ok(Destination { into, is_read: false, shares: false, is_input: false })
    }

    /// The type of the tensor that the caller named.
    #[inline]
    pub(crate) fn dtype(&self) -> Option<Dtype> {
        self.into.map(Tensor::dtype)
    }

    /// For a result of a type that is converted to the output's.
    #[inline]
    pub(crate) fn castable(self, dtype: Dtype) -> Result<Destination<'a>> {
        match self.dtype() {
            Some(wanted) if !can_cast(dtype, wanted) => Err(no_cast(dtype, wanted)),
            _ => Ok(self),
        }
    }

    /// For a result that has the output's type.
    #[inline]
    pub(crate) fn exactly(self, dtype: Dtype) -> Result<Destination<'a>> {
        match self.dtype() {
            Some(found) if found != dtype => Err(other_type(dtype, found)),
            _ => Ok(self),
        }
    }

    /// For an operation that reads `input`.
    #[inline]
    pub(crate) fn reads(mut self, input: &Tensor, in_place: InPlace) -> Result<Destination<'a>> {
        if let Some(into) = self.into {
            self.note(into, input, in_place)?;
        }
        Ok(self)
    }

    fn note(&mut self, into: &Tensor, input: &Tensor, in_place: InPlace) -> Result<()> {
        self.shares |= into.storage().is(input.storage());
        match (sharing(into, input), in_place) {
            (Sharing::Part, _) | (Sharing::Same, InPlace::Refused) => return Err(shared()),
            (Sharing::Same, InPlace::Works) => self.is_input = true,
            (Sharing::Nothing, _) => {}
            (Sharing::Same, InPlace::Copies) | (Sharing::Unknown, _) => self.is_read = true,
        }
        Ok(())
    }

    /// The output of the sizes; a new tensor is contiguous.
    #[inline]
    pub(crate) fn packed(self, options: TensorOptions, sizes: &[i64]) -> Result<Output> {
        match self.into {
            None => Ok(Output::new(options.empty(sizes)?)),
            Some(into) => self.in_tensor(into, options, sizes, dims::contiguous_strides(sizes)),
        }
    }

    /// The output of the sizes; `strides` are those of a new tensor.
    #[inline]
    pub(crate) fn output(
        self,
        options: TensorOptions,
        sizes: &[i64],
        strides: Dims,
    ) -> Result<Output> {
        match self.into {
            None => Ok(Output::new(options.empty_in_order(sizes, strides)?)),
            Some(into) => self.in_tensor(into, options, sizes, strides),
        }
    }

    fn in_tensor(
        self,
        into: &Tensor,
        options: TensorOptions,
        sizes: &[i64],
        strides: Dims,
    ) -> Result<Output> {
        let target = if into.sizes() == sizes {
            into.clone()
        } else if self.is_input {
            return Err(Error::invalid_argument(format!(
                "output with shape {:?} doesn't match the broadcast shape {sizes:?}",
                into.sizes()
            )));
        } else {
            resized(into, sizes, strides, self.shares)?
        };
        if !self.is_read {
            return Ok(Output::new(target));
        }
        let written = options.with(target.dtype()).empty(sizes)?;
        Ok(Output { written, target: Some(Box::new(target)) })
    }
}

#[cold]
fn no_cast(dtype: Dtype, wanted: Dtype) -> Error {
    Error::invalid_argument(format!(
        "result type {} can't be cast to the desired output type {}",
        dtype.c10_name(),
        wanted.c10_name()
    ))
}

#[cold]
fn other_type(dtype: Dtype, found: Dtype) -> Error {
    Error::invalid_argument(format!(
        "Expected out tensor to have dtype {}, but got {} instead",
        dtype.c10_name(),
        found.c10_name()
    ))
}

/// The tensor that work writes, and the one that it is copied to afterwards, if that is another.
pub(crate) struct Output {
    written: Tensor,
    target: Option<Box<Tensor>>,
}

impl Output {
    #[inline]
    pub(crate) fn new(written: Tensor) -> Output {
        Output { written, target: None }
    }

    /// The tensor that work writes.
    #[inline]
    pub(crate) fn tensor(&self) -> &Tensor {
        &self.written
    }

    /// For work that writes contiguous tensors of a type, and no others.
    #[inline]
    pub(crate) fn packed_as(self, dtype: Dtype) -> Result<Output> {
        if self.written.is_contiguous() && self.written.dtype() == dtype {
            return Ok(self);
        }
        let strides = dims::contiguous_strides(self.written.sizes());
        self.through(dtype, &strides)
    }

    /// For work that writes tensors of a type whose dimensions lie in the given order in memory, the last one
    /// densest, and no others.
    pub(crate) fn in_order(self, dtype: Dtype, order: &[usize]) -> Result<Output> {
        let sizes = self.written.sizes();
        let strides = dims::strides_in_order(sizes, order.iter().rev().copied());
        let differs = |dim: usize| sizes[dim] > 1 && self.written.strides()[dim] != strides[dim];
        if self.written.dtype() == dtype && !(0..sizes.len()).any(differs) {
            return Ok(self);
        }
        self.through(dtype, &strides)
    }

    /// Written to new memory first.
    fn through(self, dtype: Dtype, strides: &[i64]) -> Result<Output> {
        let options = TensorOptions::of(&self.written).with(dtype);
        let written = options.empty_strided(self.written.sizes(), strides)?;
        Ok(Output { written, target: Some(self.target.unwrap_or_else(|| Box::new(self.written))) })
    }

    /// The tensor with the result, when all work is queued.
    #[inline]
    pub(crate) fn finish(self) -> Result<Tensor> {
        match self.target {
            None => Ok(self.written),
            Some(target) => copied(*target, &self.written),
        }
    }
}

fn copied(target: Tensor, written: &Tensor) -> Result<Tensor> {
    copy_into(&target, written, true)?;
    Ok(target)
}
