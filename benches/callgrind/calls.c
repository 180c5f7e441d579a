/* Makes one call of the C API many times, for scripts/instruction-counts to count instructions.
 *
 *   sconce_calls --list        those that are counted on the simulator
 *   sconce_calls --list-cuda   those that are counted over a libcuda that does nothing
 * (null_driver.c) sconce_calls NAME TIMES
 *
 * Set-up, the first call and the loop itself cost the same however many times are asked for; the
 * difference of two runs is calls alone.
 */
#include <sconce/sconce_all.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int32_t device;
static bool answer;
static sconce_stream stream;
static sconce_stream other;
static sconce_stream previous;
static sconce_event* recorded;
static sconce_event* fresh;

/* The status is not checked in the loop, but must not be optimised away. */
static volatile sconce_status status;

static void empty_call(void) { status = (sconce_status)sconce_abi_version(); }
static void device_get_current(void) { status = sconce_device_get_current(&device); }
static void device_exchange_same(void) { status = sconce_device_exchange(0, &device); }
static void device_guard_same(void) {
  status = sconce_device_exchange(0, &device);
  status = sconce_device_exchange(device, &device);
}
static void stream_get_default(void) { status = sconce_stream_get_default(0, &previous); }
static void stream_get_current(void) { status = sconce_stream_get_current(0, &previous); }
static void stream_get_current_here(void) { status = sconce_stream_get_current(-1, &previous); }
static void stream_set_current(void) { status = sconce_stream_set_current(stream); }
static void stream_guard(void) {
  status = sconce_stream_exchange(stream, &previous, &device);
  status = sconce_stream_restore(previous, device);
}
static void stream_from_pool(void) { status = sconce_stream_get_from_pool(0, 0, &previous); }
static void event_query_unrecorded(void) { status = sconce_event_query(fresh, &answer); }
static void event_create_destroy(void) {
  sconce_event* event = NULL;
  status = sconce_event_create(0, &event);
  status = sconce_event_destroy(event);
}
static void nvtx_mark(void) { status = sconce_nvtx_mark("mark"); }
static void nvtx_push_pop(void) {
  status = sconce_nvtx_range_push("range", &device);
  status = sconce_nvtx_range_pop(&device);
}

/* Memory. The number of blocks for calls that only allocate or only free; TIMES must be less. */
enum { block_count = 4096, size_count = 64, held_count = 8 };
static void* blocks[block_count];
static size_t sizes[size_count];
static size_t turn;

/* The first failure of two calls: freeing the NULL of an allocation that failed succeeds. */
static void both(sconce_status first, sconce_status second) {
  status = first != SCONCE_OK ? first : second;
}
static void pair_of(size_t bytes) {
  void* block = NULL;
  const sconce_status allocated = sconce_memory_alloc_on(bytes, stream, &block);
  both(allocated, sconce_memory_free(block));
}
static void memory_pair_512(void) { pair_of(512); }
static void memory_pair_2m(void) { pair_of(2 << 20); }
/* What was freed last is not asked for next. */
static void memory_two_pairs_512(void) {
  void* first = NULL;
  void* second = NULL;
  const sconce_status allocated = sconce_memory_alloc_on(512, stream, &first);
  both(allocated, sconce_memory_alloc_on(1024, stream, &second));
  both(status, sconce_memory_free(first));
  both(status, sconce_memory_free(second));
}
static void memory_pair_here_512(void) {
  void* block = NULL;
  const sconce_status allocated = sconce_memory_alloc(512, &block);
  both(allocated, sconce_memory_free(block));
}
static void memory_alloc_512(void) {
  status = sconce_memory_alloc_on(512, stream, &blocks[turn++]);
}
static void memory_alloc_2m(void) {
  status = sconce_memory_alloc_on(2 << 20, stream, &blocks[turn++]);
}
static void memory_free(void) { status = sconce_memory_free(blocks[turn++]); }
/* Replaces the oldest of eight blocks by one of another size. */
static void memory_pair_any_size(void) {
  void** oldest = &blocks[turn % held_count];
  const sconce_status freed = sconce_memory_free(*oldest);
  both(freed, sconce_memory_alloc_on(sizes[turn++ * 13 % size_count], stream, oldest));
}
static void memory_pair_recorded(void) {
  void* block = NULL;
  const sconce_status allocated = sconce_memory_alloc_on(4096, stream, &block);
  const sconce_status recorded_on = sconce_memory_record_stream(block, other);
  both(allocated, sconce_memory_free(block));
  both(recorded_on, status);
}
static void memory_stats(void) {
  static sconce_memory_stats stats = {.struct_size = sizeof stats};
  status = sconce_memory_get_stats(0, &stats);
}
/* Of 64 blocks and what is free between them. */
static void memory_snapshot_64(void) {
  sconce_memory_snapshot* snapshot = NULL;
  const sconce_status taken = sconce_memory_snapshot_create(&snapshot);
  both(taken, sconce_memory_snapshot_destroy(snapshot));
}
/* Pinned memory: the same size again and again, and one of several. */
static void host_memory_pair(void) {
  void* block = NULL;
  const sconce_status allocated = sconce_host_memory_alloc(65536, &block);
  both(allocated, sconce_host_memory_free(block));
}
static void host_memory_pair_any_size(void) {
  void** oldest = &blocks[turn % held_count];
  const sconce_status freed = sconce_host_memory_free(*oldest);
  both(freed, sconce_host_memory_alloc(sizes[turn++ * 13 % size_count], oldest));
}

