// Memory under the sanitizer: accesses outside of blocks, late uses, bytes that nobody has written,
// guard zones and freed blocks. The simulator's kernels here declare nothing, as kernels of other
// code do.
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "sanitizer_support.hpp"

namespace {

using namespace sconce::cuda;
using sconce::Tensor;
using sconce::sanitizer::Scope;
using support::poke;
using support::settle;
using support::status_or_ok;

class SanitizerMemoryTest : public support::DeviceFixture {
 protected:
  void TearDown() override {
    settle();
    empty_cache();
    DeviceFixture::TearDown();
  }
};

/// Copies to or from memory of the host, and waits.
void copy_bytes(void* to, const void* from, std::size_t bytes) {
  sconce::detail::check(sconce_copy(to, from, bytes, false));
}

std::vector<std::uint8_t> bytes_of(const void* address, std::size_t bytes) {
  std::vector<std::uint8_t> host(bytes);
  copy_bytes(host.data(), address, bytes);
  return host;
}

sconce::TensorOptions on_device() {
  return sconce::TensorOptions().dtype(sconce::kByte).device(sconce::kCUDA);
}

/// How a block is left, by each kind of work.
struct Outside {
  const char* name;
  void (*work)(DeviceBuffer& block, std::size_t bytes, const CUDAStream& stream);
};

void PrintTo(const Outside& outside, std::ostream* out) { *out << outside.name; }

const Outside kOutside[] = {
    {"fill",
     [](DeviceBuffer& block, std::size_t bytes, const CUDAStream&) {
       sconce::detail::check(sconce_memory_set(block.get(), 1, bytes));
     }},
    {"copy_to_host",
     [](DeviceBuffer& block, std::size_t bytes, const CUDAStream&) {
       std::vector<std::uint8_t> host(bytes);
       copy_bytes(host.data(), block.get(), bytes);
     }},
    {"declared_read",
     [](DeviceBuffer& block, std::size_t bytes, const CUDAStream& stream) {
       sconce::sanitizer::access(stream, "work").reads(block.get(), bytes);
     }},
    {"declared_write",
     [](DeviceBuffer& block, std::size_t bytes, const CUDAStream& stream) {
       sconce::sanitizer::access(stream, "work").writes(block.get(), bytes);
     }},
    {"tensor",
     [](DeviceBuffer& block, std::size_t bytes, const CUDAStream&) {
       const auto size = static_cast<std::int64_t>(bytes);
       sconce::from_blob(block.get(), {size}, on_device()).fill_(1);
     }},
};

class SanitizerOutsideTest : public SanitizerMemoryTest,
                             public ::testing::WithParamInterface<Outside> {};

TEST_P(SanitizerOutsideTest, WorkThatLeavesItsBlockIsReported) {
  const CUDAStream stream = getCurrentCUDAStream();
  for (const std::size_t bytes : {1000U, 1024U}) {
    DeviceBuffer block(bytes, stream);
    DeviceBuffer next(bytes, stream);
    memory_set(block, 0, stream);
    settle();
    sconce::sanitizer::reset();
    GetParam().work(block, bytes, stream);
    settle();
    EXPECT_EQ(sconce::sanitizer::report_count(), 0) << sconce::sanitizer::report(0).text;
    GetParam().work(block, bytes + 1, stream);
    settle();
    ASSERT_GE(sconce::sanitizer::report_count(), 1) << bytes;
    const std::string text = sconce::sanitizer::report(0).text;
    EXPECT_TRUE(support::contains(text, "use of memory outside of a block")) << text;
    EXPECT_TRUE(support::contains(text, "the block of " + std::to_string(bytes) + " bytes"))
        << text;
  }
}

INSTANTIATE_TEST_SUITE_P(Work, SanitizerOutsideTest, ::testing::ValuesIn(kOutside),
                         [](const auto& tested) { return std::string(tested.param.name); });

/// Memory that the driver has taken back, and each kind of work that uses it all the same.
TEST_P(SanitizerOutsideTest, WorkOnMemoryThatWasGivenBackIsRefused) {
  SCONCE_NEED_SIMULATOR();
  const CUDAStream stream = getCurrentCUDAStream();
  constexpr std::size_t kBytes = 32U << 20U;
  DeviceBuffer gone(kBytes, stream);
  void* const address = gone.get();
  gone.reset();
  settle();
  // The quarantine ends as well.
  empty_cache();
  sconce::sanitizer::reset();
  const auto status = status_or_ok([&] {
    if (std::string(GetParam().name) == "fill") {
      sconce::detail::check(sconce_memory_set(address, 1, 16));
    } else if (std::string(GetParam().name) == "copy_to_host") {
      std::uint8_t host[16];
      copy_bytes(static_cast<void*>(host), address, 16);
    } else if (std::string(GetParam().name) == "tensor") {
      sconce::from_blob(address, {16}, on_device()).fill_(1);
    } else {
      sconce::sanitizer::access(stream, "work").reads(address, 16);
    }
  });
  settle();
  const bool declares = support::contains(GetParam().name, "declared");
  EXPECT_EQ(status == SCONCE_OK, declares) << GetParam().name;
  ASSERT_EQ(sconce::sanitizer::report_count(), 1) << GetParam().name;
  EXPECT_TRUE(support::contains(sconce::sanitizer::report(0).text, "use of freed memory"));
}

/// An input of a graph that the program frees, and whose memory it then gives back to the driver.
TEST_F(SanitizerMemoryTest, ALaunchDoesNotUseAnInputThatWasFreed) {
  const CUDAStream stream = getStreamFromPool();
  const CUDAStreamGuard guard(stream);
  constexpr std::size_t kBytes = 32 << 20;
  DeviceBuffer input(kBytes, stream);
  DeviceBuffer output(kBytes, stream);
  memory_set(input, 1);
  CUDAGraph graph;
  graph.capture_begin();
  copy_(output, input, /*non_blocking=*/true);
  graph.capture_end();
  sconce::sanitizer::reset();
  graph.replay();
  settle();
  EXPECT_EQ(sconce::sanitizer::report_count(), 0);
  input.reset();
  graph.replay();
  settle();
  ASSERT_EQ(sconce::sanitizer::report_count(), 1);
  const std::string text = sconce::sanitizer::report(0).text;
  EXPECT_TRUE(support::contains(text, "use of freed memory")) << text;
  EXPECT_TRUE(support::contains(text, "copy in graph launch")) << text;
  empty_cache();
  if (sconce::active_backend() == sconce::Backend::Sim) {
    EXPECT_EQ(status_or_ok([&] { graph.replay(); }), SCONCE_ERROR_INVALID_ARGUMENT);
    EXPECT_EQ(sconce::sanitizer::report_count(), 2);
  }
}

TEST_F(SanitizerMemoryTest, BytesThatNobodyHasWrittenAreNotRead) {
  SCONCE_NEED_SIMULATOR();
  DeviceBuffer block(1024);
  settle();
  const Scope scope;
  (void)bytes_of(block.get(), 16);
  ASSERT_EQ(scope.reports(), 1) << scope.text();
  EXPECT_TRUE(support::contains(scope.text(), "read of memory that nobody has written"));
  memory_set(block, 1, getCurrentCUDAStream());
  sconce::sanitizer::reset();
  (void)bytes_of(block.get(), 1024);
  EXPECT_EQ(sconce::sanitizer::report_count(), 0);
}

TEST_F(SanitizerMemoryTest, AnOperandOfAnOperatorIsWrittenFirst) {
  SCONCE_NEED_SIMULATOR();
  const Tensor empty = sconce::empty({64});
  const Tensor zeros = sconce::zeros({64});
  settle();
  sconce::sanitizer::reset();
  (void)(zeros + zeros);
  EXPECT_EQ(sconce::sanitizer::report_count(), 0);
  (void)(zeros + empty);
  EXPECT_EQ(sconce::sanitizer::report_count(), 1);
  settle();
}

/// Bytes behind the end of a block: those that the allocator's rounding adds, and the zone's own.
TEST_F(SanitizerMemoryTest, AWriteBehindABlockIsFoundWhenTheBlockIsFreed) {
  const CUDAStream stream = getStreamFromPool();
  for (const std::int64_t offset : {1000, 1023, 1024, 1535}) {
    sconce::sanitizer::reset();
    {
      DeviceBuffer block(1000, stream);
      poke(block.get(), 999, stream);
      poke(block.get(), offset, stream);
      EXPECT_EQ(sconce::sanitizer::report_count(), 0);
    }
    // The host learns of it with whatever it waits for.
    stream.synchronize();
    ASSERT_EQ(sconce::sanitizer::report_count(), 1) << offset;
    const std::string text = sconce::sanitizer::report(0).text;
    EXPECT_TRUE(support::contains(text, "memory overwritten outside of live blocks")) << text;
    EXPECT_TRUE(support::contains(text, "1 bytes from")) << text;
    EXPECT_TRUE(support::contains(text, "the block of 1000 bytes")) << text;
    EXPECT_TRUE(support::contains(text, "poke")) << text;
  }
}

TEST_F(SanitizerMemoryTest, AWriteInsideABlockIsNone) {
  const CUDAStream stream = getStreamFromPool();
  const Scope scope;
  {
    DeviceBuffer block(1000, stream);
    poke(block.get(), 0, stream);
    poke(block.get(), 999, stream);
  }
  stream.synchronize();
  sconce::sanitizer::check();
  EXPECT_EQ(scope.reports(), 0) << scope.text();
}

/// Small blocks are compared whole, of large ones parts all over them.
TEST_F(SanitizerMemoryTest, AWriteToAFreedBlockIsFoundWhenItsQuarantineEnds) {
  const CUDAStream stream = getStreamFromPool();
  struct {
    std::size_t bytes;
    std::int64_t offset;
    int reports;
  } const cases[] = {{1000, -1, 0},    {1000, 0, 1},       {1000, 999, 1},
                     {1 << 20, 63, 1}, {1 << 20, 1000, 0}, {1 << 20, (1 << 20) - 16, 1}};
  for (const auto& it : cases) {
    for (const bool on_demand : {false, true}) {
      settle();
      empty_cache();
      sconce::sanitizer::reset();
      DeviceBuffer block(it.bytes, stream);
      void* const address = block.get();
      block.reset();
      if (it.offset >= 0) {
        poke(address, it.offset, stream);
      }
      stream.synchronize();
      EXPECT_EQ(sconce::sanitizer::report_count(), 0);
      if (on_demand) {
        sconce::sanitizer::check();
        EXPECT_EQ(sconce::sanitizer::report_count(), it.reports) << it.bytes << " " << it.offset;
      }
      empty_cache();
      settle();
      ASSERT_EQ(sconce::sanitizer::report_count(), it.reports) << it.bytes << " " << it.offset;
      if (it.reports != 0) {
        const std::string text = sconce::sanitizer::report(0).text;
        EXPECT_TRUE(support::contains(text, "memory overwritten outside of live blocks")) << text;
        EXPECT_TRUE(support::contains(text, "1 bytes from")) << text;
        EXPECT_TRUE(support::contains(text, "the free writes")) << text;
        EXPECT_TRUE(support::contains(text, "poke")) << text;
      }
    }
  }
}

TEST_F(SanitizerMemoryTest, ZonesOfLiveBlocksAreComparedOnDemand) {
  const CUDAStream stream = getStreamFromPool();
  DeviceBuffer block(1000, stream);
  sconce::sanitizer::reset();
  sconce::sanitizer::check();
  EXPECT_EQ(sconce::sanitizer::report_count(), 0);
  poke(block.get(), 1100, stream);
  sconce::sanitizer::check();
  ASSERT_EQ(sconce::sanitizer::report_count(), 1);
  // Once.
  sconce::sanitizer::check();
  block.reset();
  stream.synchronize();
  EXPECT_EQ(sconce::sanitizer::report_count(), 1);
}

TEST_F(SanitizerMemoryTest, ZonesOfFreedBlocksAreComparedOnDemand) {
  // Of the last device, on which nothing else is live.
  const CUDAGuard guard(static_cast<DeviceIndex>(device_count() - 1));
  const CUDAStream stream = getStreamFromPool();
  settle();
  sconce::sanitizer::reset();
  {
    DeviceBuffer block(1000, stream);
    poke(block.get(), 1100, stream);
  }
  EXPECT_EQ(sconce::sanitizer::report_count(), 0);
  sconce::sanitizer::check();
  EXPECT_EQ(sconce::sanitizer::report_count(), 1);
}

TEST_F(SanitizerMemoryTest, ZonesGoWithMemoryThatSleeps) {
  MemPool pool(MemPolicy::Pages);
  DeviceBuffer block;
  {
    const MemPoolGuard guard(pool);
    block = DeviceBuffer(1000);
  }
  const Scope scope;
  pool.sleep(SleepPlace::discard());
  sconce::sanitizer::check();
  pool.wake();
  sconce::sanitizer::check();
  block.reset();
  settle();
  EXPECT_EQ(scope.reports(), 0) << scope.text();
}

TEST_F(SanitizerMemoryTest, FreedBlocksAreFilledWithBytesThatAreNoNumber) {
  const CUDAStream stream = getStreamFromPool();
  void* address = nullptr;
  {
    DeviceBuffer block(1024, stream);
    address = block.get();
    memory_set(block, 1, stream);
  }
  settle();
  const auto bytes = bytes_of(address, 1024);
  EXPECT_EQ(bytes, std::vector<std::uint8_t>(1024, 0xFF));
}

TEST_F(SanitizerMemoryTest, AFreedBlockIsNotHandedOutAtOnce) {
  const CUDAStream stream = getStreamFromPool();
  std::vector<void*> addresses;
  for (int i = 0; i < 4; ++i) {
    DeviceBuffer block(1 << 20, stream);
    for (void* const earlier : addresses) {
      EXPECT_NE(block.get(), earlier);
    }
    addresses.push_back(block.get());
  }
  // What is wanted is freed: nothing stays for ever.
  const auto before = memory_reserved();
  empty_cache();
  EXPECT_LT(memory_reserved(), before);
}

TEST_F(SanitizerMemoryTest, MemoryThatTheDriverDoesNotTakeBackIsUsedAgain) {
  SCONCE_NEED_SIMULATOR();
  const CUDAStream stream = getCurrentCUDAStream();
  constexpr std::size_t kBytes = 32U << 20U;
  void* first = nullptr;
  {
    DeviceBuffer block(kBytes, stream);
    first = block.get();
  }
  settle();
  sconce::simulator::inject_fault("memory_free", 1, 1);
  EXPECT_THROW(empty_cache(), sconce::Error);
  sconce::sanitizer::reset();
  // The memory is a freed block, not one that was given back.
  sconce::sanitizer::access(stream, "late work").writes(first, 16);
  ASSERT_EQ(sconce::sanitizer::report_count(), 1);
  const std::string late = sconce::sanitizer::report(0).text;
  EXPECT_TRUE(support::contains(late, "use of freed memory")) << late;
  EXPECT_TRUE(support::contains(late, "the free writes")) << late;
  settle();
  sconce::sanitizer::reset();
  const Scope scope;
  DeviceBuffer block(kBytes, stream);
  ASSERT_EQ(block.get(), first);
  memory_set(block, 1, stream);
  settle();
  EXPECT_EQ(scope.reports(), 0) << scope.text();
}

TEST_F(SanitizerMemoryTest, CapturesHaveNoWorkOfTheSanitizer) {
  const CUDAStream stream = getStreamFromPool();
  const CUDAStreamGuard guard(stream);
  CUDAGraph graph;
  graph.capture_begin();
  {
    DeviceBuffer block(1000, stream);
    memory_set(block, 1, stream);
  }
  graph.capture_end();
  const Scope scope;
  graph.replay();
  settle();
  EXPECT_EQ(graph.node_count(), 1);
  EXPECT_EQ(scope.reports(), 0) << scope.text();
}

/// Pages are saved with what lies between their blocks, written or not, and come back without
/// zones.
TEST_F(SanitizerMemoryTest, PoolsSleepAndWake) {
  const CUDAStream stream = getCurrentCUDAStream();
  for (const SleepPlace& place :
       {SleepPlace::discard(), SleepPlace::host_pinned(), SleepPlace::host_pageable()}) {
    for (const WakeMode mode : {WakeMode::Restore, WakeMode::Empty}) {
      const Scope scope;
      MemPool pool(MemPolicy::Pages);
      std::vector<DeviceBuffer> blocks;
      {
        const MemPoolGuard guard(pool);
        for (const std::size_t bytes : {1000U, 512U, 70000U}) {
          blocks.emplace_back(bytes, stream);
        }
      }
      memory_set(blocks.front(), 1, stream);
      settle();
      pool.sleep(place);
      sconce::sanitizer::check();
      pool.wake(mode);
      sconce::sanitizer::check();
      memory_set(blocks.back(), 1, stream);
      blocks.clear();
      settle();
      DeviceBuffer next(1000, stream);
      settle();
      EXPECT_EQ(scope.reports(), 0) << scope.text();
    }
  }
}

/// Runs `work` on threads while this one checks zones again and again; returns how often it could.
template <class Work>
int check_beside(int threads, Work work) {
  std::atomic<int> running{threads};
  std::vector<std::thread> all;
  for (int number = 0; number < threads; ++number) {
    all.emplace_back([&running, &work, number] {
      work(number);
      --running;
    });
  }
  int checks = 0;
  while (running > 0) {
    checks += status_or_ok([] { sconce::sanitizer::check(); }) == SCONCE_OK ? 1 : 0;
  }
  for (std::thread& thread : all) {
    thread.join();
  }
  return checks;
}

TEST_F(SanitizerMemoryTest, ACheckLeavesCapturesOfOtherThreadsAlone) {
  const CUDAStream stream = getStreamFromPool();
  DeviceBuffer block(1000, stream);
  settle();
  std::atomic<int> invalid{0};
  check_beside(1, [&](int) {
    const CUDAStreamGuard guard(stream);
    for (int i = 0; i < 200; ++i) {
      const auto status = status_or_ok([&] {
        CUDAGraph graph;
        graph.capture_begin({}, CaptureMode::ThreadLocal);
        memory_set(block, 1, stream);
        std::this_thread::yield();
        memory_set(block, 2, stream);
        graph.capture_end();
      });
      invalid += status == SCONCE_OK ? 0 : 1;
    }
  });
  EXPECT_EQ(invalid, 0);
}

TEST_F(SanitizerMemoryTest, ACheckIsRightWhileOtherThreadsFree) {
  const Scope scope;
  std::atomic<int> failed{0};
  const int checks = check_beside(4, [&](int number) {
    const auto status = status_or_ok([&] {
      const CUDAStream stream = getStreamFromPool();
      std::vector<DeviceBuffer> live;
      std::minstd_rand random(static_cast<unsigned>(number) + 1);
      for (int i = 0; i < 300; ++i) {
        live.emplace_back(1 + random() % 6000, stream);
        memory_set(live.back(), 1, stream);
        if (live.size() > 8) {
          live.erase(live.begin() + static_cast<std::ptrdiff_t>(random() % 8));
        }
        if (i % 50 == 49) {
          live.clear();
          empty_cache();
        }
      }
    });
    failed += status == SCONCE_OK ? 0 : 1;
  });
  EXPECT_EQ(failed, 0);
  EXPECT_GT(checks, 0);
  EXPECT_EQ(scope.reports(), 0) << scope.text();
}

TEST_F(SanitizerMemoryTest, BlocksOfAPauseAreNoErrors) {
  const CUDAStream stream = getCurrentCUDAStream();
  DeviceBuffer before(1000, stream);
  sconce::sanitizer::disable();
  DeviceBuffer meanwhile(1000, stream);
  sconce::sanitizer::enable();
  const Scope scope;
  DeviceBuffer after(1000, stream);
  for (DeviceBuffer* block : {&before, &meanwhile, &after}) {
    memory_set(*block, 1, stream);
    copy_(after, *block, true, stream);
  }
  settle();
  EXPECT_EQ(scope.reports(), 0) << scope.text();
}

}  // namespace
