// This library's products, convolutions and transforms through the C ABI.
//
//   SCONCE_BACKEND=sim sconce_library_bench --quick      shows on the simulator that it runs
#include <sconce/sconce_all.h>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <memory>
#include <string>

#include "../copy/bare.hpp"
#include "bare_blas.hpp"
#include "bare_fft.hpp"
#include "program.hpp"

namespace {

using library_bench::Convolution;
using library_bench::Operation;
using library_bench::Type;

void must(sconce_status status, const char* what) {
  if (status != SCONCE_OK) [[unlikely]] {
    std::fprintf(stderr, "%s: %s\n", what, sconce_last_error_message());
    std::exit(1);
  }
}

std::int32_t dtype(Type type) {
  return type == Type::half     ? SCONCE_DTYPE_F16
         : type == Type::single ? SCONCE_DTYPE_F32
                                : SCONCE_DTYPE_F64;
}
std::size_t bytes(Type type) { return type == Type::half ? 2 : type == Type::single ? 4 : 8; }

/// Memory of the device with normal random numbers: zeros would flatter the clocks.
std::shared_ptr<void> random(std::int64_t elements, Type type) {
  void* pointer = nullptr;
  const auto n = static_cast<std::size_t>(elements);
  must(sconce_memory_alloc(n * bytes(type), &pointer), "memory");
  must(sconce_random_normal(pointer, n, dtype(type), 0, 1, nullptr), "random numbers");
  return {pointer, [](void* p) { must(sconce_memory_free(p), "freeing"); }};
}

struct Sconce {
  static std::string title() {
    char name[256] = "";
    must(sconce_device_get_name(0, name, sizeof name), "the device's name");
    const bool simulated = sconce_backend_get_active() == SCONCE_BACKEND_SIM;
    return std::string("Sconce ") + sconce_version() + " on " + name +
           (simulated ? " (simulated)" : "");
  }
  static void enter() {
    must(sconce_device_set_current(0), "device 0");
    // As in a program that uses CUDA's runtime too; the libraries' own calls need it.
    const copy_bench::Bare driver(1);
    if (sconce_backend_get_active() == SCONCE_BACKEND_CUDA && driver.usable()) {
      driver.enter();
    }
  }
  static void drain() { must(sconce_device_synchronize(0), "waiting"); }

  template <class Call>
  static double device_ms(Call& call, int times) {
    sconce_event *start = nullptr, *end = nullptr;
    must(sconce_event_create(SCONCE_EVENT_TIMING, &start), "an event");
    must(sconce_event_create(SCONCE_EVENT_TIMING, &end), "an event");
    sconce_stream stream{};
    must(sconce_stream_get_current(-1, &stream), "the stream");
    must(sconce_event_record(start, stream), "recording");
    for (int i = 0; i < times; ++i) {
      call();
    }
    must(sconce_event_record(end, stream), "recording");
    must(sconce_event_synchronize(end), "waiting");
    float ms = 0;
    must(sconce_event_elapsed_ms(start, end, &ms), "the time between");
    must(sconce_event_destroy(start), "an event");
    must(sconce_event_destroy(end), "an event");
    return static_cast<double>(ms) / times;
  }

  static void set_tf32(bool allow) {
    sconce_context_set_allow_tf32_cublas(allow);
    sconce_context_set_allow_tf32_cudnn(allow);
  }

  static auto handle() {
    return [] {
      void* handle = nullptr;
      must(sconce_blas_get_handle(&handle), "the handle");
    };
  }

  static std::function<void()> transform(std::int64_t n, std::int64_t batch) {
    sconce_fft_desc desc{};
    desc.struct_size = sizeof desc;
    desc.kind = SCONCE_FFT_C2C;
    desc.dtype = SCONCE_DTYPE_F32;
    desc.direction = SCONCE_FFT_FORWARD;
    desc.normalization = SCONCE_FFT_NORM_NONE;
    desc.rank = 1;
    desc.sizes[0] = n;
    desc.batch = batch;
    return [desc, in = random(2 * n * batch, Type::single),
            out = random(2 * n * batch, Type::single)] {
      must(sconce_fft(&desc, in.get(), out.get()), "a transform");
    };
  }

