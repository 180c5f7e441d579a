/*
 * Sconce: PyTorch's CUDA runtime layer without PyTorch. The C API.
 *
 * Generated from src by cbindgen; do not edit. SCONCE_BLESS=1 cargo test --test header_sync
 * writes it anew.
 */

/**
 * @file
 * Modules and kernels: loading, compiling, attributes, launches.
 *
 * What holds for every function is said in sconce/c/library.h.
 */

#ifndef SCONCE_C_MODULE_H_
#define SCONCE_C_MODULE_H_

#include <sconce/c/library.h>
#include <sconce/c/stream.h>

/**
 * A kernel of a module. Opaque; returned by `sconce_kernel_get`, and valid as long as its module.
 */
typedef struct sconce_kernel sconce_kernel;

/**
 * CUDA C++ with kernels of the program, to be compiled at run time. Opaque; created by
 * `sconce_kernel_source_create`.
 */
typedef struct sconce_kernel_source sconce_kernel_source;

/**
 * Code with kernels of the program. Opaque; created by `sconce_module_load`, `sconce_module_load_file`
 * and `sconce_kernel_source_compile`.
 */
typedef struct sconce_module sconce_module;

/**
 * Resources that a kernel needs on a device, and the limits of a launch. Begin with
 * `SCONCE_KERNEL_ATTRIBUTES_INIT`.
 */
typedef struct sconce_kernel_attributes {
  /**
   * `sizeof(sconce_kernel_attributes)`.
   */
  uint32_t struct_size;
  /**
   * Registers of a thread.
   */
  uint32_t registers;
  /**
   * Shared memory of a block that the kernel declares, in bytes.
   */
  uint32_t static_shared_bytes;
  /**
   * Local memory of a thread, in bytes.
   */
  uint32_t local_bytes;
  /**
   * Constant memory that the kernel declares, in bytes.
   */
  uint32_t constant_bytes;
  /**
   * The largest number of threads that a block may have.
   */
  uint32_t max_threads_per_block;
  /**
   * Dynamic shared memory that a launch may have at present, in bytes. A launch with more raises
   * this limit.
   */
  uint32_t dynamic_shared_bytes;
  /**
   * The largest dynamic shared memory that a launch may have, in bytes.
   */
  uint32_t most_dynamic_shared_bytes;
} sconce_kernel_attributes;

/** A `sconce_kernel_attributes`: for results. */
#ifdef __cplusplus
#define SCONCE_KERNEL_ATTRIBUTES_INIT \
  {sizeof(sconce_kernel_attributes), 0, 0, 0, 0, 0, 0, 0}
#else
#define SCONCE_KERNEL_ATTRIBUTES_INIT \
  {.struct_size = sizeof(sconce_kernel_attributes)}
#endif

/**
 * How a kernel is launched. Begin with `SCONCE_LAUNCH_DESC_INIT`: one block of one thread.
 */
typedef struct sconce_launch_desc {
  /**
   * `sizeof(sconce_launch_desc)`.
   */
  uint32_t struct_size;
  /**
   * Blocks of the grid along x, y and z; 0 along y or z counts as 1.
   */
  uint32_t grid[3];
  /**
   * Threads of a block along x, y and z; 0 along y or z counts as 1.
   */
  uint32_t block[3];
  /**
   * Blocks of a cluster along x, y and z, of which the grid is a multiple; all 0: no clusters, or
   * those that the kernel declares. 0 along y or z counts as 1.
   */
  uint32_t cluster[3];
  /**
   * Dynamic shared memory of a block, in bytes.
   */
  uint32_t shared_bytes;
  /**
   * Whether all blocks run at the same time, so that they may wait for each other
   * (`grid.sync()`).
   */
  bool cooperative;
  /**
   * 0.
   */
  uint8_t reserved[3];
} sconce_launch_desc;

/** A `sconce_launch_desc`: one block of one thread. */
#ifdef __cplusplus
#define SCONCE_LAUNCH_DESC_INIT \
  {sizeof(sconce_launch_desc), {1, 1, 1}, {1, 1, 1}, {}, 0, 0, {}}
#else
#define SCONCE_LAUNCH_DESC_INIT \
  {.struct_size = sizeof(sconce_launch_desc), .grid = {1, 1, 1}, .block = {1, 1, 1}}
