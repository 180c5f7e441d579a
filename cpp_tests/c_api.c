/*
 * The C API from plain C99: start-up, devices, streams, events, memory, copies, marks, errors;
 * cuBLAS, cuDNN and cuFFT are in c_api_libraries.c.
 * Prints what it checks and exits with 1 at the first thing that does not hold, with 77 where there
 * is no device.
 */
#include "c_api.h"

static void start(void) {
  sconce_options options = SCONCE_OPTIONS_INIT;
  sconce_status status;
  const char* const wanted = getenv("SCONCE_TEST_BACKEND");
  const bool cuda = wanted != NULL && strcmp(wanted, "cuda") == 0;

  HOLDS(!sconce_is_initialized());
  HOLDS(strlen(sconce_version()) > 0);
  HOLDS(sconce_abi_version() == SCONCE_ABI_VERSION);

  HOLDS(options.struct_size == sizeof options);
  options.backend = cuda ? SCONCE_BACKEND_CUDA : SCONCE_BACKEND_SIM;
  options.sim_devices = cuda ? 0 : 2;
  status = sconce_init_with(&options);
  if (cuda && (status == SCONCE_ERROR_NO_DEVICE || status == SCONCE_ERROR_LIBRARY_NOT_FOUND)) {
    printf("skipped: %s\n", sconce_last_error_message());
    exit(77);
  }
  HOLDS(status == SCONCE_OK);
  OK(sconce_init());
  HOLDS(sconce_is_initialized() && sconce_is_available());
  HOLDS(sconce_backend_get_active() == options.backend);
}

static void devices(void) {
  sconce_device_properties properties = SCONCE_DEVICE_PROPERTIES_INIT;
  char name[256];
  char tiny[4];
  int32_t current = -1;
  int32_t previous = -1;
  int32_t major = -1;
  int32_t minor = -1;
  size_t free_bytes = 0;
  size_t total_bytes = 0;
  const int32_t last = sconce_device_count() - 1;

  HOLDS(last >= 0);
  OK(sconce_device_exchange(last, &previous));
  HOLDS(previous == 0);
  OK(sconce_device_get_current(&current));
  HOLDS(current == last);
  OK(sconce_device_set_current(-5));
  OK(sconce_device_get_current(&current));
  HOLDS(current == last);
  OK(sconce_device_set_current(0));

  OK(sconce_device_get_properties(last, &properties));
  OK(sconce_device_get_name(last, name, sizeof name));
  HOLDS(strcmp(name, properties.name) == 0);
  OK(sconce_device_get_capability(last, &major, &minor));
  HOLDS(major == properties.major && minor == properties.minor);
  OK(sconce_device_get_memory_info(last, &free_bytes, &total_bytes));
  HOLDS(free_bytes > 0 && free_bytes <= total_bytes);

  /* On failure the outputs stay as they were and the message names the argument. */
  current = 42;
  HOLDS(sconce_device_exchange(last + 1, &current) == SCONCE_ERROR_INVALID_DEVICE);
  HOLDS(current == 42);
  HOLDS(sconce_device_get_current(NULL) == SCONCE_ERROR_INVALID_ARGUMENT);
  HOLDS(strstr(sconce_last_error_message(), "out_device") != NULL);
  HOLDS(sconce_last_error_backend_code() == 0);
  /* A buffer that is too small holds a shortened name or is refused; it is never overrun. */
  memset(tiny, 'x', sizeof tiny);
  if (sconce_device_get_name(0, tiny, 3) == SCONCE_OK) {
    HOLDS(memchr(tiny, '\0', 3) != NULL);
  }
  HOLDS(tiny[3] == 'x');
}

static void count_up(void* user) { ++*(int*)user; }

