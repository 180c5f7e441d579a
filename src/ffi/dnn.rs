//! Convolutions through cuDNN. See `docs/design/dnn.md`.

use std::ffi::c_void;

use super::structs::described;
use super::{Out, dtype_of, guard, guard_lockless, sconce_status};
use crate::dnn::{self, ConvolutionRequest};
use crate::driver::ConvolutionOperation;
use crate::error::{Error, Result};

/// The most spatial dimensions of a convolution.
pub const SCONCE_CONVOLUTION_MOST_SPATIAL: usize = 3;

/// What a convolution calculates.
#[repr(i32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum sconce_convolution_operation {
    /// The output is calculated: from `a`, the input, and `b`, the filter.
    SCONCE_CONVOLUTION_FORWARD = 0,
    /// The input's gradient is calculated: from `a`, the output's gradient, and `b`, the filter.
    SCONCE_CONVOLUTION_BACKWARD_DATA = 1,
    /// The filter's gradient is calculated: from `a`, the output's gradient, and `b`, the input.
    SCONCE_CONVOLUTION_BACKWARD_FILTER = 2,
}

numbers_of!(sconce_convolution_operation as i32: SCONCE_CONVOLUTION_FORWARD, SCONCE_CONVOLUTION_BACKWARD_DATA, SCONCE_CONVOLUTION_BACKWARD_FILTER);

const _: () = {
    assert!(SCONCE_CONVOLUTION_MOST_SPATIAL == crate::driver::MOST_SPATIAL);
};

/// A convolution (a cross-correlation, as in torch) of 1 to 3 spatial dimensions.
///
/// Strides count elements, of the batch, the channels, then the spatial dimensions from the outermost;
/// those of the filter of output channels, input channels of a group, spatial dimensions. If all of a
/// tensor's are 0 it is packed in that order. What is past `spatial_rank` is not read.
/// Begin with `SCONCE_CONVOLUTION_DESC_INIT`. A description of which nothing was set, or whose
/// `struct_size` is no version's, is INVALID_ARGUMENT.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct sconce_convolution_desc {
    /// `sizeof(sconce_convolution_desc)`, set by the caller.
    pub struct_size: u32,
    /// The type of all three: `SCONCE_DTYPE_` F16, BF16, F32 or F64.
    pub dtype: i32,
    /// What is calculated, one of `SCONCE_CONVOLUTION_…`.
    pub operation: i32,
    /// Spatial dimensions, 1 to 3.
    pub spatial_rank: i32,
    /// Images; may be 0, which makes the filter's gradient 0.
    pub batch: i64,
    /// Channels of the input, a multiple of `groups`.
    pub in_channels: i64,
    /// Channels of the output, a multiple of `groups`.
    pub out_channels: i64,
    /// Into how many groups the channels are divided, at least 1.
    pub groups: i64,
    /// Spatial sizes of the input.
    pub input_sizes: [i64; SCONCE_CONVOLUTION_MOST_SPATIAL],
    /// Spatial sizes of the filter.
    pub filter_sizes: [i64; SCONCE_CONVOLUTION_MOST_SPATIAL],
    /// How far the filter moves, at least 1.
    pub stride: [i64; SCONCE_CONVOLUTION_MOST_SPATIAL],
    /// Zeros on each side of the input.
    pub padding: [i64; SCONCE_CONVOLUTION_MOST_SPATIAL],
    /// How far apart the filter's elements lie on the input, at least 1.
    pub dilation: [i64; SCONCE_CONVOLUTION_MOST_SPATIAL],
    /// Strides of the input, or of its gradient.
    pub input_strides: [i64; 5],
    /// Strides of the filter, or of its gradient.
    pub filter_strides: [i64; 5],
    /// Strides of the output, or of its gradient.
    pub output_strides: [i64; 5],
}

grows!(
    sconce_convolution_desc, "SCONCE_CONVOLUTION_DESC_INIT", first version: 288 bytes,
    dtype, operation, spatial_rank, batch, in_channels, out_channels, groups, input_sizes, filter_sizes,
    stride, padding, dilation, input_strides, filter_strides, output_strides,
);

