//! Where elements are not 0.

use sconce_base::element::Dtype;
use sconce_base::error::{Error, Result, Status};
use sconce_base::types::DeviceIndex;
use sconce_compute::pointwise::{ElementOperation, Scalar};
use sconce_compute::reduction::ReduceOp;
use sconce_runtime::context::runtime;
use sconce_runtime::stream;

use super::binary::binary;
use super::operand::TensorOperand;
use super::order::sort;
use super::reduce::{Reduction, reduce};
use crate::tensor::transfer::{contiguous, copy_into, from_integers, item, read_bytes, reshape};
use crate::tensor::{MemoryFormat, Tensor, TensorOptions, views};

const ONE: Scalar = Scalar::Int(1);

/// A row of indices for each element that is not 0, in row-major order, with torch's strides: those of a dimension lie
/// one after another. Waits for the current stream, since the size of the result depends on the elements.
pub fn nonzero(input: &Tensor) -> Result<Tensor> {
    if let Some(device) = input.place().device() {
        refuse_captured(device)?;
    }
    let mask = match input.dtype() {
        Dtype::Bool => input.clone(),
        _ => {
            let operands = [TensorOperand::Tensor(input), TensorOperand::Number(Scalar::Int(0))];
            binary(ElementOperation::Ne, operands, ONE, None)?
        }
    };
    let flat = reshape(&mask, &[input.numel()])?;
    let places = match input.place().device() {
        None => places_on_host(&flat)?,
        Some(_) => places_on_device(&flat)?,
    };
    let (count, rank) = (places.numel(), input.rank() as i64);
    let options = TensorOptions::of(input).with(Dtype::I64);
    let result = options.empty_strided(&[count, rank], &[1, count])?;
    if count != 0 {
        write_indices(&result, input.sizes(), places)?;
    }
    Ok(result)
}

fn refuse_captured(device: DeviceIndex) -> Result<()> {
    let runtime = runtime()?;
    if stream::is_capturing(runtime, stream::current_on(runtime, device)?)? {
        return Err(Error::invalid_state(format!(
            "the current stream of device {device} is being captured, but nonzero has to wait for it, since the size of \
             the result depends on the elements; call it before"
        )));
    }
    Ok(())
}

/// The places of true elements of a vector, in order.
fn places_on_host(flat: &Tensor) -> Result<Tensor> {
    let packed = contiguous(flat, MemoryFormat::Contiguous)?;
    let mut truth = vec![0_u8; packed.numel() as usize];
    read_bytes(&packed, 0, &mut truth)?;
    let places = truth.iter().enumerate().filter(|(_, value)| **value != 0);
    from_integers(&places.map(|(place, _)| place as i64).collect::<Vec<i64>>())
}

/// As [`places_on_host`]: a sort keeps the order of equal elements, so the true ones come first, in order.
fn places_on_device(flat: &Tensor) -> Result<Tensor> {
    let sum = Reduction { op: ReduceOp::Sum, dims: &[], keep: false, dtype: Some(Dtype::I64) };
    let Scalar::Int(count) = item(&reduce(flat, sum, None)?)? else {
        return Err(Error::new(Status::Internal, "the sum of truth values is not an integer"));
    };
    let [_, places] = sort(flat, 0, true, [None, None])?;
    views::narrow(&places, 0, 0, count)
}

/// Writes the indices of each dimension that places in row-major order have.
fn write_indices(result: &Tensor, sizes: &[i64], places: Tensor) -> Result<()> {
    let mut rest = places;
    for (dim, size) in sizes.iter().enumerate().rev() {
        let column = views::select(result, 1, dim as i64)?;
        if dim == 0 {
            return copy_into(&column, &rest, true);
        }
        let of = |rest| [TensorOperand::Tensor(rest), TensorOperand::Number(Scalar::Int(*size))];
        binary(ElementOperation::Remainder, of(&rest), ONE, Some(&column))?;
        rest = binary(ElementOperation::FloorDivide, of(&rest), ONE, None)?;
    }
    Ok(())
}
