/*
 * Sconce: PyTorch's CUDA runtime layer without PyTorch. The C API.
 *
 * Generated from src by cbindgen; do not edit. SCONCE_BLESS=1 cargo test --test header_sync
 * writes it anew.
 */

/**
 * @file
 * Convolutions, with cuDNN.
 *
 * What holds for every function is said in sconce/c/library.h.
 */

#ifndef SCONCE_C_DNN_H_
#define SCONCE_C_DNN_H_

#include <sconce/c/library.h>
#include <sconce/c/stream.h>
#include <sconce/c/dtype.h>

/**
 * The largest number of spatial dimensions of a convolution.
 */
#define SCONCE_CONVOLUTION_MOST_SPATIAL 3

/**
 * What a convolution computes.
 */
#ifdef __cplusplus
enum sconce_convolution_operation : int32_t {
#else
typedef int32_t sconce_convolution_operation;
enum {
#endif
  /**
   * Computes the output from `a`, the input, and `b`, the filter.
   */
  SCONCE_CONVOLUTION_FORWARD = 0,
  /**
   * Computes the input's gradient from `a`, the output's gradient, and `b`, the filter.
   */
  SCONCE_CONVOLUTION_BACKWARD_DATA = 1,
  /**
   * Computes the filter's gradient from `a`, the output's gradient, and `b`, the input.
   */
  SCONCE_CONVOLUTION_BACKWARD_FILTER = 2,
};

/**
 * Describes a convolution (a cross-correlation, as in torch) of 1 to 3 spatial dimensions. Begin
 * with `SCONCE_CONVOLUTION_DESC_INIT`.
 *
 * Strides count elements. The order is batch, channels, spatial dimensions from the outermost; for
 * the filter it is output channels, input channels of a group, spatial dimensions. If all strides
 * of a tensor are 0, the tensor is packed in that order. Entries past `spatial_rank` are not read.
 */
typedef struct sconce_convolution_desc {
  /**
   * `sizeof(sconce_convolution_desc)`, set by the caller.
   */
  uint32_t struct_size;
  /**
   * Element type of all three: `SCONCE_DTYPE_` F16, BF16, F32 or F64.
   */
  int32_t dtype;
  /**
   * What is computed, one of `SCONCE_CONVOLUTION_…`.
   */
  int32_t operation;
  /**
   * Number of spatial dimensions, 1 to 3.
   */
  int32_t spatial_rank;
  /**
   * Number of images; with 0 the filter's gradient is 0.
   */
  int64_t batch;
  /**
   * Channels of the input, a multiple of `groups`.
   */
  int64_t in_channels;
  /**
   * Channels of the output, a multiple of `groups`.
   */
  int64_t out_channels;
  /**
   * Number of groups into which the channels are divided, at least 1.
   */
  int64_t groups;
  /**
   * Spatial sizes of the input.
   */
  int64_t input_sizes[SCONCE_CONVOLUTION_MOST_SPATIAL];
  /**
   * Spatial sizes of the filter.
   */
  int64_t filter_sizes[SCONCE_CONVOLUTION_MOST_SPATIAL];
  /**
   * Step of the filter, at least 1.
   */
  int64_t stride[SCONCE_CONVOLUTION_MOST_SPATIAL];
  /**
   * Zeros on each side of the input.
   */
  int64_t padding[SCONCE_CONVOLUTION_MOST_SPATIAL];
  /**
   * Distance of the filter's elements on the input, at least 1.
   */
  int64_t dilation[SCONCE_CONVOLUTION_MOST_SPATIAL];
  /**
   * Strides of the input, or of its gradient.
   */
  int64_t input_strides[5];
  /**
   * Strides of the filter, or of its gradient.
   */
  int64_t filter_strides[5];
  /**
   * Strides of the output, or of its gradient.
   */
  int64_t output_strides[5];
} sconce_convolution_desc;

/**
 * A `sconce_convolution_desc`: a forward convolution of packed F32 in 2 spatial dimensions and one group,
 * of stride 1, without padding; set channels and sizes.
 */
#ifdef __cplusplus
#define SCONCE_CONVOLUTION_DESC_INIT \
  {sizeof(sconce_convolution_desc), 0, 0, 2, 1, 0, 0, 1, {}, {}, {1, 1, 1}, {}, {1, 1, 1}, \
   {}, {}, {}}
#else
#define SCONCE_CONVOLUTION_DESC_INIT \
  {.struct_size = sizeof(sconce_convolution_desc), .spatial_rank = 2, .batch = 1, \
   .groups = 1, .stride = {1, 1, 1}, .dilation = {1, 1, 1}}
#endif

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Returns the calling thread's cuDNN handle for the current device, set to the current stream.
 *
 * Call it again after the current device or stream has changed: it returns the same handle of the
 * device with the new stream.
 *
 * - `out_handle`: receives a `cudnnHandle_t`. The simulator's handle is of use to this library
 *   only.
 * - Errors: LIBRARY_NOT_FOUND: cuDNN cannot be opened; the message lists what was searched, and
 *   `SCONCE_LIBCUDNN` names another place. OUT_OF_MEMORY: for the handle. INVALID_STATE: the
 *   thread is ending and has returned its handles, or the call comes from a callback of a call
 *   that uses the handle.
 * - Ownership: borrowed. The handle belongs to the thread until the thread ends; another thread
 *   may then receive it. The caller may change its stream: the next call of this function or
 *   convolution sets it again.
 * - Ordering: does not block, except for the first handle of a device.
 * - torch: `at::native::getCudnnHandle`.
 */
SCONCE_NODISCARD sconce_status sconce_dnn_get_handle(void **out_handle);

/**
 * Reports cuDNN's version as a number: 10,000 times its first part, plus 100 times its second,
 * plus its third, e.g. 91900.
 *
 * - `out_version`: receives the number; 90000 on the simulator.
 * - Errors: LIBRARY_NOT_FOUND: cuDNN cannot be opened.
 * - torch: `torch.backends.cudnn.version`, which is None where this function fails.
 */
SCONCE_NODISCARD sconce_status sconce_dnn_get_version(int64_t *out_version);

/**
 * Computes the spatial sizes of a convolution's output. Needs no device.
 *
 * - `desc`: the convolution, whose strides are not read; begin with
 *   `SCONCE_CONVOLUTION_DESC_INIT`.
 * - `out_sizes`: receives `spatial_rank` numbers.
 * - Errors: INVALID_ARGUMENT: a field of `desc` is out of its bounds, or the filter is larger than
 *   the padded input.
 * - torch: the shapes of the results of `torch.nn.functional.conv1d`, `conv2d` and `conv3d`.
 */
SCONCE_NODISCARD
sconce_status sconce_convolution_get_output_sizes(const struct sconce_convolution_desc *desc,
                                                  int64_t *out_sizes);

/**
 * Computes a convolution, or a gradient of one, as `desc` describes.
 *
 * `SCONCE_CONVOLUTION_FORWARD` computes the output from the input `a` and the filter `b`;
 * `_BACKWARD_DATA` the input's gradient from the output's gradient `a` and the filter `b`;
 * `_BACKWARD_FILTER` the filter's gradient from the output's gradient `a` and the input `b`. A
 * result whose sums have no terms is set to 0. A filter, or a filter's gradient, with gaps between
 * its elements is copied through a packed temporary. The settings
 * `sconce_context_set_allow_tf32_cudnn`, `_deterministic_cudnn` and `_deterministic_algorithms`
 * apply as they are at the time of the call.
 *
 * - `desc`: operation, sizes, strides; begin with `SCONCE_CONVOLUTION_DESC_INIT`.
 * - `a`, `b`: addresses of the first elements that are read.
 * - `result`: address of the first element that is written. All three are in memory of one device,
 *   aligned to the element type; NULL is allowed for a tensor without elements.
 * - Errors: INVALID_ARGUMENT: a field of `desc` is out of its bounds, elements of the result
 *   overlap each other or an operand, or a tensor is not in device memory or reaches beyond its
 *   allocation. CROSS_DEVICE: the tensors are on different devices. NOT_SUPPORTED: cuDNN has no
 *   engine, or no deterministic one if that is required, for this convolution. OUT_OF_MEMORY:
 *   there is not enough memory for any engine's workspace, or for a temporary. Otherwise as
 *   `sconce_dnn_get_handle`.
 * - Ownership: the memory must stay allocated until the convolution is done.
 * - Ordering: queued on the current stream of the device that holds the memory. The first
 *   convolution of a shape takes milliseconds. Under `sconce_context_set_benchmark_cudnn` it waits
 *   for the engines that it measures.
 * - torch: `torch.nn.functional.conv1d`, `conv2d`, `conv3d`; `torch.nn.grad.conv2d_input`,
 *   `conv2d_weight` and their 1D and 3D forms.
 */
SCONCE_NODISCARD
sconce_status sconce_convolution(const struct sconce_convolution_desc *desc,
                                 const void *a,
                                 const void *b,
                                 void *result);

/**
 * Computes a convolution on a stream, which is used instead of the current one. Otherwise as
 * `sconce_convolution`.
 *
 * - `stream`: the stream on which the convolution is queued.
 * - Errors: CROSS_DEVICE: the memory and the stream are of different devices. Otherwise as
 *   `sconce_convolution`.
 * - Threads: any; the calling thread's device and streams have no effect and do not change.
 * - Safety: as `sconce_convolution`.
 * - torch: `torch.nn.functional.conv2d` inside `torch.cuda.stream()`.
 */
SCONCE_NODISCARD
sconce_status sconce_convolution_on(const struct sconce_convolution_desc *desc,
                                    const void *a,
                                    const void *b,
                                    void *result,
                                    struct sconce_stream stream);

/**
 * Discards the engines that were chosen for convolutions, and their plans. Without a device there
 * is nothing to do. Plans that graphs use stay until the graphs are gone; those of captures that
 * other code began stay for ever.
 *
 * - Ordering: does not block. The plans of other threads' handles are discarded when those threads
 *   next compute a convolution, or end.
 */
SCONCE_NODISCARD sconce_status sconce_convolution_clear_plans(void);

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  /* SCONCE_C_DNN_H_ */
