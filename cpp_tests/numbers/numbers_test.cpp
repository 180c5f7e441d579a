// The numbers of compat/numbers beside an oracle that knows only what a format is: the values of
// all bits by ldexp, and rounding by search among them. numbers_golden.cpp compares them with
// PyTorch's.
#include <algorithm>
#include <cfloat>
#include <cmath>
#include <cstring>
#include <limits>
#include <sconce/compat/numbers/half_math.hpp>
#include <sstream>
#include <string>
#include <type_traits>
#include <unordered_set>
#include <utility>
#include <vector>

#include "../c10_compat_support.hpp"

namespace {

using support::contains;
using support::error_of;

// What a format is.

struct Format {
  int exponent;  // bits
  int mantissa;  // bits
  int bias;
  bool has_sign = true;
  bool has_infinity = true;
  bool one_nan = false;       // all bits set, of each sign
  bool unsigned_nan = false;  // the bits of the negative zero
};

const double kNan = std::numeric_limits<double>::quiet_NaN();
const double kInfinity = std::numeric_limits<double>::infinity();

double value_of(const Format& format, unsigned bits) {
  const unsigned width = static_cast<unsigned>(format.exponent + format.mantissa);
  const unsigned magnitude = bits & ((1U << width) - 1U);
  const double sign = format.has_sign && (bits >> width & 1U) != 0 ? -1 : 1;
  const int exponent = static_cast<int>(magnitude >> format.mantissa);
  const double fraction =
      std::ldexp(static_cast<double>(magnitude & ((1U << format.mantissa) - 1U)), -format.mantissa);
  const bool last = exponent == (1 << format.exponent) - 1;
  if (format.unsigned_nan && bits == 1U << width) {
    return kNan;
  }
  if (format.has_infinity && last) {
    return fraction == 0 ? sign * kInfinity : kNan;
  }
  if (format.one_nan && magnitude == (1U << width) - 1U) {
    return kNan;
  }
  if (format.mantissa == 0) {  // powers of two alone
    return std::ldexp(1, exponent - format.bias);
  }
  return exponent == 0 ? sign * std::ldexp(fraction, 1 - format.bias)
                       : sign * std::ldexp(1 + fraction, exponent - format.bias);
}

/// All finite values that are not negative, in order, with the first one beyond them.
std::vector<double> values_of(const Format& format) {
  std::vector<double> values;
  for (unsigned bits = 0; bits < 1U << (format.exponent + format.mantissa); ++bits) {
    const double value = value_of(format, bits);
    if (std::isfinite(value)) {
      values.push_back(value);
    }
  }
  values.push_back(2 * values.back() - values[values.size() - 2]);
  return values;
}

template <class T>
struct Of;
template <>
struct Of<c10::Half> {
  static constexpr Format format{5, 10, 15};
};
template <>
struct Of<c10::BFloat16> {
  static constexpr Format format{8, 7, 127};
};
template <>
struct Of<c10::Float8_e4m3fn> {
  static constexpr Format format{4, 3, 7, true, false, true};
};
template <>
struct Of<c10::Float8_e5m2> {
  static constexpr Format format{5, 2, 15};
};
template <>
struct Of<c10::Float8_e4m3fnuz> {
  static constexpr Format format{4, 3, 8, true, false, false, true};
};
template <>
struct Of<c10::Float8_e5m2fnuz> {
  static constexpr Format format{5, 2, 16, true, false, false, true};
};
template <>
struct Of<c10::Float8_e8m0fnu> {
  static constexpr Format format{8, 0, 127, false, false, true};
};

template <class T>
T with_bits(unsigned bits) {
  return T(static_cast<decltype(T::x)>(bits), T::from_bits());
}
template <class T>
constexpr unsigned how_many() {
  return 1U << (8 * sizeof(T));
}

/// The value of the format nearest to a number, by search; of two, the one with an even mantissa.
template <class T>
double nearest(double number) {
  static const std::vector<double> values = values_of(Of<T>::format);
  const double size = std::fabs(number);
  if (std::isnan(number)) {
    return kNan;
  }
  const double beyond = Of<T>::format.has_infinity ? kInfinity : kNan;
  const auto above = std::upper_bound(values.begin(), values.end(), size);
  if (above == values.end()) {
    return std::copysign(beyond, number);
  }
  const auto index = static_cast<std::size_t>(above - values.begin()) - 1;
  const double lower = size - values[index];
  const double upper = values[index + 1] - size;
  const bool up = upper < lower || (upper == lower && index % 2 == 1);
  const std::size_t chosen = up ? index + 1 : index;
  return std::copysign(chosen + 1 == values.size() ? beyond : values[chosen], number);
}
/// Whether two numbers are the same; those that are not numbers are.
bool same(double a, double b) {
  return std::isnan(a) ? std::isnan(b) : a == b && (a != 0 || std::signbit(a) == std::signbit(b));
}

template <class T>
class Numbers : public testing::Test {};
using WithSign = testing::Types<c10::Half, c10::BFloat16, c10::Float8_e4m3fn, c10::Float8_e5m2,
                                c10::Float8_e4m3fnuz, c10::Float8_e5m2fnuz>;
TYPED_TEST_SUITE(Numbers, WithSign);

// Conversions.

TYPED_TEST(Numbers, EveryNumberHasTheValueOfItsBits) {
  for (unsigned bits = 0; bits < how_many<TypeParam>(); ++bits) {
    const auto number = with_bits<TypeParam>(bits);
    const double expected = value_of(Of<TypeParam>::format, bits);
    ASSERT_TRUE(same(static_cast<float>(number), expected)) << bits;
    ASSERT_EQ(number != number, std::isnan(expected));
    ASSERT_EQ(at::_isnan(number), std::isnan(expected));
    ASSERT_EQ(at::_isinf(number), std::isinf(expected));
    if (!std::isnan(expected)) {
      ASSERT_EQ(TypeParam(static_cast<float>(number)).x, bits);
      ASSERT_EQ(static_cast<double>(number), expected);
    }
  }
}

template <class T>
void expect_nearest(float single) {
  double expected = nearest<T>(single);
  // A format without a negative zero has the other one.
  expected = Of<T>::format.unsigned_nan && expected == 0 ? 0.0 : expected;
  ASSERT_TRUE(same(static_cast<float>(T(single)), expected))
      << single << " became " << static_cast<float>(T(single)) << " and not " << expected;
}

TYPED_TEST(Numbers, SinglesBecomeTheNearestNumber) {
  // Between two neighbours all that matters is on which side of their middle a single is.
  const std::vector<double> values = values_of(Of<TypeParam>::format);
  for (std::size_t i = 0; i + 1 < values.size(); ++i) {
    const auto low = static_cast<float>(values[i]);
    const auto high = static_cast<float>(values[i + 1]);
    const auto middle = static_cast<float>((values[i] + values[i + 1]) / 2);
    for (const float single : {low, middle, high}) {
      for (const float near :
           {std::nextafter(single, -INFINITY), single, std::nextafter(single, INFINITY)}) {
        expect_nearest<TypeParam>(near);
        expect_nearest<TypeParam>(-near);
      }
    }
  }
  for (const float single : {0.0F, 1e-45F, 1e-40F, FLT_MAX, INFINITY, NAN}) {
    expect_nearest<TypeParam>(single);
    expect_nearest<TypeParam>(-single);
  }
}

TEST(PowersOfTwo, RoundToTheNearestExponent) {
  using Power = c10::Float8_e8m0fnu;
  for (unsigned bits = 0; bits < 0x100; ++bits) {
    const auto number = with_bits<Power>(bits);
    const double value = value_of(Of<Power>::format, bits);
    ASSERT_TRUE(same(static_cast<float>(number), value)) << bits;
    ASSERT_EQ(number.isnan(), bits == 0xFF);
    if (bits < 0xFE) {
      const double beyond = std::ldexp(value, 1);
      ASSERT_EQ(Power(static_cast<float>(value)).x, bits);
      ASSERT_EQ(Power(static_cast<float>(-value)).x, bits) << "there is no sign";
      const auto tie = static_cast<float>((value + beyond) / 2);
      // A single's 1.5 times a power goes up.
      ASSERT_EQ(Power(tie).x, bits + 1);
      ASSERT_EQ(Power(std::nextafter(bits == 0 ? static_cast<float>(value) : tie, 0.0F)).x, bits);
    }
  }
  EXPECT_TRUE(Power(INFINITY).isnan() && Power(NAN).isnan());
  EXPECT_EQ(Power(0.0F).x, 0);
  // c10 rounds up all between the two least numbers.
  EXPECT_EQ(Power(std::nextafter(static_cast<float>(std::ldexp(1, -127)), 1.0F)).x, 1);
}

// Arithmetic.

/// What an operation has to give: that of doubles, which has no error that a single would show,
/// rounded to a single and then to the format.
template <class T, class Operation>
void expect_operation(T a, T b, T result, const Operation& operation) {
  const double exact = operation(static_cast<double>(static_cast<float>(a)),
                                 static_cast<double>(static_cast<float>(b)));
  double expected = nearest<T>(static_cast<float>(exact));
  expected = Of<T>::format.unsigned_nan && expected == 0 ? 0.0 : expected;
  ASSERT_TRUE(same(static_cast<float>(result), expected))
      << static_cast<float>(a) << " and " << static_cast<float>(b) << " gave "
      << static_cast<float>(result) << " and not " << expected;
}

TYPED_TEST(Numbers, ArithmeticRoundsOnceAnOperation) {
  using T = TypeParam;
  const unsigned step = sizeof(T) == 1 ? 1 : 37;  // of 16 bits: 1,772 by 26 numbers
  for (unsigned first = 0; first < how_many<T>(); first += step) {
    for (unsigned i = 0; i < (sizeof(T) == 1 ? 256U : 26U); ++i) {
      const unsigned second = sizeof(T) == 1 ? i : (i % 2 == 0 ? i * 2521U : first ^ (i * 79U));
      const auto a = with_bits<T>(first);
      const auto b = with_bits<T>(second & (how_many<T>() - 1));
      expect_operation(a, b, a + b, [](double x, double y) { return x + y; });
      expect_operation(a, b, a - b, [](double x, double y) { return x - y; });
      expect_operation(a, b, a * b, [](double x, double y) { return x * y; });
      expect_operation(a, b, a / b, [](double x, double y) { return x / y; });
      T c = a;
      c += b;
      ASSERT_TRUE(same(static_cast<float>(c), static_cast<float>(a + b)));
      c *= b;
      expect_operation(a + b, b, c, [](double x, double y) { return x * y; });
      c = a;
      c -= b;
      c /= a;
      expect_operation(a - b, a, c, [](double x, double y) { return x / y; });
      const float x = a;
      const float y = b;
      ASSERT_EQ(a == b, x == y);
      ASSERT_EQ(a != b, x != y);
      ASSERT_EQ(a < b, x < y);
      ASSERT_EQ(a <= b, x <= y);
      ASSERT_EQ(a > b, x > y);
      ASSERT_EQ(a >= b, x >= y);
    }
    const auto a = with_bits<T>(first);
    const double negated = -value_of(Of<T>::format, first);
    ASSERT_TRUE(
        same(static_cast<float>(-a), Of<T>::format.unsigned_nan && negated == 0 ? 0.0 : negated));
  }
}

TYPED_TEST(Numbers, ResultsHaveC10sTypes) {
  using T = TypeParam;
  const auto a = T(1.5F);
  static_assert(std::is_same_v<decltype(a + a), T> && std::is_same_v<decltype(a * 2), T>);
  static_assert(std::is_same_v<decltype(2 - a), T>);
  static_assert(std::is_same_v<decltype(a / std::int64_t{2}), T>);
  static_assert(std::is_same_v<decltype(a * 2.0F), float>);
  static_assert(std::is_same_v<decltype(2.0F / a), float>);
  static_assert(std::is_same_v<decltype(a + 2.0), double>);
  static_assert(std::is_same_v<decltype(-a), T>);
  static_assert(std::is_trivially_default_constructible_v<T> && std::is_trivially_copyable_v<T>);
  static_assert(std::is_convertible_v<double, T> && std::is_convertible_v<int, T>);
  static_assert(alignof(T) == sizeof(T));
  float single = 1.0F;
  single += a;
  EXPECT_EQ(single, 2.5F);
  single /= a;
  EXPECT_EQ(single, 2.5F / 1.5F) << "a float is not rounded";
  T number = a;
  number += 2;
  number *= 0.5;  // rounds 0.5 to the type first
  EXPECT_EQ(static_cast<float>(number), 1.75F);
  EXPECT_TRUE(number == 1.75F && number < 2 && 1 < number);
}

TEST(NumbersOf16Bits, AHalfIsRoundedBeforeTheNextOperation) {
  // 2048 + 1 is no half; in singles the sum of all three would be 2050.
  const c10::Half large(2048);
  const c10::Half one(1);
  EXPECT_EQ(static_cast<float>(large + one + one), 2048.0F);
  EXPECT_EQ(static_cast<float>(large) + one + one, 2050.0F);
  c10::BFloat16 bits = with_bits<c10::BFloat16>(0x3F80);
  EXPECT_EQ((bits | with_bits<c10::BFloat16>(0x0003)).x, 0x3F83);
  EXPECT_EQ((bits & with_bits<c10::BFloat16>(0x3F01)).x, 0x3F01);
  EXPECT_EQ((bits ^ with_bits<c10::BFloat16>(0x3F01)).x, 0x0000);
}

// Mathematics, which round the results of singles.

template <class T>
void expect_functions() {
#define EXPECT_FUNCTION(name)                                                  \
  static_assert(std::is_same_v<decltype(std::name(T())), T>);                  \
  for (unsigned bits = 0; bits < 0x10000; ++bits) {                            \
    const auto x = with_bits<T>(bits);                                         \
    ASSERT_TRUE(same(static_cast<float>(std::name(x)),                         \
                     static_cast<float>(T(std::name(static_cast<float>(x)))))) \
        << #name " of " << static_cast<float>(x);                              \
  }
  EXPECT_FUNCTION(acos)
  EXPECT_FUNCTION(asin)
  EXPECT_FUNCTION(atan)
  EXPECT_FUNCTION(atanh)
  EXPECT_FUNCTION(erf)
  EXPECT_FUNCTION(erfc)
  EXPECT_FUNCTION(exp)
  EXPECT_FUNCTION(expm1)
  EXPECT_FUNCTION(log)
  EXPECT_FUNCTION(log10)
  EXPECT_FUNCTION(log1p)
  EXPECT_FUNCTION(log2)
  EXPECT_FUNCTION(ceil)
  EXPECT_FUNCTION(cos)
  EXPECT_FUNCTION(floor)
  EXPECT_FUNCTION(nearbyint)
  EXPECT_FUNCTION(sin)
  EXPECT_FUNCTION(tan)
  EXPECT_FUNCTION(sinh)
  EXPECT_FUNCTION(cosh)
  EXPECT_FUNCTION(tanh)
  EXPECT_FUNCTION(trunc)
  EXPECT_FUNCTION(lgamma)
  EXPECT_FUNCTION(sqrt)
  EXPECT_FUNCTION(abs)
#undef EXPECT_FUNCTION
  EXPECT_EQ(static_cast<float>(std::pow(T(2), T(3))), 8.0F);
  EXPECT_EQ(static_cast<float>(std::pow(T(2), 0.5)), static_cast<float>(T(std::sqrt(2.0F))));
  EXPECT_EQ(static_cast<float>(std::fmod(T(7), T(4))), 3.0F);
  EXPECT_EQ(static_cast<float>(std::rsqrt(T(4))), 0.5F);
  EXPECT_TRUE(std::isfinite(T(1)) && !std::isfinite(std::numeric_limits<T>::infinity()));
  // The neighbours on the way up and down, through zero.
  T last = std::numeric_limits<T>::lowest();
  int steps = 0;
  for (const double value : values_of(Of<T>::format)) {
    static_cast<void>(value);
    ++steps;
  }
  const T top = std::numeric_limits<T>::max();
  for (int i = 0; last != top; ++i) {
    const T next = std::nextafter(last, top);
    ASSERT_GT(static_cast<float>(next), static_cast<float>(last));
    ASSERT_EQ(std::nextafter(next, std::numeric_limits<T>::lowest()), last);
    last = next;
    ASSERT_LT(i, 2 * steps);
  }
  EXPECT_EQ(std::nextafter(T(0.0F), T(-1)).x, 0x8001);
  EXPECT_EQ(std::nextafter(T(0.0F), T(-0.0F)).x, 0x8000);
  EXPECT_TRUE(at::_isnan(std::nextafter(T(NAN), T(1))));
}
TEST(NumbersOf16Bits, FunctionsOfHalvesRoundTheirResults) { expect_functions<c10::Half>(); }
TEST(NumbersOf16Bits, FunctionsOfUpperHalvesRoundTheirResults) {
  expect_functions<c10::BFloat16>();
}

// Hashes and texts.

TYPED_TEST(Numbers, HashesAndTexts) {
  std::unordered_set<TypeParam> several;
  for (const float number : {1.5F, 0.0F, -0.0F, 1.5F, -1.5F}) {
    several.insert(TypeParam(number));
  }
  EXPECT_EQ(several.size(), 3U);
  std::ostringstream text;
  text << TypeParam(1.5F) << ' ' << TypeParam(-2);
  EXPECT_EQ(text.str(), "1.5 -2");
}

// Complex numbers.

template <class T>
void expect_complex_functions() {
  using Complex = c10::complex<T>;
#define EXPECT_FUNCTION(name)                                          \
  {                                                                    \
    const auto expected = std::name(static_cast<std::complex<T>>(x));  \
    for (const Complex result : {std::name(x), ::name(x), name(x)}) {  \
      ASSERT_TRUE(same(result.real(), expected.real())) << #name << x; \
      ASSERT_TRUE(same(result.imag(), expected.imag())) << #name << x; \
    }                                                                  \
  }
  for (const T re : {T(-3.5), T(-1), T(-0.1), T(0), T(0.5), T(1), T(2.25), T(40)}) {
    for (const T im : {T(-7), T(-0.75), T(-0.0), T(0), T(0.125), T(1), T(3)}) {
      const Complex x(re, im);
      EXPECT_FUNCTION(exp)
      EXPECT_FUNCTION(log)
      EXPECT_FUNCTION(log10)
      EXPECT_FUNCTION(sqrt)
      EXPECT_FUNCTION(sin)
      EXPECT_FUNCTION(cos)
      EXPECT_FUNCTION(tan)
      EXPECT_FUNCTION(asin)
      EXPECT_FUNCTION(acos)
      EXPECT_FUNCTION(atan)
      EXPECT_FUNCTION(sinh)
      EXPECT_FUNCTION(cosh)
      EXPECT_FUNCTION(tanh)
      EXPECT_FUNCTION(asinh)
      EXPECT_FUNCTION(acosh)
      EXPECT_FUNCTION(atanh)
      const auto standard = static_cast<std::complex<T>>(x);
      EXPECT_EQ(std::abs(x), std::abs(standard));
      EXPECT_EQ(std::arg(x), std::arg(standard));
      EXPECT_TRUE(Complex(std::pow(standard, std::complex<T>(2, 1))) == pow(x, Complex(2, 1)));
      EXPECT_TRUE(Complex(std::pow(standard, T(1.5))) == std::pow(x, T(1.5)));
      EXPECT_TRUE(Complex(std::pow(T(1.5), standard)) == std::pow(T(1.5), x));
      // The logarithm by long doubles.
      const std::complex<long double> one(1 + static_cast<long double>(re), im);
      if (one != std::complex<long double>()) {
        const auto exact = std::log(one);
        const Complex near = std::log1p(x);
        const T error = 8 * std::numeric_limits<T>::epsilon();
        EXPECT_NEAR(near.real(), static_cast<T>(exact.real()), error * (1 + std::abs(near)));
        EXPECT_NEAR(near.imag(), static_cast<T>(exact.imag()), error * (1 + std::abs(near)));
      }
      const std::complex<long double> wide(re, im);
      const auto exact = std::exp(wide) - 1.0L;
      const Complex near = std::expm1(x);
      const T error = 8 * std::numeric_limits<T>::epsilon() * (1 + std::exp(re));
      EXPECT_NEAR(near.real(), static_cast<T>(exact.real()), error);
      EXPECT_NEAR(near.imag(), static_cast<T>(exact.imag()), error);
    }
  }
#undef EXPECT_FUNCTION
  // What is exact near 0, where the plain formula has lost all digits.
  const T tiny = std::numeric_limits<T>::epsilon() / 8;
  EXPECT_NEAR(std::log1p(Complex(tiny, 0)).real() / tiny, 1, 1e-6);
  EXPECT_NEAR(std::expm1(Complex(tiny, 0)).real() / tiny, 1, 1e-6);
}
TEST(ComplexNumbers, FunctionsAreThoseOfTheStandardLibrary) {
  expect_complex_functions<float>();
  expect_complex_functions<double>();
  using namespace c10::complex_literals;  // NOLINT
  EXPECT_TRUE(c10::polar(2.0, 0.0) == 2.0 && 2.0_id * 2.0_id == -4.0);
  EXPECT_EQ((3_if).imag_, 3.0F);
  EXPECT_TRUE(std::log2(c10::complex<double>(8, 0)).real() - 3 < 1e-12);
}

TEST(ComplexNumbers, QuotientsDoNotOverflowOnTheWay) {
  // The squares of the parts are no singles; the school's formula would give 0 or infinity.
  const c10::complex<float> large(1e30F, 1e30F);
  EXPECT_TRUE(large / large == 1.0F);
  const c10::complex<float> small(1e-30F, -1e-30F);
  EXPECT_TRUE(small / small == 1.0F);
  EXPECT_TRUE(std::isinf((c10::complex<float>(1, 0) / c10::complex<float>()).real()));
  constexpr c10::complex<double> product = c10::complex<double>(1, 2) * c10::complex<double>(3, 4);
  static_assert(product.real_ == -5 && product.imag_ == 10);
  constexpr c10::complex<double> quotient = product / c10::complex<double>(3, 4);
  static_assert(quotient == c10::complex<double>(1, 2));
}

TEST(ComplexNumbers, ConvertAsC10sDo) {
  static_assert(std::is_convertible_v<c10::complex<float>, c10::complex<double>>);
  static_assert(!std::is_convertible_v<c10::complex<double>, c10::complex<float>>);
  static_assert(!std::is_convertible_v<std::complex<float>, c10::complex<float>>);
  static_assert(std::is_constructible_v<c10::complex<float>, std::complex<double>>);
  static_assert(std::is_convertible_v<float, c10::complex<float>>);
  static_assert(c10::is_complex<c10::complex<c10::Half>>::value);
  static_assert(std::is_same_v<c10::scalar_value_type<c10::complex<double>>::type, double>);
  static_assert(std::is_same_v<c10::scalar_value_type<c10::Half>::type, c10::Half>);
  static_assert(sconce::cuda::CppTypeToScalarType<c10::complex<float>>::value == at::kComplexFloat);
  std::istringstream text("(1,2)");
  c10::complex<float> read;
  text >> read;
  EXPECT_TRUE(read == c10::complex<float>(1, 2));
  EXPECT_EQ(std::hash<c10::complex<float>>()(read), std::hash<c10::complex<float>>()({1, 2}));
  EXPECT_EQ(c10::convert<float>(read), 1.0F);
  EXPECT_TRUE(c10::convert<bool>(c10::complex<float>(0, 2)));
  EXPECT_EQ(c10::convert<std::uint8_t>(-1.5F), 255);
}

// Tensors of the types.

class NumbersOfTensors : public support::WorkFixture {};

template <class T>
void expect_tensor(at::ScalarType type) {
  // The library converts all singles of a table as the header does, and back.
  std::vector<float> singles;
  for (unsigned upper = 0; upper < 0x10000; upper += 5) {
    std::uint32_t bits = upper << 16 | (upper * 40503U & 0xFFFFU);
    float single = 0;
    std::memcpy(&single, &bits, sizeof single);
    if (!std::isnan(single)) {
      singles.push_back(single);
    }
  }
  const auto x = torch::tensor(singles, torch::dtype(torch::kFloat).device(torch::kCPU));
  const auto y = x.to(type);
  const T* const numbers = y.template data_ptr<T>();
  const auto back = y.to(torch::kFloat);
  for (std::size_t i = 0; i < singles.size(); ++i) {
    ASSERT_TRUE(same(static_cast<float>(numbers[i]), static_cast<float>(T(singles[i]))))
        << singles[i];
    ASSERT_TRUE(same(back.template data_ptr<float>()[i], static_cast<float>(numbers[i])));
  }
  const int bytes = AT_DISPATCH_SWITCH(
      type, "numbers", AT_DISPATCH_CASE(sconce::cuda::CppTypeToScalarType<T>::value, [&] {
        static_assert(std::is_same_v<scalar_t, T>);
        return static_cast<int>(sizeof(scalar_t));
      }));
  EXPECT_EQ(bytes, static_cast<int>(sizeof(T)));
}

TEST_F(NumbersOfTensors, HaveTheHeadersTypes) {
  expect_tensor<c10::Half>(at::kHalf);
  expect_tensor<c10::BFloat16>(at::kBFloat16);
  expect_tensor<c10::Float8_e4m3fn>(at::kFloat8_e4m3fn);
  expect_tensor<c10::Float8_e5m2>(at::kFloat8_e5m2);
  expect_tensor<c10::Float8_e4m3fnuz>(at::kFloat8_e4m3fnuz);
  expect_tensor<c10::Float8_e5m2fnuz>(at::kFloat8_e5m2fnuz);
}

TEST_F(NumbersOfTensors, ScalarsAreMadeOfThem) {
  const auto cpu = torch::device(torch::kCPU);
  const c10::Half half(1.5F);
  EXPECT_TRUE(at::Scalar(half).isFloatingPoint());
  EXPECT_EQ(at::Scalar(c10::BFloat16(2.5F)).toDouble(), 2.5);
  EXPECT_EQ(at::Scalar(c10::Float8_e4m3fn(3)).toInt(), 3);
  EXPECT_TRUE(at::Scalar(c10::complex<float>(1, 2)).isComplex());
  EXPECT_TRUE(at::Scalar(c10::complex<float>(1, 2)).to<c10::complex<double>>() ==
              c10::complex<double>(1, 2));
  EXPECT_EQ(at::Scalar(2).to<c10::Half>(), c10::Half(2));
  EXPECT_EQ(at::Scalar(0.1).to<c10::BFloat16>().x, c10::BFloat16(0.1F).x);
  EXPECT_TRUE(std::isinf(at::Scalar(INFINITY).to<c10::Half>()));
  EXPECT_TRUE(contains(error_of([] { (void)at::Scalar(65505.0).to<c10::Half>(); }).what(),
                       "without overflow"));
  EXPECT_TRUE(contains(error_of([] { (void)at::Scalar(449).to<c10::Float8_e4m3fn>(); }).what(),
                       "without overflow"));
  const auto x = torch::full({1}, half, cpu.dtype(torch::kHalf));
  EXPECT_EQ(x.item<c10::Half>(), half);
  EXPECT_EQ((x * half + half).item<float>(), 3.75F);
  x.fill_(c10::BFloat16(4));
  EXPECT_EQ(x.data_ptr<c10::Half>()[0], c10::Half(4));
  const auto z = torch::full({1}, c10::complex<double>(1, 2), cpu.dtype(torch::kComplexFloat));
  EXPECT_TRUE(z.data_ptr<c10::complex<float>>()[0] == c10::complex<float>(1, 2));
  EXPECT_TRUE(z.item<c10::complex<float>>() == c10::complex<float>(1, 2));
}

}  // namespace