static void streams_and_events(void) {
  sconce_stream standard;
  sconce_stream stream;
  sconce_stream previous;
  sconce_event* start_event = NULL;
  sconce_event* end_event = NULL;
  int32_t previous_device = -1;
  int32_t least = -1;
  int32_t greatest = 1;
  int calls = 0;
  bool flag = true;
  float elapsed_ms = -1.0F;

  OK(sconce_stream_get_default(-1, &standard));
  HOLDS(standard.id == 0 && standard.device == 0);
  OK(sconce_stream_get_priority_range(&least, &greatest));
  HOLDS(least == 0 && greatest <= 0);
  OK(sconce_stream_get_from_pool(-1, 0, &stream));
  OK(sconce_stream_exchange(stream, &previous, &previous_device));
  HOLDS(previous.id == standard.id && previous_device == 0);
  OK(sconce_stream_get_current(-1, &previous));
  HOLDS(previous.id == stream.id && previous.device == stream.device);

  OK(sconce_event_create(SCONCE_EVENT_TIMING, &start_event));
  OK(sconce_event_create(SCONCE_EVENT_TIMING, &end_event));
  OK(sconce_event_query(start_event, &flag));
  HOLDS(flag);
  OK(sconce_event_record(start_event, stream));
  OK(sconce_stream_sleep(stream, 50U * 1000U * 1000U));
  OK(sconce_stream_launch_host_function(stream, count_up, &calls));
  OK(sconce_event_record(end_event, stream));
  OK(sconce_stream_query(stream, &flag));
  HOLDS(!flag);
  HOLDS(sconce_event_elapsed_ms(start_event, end_event, &elapsed_ms) == SCONCE_ERROR_NOT_READY);
  OK(sconce_stream_wait_event(standard, end_event));
  OK(sconce_stream_synchronize(standard));
  HOLDS(calls == 1);
  OK(sconce_event_elapsed_ms(start_event, end_event, &elapsed_ms));
  HOLDS(elapsed_ms >= 49.0F);
  printf("50 ms of sleep took %.1f ms by events\n", (double)elapsed_ms);

  OK(sconce_event_destroy(start_event));
  HOLDS(sconce_event_destroy(start_event) == SCONCE_ERROR_INVALID_HANDLE);
  HOLDS(sconce_event_record(start_event, stream) == SCONCE_ERROR_INVALID_HANDLE);
  OK(sconce_event_destroy(end_event));
  OK(sconce_event_destroy(NULL));

  OK(sconce_stream_restore(standard, 0));
  OK(sconce_stream_get_current(-1, &previous));
  HOLDS(previous.id == 0);
  OK(sconce_device_synchronize(-1));
}

static void run_out(int32_t device, size_t requested_bytes, size_t total_bytes, size_t free_bytes,
                    void* user) {
  HOLDS(device == 0 && requested_bytes > total_bytes && free_bytes <= total_bytes);
  ++*(int*)user;
}

static void sleep_and_wake(void) {
  sconce_sleep_desc desc = SCONCE_SLEEP_DESC_INIT;
  sconce_memory_sleep_state state = SCONCE_MEMORY_SLEEP_STATE_INIT;
  sconce_memory_pool* pool = NULL;
  void* ptr = NULL;
  void* host = NULL;

  OK(sconce_memory_pool_create_with_policy(SCONCE_MEMORY_POLICY_PAGES, &pool));
  OK(sconce_memory_pool_begin(pool, -1));
  OK(sconce_memory_alloc(1 << 20, &ptr));
  OK(sconce_memory_pool_end(pool, -1));
  OK(sconce_memory_pool_sleep(pool, -1, &desc));
  OK(sconce_memory_pool_get_sleep_state(pool, -1, &state));
  HOLDS(state.mode == SCONCE_SLEEP_HOST_PINNED && state.saved_bytes == 1 << 20);
  OK(sconce_memory_pool_backup_pointer(pool, ptr, &host));
  HOLDS(host != NULL);
  OK(sconce_memory_pool_wake(pool, -1, SCONCE_WAKE_RESTORE));
  desc.mode = SCONCE_SLEEP_DISCARD;
  OK(sconce_memory_sleep(-1, &desc));
  OK(sconce_memory_pool_get_sleep_state(NULL, -1, &state));
  HOLDS(state.mode == SCONCE_SLEEP_DISCARD);
  OK(sconce_memory_wake(-1, SCONCE_WAKE_EMPTY));
  OK(sconce_memory_free(ptr));
  OK(sconce_memory_pool_destroy(pool));
}

