// Copies on a busy device: what may be reused or freed after the call has returned, the order of
// work, captures, and two devices. Runs on a GPU with SCONCE_TEST_BACKEND=cuda, else on the
// simulator.
#include <chrono>
#include <cstring>
#include <functional>
#include <iostream>
#include <memory>
#include <sconce/sconce_all.hpp>
#include <string>
#include <vector>

#include "places.hpp"

namespace {

using namespace sconce::cuda;
using gpu::Bytes;
using gpu::check;
using gpu::copy;
using gpu::expect;
using gpu::keep_busy;
using gpu::Kind;
using gpu::kMiB;
using gpu::pattern;
using gpu::Place;

double milliseconds_of(const std::function<void()>& action) {
  const auto start = std::chrono::steady_clock::now();
  action();
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start)
      .count();
}

/// Pinned blocks allocated while a stream may still use `freed`, filled with 0xEE.
struct Others {
  Others(const void* freed, std::size_t bytes, const CUDAStream& stream) {
    for (int i = 0; i < 8; ++i) {
      places.emplace_back(Kind::Pinned, bytes);
      apart = apart && !places.back().overlaps(freed, bytes);
    }
    early = !stream.query();
    for (const Place& place : places) {
      std::memset(place.get(), 0xEE, bytes);
    }
  }

  [[nodiscard]] bool unharmed() const {
    for (const Place& place : places) {
      if (place.read() != Bytes(place.bytes(), 0xEE)) {
        return false;
      }
    }
    return true;
  }

  std::vector<Place> places;
  bool apart = true;
  bool early = false;  // the stream was still busy when the last of them was there
};

/// Leaves more free blocks in the cache than a test here needs.
void make_room(std::size_t bytes) {
  std::vector<Place> blocks;
  for (int i = 0; i < 20; ++i) {
    blocks.emplace_back(Kind::Pinned, bytes);
  }
}

/// Whether a freed block is allocated again, now that no work uses it.
bool comes_back(const void* freed, std::size_t bytes) {
  gpu::wait_for_all();
  std::vector<Place> taken;
  for (int i = 0; i < 64; ++i) {
    taken.emplace_back(Kind::Pinned, bytes);
    if (taken.back().overlaps(freed, bytes)) {
      return true;
    }
  }
  return false;
}

void blocks_freed_early_are_kept(const CUDAStream& stream) {
  for (const std::size_t bytes : {std::size_t{4096}, kMiB, 8 * kMiB}) {
    const std::string size = std::to_string(bytes / 1024) + " KiB";
    const Place device(Kind::Device, bytes);
    // Later requests find free memory: pinning more might wait for the device.
    make_room(bytes);
    {
      const Bytes data = pattern(bytes, 1);
      Place pinned(Kind::Pinned, bytes);
      const void* const address = pinned.get();
      pinned.write(data);
      keep_busy(stream);
      // The second half: an address inside the block counts as the block.
      copy(device.get(bytes / 2), pinned.get(bytes / 2), bytes / 2, true);
      copy(device.get(), pinned.get(), bytes / 2, true);
      pinned.free();
      const Others others(address, bytes, stream);
      expect(others.early && others.apart,
             size + " to a device, freed while queued: not handed out");
      expect(device.read() == data, size + " to a device: the bytes from before arrive");
    }
    {
      const Bytes data = pattern(bytes, 2);
      Place pinned(Kind::Pinned, bytes);
      const void* const address = pinned.get();
      device.write(data);
      keep_busy(stream);
      copy(pinned.get(), device.get(), bytes, true);
      pinned.free();
      const Others others(address, bytes, stream);
      expect(others.early && others.apart,
             size + " from a device, freed while queued: not handed out");
      expect(others.unharmed(), size + " from a device: nobody else's memory is written");
      expect(comes_back(address, bytes), size + ": once the copy is done the block comes back");
    }
  }
}

