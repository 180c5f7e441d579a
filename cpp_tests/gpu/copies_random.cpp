// Random copies, fills and shapes between all kinds of memory against a model on the host: the
// right bytes arrive, and no others change. Runs on a GPU with SCONCE_TEST_BACKEND=cuda, else on
// the simulator.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <iostream>
#include <numeric>
#include <random>
#include <sconce/sconce_all.hpp>
#include <string>
#include <vector>

#include "places.hpp"

namespace {

using namespace sconce::cuda;
using gpu::Bytes;
using gpu::check;
using gpu::expect;
using gpu::Kind;
using gpu::kMiB;
using gpu::Place;

constexpr std::size_t kArea = 6 * kMiB;
constexpr int kCopies = 1000;
constexpr int kShapes = 300;

using Engine = std::mt19937_64;

std::size_t below(Engine& engine, std::size_t bound) { return engine() % bound; }

/// A place and its expected contents.
struct Area {
  Area(Kind kind, unsigned seed, DeviceIndex device = 0)
      : place(kind, kArea, device), model(gpu::pattern(kArea, seed)) {
    place.write(model);
  }

  [[nodiscard]] bool right() const { return place.read() == model; }

  Place place;
  Bytes model;
};

/// One area of each kind, two on the first device, one on each other device.
class Areas {
 public:
  Areas() {
    areas_.reserve(8);
    areas_.emplace_back(Kind::Ordinary, 1);
    areas_.emplace_back(Kind::Pinned, 2);
    areas_.emplace_back(Kind::Pinned, 3);
    areas_.emplace_back(Kind::Device, 4);
    areas_.emplace_back(Kind::Device, 5);
    for (DeviceIndex device = 1; device < std::min(device_count(), 3); ++device) {
      areas_.emplace_back(Kind::Device, 5U + static_cast<unsigned>(device), device);
    }
  }

  Area& any(Engine& engine) { return areas_[below(engine, areas_.size())]; }

  /// Streams of two devices, and the host, do not order each other's use of host memory: waits
  /// where a program would have to.
  void order(const Area& dst, const Area& src, bool non_blocking) {
    const bool on_host = dst.place.device() < 0 && src.place.device() < 0;
    const DeviceIndex device = std::max(dst.place.device(), src.place.device());
    const bool host = dst.place.device() < 0 || src.place.device() < 0;
    if (host && pending_ >= 0 && (on_host || device != pending_)) {
      gpu::wait_for_all();
      pending_ = -1;
    }
    if (host && !on_host && non_blocking) {
      pending_ = device;
    }
  }

  /// Names the first area with wrong contents; empty if all are right.
  [[nodiscard]] std::string wrong() const {
    for (const Area& area : areas_) {
      if (!area.right()) {
        return area.place.name();
      }
    }
    return {};
  }

