//! Tensors to devices.

use sconce_base::error::{Error, Result};
use sconce_runtime::context::runtime;
use sconce_tensors::comm_tensors::{self, ScatterTarget};

use super::{Returned, write_all};
use crate::tensor::handle::{defined, tensors_of};
use crate::tensor::sconce_tensor;
use crate::{guard, sconce_status, sconce_stream};

/// Copies a tensor to devices. On the tensor's own device the result is the tensor itself, with one
/// more owner.
///
/// - `tensor`: on a device or the CPU.
/// - `devices`: indices; -1 is not allowed.
/// - `count`: number of devices.
/// - `out_tensors`: receives `count` tensors, of the sizes, type and order in memory of `tensor`.
/// - Errors: INVALID_ARGUMENT: an index is negative. OUT_OF_MEMORY: nothing is queued then.
/// - Ownership: the caller releases each result with `sconce_tensor_release`.
/// - Ordering: each copy is ordered as by `sconce_copy` between devices: it runs on the current
///   stream of the tensor's device, and the current stream of the other device waits for it. If
///   NCCL is installed, copies of 1 MiB or more to three or more devices are one collective
///   operation on the current streams of all of them. The first such operation makes a communicator
///   of the devices, and the host waits for that.
/// - torch: `torch.cuda.comm.broadcast(tensor, devices)`.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_comm_tensors_broadcast(
    tensor: *mut sconce_tensor,
    devices: *const i32,
    count: usize,
    out_tensors: *mut *mut sconce_tensor,
) -> sconce_status {
    guard(|| {
        let source = defined(tensor, "tensor")?;
        let devices = entries!(devices, count);
        let out_tensors = out_entries!(out_tensors, count);
        let copies = comm_tensors::broadcast(&source, devices)?;
        let results = copies.into_iter().map(|copy| match copy {
            Some(copy) => Returned::New(copy),
            None => Returned::Again(tensor),
        });
        write_all(results.collect(), out_tensors)
    })
}

/// Copies a tensor to tensors of devices.
///
/// - `tensor`: on a device or the CPU.
/// - `outputs`: tensors of devices, of the sizes of `tensor`.
/// - `count`: number of outputs.
/// - Errors: INVALID_ARGUMENT: an output is on the CPU or has another shape. After any failure the contents of the
///   outputs are undefined.
/// - Ordering: as `sconce_comm_tensors_broadcast`.
/// - torch: `torch.cuda.comm.broadcast(tensor, out=outputs)`.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_comm_tensors_broadcast_out(
    tensor: *mut sconce_tensor,
    outputs: *const *mut sconce_tensor,
    count: usize,
) -> sconce_status {
    guard(|| {
        let source = defined(tensor, "tensor")?;
        comm_tensors::broadcast_out(&source, &checked!(tensors_of, outputs, count))
    })
}

/// Copies many tensors to devices with few copies: tensors of one type are joined until they have
/// `buffer_bytes` or more.
///
/// - `tensors`: on the first device.
/// - `count`: number of tensors.
/// - `devices`: indices; -1 is not allowed.
/// - `device_count`: number of devices, at least 1.
/// - `buffer_bytes`: 10,485,760 in torch.
/// - `out_tensors`: receives `device_count * count` tensors: those of the first device, which are the tensors
///   themselves, then those of the second one, and so on.
/// - Errors: INVALID_ARGUMENT: a tensor is not on the first device, or an index is negative.
/// - Ownership: the caller releases each result with `sconce_tensor_release`. Results that were
///   joined share a block, which is freed with the last of them.
/// - Ordering: as `sconce_comm_tensors_broadcast`.
/// - torch: `torch.cuda.comm.broadcast_coalesced(tensors, devices, buffer_size)`.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_comm_tensors_broadcast_coalesced(
    tensors: *const *mut sconce_tensor,
    count: usize,
    devices: *const i32,
    device_count: usize,
    buffer_bytes: usize,
    out_tensors: *mut *mut sconce_tensor,
) -> sconce_status {
    guard(|| {
        let sources = checked!(tensors_of, tensors, count);
        let devices = entries!(devices, device_count);
        let out_tensors = out_entries!(out_tensors, count.saturating_mul(device_count));
        let handles = entries!(tensors, count);
        let received = comm_tensors::broadcast_coalesced(&sources, devices, buffer_bytes)?;
        let mut results = Vec::with_capacity(count.saturating_mul(device_count));
        for of_device in received {
            match of_device {
                None => results.extend(handles.iter().map(|tensor| Returned::Again(*tensor))),
                Some(views) => results.extend(views.into_iter().map(Returned::New)),
            }
        }
        write_all(results, out_tensors)
    })
}

