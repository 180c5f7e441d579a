// The layout of every struct that crosses the C boundary, unchanged since the given version. The
// library asserts the same numbers on its side; a change here breaks every compiled program.
#include <sconce/sconce_all.h>

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
SCONCE_LAYOUT(sconce_device_properties, 424, 8);
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
SCONCE_OFFSET(sconce_device_properties, max_block_size, 376);
SCONCE_OFFSET(sconce_device_properties, max_grid_size, 388);
SCONCE_OFFSET(sconce_device_properties, constant_memory_bytes, 400);
SCONCE_OFFSET(sconce_device_properties, registers_per_block, 408);
SCONCE_OFFSET(sconce_device_properties, max_blocks_per_multi_processor, 412);
SCONCE_OFFSET(sconce_device_properties, cooperative_launch, 416);
SCONCE_OFFSET(sconce_device_properties, concurrent_kernels, 420);

// 0.1.0
SCONCE_LAYOUT(sconce_stat, 32, 8);
SCONCE_OFFSET(sconce_stat, current, 0);
SCONCE_OFFSET(sconce_stat, peak, 8);
SCONCE_OFFSET(sconce_stat, allocated, 16);
SCONCE_OFFSET(sconce_stat, freed, 24);

// 0.1.0
SCONCE_LAYOUT(sconce_pool_stats, 96, 8);
SCONCE_OFFSET(sconce_pool_stats, all, 0);
SCONCE_OFFSET(sconce_pool_stats, small_pool, 32);
SCONCE_OFFSET(sconce_pool_stats, large_pool, 64);

// 0.1.0
SCONCE_LAYOUT(sconce_memory_stats, 992, 8);
SCONCE_OFFSET(sconce_memory_stats, struct_size, 0);
SCONCE_OFFSET(sconce_memory_stats, allocation, 8);
SCONCE_OFFSET(sconce_memory_stats, segment, 104);
SCONCE_OFFSET(sconce_memory_stats, active, 200);
SCONCE_OFFSET(sconce_memory_stats, inactive_split, 296);
SCONCE_OFFSET(sconce_memory_stats, allocated_bytes, 392);
SCONCE_OFFSET(sconce_memory_stats, reserved_bytes, 488);
SCONCE_OFFSET(sconce_memory_stats, active_bytes, 584);
SCONCE_OFFSET(sconce_memory_stats, inactive_split_bytes, 680);
SCONCE_OFFSET(sconce_memory_stats, requested_bytes, 776);
SCONCE_OFFSET(sconce_memory_stats, oversize_allocations, 872);
SCONCE_OFFSET(sconce_memory_stats, oversize_segments, 904);
SCONCE_OFFSET(sconce_memory_stats, num_alloc_retries, 936);
SCONCE_OFFSET(sconce_memory_stats, num_ooms, 944);
SCONCE_OFFSET(sconce_memory_stats, num_sync_all_streams, 952);
SCONCE_OFFSET(sconce_memory_stats, num_device_alloc, 960);
SCONCE_OFFSET(sconce_memory_stats, num_device_free, 968);
SCONCE_OFFSET(sconce_memory_stats, max_split_size, 976);
SCONCE_OFFSET(sconce_memory_stats, sleeping_bytes, 984);

// 0.1.0
SCONCE_LAYOUT(sconce_memory_segment, 96, 8);
SCONCE_OFFSET(sconce_memory_segment, address, 0);
SCONCE_OFFSET(sconce_memory_segment, total_bytes, 8);
SCONCE_OFFSET(sconce_memory_segment, allocated_bytes, 16);
SCONCE_OFFSET(sconce_memory_segment, active_bytes, 24);
SCONCE_OFFSET(sconce_memory_segment, requested_bytes, 32);
SCONCE_OFFSET(sconce_memory_segment, stream, 40);
SCONCE_OFFSET(sconce_memory_segment, pool_id, 48);
SCONCE_OFFSET(sconce_memory_segment, first_block, 64);
SCONCE_OFFSET(sconce_memory_segment, block_count, 72);
SCONCE_OFFSET(sconce_memory_segment, device, 80);
SCONCE_OFFSET(sconce_memory_segment, kind, 84);
SCONCE_OFFSET(sconce_memory_segment, is_expandable, 88);