void pinned_copies_return_at_once(const CUDAStream& stream) {
  const Bytes data = pattern(kMiB, 3);
  const Place device(Kind::Device, kMiB);
  const Place pinned(Kind::Pinned, kMiB);
  device.write(data);
  pinned.write(Bytes(kMiB, 0));
  keep_busy(stream);
  copy(pinned.get(), device.get(), kMiB, true);
  const bool old = pinned.get()[0] == 0 && pinned.get()[kMiB - 1] == 0 && !stream.query();
  expect(old, "a copy into pinned memory returns before it is done");
  stream.synchronize();
  expect(pinned.read() == data, "and is done when the stream is");
  keep_busy(stream);
  const double waited = milliseconds_of([&] { copy(pinned.get(), device.get(), kMiB, false); });
  expect(stream.query() && waited > 20, "without non_blocking it waits");
}

void ordinary_memory_may_be_reused(const CUDAStream& stream) {
  for (const std::size_t bytes :
       {std::size_t{64}, std::size_t{4096}, kMiB - 1, kMiB, 3 * kMiB + 5, 40 * kMiB}) {
    const std::string size = std::to_string(bytes) + " ordinary bytes";
    const Place device(Kind::Device, bytes);
    for (const bool non_blocking : {false, true}) {
      const std::string flag = non_blocking ? ", non-blocking: " : ", blocking: ";
      const Bytes data = pattern(bytes, non_blocking ? 5 : 4);
      Bytes host = data;
      keep_busy(stream);
      copy(device.get(), host.data(), bytes, non_blocking);
      host.assign(bytes, 0xEE);
      expect(device.read() == data, size + flag + "the source may change when the call returns");
      Bytes back(bytes, 0);
      keep_busy(stream);
      copy(back.data(), device.get(), bytes, non_blocking);
      // No wait here.
      expect(back == data, size + flag + "the destination is written when the call returns");
    }
  }
}

/// Rows and elements with strides: the halves of rows, and a transposition.
void ordinary_shapes_may_be_reused(const CUDAStream& stream) {
  constexpr std::int64_t kSide = 1024;
  constexpr std::size_t kRow = kSide * sizeof(float);
  constexpr std::size_t kBytes = kSide * kRow;
  sconce_strided_copy transposed{};
  transposed.struct_size = sizeof(transposed);
  transposed.rank = 2;
  transposed.element_bytes = sizeof(float);
  for (const int axis : {0, 1}) {
    transposed.sizes[axis] = kSide;
    transposed.dst_strides[axis] = axis == 0 ? kSide : 1;
    transposed.src_strides[axis] = axis == 0 ? 1 : kSide;
  }
  const Place device(Kind::Device, kBytes);
  const Bytes data = pattern(kBytes, 8);
  Bytes halves(kBytes, 0);
  Bytes turned(kBytes, 0);
  for (std::size_t row = 0; row < kSide; ++row) {
    std::memcpy(&halves[row * kRow], &data[row * kRow], kRow / 2);
    for (std::size_t column = 0; column < kSide; ++column) {
      std::memcpy(&turned[row * kRow + column * 4], &data[column * kRow + row * 4], 4);
    }
  }
  for (const bool strided : {false, true}) {
    const std::string what = strided ? "a transposition of" : "half rows of";
    const auto copy_shape = [&](void* dst, const void* src) {
      check(strided ? sconce_copy_strided(&transposed, dst, src, true)
                    : sconce_copy_2d(dst, kRow, src, kRow, kRow / 2, kSide, true));
    };
    Bytes host = data;
    device.write(Bytes(kBytes, 0));
    keep_busy(stream);
    copy_shape(device.get(), host.data());
    host.assign(kBytes, 0xEE);
    expect(device.read() == (strided ? turned : halves),
           what + " ordinary memory, non-blocking: the source may change when the call returns");
    Bytes back(kBytes, 0);
    device.write(data);
    keep_busy(stream);
    copy_shape(back.data(), device.get());
    expect(
        back == (strided ? turned : halves),
        what + " ordinary memory, non-blocking: the destination is written when the call returns");
  }
}