#endif

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Creates a module from code in memory: PTX, machine code (the ELF file that `nvcc -cubin`
 * writes), or a fat binary (`nvcc -fatbin`).
 *
 * Checks the code and copies it. Needs no device and makes no driver call: a device loads the
 * module when one of its kernels is first used there, even during a stream capture.
 *
 * - `image`: the code.
 * - `image_bytes`: its size. PTX needs no NUL byte at its end.
 * - `out_module`: receives the module.
 * - Errors: INVALID_ARGUMENT: the code is of no known kind, or is cut off. OUT_OF_MEMORY: too many
 *   modules.
 * - Ownership: the caller unloads the module with `sconce_module_unload`.
 * - torch: `cuModuleLoadData`; torch's inductor and NVRTC fuser load their kernels with it.
 */
SCONCE_NODISCARD
sconce_status sconce_module_load(const void *image,
                                 size_t image_bytes,
                                 struct sconce_module **out_module);

/**
 * Creates a module from the code in a file. Otherwise as `sconce_module_load`.
 *
 * - `path`: the file.
 * - `out_module`: receives the module.
 * - Errors: IO: the file cannot be read. Otherwise as `sconce_module_load`.
 * - Ownership: the caller unloads the module with `sconce_module_unload`.
 * - torch: `cuModuleLoad`.
 */
SCONCE_NODISCARD
sconce_status sconce_module_load_file(const char *path,
                                      struct sconce_module **out_module);

/**
 * Unloads a module. The handles of its kernels become invalid.
 *
 * Queued launches of its kernels still run. If a launch was captured into a graph, the module
 * stays loaded until the process ends, because the graph may be launched at any time. The same
 * holds on a device with a stream that is being captured.
 *
 * - `module`: NULL is a no-op. The handle is invalid afterwards, even if the call fails.
 * - Ordering: waits for calls that use the module, and for the devices that have loaded it.
 * - torch: `cuModuleUnload`.
 */
SCONCE_NODISCARD sconce_status sconce_module_unload(struct sconce_module *module);

/**
 * Finds a kernel of a module. The current device loads the module unless it has done so; other
 * devices load it at the first use of the kernel there.
 *
 * - `name`: the name of the entry point in the code, which is mangled unless the kernel is
 *   `extern "C"`. For a module that was compiled from a source, also an expression that was passed
 *   to `sconce_kernel_source_add_kernel`.
 * - `out_kernel`: receives the kernel; the same one for each call with this name.
 * - Errors: INVALID_ARGUMENT: the module has no kernel of that name, or the device cannot load the
 *   code; the message contains that of the driver's compiler. On the simulator also: no function
 *   is registered for the kernel (`sconce_sim_register_kernel`). OUT_OF_MEMORY: of the device.
 * - Ownership: borrowed; valid until the module is unloaded.
 * - Ordering: the first use of a module on a device may wait for the device and take the time of a
 *   compilation.
 * - torch: `cuModuleGetFunction`.
 */
SCONCE_NODISCARD
sconce_status sconce_kernel_get(struct sconce_module *module,
                                const char *name,
                                struct sconce_kernel **out_kernel);

/**
 * Creates a source of CUDA C++. Compiles nothing and needs no backend.
 *
 * The source can include `sconce/cuda/device.cuh` without an include path, and the headers of a CUDA
 * toolkit (such as `cuda_fp16.h`) if one is in `CUDA_HOME` or /usr/local/cuda.
 *
 * - `code`: the text. NVRTC compiles device code only.
 * - `name`: the name in the compiler's messages; NULL stands for `source.cu`.
 * - `out_source`: receives the source.
 * - Errors: OUT_OF_MEMORY: too many sources.
 * - Ownership: the texts are copied. The caller destroys the source with
 *   `sconce_kernel_source_destroy`.
 * - torch: `nvrtcCreateProgram`.
 */
SCONCE_NODISCARD
sconce_status sconce_kernel_source_create(const char *code,
                                          const char *name,
                                          struct sconce_kernel_source **out_source);

/**
 * Destroys a source. Modules that were compiled from it stay.
 *
 * - `source`: NULL is a no-op.
 * - torch: `nvrtcDestroyProgram`.
 */
SCONCE_NODISCARD sconce_status sconce_kernel_source_destroy(struct sconce_kernel_source *source);

/**
 * Adds a header that the source may include.
 *
 * - `source`: the source.
 * - `name`: the name that the source includes: `mine.cuh` for `#include "mine.cuh"`. The header
 *   replaces an earlier one of that name; it may also replace `sconce/cuda/device.cuh`.
 * - `code`: its text.
 * - Ownership: the texts are copied.
 * - torch: the headers of `nvrtcCreateProgram`.
 */
SCONCE_NODISCARD
sconce_status sconce_kernel_source_add_header(struct sconce_kernel_source *source,
                                              const char *name,
                                              const char *code);

