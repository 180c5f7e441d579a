// Reference products, convolutions and transforms on the host, in double, element by element.
#ifndef SCONCE_CPP_TESTS_LIBRARY_REFERENCES_HPP
#define SCONCE_CPP_TESTS_LIBRARY_REFERENCES_HPP

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdint>
#include <limits>
#include <sconce/sconce_all.hpp>
#include <utility>
#include <vector>

#include "library_support.hpp"

namespace support {

using sconce::cuda::DimVector;

/// The effective strides.
inline DimVector strides_or_packed(const DimVector& strides, const DimVector& sizes) {
  const bool packed = std::all_of(strides.begin(), strides.end(), [](auto s) { return s == 0; });
  return packed ? sconce::detail::packed_strides(sizes) : strides;
}

/// The number of elements that they reach.
inline std::size_t reach(const DimVector& sizes, const DimVector& strides) {
  return sconce::detail::extent_of(sizes, strides);
}

/// Calls `visit(offset)` for each element, the last index fastest.
template <class Visit>
void each_offset(const DimVector& sizes, const DimVector& strides, Visit&& visit,
                 std::size_t dimension = 0, std::int64_t offset = 0) {
  if (dimension == sizes.size()) {
    visit(static_cast<std::size_t>(offset));
    return;
  }
  for (std::int64_t i = 0; i < sizes[dimension]; ++i) {
    each_offset(sizes, strides, visit, dimension + 1, offset + i * strides[dimension]);
  }
}

/// A result, and for each element the sum of the magnitudes of its terms.
struct Reference {
  Numbers result;
  Numbers magnitude;
};

/// The largest error as a fraction of those magnitudes; elements without terms are exact.
inline double worst_error(const Numbers& actual, const Reference& reference) {
  double worst = 0;
  for (std::size_t i = 0; i < actual.size(); ++i) {
    const double error = std::abs(actual[i] - reference.result[i]);
    if (std::isnan(error) || (error > 0 && reference.magnitude[i] == 0)) {
      return std::numeric_limits<double>::infinity();
    }
    worst = error > 0 ? std::max(worst, error / reference.magnitude[i]) : worst;
  }
  return worst;
}

/// The largest error allowed: a type's rounding of the result, and of the sums before.
inline double tolerance(sconce::cuda::ScalarType type, bool tf32 = false) {
  using sconce::cuda::ScalarType;
  switch (type) {
    case ScalarType::Double:
      return 1e-14;
    case ScalarType::Half:
      return 1.5e-3;
    case ScalarType::BFloat16:
      return 1e-2;
    default:
      // Each factor keeps 11 digits; some devices truncate instead of rounding.
      return tf32 ? 2.1e-3 : 4e-6;
  }
}

/// `c = alpha * op(a) @ op(b) + beta * c`; memory between the elements of `c` stays.
inline Reference multiplied(const sconce::cuda::Matmul& what, const Numbers& a, const Numbers& b,
                            const Numbers& c) {
  DimVector a_strides =
      strides_or_packed(what.a_strides, what.transpose_a ? DimVector{what.batch, what.k, what.m}
                                                         : DimVector{what.batch, what.m, what.k});
  DimVector b_strides =
      strides_or_packed(what.b_strides, what.transpose_b ? DimVector{what.batch, what.n, what.k}
                                                         : DimVector{what.batch, what.k, what.n});
  if (what.transpose_a) {
    std::swap(a_strides[1], a_strides[2]);
  }
  if (what.transpose_b) {
    std::swap(b_strides[1], b_strides[2]);
  }
  const DimVector c_strides = strides_or_packed(what.c_strides, {what.batch, what.m, what.n});
  Reference reference{c, Numbers(c.size())};
  const auto at = [](const DimVector& strides, std::int64_t x, std::int64_t y, std::int64_t z) {
    return static_cast<std::size_t>(x * strides[0] + y * strides[1] + z * strides[2]);
  };
  for (std::int64_t batch = 0; batch < what.batch; ++batch) {
    for (std::int64_t row = 0; row < what.m; ++row) {
      for (std::int64_t column = 0; column < what.n; ++column) {
        double sum = 0;
        double magnitude = 0;
        for (std::int64_t k = 0; k < what.k; ++k) {
          const double product =
              a[at(a_strides, batch, row, k)] * b[at(b_strides, batch, k, column)];
          sum += product;
          magnitude += std::abs(product);
        }
        const std::size_t place = at(c_strides, batch, row, column);
        const double before = what.beta == 0 ? 0 : what.beta * c[place];
        reference.result[place] = what.alpha * sum + before;
        reference.magnitude[place] = std::abs(what.alpha) * magnitude + std::abs(before);
      }
    }
  }
  return reference;
}

/// One of the three operations, on what is read and on the previous contents of the result. Engines
/// that use tiles or spectra round by neighbouring elements, so all elements have the largest
/// magnitude.
inline Reference convolved(const sconce::cuda::Convolution& what, std::int32_t operation,
                           const Numbers& a, const Numbers& b, const Numbers& before) {
  const bool forward = operation == SCONCE_CONVOLUTION_FORWARD;
  const bool data = operation == SCONCE_CONVOLUTION_BACKWARD_DATA;
  const DimVector input = what.input_shape();
  const DimVector filter = what.filter_shape();
  const DimVector output = what.output_shape();
  const DimVector input_strides = strides_or_packed(what.strides_of_input(), input);
  const DimVector filter_strides = strides_or_packed(what.strides_of_filter(), filter);
  const DimVector output_strides = strides_or_packed(what.strides_of_output(), output);
  Reference reference{before, Numbers(before.size())};
  each_offset(forward ? output
              : data  ? input
                      : filter,
              forward ? output_strides
              : data  ? input_strides
                      : filter_strides,
              [&](std::size_t offset) { reference.result[offset] = 0; });

  const std::size_t rank = what.input_sizes.size();
  const auto of = [](const DimVector& numbers, std::size_t i) {
    return numbers[numbers.size() == 1 ? 0 : i];
  };
  const std::int64_t group_outputs = what.out_channels / what.groups;
  // Each product has a place in the filter and one in the output, which determine that in the
  // input.
  const auto indices_of = [](std::int64_t number, const DimVector& sizes) {
    DimVector indices = sizes;
    for (std::size_t i = sizes.size(); i-- > 0;) {
      indices[i] = number % sizes[i];
      number /= sizes[i];
    }
    return indices;
  };
  const auto offset_of = [](const DimVector& indices, const DimVector& strides) {
    std::int64_t offset = 0;
    for (std::size_t i = 0; i < indices.size(); ++i) {
      offset += indices[i] * strides[i];
    }
    return static_cast<std::size_t>(offset);
  };
  const auto outputs = static_cast<std::int64_t>(reach(output, {}));
  const auto taps =
      static_cast<std::int64_t>(reach(filter, {})) / std::max<std::int64_t>(filter[0], 1);
  for (std::int64_t number = 0; number < outputs; ++number) {
    const DimVector out = indices_of(number, output);
    for (std::int64_t tap = 0; tap < taps; ++tap) {
      DimVector in_filter = filter;
      in_filter[0] = 1;
      in_filter = indices_of(tap, in_filter);
      in_filter[0] = out[1];
      DimVector in = out;
      in[1] = out[1] / group_outputs * filter[1] + in_filter[1];
      bool inside = true;
      for (std::size_t i = 0; i < rank; ++i) {
        in[2 + i] = out[2 + i] * of(what.stride, i) - of(what.padding, i) +
                    in_filter[2 + i] * of(what.dilation, i);
        inside = inside && in[2 + i] >= 0 && in[2 + i] < input[2 + i];
      }
      if (!inside) {
        continue;
      }
      const std::size_t input_at = offset_of(in, input_strides);
      const std::size_t filter_at = offset_of(in_filter, filter_strides);
      const std::size_t output_at = offset_of(out, output_strides);
      const double product = forward ? a[input_at] * b[filter_at]
                             : data  ? a[output_at] * b[filter_at]
                                     : a[output_at] * b[input_at];
      const std::size_t place = forward ? output_at : data ? input_at : filter_at;
      reference.result[place] += product;
      reference.magnitude[place] += std::abs(product);
    }
  }
  double largest = 0;
  for (const double magnitude : reference.magnitude) {
    largest = std::max(largest, magnitude);
  }
  std::fill(reference.magnitude.begin(), reference.magnitude.end(), largest);
  return reference;
}

using Complex = std::complex<double>;
using ComplexNumbers = std::vector<Complex>;

/// A transform of packed numbers along every dimension, not normalised.
inline ComplexNumbers transformed(ComplexNumbers numbers, const DimVector& sizes, bool inverse) {
  const DimVector strides = sconce::detail::packed_strides(sizes);
  for (std::size_t dimension = 0; dimension < sizes.size(); ++dimension) {
    const std::int64_t n = sizes[dimension];
    DimVector starts = sizes;
    starts[dimension] = 1;
    each_offset(starts, strides, [&](std::size_t start) {
      const auto at = [&](std::int64_t i) {
        return start + static_cast<std::size_t>(i * strides[dimension]);
      };
      ComplexNumbers line;
      for (std::int64_t i = 0; i < n; ++i) {
        line.push_back(numbers[at(i)]);
      }
      for (std::int64_t i = 0; i < n; ++i) {
        Complex sum = 0;
        for (std::int64_t j = 0; j < n; ++j) {
          const double turn = static_cast<double>(i * j % n) / static_cast<double>(n);
          sum += line[static_cast<std::size_t>(j)] *
                 std::polar(1.0, (inverse ? 1 : -1) * 2 * 3.14159265358979323846 * turn);
        }
        numbers[at(i)] = sum;
      }
    });
  }
  return numbers;
}

}  // namespace support

#endif  // SCONCE_CPP_TESTS_LIBRARY_REFERENCES_HPP
