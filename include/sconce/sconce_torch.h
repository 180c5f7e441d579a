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
 * What sconce/c/library.h states once for all functions also holds here, with one difference: the message of a failure of
 * this library is that of `sconce_torch_last_error_message()`. Tensors are those of libsconce: `sconce_tensor`.
 */

#ifndef SCONCE_SCONCE_TORCH_H_
#define SCONCE_SCONCE_TORCH_H_

#include "sconce/sconce_all.h"

/** A `sconce_op_value`: no value. */
#ifdef __cplusplus
#define SCONCE_OP_VALUE_INIT \
  {SCONCE_OP_VALUE_NONE, 0, 0, 0, nullptr, nullptr, nullptr, 0, nullptr}
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
 * No value, for an optional argument.
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
 * A generator of random numbers, in `generator`. NULL stands for an optional argument that is left out.
 */
#define SCONCE_OP_VALUE_GENERATOR 9

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
 * The device on which a model runs, and the model's name in its package. Begin with `SCONCE_MODEL_OPTIONS_INIT`.
 */
typedef struct sconce_model_options {
  /**
   * `sizeof(sconce_model_options)`, set by the caller.
   */
  uint32_t struct_size;
  /**
   * The index of the device for a model that was compiled for CUDA, or -1 for the current one. Has no effect for
   * a CPU model.
   */
  int32_t device;
  /**
   * The model's name within its package; NULL for the only model, or the model called `model`.
   */
  const char *name;
} sconce_model_options;

/**
 * The properties that an input of a model must have. Begin with `SCONCE_MODEL_INPUT_INIT`.
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
   * The smallest size of each of the first eight dimensions; `sconce_model_get_input_size`
   * returns those of all.
   */
  int64_t least[8];
  /**
   * The largest size of each of the first eight dimensions; equal to the smallest one for a
   * fixed size.
   */
  int64_t most[8];
} sconce_model_input;

/**
 * The properties of an output of a model. Begin with `SCONCE_MODEL_OUTPUT_INIT`.
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
   * The smallest size of each of the first eight dimensions; `sconce_model_get_output_size`
   * returns those of all.
   */
  int64_t least[8];
  /**
   * The largest size of each of the first eight dimensions; equal to the smallest one for a
   * fixed size.
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
   * Whether the model computes it from other constants.
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
   * Constants in memory of the model's device: those of its library, and those that the package
   * or the program passed, in the active and in the inactive set. 0 for a CPU model.
   */
  uint64_t constant_device_bytes;
  /**
   * Constants of a CPU model, in memory of the host. A CUDA model also has its constants in the
   * library's file. The system can discard those pages at any time, so they are not counted.
   */
  uint64_t constant_host_bytes;
  /**
   * Number of graphs that the model keeps.
   */
  uint64_t graph_count;
  /**
   * The graphs' own inputs, to which runs copy the inputs of the caller.
   */
  uint64_t graph_input_bytes;
  /**
   * Memory that the graphs' pools took from the driver: for outputs, and for tensors between
   * kernels.
   */
  uint64_t graph_pool_bytes;
  /**
   * The peak of the bytes of the tensors that a run makes, outputs included, over all runs so
   * far; 0 before the first. It is measured in the first run with each set of shapes. Only
   * tensors that the model makes and deletes count, so other threads have no influence. Inputs,
   * temporary memory of an operation (such as workspaces), and bytes that the allocator adds by
   * rounding up do not count.
   */
  uint64_t run_bytes;
} sconce_model_memory;

/**
 * An argument or a result of an operator. Begin with `SCONCE_OP_VALUE_INIT`.
 */
typedef struct sconce_op_value {
  /**
   * `SCONCE_OP_VALUE_…`: the kind of value, which determines the field that holds it.
   */
  int32_t kind;
  /**
   * 0.
   */
  int32_t reserved;
  /**
   * The value of an integer, a truth value, a data type or a device.
   */
  int64_t integer;
  /**
   * The value of a real number.
   */
  double real;
  /**
   * The tensor.
   */
  struct sconce_tensor *tensor;
  /**
   * The text, NUL-terminated.
   */
  const char *text;
  /**
   * The entries of a list.
   */
  const struct sconce_op_value *items;
  /**
   * Number of `items`.
   */
  size_t count;
  /**
   * The generator, for `SCONCE_OP_VALUE_GENERATOR`.
   */
  sconce_generator *generator;
} sconce_op_value;

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