 private:
  std::vector<Area> areas_;
  DeviceIndex pending_ = -1;
};

/// 1 byte to 5 MiB; small and large sizes are equally frequent.
std::size_t any_length(Engine& engine) {
  const double power =
      std::uniform_real_distribution<>(0, std::log2(static_cast<double>(5 * kMiB)))(engine);
  return static_cast<std::size_t>(std::exp2(power));
}

/// Where `extent` bytes begin in two areas; apart from each other if the areas are one.
std::array<std::size_t, 2> any_offsets(Engine& engine, bool same, std::size_t extent) {
  const std::size_t room = same ? kArea / 2 : kArea;
  // Half of them at multiples of 256, as allocations are.
  const std::size_t unit = below(engine, 2) == 0 ? 1 : 256;
  const auto any = [&] { return below(engine, (room - extent) / unit + 1) * unit; };
  std::array<std::size_t, 2> offsets{any(), any()};
  if (same) {
    offsets[below(engine, 2)] += room;
  }
  return offsets;
}

void copies_arrive() {
  Engine engine(41);
  Areas areas;
  std::string wrong;
  int done = 0;
  while (done < kCopies && wrong.empty()) {
    Area& dst = areas.any(engine);
    Area& src = areas.any(engine);
    const bool same = &dst == &src;
    const bool non_blocking = below(engine, 2) == 0;
    const std::size_t bytes = std::min(any_length(engine), same ? kArea / 2 : kArea);
    const auto [to, from] = any_offsets(engine, same, bytes);
    areas.order(dst, src, non_blocking);
    gpu::copy(dst.place.get(to), src.place.get(from), bytes, non_blocking);
    std::memcpy(dst.model.data() + to, src.model.data() + from, bytes);
    if (++done % 50 == 0) {
      wrong = areas.wrong();
    }
  }
  expect(wrong.empty(), std::to_string(done) + " random copies arrive " + wrong);
}

void rows_arrive() {
  Engine engine(42);
  Areas areas;
  std::string wrong;
  int done = 0;
  while (done < kShapes && wrong.empty()) {
    Area& dst = areas.any(engine);
    Area& src = areas.any(engine);
    const bool same = &dst == &src;
    const bool non_blocking = below(engine, 2) == 0;
    const std::size_t width = 1 + below(engine, below(engine, 3) == 0 ? 20000 : 300);
    const std::size_t height = 1 + below(engine, 70);
    const std::size_t to_pitch = width + below(engine, 3) * below(engine, 500);
    const std::size_t from_pitch = width + below(engine, 3) * below(engine, 500);
    const std::size_t extent = height * std::max(to_pitch, from_pitch);
    const auto [to, from] = any_offsets(engine, same, extent);
    areas.order(dst, src, non_blocking);
    check(sconce_copy_2d(dst.place.get(to), to_pitch, src.place.get(from), from_pitch, width,
                         height, non_blocking));
    for (std::size_t row = 0; row < height; ++row) {
      std::memcpy(dst.model.data() + to + row * to_pitch,
                  src.model.data() + from + row * from_pitch, width);
    }
    if (++done % 25 == 0) {
      wrong = areas.wrong();
    }
  }
  expect(wrong.empty(), std::to_string(done) + " random copies of rows arrive " + wrong);
}

void sets_arrive() {
  Engine engine(43);
  Areas areas;
  std::string wrong;
  int done = 0;
  while (done < kShapes && wrong.empty()) {
    Area& area = areas.any(engine);
    const CUDAGuard guard(std::max(area.place.device(), DeviceIndex{0}));
    const auto value = static_cast<unsigned char>(engine());
    const std::size_t width = below(engine, 2) == 0 ? any_length(engine) : 1 + below(engine, 999);
    const std::size_t pitch = width + below(engine, 100);
    const std::size_t height = std::min(1 + below(engine, 40), kArea / pitch);
    const std::size_t at = below(engine, kArea - height * pitch + 1);
    if (height <= 1) {
      check(sconce_memory_set(area.place.get(at), value, width));
    } else {
      check(sconce_memory_set_2d(area.place.get(at), pitch, value, width, height));
    }
    for (std::size_t row = 0; row < std::max<std::size_t>(height, 1); ++row) {
      std::fill_n(area.model.begin() + static_cast<std::ptrdiff_t>(at + row * pitch), width, value);
    }
    if (++done % 25 == 0) {
      wrong = areas.wrong();
    }
  }
  expect(wrong.empty(), std::to_string(done) + " random sets arrive " + wrong);
}

/// Strides of one side, and the bytes from its first element that they reach.
struct Side {
  std::vector<std::int64_t> strides;
  std::int64_t low = 0;   // elements below the first
  std::int64_t high = 0;  // above it
};

/// Axes in any order with gaps between, some of them backwards; in a source some are repeated.
Side any_side(Engine& engine, const std::vector<std::int64_t>& sizes, bool repeats) {
  Side side;
  side.strides.resize(sizes.size());
  std::vector<std::size_t> order(sizes.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  if (below(engine, 3) != 0) {
    std::shuffle(order.begin(), order.end(), engine);
  } else {
    std::reverse(order.begin(), order.end());
  }
  std::int64_t next = below(engine, 4) == 0 ? 2 : 1;
  for (const std::size_t axis : order) {
    if (repeats && below(engine, 8) == 0) {
      side.strides[axis] = 0;
      continue;
    }
    side.strides[axis] = below(engine, 6) == 0 ? -next : next;
    next *= std::max<std::int64_t>(sizes[axis], 1);
    next += below(engine, 3) == 0 ? static_cast<std::int64_t>(below(engine, 5)) : 0;
  }
  for (std::size_t axis = 0; axis < sizes.size(); ++axis) {
    const std::int64_t reach = side.strides[axis] * std::max<std::int64_t>(sizes[axis] - 1, 0);
    (reach < 0 ? side.low : side.high) += reach < 0 ? -reach : reach;
  }
  return side;
}

/// The model of a strided copy: element by element.
void copy_elements(unsigned char* dst, const unsigned char* src, const sconce_strided_copy& shape,
                   std::int32_t axis = 0) {
  const auto element = static_cast<std::int64_t>(shape.element_bytes);
  if (axis == shape.rank) {
    std::memcpy(dst, src, shape.element_bytes);
    return;
  }
  for (std::int64_t i = 0; i < shape.sizes[axis]; ++i) {
    copy_elements(dst + i * shape.dst_strides[axis] * element,
                  src + i * shape.src_strides[axis] * element, shape, axis + 1);
  }
}

void strides_arrive() {
  constexpr std::size_t kElements[] = {1, 2, 3, 4, 8, 12, 16};
  Engine engine(44);
  Areas areas;
  std::string wrong;
  int done = 0;
  while (done < kShapes && wrong.empty()) {
    const std::size_t rank = below(engine, 9);
    std::vector<std::int64_t> sizes;
    std::int64_t count = 1;
    for (std::size_t axis = 0; axis < rank; ++axis) {
      const std::size_t most = axis < 3 ? 40 : 4;
      sizes.push_back(
          static_cast<std::int64_t>(below(engine, 40) == 0 ? 0 : 1 + below(engine, most)));
      count *= sizes.back();
    }
    const std::size_t element = kElements[below(engine, std::size(kElements))];
    const Side to = any_side(engine, sizes, false);
    const Side from = any_side(engine, sizes, true);
    Area& dst = areas.any(engine);
    Area& src = areas.any(engine);
    const bool same = &dst == &src;
    const auto extent =
        static_cast<std::size_t>(std::max(to.low + to.high, from.low + from.high) + 1) * element;
    if (extent > kArea / 2 || count > 60000) {
      continue;
    }
    sconce_strided_copy shape{};
    shape.struct_size = sizeof(shape);
    shape.rank = static_cast<std::int32_t>(rank);
    shape.element_bytes = element;
    std::copy(sizes.begin(), sizes.end(), shape.sizes);
    std::copy(to.strides.begin(), to.strides.end(), shape.dst_strides);
    std::copy(from.strides.begin(), from.strides.end(), shape.src_strides);
    const bool non_blocking = below(engine, 2) == 0;
    const auto [low, high] = any_offsets(engine, same, extent);
    const std::size_t dst_at = low + static_cast<std::size_t>(to.low) * element;
    const std::size_t src_at = high + static_cast<std::size_t>(from.low) * element;
    areas.order(dst, src, non_blocking);
    check(sconce_copy_strided(&shape, dst.place.get(dst_at), src.place.get(src_at), non_blocking));
    copy_elements(dst.model.data() + dst_at, src.model.data() + src_at, shape);
    if (++done % 20 == 0) {
      wrong = areas.wrong();
    }
  }
  expect(wrong.empty(), std::to_string(done) + " random copies with strides arrive " + wrong);
}

}  // namespace

int main() {
  return gpu::program(
      "copies_random",
      [] {
        copies_arrive();
        rows_arrive();
        sets_arrive();
        strides_arrive();
        return gpu::verdict("random copies");
      },
      gpu::either_backend());
}
