// Transforms of 200 random shapes against the host: of 1 to 3 dimensions, batches, forward and
// inverse, every normalisation, with gaps and interleaved. Runs on a GPU with
// SCONCE_TEST_BACKEND=cuda, else on the simulator.
#include <complex>
#include <sconce/sconce_all.hpp>
#include <string>
#include <vector>

#include "../library_references.hpp"
#include "libraries.hpp"
#include "places.hpp"

namespace {

using namespace sconce::cuda;
using gpu::Engine;
using gpu::expect;
using gpu::pick;
using support::Complex;
using support::ComplexNumbers;

/// Sizes, and the number of transforms.
FFT any_transform(Engine& engine) {
  FFT what;
  const std::int64_t rank = pick(engine, 1, 3);
  const std::int64_t most = rank == 1 ? 130 : rank == 2 ? 20 : 9;
  what.sizes = rank == 1 ? DimVector{0} : rank == 2 ? DimVector{0, 0} : DimVector{0, 0, 0};
  for (std::size_t i = 0; i < what.sizes.size(); ++i) {
    what.sizes[i] = pick(engine, 1, most);
  }
  what.batch = pick(engine, 1, 4);
  what.direction = pick(engine, 0, 1) == 0 ? FFTDirection::Forward : FFTDirection::Inverse;
  what.normalization = static_cast<FFTNorm>(pick(engine, 0, 2));
  return what;
}

/// A layout of a side: packed, with gaps between elements or rows, or interleaved transforms.
void any_layout(Engine& engine, const DimVector& sizes, std::int64_t batch, DimVector& strides,
                std::int64_t& batch_stride) {
  const std::int64_t kind = pick(engine, 0, 3);
  if (kind == 0) {
    return;
  }
  std::int64_t next = kind == 1 ? batch : pick(engine, 1, 2);
  strides = sizes;
  for (std::size_t i = sizes.size(); i-- > 0;) {
    strides[i] = next;
    next = next * sizes[i] + (kind == 3 ? pick(engine, 0, 2) : 0);
  }
  batch_stride = kind == 1 ? 1 : next;
}

DimVector with_batch(std::int64_t batch, const DimVector& numbers) {
  return sconce::detail::with_batch(batch, numbers);
}

/// The elements of a side, in order or at their places.
template <class T>
struct Side {
  DimVector sizes;
  DimVector strides;

  Side(const DimVector& dimensions, std::int64_t batch, const DimVector& given,
       std::int64_t batch_stride)
      : sizes(with_batch(batch, dimensions)),
        strides(given.empty() ? sconce::detail::packed_strides(sizes)
                              : with_batch(batch_stride, given)) {}

  [[nodiscard]] std::size_t room() const { return support::reach(sizes, strides); }

  template <class Elements>
  [[nodiscard]] std::vector<T> placed(const Elements& elements) const {
    std::vector<T> memory(room());
    std::size_t next = 0;
    support::each_offset(sizes, strides,
                         [&](std::size_t offset) { memory[offset] = T(elements[next++]); });
    return memory;
  }

  [[nodiscard]] ComplexNumbers taken(const std::vector<T>& memory) const {
    ComplexNumbers elements;
    support::each_offset(sizes, strides,
                         [&](std::size_t offset) { elements.emplace_back(memory[offset]); });
    return elements;
  }
};

/// The first n / 2 + 1 of the last dimension, for every full transform.
ComplexNumbers onesided(const ComplexNumbers& whole, std::int64_t n) {
  ComplexNumbers kept;
  for (std::size_t i = 0; i < whole.size(); ++i) {
    if (static_cast<std::int64_t>(i) % n <= n / 2) {
      kept.push_back(whole[i]);
    }
  }
  return kept;
}

/// Transforms each member of a batch separately.
ComplexNumbers each_transformed(const ComplexNumbers& numbers, const FFT& what, bool inverse) {
  const std::size_t count = support::reach(what.sizes, {});
  ComplexNumbers result;
  for (auto begin = numbers.begin(); begin != numbers.end();
       begin += static_cast<std::ptrdiff_t>(count)) {
    const ComplexNumbers one = support::transformed(
        ComplexNumbers(begin, begin + static_cast<std::ptrdiff_t>(count)), what.sizes, inverse);
    result.insert(result.end(), one.begin(), one.end());
  }
  return result;
}

/// Runs a transform on the device. \returns the largest difference, as a part of the largest number
template <class In, class Out>
double error_of(const FFT& what, std::int32_t kind, const ComplexNumbers& numbers,
                ComplexNumbers expected) {
  const Side<In> in(what.sizes_of_input(kind), what.batch, what.in_strides, what.in_batch_stride);
  const Side<Out> out(what.sizes_of_output(kind), what.batch, what.out_strides,
                      what.out_batch_stride);
  std::vector<In> elements;
  for (const Complex& number : numbers) {
    if constexpr (sconce::detail::is_complex_v<In>) {
      elements.push_back(In(number));
    } else {
      elements.push_back(static_cast<In>(number.real()));
    }
  }
  const std::vector<In> memory = in.placed(elements);
  auto device_in = DeviceBuffer::of<In>(memory.size());
  auto device_out = DeviceBuffer::of<Out>(out.room());
  copy_(device_in, memory);
  const auto from = device_in.template span<In>();
  const auto to = device_out.template span<Out>();
  if constexpr (!sconce::detail::is_complex_v<In>) {
    fft_r2c(what, from, to);
  } else if constexpr (!sconce::detail::is_complex_v<Out>) {
    fft_c2r(what, from, to);
  } else {
    fft_c2c(what, from, to);
  }
  std::vector<Out> result(out.room());
  copy_(result, device_out);

  const auto count = static_cast<double>(support::reach(what.sizes, {}));
  const double divisor = what.normalization == FFTNorm::None  ? 1
                         : what.normalization == FFTNorm::ByN ? count
                                                              : std::sqrt(count);
  const ComplexNumbers actual = out.taken(result);
  double worst = 0;
  double largest = 1e-30;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    expected[i] /= divisor;
    const double error = std::abs(actual[i] - expected[i]);
    worst = std::isnan(error) ? error : std::max(worst, error);
    largest = std::max(largest, std::abs(expected[i]));
  }
  return worst / largest;
}

