/* Makes one call of the C API many times, for scripts/instruction-counts to count instructions.
 *
 *   sconce_calls --list
 *   sconce_calls NAME TIMES
 *
 * Set-up, the first call and the loop itself cost the same however many times are asked for; the
 * difference of two runs is calls alone.
 */
#include <sconce/sconce.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int32_t device;
static bool answer;
static sconce_stream stream;
static sconce_stream previous;
static sconce_event* recorded;
static sconce_event* fresh;

/* The status is not looked at in the loop, and must not be optimised away. */
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
static void failing_call(void) { status = sconce_device_set_current(1 << 20); }

static const struct {
  const char* name;
  void (*call)(void);
  bool fails;
} calls[] = {
    {"empty_call", empty_call, false},
    {"device_get_current", device_get_current, false},
    {"device_exchange_same", device_exchange_same, false},
    {"device_guard_same", device_guard_same, false},
    {"stream_get_default", stream_get_default, false},
    {"stream_get_current", stream_get_current, false},
    {"stream_get_current_here", stream_get_current_here, false},
    {"stream_set_current", stream_set_current, false},
    {"stream_guard", stream_guard, false},
    {"stream_from_pool", stream_from_pool, false},
    {"event_query_unrecorded", event_query_unrecorded, false},
    {"event_create_destroy", event_create_destroy, false},
    {"nvtx_mark", nvtx_mark, false},
    {"nvtx_push_pop", nvtx_push_pop, false},
    {"failing_call", failing_call, true},
};

static void must(sconce_status outcome, const char* what) {
  if (outcome != SCONCE_OK) {
    fprintf(stderr, "%s: %s\n", what, sconce_last_error_message());
    exit(1);
  }
}

static void set_up(void) {
  int i;
  must(sconce_device_set_current(0), "making device 0 current");
  /* All of the pool, so that none is made while instructions are counted. */
  for (i = 0; i < 32; ++i) {
    must(sconce_stream_get_from_pool(0, 0, &stream), "a stream from the pool");
  }
  must(sconce_event_create(0, &recorded), "an event");
  must(sconce_event_record(recorded, stream), "recording an event");
  must(sconce_event_synchronize(recorded), "waiting for an event");
  must(sconce_event_create(0, &fresh), "another event");
}

int main(int argc, char** argv) {
  size_t i;
  const size_t count = sizeof calls / sizeof calls[0];
  if (argc == 2 && strcmp(argv[1], "--list") == 0) {
    for (i = 0; i < count; ++i) {
      puts(calls[i].name);
    }
    return 0;
  }
  if (argc != 3) {
    fprintf(stderr, "usage: %s --list | NAME TIMES\n", argv[0]);
    return 2;
  }
  for (i = 0; i < count; ++i) {
    if (strcmp(argv[1], calls[i].name) == 0) {
      long times = strtol(argv[2], NULL, 10);
      set_up();
      calls[i].call();
      /* A call that fails where it should not would be counted as a cheap one. */
      if (strcmp(argv[1], "empty_call") != 0 && (status != SCONCE_OK) != calls[i].fails) {
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
