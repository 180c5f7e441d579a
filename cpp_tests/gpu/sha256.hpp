// SHA-256 (FIPS 180-4), to compare whole results with recorded digests.
#ifndef SCONCE_CPP_TESTS_GPU_SHA256_HPP
#define SCONCE_CPP_TESTS_GPU_SHA256_HPP

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

namespace gpu {

/// The digest of some bytes, in hexadecimal.
class Sha256 {
 public:
  static std::string hex(const std::vector<std::uint8_t>& data) {
    static const auto constants = roots<64>([](double x) { return std::cbrt(x); });
    std::array<std::uint32_t, 8> state = roots<8>([](double x) { return std::sqrt(x); });
    const std::size_t whole = data.size() / 64 * 64;
    for (std::size_t at = 0; at < whole; at += 64) {
      compress(state, data.data() + at, constants);
    }
    std::vector<std::uint8_t> end(data.begin() + static_cast<std::ptrdiff_t>(whole), data.end());
    end.push_back(0x80);
    while (end.size() % 64 != 56) {
      end.push_back(0);
    }
    const std::uint64_t bits = std::uint64_t{data.size()} * 8;
    for (int shift = 56; shift >= 0; shift -= 8) {
      end.push_back(static_cast<std::uint8_t>(bits >> shift));
    }
    for (std::size_t at = 0; at < end.size(); at += 64) {
      compress(state, end.data() + at, constants);
    }
    std::string text;
    for (const std::uint32_t word : state) {
      char digits[9];
      std::snprintf(digits, sizeof digits, "%08x", word);
      text += digits;
    }
    return text;
  }

 private:
  // The constants are the fractional bits of the roots of the first primes.
  template <std::size_t Count, class Root>
  static std::array<std::uint32_t, Count> roots(Root root) {
    std::array<std::uint32_t, Count> words{};
    std::size_t found = 0;
    for (std::uint32_t n = 2; found < Count; ++n) {
      bool prime = true;
      for (std::uint32_t d = 2; d * d <= n; ++d) {
        prime = prime && n % d != 0;
      }
      if (prime) {
        const double value = root(static_cast<double>(n));
        words[found++] = static_cast<std::uint32_t>((value - std::floor(value)) * 4294967296.0);
      }
    }
    return words;
  }

  static std::uint32_t rotate(std::uint32_t x, int n) { return (x >> n) | (x << (32 - n)); }

  static void compress(std::array<std::uint32_t, 8>& state, const std::uint8_t* block,
                       const std::array<std::uint32_t, 64>& constants) {
    std::array<std::uint32_t, 64> w{};
    for (std::size_t i = 0; i < 16; ++i) {
      w[i] = std::uint32_t{block[4 * i]} << 24 | std::uint32_t{block[4 * i + 1]} << 16 |
             std::uint32_t{block[4 * i + 2]} << 8 | std::uint32_t{block[4 * i + 3]};
    }
    for (std::size_t i = 16; i < 64; ++i) {
      const std::uint32_t a = w[i - 15];
      const std::uint32_t b = w[i - 2];
      w[i] = w[i - 16] + (rotate(a, 7) ^ rotate(a, 18) ^ (a >> 3)) + w[i - 7] +
             (rotate(b, 17) ^ rotate(b, 19) ^ (b >> 10));
    }
    auto [a, b, c, d, e, f, g, h] = state;
    for (std::size_t i = 0; i < 64; ++i) {
      const std::uint32_t first = h + (rotate(e, 6) ^ rotate(e, 11) ^ rotate(e, 25)) +
                                  ((e & f) ^ (~e & g)) + constants[i] + w[i];
      const std::uint32_t second =
          (rotate(a, 2) ^ rotate(a, 13) ^ rotate(a, 22)) + ((a & b) ^ (a & c) ^ (b & c));
      h = g;
      g = f;
      f = e;
      e = d + first;
      d = c;
      c = b;
      b = a;
      a = first + second;
    }
    const std::array<std::uint32_t, 8> add{a, b, c, d, e, f, g, h};
    for (std::size_t i = 0; i < 8; ++i) {
      state[i] += add[i];
    }
  }
};

}  // namespace gpu

#endif  // SCONCE_CPP_TESTS_GPU_SHA256_HPP
