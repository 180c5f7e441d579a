// What a call through the C ABI costs, in nanoseconds and in multiples of an empty call into the
// library. The keys are those of c10_bench.cpp, so that the two can be laid side by side.
//
//   SCONCE_BACKEND=sim sconce_bench          on the simulator
//   sconce_bench --json figures.json         on a GPU, with event calls beside the driver's own
#include <sconce/sconce_all.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <sconce/cuda/guard.hpp>
#include <string>

#include "bare_driver.hpp"
#include "measure.hpp"

namespace {

using measure::keep;

/// Outside the timed loops: a failure ends the program, since figures would mean nothing.
void must(sconce_status status, const char* what) {
  if (status != SCONCE_OK) {
    std::fprintf(stderr, "%s: %s\n", what, sconce_last_error_message());
    std::exit(1);
  }
}

/// Keeps a status inside a timed loop: it is not checked, but the optimiser must not drop the call.
void ignore(sconce_status status) { keep(status); }

void devices(measure::Table& table, const measure::Effort& effort) {
  int32_t device = 0;
  table.add("device_get_current", measure::best_ns(
                                      [&] {
                                        ignore(sconce_device_get_current(&device));
                                        keep(device);
                                      },
                                      effort));
  table.add("device_exchange_same", measure::best_ns(
                                        [&] {
                                          ignore(sconce_device_exchange(0, &device));
                                          keep(device);
                                        },
                                        effort));
  table.add("device_guard_same", measure::best_ns(
                                     [] {
                                       const sconce::cuda::CUDAGuard guard(0);
                                       keep(guard);
                                     },
                                     effort));
}

void streams(measure::Table& table, const measure::Effort& effort) {
  sconce_stream stream{};
  const auto get_current = [&](int32_t device) {
    return measure::best_ns(
        [&stream, device] {
          ignore(sconce_stream_get_current(device, &stream));
          keep(stream);
        },
        effort);
  };
  table.add("stream_get_current", get_current(0));
  table.add("stream_get_current_here", get_current(-1));

  must(sconce_stream_get_from_pool(0, 0, &stream), "a stream from the pool");
  const sconce::cuda::CUDAStream pooled(stream);
  table.add("stream_set_current",
            measure::best_ns([&] { ignore(sconce_stream_set_current(pooled.get())); }, effort));
  sconce_stream original{};
  must(sconce_stream_get_default(0, &original), "the default stream");
  must(sconce_stream_set_current(original), "setting the default stream");
  table.add("stream_guard", measure::best_ns(
                                [&] {
                                  const sconce::cuda::CUDAStreamGuard guard(pooled);
                                  keep(guard);
                                },
                                effort));
  table.add("stream_from_pool", measure::best_ns(
                                    [&] {
                                      ignore(sconce_stream_get_from_pool(0, 0, &stream));
                                      keep(stream);
                                    },
                                    effort));
}

/// Our event against the driver's, on the same stream.
void events_beside_driver(measure::Table& table, const measure::Effort& effort,
                          const BareDriver& driver, sconce_event* event, sconce_stream stream) {
  void* native = nullptr;
  must(sconce_stream_get_native(stream, &native), "the stream's handle");
  const auto drain = [&] { driver.synchronize(native); };
  const auto note = [](double ours, double bare) {
    char text[64];
    std::snprintf(text, sizeof text, "%+.1f %% over the driver's call", (ours / bare - 1) * 100);
    return std::string(text);
  };

  const auto [record, bare_record] =
      measure::best_queued_pair_ns([&] { ignore(sconce_event_record(event, stream)); },
                                   [&] { keep(driver.record(native)); }, drain, effort);
  table.add("event_record", record, note(record, bare_record));
  table.add("driver_event_record", bare_record);

  bool done = false;
  const auto [query, bare_query] =
      measure::best_queued_pair_ns([&] { ignore(sconce_event_query(event, &done)); },
                                   [&] { keep(driver.query()); }, drain, effort);
  table.add("event_query", query, note(query, bare_query));
  table.add("driver_event_query", bare_query);
}

void events(measure::Table& table, const measure::Effort& effort, bool on_gpu) {
  sconce_stream stream{};
  sconce_stream other{};
  must(sconce_stream_get_from_pool(0, 0, &stream), "a stream from the pool");
  must(sconce_stream_get_from_pool(0, 0, &other), "another stream from the pool");
  sconce_event* event = nullptr;
  must(sconce_event_create(0, &event), "an event");
  must(sconce_event_record(event, stream), "recording an event");
  const auto drain = [&] { must(sconce_device_synchronize(0), "waiting for the device"); };
  drain();

  const std::string why_not = on_gpu ? "" : "the active backend is the simulator";
  if (on_gpu) {
    const BareDriver driver(0);
    if (!driver.error().empty()) {
      std::fprintf(stderr, "the driver's own calls: %s\n", driver.error().c_str());
      std::exit(1);
    }
    events_beside_driver(table, effort, driver, event, stream);
  } else {
    bool done = false;
    table.add("event_record",
              measure::best_queued_ns([&] { ignore(sconce_event_record(event, stream)); }, drain,
                                      effort));
    table.add("event_query", measure::best_queued_ns(
                                 [&] { ignore(sconce_event_query(event, &done)); }, drain, effort));
    table.leave_out("driver_event_record", why_not);
    table.leave_out("driver_event_query", why_not);
  }
  table.add("stream_wait_event",
            measure::best_queued_ns([&] { ignore(sconce_stream_wait_event(other, event)); }, drain,
                                    effort));
  ignore(sconce_event_destroy(event));

  sconce_event* fresh = nullptr;
  table.add("event_create_destroy", measure::best_ns(
                                        [&] {
                                          ignore(sconce_event_create(0, &fresh));
                                          ignore(sconce_event_destroy(fresh));
                                        },
                                        effort));
  table.add("event_create_record_destroy", measure::best_queued_ns(
                                               [&] {
                                                 ignore(sconce_event_create(0, &fresh));
                                                 ignore(sconce_event_record(fresh, stream));
                                                 ignore(sconce_event_destroy(fresh));
                                               },
                                               drain, effort));
}

/// Random numbers: what a caller's own kernel needs, and a small fill, which is one launch.
void random(measure::Table& table, const measure::Effort& effort, bool on_gpu) {
  sconce_generator* generator = nullptr;
  must(sconce_generator_get_default(0, &generator), "the default generator");
  std::uint64_t seed = 0;
  std::uint64_t offset = 0;
  table.add("philox_reserve",
            measure::best_ns(
                [&] {
                  ignore(sconce_generator_reserve_philox(generator, 4, &seed, &offset));
                  keep(offset);
                },
                effort));
  if (!on_gpu) {
    table.leave_out("random_uniform_256", "the simulator's memory has no allocator yet");
    return;
  }
  const BareDriver driver(0);
  void* memory = driver.allocate(256 * sizeof(float));
  must(memory != nullptr ? SCONCE_OK : SCONCE_ERROR_OUT_OF_MEMORY, "a kilobyte of device memory");
  const auto drain = [&] { must(sconce_device_synchronize(0), "waiting for the device"); };
  table.add("random_uniform_256",
            measure::best_queued_ns(
                [&] {
                  ignore(sconce_random_uniform(memory, 256, SCONCE_DTYPE_F32, 0.0, 1.0, generator));
                },
                drain, effort));
}

void others(measure::Table& table, const measure::Effort& effort) {
  if (const char* tool = std::getenv("NVTX_INJECTION64_PATH"); tool != nullptr && *tool != '\0') {
    const std::string why = "NVTX_INJECTION64_PATH names a tool, whose cost would be measured";
    table.leave_out("nvtx_mark", why);
    table.leave_out("nvtx_push_pop", why);
  } else {
    int32_t depth = 0;
    table.add("nvtx_mark", measure::best_ns([] { ignore(sconce_nvtx_mark("mark")); }, effort));
    table.add("nvtx_push_pop", measure::best_ns(
                                   [&] {
                                     ignore(sconce_nvtx_range_push("range", &depth));
                                     ignore(sconce_nvtx_range_pop(&depth));
                                   },
                                   effort));
  }
  table.add("failing_call",
            measure::best_ns([] { ignore(sconce_device_set_current(1 << 20)); }, effort));
}

}  // namespace

int main(int argc, char** argv) {
  const measure::Options options(argc, argv);
  if (!options.valid) {
    return 2;
  }
  must(sconce_init(), "starting up");
  const auto backend = sconce_backend_get_active();
  if (backend == SCONCE_BACKEND_NONE) {
    std::fprintf(stderr, "there is no device; SCONCE_BACKEND=sim measures on the simulator\n");
    return 1;
  }
  const bool on_gpu = backend == SCONCE_BACKEND_CUDA;
  must(sconce_device_set_current(0), "making device 0 current");
  char name[256] = "";
  must(sconce_device_get_name(0, name, sizeof name), "the device's name");

  measure::Table table;
  table.add("empty_call", measure::best_ns([] { keep(sconce_abi_version()); }, options.effort));
  devices(table, options.effort);
  streams(table, options.effort);
  events(table, options.effort, on_gpu);
  random(table, options.effort, on_gpu);
  others(table, options.effort);
  return measure::finish(
      table, options,
      std::string("Sconce ") + sconce_version() + " on " + name + (on_gpu ? "" : " (simulated)"));
}