/* Two sizes in turn, each freed before the next. */
static void host_memory_pair_two_sizes(void) {
  void* block = NULL;
  sconce_status allocated = sconce_host_memory_alloc(1 << 20, &block);
  both(allocated, sconce_host_memory_free(block));
  allocated = sconce_host_memory_alloc(96 << 10, &block);
  both(allocated, sconce_host_memory_free(block));
}
/* Replaces one of 64 live blocks, drawn at random, by one of another size. */
static uint32_t live_draw = 7;
static void host_memory_pair_live_64(void) {
  live_draw = live_draw * 1664525u + 1013904223u;
  void** one = &blocks[(live_draw >> 8) % size_count];
  const sconce_status freed = sconce_host_memory_free(*one);
  both(freed, sconce_host_memory_alloc(sizes[(live_draw >> 20) % size_count], one));
}

/* cuBLAS handles: nothing has changed; two streams in turn. */
static void* library_handle;
static void blas_get_handle(void) { status = sconce_blas_get_handle(&library_handle); }
static void blas_get_handle_turns(void) {
  const sconce_status one = sconce_stream_set_current(stream);
  both(one, sconce_blas_get_handle(&library_handle));
  both(status, sconce_stream_set_current(other));
  both(status, sconce_blas_get_handle(&library_handle));
}

/* A transform that this thread has done before, with no workspace; the simulator queues it. */
static void* signal_memory;
static sconce_fft_desc transform = SCONCE_FFT_DESC_INIT;
static void fft_known(void) { status = sconce_fft(&transform, signal_memory, signal_memory); }

