/*
 * Sconce: PyTorch's CUDA runtime layer without PyTorch. The C API.
 *
 * Generated from src by cbindgen; do not edit. SCONCE_BLESS=1 cargo test --test header_sync
 * writes it anew.
 */

/**
 * @file
 * Devices: their count and properties, the current device, peers.
 *
 * What holds for every function is said in sconce/c/library.h.
 */

#ifndef SCONCE_C_DEVICE_H_
#define SCONCE_C_DEVICE_H_

#include <sconce/c/library.h>

/**
 * Stands for the CPU where a function of tensors or generators takes a device.
 */
#define SCONCE_DEVICE_CPU -2

/**
 * Properties of a device.
 */
typedef struct sconce_device_properties {
  /**
   * `sizeof(sconce_device_properties)`, set by the caller.
   */
  uint32_t struct_size;
  /**
   * Compute capability, major part.
   */
  int32_t major;
  /**
   * Compute capability, minor part.
   */
  int32_t minor;
  /**
   * Streaming multiprocessors.
   */
  int32_t multi_processor_count;
  /**
   * Marketing name, NUL-terminated.
   */
  char name[256];
  /**
   * Unique id, the same in every process.
   */
  uint8_t uuid[16];
  /**
   * Total memory of the device, in bytes.
   */
  uint64_t total_memory_bytes;
  /**
   * L2 cache, in bytes.
   */
  uint64_t l2_cache_bytes;
  /**
   * Shared memory a block can have without opting in, in bytes.
   */
  uint64_t shared_memory_per_block_bytes;
  /**
   * Shared memory a block can have after opting in, in bytes.
   */
  uint64_t shared_memory_per_block_optin_bytes;
  /**
   * Shared memory a multiprocessor has, in bytes.
   */
  uint64_t shared_memory_per_multi_processor_bytes;
  /**
   * Threads a multiprocessor can hold.
   */
  int32_t max_threads_per_multi_processor;
  /**
   * Threads a block can have.
   */
  int32_t max_threads_per_block;
  /**
   * Threads a warp has.
   */
  int32_t warp_size;
  /**
   * 32-bit registers a multiprocessor has.
   */
  int32_t registers_per_multi_processor;
  /**
   * Core clock, in kHz.
   */
  int32_t clock_rate_khz;
  /**
   * Memory clock, in kHz.
   */
  int32_t memory_clock_rate_khz;
  /**
   * Width of the memory bus, in bits.
   */
  int32_t memory_bus_width_bits;
  /**
   * PCI domain.
   */
  int32_t pci_domain_id;
  /**
   * PCI bus.
   */
  int32_t pci_bus_id;
  /**
   * PCI device.
   */
  int32_t pci_device_id;
  /**
   * 1 when the device shares the host's memory, else 0.
   */
  int32_t integrated;
  /**
   * 1 when the device is one of several on a board, else 0.
   */
  int32_t is_multi_gpu_board;
  /**
   * Threads that a block can have in x, y and z.
   */
  int32_t max_block_size[3];
  /**
   * Blocks that a grid can have in x, y and z.
   */
  int32_t max_grid_size[3];
  /**
   * Constant memory, in bytes.
   */
  uint64_t constant_memory_bytes;
  /**
   * 32-bit registers that a block can have.
   */
  int32_t registers_per_block;
  /**
   * Blocks that a multiprocessor can hold.
   */
  int32_t max_blocks_per_multi_processor;
  /**
   * 1 when the device supports cooperative launches, whose blocks can wait for each other, else
   * 0.
   */
  int32_t cooperative_launch;
  /**
   * 1 when the device runs several kernels at the same time, else 0.
   */
  int32_t concurrent_kernels;
} sconce_device_properties;

/** A `sconce_device_properties`: for results. */
#ifdef __cplusplus
#define SCONCE_DEVICE_PROPERTIES_INIT \
  {sizeof(sconce_device_properties), 0, 0, 0, {}, {}, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, \
   0, 0, 0, 0, 0, {}, {}, 0, 0, 0, 0, 0}
#else
#define SCONCE_DEVICE_PROPERTIES_INIT \
  {.struct_size = sizeof(sconce_device_properties)}
#endif

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Returns the number of devices; `CUDA_VISIBLE_DEVICES` is respected. 0 without a backend, and in
 * a forked child.
 *
 * Makes no context and does not initialise the library. The process can still fork afterwards,
 * unless NVML is missing or a device is divided (MIG).
 *
 * - torch: `torch.cuda.device_count()`, `c10::cuda::device_count()`.
 */
int32_t sconce_device_count(void);

/**
 * Reports the calling thread's current device. It is device 0 when a thread starts.
 *
 * - `out_device`: receives the index.
 * - torch: `torch.cuda.current_device()`, `c10::cuda::current_device()`.
 */
SCONCE_NODISCARD sconce_status sconce_device_get_current(int32_t *out_device);

/**
 * Makes a device the calling thread's current one, for this library and for the CUDA runtime in
 * the same thread.
 *
 * The first use of a device makes its context, which blocks. With `SCONCE_CHECK_DEVICE=1`, the
 * default of debug builds, the current device follows a `cudaSetDevice` that other code calls on
 * the thread, and the library logs one warning. Otherwise the library does not notice such a call.
 *
 * - `device`: index; a negative one changes nothing, as in torch, and needs no device.
 * - torch: `torch.cuda.set_device()`, `c10::cuda::set_device()`; switching back to device 0 makes
 *   no context there.
 */
SCONCE_NODISCARD sconce_status sconce_device_set_current(int32_t device);

