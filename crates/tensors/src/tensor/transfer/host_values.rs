//! Values that the host passes or asks for.

use sconce_base::element::Dtype;
use sconce_base::error::{Error, Result, Status};
use sconce_compute::copy;
use sconce_compute::pointwise::Scalar;
use sconce_driver::HostRange;
use sconce_math::arithmetic::{AnyNumber, decode};

use super::copy::copy_bytes;
use crate::tensor::transfer::contiguous;
use crate::tensor::{MemoryFormat, Place, Tensor, TensorOptions};

/// A new tensor with values that lie one after another in the caller's memory; they may be changed once
/// this returns.
pub fn from_values(values: HostRange, sizes: &[i64], options: TensorOptions) -> Result<Tensor> {
    let tensor = options.empty(sizes)?;
    let bytes = tensor.packed_bytes();
    if values.bytes() != bytes {
        return Err(Error::invalid_argument(format!(
            "values has {} bytes, but sizes {sizes:?} of {} take {bytes}",
            values.bytes(),
            options.dtype.name()
        )));
    }
    copy_bytes(tensor.place(), tensor.raw(), values.raw(), bytes)?;
    Ok(tensor)
}

/// A vector of integers on the CPU.
pub(crate) fn from_integers(values: &[i64]) -> Result<Tensor> {
    let bytes = size_of_val(values);
    // SAFETY: the slice outlives the call, which only reads it.
    let range = unsafe { HostRange::new(values.as_ptr().expose_provenance(), bytes) };
    let options = TensorOptions { dtype: Dtype::I64, place: Place::Cpu, pinned: false };
    from_values(range, &[values.len() as i64], options)
}

/// Writes bytes into the memory of a tensor of the CPU, from so many bytes after its first element on.
pub fn write_bytes(tensor: &Tensor, at: usize, bytes: &[u8]) -> Result<()> {
    // SAFETY: the slice outlives the call, which only reads it.
    let from = unsafe { HostRange::new(bytes.as_ptr().expose_provenance(), bytes.len()) };
    copy_bytes(Place::Cpu, tensor.raw().offset(at), from.raw(), bytes.len())
}

/// Reads bytes of the memory of a tensor of the CPU, from so many bytes after its first element on.
pub(crate) fn read_bytes(tensor: &Tensor, at: usize, into: &mut [u8]) -> Result<()> {
    // SAFETY: the slice outlives the call, and is borrowed exclusively.
    let to = unsafe { HostRange::new(into.as_mut_ptr().expose_provenance(), into.len()) };
    copy_bytes(Place::Cpu, to.raw(), tensor.raw().offset(at), into.len())
}

/// All elements in row-major order, written to the caller's memory. Waits for the current stream.
pub fn to_values(tensor: &Tensor, values: HostRange) -> Result<()> {
    let bytes = tensor.packed_bytes();
    if values.bytes() != bytes {
        return Err(Error::invalid_argument(format!(
            "values has {} bytes, but the tensor's elements take {bytes}",
            values.bytes()
        )));
    }
    let packed = contiguous(tensor, MemoryFormat::Contiguous)?;
    copy_bytes(packed.place(), values.raw(), packed.raw(), bytes)
}

/// The numbers of all elements in row-major order. Waits for the current stream.
pub fn elements(tensor: &Tensor) -> Result<Vec<AnyNumber>> {
    let count = tensor.packed_bytes();
    let mut bytes = Vec::new();
    bytes.try_reserve_exact(count).map_err(|_| {
        Error::new(Status::OutOfMemory, format!("no memory of the host for {count} bytes"))
    })?;
    bytes.resize(count, 0_u8);
    // SAFETY: the vector outlives the call, which waits for the copy.
    let values = unsafe { HostRange::new(bytes.as_mut_ptr().expose_provenance(), bytes.len()) };
    to_values(tensor, values)?;
    let number = |element: &[u8]| decode(tensor.dtype(), element);
    Ok(bytes.chunks_exact(tensor.element()).map(number).collect())
}

/// The value of a tensor of one element. Waits for the current stream.
pub fn item(tensor: &Tensor) -> Result<Scalar> {
    if tensor.numel() != 1 {
        return Err(Error::invalid_argument(format!(
            "a Tensor with {} elements cannot be converted to Scalar",
            tensor.numel()
        )));
    }
    let mut bytes = [0_u8; copy::MOST_ELEMENT_BYTES];
    let element = tensor.element();
    match tensor.place() {
        Place::Device(device) => bytes = copy::read_element(device, tensor.address(), element)?,
        Place::Cpu => {
            // SAFETY: the array outlives the call, which returns when the copy is done.
            let values = unsafe { HostRange::new(bytes.as_mut_ptr().expose_provenance(), element) };
            copy_bytes(Place::Cpu, values.raw(), tensor.raw(), element)?;
        }
    }
    scalar_of(tensor.dtype(), &bytes)
}

/// The value of an element's bytes.
fn scalar_of(dtype: Dtype, bytes: &[u8; 16]) -> Result<Scalar> {
    if dtype == Dtype::F4E2M1FnX2 {
        return Err(Error::not_supported(format!(
            "an element of {} holds two values; copy the bytes with sconce_tensor_to_values",
            dtype.name()
        )));
    }
    Ok(match (dtype, decode(dtype, bytes)) {
        (Dtype::Bool, AnyNumber::Unsigned(value)) => Scalar::Bool(value != 0),
        (_, AnyNumber::Signed(value)) => Scalar::Int(value),
        // Numbers from 2^63 on keep their bits.
        (_, AnyNumber::Unsigned(value)) => Scalar::Int(value as i64),
        (_, AnyNumber::Single(value)) => Scalar::Float(f64::from(value)),
        (_, AnyNumber::Double(value)) => Scalar::Float(value),
        (_, AnyNumber::ComplexSingle([real, imaginary])) => {
            Scalar::Complex(f64::from(real), f64::from(imaginary))
        }
        (_, AnyNumber::ComplexDouble([real, imaginary])) => Scalar::Complex(real, imaginary),
    })
}
