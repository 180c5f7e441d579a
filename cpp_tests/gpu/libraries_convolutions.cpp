// Convolutions of 200 random shapes and their gradients against the host: 1 to 3 dimensions,
// groups, strides, padding, dilation, channels last, TF32 enabled and disabled, deterministic and
// measured choices. Runs on a GPU with SCONCE_TEST_BACKEND=cuda, else on the simulator.
#include <sconce/sconce_all.hpp>
#include <string>

#include "../library_references.hpp"
#include "libraries.hpp"
#include "places.hpp"

namespace {

using namespace sconce::cuda;
using gpu::Engine;
using gpu::expect;
using gpu::pick;
using support::Numbers;

Convolution any_convolution(Engine& engine) {
  Convolution what;
  const std::int64_t rank = pick(engine, 1, 3);
  const std::int64_t most = rank == 3 ? 6 : rank == 2 ? 11 : 40;
  DimVector* const fields[] = {&what.input_sizes, &what.filter_sizes, &what.stride, &what.padding,
                               &what.dilation};
  for (DimVector* const field : fields) {
    *field = rank == 1 ? DimVector{0} : rank == 2 ? DimVector{0, 0} : DimVector{0, 0, 0};
  }
  for (std::size_t i = 0; i < static_cast<std::size_t>(rank); ++i) {
    what.input_sizes[i] = pick(engine, 1, most);
    what.stride[i] = pick(engine, 1, 3);
    what.padding[i] = pick(engine, 0, 2);
    what.dilation[i] = pick(engine, 0, 2) == 0 ? 2 : 1;
    const std::int64_t room = what.input_sizes[i] + 2 * what.padding[i];
    what.filter_sizes[i] =
        pick(engine, 1, std::min<std::int64_t>(4, (room - 1) / what.dilation[i] + 1));
    // Padding as large as the filter is legal, but libraries are not made for it.
    what.padding[i] = std::min(what.padding[i], what.dilation[i] * (what.filter_sizes[i] - 1));
    if (what.dilation[i] * (what.filter_sizes[i] - 1) + 1 >
        what.input_sizes[i] + 2 * what.padding[i]) {
      what.filter_sizes[i] = 1;
      what.padding[i] = 0;
    }
  }
  what.groups = pick(engine, 0, 2) == 0 ? pick(engine, 1, 4) : 1;
  what.batch = pick(engine, 1, 3);
  what.in_channels = what.groups * pick(engine, 1, 8);
  what.out_channels = what.groups * pick(engine, 1, 8);
  what.memory_format =
      pick(engine, 0, 2) == 0 ? MemoryFormat::ChannelsLast : MemoryFormat::Contiguous;
  return what;
}

std::string words_of(const Convolution& what) {
  using gpu::words_of;
  return "batch, channels, groups " +
         words_of(DimVector{what.batch, what.in_channels, what.out_channels, what.groups}) +
         " input " + words_of(what.input_sizes) + " filter " + words_of(what.filter_sizes) +
         " stride " + words_of(what.stride) + " padding " + words_of(what.padding) + " dilation " +
         words_of(what.dilation) +
         (what.memory_format == MemoryFormat::ChannelsLast ? " channels last" : "");
}

double error_of(const Convolution& what, std::int32_t operation, ScalarType type, unsigned seed) {
  const auto numbers = [&](const DimVector& shape, const DimVector& strides) {
    return support::random_numbers(support::reach(shape, strides), ++seed, support::bits_for(type));
  };
  const Numbers input = numbers(what.input_shape(), what.strides_of_input());
  const Numbers filter = numbers(what.filter_shape(), what.strides_of_filter());
  const Numbers output = numbers(what.output_shape(), what.strides_of_output());
  const bool forward = operation == SCONCE_CONVOLUTION_FORWARD;
  const bool data = operation == SCONCE_CONVOLUTION_BACKWARD_DATA;
  const Numbers& a = forward ? input : output;
  const Numbers& b = forward || data ? filter : input;
  const Numbers& before = forward ? output : data ? input : filter;
  support::OnDevice device_a(a, type);
  support::OnDevice device_b(b, type);
  support::OnDevice result(before, type);
  sconce::detail::convolve(what, operation, type, device_a.get(), device_b.get(), result.get(),
                           std::nullopt);
  return support::worst_error(result.read(), support::convolved(what, operation, a, b, before));
}

void convolutions_are_right(ScalarType type, const std::string& name, bool tf32) {
  globalContext().setAllowTF32CuDNN(tf32);
  constexpr const char* kNames[] = {", forward", ", input's gradient", ", filter's gradient"};
  for (const std::int32_t operation : {SCONCE_CONVOLUTION_FORWARD, SCONCE_CONVOLUTION_BACKWARD_DATA,
                                       SCONCE_CONVOLUTION_BACKWARD_FILTER}) {
    // Engines may sum in other orders, and use tiles.
    const double tolerance = 4 * support::tolerance(type, tf32);
    gpu::compare(name + kNames[operation], tolerance, 61, [&](Engine& engine, unsigned seed) {
      const Convolution what = any_convolution(engine);
      return std::pair(error_of(what, operation, type, seed), words_of(what));
    });
  }
}

}  // namespace

int main() {
  return gpu::program(
      "libraries_convolutions",
      [] {
        convolutions_are_right(ScalarType::Float, "F32", false);
        convolutions_are_right(ScalarType::Float, "F32 with TF32 allowed", true);
        expect(gpu::worst_of("F32 with TF32 allowed, forward") > 10 * gpu::worst_of("F32, forward"),
               "TF32 makes a difference");
        convolutions_are_right(ScalarType::Half, "F16", true);
        globalContext().setDeterministicCuDNN(true);
        convolutions_are_right(ScalarType::Float, "F32, deterministic", false);
        globalContext().setDeterministicCuDNN(false);
        globalContext().setBenchmarkCuDNN(true);
        globalContext().setBenchmarkLimitCuDNN(3);
        convolutions_are_right(ScalarType::Float, "F32, measured", false);
        return gpu::verdict("convolutions");
      },
      gpu::either_backend());
}