static void memory(void) {
  sconce_memory_stats stats = SCONCE_MEMORY_STATS_INIT;
  sconce_memory_page_figures pages = SCONCE_MEMORY_PAGE_FIGURES_INIT;
  bool fixed = false;
  sconce_memory_pool* pool = NULL;
  sconce_memory_snapshot* snapshot = NULL;
  const sconce_memory_segment* segments = NULL;
  const sconce_memory_block* blocks = NULL;
  sconce_stream stream;
  char* text = NULL;
  void* ptr = NULL;
  void* other = NULL;
  void* base = NULL;
  size_t bytes = 0;
  size_t count = 0;
  size_t free_bytes = 0;
  size_t total_bytes = 0;
  uint64_t observer = 0;
  int calls = 0;

  OK(sconce_memory_alloc(0, &ptr));
  HOLDS(ptr == NULL);
  OK(sconce_memory_free(NULL));
  OK(sconce_memory_alloc(1000, &ptr));
  OK(sconce_memory_get_usable_bytes(ptr, &bytes));
  HOLDS(bytes == 1024);
  OK(sconce_memory_get_base(ptr, &base, &bytes));
  HOLDS(base == ptr && bytes == 2U << 20);
  OK(sconce_stream_get_from_pool(-1, 0, &stream));
  OK(sconce_memory_alloc_on(1000, stream, &other));
  OK(sconce_memory_record_stream(ptr, stream));
  OK(sconce_memory_get_stats(-1, &stats));
  HOLDS(stats.allocation.all.current == 2 && stats.reserved_bytes.all.peak == 4 << 20);
  OK(sconce_memory_get_page_figures(-1, &pages));
  HOLDS(pages.pages == 0 && pages.alias_bytes == 0);

  OK(sconce_memory_snapshot_create(&snapshot));
  OK(sconce_memory_snapshot_get_segments(snapshot, &segments, &count));
  HOLDS(count == 2 && segments[0].address < segments[1].address);
  OK(sconce_memory_snapshot_get_blocks(snapshot, &blocks, &count));
  HOLDS(count == 4 && blocks[segments[1].first_block].state == SCONCE_BLOCK_ACTIVE_ALLOCATED);
  OK(sconce_memory_snapshot_destroy(snapshot));
  OK(sconce_memory_get_snapshot_json(&text));
  HOLDS(strstr(text, "active_allocated") != NULL);
  sconce_string_free(text);
  OK(sconce_memory_get_summary(-1, true, &text));
  HOLDS(strstr(text, "Allocated memory") != NULL);
  sconce_string_free(text);

  OK(sconce_memory_free(ptr));
  HOLDS(sconce_memory_free(ptr) == SCONCE_ERROR_INVALID_ARGUMENT);
  OK(sconce_memory_free(other));
  OK(sconce_memory_empty_cache());
  OK(sconce_memory_get_reserved(-1, &bytes));
  HOLDS(bytes == 0);

  OK(sconce_memory_pool_create(&pool));
  OK(sconce_memory_pool_begin(pool, -1));
  OK(sconce_memory_alloc(1, &ptr));
  OK(sconce_memory_pool_end(pool, -1));
  OK(sconce_memory_free(ptr));
  OK(sconce_memory_pool_set_fixed(pool, true));
  OK(sconce_memory_pool_is_fixed(pool, &fixed));
  HOLDS(fixed);
  OK(sconce_memory_pool_trim(pool, &bytes));
  HOLDS(bytes == 0);
  HOLDS(sconce_memory_pool_destroy(pool) == SCONCE_ERROR_INVALID_STATE);
  OK(sconce_memory_pool_set_fixed(pool, false));
  OK(sconce_memory_pool_trim(pool, &bytes));
  HOLDS(bytes == 2U << 20);
  OK(sconce_memory_pool_destroy(pool));
  sleep_and_wake();

  OK(sconce_device_get_memory_info(0, &free_bytes, &total_bytes));
  OK(sconce_memory_attach_oom_observer(run_out, &calls, &observer));
  ptr = &calls;
  HOLDS(sconce_memory_alloc(2 * total_bytes, &ptr) == SCONCE_ERROR_OUT_OF_MEMORY);
  HOLDS(calls == 1 && ptr == &calls);
  OK(sconce_memory_detach_oom_observer(observer));
}

