/* clang-format off */
/*
 * Sconce: compiled models and kernel libraries of PyTorch without PyTorch. The C API of libsconce_torch.
 *
 * Generated from torch/src by cbindgen; do not edit. SCONCE_BLESS=1 cargo test -p sconce-torch --test header_sync
 * writes it anew.
 */

/**
 * @file
 * The C API of libsconce_torch.
 *
 * What sconce.h states once for all functions holds here, too, with one difference: the text of a failure of this
 * library is `sconce_torch_last_error_message()`. Tensors are those of libsconce: `sconce_tensor`.
 */

#ifndef SCONCE_SCONCE_TORCH_H_
#define SCONCE_SCONCE_TORCH_H_

#include "sconce/sconce.h"

/** A `sconce_op_value`: nothing. */
#ifdef __cplusplus
#define SCONCE_OP_VALUE_INIT \
  {SCONCE_OP_VALUE_NONE, 0, 0, 0, nullptr, nullptr, nullptr, 0}
#else
#define SCONCE_OP_VALUE_INIT \
  {.kind = SCONCE_OP_VALUE_NONE}
#endif

/** A `sconce_model_options`: the current device, and the package's only model. */
#ifdef __cplusplus
#define SCONCE_MODEL_OPTIONS_INIT \
  {sizeof(sconce_model_options), -1, nullptr}
#else
#define SCONCE_MODEL_OPTIONS_INIT \
  {.struct_size = sizeof(sconce_model_options), .device = -1}
#endif

/** A `sconce_model_input`: for results. */
#ifdef __cplusplus
#define SCONCE_MODEL_INPUT_INIT \
  {sizeof(sconce_model_input), 0, 0, 0, {}, {}}
#else
#define SCONCE_MODEL_INPUT_INIT \
  {.struct_size = sizeof(sconce_model_input)}
#endif

/** A `sconce_model_output`: for results. */
#ifdef __cplusplus
#define SCONCE_MODEL_OUTPUT_INIT \
  {sizeof(sconce_model_output), 0, 0, 0, {}, {}}
#else
#define SCONCE_MODEL_OUTPUT_INIT \
  {.struct_size = sizeof(sconce_model_output)}
#endif

/** A `sconce_model_memory`: for results. */
#ifdef __cplusplus
#define SCONCE_MODEL_MEMORY_INIT \
  {sizeof(sconce_model_memory), 0, 0, 0, 0, 0, 0, 0}
#else
#define SCONCE_MODEL_MEMORY_INIT \
  {.struct_size = sizeof(sconce_model_memory)}
#endif

/** A `sconce_model_constant`: for results. */
#ifdef __cplusplus
#define SCONCE_MODEL_CONSTANT_INIT \
  {sizeof(sconce_model_constant), 0, 0, false, {}}
#else
#define SCONCE_MODEL_CONSTANT_INIT \
  {.struct_size = sizeof(sconce_model_constant)}
#endif

/**
 * Nothing: of an optional argument.
 */
#define SCONCE_OP_VALUE_NONE 0

/**
 * A tensor, in `tensor`.
 */
#define SCONCE_OP_VALUE_TENSOR 1

/**
 * An integer, in `integer`.
 */
#define SCONCE_OP_VALUE_INTEGER 2

/**
 * A real number, in `real`.
 */
#define SCONCE_OP_VALUE_REAL 3

/**
 * A truth value, in `integer`: 0 or 1.
 */
#define SCONCE_OP_VALUE_BOOL 4

/**
 * A text, in `text`.
 */
#define SCONCE_OP_VALUE_TEXT 5

/**
 * A list, in `items` and `count`.
 */
#define SCONCE_OP_VALUE_LIST 6

/**
 * A data type, in `integer`: `SCONCE_DTYPE_…`.
 */
#define SCONCE_OP_VALUE_DTYPE 7

/**
 * A device, in `integer`: an index or `SCONCE_DEVICE_CPU`.
 */
#define SCONCE_OP_VALUE_DEVICE 8

