//! Convolutions through cuDNN. See `docs/design/dnn.md`.

use std::ffi::c_void;

use sconce_base::error::{Error, Result};
use sconce_compute::dnn::{self, ConvolutionRequest};
use sconce_driver::ConvolutionOperation;

use super::{Out, dtype_of, guard, guard_lockless, sconce_status, sconce_stream};

/// The largest number of spatial dimensions of a convolution.
pub const SCONCE_CONVOLUTION_MOST_SPATIAL: usize = 3;

/// What a convolution computes.
#[repr(i32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum sconce_convolution_operation {
    /// Computes the output from `a`, the input, and `b`, the filter.
    SCONCE_CONVOLUTION_FORWARD = 0,
    /// Computes the input's gradient from `a`, the output's gradient, and `b`, the filter.
    SCONCE_CONVOLUTION_BACKWARD_DATA = 1,
    /// Computes the filter's gradient from `a`, the output's gradient, and `b`, the input.
    SCONCE_CONVOLUTION_BACKWARD_FILTER = 2,
}

numbers_of!(sconce_convolution_operation as i32: SCONCE_CONVOLUTION_FORWARD, SCONCE_CONVOLUTION_BACKWARD_DATA, SCONCE_CONVOLUTION_BACKWARD_FILTER);

const _: () = {
    assert!(SCONCE_CONVOLUTION_MOST_SPATIAL == sconce_driver::MOST_SPATIAL);
};

/// Describes a convolution (a cross-correlation, as in torch) of 1 to 3 spatial dimensions. Begin
/// with `SCONCE_CONVOLUTION_DESC_INIT`.
///
/// Strides count elements. The order is batch, channels, spatial dimensions from the outermost; for
/// the filter it is output channels, input channels of a group, spatial dimensions. If all strides
/// of a tensor are 0, the tensor is packed in that order. Entries past `spatial_rank` are not read.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct sconce_convolution_desc {
    /// `sizeof(sconce_convolution_desc)`, set by the caller.
    pub struct_size: u32,
    /// Element type of all three: `SCONCE_DTYPE_` F16, BF16, F32 or F64.
    pub dtype: i32,
    /// What is computed, one of `SCONCE_CONVOLUTION_…`.
    pub operation: i32,
    /// Number of spatial dimensions, 1 to 3.
    pub spatial_rank: i32,
    /// Number of images; with 0 the filter's gradient is 0.
    pub batch: i64,
    /// Channels of the input, a multiple of `groups`.
    pub in_channels: i64,
    /// Channels of the output, a multiple of `groups`.
    pub out_channels: i64,
    /// Number of groups into which the channels are divided, at least 1.
    pub groups: i64,
    /// Spatial sizes of the input.
    pub input_sizes: [i64; SCONCE_CONVOLUTION_MOST_SPATIAL],
    /// Spatial sizes of the filter.
    pub filter_sizes: [i64; SCONCE_CONVOLUTION_MOST_SPATIAL],
    /// Step of the filter, at least 1.
    pub stride: [i64; SCONCE_CONVOLUTION_MOST_SPATIAL],
    /// Zeros on each side of the input.
    pub padding: [i64; SCONCE_CONVOLUTION_MOST_SPATIAL],
    /// Distance of the filter's elements on the input, at least 1.
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

/// Returns the calling thread's cuDNN handle for the current device, set to the current stream.
///
/// Call it again after the current device or stream has changed: it returns the same handle of the
/// device with the new stream.
///
/// - `out_handle`: receives a `cudnnHandle_t`. The simulator's handle is of use to this library
///   only.
/// - Errors: LIBRARY_NOT_FOUND: cuDNN cannot be opened; the message lists what was searched, and
///   `SCONCE_LIBCUDNN` names another place. OUT_OF_MEMORY: for the handle. INVALID_STATE: the
///   thread is ending and has returned its handles, or the call comes from a callback of a call
///   that uses the handle.
/// - Ownership: borrowed. The handle belongs to the thread until the thread ends; another thread
///   may then receive it. The caller may change its stream: the next call of this function or
///   convolution sets it again.
/// - Ordering: does not block, except for the first handle of a device.
/// - torch: `at::native::getCudnnHandle`.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_dnn_get_handle(out_handle: *mut *mut c_void) -> sconce_status {
    guard(|| {
        let out_handle = out!(out_handle);
        let handle = dnn::handle()?;
        out_handle.write(std::ptr::without_provenance_mut(handle));
        Ok(())
    })
}

/// Reports cuDNN's version as a number: 10,000 times its first part, plus 100 times its second,
/// plus its third, e.g. 91900.
///
/// - `out_version`: receives the number; 90000 on the simulator.
/// - Errors: LIBRARY_NOT_FOUND: cuDNN cannot be opened.
/// - torch: `torch.backends.cudnn.version`, which is None where this function fails.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_dnn_get_version(out_version: *mut i64) -> sconce_status {
    guard(|| {
        let out_version = out!(out_version);
        out_version.write(dnn::version()?);
        Ok(())
    })
}