/**
 * Returns the message of the calling thread's most recent failed call of libsconce_torch. The
 * message names the argument, the model or the operation, and the remedy.
 *
 * Never NULL: the text is empty before the first failure. A successful call does not change it.
 *
 * - Ownership: borrowed. The text stays as it is until the thread has read the message of a later failure, so it may be
 *   an argument beside a call that fails, and until the thread's end.
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
 * Loads a compiled model: a package (`.pt2`) that `torch._inductor.aoti_compile_and_package` of PyTorch 2.9 or
 * newer made, or the shared library of a model.
 *
 * The library of a package is extracted into a file in `TMPDIR` that has no name; on file systems without such files
 * it is in a private folder until it is open. A CUDA model whose kernels are files of the package opens them where it
 * first needs them: it has a private folder, which is removed when the model is unloaded, at exit, or, if the process
 * is killed, by the next process that needs one.
 * Nothing else of the package is written. The code of the library runs in the process: load only models that you
 * trust.
 *
 * - `path`: the file.
 * - `options`: NULL for the package's only model, on the current device.
 * - `out_model`: receives the model.
 * - Errors: IO: the file cannot be read, or is damaged. INVALID_ARGUMENT: the package has no compiled model, or
 *   several. NOT_SUPPORTED: the model needs functions that the library does not provide, which the message lists
 *   with their operations; the model was compiled for another processor or device; or it is a CUDA model and the
 *   devices are simulated. INVALID_STATE: PyTorch is in the process.
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
 * - torch: the destructor of `AOTIModelPackageLoader`.
 */
SCONCE_NODISCARD sconce_status sconce_model_unload(struct sconce_model *model);

/**
 * Returns the number of inputs and outputs of a model, and its device.
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
 * Returns a text that describes a model: its inputs and outputs, its constants, its memory, the custom operators
 * and the number of functions of PyTorch's ABI that it calls, and what it was compiled for.
 *
 * - `out_text`: receives the text, of several lines. `sconce_model_memory` describes its figures of memory.
 * - Ownership: the caller frees the text with `sconce_torch_string_free`.
 */
SCONCE_NODISCARD
sconce_status sconce_model_describe(struct sconce_model *model,
                                    char **out_text);

/**
 * Returns a text that describes a model and what it needs, without loading it: its code does not run. The function
 * therefore also describes models that cannot be loaded here, such as CUDA models on a machine without a GPU.
 *
 * The text names the device for which the model was compiled, its inputs and outputs as far as the package
 * describes them, the number of functions of PyTorch's ABI that it calls and all missing ones, and its custom
 * operators with those that no kernel library has registered.
 *
 * - `path`: a package or a shared library, as for `sconce_model_load`.
 * - `name`: the model's name within its package; NULL for the only model, or the model called `model`.
 * - `out_text`: receives the text, of several lines.
 * - Errors: IO: the file cannot be read, or is damaged. INVALID_ARGUMENT: the package has no compiled model, or
 *   several. NOT_SUPPORTED: the library was compiled for another processor.
 * - Ownership: the caller frees the text with `sconce_torch_string_free`.
 */
SCONCE_NODISCARD
sconce_status sconce_model_inspect(const char *path,
                                   const char *name,
                                   char **out_text);

/**
 * Returns the properties that an input of a model must have.
 *
 * - `index`: the index of the input.
 * - `out_input`: receives type and sizes, as far as the package describes them.
 * - `out_name`: receives the name of the input; may be NULL.
 * - Ownership: the caller frees the name with `sconce_torch_string_free`.
 */
