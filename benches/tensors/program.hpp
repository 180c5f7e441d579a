// The program that both backends run, this library and PyTorch: the host's time for small tensors,
// and the device's for large ones. It prints a line for each measurement.
//
// A backend is a struct of static functions:
//   std::string title(), void enter(), void drain(), double device_ms(call, times)
//   small()         a struct whose members are the calls on tensors of 16 x 16, and a few more
//   large(scale)    the same for large ones; `scale` divides their sizes
#ifndef SCONCE_BENCHES_TENSORS_PROGRAM_HPP
#define SCONCE_BENCHES_TENSORS_PROGRAM_HPP

#include <cstdint>
#include <cstdio>
#include <exception>
#include <string>

#include "../libraries/program.hpp"

namespace tensor_bench {

using memory_bench::Effort;
using memory_bench::Figures;

/// The host's time for one call, in nanoseconds.
template <class Backend, class Call>
void host(const Effort& effort, const char* key, Call&& call, int burst = 200) {
  Figures::add(key, library_bench::host_ns<Backend>(effort, call, burst), "ns");
}

/// The device's bandwidth for one call that moves so many bytes, in GB/s.
template <class Backend, class Call>
void device(const Effort& effort, const char* key, double bytes, Call&& call) {
  const double ms = library_bench::best_ms<Backend>(effort, call, effort.runs > 1 ? 10 : 1);
  Figures::add(key, ms > 0 ? bytes / ms / 1e6 : 0, "GB/s");
}

template <class Backend>
void small_tensors(const Effort& effort) {
  auto calls = Backend::small();
  host<Backend>(effort, "tensor_empty", [&] { calls.empty(); });
  host<Backend>(effort, "tensor_empty_cpu", [&] { calls.empty_cpu(); });
  host<Backend>(effort, "tensor_view", [&] { calls.view(); });
  host<Backend>(effort, "tensor_select", [&] { calls.select(); });
  host<Backend>(effort, "tensor_zeros_256", [&] { calls.zeros(); });
  host<Backend>(effort, "tensor_add_256", [&] { calls.add(); });
  host<Backend>(effort, "tensor_add_into_256", [&] { calls.add_into(); });
  host<Backend>(effort, "tensor_sum_256", [&] { calls.sum(); });
  host<Backend>(effort, "tensor_cast_256", [&] { calls.cast(); });
  host<Backend>(effort, "tensor_cat_2", [&] { calls.cat(); });
  host<Backend>(effort, "tensor_matmul_16", [&] { calls.matmul(); });
  host<Backend>(
      effort, "tensor_item", [&] { calls.item(); }, 20);
}

template <class Backend>
void large_tensors(const Effort& effort) {
  const std::int64_t scale = effort.runs > 1 ? 1 : 1 << 10;
  auto calls = Backend::large(scale);
  const double n = 268435456. / static_cast<double>(scale);
  device<Backend>(effort, "tensor_copy", 8 * n, [&] { calls.copy(); });
  device<Backend>(effort, "tensor_add", 12 * n, [&] { calls.add(); });
  device<Backend>(effort, "tensor_add_half", 6 * n, [&] { calls.add_half(); });
  device<Backend>(effort, "tensor_gelu", 8 * n, [&] { calls.gelu(); });
  device<Backend>(effort, "tensor_cast", 6 * n, [&] { calls.cast(); });
  device<Backend>(effort, "tensor_add_row", 8 * n, [&] { calls.add_row(); });
  device<Backend>(effort, "tensor_sum", 4 * n, [&] { calls.sum(); });
  device<Backend>(effort, "tensor_sum_rows", 4 * n, [&] { calls.sum_rows(); });
  device<Backend>(effort, "tensor_sum_columns", 4 * n, [&] { calls.sum_columns(); });
  device<Backend>(effort, "tensor_argmax_rows", 4 * n, [&] { calls.argmax_rows(); });
  device<Backend>(effort, "tensor_softmax", 8 * n, [&] { calls.softmax(); });
  device<Backend>(effort, "tensor_transposed_cast", 6 * n, [&] { calls.transposed_cast(); });
  device<Backend>(effort, "tensor_cumsum", 8 * n, [&] { calls.cumsum(); });
  device<Backend>(effort, "tensor_cumsum_rows", 8 * n, [&] { calls.cumsum_rows(); });
  device<Backend>(effort, "tensor_index_select", 8 * n / 4, [&] { calls.index_select(); });
  device<Backend>(effort, "tensor_cat", 8 * n, [&] { calls.cat(); });
  // 2^24 keys in milliseconds, as bytes a thousandth as many a second.
  Figures::add("tensor_sort_i32_us",
               library_bench::best_ms<Backend>(
                   effort, [&] { calls.sort(); }, effort.runs > 1 ? 5 : 1) *
                   1e3,
               "us");
}

template <class Backend>
int run(const memory_bench::Options& options) {
  try {
    Backend::enter();
    std::printf("# %s\n", Backend::title().c_str());
    small_tensors<Backend>(options.effort);
    large_tensors<Backend>(options.effort);
    Backend::drain();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
  return 0;
}

}  // namespace tensor_bench

#endif  // SCONCE_BENCHES_TENSORS_PROGRAM_HPP