// 0.1.0
SCONCE_LAYOUT(sconce_memory_block, 32, 8);
SCONCE_OFFSET(sconce_memory_block, address, 0);
SCONCE_OFFSET(sconce_memory_block, bytes, 8);
SCONCE_OFFSET(sconce_memory_block, requested_bytes, 16);
SCONCE_OFFSET(sconce_memory_block, state, 24);
SCONCE_OFFSET(sconce_memory_block, reserved, 28);

// 0.1.0
SCONCE_LAYOUT(sconce_memory_trace_entry, 56, 8);
SCONCE_OFFSET(sconce_memory_trace_entry, address, 0);
SCONCE_OFFSET(sconce_memory_trace_entry, bytes, 8);
SCONCE_OFFSET(sconce_memory_trace_entry, stream, 16);
SCONCE_OFFSET(sconce_memory_trace_entry, time_us, 24);
SCONCE_OFFSET(sconce_memory_trace_entry, pool_id, 32);
SCONCE_OFFSET(sconce_memory_trace_entry, action, 48);
SCONCE_OFFSET(sconce_memory_trace_entry, reserved, 52);

// 0.1.0
SCONCE_LAYOUT(sconce_duration_stat, 40, 8);
SCONCE_OFFSET(sconce_duration_stat, total, 0);
SCONCE_OFFSET(sconce_duration_stat, max, 8);
SCONCE_OFFSET(sconce_duration_stat, min, 16);
SCONCE_OFFSET(sconce_duration_stat, count, 24);
SCONCE_OFFSET(sconce_duration_stat, avg, 32);

// 0.1.0
SCONCE_LAYOUT(sconce_host_memory_stats, 264, 8);
SCONCE_OFFSET(sconce_host_memory_stats, struct_size, 0);
SCONCE_OFFSET(sconce_host_memory_stats, reserved, 4);
SCONCE_OFFSET(sconce_host_memory_stats, allocations, 8);
SCONCE_OFFSET(sconce_host_memory_stats, allocated_bytes, 40);
SCONCE_OFFSET(sconce_host_memory_stats, active_requests, 72);
SCONCE_OFFSET(sconce_host_memory_stats, active_bytes, 104);
SCONCE_OFFSET(sconce_host_memory_stats, requested_bytes, 136);
SCONCE_OFFSET(sconce_host_memory_stats, host_alloc_time, 168);
SCONCE_OFFSET(sconce_host_memory_stats, host_free_time, 208);
SCONCE_OFFSET(sconce_host_memory_stats, num_host_alloc, 248);
SCONCE_OFFSET(sconce_host_memory_stats, num_host_free, 256);

// 0.1.0
SCONCE_LAYOUT(sconce_strided_copy, 208, 8);
SCONCE_OFFSET(sconce_strided_copy, struct_size, 0);
SCONCE_OFFSET(sconce_strided_copy, rank, 4);
SCONCE_OFFSET(sconce_strided_copy, element_bytes, 8);
SCONCE_OFFSET(sconce_strided_copy, sizes, 16);
SCONCE_OFFSET(sconce_strided_copy, dst_strides, 80);
SCONCE_OFFSET(sconce_strided_copy, src_strides, 144);