SCONCE_NODISCARD
sconce_status sconce_model_get_input(struct sconce_model *model,
                                     size_t index,
                                     struct sconce_model_input *out_input,
                                     char **out_name);

/**
 * Returns the properties of an output of a model.
 *
 * - `index`: the index of the output.
 * - `out_output`: receives type and sizes, as far as the package describes them.
 * - `out_name`: receives the name of the output; may be NULL.
 * - Ownership: the caller frees the name with `sconce_torch_string_free`.
 */
SCONCE_NODISCARD
sconce_status sconce_model_get_output(struct sconce_model *model,
                                      size_t index,
                                      struct sconce_model_output *out_output,
                                      char **out_name);

/**
 * Returns the sizes that an input may have along a dimension, also beyond the eighth dimension.
 *
 * - `index`: the index of the input.
 * - `dim`: the dimension.
 * - `out_least`, `out_most`: receive the smallest and the largest size; they are equal for a fixed
 *   size. 2 as the smallest is an assumption of the compiler; runs accept 1 and 0, too.
 * - Errors: INVALID_ARGUMENT: there is no such input or dimension, or the package does not state
 *   its sizes.
 */
SCONCE_NODISCARD
sconce_status sconce_model_get_input_size(struct sconce_model *model,
                                          size_t index,
                                          size_t dim,
                                          int64_t *out_least,
                                          int64_t *out_most);

/**
 * Returns the sizes that an output may have along a dimension. Otherwise as
 * `sconce_model_get_input_size`.
 *
 * - `index`: the index of the output.
 * - `dim`: the dimension.
 * - `out_least`, `out_most`: receive the smallest and the largest size; they are equal for a fixed
 *   size.
 * - Errors: INVALID_ARGUMENT: there is no such output or dimension, or the package does not state
 *   its sizes.
 */
SCONCE_NODISCARD
sconce_status sconce_model_get_output_size(struct sconce_model *model,
                                           size_t index,
                                           size_t dim,
                                           int64_t *out_least,
                                           int64_t *out_most);

/**
 * Finds an input by name.
 *
 * - `name`: the name, as `sconce_model_get_input` returns it.
 * - `out_index`: receives the index of the input.
 * - Errors: INVALID_ARGUMENT: there is no such input; the message lists all names.
 */
SCONCE_NODISCARD
sconce_status sconce_model_find_input(struct sconce_model *model,
                                      const char *name,
                                      size_t *out_index);

/**
 * Finds an output by name.
 *
 * - `name`: the name, as `sconce_model_get_output` returns it.
 * - `out_index`: receives the index of the output.
 * - Errors: INVALID_ARGUMENT: there is no such output; the message lists all names.
 */
SCONCE_NODISCARD
sconce_status sconce_model_find_output(struct sconce_model *model,
                                       const char *name,
                                       size_t *out_index);

/**
 * Runs a model on the current stream of its device.
 *
 * - `inputs`: the model's inputs, in its order.
 * - `input_count`, `output_count`: the numbers of inputs and outputs; must be those of the model.
 * - `out_outputs`: receives the outputs, in the model's order. Where the program that was compiled returned None,
 *   the output is an undefined tensor (`sconce_tensor_is_defined`).
 * - Errors: INVALID_ARGUMENT: an input has another type, device, shape or order of elements than the model was
 *   compiled for, its sizes do not fit to those of other inputs, or the model failed; the message states what was
 *   expected. INVALID_STATE: a constant has no value. What an input must be is in the model's source, which packages
 *   contain and which may lie beside a bare library. Without it inputs are not checked, and the model reads what it was
 *   compiled for, whatever it is passed; `sconce_model_describe` states that.
 * - Ownership: inputs stay the caller's. The caller releases each output with `sconce_tensor_release`. Each output has
 *   a handle of its own, also one that the program returned twice, and one that is an input. It may share its memory
 *   with other outputs, with inputs, and with constants that the caller passed.
 * - Ordering: queued on the current stream of the model's device; done at once on the CPU.
 * - Threads: any number of threads may run one model at the same time, also one that reads values of tensors. The first
 *   run after the model was loaded or its constants were changed blocks other runs until it is queued, and so does the
 *   first run with each set of shapes of a CUDA model, which loads kernels.
 * - torch: `AOTICompiledModel.__call__`, `AOTIModelPackageLoader::run`.
 */