/// Computes the spatial sizes of a convolution's output. Needs no device.
///
/// - `desc`: the convolution, whose strides are not read; begin with
///   `SCONCE_CONVOLUTION_DESC_INIT`.
/// - `out_sizes`: receives `spatial_rank` numbers.
/// - Errors: INVALID_ARGUMENT: a field of `desc` is out of its bounds, or the filter is larger than
///   the padded input.
/// - torch: the shapes of the results of `torch.nn.functional.conv1d`, `conv2d` and `conv3d`.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_convolution_get_output_sizes(
    desc: *const sconce_convolution_desc,
    out_sizes: *mut i64,
) -> sconce_status {
    guard_lockless(|| {
        let desc = described!(desc);
        let request = desc.request()?;
        let sizes = request.output_sizes()?;
        for (i, size) in sizes.into_iter().enumerate().take(request.spatial) {
            let place = out_sizes.wrapping_add(i);
            // SAFETY: `i` is less than the rank in `desc`, and the function's comment in the header says that
            // `out_sizes` receives so many numbers.
            unsafe { Out::new(place, "out_sizes") }?.write(size);
        }
        Ok(())
    })
}

/// Computes a convolution, or a gradient of one, as `desc` describes.
///
/// `SCONCE_CONVOLUTION_FORWARD` computes the output from the input `a` and the filter `b`;
/// `_BACKWARD_DATA` the input's gradient from the output's gradient `a` and the filter `b`;
/// `_BACKWARD_FILTER` the filter's gradient from the output's gradient `a` and the input `b`. A
/// result whose sums have no terms is set to 0. A filter, or a filter's gradient, with gaps between
/// its elements is copied through a packed temporary. The settings
/// `sconce_context_set_allow_tf32_cudnn`, `_deterministic_cudnn` and `_deterministic_algorithms`
/// apply as they are at the time of the call.
///
/// - `desc`: operation, sizes, strides; begin with `SCONCE_CONVOLUTION_DESC_INIT`.
/// - `a`, `b`: addresses of the first elements that are read.
/// - `result`: address of the first element that is written. All three are in memory of one device,
///   aligned to the element type; NULL is allowed for a tensor without elements.
/// - Errors: INVALID_ARGUMENT: a field of `desc` is out of its bounds, elements of the result
///   overlap each other or an operand, or a tensor is not in device memory or reaches beyond its
///   allocation. CROSS_DEVICE: the tensors are on different devices. NOT_SUPPORTED: cuDNN has no
///   engine, or no deterministic one if that is required, for this convolution. OUT_OF_MEMORY:
///   there is not enough memory for any engine's workspace, or for a temporary. Otherwise as
///   `sconce_dnn_get_handle`.
/// - Ownership: the memory must stay allocated until the convolution is done.
/// - Ordering: queued on the current stream of the device that holds the memory. The first
///   convolution of a shape takes milliseconds. Under `sconce_context_set_benchmark_cudnn` it waits
///   for the engines that it measures.
/// - torch: `torch.nn.functional.conv1d`, `conv2d`, `conv3d`; `torch.nn.grad.conv2d_input`,
///   `conv2d_weight` and their 1D and 3D forms.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_convolution(
    desc: *const sconce_convolution_desc,
    a: *const c_void,
    b: *const c_void,
    result: *mut c_void,
) -> sconce_status {
    guard(|| {
        let desc = described!(desc);
        dnn::convolution(&desc.request()?, a as usize, b as usize, result as usize)
    })
}

/// Computes a convolution on a stream, which is used instead of the current one. Otherwise as
/// `sconce_convolution`.
///
/// - `stream`: the stream on which the convolution is queued.
/// - Errors: CROSS_DEVICE: the memory and the stream are of different devices. Otherwise as
///   `sconce_convolution`.
/// - Threads: any; the calling thread's device and streams have no effect and do not change.
/// - Safety: as `sconce_convolution`.
/// - torch: `torch.nn.functional.conv2d` inside `torch.cuda.stream()`.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_convolution_on(
    desc: *const sconce_convolution_desc,
    a: *const c_void,
    b: *const c_void,
    result: *mut c_void,
    stream: sconce_stream,
) -> sconce_status {
    guard(|| {
        let desc = described!(desc);
        let request = desc.request()?;
        stream.run(|| dnn::convolution(&request, a as usize, b as usize, result as usize))
    })
}

/// Discards the engines that were chosen for convolutions, and their plans. Without a device there
/// is nothing to do. Plans that graphs use stay until the graphs are gone; those of captures that
/// other code began stay for ever.
///
/// - Ordering: does not block. The plans of other threads' handles are discarded when those threads
///   next compute a convolution, or end.
#[must_use]
#[unsafe(no_mangle)]
pub extern "C" fn sconce_convolution_clear_plans() -> sconce_status {
    guard(dnn::clear_plans)
}
