//! Tensors of devices to one place.

use sconce_tensors::comm_tensors;

use super::{Returned, lists_of, write_all};
use crate::tensor::handle::{again, defined, returned, tensors_of};
use crate::tensor::sconce_tensor;
use crate::{guard, sconce_status};

/// Adds tensors of devices. If there is only one tensor, the result is that tensor, with one more
/// owner.
///
/// - `tensors`: at least one tensor; all of the same shape, on devices. They are added in their
///   order, beginning with the one on the destination. Integers, for which the order does not
///   matter, are added with one collective operation under the conditions of
///   `sconce_comm_tensors_broadcast`.
/// - `count`: number of tensors.
/// - `destination`: the device of the result; one of the tensors must be there. If several are, the
///   addition begins with the last of them. -1 for the current device.
/// - `out_tensor`: receives the sum.
/// - Errors: INVALID_ARGUMENT: a tensor is on the CPU, has another shape, or none is on the destination.
/// - Ownership: the caller releases the result with `sconce_tensor_release`.
/// - Ordering: the sum is ready in the order of the destination's current stream. Tensors of other devices are read in
///   the order of their devices' current streams.
/// - torch: `torch.cuda.comm.reduce_add(inputs, destination)`.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_comm_tensors_reduce_add(
    tensors: *const *mut sconce_tensor,
    count: usize,
    destination: i32,
    out_tensor: *mut *mut sconce_tensor,
) -> sconce_status {
    guard(|| {
        let out_tensor = out!(out_tensor);
        let inputs = checked!(tensors_of, tensors, count);
        let handles = entries!(tensors, count);
        out_tensor.write(match comm_tensors::reduce_add(&inputs, destination)? {
            Some(sum) => returned(sum)?,
            None => again(handles[0], "tensors[0]")?,
        });
        Ok(())
    })
}

/// Adds many tensors of devices with few copies: tensors of one type are joined into buffers of up
/// to `buffer_bytes`.
///
/// - `tensors`: `lists * count` tensors: those of the first device, then those of the second one, and so on; each list
///   has the same types and shapes.
/// - `lists`: number of devices, at least 1.
/// - `count`: number of tensors of each device.
/// - `destination`: the device of the results; one of the lists must be there. -1 for the current
///   device.
/// - `buffer_bytes`: 10,485,760 in torch.
/// - `out_tensors`: receives `count` sums.
/// - Errors: INVALID_ARGUMENT: as `sconce_comm_tensors_reduce_add`, or the lists differ.
/// - Ownership: the caller releases each result with `sconce_tensor_release`. Results that were
///   joined share a block.
/// - Ordering: as `sconce_comm_tensors_reduce_add`.
/// - torch: `torch.cuda.comm.reduce_add_coalesced(inputs, destination, buffer_size)`.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_comm_tensors_reduce_add_coalesced(
    tensors: *const *mut sconce_tensor,
    lists: usize,
    count: usize,
    destination: i32,
    buffer_bytes: usize,
    out_tensors: *mut *mut sconce_tensor,
) -> sconce_status {
    guard(|| {
        let inputs = checked!(lists_of(tensors, lists, count));
        let out_tensors = out_entries!(out_tensors, count);
        let sums = comm_tensors::reduce_add_coalesced(&inputs, destination, buffer_bytes)?;
        write_all(sums.into_iter().map(Returned::New).collect(), out_tensors)
    })
}

/// Joins tensors of devices along a dimension.
///
/// - `tensors`: on devices, of shapes that differ only in `dim`; at least 1, with at least one dimension.
/// - `count`: number of tensors.
/// - `destination`: the device of the result, -1 for the current one, or `SCONCE_DEVICE_CPU`.
/// - `out_tensor`: receives the joined tensor, which has the type of the first one. It has the
///   channels-last memory format if all tensors have it.
/// - Errors: INVALID_ARGUMENT: a tensor is on the CPU, or the shapes do not fit.
/// - Ownership: the caller releases the result with `sconce_tensor_release`.
/// - Ordering: the result is ready in the order of the destination's current stream. If the
///   destination is the CPU, the call waits for the copies.
/// - torch: `torch.cuda.comm.gather(tensors, dim, destination)`.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_comm_tensors_gather(
    tensors: *const *mut sconce_tensor,
    count: usize,
    dim: i64,
    destination: i32,
    out_tensor: *mut *mut sconce_tensor,
) -> sconce_status {
    guard(|| {
        let out_tensor = out!(out_tensor);
        let inputs = checked!(tensors_of, tensors, count);
        out_tensor.write(returned(comm_tensors::gather(&inputs, dim, destination)?)?);
        Ok(())
    })
}

/// Joins tensors of devices along a dimension, and writes the result to a tensor of the caller.
///
/// - `tensors`: as for `sconce_comm_tensors_gather`.
/// - `count`: number of tensors.
/// - `output`: on a device or the CPU, of the shape of the joined tensors.
/// - Errors: INVALID_ARGUMENT: a tensor is on the CPU, or the shapes do not fit. After any failure the contents of the
///   output are undefined.
/// - Ordering: as `sconce_comm_tensors_gather`.
/// - torch: `torch.cuda.comm.gather(tensors, dim, out=output)`.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_comm_tensors_gather_out(
    tensors: *const *mut sconce_tensor,
    count: usize,
    dim: i64,
    output: *mut sconce_tensor,
) -> sconce_status {
    guard(|| {
        let inputs = checked!(tensors_of, tensors, count);
        comm_tensors::gather_out(&inputs, dim, &defined(output, "output")?)
    })
}