/**
 * A kernel library. Opaque.
 */
typedef struct sconce_kernel_library sconce_kernel_library;

/**
 * A compiled model. Opaque.
 */
typedef struct sconce_model sconce_model;

/**
 * An operator. Opaque. Handles of operators need not be released.
 */
typedef struct sconce_op sconce_op;

/**
 * Where a model is to run, and which one of a package. Begin with `SCONCE_MODEL_OPTIONS_INIT`.
 */
typedef struct sconce_model_options {
  /**
   * `sizeof(sconce_model_options)`, set by the caller.
   */
  uint32_t struct_size;
  /**
   * The index of the device for a model that was compiled for CUDA, or -1 for the current one. Without effect for a
   * model of the CPU.
   */
  int32_t device;
  /**
   * The model's name within its package; NULL for the only one, or the one called `model`.
   */
  const char *name;
} sconce_model_options;

/**
 * What a model's input must be. Begin with `SCONCE_MODEL_INPUT_INIT`.
 */
typedef struct sconce_model_input {
  /**
   * `sizeof(sconce_model_input)`, set by the caller.
   */
  uint32_t struct_size;
  /**
   * `SCONCE_DTYPE_…`, or -1 if that is not known.
   */
  int32_t dtype;
  /**
   * The number of dimensions, or -1 if that is not known.
   */
  int32_t rank;
  /**
   * 0.
   */
  int32_t reserved;
  /**
   * The least size of each of the first eight dimensions; `sconce_model_get_input_size` has those of all.
   */
  int64_t least[8];
  /**
   * The greatest size of each of the first eight dimensions; equal to the least one for a fixed size.
   */
  int64_t most[8];
} sconce_model_input;

/**
 * What a model's output is. Begin with `SCONCE_MODEL_OUTPUT_INIT`.
 */
typedef struct sconce_model_output {
  /**
   * `sizeof(sconce_model_output)`, set by the caller.
   */
  uint32_t struct_size;
  /**
   * `SCONCE_DTYPE_…`, or -1 if that is not known.
   */
  int32_t dtype;
  /**
   * The number of dimensions, or -1 if that is not known.
   */
  int32_t rank;
  /**
   * 0.
   */
  int32_t reserved;
  /**
   * The least size of each of the first eight dimensions; `sconce_model_get_output_size` has those of all.
   */
  int64_t least[8];
  /**
   * The greatest size of each of the first eight dimensions; equal to the least one for a fixed size.
   */
  int64_t most[8];
} sconce_model_output;

/**
 * A constant of a model. Begin with `SCONCE_MODEL_CONSTANT_INIT`.
 */
typedef struct sconce_model_constant {
  /**
   * `sizeof(sconce_model_constant)`, set by the caller.
   */
  uint32_t struct_size;
  /**
   * `SCONCE_DTYPE_…`, or -1 for a type that the library does not have.
   */
  int32_t dtype;
  /**
   * Bytes of the elements.
   */
  uint64_t bytes;
  /**
   * Whether the model works it out of other constants.
   */
  bool folded;
  /**
   * 0.
   */
  uint8_t reserved[7];
} sconce_model_constant;

/**
 * Memory of a model, in bytes. Begin with `SCONCE_MODEL_MEMORY_INIT`.
 */
typedef struct sconce_model_memory {
  /**
   * `sizeof(sconce_model_memory)`, set by the caller.
   */
  uint32_t struct_size;
  /**
   * 0.
   */
  uint32_t reserved;
  /**
   * Constants in memory of the model's device: those of its library, and those that the package or the program
   * passed, of the active and of the inactive set. 0 for a model of the CPU.
   */
  uint64_t constant_device_bytes;
  /**
   * Constants in memory of the host, of a model of the CPU. A model of CUDA has its constants in the library's file,
   * too, whose pages the system drops when it needs them; they are not counted.
   */
  uint64_t constant_host_bytes;
  /**
   * How many graphs the model keeps.
   */
  uint64_t graph_count;
  /**
   * Inputs of the graphs themselves, to which runs copy.
   */
  uint64_t graph_input_bytes;
  /**
   * What the graphs' pools took from the driver: outputs, and tensors between kernels.
   */
  uint64_t graph_pool_bytes;
  /**
   * The most bytes that tensors had at the same time which a run made: between kernels, and outputs. Of the runs so
   * far; 0 before the first. Counted in the first run with each set of shapes, by what the model makes and deletes, so
   * that other threads do not matter. Not counted are inputs, what an operation needs while it runs, such as
   * workspaces, and what the allocator adds when it rounds up.
   */
  uint64_t run_bytes;
} sconce_model_memory;

