// Copies of rows and of strided elements: every pair of kinds of memory against loops on the host,
// and what the views refuse.
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <limits>
#include <numeric>
#include <sconce/cuda/copy_shapes.hpp>
#include <vector>

#include "copy_support.hpp"

namespace {

using namespace sconce::cuda;
using namespace std::chrono_literals;
using support::Bytes;
using support::contains;
using support::error_of;
using support::Kind;
using support::pattern;
using support::Place;

class CopyShapesPairingTest : public support::PairingFixture {};
class CopyShapesTest : public support::HostMemoryFixture {};

INSTANTIATE_TEST_SUITE_P(Every, CopyShapesPairingTest, support::every_pairing(),
                         [](const auto& pairing) { return support::name_of(pairing); });

// A place as a view. The host does not access it here, so one kind of view serves all memory.
DeviceSpan<std::uint8_t> view_of(Place& place) {
  return {static_cast<std::uint8_t*>(place.get()), place.size()};
}

TEST_P(CopyShapesPairingTest, RowsArriveAndNothingBetweenThem) {
  struct Shape {
    std::size_t height, width, dst_pitch, src_pitch;
  };
  for (const Shape& shape : {Shape{1, 1, 1, 1}, Shape{7, 13, 13, 13}, Shape{7, 13, 16, 13},
                             Shape{33, 100, 100, 128}, Shape{300, 5000, 5003, 5001}}) {
    SCOPED_TRACE(shape.width);
    Place from(src(), shape.height * shape.src_pitch);
    Place to(dst(), shape.height * shape.dst_pitch);
    const Bytes sent = pattern(from.size(), 1);
    Bytes expected = pattern(to.size(), 2);
    from.put(sent);
    to.put(expected);
    copy_2d_(Rows(view_of(to), shape.height, shape.width, shape.dst_pitch),
             Rows(view_of(from), shape.height, shape.width, shape.src_pitch), non_blocking());
    for (std::size_t row = 0; row < shape.height; ++row) {
      for (std::size_t byte = 0; byte < shape.width; ++byte) {
        expected[row * shape.dst_pitch + byte] = sent[row * shape.src_pitch + byte];
      }
    }
    EXPECT_TRUE(to.take() == expected);
  }
}

// Copies `shape` as loops do, one byte an element.
void copy_in_loops(const Strided<std::uint8_t>& shape, Bytes& dst, std::size_t dst_offset,
                   const Strided<std::uint8_t>& src_shape, const Bytes& src,
                   std::size_t src_offset) {
  const auto sizes = shape.sizes();
  std::vector<std::int64_t> index(sizes.size());
  if (std::find(sizes.begin(), sizes.end(), 0) != sizes.end()) {
    return;
  }
  while (true) {
    auto to = static_cast<std::int64_t>(dst_offset);
    auto from = static_cast<std::int64_t>(src_offset);
    for (std::size_t axis = 0; axis < index.size(); ++axis) {
      to += index[axis] * shape.strides()[axis];
      from += index[axis] * src_shape.strides()[axis];
    }
    dst[static_cast<std::size_t>(to)] = src[static_cast<std::size_t>(from)];
    std::size_t axis = index.size();
    while (axis > 0 && ++index[axis - 1] == sizes[axis - 1]) {
      index[--axis] = 0;
    }
    if (axis == 0) {
      return;
    }
  }
}

TEST_P(CopyShapesPairingTest, StridedElementsArriveAndNothingElse) {
  struct Side {
    std::vector<std::int64_t> strides;
    std::size_t offset;
  };
  struct Shape {
    const char* name;
    std::vector<std::int64_t> sizes;
    Side dst, src;
  };
  const std::vector<Shape> shapes{
      {"one element", {}, {{}, 3}, {{}, 5}},
      {"in one piece", {4, 5}, {{5, 1}, 0}, {{5, 1}, 0}},
      {"every other", {50}, {{1}, 0}, {{2}, 1}},
      {"rows", {6, 7}, {{7, 1}, 0}, {{10, 1}, 2}},
      {"transposed", {6, 7}, {{7, 1}, 0}, {{1, 6}, 0}},
      {"channels last to first", {2, 3, 4, 5}, {{60, 20, 5, 1}, 0}, {{60, 1, 15, 3}, 0}},
      {"backwards", {6, 7}, {{7, 1}, 0}, {{-7, -1}, 41}},
      {"written backwards", {42}, {{-1}, 41}, {{1}, 0}},
      {"repeated", {6, 7}, {{7, 1}, 0}, {{0, 1}, 4}},
      {"one repeated", {6, 7}, {{7, 1}, 3}, {{0, 0}, 9}},
      {"eight axes",
       {2, 1, 3, 2, 2, 1, 2, 3},
       {{72, 72, 24, 12, 6, 6, 3, 1}, 0},
       {{1, 9, 2, 6, 12, 1, 24, 48}, 0}},
      {"nothing", {6, 0, 7}, {{7, 7, 1}, 0}, {{7, 7, 1}, 0}},
  };
  for (const Shape& shape : shapes) {
    SCOPED_TRACE(shape.name);
    Place from(src(), 200);
    Place to(dst(), 200);
    const Bytes sent = pattern(200, 1);
    Bytes expected = pattern(200, 2);
    from.put(sent);
    to.put(expected);
    const auto dst_shape =
        as_strided(view_of(to), shape.sizes, shape.dst.strides, shape.dst.offset);
    const auto src_shape =
        as_strided(view_of(from), shape.sizes, shape.src.strides, shape.src.offset);
    copy_strided_(dst_shape, src_shape, non_blocking());
    copy_in_loops(dst_shape, expected, shape.dst.offset, src_shape, sent, shape.src.offset);
    EXPECT_TRUE(to.take() == expected);
    EXPECT_TRUE(from.take() == sent);
  }
}

TEST_P(CopyShapesPairingTest, WideElementsStayWhole) {
  for (const std::size_t element : std::vector<std::size_t>{2, 4, 8, 12, 16}) {
    SCOPED_TRACE(element);
    Place from(src(), 48 * element);
    Place to(dst(), 48 * element);
    const Bytes sent = pattern(from.size(), 1);
    from.put(sent);
    to.put(Bytes(to.size()));
    // 6 by 8 becomes 8 by 6.
    sconce_strided_copy shape{};
    shape.struct_size = sizeof(shape);
    shape.rank = 2;
    shape.element_bytes = element;
    shape.sizes[0] = shape.src_strides[1] = 8;
    shape.sizes[1] = shape.dst_strides[0] = 6;
    shape.dst_strides[1] = shape.src_strides[0] = 1;
    ASSERT_EQ(sconce_copy_strided(&shape, to.get(), from.get(), non_blocking()), SCONCE_OK)
        << sconce_last_error_message();
    Bytes expected(to.size());
    for (std::size_t i = 0; i < 48; ++i) {
      std::copy_n(&sent[(i % 6 * 8 + i / 6) * element], element, &expected[i * element]);
    }
    EXPECT_TRUE(to.take() == expected);
  }
}

TEST_F(CopyShapesTest, AnImageIsCutOutAndTurned) {
  constexpr std::size_t kHeight = 32;
  constexpr std::size_t kWidth = 48;
  std::vector<int> image(kHeight * kWidth);
  std::iota(image.begin(), image.end(), 0);
  DeviceBuffer cut = DeviceBuffer::of<int>(4 * 5);
  copy_2d_(Rows(cut.span<int>(), 4, 5), Rows(Span(image).subspan(10 * kWidth + 20), 4, 5, kWidth));
  std::vector<int> turned(4 * 5);
  copy_strided_(as_strided(Span(turned), {5, 4}, {4, 1}),
                as_strided(cut.span<int>(), {4, 5}, {5, 1}).permute({1, 0}));
  for (int row = 0; row < 5; ++row) {
    for (int column = 0; column < 4; ++column) {
      EXPECT_EQ(turned[static_cast<std::size_t>(row * 4 + column)],
                (10 + column) * static_cast<int>(kWidth) + 20 + row);
    }
  }
}

TEST_F(CopyShapesTest, PinnedRowsAreQueuedAndTheirUseIsNoted) {
  SCONCE_NEED_SIMULATOR();
  Place to(Kind::Device, 1000);
  const Bytes sent = pattern(1000, 1);
  const sconce::simulator::ManualScope manual;
  PinnedBuffer from(1000);
  void* const used = from.get();
  std::copy(sent.begin(), sent.end(), from.data<std::uint8_t>());
  copy_2d_(Rows(view_of(to), 10, 90, 100), Rows(from.span<std::uint8_t>(), 10, 90, 100), true);
  EXPECT_GT(sconce::simulator::pending(getCurrentCUDAStream()), 0U);
  from.reset();
  const PinnedBuffer other(1000);
  EXPECT_NE(other.get(), used) << "the copy has not run";
  sconce::simulator::run_until_idle();
  sconce::simulator::set_manual(false);
  const Bytes arrived = to.take();
  EXPECT_TRUE(std::equal(sent.begin(), sent.begin() + 90, arrived.begin()));
  EXPECT_EQ(PinnedBuffer(1000).get(), used);
}

TEST_F(CopyShapesTest, BytesOfRowsAreSet) {
  for (const Kind kind : {Kind::Ordinary, Kind::Pinned, Kind::Device}) {
    SCOPED_TRACE(support::name_of(kind));
    Place place(kind, 1000);
    Bytes expected = pattern(1000, 3);
    place.put(expected);
    memory_set_2d(Rows(view_of(place).subspan(3), 9, 70, 100), 0x5a);
    for (std::size_t row = 0; row < 9; ++row) {
      std::fill_n(&expected[3 + row * 100], 70, std::uint8_t{0x5a});
    }
    EXPECT_TRUE(place.take() == expected);
  }
}

TEST_F(CopyShapesTest, RowsStayWithinTheirView) {
  std::vector<int> elements(20);
  const Span view(elements);
  EXPECT_NO_THROW(Rows(view, 4, 5));
  EXPECT_NO_THROW(Rows(view, 3, 4, 8)) << "what follows the last row need not be there";
  EXPECT_NO_THROW(Rows(view, 0, 100));
  EXPECT_NO_THROW(Rows(view, 100, 0));
  const sconce::Error error = error_of([&] { Rows(view, 3, 5, 8); });
  EXPECT_EQ(error.status(), SCONCE_ERROR_INVALID_ARGUMENT);
  EXPECT_TRUE(contains(error.what(), "3 rows of 5 elements, 8 apart, are not within 20 elements"));
  const sconce::Error overlap = error_of([&] { Rows(view, 2, 5, 4); });
  EXPECT_TRUE(contains(overlap.what(), "a pitch of 4 is less than a row of 5 elements"));
  EXPECT_THROW(Rows(view, 1, 21), sconce::Error);
  constexpr std::size_t kHalf = std::numeric_limits<std::size_t>::max() / 2 + 1;
  EXPECT_THROW(Rows(view, 3, 1, kHalf), sconce::Error);
  EXPECT_THROW(Rows(view, kHalf, 2), sconce::Error);
}

TEST_F(CopyShapesTest, RowsOfOtherSizesAreRefusedByBothSizes) {
  std::vector<int> elements(20);
  DeviceBuffer device = DeviceBuffer::of<int>(20);
  const sconce::Error error =
      error_of([&] { copy_2d_(Rows(device.span<int>(), 4, 5), Rows(Span(elements), 5, 4)); });
  EXPECT_EQ(error.status(), SCONCE_ERROR_INVALID_ARGUMENT);
  EXPECT_TRUE(contains(error.what(),
                       "dst has 4 rows of 5 elements of 4 bytes (20 bytes), src has "
                       "5 rows of 4 elements of 4 bytes (16 bytes)"));
}

TEST_F(CopyShapesTest, ElementsStayWithinTheirView) {
  std::vector<int> elements(20);
  const Span view(elements);
  EXPECT_NO_THROW((void)as_strided(view, {4, 5}, {5, 1}));
  EXPECT_NO_THROW((void)as_strided(view, {4, 5}, {-5, -1}, 19));
  EXPECT_NO_THROW((void)as_strided(view, {1000, 20}, {0, 1}));
  EXPECT_NO_THROW((void)as_strided(view, {0, 1000}, {1, 1}, 20));
  EXPECT_NO_THROW((void)as_strided(view, {}, {}, 19));
  const sconce::Error error = error_of([&] { (void)as_strided(view, {4, 5}, {5, 1}, 1); });
  EXPECT_EQ(error.status(), SCONCE_ERROR_INVALID_ARGUMENT);
  EXPECT_TRUE(contains(error.what(),
                       "sizes (4, 5) with strides (5, 1) from element 1 on leave a span of 20"));
  EXPECT_THROW((void)as_strided(view, {4, 5}, {-5, -1}, 18), sconce::Error);
  EXPECT_THROW((void)as_strided(view, {}, {}, 20), sconce::Error);
  EXPECT_THROW((void)as_strided(view, {2, 2}, {10, 10}), sconce::Error) << "20 is behind the last";
  EXPECT_THROW((void)as_strided(view, {-1}, {1}), sconce::Error);
  EXPECT_THROW((void)as_strided(view, {1, 2}, {1}), sconce::Error);
  EXPECT_THROW((void)as_strided(view, {1, 1, 1, 1, 1, 1, 1, 1, 1}, {1, 1, 1, 1, 1, 1, 1, 1, 1}),
               sconce::Error);
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
  constexpr std::int64_t kLeast = std::numeric_limits<std::int64_t>::min();
  EXPECT_THROW((void)as_strided(view, {kMost}, {kMost}), sconce::Error);
  EXPECT_THROW((void)as_strided(view, {3}, {kMost}), sconce::Error);
  EXPECT_THROW((void)as_strided(view, {3}, {kLeast}, 10), sconce::Error);
  EXPECT_NO_THROW((void)as_strided(view, {1}, {kLeast}, 10)) << "one element needs no step";
  EXPECT_THROW((void)as_strided(Span<int>(), {1}, {1}), sconce::Error);
}

TEST_F(CopyShapesTest, AxesAreNamedOnceEach) {
  std::vector<int> elements(24);
  const Strided cube = as_strided(Span(elements), {2, 3, 4}, {12, 4, 1});
  const Strided turned = cube.permute({2, 0, 1});
  EXPECT_EQ(turned.dim(), 3U);
  EXPECT_EQ(turned.sizes()[0], 4);
  EXPECT_EQ(turned.strides()[0], 1);
  EXPECT_EQ(turned.sizes()[2], 3);
  EXPECT_EQ(turned.strides()[2], 4);
  EXPECT_THROW((void)cube.permute({0, 1}), sconce::Error);
  EXPECT_THROW((void)cube.permute({0, 1, 1}), sconce::Error);
  EXPECT_THROW((void)cube.permute({0, 1, 3}), sconce::Error);
  EXPECT_THROW((void)cube.permute({0, 1, 2, 0}), sconce::Error);
}

TEST_F(CopyShapesTest, OtherSizesAndOverlapsAreRefused) {
  std::vector<int> elements(20);
  DeviceBuffer device = DeviceBuffer::of<int>(20);
  const auto source = as_strided(Span(elements), {4, 5}, {5, 1});
  const sconce::Error error = error_of([&] {
    copy_strided_(as_strided(device.span<int>(), {5, 4}, {4, 1}), source);
  });
  EXPECT_EQ(error.status(), SCONCE_ERROR_INVALID_ARGUMENT);
  EXPECT_TRUE(contains(error.what(), "dst has sizes (5, 4), src has sizes (4, 5)"));
  EXPECT_EQ(support::status_of([&] {
              copy_strided_(as_strided(device.span<int>(), {4, 5}, {0, 1}), source);
            }),
            SCONCE_ERROR_INVALID_ARGUMENT)
      << "elements of the destination overlap";
}

}  // namespace