std::string words_of(const FFT& what) {
  using gpu::words_of;
  return "sizes " + words_of(what.sizes) + " batch " + std::to_string(what.batch) + " in " +
         words_of(what.in_strides) + " " + std::to_string(what.in_batch_stride) + " out " +
         words_of(what.out_strides) + " " + std::to_string(what.out_batch_stride);
}

template <class T>
void transforms_are_right(const std::string& name, double tolerance) {
  const auto shape = [](Engine& engine, std::int32_t kind) {
    FFT what = any_transform(engine);
    if (kind != SCONCE_FFT_C2C) {
      what.direction.reset();
    }
    any_layout(engine, what.sizes_of_input(kind), what.batch, what.in_strides,
               what.in_batch_stride);
    any_layout(engine, what.sizes_of_output(kind), what.batch, what.out_strides,
               what.out_batch_stride);
    return what;
  };
  const auto any_numbers = [](const FFT& what, unsigned seed, bool real) {
    const std::size_t count = support::reach(what.sizes, {}) * static_cast<std::size_t>(what.batch);
    const auto parts = support::random_numbers(2 * count, seed);
    ComplexNumbers numbers(count);
    for (std::size_t i = 0; i < count; ++i) {
      numbers[i] = {parts[2 * i], real ? 0 : parts[2 * i + 1]};
    }
    return numbers;
  };
  gpu::compare(name + " C2C", tolerance, 71, [&](Engine& engine, unsigned seed) {
    const FFT what = shape(engine, SCONCE_FFT_C2C);
    const ComplexNumbers numbers = any_numbers(what, seed, false);
    const bool inverse = what.direction == FFTDirection::Inverse;
    return std::pair(error_of<std::complex<T>, std::complex<T>>(
                         what, SCONCE_FFT_C2C, numbers, each_transformed(numbers, what, inverse)),
                     words_of(what));
  });
  gpu::compare(name + " R2C", tolerance, 72, [&](Engine& engine, unsigned seed) {
    const FFT what = shape(engine, SCONCE_FFT_R2C);
    const std::int64_t last = what.sizes[what.sizes.size() - 1];
    const ComplexNumbers numbers = any_numbers(what, seed, true);
    return std::pair(
        error_of<T, std::complex<T>>(what, SCONCE_FFT_R2C, numbers,
                                     onesided(each_transformed(numbers, what, false), last)),
        words_of(what));
  });
  gpu::compare(name + " C2R", tolerance, 73, [&](Engine& engine, unsigned seed) {
    FFT what = shape(engine, SCONCE_FFT_C2R);
    what.may_overwrite_input = pick(engine, 0, 1) == 0;
    const std::int64_t last = what.sizes[what.sizes.size() - 1];
    // Spectra of real numbers, so that the half that is passed determines the other half.
    const ComplexNumbers whole = each_transformed(any_numbers(what, seed, true), what, false);
    return std::pair(error_of<std::complex<T>, T>(what, SCONCE_FFT_C2R, onesided(whole, last),
                                                  each_transformed(whole, what, true)),
                     words_of(what));
  });
}

}  // namespace

int main() {
  return gpu::program(
      "libraries_transforms",
      [] {
        transforms_are_right<double>("F64", 1e-13);
        transforms_are_right<float>("F32", 5e-6);
        const CuFFTPlanCache::Stats stats = cufft_plan_cache().stats();
        expect(stats.misses >= stats.size && stats.hits + stats.misses > 0,
               "plans are counted: " + std::to_string(stats.size) + ", " +
                   std::to_string(stats.hits) + " hits, " + std::to_string(stats.misses) +
                   " misses, " + std::to_string(stats.bytes) + " bytes");
        return gpu::verdict("transforms");
      },
      gpu::either_backend());
}