/**
 * An argument or a result of an operator. Begin with `SCONCE_OP_VALUE_INIT`.
 */
typedef struct sconce_op_value {
  /**
   * `SCONCE_OP_VALUE_…`, which says what the value is and which field holds it.
   */
  int32_t kind;
  /**
   * 0.
   */
  int32_t reserved;
  /**
   * Of integers, truth values, data types and devices.
   */
  int64_t integer;
  /**
   * Of real numbers.
   */
  double real;
  /**
   * Of tensors.
   */
  struct sconce_tensor *tensor;
  /**
   * Of texts: ends with NUL.
   */
  const char *text;
  /**
   * Of lists.
   */
  const struct sconce_op_value *items;
  /**
   * Number of `items`.
   */
  size_t count;
} sconce_op_value;

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

/**
 * Returns the text of the calling thread's newest failed call of libsconce_torch. It names the argument, the model or
 * the operation, and the remedy.
 *
 * Never NULL: the text is empty before the first failure. A successful call leaves it as it is.
 *
 * - Ownership: borrowed, until the thread's next call of this function, or its end.
 * - torch: the text of the exception that torch would throw.
 */
const char *sconce_torch_last_error_message(void);

/**
 * Frees a text that a function of libsconce_torch returned.
 *
 * - `text`: NULL does nothing.
 */
void sconce_torch_string_free(char *text);

/**
 * Loads a compiled model: a package (`.pt2`) as `torch._inductor.aoti_compile_and_package` of PyTorch 2.9 or newer makes
 * it, or the shared library of one.
 *
 * The files of a package are written to a private folder in `TMPDIR`, which is removed when the model is unloaded, or
 * at exit. The code of the library runs in the process: load only models that you trust.
 *
 * - `path`: the file.
 * - `options`: NULL for a model of the package's only name, on the current device.
 * - `out_model`: receives the model.
 * - Errors: IO: the file cannot be read, or is damaged. INVALID_ARGUMENT: the package has no compiled model, or several.
 *   NOT_SUPPORTED: the model needs functions that the library does not offer, which the text lists with their
 *   operations; it was compiled for another processor or device; or it is one of CUDA and the devices are simulated.
 *   INVALID_STATE: PyTorch is in the process.
 * - Ownership: the caller unloads the model with `sconce_model_unload`.
 * - Ordering: blocks while constants are copied to the device.
 * - torch: `torch._inductor.aoti_load_package`, `torch::inductor::AOTIModelPackageLoader`.
 */
SCONCE_NODISCARD
sconce_status sconce_model_load(const char *path,
                                const struct sconce_model_options *options,
                                struct sconce_model **out_model);

/**
 * Unloads a model, once no call uses it any more.
 *
 * - `model`: NULL does nothing.
 * - Ordering: waits for the model's device.
 * - torch: the end of an `AOTIModelPackageLoader`.
 */
SCONCE_NODISCARD sconce_status sconce_model_unload(struct sconce_model *model);

/**
 * Returns how many inputs and outputs a model has, and where it runs.
 *
 * - `out_inputs`, `out_outputs`: receive the numbers.
 * - `out_device`: receives the index of the device, or `SCONCE_DEVICE_CPU`.
 */
SCONCE_NODISCARD
sconce_status sconce_model_get_shape(struct sconce_model *model,
                                     size_t *out_inputs,
                                     size_t *out_outputs,
                                     int32_t *out_device);

