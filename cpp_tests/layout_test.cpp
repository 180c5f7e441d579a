// The layout of every struct that crosses the C boundary, as it has been since the given version.
// The library asserts the same numbers on its side; a change here breaks every program that is
// compiled.
#include <sconce/sconce.h>

#include <cstddef>
#include <type_traits>

#define SCONCE_LAYOUT(type, size, alignment)                                   \
  static_assert(sizeof(type) == (size), #type " has another size");            \
  static_assert(alignof(type) == (alignment), #type " has another alignment"); \
  static_assert(std::is_standard_layout_v<type> && std::is_trivial_v<type>,    \
                #type " is no plain C struct")
#define SCONCE_OFFSET(type, field, offset) \
  static_assert(offsetof(type, field) == (offset), #type "." #field " has moved")

// 0.1.0
SCONCE_LAYOUT(sconce_stream, 16, 8);
SCONCE_OFFSET(sconce_stream, id, 0);
SCONCE_OFFSET(sconce_stream, device, 8);
SCONCE_OFFSET(sconce_stream, reserved, 12);

// 0.1.0
SCONCE_LAYOUT(sconce_options, 24, 8);
SCONCE_OFFSET(sconce_options, struct_size, 0);
SCONCE_OFFSET(sconce_options, backend, 4);
SCONCE_OFFSET(sconce_options, sim_devices, 8);
SCONCE_OFFSET(sconce_options, sim_sms, 12);
SCONCE_OFFSET(sconce_options, sim_memory_bytes, 16);

// 0.1.0
SCONCE_LAYOUT(sconce_device_properties, 376, 8);
SCONCE_OFFSET(sconce_device_properties, struct_size, 0);
SCONCE_OFFSET(sconce_device_properties, major, 4);
SCONCE_OFFSET(sconce_device_properties, minor, 8);
SCONCE_OFFSET(sconce_device_properties, multi_processor_count, 12);
SCONCE_OFFSET(sconce_device_properties, name, 16);
SCONCE_OFFSET(sconce_device_properties, uuid, 272);
SCONCE_OFFSET(sconce_device_properties, total_memory_bytes, 288);
SCONCE_OFFSET(sconce_device_properties, l2_cache_bytes, 296);
SCONCE_OFFSET(sconce_device_properties, shared_memory_per_block_bytes, 304);
SCONCE_OFFSET(sconce_device_properties, shared_memory_per_block_optin_bytes, 312);
SCONCE_OFFSET(sconce_device_properties, shared_memory_per_multi_processor_bytes, 320);
SCONCE_OFFSET(sconce_device_properties, max_threads_per_multi_processor, 328);
SCONCE_OFFSET(sconce_device_properties, max_threads_per_block, 332);
SCONCE_OFFSET(sconce_device_properties, warp_size, 336);
SCONCE_OFFSET(sconce_device_properties, registers_per_multi_processor, 340);
SCONCE_OFFSET(sconce_device_properties, clock_rate_khz, 344);
SCONCE_OFFSET(sconce_device_properties, memory_clock_rate_khz, 348);
SCONCE_OFFSET(sconce_device_properties, memory_bus_width_bits, 352);
SCONCE_OFFSET(sconce_device_properties, pci_domain_id, 356);
SCONCE_OFFSET(sconce_device_properties, pci_bus_id, 360);
SCONCE_OFFSET(sconce_device_properties, pci_device_id, 364);
SCONCE_OFFSET(sconce_device_properties, integrated, 368);
SCONCE_OFFSET(sconce_device_properties, is_multi_gpu_board, 372);

// Enumerators never change their numbers.
static_assert(sizeof(sconce_status) == 4 && sizeof(sconce_backend) == 4, "enums are 32 bits wide");
static_assert(SCONCE_OK == 0 && SCONCE_ERROR_INVALID_ARGUMENT == 1 &&
                  SCONCE_ERROR_INVALID_DEVICE == 2 && SCONCE_ERROR_INVALID_HANDLE == 3 &&
                  SCONCE_ERROR_INVALID_STATE == 4 && SCONCE_ERROR_NO_DEVICE == 5 &&
                  SCONCE_ERROR_OUT_OF_MEMORY == 6 && SCONCE_ERROR_LIBRARY_NOT_FOUND == 7 &&
                  SCONCE_ERROR_NOT_SUPPORTED == 8 && SCONCE_ERROR_DRIVER == 9 &&
                  SCONCE_ERROR_CROSS_DEVICE == 10 && SCONCE_ERROR_NOT_READY == 11 &&
                  SCONCE_ERROR_FORKED == 12 && SCONCE_ERROR_IO == 13 && SCONCE_ERROR_INTERNAL == 14,
              "a status has another number");
static_assert(SCONCE_BACKEND_NONE == 0 && SCONCE_BACKEND_CUDA == 1 && SCONCE_BACKEND_SIM == 2,
              "a backend has another number");
static_assert(SCONCE_EVENT_TIMING == 1 && SCONCE_EVENT_BLOCKING_SYNC == 2 &&
                  SCONCE_EVENT_INTERPROCESS == 4 && SCONCE_IPC_HANDLE_BYTES == 64,
              "a constant of events has another value");