/**
 * Adds an option of the compiler: `--use_fast_math`, `--std=c++20`, `-DN=4`,
 * `--include-path=folder`. Options are passed in the order in which they were added. The library
 * chooses the architecture, unless `--gpu-architecture` is among the options.
 *
 * - `source`: the source.
 * - `option`: an option of NVRTC, not one of nvcc.
 * - Ownership: the text is copied.
 * - torch: the options of `nvrtcCompileProgram`.
 */
SCONCE_NODISCARD
sconce_status sconce_kernel_source_add_option(struct sconce_kernel_source *source,
                                              const char *option);

/**
 * Adds a kernel by a C++ expression that names it. The compiler instantiates the templates that
 * expressions name, and `sconce_kernel_get` accepts the expression as the kernel's name. Kernels
 * that are `extern "C"` need no expression.
 *
 * - `source`: the source.
 * - `expression`: for example `scale<float>` or `mine::step`. `sconce_kernel_get` accepts the same
 *   text.
 * - Errors: INVALID_ARGUMENT: `expression` is empty.
 * - Ownership: the text is copied.
 * - torch: `nvrtcAddNameExpression`.
 */
SCONCE_NODISCARD
sconce_status sconce_kernel_source_add_kernel(struct sconce_kernel_source *source,
                                              const char *expression);

/**
 * Compiles a source into a module with an installed NVRTC.
 *
 * The result is machine code for the device, or PTX if NVRTC does not know the device's
 * architecture yet. On the simulator nothing is compiled: functions that are registered under the
 * kernels' names (`sconce_sim_register_kernel`) run instead, and the source is only searched for
 * these names.
 *
 * - `source`: the source; it may be compiled again, also after additions.
 * - `device`: the device; -1 for the current one. Its context is not made.
 * - `ptx`: whether to produce PTX, which newer architectures accept too. A device compiles it at
 *   the first use of a kernel.
 * - `out_module`: receives the module.
 * - Errors: INVALID_ARGUMENT: the source does not compile, an option is unknown, or an expression
 *   names no kernel; the message and the log contain those of the compiler. LIBRARY_NOT_FOUND: NVRTC
 *   is not installed; the message names what was searched, and `SCONCE_LIBNVRTC` names another place.
 *   NOT_SUPPORTED: the installed NVRTC no longer knows the device's architecture.
 * - Ownership: the caller unloads the module with `sconce_module_unload`.
 * - Ordering: compiles on the calling thread, also during a stream capture.
 * - Threads: threads that compile the same source do not wait for each other; the log is that of
 *   the compilation that finished last.
 * - torch: `nvrtcCompileProgram`, `nvrtcGetCUBIN`, `nvrtcGetLoweredName`; torch's NVRTC fuser.
 */
SCONCE_NODISCARD
sconce_status sconce_kernel_source_compile(struct sconce_kernel_source *source,
                                           int32_t device,
                                           bool ptx,
                                           struct sconce_module **out_module);

/**
 * Returns the compiler's messages of the last compilation of a source: its errors, or its warnings
 * if it succeeded.
 *
 * - `source`: the source.
 * - `out_log`: receives the text; empty if there are no messages.
 * - Ownership: the caller frees the text with `sconce_string_free`.
 * - torch: `nvrtcGetProgramLog`.
 */
SCONCE_NODISCARD
sconce_status sconce_kernel_source_get_log(struct sconce_kernel_source *source,
                                           char **out_log);

/**
 * Reports the resources that a kernel needs on a device. The device loads the kernel's module
 * unless it has done so.
 *
 * - `out_attributes`: receives the figures; begin with `SCONCE_KERNEL_ATTRIBUTES_INIT`. On the
 *   simulator they are those of `sconce_sim_register_kernel`.
 * - Errors: as `sconce_kernel_get`.
 * - torch: `cudaFuncGetAttributes`.
 */
SCONCE_NODISCARD
sconce_status sconce_kernel_get_attributes(struct sconce_kernel *kernel,
                                           int32_t device,
                                           struct sconce_kernel_attributes *out_attributes);

/**
 * Raises the dynamic shared memory that launches of a kernel may have on a device. A launch with
 * more raises the limit by itself; call this function to detect a failure earlier.
 *
 * - `bytes`: the new limit, per block. A number below the present limit changes nothing.
 * - Errors: INVALID_ARGUMENT: more than a block can have. Otherwise as `sconce_kernel_get`.
 * - torch: `cudaFuncSetAttribute(…, cudaFuncAttributeMaxDynamicSharedMemorySize, …)`.
 */
SCONCE_NODISCARD
sconce_status sconce_kernel_allow_shared(struct sconce_kernel *kernel,
                                         int32_t device,
                                         uint32_t bytes);

