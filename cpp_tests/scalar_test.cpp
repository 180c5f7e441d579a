// Numbers without a tensor: their kind, and conversions that lose nothing.
#include <complex>
#include <cstdint>
#include <limits>

#include "fixture.hpp"

namespace sc = sconce;
using support::contains;
using support::error_of;
using support::status_of;

namespace {

TEST(ScalarTest, NumbersKeepTheirKind) {
  EXPECT_TRUE(sc::Scalar(true).isBoolean());
  EXPECT_TRUE(sc::Scalar(7).isIntegral(false) && sc::Scalar(true).isIntegral(true));
  EXPECT_TRUE(sc::Scalar(0.5F).isFloatingPoint());
  EXPECT_TRUE(sc::Scalar(std::complex<double>(0, 1)).isComplex());
  EXPECT_EQ(sc::Scalar(2.75).to<int>(), 2);
  EXPECT_EQ(sc::Scalar(-1).toDouble(), -1.0);
  EXPECT_EQ(sc::Scalar(3).to<std::complex<float>>(), std::complex<float>(3));
  EXPECT_TRUE(sc::Scalar(0.5).toBool());
  const auto refused = [](auto&& action) {
    return contains(error_of(action).what(), "value cannot be converted");
  };
  EXPECT_TRUE(refused([] { (void)sc::Scalar(300).to<std::int8_t>(); }));
  EXPECT_TRUE(refused([] { (void)sc::Scalar(-1).to<std::uint8_t>(); }));
  EXPECT_TRUE(refused([] { (void)sc::Scalar(1e10).to<int>(); }));
  EXPECT_TRUE(
      refused([] { (void)sc::Scalar(std::numeric_limits<double>::quiet_NaN()).to<int>(); }));
  EXPECT_TRUE(refused([] { (void)sc::Scalar(std::complex<double>(0, 1)).toDouble(); }));
  EXPECT_EQ(sc::Scalar(-2147483648.0).to<std::int32_t>(), std::numeric_limits<std::int32_t>::min());
  EXPECT_EQ(status_of([] { (void)sc::Scalar(std::numeric_limits<std::uint64_t>::max()); }),
            SCONCE_ERROR_INVALID_ARGUMENT);
}

}  // namespace
