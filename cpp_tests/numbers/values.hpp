// What is computed with the numbers of 8 and 16 bits and with complex ones, as a table of texts: a
// name and a hash of all results. c10_values.cpp computes it with c10's types, numbers_golden.cpp
// with this library's. Both declare the namespaces c10 and at before they include this file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <limits>
#include <sstream>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace numbers {

/// A hash of bits (FNV-1a of bytes), and how many values it covers.
class Hash {
 public:
  /// Adds a value by its bits.
  template <class T>
  void bits(const T& value) {
    static_assert(std::is_trivially_copyable_v<T>);
    unsigned char bytes[sizeof(T)];
    std::memcpy(bytes, &value, sizeof value);
    for (const unsigned char byte : bytes) {
      hash_ = (hash_ ^ byte) * 0x100000001B3ULL;
    }
    ++count_;
  }
  /// Adds a result. Every NaN counts as one: which of two NaNs an addition returns, and its sign,
  /// is the compiler's choice.
  template <class T>
  void result(const T& value) {
    const auto kind = static_cast<unsigned char>(kind_of<T>());
    bits(kind);
    --count_;
    if constexpr (std::is_same_v<T, bool> || std::is_integral_v<T>) {
      bits(value);
    } else if (value != value) {
      bits('N');
    } else {
      bits(value);
    }
  }
  /// Adds a text.
  void text(const std::string& value) {
    for (const char letter : value) {
      bits(letter);
      --count_;
    }
    bits('\n');
  }
  [[nodiscard]] std::uint64_t hash() const { return hash_; }
  [[nodiscard]] std::uint64_t count() const { return count_; }

  /// What type a result has, as a letter.
  template <class T>
  static constexpr char kind_of() {
    if (std::is_same_v<T, bool>) return 'b';
    if (std::is_same_v<T, float>) return 'f';
    if (std::is_same_v<T, double>) return 'd';
    if (std::is_same_v<T, c10::Half>) return 'h';
    if (std::is_same_v<T, c10::BFloat16>) return 'u';
    if (std::is_same_v<T, c10::Float8_e4m3fn>) return '4';
    if (std::is_same_v<T, c10::Float8_e5m2>) return '5';
    if (std::is_same_v<T, c10::Float8_e4m3fnuz>) return 'z';
    if (std::is_same_v<T, c10::Float8_e5m2fnuz>) return 'Z';
    if (std::is_same_v<T, c10::Float8_e8m0fnu>) return '8';
    if (std::is_same_v<T, c10::complex<float>>) return 'c';
    if (std::is_same_v<T, c10::complex<double>>) return 'C';
    if (std::is_same_v<T, c10::complex<c10::Half>>) return 'H';
    if (std::is_same_v<T, std::int64_t>) return 'l';
    if (std::is_same_v<T, std::int32_t>) return 'i';
    if (std::is_same_v<T, std::int16_t>) return 's';
    if (std::is_same_v<T, std::int8_t>) return 'y';
    if (std::is_same_v<T, std::uint8_t>) return 'B';
    return '?';
  }

 private:
  std::uint64_t hash_ = 0xCBF29CE484222325ULL;
  std::uint64_t count_ = 0;
};

/// The table.
class Table {
 public:
  /// A row of results.
  template <class Body>
  void row(const std::string& name, const Body& body) {
    Hash hash;
    body(hash);
    char text[64];
    std::snprintf(text, sizeof text, " %llu %016llx", static_cast<unsigned long long>(hash.count()),
                  static_cast<unsigned long long>(hash.hash()));
    lines_.push_back(name + text);
  }
  /// A row with a text of its own.
  void say(const std::string& line) { lines_.push_back(line); }
  [[nodiscard]] const std::vector<std::string>& lines() const { return lines_; }

 private:
  std::vector<std::string> lines_;
};

/// Numbers that look random and are the same everywhere.
class Sequence {
 public:
  std::uint64_t next() {
    state_ += 0x9E3779B97F4A7C15ULL;
    std::uint64_t z = state_;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ULL;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBULL;
    return z ^ (z >> 31);
  }

 private:
  std::uint64_t state_ = 42;
};

template <class To, class From>
To with_bits(From bits) {
  static_assert(sizeof(To) == sizeof(From));
  To value;
  std::memcpy(static_cast<void*>(&value), &bits, sizeof value);
  return value;
}