// 0.1.0
SCONCE_LAYOUT(sconce_matmul_desc, 136, 8);
SCONCE_OFFSET(sconce_matmul_desc, struct_size, 0);
SCONCE_OFFSET(sconce_matmul_desc, dtype, 4);
SCONCE_OFFSET(sconce_matmul_desc, m, 8);
SCONCE_OFFSET(sconce_matmul_desc, n, 16);
SCONCE_OFFSET(sconce_matmul_desc, k, 24);
SCONCE_OFFSET(sconce_matmul_desc, batch, 32);
SCONCE_OFFSET(sconce_matmul_desc, alpha, 40);
SCONCE_OFFSET(sconce_matmul_desc, beta, 48);
SCONCE_OFFSET(sconce_matmul_desc, transpose_a, 56);
SCONCE_OFFSET(sconce_matmul_desc, transpose_b, 57);
SCONCE_OFFSET(sconce_matmul_desc, a_strides, 64);
SCONCE_OFFSET(sconce_matmul_desc, b_strides, 88);
SCONCE_OFFSET(sconce_matmul_desc, c_strides, 112);

// 0.1.0
SCONCE_LAYOUT(sconce_convolution_desc, 288, 8);
SCONCE_OFFSET(sconce_convolution_desc, struct_size, 0);
SCONCE_OFFSET(sconce_convolution_desc, dtype, 4);
SCONCE_OFFSET(sconce_convolution_desc, operation, 8);
SCONCE_OFFSET(sconce_convolution_desc, spatial_rank, 12);
SCONCE_OFFSET(sconce_convolution_desc, batch, 16);
SCONCE_OFFSET(sconce_convolution_desc, in_channels, 24);
SCONCE_OFFSET(sconce_convolution_desc, out_channels, 32);
SCONCE_OFFSET(sconce_convolution_desc, groups, 40);
SCONCE_OFFSET(sconce_convolution_desc, input_sizes, 48);
SCONCE_OFFSET(sconce_convolution_desc, filter_sizes, 72);
SCONCE_OFFSET(sconce_convolution_desc, stride, 96);
SCONCE_OFFSET(sconce_convolution_desc, padding, 120);
SCONCE_OFFSET(sconce_convolution_desc, dilation, 144);
SCONCE_OFFSET(sconce_convolution_desc, input_strides, 168);
SCONCE_OFFSET(sconce_convolution_desc, filter_strides, 208);
SCONCE_OFFSET(sconce_convolution_desc, output_strides, 248);

// 0.1.0
SCONCE_LAYOUT(sconce_fft_desc, 128, 8);
SCONCE_OFFSET(sconce_fft_desc, struct_size, 0);
SCONCE_OFFSET(sconce_fft_desc, kind, 4);
SCONCE_OFFSET(sconce_fft_desc, dtype, 8);
SCONCE_OFFSET(sconce_fft_desc, direction, 12);
SCONCE_OFFSET(sconce_fft_desc, normalization, 16);
SCONCE_OFFSET(sconce_fft_desc, rank, 20);
SCONCE_OFFSET(sconce_fft_desc, sizes, 24);
SCONCE_OFFSET(sconce_fft_desc, batch, 48);
SCONCE_OFFSET(sconce_fft_desc, in_batch_stride, 56);
SCONCE_OFFSET(sconce_fft_desc, in_strides, 64);
SCONCE_OFFSET(sconce_fft_desc, out_batch_stride, 88);
SCONCE_OFFSET(sconce_fft_desc, out_strides, 96);
SCONCE_OFFSET(sconce_fft_desc, may_overwrite_input, 120);

// 0.1.0
SCONCE_LAYOUT(sconce_fft_cache_stats, 80, 8);
SCONCE_OFFSET(sconce_fft_cache_stats, struct_size, 0);
SCONCE_OFFSET(sconce_fft_cache_stats, size, 8);
SCONCE_OFFSET(sconce_fft_cache_stats, max_size, 16);
SCONCE_OFFSET(sconce_fft_cache_stats, bytes, 24);
SCONCE_OFFSET(sconce_fft_cache_stats, plan_bytes, 32);
SCONCE_OFFSET(sconce_fft_cache_stats, workspace_bytes, 40);
SCONCE_OFFSET(sconce_fft_cache_stats, max_bytes, 48);
SCONCE_OFFSET(sconce_fft_cache_stats, hits, 56);
SCONCE_OFFSET(sconce_fft_cache_stats, misses, 64);
SCONCE_OFFSET(sconce_fft_cache_stats, evictions, 72);

