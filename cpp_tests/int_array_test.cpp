// Sizes and strides: views of a tensor's own numbers, and copies of those of a temporary.
#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <limits>
#include <sstream>
#include <vector>

#include "fixture.hpp"

namespace sc = sconce;
using sc::Tensor;
using support::status_of;
using Sizes = std::vector<std::int64_t>;

namespace {

using IntArrayTest = support::DeviceFixture;

TEST_F(IntArrayTest, SizesAreAViewOfTheTensorsOwn) {
  Tensor a = sc::empty({2, 3, 4}, sc::kCPU);
  const sc::IntArrayRef sizes = a.sizes();
  const sc::IntArrayRef strides = a.strides();
  // Other work in between: a view of a copy that is gone would show it.
  const std::vector<Sizes> noise(100, Sizes({-1, -1, -1}));
  EXPECT_EQ(sizes, Sizes({2, 3, 4}));
  EXPECT_EQ(strides, Sizes({12, 4, 1}));
  EXPECT_EQ(sizes.data(), a.sizes().data());
  EXPECT_EQ(sizes.vec(), Sizes({2, 3, 4}));
  const Sizes copied = sizes;
  EXPECT_EQ(copied, sizes);
  a.resize_({5});
  EXPECT_EQ(a.sizes(), Sizes({5}));
  // Of a tensor without a name they are a copy, which may be kept.
  const auto kept = sc::empty({2, 3}, sc::kCPU).t().sizes();
  EXPECT_EQ(kept, Sizes({3, 2}));
  for (const std::int64_t size : sc::empty({7, 7}, sc::kCPU).sizes()) EXPECT_EQ(size, 7);
  EXPECT_EQ(sc::empty({2, 3}, sc::kCPU).strides(), Sizes({3, 1}));
  EXPECT_EQ(sc::empty({}, sc::kCPU).sizes(), Sizes());
  EXPECT_EQ(status_of([] { (void)Tensor().sizes(); }), SCONCE_ERROR_INVALID_HANDLE);
}

TEST_F(IntArrayTest, ArraysOfNumbersAreCutAndCompared) {
  const Sizes four = {1, 2, 3, 4};
  const sc::IntArrayRef view = four;
  EXPECT_EQ(view.slice(1, 2), Sizes({2, 3}));
  EXPECT_EQ(view.slice(3), Sizes({4}));
  EXPECT_TRUE(view.slice(4).empty());
  EXPECT_TRUE(view.equals({1, 2, 3, 4}) && !view.equals({1, 2, 3}) && !view.equals({1, 2, 3, 5}));
  EXPECT_TRUE(view == four && view != view.slice(1));
  EXPECT_EQ(view.front() + view.back() + view.at(1), 7);
  EXPECT_EQ(Sizes(view.rbegin(), view.rend()), Sizes({4, 3, 2, 1}));
  EXPECT_EQ((std::ostringstream() << view << view.slice(4)).str(), "[1, 2, 3, 4][]");
  const sc::IntArray own(view);
  EXPECT_TRUE(own == view && own.equals(view) && own.slice(1, 2) == view.slice(1, 2));
  EXPECT_EQ(own.slice(2).vec(), Sizes({3, 4}));
  for (const auto& refused : std::vector<std::function<void()>>{
           [&] { (void)view.slice(5); }, [&] { (void)view.slice(2, 3); },
           [&] { (void)view.slice(1, std::numeric_limits<std::size_t>::max()); },
           [&] { (void)view.at(4); }, [] { (void)sc::IntArrayRef().front(); },
           [] { (void)sc::IntArrayRef().back(); }}) {
    EXPECT_EQ(status_of(refused), SCONCE_ERROR_INVALID_ARGUMENT);
  }
}

}  // namespace