/**
 * Returns a text that says what a model takes and returns, its constants, its memory, the custom operators and how many
 * functions of PyTorch's ABI it calls, and what it was compiled for.
 *
 * - `out_text`: receives the text, of several lines. `sconce_model_get_memory` says what its figures of memory are.
 * - Ownership: the caller frees the text with `sconce_torch_string_free`.
 */
SCONCE_NODISCARD
sconce_status sconce_model_describe(struct sconce_model *model,
                                    char **out_text);

/**
 * Returns a text that says what a model is and needs, without loading it: its code does not run. So it tells of models
 * that cannot be loaded here, such as those of CUDA without a GPU.
 *
 * The text names the device that the model was compiled for, its inputs and outputs as far as the package says them,
 * how many functions of PyTorch's ABI it calls and each one that is missing, and the custom operators with those that
 * no kernel library has registered.
 *
 * - `path`: a package or a shared library, as `sconce_model_load` takes it.
 * - `name`: the model's name within its package; NULL for the only one, or the one called `model`.
 * - `out_text`: receives the text, of several lines.
 * - Errors: IO: the file cannot be read, or is damaged. INVALID_ARGUMENT: the package has no compiled model, or several.
 *   NOT_SUPPORTED: the library is of another processor.
 * - Ownership: the caller frees the text with `sconce_torch_string_free`.
 */
SCONCE_NODISCARD
sconce_status sconce_model_inspect(const char *path,
                                   const char *name,
                                   char **out_text);

/**
 * Returns what an input of a model must be.
 *
 * - `index`: of the input.
 * - `out_input`: receives type and sizes, as far as the package says them.
 * - `out_name`: receives the model's name of the input; may be NULL.
 * - Ownership: the caller frees the name with `sconce_torch_string_free`.
 */
SCONCE_NODISCARD
sconce_status sconce_model_get_input(struct sconce_model *model,
                                     size_t index,
                                     struct sconce_model_input *out_input,
                                     char **out_name);

/**
 * Returns what an output of a model is.
 *
 * - `index`: of the output.
 * - `out_output`: receives type and sizes, as far as the package says them.
 * - `out_name`: receives the model's name of the output; may be NULL.
 * - Ownership: the caller frees the name with `sconce_torch_string_free`.
 */
SCONCE_NODISCARD
sconce_status sconce_model_get_output(struct sconce_model *model,
                                      size_t index,
                                      struct sconce_model_output *out_output,
                                      char **out_name);

/**
 * Returns what the size of an input may be, for dimensions of any number.
 *
 * - `index`: of the input.
 * - `dim`: the dimension.
 * - `out_least`, `out_most`: receive the least and the greatest size; they are equal for a fixed one.
 * - Errors: INVALID_ARGUMENT: there is no such input or dimension, or the package does not say its sizes.
 */
SCONCE_NODISCARD
sconce_status sconce_model_get_input_size(struct sconce_model *model,
                                          size_t index,
                                          size_t dim,
                                          int64_t *out_least,
                                          int64_t *out_most);

/**
 * Returns what the size of an output may be. Otherwise as `sconce_model_get_input_size`.
 *
 * - `index`: of the output.
 * - `dim`: the dimension.
 * - `out_least`, `out_most`: receive the least and the greatest size; they are equal for a fixed one.
 * - Errors: INVALID_ARGUMENT: there is no such output or dimension, or the package does not say its sizes.
 */
SCONCE_NODISCARD
sconce_status sconce_model_get_output_size(struct sconce_model *model,
                                           size_t index,
                                           size_t dim,
                                           int64_t *out_least,
                                           int64_t *out_most);

/**
 * Finds an input by the model's name of it.
 *
 * - `name`: as `sconce_model_get_input` returns it.
 * - `out_index`: receives its place among the inputs.
 * - Errors: INVALID_ARGUMENT: there is no such input; the text has the names of those that there are.
 */
SCONCE_NODISCARD
sconce_status sconce_model_find_input(struct sconce_model *model,
                                      const char *name,
                                      size_t *out_index);