/**
 * Makes a device the calling thread's current one and reports the previous one. Device guards are
 * built on it.
 *
 * Blocks as `sconce_device_set_current`. Makes no driver call if `device` is current already,
 * except for the check of the device.
 *
 * - `device`: index; -1 keeps the current one, and needs no device.
 * - `out_previous`: receives the index of the device that was current; -1 without a device.
 * - torch: `c10::cuda::ExchangeDevice`; `CUDAGuard(-1)` corresponds to -1.
 */
SCONCE_NODISCARD sconce_status sconce_device_exchange(int32_t device, int32_t *out_previous);

/**
 * Reports whether a device's primary context exists, whichever code of the process made it. Makes
 * no context.
 *
 * - `out_active`: receives the answer.
 * - torch: `c10::cuda::hasPrimaryContext`.
 */
SCONCE_NODISCARD sconce_status sconce_device_has_context(int32_t device, bool *out_active);

/**
 * Waits until a device has finished all work queued on it so far, on every stream. Does not change
 * the current device. Memory of graphs and pools that are gone and that had to wait for launches goes
 * back to the driver. For the current device, its primary context is current on the thread afterwards,
 * so that the program may call the driver by itself. For another device that has none, none is made.
 *
 * - Errors: INVALID_STATE: a stream of the device is being captured, by whatever thread; the capture
 *   stays valid. Only captures of other code on streams of its own may be lost.
 * - Ordering: blocks the calling thread.
 * - torch: `torch.cuda.synchronize(device)`, which invalidates captures.
 */
SCONCE_NODISCARD
sconce_status sconce_device_synchronize(int32_t device);

/**
 * Waits as `sconce_device_synchronize`, unless a stream of the device is being captured.
 *
 * - `out_waited`: receives whether it has waited.
 * - Ordering: as `sconce_device_synchronize`.
 */
SCONCE_NODISCARD sconce_status sconce_device_try_synchronize(int32_t device, bool *out_waited);

/**
 * Reports the properties of a device. Makes no context.
 *
 * - `out_properties`: receives the properties; begin with `SCONCE_DEVICE_PROPERTIES_INIT`.
 * - torch: `torch.cuda.get_device_properties()`.
 */
SCONCE_NODISCARD
sconce_status sconce_device_get_properties(int32_t device,
                                           struct sconce_device_properties *out_properties);

/**
 * Reports the compute capability of a device. Makes no context.
 *
 * - `out_major`, `out_minor`: receive its two numbers, e.g. 9 and 0.
 * - torch: `torch.cuda.get_device_capability()`.
 */
SCONCE_NODISCARD
sconce_status sconce_device_get_capability(int32_t device,
                                           int32_t *out_major,
                                           int32_t *out_minor);

/**
 * Reports the name of a device. Makes no context.
 *
 * - `buffer`: receives the name, NUL-terminated.
 * - `length`: bytes that `buffer` can hold; 256 always suffice. If they do not suffice, the
 *   call returns INVALID_ARGUMENT, and the message states the number of bytes needed.
 * - torch: `torch.cuda.get_device_name()`.
 */
SCONCE_NODISCARD sconce_status sconce_device_get_name(int32_t device, char *buffer, size_t length);

/**
 * Reports whether the hardware lets kernels of one device use another device's memory. Makes no
 * context.
 *
 * - `device`, `peer`: indices, -1 for the current device.
 * - `out_possible`: receives the answer; false if both are one device, as in CUDA.
 * - torch: `torch.cuda.can_device_access_peer()`.
 */
SCONCE_NODISCARD
sconce_status sconce_device_can_access_peer(int32_t device,
                                            int32_t peer,
                                            bool *out_possible);

/**
 * Lets kernels of `device` use the memory of `peer`, in this direction only. Has no effect if it
 * is enabled already.
 *
 * - `device`, `peer`: indices, -1 for the current device.
 * - Errors: INVALID_ARGUMENT: both are one device. NOT_SUPPORTED: the hardware does not allow it.
 * - Ordering: makes the contexts of both devices, and may wait for both.
 * - torch: `cudaDeviceEnablePeerAccess`, which torch calls at the first copy between two devices.
 */
SCONCE_NODISCARD sconce_status sconce_device_enable_peer_access(int32_t device, int32_t peer);

/**
 * Reports the free and the total memory of a device, in bytes. Free memory takes all processes
 * into account. Makes the device's context.
 *
 * - `out_free_bytes`, `out_total_bytes`: receive the two figures.
 * - torch: `torch.cuda.mem_get_info()`.
 */
SCONCE_NODISCARD
sconce_status sconce_device_get_memory_info(int32_t device,
                                            size_t *out_free_bytes,
                                            size_t *out_total_bytes);

/**
 * Reports the device that an address belongs to.
 *
 * - `pointer`: any address, also inside an allocation.
 * - `out_device`: receives the index.
 * - Errors: INVALID_ARGUMENT: `pointer` is not device memory; the message states what it is.
 * - torch: `at::cuda::getDeviceFromPtr`.
 */
SCONCE_NODISCARD sconce_status sconce_device_of_pointer(const void *pointer, int32_t *out_device);

/**
 * Lists the processes that hold memory of a device, as text in torch's format: a line
 * `GPU:<index>`, then a line for each process with its id and its memory in MiB, or
 * `no processes are running`.
 *
 * The device is identified by its PCI bus id, so `CUDA_VISIBLE_DEVICES` has no effect.
 * Containers may hide processes or show other ids. Makes no context.
 *
 * - `out_text`: receives the text.
 * - Errors: LIBRARY_NOT_FOUND: NVIDIA's management library is missing.
 * - torch: `torch.cuda.list_gpu_processes()`.
 */
SCONCE_NODISCARD sconce_status sconce_device_list_processes(int32_t device, char **out_text);

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  /* SCONCE_C_DEVICE_H_ */
