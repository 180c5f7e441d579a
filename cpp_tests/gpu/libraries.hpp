// Shared by the programs that compare libraries with the host: random shapes, and the largest
// error.
#ifndef SCONCE_CPP_TESTS_GPU_LIBRARIES_HPP
#define SCONCE_CPP_TESTS_GPU_LIBRARIES_HPP

#include <algorithm>
#include <cstdint>
#include <iostream>
#include <map>
#include <random>
#include <sconce/sconce_all.hpp>
#include <string>
#include <utility>

#include "places.hpp"

namespace gpu {

using Engine = std::mt19937_64;

/// A number from `least` to `most`, both included.
inline std::int64_t pick(Engine& engine, std::int64_t least, std::int64_t most) {
  return least + static_cast<std::int64_t>(engine() % static_cast<std::uint64_t>(most - least + 1));
}

/// "(2, 3)".
inline std::string words_of(const sconce::cuda::DimVector& numbers) {
  return sconce::detail::words_of(numbers);
}

inline std::map<std::string, double> worst_errors;

/// The largest error under this name.
inline double worst_of(const std::string& name) { return worst_errors[name]; }

/// Compares 200 random shapes, on the simulator 40: `one(engine, seed)` returns the error of one
/// shape and its description. Prints the first that is wrong. Libraries may refuse one shape in
/// ten, the simulator none.
template <class One>
void compare(const std::string& name, double tolerance, unsigned seed, One&& one) {
  Engine engine(seed);
  const unsigned shapes = simulated() ? 40 : 200;
  double worst = 0;
  unsigned refused = 0;
  std::string wrong;
  for (unsigned i = 0; i < shapes && wrong.empty(); ++i) {
    try {
      const auto [error, words] = one(engine, 1000 * i);
      worst = std::max(worst, error);
      if (!(error <= tolerance)) {
        wrong =
            ": shape " + std::to_string(i) + ", " + words + " is off by " + std::to_string(error);
      }
    } catch (const sconce::NotSupportedError& error) {
      std::cout << "         " << name << ", shape " << i << ": " << error.what() << '\n';
      ++refused;
    }
  }
  if (10 * refused > (simulated() ? 0 : shapes)) {
    wrong += ": " + std::to_string(refused) + " were refused";
  }
  worst_errors[name] = worst;
  std::cout << "         " << name << ": at most " << worst << ", allowed " << tolerance << '\n';
  expect(wrong.empty(), name + " of " + std::to_string(shapes) + " random shapes" + wrong);
}

}  // namespace gpu

#endif  // SCONCE_CPP_TESTS_GPU_LIBRARIES_HPP
