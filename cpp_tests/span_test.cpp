// Views of elements: their sources, their parts, and what does not compile.
#include <array>
#include <numeric>
#include <sconce/cuda/span.hpp>
#include <string>
#include <type_traits>
#include <vector>

#include "fixture.hpp"

namespace {

using namespace sconce::cuda;
using support::contains;
using support::error_of;

template <class T, class = void>
constexpr bool has_index = false;
template <class T>
constexpr bool has_index<T, std::void_t<decltype(std::declval<T&>()[0])>> = true;
template <class T, class = void>
constexpr bool has_begin = false;
template <class T>
constexpr bool has_begin<T, std::void_t<decltype(std::declval<T&>().begin())>> = true;

static_assert(has_index<Span<int>> && has_begin<Span<int>>, "the host uses its own memory");
static_assert(!has_index<DeviceSpan<int>> && !has_begin<DeviceSpan<int>>,
              "the host has no way to an element of a device");
static_assert(!std::is_convertible_v<DeviceSpan<int>, Span<int>> &&
                  !std::is_constructible_v<Span<int>, DeviceSpan<int>&> &&
                  !std::is_constructible_v<DeviceSpan<int>, Span<int>&> &&
                  !std::is_constructible_v<DeviceSpan<int>, std::vector<int>&>,
              "views of the host and of devices do not become each other");
static_assert(std::is_convertible_v<Span<int>, Span<const int>> &&
                  std::is_convertible_v<DeviceSpan<int>, DeviceSpan<const int>> &&
                  !std::is_convertible_v<Span<const int>, Span<int>> &&
                  !std::is_convertible_v<DeviceSpan<const int>, DeviceSpan<int>>,
              "const is added, never taken away");
static_assert(!std::is_constructible_v<Span<int>, const std::vector<int>&> &&
                  !std::is_constructible_v<Span<const int>, std::vector<int>> &&
                  !std::is_constructible_v<Span<long>, std::vector<int>&> &&
                  !std::is_constructible_v<Span<bool>, std::vector<bool>&>,
              "no const is lost, no temporary viewed, no type changed");
struct Base {
  int first;
};
struct Derived : Base {
  int second;
};
static_assert(!std::is_convertible_v<Span<Derived>, Span<Base>> &&
                  !std::is_convertible_v<DeviceSpan<Derived>, DeviceSpan<const Base>>,
              "a step in an array of one is not a step in an array of the other");
static_assert(std::is_trivially_copyable_v<DeviceSpan<float>>, "kernels take it as an argument");

TEST(SpanTest, EverythingInOnePieceIsViewed) {
  int plain[] = {1, 2, 3};
  const std::array<int, 3> array{4, 5, 6};
  std::vector<int> vector{7, 8, 9, 10};
  std::string text = "abc";
  EXPECT_EQ(Span(plain).size(), 3U);
  EXPECT_EQ(Span(array)[2], 6);
  EXPECT_EQ(Span(text).data(), text.data());
  Span span(vector);
  EXPECT_EQ(span.size_bytes(), 4 * sizeof(int));
  span[1] = 80;
  EXPECT_EQ(vector[1], 80);
  const Span<const int> read_only = span;
  EXPECT_EQ(std::accumulate(read_only.begin(), read_only.end(), 0), 106);
  const Span copied(span);
  static_assert(std::is_same_v<decltype(copied), const Span<int>>, "a copy is no view of a view");
  EXPECT_TRUE(Span<int>().empty());
  EXPECT_EQ(Span<int>().data(), nullptr);
}

template <class View>
void expect_parts(View five) {
  const auto* const data = five.data();
  EXPECT_EQ(five.subspan(2).data(), data + 2);
  EXPECT_EQ(five.subspan(2).size(), 3U);
  EXPECT_EQ(five.subspan(1, 2).size(), 2U);
  EXPECT_TRUE(five.subspan(5).empty());
  EXPECT_EQ(five.first(2).data(), data);
  EXPECT_EQ(five.last(2).data(), data + 3);
  EXPECT_EQ(five.last(5).size(), 5U);
  EXPECT_TRUE(five.first(0).empty());
  const sconce::Error error = error_of([&] { (void)five.subspan(3, 3); });
  EXPECT_EQ(error.status(), SCONCE_ERROR_INVALID_ARGUMENT);
  EXPECT_TRUE(contains(error.what(), "3 elements from 3 on leave a span of 5"));
  const sconce::Error behind = error_of([&] { (void)five.subspan(6); });
  EXPECT_TRUE(contains(behind.what(), "the elements from 6 on leave a span of 5"));
  EXPECT_THROW((void)five.subspan(1, static_cast<std::size_t>(-2)), sconce::Error);
  EXPECT_THROW((void)five.first(6), sconce::Error);
  EXPECT_THROW((void)five.last(6), sconce::Error);
}

TEST(SpanTest, PartsStayWithinTheWhole) {
  std::vector<short> elements(5);
  expect_parts(Span(elements));
  // The address is not accessed, so one on the host will do.
  expect_parts(DeviceSpan<const short>(elements.data(), elements.size()));
}

}  // namespace