/**
 * Reports how many blocks of a kernel a multiprocessor runs at the same time.
 *
 * - `threads`: threads of a block, at least 1.
 * - `shared_bytes`: dynamic shared memory of a block.
 * - `out_blocks`: receives the number of blocks; 0 if a block does not fit.
 * - Errors: INVALID_ARGUMENT: `threads` is 0, or `shared_bytes` is more than a block can have.
 *   Otherwise as `sconce_kernel_get`.
 * - torch: `cudaOccupancyMaxActiveBlocksPerMultiprocessor`.
 */
SCONCE_NODISCARD
sconce_status sconce_kernel_get_occupancy(struct sconce_kernel *kernel,
                                          int32_t device,
                                          uint32_t threads,
                                          uint32_t shared_bytes,
                                          uint32_t *out_blocks);

/**
 * Reports the block size with which the largest number of a kernel's threads runs on a
 * multiprocessor at the same time.
 *
 * - `shared_bytes`: dynamic shared memory of a block, for blocks of any size.
 * - `most_threads`: the largest block that the caller can use; 0 for any.
 * - `out_threads`: receives the threads of a block.
 * - `out_min_blocks`: receives the smallest number of blocks that fills the whole device.
 * - Errors: INVALID_ARGUMENT: `shared_bytes` is more than a block can have. Otherwise as
 *   `sconce_kernel_get`.
 * - torch: `cudaOccupancyMaxPotentialBlockSize`.
 */
SCONCE_NODISCARD
sconce_status sconce_kernel_get_best_block(struct sconce_kernel *kernel,
                                           int32_t device,
                                           uint32_t shared_bytes,
                                           uint32_t most_threads,
                                           uint32_t *out_threads,
                                           uint32_t *out_min_blocks);

/**
 * Launches a kernel on the calling thread's current stream of the current device.
 *
 * Arguments are passed by value, in the order of the kernel's parameters: `arguments[i]` points to
 * the value of parameter `i`, which has `argument_bytes[i]` bytes. For a pointer parameter, pass
 * the address of a variable that contains a device address. Device addresses are not checked: the
 * kernel uses whatever addresses it receives.
 *
 * - `desc`: grid, block and the rest; begin with `SCONCE_LAUNCH_DESC_INIT`. Dynamic shared
 *   memory beyond 48 KiB needs no further call.
 * - `arguments`: addresses of the values, in ordinary memory. May be NULL if there are none.
 * - `argument_bytes`: their sizes. May be NULL if there are none.
 * - `argument_count`: their number.
 * - Errors: INVALID_ARGUMENT: the number or a size of the arguments differs from the kernel's
 *   parameters (drivers before CUDA 12.4 do not report them, so nothing is checked), or the device
 *   does not accept the configuration. NOT_SUPPORTED: clusters or a cooperative launch, which the
 *   device or the driver does not support. Otherwise as `sconce_kernel_get`.
 * - Ownership: the values are copied. The memory that a kernel uses must stay allocated until the
 *   launch is done; note other streams with `sconce_memory_record_stream`.
 * - Ordering: queued on the stream. The first launch on a device loads the kernel's module.
 * - Safety: if the driver does not report a kernel's parameters, the caller must pass all of them
 *   with their correct sizes.
 * - torch: `cuLaunchKernel`, `cuLaunchKernelEx`, `kernel<<<grid, block, shared_bytes, stream>>>(…)`.
 */
SCONCE_NODISCARD
sconce_status sconce_kernel_launch(struct sconce_kernel *kernel,
                                   const struct sconce_launch_desc *desc,
                                   const void *const *arguments,
                                   const size_t *argument_bytes,
                                   size_t argument_count);

/**
 * Launches a kernel on a stream, independently of the current device and stream. Otherwise as
 * `sconce_kernel_launch`.
 *
 * - `desc`: as for `sconce_kernel_launch`.
 * - `arguments`, `argument_bytes`, `argument_count`: as for `sconce_kernel_launch`.
 * - Errors: as `sconce_kernel_launch`.
 * - Ownership: as `sconce_kernel_launch`.
 * - Ordering: queued on `stream`.
 * - Safety: as `sconce_kernel_launch`.
 * - torch: `kernel<<<grid, block, shared_bytes, stream>>>(…)`.
 */
SCONCE_NODISCARD
sconce_status sconce_kernel_launch_on(struct sconce_kernel *kernel,
                                      const struct sconce_launch_desc *desc,
                                      const void *const *arguments,
                                      const size_t *argument_bytes,
                                      size_t argument_count,
                                      struct sconce_stream stream);

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  /* SCONCE_C_MODULE_H_ */