/// The operation of a description.
fn operation_of(value: i32) -> Result<ConvolutionOperation> {
    match value {
        SCONCE_CONVOLUTION_FORWARD => Ok(ConvolutionOperation::Forward),
        SCONCE_CONVOLUTION_BACKWARD_DATA => Ok(ConvolutionOperation::Data),
        SCONCE_CONVOLUTION_BACKWARD_FILTER => Ok(ConvolutionOperation::Filter),
        _ => Err(Error::invalid_argument(format!(
            "desc.operation is {value}; it must be one of SCONCE_CONVOLUTION_… (0 to 2)"
        ))),
    }
}

impl sconce_convolution_desc {
    fn request(&self) -> Result<ConvolutionRequest> {
        Ok(ConvolutionRequest {
            operation: operation_of(self.operation)?,
            element: dnn::check_dtype(dtype_of(self.dtype)?)?,
            spatial: usize::try_from(self.spatial_rank)
                .ok()
                .filter(|rank| (1..=SCONCE_CONVOLUTION_MOST_SPATIAL).contains(rank))
                .ok_or_else(|| {
                    let rank = self.spatial_rank;
                    Error::invalid_argument(format!(
                        "desc.spatial_rank is {rank}; it must be 1 to 3"
                    ))
                })?,
            batch: self.batch,
            in_channels: self.in_channels,
            out_channels: self.out_channels,
            groups: self.groups,
            input_sizes: self.input_sizes,
            filter_sizes: self.filter_sizes,
            stride: self.stride,
            padding: self.padding,
            dilation: self.dilation,
            input_strides: self.input_strides,
            filter_strides: self.filter_strides,
            output_strides: self.output_strides,
        })
    }
}

/// Gives the calling thread's cuDNN handle for the current device, bound to its current stream.
///
/// # Parameters
/// `out_handle` [out]: a `cudnnHandle_t`. On the simulator it names the simulator's own handle, and
/// nothing but this library can use it.
/// # Errors
/// INVALID_ARGUMENT: `out_handle` is NULL. LIBRARY_NOT_FOUND: cuDNN cannot be opened; the message
/// tells what was searched, and `SCONCE_LIBCUDNN` names another place. OUT_OF_MEMORY: for the handle.
/// INVALID_STATE: the thread is ending and has given its handles back, or this is a callback of a call
/// that uses the handle. DRIVER. NO_DEVICE, FORKED as `sconce_init`.
/// # Ownership
/// The library's. The handle is this thread's until the thread ends; another thread then gets it. Its
/// stream may be set otherwise: the next request or convolution sets it again.
/// # Ordering
/// Does not block, but for the first handle of a device. Ask again after the current device or stream
/// has changed; a handle that was given before is changed with it, being the same one.
/// # Threads
/// Any; each has its own handle.
/// # Safety
/// `out_handle` is NULL or writable.
/// # Upstream
/// `at::native::getCudnnHandle`.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_dnn_get_handle(out_handle: *mut *mut c_void) -> sconce_status {
    guard(|| {
        // SAFETY: the caller's promise is the one asked for.
        let out_handle = unsafe { Out::new(out_handle, "out_handle") }?;
        let handle = dnn::handle()?;
        out_handle.write(std::ptr::without_provenance_mut(handle));
        Ok(())
    })
}

/// Gives cuDNN's version: 10,000 times the first number and 100 times the second and the third, such as
/// 91900.
///
/// # Parameters
/// `out_version` [out]: the version; on the simulator 90000.
/// # Errors
/// INVALID_ARGUMENT: `out_version` is NULL. LIBRARY_NOT_FOUND: cuDNN cannot be opened. NO_DEVICE,
/// FORKED as `sconce_init`.
/// # Ownership
/// None.
/// # Ordering
/// Does not block.
/// # Threads
/// Any.
/// # Safety
/// `out_version` is NULL or writable.
/// # Upstream
/// `torch.backends.cudnn.version`, which is None where this fails.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_dnn_get_version(out_version: *mut i64) -> sconce_status {
    guard(|| {
        // SAFETY: the caller's promise is the one asked for.
        let out_version = unsafe { Out::new(out_version, "out_version") }?;
        out_version.write(dnn::version()?);
        Ok(())
    })
}

