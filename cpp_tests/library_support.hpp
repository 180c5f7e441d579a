// Shared by the tests of products, convolutions and transforms: numbers of every type, on the host
// and on a device.
#ifndef SCONCE_CPP_TESTS_LIBRARY_SUPPORT_HPP
#define SCONCE_CPP_TESTS_LIBRARY_SUPPORT_HPP

#include <cmath>
#include <cstdint>
#include <cstring>
#include <random>
#include <sconce/sconce_all.hpp>
#include <vector>

namespace support {

using Numbers = std::vector<double>;

/// Numbers from -1 to 1, excluding 1: multiples of the power of two that has `bits` digits.
inline Numbers random_numbers(std::size_t count, unsigned seed, int bits = 24) {
  std::mt19937_64 engine(seed);
  Numbers numbers(count);
  for (double& number : numbers) {
    number = std::ldexp(static_cast<double>(engine() >> (64 - bits)), 1 - bits) - 1;
  }
  return numbers;
}

/// A number of digits that every type holds exactly.
constexpr int kFewBits = 7;

/// A number of digits with which a type rounds sums, but not the numbers themselves.
inline int bits_for(sconce::cuda::ScalarType type) {
  using sconce::cuda::ScalarType;
  return type == ScalarType::Double ? 53 : type == ScalarType::Float ? 24 : kFewBits;
}

/// A 16-bit float with this many bits of mantissa and this bias, as its bits.
inline std::uint16_t to_16_bits(double number, int mantissa, int bias) {
  if (number == 0) {
    return 0;
  }
  int exponent = 0;
  const double fraction = std::frexp(std::abs(number), &exponent);
  const auto bits = static_cast<int>(std::lround((2 * fraction - 1) * (1 << mantissa)));
  const int magnitude = ((exponent - 1 + bias) << mantissa) + bits;
  return static_cast<std::uint16_t>((number < 0 ? 0x8000 : 0) | magnitude);
}

inline double from_16_bits(std::uint16_t bits, int mantissa, int bias) {
  const int exponent = (bits & 0x7FFF) >> mantissa;
  const double fraction = static_cast<double>(bits & ((1 << mantissa) - 1)) / (1 << mantissa);
  const double magnitude =
      exponent == 0 ? std::ldexp(fraction, 1 - bias) : std::ldexp(1 + fraction, exponent - bias);
  return (bits & 0x8000) != 0 ? -magnitude : magnitude;
}

/// The bytes of numbers in a type.
inline std::vector<std::uint8_t> encoded(const Numbers& numbers, sconce::cuda::ScalarType type) {
  using sconce::cuda::ScalarType;
  std::vector<std::uint8_t> bytes;
  const auto put = [&bytes](const auto& value) {
    const auto* const begin = reinterpret_cast<const std::uint8_t*>(&value);
    bytes.insert(bytes.end(), begin, begin + sizeof(value));
  };
  for (const double number : numbers) {
    switch (type) {
      case ScalarType::Double:
        put(number);
        break;
      case ScalarType::Half:
        put(to_16_bits(number, 10, 15));
        break;
      case ScalarType::BFloat16:
        put(to_16_bits(number, 7, 127));
        break;
      default:
        put(static_cast<float>(number));
    }
  }
  return bytes;
}

template <class T>
T part_of(const std::vector<std::uint8_t>& bytes, std::size_t index) {
  T value;
  std::memcpy(&value, bytes.data() + index * sizeof(T), sizeof(T));
  return value;
}

inline std::size_t bytes_of(sconce::cuda::ScalarType type) { return encoded({0}, type).size(); }

inline Numbers decoded(const std::vector<std::uint8_t>& bytes, sconce::cuda::ScalarType type) {
  using sconce::cuda::ScalarType;
  Numbers numbers(bytes.size() / bytes_of(type));
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    switch (type) {
      case ScalarType::Double:
        numbers[i] = part_of<double>(bytes, i);
        break;
      case ScalarType::Half:
        numbers[i] = from_16_bits(part_of<std::uint16_t>(bytes, i), 10, 15);
        break;
      case ScalarType::BFloat16:
        numbers[i] = from_16_bits(part_of<std::uint16_t>(bytes, i), 7, 127);
        break;
      default:
        numbers[i] = static_cast<double>(part_of<float>(bytes, i));
    }
  }
  return numbers;
}

/// Numbers of a type in memory of the current device.
class OnDevice {
 public:
  OnDevice(const Numbers& numbers, sconce::cuda::ScalarType type)
      : type_(type), memory_(numbers.size() * bytes_of(type)) {
    sconce::cuda::copy_(memory_, encoded(numbers, type));
  }

  [[nodiscard]] void* get() { return memory_.get(); }
  template <class T>
  [[nodiscard]] sconce::cuda::DeviceSpan<T> span() {
    return memory_.span<T>();
  }

  /// Returns the contents once the current stream's queued work has finished.
  [[nodiscard]] Numbers read() const {
    std::vector<std::uint8_t> bytes(memory_.bytes());
    sconce::cuda::copy_(bytes, memory_);
    return decoded(bytes, type_);
  }

 private:
  sconce::cuda::ScalarType type_;
  sconce::cuda::DeviceBuffer memory_;
};

}  // namespace support

#endif  // SCONCE_CPP_TESTS_LIBRARY_SUPPORT_HPP