template <class T>
using Bits = std::conditional_t<sizeof(T) == 1, std::uint8_t, std::uint16_t>;

/// How many numbers a type has.
template <class T>
constexpr std::uint32_t how_many() {
  return 1U << (8 * sizeof(T));
}
template <class T>
T number(std::uint64_t bits) {
  return with_bits<T>(static_cast<Bits<T>>(bits));
}

/// Singles around every place where a conversion may round: all upper halves, each with lower
/// halves that are just below, at, and above a tie of some format, and others.
template <class Body>
void for_singles(const Body& body) {
  Sequence sequence;
  for (std::uint32_t upper = 0; upper < 0x10000; ++upper) {
    for (const std::uint32_t lower :
         {0x0000U, 0x0001U, 0x0FFFU, 0x1000U, 0x1001U, 0x1FFFU, 0x2000U, 0x3000U, 0x7FFFU, 0x8000U,
          0x8001U, 0xEFFFU, 0xF000U, 0xFFFFU}) {
      body(with_bits<float>(upper << 16 | lower));
    }
    body(with_bits<float>(upper << 16 | static_cast<std::uint32_t>(sequence.next() & 0xFFFFU)));
  }
}
/// Doubles, some of them near a tie of singles.
template <class Body>
void for_doubles(const Body& body) {
  Sequence sequence;
  for (int i = 0; i < 100000; ++i) {
    const std::uint64_t bits = sequence.next();
    body(with_bits<double>(bits));
    // Exponents of singles.
    const std::uint64_t near = (bits & 0x800FFFFFFFFFFFFFULL) | (896 + bits % 256) << 52;
    body(with_bits<double>(near));
    body(with_bits<double>(near & ~0x1FFFFFFFULL));
    body(with_bits<double>((near & ~0x1FFFFFFFULL) | 0x10000000ULL));
  }
}
template <class Body>
void for_integers(const Body& body) {
  for (int i = -70000; i <= 70000; ++i) {
    body(static_cast<std::int64_t>(i));
  }
  Sequence sequence;
  for (int i = 0; i < 100000; ++i) {
    body(static_cast<std::int64_t>(sequence.next()) >> (sequence.next() % 60));
  }
}
/// Pairs of a type: all of 8 bits; of 16 bits each number with 24 others.
template <class T, class Body>
void for_pairs(const Body& body) {
  Sequence sequence;
  for (std::uint32_t a = 0; a < how_many<T>(); ++a) {
    const std::uint32_t others = sizeof(T) == 1 ? how_many<T>() : 24;
    for (std::uint32_t i = 0; i < others; ++i) {
      // Near numbers, whose results round, and any.
      const std::uint64_t any = sequence.next();
      const std::uint64_t b = sizeof(T) == 1 ? i : (i % 2 == 0 ? any : a ^ (any & 0x0FFFU));
      body(number<T>(a), number<T>(b));
    }
  }
}
/// Numbers of a type, each with a single.
template <class T, class Body>
void for_mixed(const Body& body) {
  Sequence sequence;
  for (std::uint32_t a = 0; a < how_many<T>(); ++a) {
    for (int i = 0; i < 8; ++i) {
      body(number<T>(a), with_bits<float>(static_cast<std::uint32_t>(sequence.next())));
    }
  }
}
/// Numbers of a type, each with an integer that is not 0.
template <class T, class Body>
void for_mixed_integers(const Body& body) {
  Sequence sequence;
  for (std::uint32_t a = 0; a < how_many<T>(); ++a) {
    for (int i = 0; i < 4; ++i) {
      const auto wide = static_cast<std::int64_t>(sequence.next()) >> (33 + sequence.next() % 28);
      body(number<T>(a), wide == 0 ? 1 : static_cast<int>(wide));
    }
  }
}