/// Splits a tensor along a dimension, and copies each part to a device. A part that is on its
/// device already is a view.
///
/// - `tensor`: on a device or the CPU, with at least one dimension.
/// - `devices`: indices; -1 is not allowed.
/// - `count`: number of devices, at least 1.
/// - `chunk_sizes`: the sizes of the `count` parts; NULL for parts of equal size, of which the last
///   may be smaller. With NULL there may be fewer parts than devices.
/// - `streams`: `count` pointers, each NULL or to a stream of the device, which is used instead of
///   the current one there; NULL to use the current streams.
/// - `out_tensors`: receives the parts; can hold `count` tensors.
/// - `out_count`: receives the number of parts.
/// - Errors: INVALID_ARGUMENT: the sum of the sizes is not the size of the dimension, a stream is
///   of another device, or an index is negative.
/// - Ownership: the caller releases each result with `sconce_tensor_release`.
/// - Ordering: as `sconce_comm_tensors_broadcast`.
/// - torch: `torch.cuda.comm.scatter(tensor, devices, chunk_sizes, dim, streams)`.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_comm_tensors_scatter(
    tensor: *mut sconce_tensor,
    devices: *const i32,
    count: usize,
    chunk_sizes: *const i64,
    dim: i64,
    streams: *const *const sconce_stream,
    out_tensors: *mut *mut sconce_tensor,
    out_count: *mut usize,
) -> sconce_status {
    guard(|| {
        let out_count = out!(out_count);
        let source = defined(tensor, "tensor")?;
        let devices = entries!(devices, count);
        let sizes = match chunk_sizes.is_null() {
            true => None,
            false => Some(entries!(chunk_sizes, count)),
        };
        let streams = match streams.is_null() {
            true => &[],
            false => entries!(streams, count),
        };
        let out_tensors = out_entries!(out_tensors, count);
        let target = |(index, device): (usize, &i32)| -> Result<ScatterTarget> {
            let stream = match streams.get(index) {
                None => None,
                Some(stream) if stream.is_null() => None,
                Some(stream) if !stream.is_aligned() => {
                    return Err(Error::invalid_argument(format!(
                        "streams[{index}] is not aligned for its type"
                    )));
                }
                // SAFETY: neither NULL nor misaligned: an entry of `streams`, each of which is NULL or a stream.
                Some(stream) => Some(unsafe { stream.read() }.resolve(runtime()?)?),
            };
            Ok(ScatterTarget { device: *device, stream })
        };
        let targets: Result<Vec<ScatterTarget>> = devices.iter().enumerate().map(target).collect();
        let parts = comm_tensors::scatter(&source, &targets?, sizes, dim)?;
        let number = parts.len();
        let results = parts.into_iter().map(Returned::New).collect();
        write_all(results, out_tensors)?;
        out_count.write(number);
        Ok(())
    })
}

/// Copies the parts of a tensor along a dimension to tensors of devices.
///
/// - `tensor`: on a device or the CPU, with at least one dimension.
/// - `outputs`: tensors of devices. The sum of their sizes along `dim` is the tensor's size; their
///   other sizes are the tensor's.
/// - `count`: number of outputs, at least 1.
/// - Errors: INVALID_ARGUMENT: an output is on the CPU or has another shape. After any failure the contents of the
///   outputs are undefined.
/// - Ordering: as `sconce_comm_tensors_broadcast`.
/// - torch: `torch.cuda.comm.scatter(tensor, dim=dim, out=outputs)`.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_comm_tensors_scatter_out(
    tensor: *mut sconce_tensor,
    outputs: *const *mut sconce_tensor,
    count: usize,
    dim: i64,
) -> sconce_status {
    guard(|| {
        let source = defined(tensor, "tensor")?;
        let outputs = checked!(tensors_of, outputs, count);
        comm_tensors::scatter_out(&source, &outputs, dim)
    })
}