/**
 * Finds an output by the model's name of it.
 *
 * - `name`: as `sconce_model_get_output` returns it.
 * - `out_index`: receives its place among the outputs.
 * - Errors: INVALID_ARGUMENT: there is no such output; the text has the names of those that there are.
 */
SCONCE_NODISCARD
sconce_status sconce_model_find_output(struct sconce_model *model,
                                       const char *name,
                                       size_t *out_index);

/**
 * Runs a model on the current stream of its device.
 *
 * - `inputs`: the model's inputs, in its order.
 * - `input_count`, `output_count`: how many the model has.
 * - `out_outputs`: receives the outputs, in the model's order.
 * - Errors: INVALID_ARGUMENT: an input has another type, device, shape or order of elements than the model was compiled
 *   for, or the model failed; the text says what was expected. Inputs of a bare library without its source beside it
 *   are not checked.
 * - Ownership: inputs stay the caller's. The caller releases each output with `sconce_tensor_release`. An output may
 *   share its memory with an input or a constant.
 * - Ordering: queued on the current stream of the model's device; done at once on the CPU. The first run with each set
 *   of shapes loads kernels and blocks others.
 * - Threads: any number of threads may run one model at the same time.
 * - torch: `AOTICompiledModel.__call__`, `AOTIModelPackageLoader::run`.
 */
SCONCE_NODISCARD
sconce_status sconce_model_run(struct sconce_model *model,
                               struct sconce_tensor *const *inputs,
                               size_t input_count,
                               struct sconce_tensor **out_outputs,
                               size_t output_count);

/**
 * Runs a model and copies its outputs to tensors of the caller. Otherwise as `sconce_model_run`.
 *
 * - `outputs`: receive the results, converted to their types; of the shapes that the model returns.
 * - Ownership: all tensors stay the caller's.
 */
SCONCE_NODISCARD
sconce_status sconce_model_run_into(struct sconce_model *model,
                                    struct sconce_tensor *const *inputs,
                                    size_t input_count,
                                    struct sconce_tensor *const *outputs,
                                    size_t output_count);

/**
 * Runs a model as a CUDA graph. The first run with each set of types and shapes of the inputs captures the graph;
 * later ones copy the inputs to the graph's own and launch it. Otherwise as `sconce_model_run`.
 *
 * - `outputs`: an entry that is NULL receives a tensor of the graph, which the next run with the same shapes
 *   overwrites; another one is a tensor to which the output is copied.
 * - Errors: NOT_SUPPORTED: the model runs on the CPU. INVALID_ARGUMENT: the model does what a graph cannot hold, such as
 *   reading a value on the host.
 * - Ownership: the caller releases each output that was NULL with `sconce_tensor_release`.
 * - Ordering: queued on the current stream of the model's device. Runs of one graph on several streams are in the order
 *   of the calls.
 * - torch: a model in a `torch.cuda.CUDAGraph`.
 */
SCONCE_NODISCARD
sconce_status sconce_model_run_graph(struct sconce_model *model,
                                     struct sconce_tensor *const *inputs,
                                     size_t input_count,
                                     struct sconce_tensor **outputs,
                                     size_t output_count);

/**
 * Sets how many graphs a model keeps, 8 unless it is set. Of more, those are dropped that were launched longest ago.
 *
 * - `limit`: at least 1.
 */
SCONCE_NODISCARD
sconce_status sconce_model_set_graph_limit(struct sconce_model *model,
                                           size_t limit);

/**
 * Returns how many constants a model has, and the bytes of all of them.
 *
 * - `out_count`, `out_bytes`: receive the numbers.
 * - torch: `AOTICompiledModel.get_constant_fqns`.
 */
SCONCE_NODISCARD
sconce_status sconce_model_get_constants(struct sconce_model *model,
                                         size_t *out_count,
                                         uint64_t *out_bytes);