#define NUMBERS_OPERATION(table, name, sign, label)                                              \
  table.row(name + (" " label),                                                                  \
            [](Hash& hash) { for_pairs<T>([&](T a, T b) { hash.result(a sign b); }); });         \
  table.row(name + (" " label " in place"),                                                      \
            [](Hash& hash) { for_pairs<T>([&](T a, T b) { hash.result(a sign## = b); }); });     \
  table.row(name + (" " label " float"), [](Hash& hash) {                                        \
    for_mixed<T>([&](T a, float b) { hash.result(a sign b); });                                  \
    for_mixed<T>([&](T a, float b) { hash.result(b sign a); });                                  \
  });                                                                                            \
  table.row(name + (" float in place " label),                                                   \
            [](Hash& hash) { for_mixed<T>([&](T a, float b) { hash.result(b sign## = a); }); }); \
  table.row(name + (" " label " float in place"),                                                \
            [](Hash& hash) { for_mixed<T>([&](T a, float b) { hash.result(a sign## = b); }); }); \
  table.row(name + (" " label " double"), [](Hash& hash) {                                       \
    for_mixed<T>([&](T a, float b) { hash.result(a sign(double(b) * 1.0000001)); });             \
    for_mixed<T>([&](T a, float b) { hash.result((double(b) * 1.0000001) sign a); });            \
  });                                                                                            \
  table.row(name + (" " label " int"), [](Hash& hash) {                                          \
    for_mixed_integers<T>([&](T a, int b) { hash.result(a sign b); });                           \
    for_mixed_integers<T>([&](T a, int b) { hash.result(b sign a); });                           \
  });                                                                                            \
  table.row(name + (" " label " int64_t"), [](Hash& hash) {                                      \
    for_mixed_integers<T>([&](T a, int b) { hash.result(a sign(std::int64_t{b} * 7919)); });     \
    for_mixed_integers<T>([&](T a, int b) { hash.result((std::int64_t{b} * 7919) sign a); });    \
  });

#define NUMBERS_COMPARISON(sign)                              \
  for_pairs<T>([&](T a, T b) { hash.result(a sign b); });     \
  for_mixed<T>([&](T a, float b) { hash.result(a sign b); }); \
  for_mixed<T>([&](T a, float b) { hash.result(b sign a); }); \
  for_mixed_integers<T>([&](T a, int b) { hash.result(a sign b); });

/// Conversions, which are exact in all bits, those of what is not a number included.
template <class T>
void conversions(Table& table, const std::string& name) {
  table.row(name + " to float", [](Hash& hash) {
    for (std::uint32_t bits = 0; bits < how_many<T>(); ++bits) {
      hash.bits(static_cast<float>(number<T>(bits)));
    }
  });
  table.row(name + " from float",
            [](Hash& hash) { for_singles([&](float value) { hash.bits(T(value)); }); });
  table.row(name + " from double", [](Hash& hash) {
    for_doubles([&](double value) { hash.result(static_cast<T>(value)); });
  });
  table.row(name + " from int64_t", [](Hash& hash) {
    for_integers([&](std::int64_t value) { hash.bits(static_cast<T>(value)); });
  });
  table.row(name + " as text", [](Hash& hash) {
    for (std::uint32_t bits = 0; bits < how_many<T>(); ++bits) {
      if (number<T>(bits) == number<T>(bits)) {  // the sign of a NaN is the library's
        std::ostringstream text;
        text << number<T>(bits);
        hash.text(text.str());
      }
    }
  });
  table.row(name + " is no number, is infinite", [](Hash& hash) {
    for (std::uint32_t bits = 0; bits < how_many<T>(); ++bits) {
      hash.result(number<T>(bits) != number<T>(bits));
      if constexpr (sizeof(T) == 1) {
        hash.result(number<T>(bits).isnan());
      }
      if constexpr (!std::is_same_v<T, c10::Float8_e8m0fnu>) {
        hash.result(at::_isnan(number<T>(bits)));
        hash.result(at::_isinf(number<T>(bits)));
      }
    }
  });
}

template <class T>
void arithmetic(Table& table, const std::string& name) {
  NUMBERS_OPERATION(table, name, +, "+")
  NUMBERS_OPERATION(table, name, -, "-")
  NUMBERS_OPERATION(table, name, *, "*")
  NUMBERS_OPERATION(table, name, /, "/")
  table.row(name + " negated", [](Hash& hash) {
    for (std::uint32_t bits = 0; bits < how_many<T>(); ++bits) {
      hash.bits(-number<T>(bits));
    }
  });
  table.row(name + " compared", [](Hash& hash) {
    NUMBERS_COMPARISON(==)
    NUMBERS_COMPARISON(!=)
    NUMBERS_COMPARISON(<)
    NUMBERS_COMPARISON(<=)
    NUMBERS_COMPARISON(>)
    NUMBERS_COMPARISON(>=)
  });
}

template <class T>
void limits(Table& table, const std::string& name) {
  using Limits = std::numeric_limits<T>;
  std::ostringstream text;
  const auto bits = [](const T& value) { return static_cast<unsigned>(value.x); };
  text << name << " limits:";
  for (const int value : {int{Limits::is_specialized},
                          int{Limits::is_signed},
                          int{Limits::is_integer},
                          int{Limits::is_exact},
                          int{Limits::has_infinity},
                          int{Limits::has_quiet_NaN},
                          int{Limits::has_signaling_NaN},
                          static_cast<int>(Limits::has_denorm),
                          int{Limits::has_denorm_loss},
                          static_cast<int>(Limits::round_style),
                          int{Limits::is_iec559},
                          int{Limits::is_bounded},
                          int{Limits::is_modulo},
                          Limits::digits,
                          Limits::digits10,
                          Limits::max_digits10,
                          Limits::radix,
                          Limits::min_exponent,
                          Limits::min_exponent10,
                          Limits::max_exponent,
                          Limits::max_exponent10,
                          int{Limits::traps},
                          int{Limits::tinyness_before}}) {
    text << ' ' << value;
  }
  text << std::hex;
  for (const T& value : {Limits::min(), Limits::lowest(), Limits::max(), Limits::epsilon(),
                         Limits::round_error(), Limits::quiet_NaN()}) {
    text << ' ' << bits(value);
  }
  if constexpr (!std::is_same_v<T, c10::Float8_e8m0fnu>) {
    text << ' ' << bits(Limits::denorm_min());
    text << ' ' << bits(at::numeric_limits<T>::lower_bound());
    text << ' ' << bits(at::numeric_limits<T>::upper_bound());
  }
  if constexpr (Limits::has_infinity) {
    text << ' ' << bits(Limits::infinity());
  }
  table.say(text.str());
}

/// A complex number whose parts are often special or equal in size.
template <class T>
c10::complex<T> any_complex(Sequence& sequence) {
  const auto part = [&]() -> T {
    const std::uint64_t bits = sequence.next();
    switch (bits >> 60) {
      case 0:
        return T(0);
      case 1:
        return -T(0);
      case 2:
        return (bits & 1) != 0 ? std::numeric_limits<T>::infinity()
                               : -std::numeric_limits<T>::infinity();
      case 3:
        return std::numeric_limits<T>::quiet_NaN();
      case 4:
      case 5:
        return static_cast<T>(static_cast<int>(bits % 19) - 9);
      case 6:
        if constexpr (sizeof(T) == 8) {
          return with_bits<double>(bits ^ bits << 8);
        } else {
          return with_bits<float>(static_cast<std::uint32_t>(bits));
        }
      default:
        return static_cast<T>(static_cast<double>(static_cast<std::int64_t>(bits << 4)) / 1e17);
    }
  };
  const T re = part();
  return {re, part()};
}
/// Adds both parts of a result.
template <class T>
void parts(Hash& hash, const c10::complex<T>& value) {
  hash.bits(Hash::kind_of<c10::complex<T>>());
  hash.result(value.real());
  hash.result(value.imag());
}

#define NUMBERS_COMPLEX_OPERATION(table, name, sign, label) \
  table.row(name + (" " label), [](Hash& hash) {            \
    Sequence sequence;                                      \
    for (int i = 0; i < 200000; ++i) {                      \
      const c10::complex<T> a = any_complex<T>(sequence);   \
      const c10::complex<T> b = any_complex<T>(sequence);   \
      parts(hash, a sign b);                                \
      parts(hash, a sign b.real());                         \
      parts(hash, a.real() sign b);                         \
      parts(hash, a sign(i % 7 + 1));                       \
      parts(hash, (i % 7 - 3) sign b);                      \
      c10::complex<T> c = a;                                \
      c sign## = b;                                         \
      parts(hash, c);                                       \
      c sign## = b.imag();                                  \
      parts(hash, c);                                       \
      c sign## = any_complex<double>(sequence);             \
      parts(hash, c);                                       \
    }                                                       \
  });

template <class T>
void complex_numbers(Table& table, const std::string& name) {
  NUMBERS_COMPLEX_OPERATION(table, name, +, "+")
  NUMBERS_COMPLEX_OPERATION(table, name, -, "-")
  NUMBERS_COMPLEX_OPERATION(table, name, *, "*")
  NUMBERS_COMPLEX_OPERATION(table, name, /, "/")
  table.row(name + " and others", [](Hash& hash) {
    Sequence sequence;
    for (int i = 0; i < 100000; ++i) {
      const c10::complex<T> a = any_complex<T>(sequence);
      const c10::complex<T> b = i % 3 == 0 ? a : any_complex<T>(sequence);
      hash.result(a == b);
      hash.result(a != b);
      hash.result(a == b.real());
      hash.result(b.real() != a);
      hash.result(static_cast<bool>(a));
      parts(hash, +a);
      parts(hash, -a);
      parts(hash, std::conj(a));
      hash.result(std::norm(a));
      hash.result(std::real(a));
      hash.result(std::imag(b));
      hash.result(std::isnan(a));
      parts(hash, c10::complex<float>(any_complex<double>(sequence)));
      const c10::complex<double> wide = any_complex<float>(sequence);
      parts(hash, wide);
      const auto standard = static_cast<std::complex<T>>(a);
      hash.result(standard.real());
      hash.result(standard.imag());
      parts(hash, c10::complex<T>(standard));
      c10::complex<T> c;
      hash.result(c.real());
      c = b.imag();
      parts(hash, c);
      c = standard;
      parts(hash, c);
      c.real(a.imag());
      c.imag(a.real());
      parts(hash, c);
      std::ostringstream text;
      if (a == a) {
        text << a;
        hash.text(text.str());
      }
    }
  });
}

inline void complex_halves(Table& table) {
  using Complex = c10::complex<c10::Half>;
  table.row("complex<Half>", [](Hash& hash) {
    Sequence sequence;
    for (int i = 0; i < 200000; ++i) {
      const Complex a(number<c10::Half>(sequence.next()), number<c10::Half>(sequence.next()));
      const Complex b(number<c10::Half>(sequence.next()), number<c10::Half>(sequence.next()));
      Complex c = a;
      parts(hash, c += b);
      parts(hash, c -= a);
      c = a;
      parts(hash, c *= b);
      parts(hash, static_cast<c10::complex<float>>(a));
      parts(hash, Complex(any_complex<float>(sequence)));
    }
  });
}

/// The conversions of bits.
inline void conversions_of_bits(Table& table) {
  table.row("bits of singles", [](Hash& hash) {
    for_singles([&](float value) {
      hash.bits(c10::detail::fp16_ieee_from_fp32_value(value));
      hash.bits(c10::detail::round_to_nearest_even(value));
      hash.bits(c10::detail::bits_from_f32(value));
      hash.bits(c10::detail::fp32_to_bits(value));
      hash.bits(c10::detail::fp8e4m3fn_from_fp32_value(value));
      hash.bits(c10::detail::fp8e5m2_from_fp32_value(value));
    });
  });
  table.row("singles of bits", [](Hash& hash) {
    for (std::uint32_t bits = 0; bits < 0x10000; ++bits) {
      hash.bits(c10::detail::fp16_ieee_to_fp32_value(static_cast<std::uint16_t>(bits)));
      hash.bits(c10::detail::f32_from_bits(static_cast<std::uint16_t>(bits)));
      hash.bits(c10::detail::fp32_from_bits(bits * 65521U));
      hash.bits(c10::detail::fp8e4m3fn_to_fp32_value(static_cast<std::uint8_t>(bits)));
      hash.bits(c10::detail::fp8e5m2_to_fp32_value(static_cast<std::uint8_t>(bits)));
    }
  });
}

/// Conversions of each type to each other one.
template <class To, class From>
void converted(Hash& hash) {
  Sequence sequence;
  for (std::uint32_t i = 0; i < 3000; ++i) {
    const std::uint64_t bits = sequence.next();
    From value;
    if constexpr (std::is_integral_v<From> || sizeof(From) <= 2) {
      value = with_bits<From>(
          static_cast<std::conditional_t<
              sizeof(From) == 1, std::uint8_t,
              std::conditional_t<
                  sizeof(From) == 2, std::uint16_t,
                  std::conditional_t<sizeof(From) == 4, std::uint32_t, std::uint64_t>>>>(bits));
      if constexpr (std::is_same_v<From, bool>) {
        value = (bits & 1) != 0;
      }
    } else {
      value = static_cast<From>(static_cast<float>(static_cast<int>(bits % 2001) - 1000) / 8.0F);
    }
    if constexpr (std::is_integral_v<To> && !std::is_same_v<To, bool> &&
                  !std::is_integral_v<From>) {
      // What an integer of the type cannot hold is undefined in C++.
      if constexpr (std::is_same_v<From, c10::complex<float>> ||
                    std::is_same_v<From, c10::complex<double>> ||
                    std::is_same_v<From, c10::complex<c10::Half>>) {
        const auto part = static_cast<double>(value.real());
        if (!(part > -125.0 && part < 125.0)) continue;
      } else {
        const auto part = static_cast<double>(value);
        if (!(part > -125.0 && part < 125.0)) continue;
      }
    }
    const To result = c10::convert<To, From>(value);
    if constexpr (std::is_same_v<To, c10::complex<float>> ||
                  std::is_same_v<To, c10::complex<double>> ||
                  std::is_same_v<To, c10::complex<c10::Half>>) {
      parts(hash, result);
    } else {
      hash.result(result);
    }
  }
}
template <class To>
void converted_to(Table& table, const std::string& name) {
  table.row("converted to " + name, [](Hash& hash) {
    converted<To, bool>(hash);
    converted<To, std::uint8_t>(hash);
    converted<To, std::int8_t>(hash);
    converted<To, std::int16_t>(hash);
    converted<To, std::int32_t>(hash);
    converted<To, std::int64_t>(hash);
    converted<To, float>(hash);
    converted<To, double>(hash);
    converted<To, c10::Half>(hash);
    converted<To, c10::BFloat16>(hash);
    converted<To, c10::Float8_e4m3fn>(hash);
    converted<To, c10::Float8_e5m2>(hash);
    converted<To, c10::Float8_e4m3fnuz>(hash);
    converted<To, c10::Float8_e5m2fnuz>(hash);
    converted<To, c10::complex<float>>(hash);
    converted<To, c10::complex<double>>(hash);
  });
}

/// In which types a kernel computes and adds up.
template <class T>
void kernel_types(Table& table, const std::string& name) {
  table.say(name + " computes in " + Hash::kind_of<at::opmath_type<T>>() + ", adds up in " +
            Hash::kind_of<at::acc_type<T, true>>() + Hash::kind_of<at::acc_type<T, false>>());
}

/// The table of all.
inline Table all() {
  Table table;
  const auto small = [&](auto zero, const std::string& name) {
    using T = decltype(zero);
    conversions<T>(table, name);
    arithmetic<T>(table, name);
    limits<T>(table, name);
    kernel_types<T>(table, name);
    converted_to<T>(table, name);
  };
  small(c10::Half(0.0F), "Half");
  small(c10::BFloat16(0.0F), "BFloat16");
  small(c10::Float8_e4m3fn(0.0F), "Float8_e4m3fn");
  small(c10::Float8_e5m2(0.0F), "Float8_e5m2");
  small(c10::Float8_e4m3fnuz(0.0F), "Float8_e4m3fnuz");
  small(c10::Float8_e5m2fnuz(0.0F), "Float8_e5m2fnuz");
  conversions<c10::Float8_e8m0fnu>(table, "Float8_e8m0fnu");
  limits<c10::Float8_e8m0fnu>(table, "Float8_e8m0fnu");
  conversions_of_bits(table);
  complex_numbers<float>(table, "complex<float>");
  complex_numbers<double>(table, "complex<double>");
  complex_halves(table);
  kernel_types<float>(table, "float");
  kernel_types<double>(table, "double");
  kernel_types<bool>(table, "bool");
  kernel_types<std::uint8_t>(table, "uint8_t");
  kernel_types<std::int8_t>(table, "int8_t");
  kernel_types<std::int16_t>(table, "int16_t");
  kernel_types<std::int32_t>(table, "int32_t");
  kernel_types<std::int64_t>(table, "int64_t");
  kernel_types<c10::complex<float>>(table, "complex<float>");
  kernel_types<c10::complex<double>>(table, "complex<double>");
  kernel_types<c10::complex<c10::Half>>(table, "complex<Half>");
  converted_to<bool>(table, "bool");
  converted_to<std::uint8_t>(table, "uint8_t");
  converted_to<std::int8_t>(table, "int8_t");
  converted_to<std::int64_t>(table, "int64_t");
  converted_to<float>(table, "float");
  converted_to<double>(table, "double");
  converted_to<c10::complex<float>>(table, "complex<float>");
  converted_to<c10::complex<double>>(table, "complex<double>");
  return table;
}

}  // namespace numbers
