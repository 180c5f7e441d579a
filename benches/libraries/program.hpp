// The program that both backends run, this library and PyTorch: products, convolutions and
// transforms, timed on the host and on the device. It prints a line for each measurement.
//
// A backend is a struct of static functions, since each measures the process's one library:
//   std::string title()
//   void enter()                            called by the thread before all else
//   void drain()                            waits for the device
//   double device_ms(call, times)           milliseconds of the device for each call
//   void set_tf32(bool)                     for products and convolutions
//   transform(n, batch), product(n, type), convolution(shape, type, operation), handle()
//                                           callables that do the work once
// and, if it has them, bare_transform(n, batch), the library's own call with a separate plan,
// and bare_product(n, function), the library's own call with the handle of the thread.
#ifndef SCONCE_BENCHES_LIBRARIES_PROGRAM_HPP
#define SCONCE_BENCHES_LIBRARIES_PROGRAM_HPP

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <string>
#include <utility>
#include <vector>

#include "../memory/figures.hpp"
#include "../memory/workloads.hpp"

namespace library_bench {

using memory_bench::Clock;
using memory_bench::Effort;
using memory_bench::Figures;
using memory_bench::ns_since;

enum class Type { half, single, twice };
enum class Operation { forward, data, filter };

inline const char* name(Type type) {
  return type == Type::half ? "f16" : type == Type::single ? "f32" : "f64";
}
inline const char* name(Operation operation) {
  return operation == Operation::forward ? "fwd"
         : operation == Operation::data  ? "bwd_data"
                                         : "bwd_filter";
}

/// A square convolution of two dimensions.
struct Convolution {
  const char* name;
  std::int64_t batch, in, size, out, filter, stride, padding, groups;
  bool channels_last;
};

/// How often a call is made in a row, and how many such bursts are timed.
struct Bursts {
  int calls, times;