/**
 * Returns a constant of a model.
 *
 * - `index`: of the constant.
 * - `out_constant`: receives type and bytes.
 * - `out_name`: receives its name in the program that was compiled, such as `layers.0.weight`; may be NULL.
 * - Ownership: the caller frees the name with `sconce_torch_string_free`.
 */
SCONCE_NODISCARD
sconce_status sconce_model_get_constant(struct sconce_model *model,
                                        size_t index,
                                        struct sconce_model_constant *out_constant,
                                        char **out_name);

/**
 * Replaces constants of a model. Graphs of the model are dropped, as they read the constants that they were captured
 * with.
 *
 * - `names`: of the constants, as `sconce_model_get_constant` returns them.
 * - `tensors`: the new values, of the constants' types and numbers of elements, on any device.
 * - `count`: how many.
 * - `inactive`: whether they go to the inactive set, which `sconce_model_swap_constants` makes the active one; constants
 *   of it that were never set are copied of the active set only for buffers, so set all parameters.
 * - Errors: INVALID_ARGUMENT: the model has no such constant, or the tensor does not fit.
 * - Ownership: tensors stay the caller's. A tensor on the model's device is used as it is and kept alive: later changes
 *   of its values change the model.
 * - Ordering: waits for the model's device.
 * - Threads: waits for runs under way.
 * - torch: `AOTICompiledModel.load_constants(user_managed=True)`.
 */
SCONCE_NODISCARD
sconce_status sconce_model_update_constants(struct sconce_model *model,
                                            const char *const *names,
                                            struct sconce_tensor *const *tensors,
                                            size_t count,
                                            bool inactive);

/**
 * Makes the inactive set of constants the active one. Otherwise as `sconce_model_update_constants`.
 *
 * - torch: `AOTIModelContainerRunner::swap_constant_buffer`.
 */
SCONCE_NODISCARD sconce_status sconce_model_swap_constants(struct sconce_model *model);

/**
 * Returns how much memory a model takes now.
 *
 * Inputs and results belong to the program and are not the model's. Figures of the whole device are those of
 * `sconce_memory_get_stats`.
 *
 * - `out_memory`: receives the figures; begin with `SCONCE_MODEL_MEMORY_INIT`.
 * - Ordering: with graphs, as `sconce_memory_snapshot_create`.
 */
SCONCE_NODISCARD
sconce_status sconce_model_get_memory(struct sconce_model *model,
                                      struct sconce_model_memory *out_memory);

/**
 * Sets whether products of float32 matrices in compiled models and kernel libraries use TF32. False by default, as in
 * PyTorch since 1.12; `sconce_context_set_allow_tf32_cublas` does not apply to them. Convolutions follow
 * `sconce_context_set_allow_tf32_cudnn`.
 *
 * The setting holds for the whole process. Calls that start later see a change; a CUDA graph keeps what was set when
 * it was captured.
 *
 * - torch: `torch.backends.cuda.matmul.allow_tf32`.
 */
void sconce_torch_set_allow_tf32_cublas(bool allow);

/**
 * Returns whether products of float32 matrices in compiled models and kernel libraries use TF32.
 *
 * - torch: `torch.backends.cuda.matmul.allow_tf32`.
 */
bool sconce_torch_get_allow_tf32_cublas(void);

/**
 * Opens a kernel library that was built against PyTorch's stable ABI, and registers its operators.
 *
 * - `path`: a shared library, such as `torchvision/_C_stable.so` of the package torchvision.
 * - `out_library`: receives the library. A file that is open already is not opened anew.
 * - Errors: NOT_SUPPORTED: functions of PyTorch are missing, and all are named; the system's loader refuses the file.
 *   IO: there is no such file, or it is no shared library. INVALID_ARGUMENT: it registers wrong schemas, or an operator
 *   that is defined already. INVALID_STATE: PyTorch is in the process. LIBRARY_NOT_FOUND: `SCONCE_LIBCUDART` names a
 *   CUDA runtime that cannot be opened. A library that is refused leaves nothing registered.
 * - Ownership: the caller ends it with `sconce_torch_unload`.
 * - Threads: any, at the same time.
 * - torch: `torch.ops.load_library`.
 */