/// Gives the spatial sizes of a convolution's output.
///
/// # Parameters
/// `desc`: the convolution; strides are not looked at. `out_sizes` [out]: as many as `spatial_rank`
/// says are written.
/// # Errors
/// INVALID_ARGUMENT: `desc` is NULL or out of its bounds, the filter is larger than the padded input,
/// or `out_sizes` is NULL.
/// # Ownership
/// None.
/// # Ordering
/// Does not block, and needs no device.
/// # Threads
/// Any.
/// # Safety
/// `desc` is NULL or points to as many readable bytes as its `struct_size` says. `out_sizes` is NULL or
/// writable for three numbers.
/// # Upstream
/// The shape of what `torch.nn.functional.conv1d`, `conv2d` and `conv3d` return.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_convolution_get_output_sizes(
    desc: *const sconce_convolution_desc,
    out_sizes: *mut i64,
) -> sconce_status {
    guard_lockless(|| {
        // SAFETY: the caller's promise is the one asked for.
        let desc = unsafe { described(desc, "desc") }?;
        let request = desc.request()?;
        let sizes = request.output_sizes()?;
        for (i, size) in sizes.into_iter().enumerate().take(request.spatial) {
            // SAFETY: three numbers may be written, says the caller.
            let place = out_sizes.wrapping_add(i);
            // SAFETY: as above.
            unsafe { Out::new(place, "out_sizes") }?.write(size);
        }
        Ok(())
    })
}

/// Convolves, or calculates a gradient of a convolution, as `desc` tells.
///
/// # Parameters
/// `desc`: operation, sizes, strides. `a`, `b`: the first elements of what is read, `result` of what is
/// written: the output from input `a` and filter `b`, the input's gradient from the output's gradient
/// `a` and filter `b`, or the filter's gradient from the output's gradient `a` and input `b`. All are
/// memory of one device and aligned to their type; NULL is allowed where a tensor has no elements. A
/// result whose sums have no terms is set to 0. A filter, or a filter's gradient, with gaps between its
/// elements goes through a packed temporary.
/// # Errors
/// INVALID_ARGUMENT: `desc` is NULL or out of its bounds, the result overlaps itself or what is read,
/// an address is NULL, misaligned, no memory of a device, or runs beyond its allocation. CROSS_DEVICE:
/// they lie on several devices. NOT_SUPPORTED: no engine of cuDNN does this, or none of the
/// deterministic ones. OUT_OF_MEMORY: no engine's workspace fits, or no temporary. LIBRARY_NOT_FOUND,
/// INVALID_STATE as `sconce_dnn_get_handle`. DRIVER: also for a failure of earlier work on the device.
/// NO_DEVICE, FORKED as `sconce_init`.
/// # Ownership
/// None. The memory must stay until the convolution is done.
/// # Ordering
/// On the current stream of the device that the memory is on. Does not block, unless
/// `CUDA_LAUNCH_BLOCKING=1`; but the first convolution of a shape takes milliseconds, and under
/// `sconce_context_set_benchmark_cudnn` waits for the engines that it tries. Obeys
/// `sconce_context_set_allow_tf32_cudnn`, `_deterministic_cudnn` and `_deterministic_algorithms` as
/// they are at the call.
/// # Threads
/// Any.
/// # Safety
/// `desc` is NULL or points to as many readable bytes as its `struct_size` says. Addresses are checked.
/// # Upstream
/// `torch.nn.functional.conv1d`, `conv2d`, `conv3d`; `torch.nn.grad.conv2d_input`, `conv2d_weight` and
/// their like.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_convolution(
    desc: *const sconce_convolution_desc,
    a: *const c_void,
    b: *const c_void,
    result: *mut c_void,
) -> sconce_status {
    guard(|| {
        // SAFETY: the caller's promise is the one asked for.
        let desc = unsafe { described(desc, "desc") }?;
        dnn::convolution(&desc.request()?, a as usize, b as usize, result as usize)
    })
}

/// Forgets the engines that were chosen for convolutions, and what was made ready for them.
///
/// # Parameters
/// None.
/// # Errors
/// FORKED as `sconce_init`. Without a device there is nothing to do.
/// # Ownership
/// None.
/// # Ordering
/// Does not block. What belongs to other threads' handles goes when they next convolve, or end.
/// # Threads
/// Any.
/// # Safety
/// No requirements.
/// # Upstream
/// None; torch keeps its choices until the process ends.
#[must_use]
#[unsafe(no_mangle)]
pub extern "C" fn sconce_convolution_clear_plans() -> sconce_status {
    guard(dnn::clear_plans)
}