void copies_run_on_the_current_stream(const CUDAStream& stream) {
  const CUDAStream second = getStreamFromPool();
  const Bytes data = pattern(kMiB, 6);
  const Place first_device(Kind::Device, kMiB);
  const Place second_device(Kind::Device, kMiB);
  const Place source(Kind::Pinned, kMiB);
  const Place result(Kind::Pinned, kMiB);
  first_device.write(Bytes(kMiB, 0));
  second_device.write(Bytes(kMiB, 0));
  source.write(data);
  result.write(Bytes(kMiB, 0));
  {
    keep_busy(stream);
    copy(first_device.get(), source.get(), kMiB, true);
    const CUDAStreamGuard guard(second);
    copy(result.get(), first_device.get(), kMiB, true);
    second.synchronize();
    expect(!stream.query() && Bytes(result.get(), result.get() + kMiB) == Bytes(kMiB, 0),
           "another stream's copy does not wait for a busy stream");
  }
  first_device.write(Bytes(kMiB, 0));
  CUDAEvent event;
  keep_busy(stream);
  copy(first_device.get(), source.get(), kMiB, true);
  event.record(stream);
  const CUDAStreamGuard guard(second);
  event.block(second);
  copy(second_device.get(), first_device.get(), kMiB, true);
  copy(result.get(), second_device.get(), kMiB, true);
  second.synchronize();
  expect(Bytes(result.get(), result.get() + kMiB) == data,
         "an event between two streams orders their copies");
}

/// A capture of copies: a graph on a GPU; on the simulator the calls that are refused and those
/// that are not.
class Capture {
 public:
  Capture(const CUDAStream& stream, const std::function<void()>& work) : stream_(stream) {
    if (gpu::simulated()) {
      check(sconce_sim_begin_capture(stream.get(), SCONCE_CAPTURE_GLOBAL));
      work();
      check(sconce_sim_end_capture(stream.get()));
    } else {
      graph_ = std::make_unique<gpu::Graph>(stream.stream(), work);
    }
  }

  void launch() const { graph_->launch(stream_.stream()); }

 private:
  CUDAStream stream_;
  std::unique_ptr<gpu::Graph> graph_;
};

void pinned_copies_can_be_captured(const CUDAStream& stream) {
  const Place in(Kind::Pinned, kMiB);
  const Place out(Kind::Pinned, kMiB);
  const Place first(Kind::Device, kMiB);
  const Place second(Kind::Device, kMiB);
  auto freed = std::make_unique<Place>(Kind::Pinned, kMiB);
  const void* const freed_address = freed->get();
  freed->write(pattern(kMiB, 7));
  const Place kept(Kind::Device, kMiB);
  Bytes ordinary(kMiB);
  std::vector<sconce_status> refused;
  const Capture capture(stream, [&] {
    copy(first.get(), in.get(), kMiB, true);
    copy(second.get(), first.get(), kMiB, true);
    check(sconce_memory_set(second.get(), 9, 4096));
    copy(kept.get(), freed->get(), kMiB, true);
    freed->free();
    refused = {sconce_copy(first.get(), ordinary.data(), kMiB, true),
               sconce_copy(first.get(), ordinary.data(), 64, true),
               sconce_copy(ordinary.data(), first.get(), kMiB, true),
               sconce_copy(first.get(), in.get(), kMiB, false),
               sconce_copy(out.get(), first.get(), kMiB, false)};
    copy(out.get(), second.get(), kMiB, true);
  });
  expect(refused == std::vector<sconce_status>(5, SCONCE_ERROR_INVALID_STATE),
         "ordinary memory and waiting are refused in a capture, which survives it");
  expect(!comes_back(freed_address, kMiB), "a block freed in a capture stays the graph's");
  if (gpu::simulated()) {
    return;
  }
  for (unsigned replay = 0; replay < 3; ++replay) {
    Bytes data = pattern(kMiB, 20 + replay);
    in.write(data);
    out.write(Bytes(kMiB, 0));
    kept.write(Bytes(kMiB, 0));
    capture.launch();
    std::fill_n(data.begin(), 4096, static_cast<unsigned char>(9));
    expect(out.read() == data, "replay " + std::to_string(replay) + " copies what is there now");
    expect(kept.read() == pattern(kMiB, 7), "and what the freed block held");
  }
}

}  // namespace

int main() {
  return gpu::program(
      "copies",
      [] {
        const CUDAStream stream = getStreamFromPool();
        const CUDAStreamGuard guard(stream);
        gpu::warm_up();
        blocks_freed_early_are_kept(stream);
        pinned_copies_return_at_once(stream);
        ordinary_memory_may_be_reused(stream);
        ordinary_shapes_may_be_reused(stream);
        copies_run_on_the_current_stream(stream);
        pinned_copies_can_be_captured(stream);
        return gpu::verdict("copies");
      },
      gpu::either_backend());
}
