// Draws what PyTorch recorded on an H200 with the functions of sconce/cuda/device.cuh, compiled for
// the host. Uses neither a device nor the library.
//
//   device_numbers_golden FOLDER_WITH_RNG_TXT_AND_BIN
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <iostream>
#include <iterator>
#include <sconce/cuda/device.cuh>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

namespace philox = sconce::philox;

struct Fill {
  std::string name, type;
  std::uint64_t n = 0;
  double first = 0, second = 0;
  std::uint64_t offset = 0;  // after the fill
  std::size_t bytes = 0;
};

/// Bytes in hexadecimal digits, the lowest first.
std::uint64_t little_endian(const std::string& digits) {
  std::uint64_t value = 0;
  for (int i = 7; i >= 0; --i) {
    const auto byte = std::stoul(digits.substr(static_cast<std::size_t>(2 * i), 2), nullptr, 16);
    value = value << 8 | byte;
  }
  return value;
}

std::uint64_t quotient_up(std::uint64_t a, std::uint64_t b) { return (a + b - 1) / b; }

/// Element `i` of a fill, as a kernel would draw it.
template <class Real, unsigned kDraws>
Real element(const Fill& fill, std::uint64_t seed, std::uint64_t begin, std::uint64_t threads,
             std::uint64_t i) {
  const std::uint64_t q = i / threads;
  philox::Engine engine({seed, begin + 4 * (q / kDraws)}, i % threads);
  const auto first = static_cast<Real>(fill.first);
  const auto second = static_cast<Real>(fill.second);
  const bool is_normal = fill.name == "normal";
  Real draws[kDraws];
  if constexpr (kDraws == 4) {
    const philox::Floats4 four = is_normal ? engine.next_normal() : engine.next_uniform();
    std::memcpy(draws, &four, sizeof draws);
  } else {
    const philox::Doubles2 two =
        is_normal ? engine.next_normal_double() : engine.next_uniform_double();
    std::memcpy(draws, &two, sizeof draws);
  }
  const Real draw = draws[q % kDraws];
  if (is_normal) return philox::scaled(draw, first, second);
  const Real value = philox::in_range(draw, first, second);
  if (first == 0 && second == 1 && value != philox::half_open(draw)) {
    throw std::runtime_error("half_open and in_range differ");
  }
  return value;
}

struct Counts {
  int fills = 0;
  std::uint64_t elements = 0;
  std::uint64_t wrong = 0;
};

template <class Real, unsigned kDraws>
void compare(const Fill& fill, const std::vector<char>& recorded, std::uint64_t seed,
             std::uint64_t sms, std::uint64_t threads_per_sm, Counts& counts) {
  const std::uint64_t threads =
      256 * std::min(sms * (threads_per_sm / 256), quotient_up(fill.n, 256));
  const std::uint64_t begin = fill.offset - 4 * quotient_up(fill.n, threads * kDraws);
  std::vector<Real> values(recorded.size() / sizeof(Real));
  std::memcpy(values.data(), recorded.data(), values.size() * sizeof(Real));
  const bool whole = values.size() == fill.n;
  const double tolerance = fill.name == "uniform" ? 0 : sizeof(Real) == 4 ? 1e-5 : 1e-12;
  for (std::size_t k = 0; k < values.size(); ++k) {
    // All elements, or three pieces of 64.
    const std::uint64_t starts[3] = {0, fill.n / 2, fill.n - 64};
    const std::uint64_t i = whole ? k : starts[k / 64] + k % 64;
    const Real drawn = element<Real, kDraws>(fill, seed, begin, threads, i);
    const double bound = tolerance * std::max(1.0, std::abs(static_cast<double>(values[k])));
    if (!(std::abs(static_cast<double>(drawn) - static_cast<double>(values[k])) <= bound)) {
      if (counts.wrong++ < 5) {
        std::cout << fill.name << " " << fill.type << " " << fill.n << ", element " << i << ": "
                  << drawn << " instead of " << values[k] << "\n";
      }
    }
    ++counts.elements;
  }
  ++counts.fills;
}

int run(const std::string& folder) {
  std::ifstream text(folder + "/rng.txt");
  std::ifstream values(folder + "/rng.bin", std::ios::binary);
  if (!text || !values) throw std::runtime_error("no rng.txt and rng.bin in " + folder);
  std::uint64_t seed = 0, sms = 0, threads_per_sm = 0;
  Counts counts;
  std::string line;
  while (std::getline(text, line)) {
    std::istringstream words(line);
    Fill fill;
    words >> fill.name;
    if (fill.name.empty() || fill.name == "#") continue;
    if (fill.name == "device") {
      words >> sms >> threads_per_sm;
      continue;
    }
    if (fill.name == "seed") {
      words >> seed;
      continue;
    }
    std::string first, second, digest, state, kind;
    words >> fill.type >> fill.n >> first >> second >> digest >> state >> kind >> fill.bytes;
    if (!words) throw std::runtime_error("rng.txt: " + line);
    std::vector<char> recorded(fill.bytes);
    values.read(recorded.data(), static_cast<std::streamsize>(recorded.size()));
    if (!values) throw std::runtime_error("rng.bin is too short");
    if (fill.name != "uniform" && fill.name != "normal") continue;
    fill.first = std::stod(first);
    fill.second = std::stod(second);
    fill.offset = little_endian(state.substr(16));
    if (fill.type == "f32") {
      compare<float, 4>(fill, recorded, seed, sms, threads_per_sm, counts);
    } else if (fill.type == "f64") {
      compare<double, 2>(fill, recorded, seed, sms, threads_per_sm, counts);
    }
  }
  std::cout << counts.fills << " fills, " << counts.elements << " elements, " << counts.wrong
            << " wrong\n";
  return counts.fills >= 40 && counts.elements > 10'000 && counts.wrong == 0 ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    if (argc != 2) throw std::runtime_error("usage: device_numbers_golden FOLDER");
    return run(argv[1]);
  } catch (const std::exception& error) {
    std::cerr << error.what() << "\n";
    return 1;
  }
}