SCONCE_NODISCARD
sconce_status sconce_model_run(struct sconce_model *model,
                               struct sconce_tensor *const *inputs,
                               size_t input_count,
                               struct sconce_tensor **out_outputs,
                               size_t output_count);

/**
 * Returns inputs as a model takes them: on its device, and in the order of elements that it was compiled for, such as
 * transposed or with channels last. An input that is so already is returned itself, with a handle of its own; others are
 * copied. Types are not converted.
 *
 * - `inputs`: the model's inputs, in its order.
 * - `input_count`: the number of inputs; must be that of the model.
 * - `out_inputs`: receives as many tensors.
 * - Ownership: inputs stay the caller's. The caller releases each result with `sconce_tensor_release`.
 * - Ordering: copies are queued on the current stream of the model's device; done at once on the CPU.
 */
SCONCE_NODISCARD
sconce_status sconce_model_arrange_inputs(struct sconce_model *model,
                                          struct sconce_tensor *const *inputs,
                                          size_t input_count,
                                          struct sconce_tensor **out_inputs);

/**
 * Runs a model and copies its outputs to tensors of the caller. Otherwise as `sconce_model_run`.
 *
 * - `outputs`: receive the results, converted to the types of these tensors. They must have the sizes that the
 *   model returns; if one has others, none is written. They may be inputs. Where the model returns an undefined
 *   tensor, the entry is not used and may be NULL.
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
 * later ones copy the inputs to the graph's own and launch it. Each run draws the random numbers that an ordinary run
 * would draw at that point, the first one too. Otherwise as `sconce_model_run`.
 *
 * - `outputs`: an entry that is NULL receives a tensor of the graph, which the next run with the same shapes
 *   overwrites. An entry that is not NULL is a tensor to which the output is copied, unless the output is undefined. It
 *   must have the output's sizes; if one has others, the graph is not launched.
 * - Errors: NOT_SUPPORTED: the model runs on the CPU. INVALID_ARGUMENT: the model does something that a graph
 *   cannot contain, such as reading a value on the host.
 * - Ownership: the caller releases each output that was NULL with `sconce_tensor_release`.
 * - Ordering: queued on the current stream of the model's device. Runs of one graph on several streams are executed
 *   in the order of the calls.
 * - torch: a model in a `torch.cuda.CUDAGraph`.
 */
SCONCE_NODISCARD
sconce_status sconce_model_run_graph(struct sconce_model *model,
                                     struct sconce_tensor *const *inputs,
                                     size_t input_count,
                                     struct sconce_tensor **outputs,
                                     size_t output_count);

/**
 * Sets how many graphs a model keeps; 8 by default. Beyond that, the least recently launched graphs are discarded.
 *
 * - `limit`: at least 1.
 */
SCONCE_NODISCARD
sconce_status sconce_model_set_graph_limit(struct sconce_model *model,
                                           size_t limit);

/**
 * Returns the number of a model's constants, and the sum of their bytes.
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
 * - `index`: the index of the constant.
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
 * Replaces constants of a model. Graphs of the model are discarded, because they read the constants with
 * which they were captured.
 *
 * - `names`: the names of the constants, as `sconce_model_get_constant` returns them.
 * - `tensors`: the new values, of the constants' types and sizes, on any device. If the package does not state the
 *   sizes of a constant, its bytes are compared instead.
 * - `count`: the number of names and tensors.
 * - `inactive`: whether to replace constants of the inactive set, which `sconce_model_swap_constants` makes
 *   the active one. Buffers of that set that were never set are copied from the active set; parameters are
 *   not, so set all of them.
 * - Errors: INVALID_ARGUMENT: the model has no such constant or computes it itself, it is passed twice, or the
 *   tensor does not fit. INVALID_STATE: a buffer that is not passed has no value in either set.
 * - Ownership: tensors stay the caller's. A tensor that lies on the model's device with the strides that the model
 *   was compiled for is kept alive and used without a copy: later changes of its values change the model. Other
 *   tensors are copied.
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
 * Makes the inactive set of constants the active one, and the active one the inactive one. Otherwise as
 * `sconce_model_update_constants`.
 *
 * - Errors: INVALID_STATE: a constant of the inactive set has no value; the message names one.
 * - torch: `AOTIModelContainerRunner::swap_constant_buffer`.
 */