  /// Empty on the simulator, and where cuFFT is missing.
  static std::function<void()> bare_transform(std::int64_t n, std::int64_t batch) {
    static const library_bench::BareFft fft;
    std::size_t work_area = 0;
    if (sconce_backend_get_active() != SCONCE_BACKEND_CUDA || !fft.usable()) {
      return nullptr;
    }
    const int plan = fft.plan(n, batch, &work_area);
    auto in = random(2 * n * batch, Type::single), out = random(2 * n * batch, Type::single);
    auto area = random(static_cast<std::int64_t>(work_area / 4 + 1), Type::single);
    sconce_stream stream{};
    void* native = nullptr;
    must(sconce_stream_get_current(-1, &stream), "the stream");
    must(sconce_stream_get_native(stream, &native), "the stream");
    if (plan < 0 || !fft.set(plan, native, work_area > 0 ? area.get() : nullptr)) {
      return nullptr;
    }
    return [plan, in, out, area] {
      if (!fft.execute(plan, in.get(), out.get())) [[unlikely]] {
        std::fputs("cuFFT's own call failed\n", stderr);
        std::exit(1);
      }
    };
  }

  static auto product(std::int64_t n, Type type) {
    sconce_matmul_desc desc{};
    desc.struct_size = sizeof desc;
    desc.dtype = dtype(type);
    desc.m = desc.n = desc.k = n;
    desc.batch = 1;
    desc.alpha = 1;
    return [desc, a = random(n * n, type), b = random(n * n, type), c = random(n * n, type)] {
      must(sconce_matmul(&desc, a.get(), b.get(), c.get()), "a product");
    };
  }

  using BareProduct = library_bench::BareBlas::Function;

  /// cuBLAS's own call with the library's handle. Empty on the simulator, and where cuBLAS is
  /// missing.
  static std::function<void()> bare_product(std::int64_t n, BareProduct function) {
    static const library_bench::BareBlas blas;
    if (sconce_backend_get_active() != SCONCE_BACKEND_CUDA || !blas.usable()) {
      return nullptr;
    }
    void* handle = nullptr;
    must(sconce_blas_get_handle(&handle), "the handle");
    auto a = random(n * n, Type::single), b = random(n * n, Type::single),
         c = random(n * n, Type::single);
    return [=] {
      if (!blas.multiply(function, handle, static_cast<int>(n), a.get(), b.get(), c.get()))
          [[unlikely]] {
        std::fputs("cuBLAS's own call failed\n", stderr);
        std::exit(1);
      }
    };
  }

  static auto convolution(const Convolution& shape, Type type, Operation operation) {
    sconce_convolution_desc desc{};
    desc.struct_size = sizeof desc;
    desc.dtype = dtype(type);
    desc.operation = operation == Operation::forward ? SCONCE_CONVOLUTION_FORWARD
                     : operation == Operation::data  ? SCONCE_CONVOLUTION_BACKWARD_DATA
                                                     : SCONCE_CONVOLUTION_BACKWARD_FILTER;
    desc.spatial_rank = 2;
    desc.batch = shape.batch;
    desc.in_channels = shape.in;
    desc.out_channels = shape.out;
    desc.groups = shape.groups;
    for (int i = 0; i < 2; ++i) {
      desc.input_sizes[i] = shape.size;
      desc.filter_sizes[i] = shape.filter;
      desc.stride[i] = shape.stride;
      desc.padding[i] = shape.padding;
      desc.dilation[i] = 1;
    }
    std::int64_t sizes[3] = {};
    must(sconce_convolution_get_output_sizes(&desc, sizes), "the output's sizes");
    if (shape.channels_last) {
      const auto last = [](std::int64_t(&strides)[5], std::int64_t channels, std::int64_t size) {
        strides[0] = channels * size * size, strides[1] = 1;
        strides[2] = channels * size, strides[3] = channels;
      };
      last(desc.input_strides, shape.in, shape.size);
      last(desc.filter_strides, shape.in / shape.groups, shape.filter);
      last(desc.output_strides, shape.out, sizes[0]);
    }
    auto input = random(shape.batch * shape.in * shape.size * shape.size, type);
    auto filter = random(shape.out * shape.in / shape.groups * shape.filter * shape.filter, type);
    auto output = random(shape.batch * shape.out * sizes[0] * sizes[0], type);
    auto a = operation == Operation::forward ? input : output;
    auto b = operation == Operation::filter ? input : filter;
    auto result = operation == Operation::forward ? output
                  : operation == Operation::data  ? input
                                                  : filter;
    return [desc, a, b, result] {
      must(sconce_convolution(&desc, a.get(), b.get(), result.get()), "a convolution");
    };
  }
};

}  // namespace

int main(int argc, char** argv) {
  const memory_bench::Options options(argc, argv);
  return options.valid ? library_bench::run<Sconce>(options) : 2;
}