static void host_memory(void) {
  sconce_host_memory_stats stats = SCONCE_HOST_MEMORY_STATS_INIT;
  sconce_stream stream;
  char* text = NULL;
  void* ptr = NULL;
  int ordinary = 0;
  bool pinned = true;

  OK(sconce_host_memory_alloc(0, &ptr));
  HOLDS(ptr == NULL);
  OK(sconce_host_memory_free(NULL));
  OK(sconce_host_memory_alloc(1000, &ptr));
  memset(ptr, 1, 1000);
  OK(sconce_host_memory_is_pinned((const char*)ptr + 999, &pinned));
  HOLDS(pinned);
  OK(sconce_host_memory_is_pinned(&ordinary, &pinned));
  HOLDS(!pinned);
  OK(sconce_stream_get_from_pool(-1, 0, &stream));
  OK(sconce_host_memory_record_stream(ptr, stream));
  OK(sconce_host_memory_get_stats(&stats));
  HOLDS(stats.active_requests.current == 1 && stats.requested_bytes.current == 1000);
  HOLDS(stats.num_host_alloc == stats.host_alloc_time.count && stats.num_host_alloc > 0);
  OK(sconce_host_memory_get_stats_json(&text));
  HOLDS(strstr(text, "\"active_bytes.peak\"") != NULL);
  sconce_string_free(text);

  HOLDS(sconce_host_memory_free(&ordinary) == SCONCE_ERROR_INVALID_ARGUMENT);
  OK(sconce_host_memory_free(ptr));
  HOLDS(sconce_host_memory_free(ptr) == SCONCE_ERROR_INVALID_ARGUMENT);
  OK(sconce_stream_synchronize(stream));
  OK(sconce_host_memory_empty_cache());
  OK(sconce_host_memory_reset_peak_stats());
  OK(sconce_host_memory_reset_accumulated_stats());
  OK(sconce_host_memory_get_stats(&stats));
  HOLDS(stats.allocated_bytes.peak == 0 && stats.num_host_free == 0);
}