SCONCE_NODISCARD
sconce_status sconce_torch_load(const char *path,
                                struct sconce_kernel_library **out_library);

/**
 * Ends a handle of a kernel library. The last one of a file unregisters its operators; calls that run end first, then
 * the file is closed.
 *
 * - Errors: INVALID_HANDLE: it is none, or was unloaded before.
 * - Ownership: the handle is gone. Work that its kernels queued on streams must be done if the file is to be closed:
 *   the code of device kernels goes with it.
 * - Threads: any.
 * - torch: none: PyTorch does not close libraries.
 */
SCONCE_NODISCARD
sconce_status sconce_torch_unload(struct sconce_kernel_library *library);

/**
 * Finds an operator that a kernel library registered.
 *
 * - `name`: with its namespace, such as `torchvision::nms`; an overload may follow after a point.
 * - `overload`: NULL or empty for the default one.
 * - `out_op`: receives the operator. It needs no release, and is valid again when its library is loaded again.
 * - Errors: INVALID_ARGUMENT: there is none; the overloads of the name are listed.
 * - Threads: any.
 * - torch: `torch.ops.torchvision.nms`.
 */
SCONCE_NODISCARD
sconce_status sconce_op_find(const char *name,
                             const char *overload,
                             struct sconce_op **out_op);

/**
 * Returns what an operator takes and returns, as PyTorch writes it.
 *
 * - `out_schema`: receives the text.
 * - Errors: INVALID_ARGUMENT: its library was unloaded.
 * - Ownership: the caller frees the text with `sconce_torch_string_free`.
 * - torch: `torch.ops.torchvision.nms.default._schema`.
 */
SCONCE_NODISCARD sconce_status sconce_op_schema(struct sconce_op *op, char **out_schema);

/**
 * Returns the schemas of all operators, one a line, by name.
 *
 * - `out_schemas`: receives the text, which is empty if there are none.
 * - Ownership: the caller frees the text with `sconce_torch_string_free`.
 * - torch: `torch._C._dispatch_get_all_op_names`.
 */
SCONCE_NODISCARD sconce_status sconce_op_list(char **out_schemas);

/**
 * Calls an operator. The kernel is that for the device of the first tensor.
 *
 * - `arguments`: in the order of the schema; those at the end that have defaults may be left out. Integers are also
 *   real numbers.
 * - `argument_count`: number of arguments.
 * - `results`: receives the results.
 * - `result_room`: number of entries of `results`, at least as many as the schema has results.
 * - `out_count`: receives the number of results; may be NULL.
 * - Errors: INVALID_ARGUMENT: a wrong number or type of arguments, which are named; or the kernel threw: its text is
 *   kept. NOT_SUPPORTED: there is no kernel for the device, or the kernel calls an operation that is not offered.
 * - Ownership: tensors of arguments stay the caller's. The caller releases results with `sconce_op_values_release`, or
 *   a tensor among them with `sconce_tensor_release`.
 * - Ordering: kernels of CUDA run on the current stream of their tensors' device; memory that they need comes from the
 *   caching allocator, in that stream's order. A call may be captured in a graph if its kernel does not wait for the
 *   device.
 * - Threads: any, at the same time.
 * - torch: `torch.ops.torchvision.nms(boxes, scores, 0.5)`.
 */
SCONCE_NODISCARD
sconce_status sconce_op_call(struct sconce_op *op,
                             const struct sconce_op_value *arguments,
                             size_t argument_count,
                             struct sconce_op_value *results,
                             size_t result_room,
                             size_t *out_count);

/**
 * Releases results: tensors, texts and lists. They become `SCONCE_OP_VALUE_NONE`.
 *
 * - `values`: results of `sconce_op_call`, not arguments that the caller made.
 * - `count`: number of values.
 */
void sconce_op_values_release(struct sconce_op_value *values, size_t count);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* SCONCE_SCONCE_TORCH_H_ */