  /// Nanoseconds of one call of a burst. The device is drained before, outside of the time.
  template <class Backend, class Call>
  [[nodiscard]] double once(Call& call) const {
    Backend::drain();
    const auto start = Clock::now();
    for (int k = 0; k < calls; ++k) {
      call();
    }
    return ns_since(start) / calls;
  }
};

inline double median(std::vector<double>& found) {
  std::sort(found.begin(), found.end());
  return found[found.size() / 2];
}

/// Nanoseconds of the host for one call: the median of bursts that are shorter than any queue.
template <class Backend, class Call>
double host_ns(const Effort& effort, Call&& call, int burst = 50) {
  const Bursts bursts{burst, effort.runs > 1 ? 200 : 3};
  std::vector<double> found;
  for (int i = 0; i < bursts.times; ++i) {
    found.push_back(bursts.once<Backend>(call));
  }
  return median(found);
}

/// Measures two calls in turns, so that both run under the same conditions.
template <class Backend, class One, class Other>
std::array<double, 2> ns_of_both(Bursts bursts, One& one, Other& other) {
  std::array<std::vector<double>, 2> found;
  for (int i = 0; i < bursts.times; ++i) {
    found[0].push_back(bursts.once<Backend>(one));
    found[1].push_back(bursts.once<Backend>(other));
  }
  return {median(found[0]), median(found[1])};
}

/// Bursts that are shorter than any queue.
inline Bursts short_bursts(const Effort& effort) { return {50, effort.runs > 1 ? 400 : 3}; }

/// Many calls without a pause, which is what a loop of transforms pays. Once the queue is full the
/// device sets the pace, if it is slower than the host.
inline Bursts sustained(const Effort& effort) {
  return effort.runs > 1 ? Bursts{5000, 25} : Bursts{20, 1};
}

/// The best of several runs, since clocks need a while to rise.
template <class Backend, class Call>
double best_ms(const Effort& effort, Call&& call, int times) {
  call();
  Backend::drain();
  double best = Backend::device_ms(call, times);
  for (int i = 1; i < effort.runs; ++i) {
    best = std::min(best, Backend::device_ms(call, times));
  }
  return best;
}

template <class Backend>
void transforms(const Effort& effort) {
  for (const std::int64_t n : {1024, 65536}) {
    const std::string key = "fft_" + std::to_string(n);
    auto call = Backend::transform(n, 1);
    call();
    if constexpr (requires { Backend::bare_transform(n, 1); }) {
      if (auto bare = Backend::bare_transform(n, 1)) {
        const auto [ours, theirs] = ns_of_both<Backend>(short_bursts(effort), call, bare);
        Figures::add(key, ours, "ns");
        Figures::add("bare_" + key, theirs, "ns");
        const auto [ours_sustained, bare_sustained] =
            ns_of_both<Backend>(sustained(effort), call, bare);
        Figures::add(key + "_sustained", ours_sustained, "ns");
        Figures::add("bare_" + key + "_sustained", bare_sustained, "ns");
        continue;
      }
    }
    Figures::add(key, host_ns<Backend>(effort, call), "ns");
    Figures::add(key + "_sustained", ns_of_both<Backend>(sustained(effort), call, call)[0], "ns");
  }
  // Many shapes in turn: a cache that is not a toy.
  std::vector<decltype(Backend::transform(1, 1))> many;
  const int shapes = effort.runs > 1 ? 200 : 5;
  for (int i = 0; i < shapes; ++i) {
    many.push_back(Backend::transform(32 + i, 2));
    many.back()();
  }
  std::size_t next = 0;
  Figures::add("fft_shapes_in_turn",
               host_ns<Backend>(effort, [&] { many[next++ % many.size()](); }), "ns");
  const std::int64_t large = effort.runs > 1 ? std::int64_t{1} << 22 : 1 << 10;
  Figures::add("fft_4M_x8_c2c", best_ms<Backend>(effort, Backend::transform(large, 8), 5) * 1e3,
               "us");
}

/// What queuing a product of 64 x 64 costs the host, and where the library has them, cuBLAS's own
/// calls in turns with it. The thread was not given its handle before the first line, as in a
/// program that leaves products to the library.
template <class Backend>
void small_products(const Effort& effort) {
  auto call = Backend::product(64, Type::single);
  Figures::add("matmul_64_call", host_ns<Backend>(effort, call, 20), "ns");
  Figures::add("matmul_64_f16_call", host_ns<Backend>(effort, Backend::product(64, Type::half), 20),
               "ns");
  if constexpr (requires { typename Backend::BareProduct; }) {
    using Function = typename Backend::BareProduct;
    const std::pair<const char*, Function> functions[] = {
        {"bare_sgemm_64", Function::single},
        {"bare_gemm_ex_64", Function::mixed},
        {"bare_gemm_batched_64", Function::batched}};
    for (const auto& [key, function] : functions) {
      auto bare = Backend::bare_product(64, function);
      if (!bare) {
        return;
      }
      bare();
      const auto [ours, theirs] = ns_of_both<Backend>(short_bursts(effort), call, bare);
      Figures::add(key, theirs, "ns");
      if (function == Function::single) {
        // With a handle that was given out, which is asked whether it is still set as it was.
        Figures::add("matmul_64_call_given", ours, "ns");
      }
    }
  }
}

template <class Backend>
void products(const Effort& effort) {
  small_products<Backend>(effort);
  Figures::add("blas_handle", host_ns<Backend>(effort, Backend::handle(), 1000), "ns");
  const std::int64_t large = effort.runs > 1 ? 10240 : 64;
  for (const bool tf32 : {true, false}) {
    Backend::set_tf32(tf32);
    Figures::add(tf32 ? "matmul_10240_tf32" : "matmul_10240_ieee",
                 best_ms<Backend>(effort, Backend::product(large, Type::single), 3), "ms");
  }
  Backend::set_tf32(true);
  Figures::add(
      "matmul_4096_f16",
      best_ms<Backend>(effort, Backend::product(effort.runs > 1 ? 4096 : 64, Type::half), 10) * 1e3,
      "us");
  Figures::add(
      "matmul_4096_f64",
      best_ms<Backend>(effort, Backend::product(effort.runs > 1 ? 4096 : 64, Type::twice), 3) * 1e3,
      "us");
}

template <class Backend>
void convolutions(const Effort& effort) {
  constexpr Convolution shapes[] = {
      {"64x56", 32, 64, 56, 64, 3, 1, 1, 1, false},
      {"256x14", 32, 256, 14, 256, 3, 1, 1, 1, false},
      {"stem", 16, 3, 224, 64, 7, 2, 3, 1, false},
      {"1x1", 32, 256, 56, 64, 1, 1, 0, 1, false},
      {"groups", 16, 128, 28, 128, 3, 1, 1, 32, false},
      {"64x56_last", 32, 64, 56, 64, 3, 1, 1, 1, true},
  };
  constexpr Convolution tiny = {"tiny", 1, 4, 8, 4, 3, 1, 1, 1, false};
  Figures::add(
      "conv_tiny_call",
      host_ns<Backend>(effort, Backend::convolution(tiny, Type::single, Operation::forward), 20),
      "ns");
  for (const Convolution& shape : shapes) {
    for (const Type type : {Type::single, Type::half}) {
      for (const Operation operation : {Operation::forward, Operation::data, Operation::filter}) {
        if (effort.runs == 1 && (&shape != shapes || type == Type::half)) {
          continue;
        }
        Convolution used = shape;
        if (effort.runs == 1) {
          used.batch = 1, used.in = used.out = 4, used.size = 8;
        }
        const std::string key =
            std::string("conv_") + shape.name + "_" + name(type) + "_" + name(operation);
        Figures::add(
            key, best_ms<Backend>(effort, Backend::convolution(used, type, operation), 20) * 1e3,
            "us");
      }
    }
  }
}

template <class Backend>
int run(const memory_bench::Options& options) {
  try {
    Backend::enter();
    std::printf("# %s\n", Backend::title().c_str());
    transforms<Backend>(options.effort);
    products<Backend>(options.effort);
    convolutions<Backend>(options.effort);
    Backend::drain();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
  return 0;
}

}  // namespace library_bench

#endif  // SCONCE_BENCHES_LIBRARIES_PROGRAM_HPP