SCONCE_NODISCARD
sconce_status sconce_model_swap_constants(struct sconce_model *model);

/**
 * Takes all values from the inactive set of constants and frees their memory, unless the caller or outputs of runs
 * use it, too. The set must be filled again before it is made the active one.
 *
 * - Ordering: waits for the model's device.
 * - Threads: waits for runs under way.
 * - torch: `AOTIModelContainerRunner::free_inactive_constant_buffer`.
 */
SCONCE_NODISCARD
sconce_status sconce_model_free_inactive_constants(struct sconce_model *model);

/**
 * Returns how much memory a model uses now.
 *
 * Inputs and results belong to the program and do not count. `sconce_memory_get_stats` reports the
 * figures of the whole device.
 *
 * - `out_memory`: receives the figures; begin with `SCONCE_MODEL_MEMORY_INIT`.
 * - Ordering: with graphs, as `sconce_memory_snapshot_create`.
 */
SCONCE_NODISCARD
sconce_status sconce_model_get_memory(struct sconce_model *model,
                                      struct sconce_model_memory *out_memory);

/**
 * Sets whether products of float32 matrices use TF32, in compiled models, in kernel libraries and in libsconce: another
 * name of `sconce_context_set_allow_tf32_cublas`. As long as nothing is set, products of compiled models and kernel
 * libraries do not use TF32, as in PyTorch since 1.12, and those of libsconce do; `sconce_model_describe` states which
 * holds. Convolutions follow `sconce_context_set_allow_tf32_cudnn`.
 *
 * The setting holds for the whole process. Calls that start later see a change; a CUDA graph keeps the setting with
 * which it was captured.
 *
 * - torch: `torch.backends.cuda.matmul.allow_tf32`.
 */
void sconce_torch_set_allow_tf32_cublas(bool allow);

/**
 * Returns whether products of float32 matrices in compiled models and kernel libraries use TF32 on the calling thread.
 *
 * - torch: `torch.backends.cuda.matmul.allow_tf32`.
 */
bool sconce_torch_get_allow_tf32_cublas(void);

/**
 * Opens a kernel library that was built against PyTorch's stable ABI, and registers its operators.
 *
 * - `path`: a shared library, such as `torchvision/_C_stable.so` of the package torchvision.
 * - `out_library`: receives the library. A file that is open already is not opened again.
 * - Errors: NOT_SUPPORTED: functions of PyTorch are missing, and the message names all of them; or the system's
 *   loader refuses the file. IO: there is no such file, or it is not a shared library. INVALID_ARGUMENT: the
 *   library registers invalid schemas, or an operator that is defined already. INVALID_STATE: PyTorch is in the
 *   process. LIBRARY_NOT_FOUND: `SCONCE_LIBCUDART` names a CUDA runtime that cannot be opened. A library that is
 *   refused registers nothing.
 * - Ownership: the caller closes the library with `sconce_torch_unload`.
 * - Threads: any, at the same time.
 * - torch: `torch.ops.load_library`.
 */
SCONCE_NODISCARD
sconce_status sconce_torch_load(const char *path,
                                struct sconce_kernel_library **out_library);

/**
 * Closes a handle of a kernel library. With the last handle of a file, the operators are unregistered, running
 * calls finish, and the file is closed.
 *
 * - Errors: INVALID_HANDLE: `library` is not a handle, or was unloaded before.
 * - Ownership: the handle is invalid afterwards. Before the last handle of a file is closed, the work that its
 *   kernels queued on streams must be done, because the code of device kernels is unloaded with the file.
 * - Threads: any.
 * - torch: none, because PyTorch does not close libraries.
 */