/* Tensors of 16 x 16 on the device: what is made is released. */
static sconce_tensor* left;
static sconce_tensor* right;
static sconce_tensor* product;
static void released_with(sconce_status made, sconce_tensor* tensor) {
  both(made, sconce_tensor_release(tensor));
}
static void tensor_view(void) {
  const int64_t size = 256;
  sconce_tensor* view = NULL;
  const sconce_status made = sconce_tensor_view(left, &size, 1, &view);
  released_with(made, view);
}
static void tensor_select(void) {
  sconce_tensor* row = NULL;
  const sconce_status made = sconce_tensor_select(left, 0, 1, &row);
  released_with(made, row);
}
static sconce_tensor_options of_singles = SCONCE_TENSOR_OPTIONS_INIT;
static void tensor_empty(void) {
  const int64_t shape[] = {2, 3};
  sconce_tensor* fresh_tensor = NULL;
  const sconce_status made = sconce_tensor_empty(shape, 2, &of_singles, &fresh_tensor);
  released_with(made, fresh_tensor);
}
static void tensor_retain(void) { released_with(sconce_tensor_retain(left), left); }
static int64_t tensor_elements;
static void tensor_get_numel(void) { status = sconce_tensor_get_numel(left, &tensor_elements); }
static void* tensor_data;
static void tensor_get_data(void) { status = sconce_tensor_get_data(left, &tensor_data); }
static void tensor_add(void) {
  sconce_tensor* result = NULL;
  const sconce_status made =
      sconce_tensor_binary(SCONCE_BINARY_ADD, left, NULL, right, NULL, NULL, NULL, &result);
  released_with(made, result);
}
static void tensor_add_into(void) {
  status = sconce_tensor_binary(SCONCE_BINARY_ADD, left, NULL, right, NULL, NULL, left, NULL);
}
static void tensor_gelu(void) {
  sconce_tensor* result = NULL;
  const sconce_status made = sconce_tensor_unary(SCONCE_UNARY_GELU, left, NULL, &result);
  released_with(made, result);
}
static void tensor_cast(void) {
  sconce_tensor_options halves = SCONCE_TENSOR_OPTIONS_INIT;
  sconce_tensor* result = NULL;
  halves.dtype = SCONCE_DTYPE_F16;
  const sconce_status made = sconce_tensor_to(left, &halves, false, false, &result);
  released_with(made, result);
}
static sconce_tensor* rows;
static void tensor_index_select(void) {
  sconce_tensor* result = NULL;
  const sconce_status made = sconce_tensor_index_select(left, 0, rows, &result);
  released_with(made, result);
}
static sconce_tensor* element;
static void tensor_item(void) {
  static sconce_scalar value;
  status = sconce_tensor_item(element, &value);
}
static void tensor_sum(void) {
  sconce_tensor* result = NULL;
  const sconce_status made =
      sconce_tensor_reduce(SCONCE_REDUCE_SUM, left, NULL, 0, false, SCONCE_DTYPE_DEFAULT, &result);
  released_with(made, result);
}
static void tensor_cat(void) {
  sconce_tensor* const parts[] = {left, right};
  sconce_tensor* result = NULL;
  const sconce_status made = sconce_tensor_cat(parts, 2, 0, &result);
  released_with(made, result);
}
static void tensor_matmul(void) {
  sconce_tensor* result = NULL;
  const sconce_status made = sconce_tensor_matmul(left, right, &result);
  released_with(made, result);
}

/* A kernel of the program, with three arguments. */
static sconce_kernel* launched;
static void compute_nothing(struct sconce_sim_launch* launch, void* user) {
  (void)launch;
  (void)user;
}
static void own_kernel(void) {
  static const char code[] =
      ".version 8.0\n.target sm_75\n.visible .entry add_to(.param .u64 out, .param .u32 a, .param "
      ".u32 b) {}";
  static const size_t bytes[] = {8, 4, 4};
  sconce_module* module = NULL;
  both(sconce_sim_register_kernel("add_to", bytes, 3, 32, 0, compute_nothing, NULL, NULL),
       sconce_module_load(code, sizeof code, &module));
  both(status, sconce_kernel_get(module, "add_to", &launched));
  /* Nothing runs, so that no thread competes for a lock. */
  if (sconce_backend_get_active() == SCONCE_BACKEND_SIM) {
    both(status, sconce_sim_set_manual(true));
  }
}
/* What the kernel is launched with. */
static uint64_t launch_out;
static uint32_t launch_a;
static uint32_t launch_b;
static const void* const launch_arguments[] = {&launch_out, &launch_a, &launch_b};
static const size_t launch_bytes[] = {sizeof launch_out, sizeof launch_a, sizeof launch_b};

static void kernel_launch(void) {
  const sconce_launch_desc desc = SCONCE_LAUNCH_DESC_INIT;
  status = sconce_kernel_launch_on(launched, &desc, launch_arguments, launch_bytes, 3, stream);
}

static void kernel_launch_here(void) {
  const sconce_launch_desc desc = SCONCE_LAUNCH_DESC_INIT;
  status = sconce_kernel_launch(launched, &desc, launch_arguments, launch_bytes, 3);
}

/* A graph of one fill. */
static sconce_graph* graph;
static void new_graph(void);
static void captured_graph(void);
static void must(sconce_status outcome, const char* what);
static void graph_replay(void) { status = sconce_graph_replay(graph, stream); }
static void graph_replay_here(void) { status = sconce_graph_replay_on_current(graph); }

