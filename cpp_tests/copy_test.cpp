// Copies: every pair of kinds of memory, when calls return, the streams of copies, and the allowed
// sides. cpp_tests/refused/ has the sides that do not compile.
#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <numeric>
#include <optional>
#include <sconce/cuda/event.hpp>
#include <string>
#include <tuple>
#include <vector>

#include "copy_support.hpp"

namespace {

using namespace sconce::cuda;
using namespace std::chrono_literals;
using support::Bytes;
using support::contains;
using support::error_of;
using support::further;
using support::Kind;
using support::kKiB;
using support::kMiB;
using support::pattern;
using support::Place;
using support::status_of;

class CopyPairingTest : public support::PairingFixture {};
class CopyTest : public support::HostMemoryFixture {};

INSTANTIATE_TEST_SUITE_P(Every, CopyPairingTest, support::every_pairing(),
                         [](const auto& pairing) { return support::name_of(pairing); });

TEST_P(CopyPairingTest, ExactlyTheBytesArrive) {
  // Copies of ordinary memory take other routes from 1 MiB on.
  for (const std::size_t bytes : {std::size_t{1}, 10 * kKiB + 3, 3 * kMiB + 5}) {
    SCOPED_TRACE(bytes);
    Place from(src(), bytes + 16);
    Place to(dst(), bytes + 16);
    const Bytes sent = pattern(bytes + 16, 1);
    Bytes expected = pattern(bytes + 16, 2);
    from.put(sent);
    to.put(expected);
    copy_(further(to.get(), 5), further(from.get(), 7), bytes, non_blocking());
    std::copy_n(sent.begin() + 7, bytes, expected.begin() + 5);
    EXPECT_TRUE(to.take() == expected);
    EXPECT_TRUE(from.take() == sent) << "the source is as it was";
  }
  EXPECT_EQ(current_device(), 0);
}

TEST_P(CopyPairingTest, CallsReturnAsTorchsDo) {
  for (const std::size_t bytes : {10 * kKiB, 3 * kMiB}) {
    SCOPED_TRACE(bytes);
    Place from(src(), bytes);
    Place to(dst(), bytes);
    const Bytes sent = pattern(bytes, 1);
    from.put(sent);
    to.put(Bytes(bytes));
    // The current stream of the device that the copy runs on.
    const auto device = device_of(is_on_a_device(src()) ? src() : dst());
    const CUDAStream stream = getStreamFromPool(false, device);
    setCurrentCUDAStream(stream);
    sleep(100ms, stream);
    copy_(to.get(), from.get(), bytes, non_blocking());
    const bool among_devices = is_on_a_device(src()) && is_on_a_device(dst());
    const bool host_is_pinned = src() == Kind::Pinned || dst() == Kind::Pinned;
    if (!is_on_a_device(src()) && !is_on_a_device(dst())) {
      EXPECT_FALSE(stream.query()) << "no device is waited for";
      EXPECT_EQ(std::memcmp(to.get(), sent.data(), bytes), 0) << "it is done";
    } else if (among_devices || (non_blocking() && host_is_pinned)) {
      EXPECT_FALSE(stream.query()) << "it is only queued";
    } else if (!non_blocking() || dst() == Kind::Ordinary) {
      EXPECT_TRUE(stream.query()) << "it is done";
    }
    if (src() == Kind::Ordinary) {
      // The copy is done, or reads from elsewhere: the source may change.
      from.put(Bytes(bytes, 0xee));
    }
    EXPECT_TRUE(to.take() == sent);
  }
}

TEST_P(CopyPairingTest, NothingIsCopiedFromNowhereToNowhere) {
  Place from(src(), 8);
  Place to(dst(), 8);
  from.put(Bytes(8, 1));
  to.put(Bytes(8, 2));
  copy_(to.get(), from.get(), 0, non_blocking());
  EXPECT_EQ(to.take(), Bytes(8, 2));
  void* const nowhere = nullptr;
  EXPECT_NO_THROW(copy_(nowhere, nowhere, 0, non_blocking()));
  EXPECT_EQ(status_of([&] { copy_(nowhere, from.get(), 8, non_blocking()); }),
            SCONCE_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(status_of([&] { copy_(to.get(), nowhere, 8, non_blocking()); }),
            SCONCE_ERROR_INVALID_ARGUMENT);
}

TEST_F(CopyTest, APinnedBufferMayGoWhileItIsCopied) {
  SCONCE_NEED_SIMULATOR();
  constexpr std::size_t kBytes = 64 * kKiB;
  const Bytes sent = pattern(kBytes, 1);
  Place to(Kind::Device, kBytes);
  const sconce::simulator::ManualScope manual;
  std::optional<PinnedBuffer> from(kBytes);
  void* const used = from->get();
  std::copy(sent.begin(), sent.end(), from->span<std::uint8_t>().begin());
  copy_(to.get(), from->get(), kBytes, true);
  from.reset();
  PinnedBuffer other(kBytes);
  EXPECT_NE(other.get(), used) << "the copy has not run";
  std::fill(other.span<std::uint8_t>().begin(), other.span<std::uint8_t>().end(), 0);
  sconce::simulator::run_until_idle();
  EXPECT_EQ(PinnedBuffer(kBytes).get(), used);
  sconce::simulator::set_manual(false);
  EXPECT_TRUE(to.take() == sent);
}

TEST_F(CopyTest, CopiesRunOnTheCurrentStream) {
  const CUDAStream side = getStreamFromPool();
  PinnedBuffer from = PinnedBuffer::of<int>(1000);
  PinnedBuffer to = PinnedBuffer::of<int>(1000);
  DeviceBuffer device = DeviceBuffer::of<int>(1000, side);
  std::iota(from.span<int>().begin(), from.span<int>().end(), 7);
  std::fill(to.span<int>().begin(), to.span<int>().end(), 0);
  {
    const CUDAStreamGuard guard(side);
    sleep(100ms);
    copy_(device, from, true);
    copy_(to, device, true);
  }
  EXPECT_FALSE(side.query());
  EXPECT_TRUE(getCurrentCUDAStream().query()) << "no other stream was used";
  side.synchronize();
  EXPECT_TRUE(std::equal(to.span<int>().begin(), to.span<int>().end(), from.data<int>()));
}

TEST_F(CopyTest, TwoDevicesStreamsAreOrdered) {
  SCONCE_NEED_DEVICES(2);
  constexpr std::size_t kBytes = 64 * kKiB;
  Place from(Kind::Device, kBytes);
  Place to(Kind::Second, kBytes);
  PinnedBuffer read(kBytes);
  const Bytes sent = pattern(kBytes, 1);
  from.put(sent);
  const CUDAStream src_stream = getStreamFromPool(false, 0);
  const CUDAStream dst_stream = getStreamFromPool(false, 1);
  setCurrentCUDAStream(src_stream);
  setCurrentCUDAStream(dst_stream);
  {
    // Earlier work of the destination must come before the copy.
    const CUDAGuard guard(1);
    sleep(100ms);
    memory_set(to.get(), 0xee, kBytes);
  }
  copy_(to.get(), from.get(), kBytes);
  EXPECT_FALSE(src_stream.query()) << "the source's stream waits for the destination's";
  // Later work of the destination sees the copied bytes without a wait in between.
  copy_(read.get(), to.get(), kBytes);
  EXPECT_TRUE(std::equal(sent.begin(), sent.end(), read.data<std::uint8_t>()));
  EXPECT_TRUE(dst_stream.query());
}

TEST_F(CopyTest, EverythingThatKnowsItsSizeIsASide) {
  DeviceBuffer device = DeviceBuffer::of<float>(6);
  const std::vector<float> vector{1, 2, 3, 4, 5, 6};
  std::vector<float> read(6);
  copy_(device, vector);
  copy_(read, device.span<float>());
  EXPECT_EQ(read, vector);

  const std::array<float, 6> array{6, 5, 4, 3, 2, 1};
  std::array<float, 6> array_read{};
  copy_(device.span<float>(), array);
  copy_(Span(array_read), device);
  EXPECT_EQ(array_read, array);

  const float plain[2][3] = {{1, 2, 3}, {4, 5, 6}};
  float plain_read[2][3] = {};
  copy_(device, plain);
  copy_(plain_read, device.span<float>());
  EXPECT_EQ(plain_read[1][2], 6.0F);

  PinnedBuffer pinned = PinnedBuffer::of<float>(2);
  const DeviceBuffer& read_only = device;
  copy_(pinned, read_only.span<float>().subspan(1, 2));
  EXPECT_EQ(pinned.data<float>()[1], 3.0F);
  copy_(device.span<float>().last(2), pinned, true);
  copy_(read, device);
  EXPECT_EQ(read, (std::vector<float>{1, 2, 3, 4, 2, 3}));

  const std::string text = "Sconce";
  DeviceBuffer characters(text.size());
  std::string text_read(text.size(), ' ');
  copy_(characters, text);
  copy_(text_read, characters);
  EXPECT_EQ(text_read, text);

  std::vector<std::byte> raw(24);
  copy_(raw, device.span<float>());
  EXPECT_EQ(raw[3], std::byte{0x3f}) << "the first element is 1";
  copy_(device.span<float>(), std::vector<float>(6, 9.0F));
  EXPECT_NO_THROW(copy_(DeviceSpan<float>(), Span<const float>()));
}

TEST_F(CopyTest, SidesOfOtherSizesAreRefusedByBothSizes) {
  DeviceBuffer device = DeviceBuffer::of<float>(100);
  std::vector<float> host(50, 1.0F);
  memory_set(device, 0);
  const sconce::Error typed = error_of([&] { copy_(device.span<float>(), host); });
  EXPECT_EQ(typed.status(), SCONCE_ERROR_INVALID_ARGUMENT);
  EXPECT_TRUE(contains(typed.what(),
                       "dst has 100 elements of 4 bytes (400 bytes), src has 50 elements of 4 "
                       "bytes (200 bytes)"));
  const sconce::Error bytes = error_of([&] { copy_(host, device); });
  EXPECT_TRUE(contains(bytes.what(), "dst has 50 elements of 4 bytes (200 bytes), src has 400"));
  EXPECT_THROW(copy_(device, std::vector<float>()), sconce::Error);
  std::vector<float> read(100, 1.0F);
  copy_(read, device);
  EXPECT_EQ(read, std::vector<float>(100)) << "nothing was copied";
  copy_(device.span<float>().first(50), host);
  copy_(read, device);
  EXPECT_EQ(std::accumulate(read.begin(), read.end(), 0.0F), 50.0F);
}

TEST_F(CopyTest, ARangeThatLeavesItsAllocationIsRefused) {
  DeviceBuffer device(kKiB);
  std::size_t segment = 0;
  (void)CUDACachingAllocator::getBaseAllocation(device.get(), &segment);
  const Bytes host(segment + 1);
  EXPECT_EQ(status_of([&] { copy_(device.get(), host.data(), host.size()); }),
            SCONCE_ERROR_INVALID_ARGUMENT);
}

TEST_F(CopyTest, BytesAreSetWhereverTheyAre) {
  for (const Kind kind : {Kind::Ordinary, Kind::Pinned, Kind::Device}) {
    SCOPED_TRACE(support::name_of(kind));
    Place place(kind, 1000);
    Bytes expected = pattern(1000, 3);
    place.put(expected);
    memory_set(further(place.get(), 10), 0xab, 500);
    std::fill_n(expected.begin() + 10, 500, std::uint8_t{0xab});
    EXPECT_TRUE(place.take() == expected);
    void* const nowhere = nullptr;
    EXPECT_NO_THROW(memory_set(nowhere, 1, 0));
    EXPECT_EQ(status_of([&] { memory_set(nowhere, 1, 1); }), SCONCE_ERROR_INVALID_ARGUMENT);
  }
  std::vector<int> elements(3, 7);
  memory_set(elements, 0);
  EXPECT_EQ(elements, std::vector<int>(3));
  DeviceBuffer device = DeviceBuffer::of<int>(3);
  memory_set(device.span<int>(), 0xff);
  copy_(elements, device);
  EXPECT_EQ(elements, std::vector<int>(3, -1));
}

TEST_F(CopyTest, DeviceBytesAreSetOnTheCurrentStream) {
  const CUDAStream side = getStreamFromPool();
  DeviceBuffer device(kKiB, side);
  const CUDAStreamGuard guard(side);
  sleep(100ms);
  memory_set(device, 1);
  EXPECT_FALSE(side.query());
  side.synchronize();
}

TEST_F(CopyTest, BytesOfAnotherDeviceAreSetOnlyByItsPeers) {
  SCONCE_NEED_DEVICES(2);
  Place there(Kind::Second, 100);
  there.put(Bytes(100, 1));
  if (sconce::active_backend() == sconce::Backend::Sim) {
    // Disables the access that copies of earlier tests have enabled. Peers of a GPU stay peers:
    // there the test needs a process of its own, which ctest provides.
    sconce::simulator::set_peer_access(0, 1, false);
    sconce::simulator::set_peer_access(0, 1, true);
  }
  const sconce::Error error = error_of([&] { memory_set(there.get(), 2, 100); });
  EXPECT_EQ(error.status(), SCONCE_ERROR_CROSS_DEVICE);
  EXPECT_TRUE(contains(error.what(), "0"));
  EXPECT_TRUE(contains(error.what(), "1"));
  EXPECT_EQ(there.take(), Bytes(100, 1));
  if (canDeviceAccessPeer(0, 1)) {
    enablePeerAccess(0, 1);
    memory_set(there.get(), 2, 100);
    EXPECT_EQ(there.take(), Bytes(100, 2));
  }
}

TEST_F(CopyTest, OrdinaryMemoryCannotBeCaptured) {
  SCONCE_NEED_SIMULATOR();
  DeviceBuffer device(kKiB);
  Bytes ordinary(kKiB);
  PinnedBuffer pinned(kKiB);
  const CUDAStream stream = getStreamFromPool();
  const CUDAStreamGuard guard(stream);
  sconce::simulator::begin_capture(stream);
  EXPECT_EQ(status_of([&] { copy_(device, ordinary, true); }), SCONCE_ERROR_INVALID_STATE);
  EXPECT_EQ(status_of([&] { copy_(pinned, device); }), SCONCE_ERROR_INVALID_STATE);
  EXPECT_NO_THROW(copy_(device, pinned, true));
  EXPECT_NO_THROW(copy_(pinned, device, true));
  EXPECT_NO_THROW(sconce::simulator::end_capture(stream)) << "refusals spoil nothing";
}

TEST_F(CopyTest, AFailureOfTheDriverIsTold) {
  SCONCE_NEED_SIMULATOR();
  DeviceBuffer device(kKiB);
  PinnedBuffer pinned(kKiB);
  sconce::simulator::inject_async_fault("copy_async", 1, 700);
  copy_(device, pinned, true);
  const sconce::Error error = error_of([&] { copy_(pinned, device); });
  EXPECT_EQ(error.status(), SCONCE_ERROR_DRIVER);
  EXPECT_EQ(error.backend_code(), 700);
  sconce::simulator::clear_device_error();
}

}  // namespace