// Enumerators never change their numbers.
static_assert(sizeof(sconce_status) == 4 && sizeof(sconce_backend) == 4, "enums are 32 bits wide");
static_assert(SCONCE_OK == 0 && SCONCE_ERROR_INVALID_ARGUMENT == 1 &&
                  SCONCE_ERROR_INVALID_DEVICE == 2 && SCONCE_ERROR_INVALID_HANDLE == 3 &&
                  SCONCE_ERROR_INVALID_STATE == 4 && SCONCE_ERROR_NO_DEVICE == 5 &&
                  SCONCE_ERROR_OUT_OF_MEMORY == 6 && SCONCE_ERROR_LIBRARY_NOT_FOUND == 7 &&
                  SCONCE_ERROR_NOT_SUPPORTED == 8 && SCONCE_ERROR_DRIVER == 9 &&
                  SCONCE_ERROR_CROSS_DEVICE == 10 && SCONCE_ERROR_NOT_READY == 11 &&
                  SCONCE_ERROR_FORKED == 12 && SCONCE_ERROR_IO == 13 &&
                  SCONCE_ERROR_INTERNAL == 14 && SCONCE_ERROR_TIMEOUT == 15 &&
                  SCONCE_ERROR_REMOTE == 16 && SCONCE_ERROR_ABORTED == 17,
              "a status has another number");
static_assert(SCONCE_BACKEND_NONE == 0 && SCONCE_BACKEND_CUDA == 1 && SCONCE_BACKEND_SIM == 2,
              "a backend has another number");
static_assert(SCONCE_EVENT_TIMING == 1 && SCONCE_EVENT_BLOCKING_SYNC == 2 &&
                  SCONCE_EVENT_INTERPROCESS == 4 && SCONCE_IPC_HANDLE_BYTES == 64,
              "a constant of events has another value");
static_assert(SCONCE_MEMORY_SMALL == 0 && SCONCE_MEMORY_LARGE == 1 &&
                  SCONCE_BLOCK_ACTIVE_ALLOCATED == 0 && SCONCE_BLOCK_ACTIVE_PENDING_FREE == 1 &&
                  SCONCE_BLOCK_INACTIVE == 2,
              "a constant of snapshots has another value");
static_assert(SCONCE_TRACE_ALLOC == 0 && SCONCE_TRACE_FREE_REQUESTED == 1 &&
                  SCONCE_TRACE_FREE_COMPLETED == 2 && SCONCE_TRACE_SEGMENT_ALLOC == 3 &&
                  SCONCE_TRACE_SEGMENT_FREE == 4 && SCONCE_TRACE_SNAPSHOT == 5 &&
                  SCONCE_TRACE_OOM == 6 && SCONCE_TRACE_SEGMENT_MAP == 7 &&
                  SCONCE_TRACE_SEGMENT_UNMAP == 8,
              "a constant of the history has another value");
static_assert(SCONCE_COPY_MOST_AXES == 8, "a constant of copies has another value");
static_assert(SCONCE_CONVOLUTION_MOST_SPATIAL == 3 && SCONCE_CONVOLUTION_FORWARD == 0 &&
                  SCONCE_CONVOLUTION_BACKWARD_DATA == 1 && SCONCE_CONVOLUTION_BACKWARD_FILTER == 2,
              "a constant of convolutions has another value");
static_assert(SCONCE_FFT_MOST_RANK == 3 && SCONCE_FFT_C2C == 0 && SCONCE_FFT_R2C == 1 &&
                  SCONCE_FFT_C2R == 2 && SCONCE_FFT_FORWARD == 0 && SCONCE_FFT_INVERSE == 1 &&
                  SCONCE_FFT_NORM_NONE == 0 && SCONCE_FFT_NORM_BY_ROOT_N == 1 &&
                  SCONCE_FFT_NORM_BY_N == 2,
              "a constant of transforms has another value");