/* A capture: its begin, an addition, its end with the instantiation, and the reset. */
static void graph_capture(void) {
  const sconce_status begun =
      sconce_graph_capture_begin(graph, stream, NULL, SCONCE_CAPTURE_RELAXED);
  tensor_add_into();
  both(begun, status);
  both(status, sconce_graph_capture_end(graph));
  both(status, sconce_graph_reset(graph));
}
/* Other work that is queued, or captured: see `within_a_capture`. */
static void tensor_fill(void) {
  const sconce_scalar one = {SCONCE_SCALAR_INTEGER, 1, 0, 0, 0};
  status = sconce_tensor_fill(left, &one);
}
static void tensor_copy(void) { status = sconce_tensor_copy(left, right, true); }
static void tensor_matmul_into(void) { status = sconce_tensor_matmul_out(left, right, product); }
static void within_a_capture(void) {
  new_graph();
  /* What is made at the first use is there before. */
  tensor_fill();
  tensor_copy();
  tensor_add_into();
  tensor_matmul_into();
  must(sconce_graph_capture_begin(graph, stream, NULL, SCONCE_CAPTURE_RELAXED), "a capture");
}

static void failing_call(void) { status = sconce_device_set_current(1 << 20); }

static void must(sconce_status outcome, const char* what) {
  if (outcome != SCONCE_OK) {
    fprintf(stderr, "%s: %s\n", what, sconce_last_error_message());
    exit(1);
  }
}

/* Makes all blocks live. */
static void live(size_t bytes) {
  size_t i;
  for (i = 0; i < block_count; ++i) {
    must(sconce_memory_alloc_on(bytes, stream, &blocks[i]), "a block");
  }
}
/* Fills the cache with `block_count` free blocks, in pieces or whole. */
static void cached(size_t bytes) {
  size_t i;
  live(bytes);
  for (i = 0; i < block_count; ++i) {
    must(sconce_memory_free(blocks[i]), "freeing a block");
  }
}
static void live_512(void) { live(512); }
static void live_2m(void) { live(2 << 20); }
static void cached_512(void) { cached(512); }
static void cached_2m(void) { cached(2 << 20); }
static void live_64(void) {
  size_t i;
  for (i = 0; i < 128; ++i) {
    must(sconce_memory_alloc_on(512, stream, &blocks[i]), "a block");
  }
  for (i = 0; i < 128; i += 2) {
    must(sconce_memory_free(blocks[i]), "freeing a block");
  }
}
/* Sizes from 512 bytes to 4 MiB, each power of two as likely as the next. */
static void any_sizes(void) {
  uint32_t draw = 7;
  size_t i;
  for (i = 0; i < size_count; ++i) {
    draw = draw * 1664525u + 1013904223u;
    sizes[i] = ((size_t)512 << (draw >> 16) % 13) + (draw >> 8) % 512;
  }
  /* Every size at every place once, so that nothing is got from the driver while counting. */
  for (i = 0; i < size_count * held_count * 4; ++i) {
    memory_pair_any_size();
  }
}
/* The same sizes of pinned memory. */
static void any_host_sizes(void) {
  size_t i;
  any_sizes();
  for (i = 0; i < held_count; ++i) {
    must(sconce_memory_free(blocks[i]), "freeing a block");
    blocks[i] = NULL;
  }
  for (i = 0; i < size_count * held_count * 4; ++i) {
    host_memory_pair_any_size();
  }
}
/* 64 live blocks of 4 KiB to 1 MiB, each power of two as likely as the next. */
static void live_host_sizes(void) {
  uint32_t draw = 7;
  size_t i;
  for (i = 0; i < size_count; ++i) {
    draw = draw * 1664525u + 1013904223u;
    sizes[i] = ((size_t)4096 << (draw >> 16) % 8) + (draw >> 8) % 4096;
  }
  for (i = 0; i < size_count * 64; ++i) {
    host_memory_pair_live_64();
  }
}

/* 64 complex numbers, and their transforms' plan. */
static void known_transform(void) {
  must(sconce_memory_alloc_on(64 * 2 * sizeof(float), stream, &signal_memory),
       "memory of a signal");
  transform.kind = SCONCE_FFT_C2C;
  transform.dtype = SCONCE_DTYPE_F32;
  transform.sizes[0] = 64;
  fft_known();
}