static void copies(void) {
  enum { COUNT = 1000 };
  static int written[COUNT];
  static int read_back[COUNT];
  sconce_strided_copy shape = SCONCE_STRIDED_COPY_INIT;
  int* staging = NULL;
  void* staging_ptr = NULL;
  void* device = NULL;
  int i;

  for (i = 0; i < COUNT; ++i) {
    written[i] = i;
  }
  OK(sconce_memory_alloc(sizeof written, &device));
  OK(sconce_host_memory_alloc(sizeof written, &staging_ptr));
  staging = staging_ptr;

  /* There by ordinary memory, back by pinned memory, without blocking. */
  OK(sconce_copy(device, written, sizeof written, false));
  OK(sconce_copy(staging, device, sizeof written, true));
  OK(sconce_device_synchronize(-1));
  HOLDS(memcmp(staging, written, sizeof written) == 0);
  HOLDS(sconce_copy(NULL, written, 1, false) == SCONCE_ERROR_INVALID_ARGUMENT);
  HOLDS(strstr(sconce_last_error_message(), "dst") != NULL);

  /* The first 10 of each 25. */
  OK(sconce_copy_2d(read_back, 10 * sizeof(int), device, 25 * sizeof(int), 10 * sizeof(int),
                    COUNT / 25, false));
  HOLDS(read_back[9] == 9 && read_back[10] == 25 && read_back[399] == 984);
  HOLDS(sconce_copy_2d(read_back, 9, device, 10, 10, 2, false) == SCONCE_ERROR_INVALID_ARGUMENT);

  /* 25 by 40 becomes 40 by 25. */
  HOLDS(sconce_copy_strided(&shape, read_back, device, false) == SCONCE_ERROR_INVALID_ARGUMENT);
  HOLDS(strstr(sconce_last_error_message(), "SCONCE_STRIDED_COPY_INIT") != NULL);
  shape.rank = 2;
  shape.element_bytes = sizeof(int);
  shape.sizes[0] = 40;
  shape.sizes[1] = 25;
  shape.dst_strides[0] = 25;
  shape.dst_strides[1] = 1;
  shape.src_strides[0] = 1;
  shape.src_strides[1] = 40;
  OK(sconce_copy_strided(&shape, read_back, device, false));
  HOLDS(read_back[1] == 40 && read_back[25] == 1 && read_back[COUNT - 1] == COUNT - 1);
  shape.rank = SCONCE_COPY_MOST_AXES + 1;
  HOLDS(sconce_copy_strided(&shape, read_back, device, false) == SCONCE_ERROR_INVALID_ARGUMENT);

  OK(sconce_memory_set(device, 0xff, sizeof written));
  OK(sconce_memory_set_2d(device, 100 * sizeof(int), 0, sizeof(int), 10));
  OK(sconce_copy(read_back, device, sizeof written, false));
  HOLDS(read_back[0] == 0 && read_back[1] == -1 && read_back[100] == 0 && read_back[999] == -1);

  OK(sconce_host_memory_free(staging));
  OK(sconce_memory_free(device));
}

static void between_processes(void) {
  uint8_t handle[SCONCE_IPC_HANDLE_BYTES];
  uint8_t again[SCONCE_IPC_HANDLE_BYTES];
  size_t offset = 0;
  void* ptr = NULL;
  void* opened = NULL;

  OK(sconce_memory_alloc(1000, &ptr));
  OK(sconce_ipc_get_memory_handle(ptr, handle, &offset));
  OK(sconce_ipc_get_memory_handle(ptr, again, &offset));
  HOLDS(memcmp(handle, again, sizeof handle) == 0);
  HOLDS(sconce_ipc_open_memory(-1, handle, offset, &opened) == SCONCE_ERROR_INVALID_ARGUMENT);
  HOLDS(opened == NULL);
  HOLDS(sconce_ipc_close_memory(ptr) == SCONCE_ERROR_INVALID_ARGUMENT);
  OK(sconce_ipc_close_memory(NULL));
  OK(sconce_memory_free(ptr));
  OK(sconce_ipc_collect());
}

static void count_range(int64_t begin, int64_t end, void* context) {
  if (begin == 0) *(int64_t*)context = end;
}

static void marks_and_switches(void) {
  int32_t depth = -1;
  OK(sconce_nvtx_mark("here"));
  OK(sconce_nvtx_range_push("range", &depth));
  HOLDS(depth == 0);
  OK(sconce_nvtx_range_pop(&depth));
  int64_t counted = 0;
  OK(sconce_parallel_set_num_threads(2));
  HOLDS(sconce_parallel_get_num_threads() == 2);
  OK(sconce_parallel_for(0, 10, 5, count_range, &counted));
  HOLDS(counted == 5);
  HOLDS(!sconce_parallel_in_region() && sconce_parallel_get_thread_num() == 0);
  HOLDS(sconce_context_get_allow_tf32_cublas());
  sconce_context_set_allow_tf32_cublas(false);
  HOLDS(sconce_context_get_float32_matmul_precision() == SCONCE_FLOAT32_MATMUL_PRECISION_HIGHEST);
}

int main(void) {
  start();
  devices();
  streams_and_events();
  memory();
  host_memory();
  copies();
  between_processes();
  libraries();
  marks_and_switches();
  puts("the C API holds");
  return 0;
}