SCONCE_NODISCARD
sconce_status sconce_torch_unload(struct sconce_kernel_library *library);

/**
 * Declares the schema of an operator, for kernel libraries that leave schemas to Python code (torchao). It may be
 * declared before or after the library is loaded, and stays until the process ends.
 *
 * - `schema`: the schema with its namespace, as Python passes it to `torch.library.define`, such as
 *   `torchao::to_sparse_semi_structured_cutlass_sm9x_f8(Tensor weight) -> (Tensor, Tensor)`.
 * - Errors: INVALID_ARGUMENT: the text is not a schema, or has no namespace; or the operator has another schema.
 *   NOT_SUPPORTED: it is only a name.
 * - Threads: any.
 * - torch: `torch.library.define`.
 */
SCONCE_NODISCARD
sconce_status sconce_op_define(const char *schema);

/**
 * Finds an operator that a kernel library registered, or else an operation of `aten` that this library offers, such
 * as `aten::gather`. Kernel libraries call the same operations.
 *
 * - `name`: the name with its namespace, such as `torchvision::nms`; an overload may follow after a point.
 * - `overload`: NULL or empty for the default overload.
 * - `out_op`: receives the operator. It needs no release, and becomes valid again when its library is loaded again.
 * - Errors: INVALID_ARGUMENT: there is no such operator; the message lists the overloads of the name.
 * - Threads: any.
 * - torch: `torch.ops.torchvision.nms`.
 */
SCONCE_NODISCARD
sconce_status sconce_op_find(const char *name,
                             const char *overload,
                             struct sconce_op **out_op);

/**
 * Returns the schema of an operator, in PyTorch's notation.
 *
 * - `out_schema`: receives the text.
 * - Errors: INVALID_ARGUMENT: the library of the operator was unloaded.
 * - Ownership: the caller frees the text with `sconce_torch_string_free`.
 * - torch: `torch.ops.torchvision.nms.default._schema`.
 */
SCONCE_NODISCARD sconce_status sconce_op_schema(struct sconce_op *op, char **out_schema);

/**
 * Returns the schemas of all operators that kernel libraries registered, one on each line, sorted by name.
 *
 * - `out_schemas`: receives the text, which is empty if there are none.
 * - Ownership: the caller frees the text with `sconce_torch_string_free`.
 * - torch: `torch._C._dispatch_get_all_op_names`.
 */
SCONCE_NODISCARD
sconce_status sconce_op_list(char **out_schemas);

/**
 * Calls an operator. Runs the kernel for the device of the first tensor.
 *
 * - `arguments`: the arguments in the order of the schema. Arguments at the end that have defaults may be left out.
 *   Integers are accepted as real numbers.
 * - `argument_count`: number of arguments.
 * - `results`: receives the results.
 * - `result_capacity`: number of entries of `results`, at least as many as the schema has results.
 * - `out_count`: receives the number of results; may be NULL.
 * - Errors: INVALID_ARGUMENT: the number or a type of the arguments is wrong, and the message names the argument;
 *   or the kernel threw, and the message contains its text. NOT_SUPPORTED: there is no kernel for the device, or
 *   the kernel calls an operation that is not provided.
 * - Ownership: tensors and generators of arguments stay the caller's. The caller releases results with
 *   `sconce_op_values_release`, or a tensor among them with `sconce_tensor_release`.
 * - Ordering: CUDA kernels run on the current stream of their tensors' device, and allocate memory from the caching
 *   allocator for that stream. A call may be captured in a graph if its kernel does not wait for the device.
 * - Threads: any, at the same time.
 * - torch: `torch.ops.torchvision.nms(boxes, scores, 0.5)`.
 */
SCONCE_NODISCARD
sconce_status sconce_op_call(struct sconce_op *op,
                             const struct sconce_op_value *arguments,
                             size_t argument_count,
                             struct sconce_op_value *results,
                             size_t result_capacity,
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