static void small_tensors(void) {
  const int64_t sizes[] = {16, 16};
  const sconce_scalar zero = {SCONCE_SCALAR_INTEGER, 0, 0, 0, 0};
  static sconce_tensor_options of_indices = SCONCE_TENSOR_OPTIONS_INIT;
  of_indices.device = 0;
  of_indices.dtype = SCONCE_DTYPE_I64;
  of_singles.device = 0;
  of_singles.dtype = SCONCE_DTYPE_F32;
  must(sconce_tensor_empty(sizes, 2, &of_singles, &left), "a tensor");
  must(sconce_tensor_empty(sizes, 2, &of_singles, &right), "another tensor");
  must(sconce_tensor_empty(sizes, 2, &of_singles, &product), "a third tensor");
  must(sconce_tensor_select(left, 0, 0, &rows), "a row");
  must(sconce_tensor_select(rows, 0, 0, &element), "an element");
  must(sconce_tensor_full(sizes, 1, &zero, &of_indices, &rows), "indices");
}

static void new_graph(void) {
  small_tensors();
  must(sconce_graph_create(false, &graph), "a graph");
  must(sconce_stream_set_current(stream), "a stream");
}

static void captured_graph(void) {
  new_graph();
  must(sconce_graph_capture_begin(graph, stream, NULL, SCONCE_CAPTURE_RELAXED), "a capture");
  tensor_add_into();
  must(sconce_graph_capture_end(graph), "the capture's end");
}

/* Where a call is counted: the simulator's own instructions are no part of what a GPU costs the
 * host, and its threads take part in what a call waits for. */
enum { simulated = 1, driven = 2, both_ways = simulated | driven };

static const struct {
  const char* name;
  void (*call)(void);
  int counted;
  void (*prepare)(void);
} calls[] = {
    {"empty_call", empty_call, simulated, NULL},
    {"device_get_current", device_get_current, simulated, NULL},
    {"device_exchange_same", device_exchange_same, simulated, NULL},
    {"device_guard_same", device_guard_same, simulated, NULL},
    {"stream_get_default", stream_get_default, simulated, NULL},
    {"stream_get_current", stream_get_current, simulated, NULL},
    {"stream_get_current_here", stream_get_current_here, simulated, NULL},
    {"stream_set_current", stream_set_current, simulated, NULL},
    {"stream_guard", stream_guard, simulated, NULL},
    {"stream_from_pool", stream_from_pool, simulated, NULL},
    {"event_query_unrecorded", event_query_unrecorded, simulated, NULL},
    {"event_create_destroy", event_create_destroy, simulated, NULL},
    {"nvtx_mark", nvtx_mark, simulated, NULL},
    {"nvtx_push_pop", nvtx_push_pop, simulated, NULL},
    {"memory_pair_512", memory_pair_512, simulated, NULL},
    {"memory_two_pairs_512", memory_two_pairs_512, simulated, NULL},
    {"memory_pair_here_512", memory_pair_here_512, simulated, NULL},
    {"memory_pair_2m", memory_pair_2m, simulated, NULL},
    {"memory_pair_any_size", memory_pair_any_size, simulated, any_sizes},
    {"memory_pair_recorded", memory_pair_recorded, simulated, NULL},
    {"memory_alloc_512", memory_alloc_512, simulated, cached_512},
    {"memory_free_512", memory_free, simulated, live_512},
    {"memory_alloc_2m", memory_alloc_2m, simulated, cached_2m},
    {"memory_free_2m", memory_free, simulated, live_2m},
    {"memory_stats", memory_stats, simulated, cached_512},
    {"memory_snapshot_64", memory_snapshot_64, simulated, live_64},
    {"host_memory_pair", host_memory_pair, simulated, NULL},
    {"host_memory_pair_any_size", host_memory_pair_any_size, simulated, any_host_sizes},
    {"host_memory_pair_two_sizes", host_memory_pair_two_sizes, simulated, NULL},
    {"host_memory_pair_live_64", host_memory_pair_live_64, simulated, live_host_sizes},
    {"blas_get_handle", blas_get_handle, simulated, NULL},
    {"blas_get_handle_turns", blas_get_handle_turns, simulated, blas_get_handle_turns},
    {"fft_known", fft_known, simulated, known_transform},
    {"tensor_view", tensor_view, simulated, small_tensors},
    {"tensor_select", tensor_select, simulated, small_tensors},
    {"tensor_empty", tensor_empty, both_ways, small_tensors},
    {"tensor_retain", tensor_retain, simulated, small_tensors},
    {"tensor_get_numel", tensor_get_numel, simulated, small_tensors},
    {"tensor_get_data", tensor_get_data, simulated, small_tensors},
    {"tensor_add", tensor_add, both_ways, small_tensors},
    {"tensor_add_into", tensor_add_into, driven, small_tensors},
    {"tensor_gelu", tensor_gelu, driven, small_tensors},
    {"tensor_cast", tensor_cast, driven, small_tensors},
    {"tensor_index_select", tensor_index_select, driven, small_tensors},
    {"tensor_item", tensor_item, driven, small_tensors},
    {"tensor_sum", tensor_sum, both_ways, small_tensors},
    {"tensor_cat", tensor_cat, both_ways, small_tensors},
    {"tensor_matmul", tensor_matmul, simulated, small_tensors},
    {"kernel_launch", kernel_launch, both_ways, own_kernel},
    {"kernel_launch_here", kernel_launch_here, driven, own_kernel},
    {"graph_replay", graph_replay, driven, captured_graph},
    {"graph_replay_here", graph_replay_here, driven, captured_graph},
    {"graph_capture", graph_capture, driven, new_graph},
    {"tensor_fill", tensor_fill, driven, small_tensors},
    {"tensor_copy", tensor_copy, driven, small_tensors},
    {"tensor_matmul_into", tensor_matmul_into, driven, small_tensors},
    {"captured_add_into", tensor_add_into, driven, within_a_capture},
    {"captured_fill", tensor_fill, driven, within_a_capture},
    {"captured_copy", tensor_copy, driven, within_a_capture},
    {"captured_matmul_into", tensor_matmul_into, driven, within_a_capture},
    {"failing_call", failing_call, simulated, NULL},
};

