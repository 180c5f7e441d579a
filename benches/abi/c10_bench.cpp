// The calls of sconce_bench.cpp as c10 and ATen make them. Built against an installed PyTorch by
// scripts/gpu-check on a machine with a GPU.
#include <ATen/ATen.h>
#include <ATen/cuda/CUDAEvent.h>
#include <ATen/cuda/CUDAGeneratorImpl.h>
#include <c10/cuda/CUDAFunctions.h>
#include <c10/cuda/CUDAGuard.h>
#include <c10/cuda/CUDAStream.h>
#include <torch/version.h>

#include <mutex>
#include <string>
#if __has_include(<nvtx3/nvToolsExt.h>)
#include <nvtx3/nvToolsExt.h>
#define HAVE_NVTX 1
#endif

#include "measure.hpp"

namespace {

using measure::keep;

/// The least a call can cost: c10 has no function that does nothing.
void nothing() {}
void (*volatile empty_call)() = nothing;

void devices(measure::Table& table, const measure::Effort& effort) {
  table.add("device_get_current",
            measure::best_ns([] { keep(c10::cuda::current_device()); }, effort));
  table.add("device_exchange_same",
            measure::best_ns([] { keep(c10::cuda::ExchangeDevice(0)); }, effort));
  table.add("device_guard_same", measure::best_ns(
                                     [] {
                                       const c10::cuda::CUDAGuard guard(0);
                                       keep(guard);
                                     },
                                     effort));
}

void streams(measure::Table& table, const measure::Effort& effort) {
  table.add("stream_get_current",
            measure::best_ns([] { keep(c10::cuda::getCurrentCUDAStream(0)); }, effort));
  table.add("stream_get_current_here",
            measure::best_ns([] { keep(c10::cuda::getCurrentCUDAStream()); }, effort));
  const auto pooled = c10::cuda::getStreamFromPool(false, 0);
  table.add("stream_set_current",
            measure::best_ns([&] { c10::cuda::setCurrentCUDAStream(pooled); }, effort));
  c10::cuda::setCurrentCUDAStream(c10::cuda::getDefaultCUDAStream(0));
  table.add("stream_guard", measure::best_ns(
                                [&] {
                                  const c10::cuda::CUDAStreamGuard guard(pooled);
                                  keep(guard);
                                },
                                effort));
  table.add("stream_from_pool",
            measure::best_ns([] { keep(c10::cuda::getStreamFromPool(false, 0)); }, effort));
}

void events(measure::Table& table, const measure::Effort& effort) {
  const auto stream = c10::cuda::getStreamFromPool(false, 0);
  const auto other = c10::cuda::getStreamFromPool(false, 0);
  const auto drain = [] { c10::cuda::device_synchronize(); };
  at::cuda::CUDAEvent event;
  event.record(stream);
  drain();
  table.add("event_record", measure::best_queued_ns([&] { event.record(stream); }, drain, effort));
  table.add("event_query", measure::best_queued_ns([&] { keep(event.query()); }, drain, effort));
  table.add("stream_wait_event",
            measure::best_queued_ns([&] { event.block(other); }, drain, effort));
  table.add("event_create_destroy", measure::best_ns(
                                        [] {
                                          const at::cuda::CUDAEvent fresh;
                                          keep(fresh);
                                        },
                                        effort));
  table.add("event_create_record_destroy", measure::best_queued_ns(
                                               [&] {
                                                 at::cuda::CUDAEvent fresh;
                                                 fresh.record(stream);
                                               },
                                               drain, effort));
}

void random(measure::Table& table, const measure::Effort& effort) {
  const auto generator = at::cuda::detail::getDefaultCUDAGenerator(0);
  auto* state = generator.get<at::CUDAGeneratorImpl>();
  table.add("philox_reserve", measure::best_ns(
                                  [&] {
                                    const std::lock_guard<std::mutex> lock(state->mutex_);
                                    keep(state->philox_cuda_state(4));
                                  },
                                  effort));
  const auto tensor = at::empty({256}, at::TensorOptions().device(at::kCUDA).dtype(at::kFloat));
  table.add("random_uniform_256",
            measure::best_queued_ns([&] { tensor.uniform_(); },
                                    [] { c10::cuda::device_synchronize(); }, effort));
}

void others(measure::Table& table, const measure::Effort& effort) {
#ifdef HAVE_NVTX
  table.add("nvtx_mark", measure::best_ns([] { nvtxMarkA("mark"); }, effort));
  table.add("nvtx_push_pop", measure::best_ns(
                                 [] {
                                   keep(nvtxRangePushA("range"));
                                   keep(nvtxRangePop());
                                 },
                                 effort));
#else
  table.leave_out("nvtx_mark", "NVTX's headers are not here");
#endif
}

}  // namespace

int main(int argc, char** argv) {
  const measure::Options options(argc, argv);
  if (!options.valid) {
    return 2;
  }
  c10::cuda::set_device(0);
  c10::cuda::device_synchronize();
  measure::Table table;
  table.add("empty_call", measure::best_ns([] { empty_call(); }, options.effort));
  devices(table, options.effort);
  streams(table, options.effort);
  events(table, options.effort);
  random(table, options.effort);
  others(table, options.effort);
  return measure::finish(table, options, std::string("PyTorch ") + TORCH_VERSION);
}