static void set_up(void) {
  int i;
  must(sconce_device_set_current(0), "making device 0 current");
  /* All of the pool, so that none is made while instructions are counted. */
  for (i = 0; i < 32; ++i) {
    must(sconce_stream_get_from_pool(0, 0, &stream), "a stream from the pool");
  }
  must(sconce_stream_get_from_pool(0, 0, &other), "another stream from the pool");
  must(sconce_event_create(0, &recorded), "an event");
  must(sconce_event_record(recorded, stream), "recording an event");
  must(sconce_event_synchronize(recorded), "waiting for an event");
  must(sconce_event_create(0, &fresh), "another event");
}

int main(int argc, char** argv) {
  size_t i;
  const size_t count = sizeof calls / sizeof calls[0];
  if (argc == 2) {
    const int listed = strcmp(argv[1], "--list") == 0        ? simulated
                       : strcmp(argv[1], "--list-cuda") == 0 ? driven
                                                             : 0;
    for (i = 0; i < count; ++i) {
      if ((calls[i].counted & listed) != 0) {
        puts(calls[i].name);
      }
    }
    if (listed != 0) {
      return 0;
    }
  }
  if (argc != 3) {
    fprintf(stderr, "usage: %s --list | --list-cuda | NAME TIMES\n", argv[0]);
    return 2;
  }
  for (i = 0; i < count; ++i) {
    if (strcmp(argv[1], calls[i].name) == 0) {
      long times = strtol(argv[2], NULL, 10);
      set_up();
      if (calls[i].prepare != NULL) {
        calls[i].prepare();
      }
      calls[i].call();
      /* A call that fails where it should not would be counted as a cheap one. */
      const bool fails = calls[i].call == failing_call;
      if (strcmp(argv[1], "empty_call") != 0 && (status != SCONCE_OK) != fails) {
        fprintf(stderr, "%s gave %s: %s\n", argv[1], sconce_status_name(status),
                sconce_last_error_message());
        return 1;
      }
      while (times-- > 0) {
        calls[i].call();
      }
      return 0;
    }
  }
  fprintf(stderr, "there is no call %s; --list names them\n", argv[1]);
  return 2;
}
