// Memory of graphs that go while a launch is queued behind a sleeping kernel, by every way and on
// streams of every kind: the launch finds its own bytes, and whoever gets memory next keeps his.
// The table of `tests/graph/users` does the same on simulated devices in manual mode; this one runs
// on a GPU, too.
#include <chrono>
#include <cstddef>
#include <cstring>
#include <functional>
#include <optional>
#include <sconce/sconce_all.hpp>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "fixture.hpp"

namespace {

using namespace sconce::cuda;

/// Two pages, or a part of a segment.
constexpr std::size_t kBytes = std::size_t{4} << 20;

/// Whether all bytes of memory have a value, after all work of the device.
bool holds(const DeviceBuffer& memory, unsigned char value) {
  static PinnedBuffer host(kBytes);
  static std::vector<unsigned char> expected(kBytes);
  device_synchronize();
  copy_(host, memory);
  expected.assign(kBytes, value);
  return std::memcmp(host.get(), expected.data(), kBytes) == 0;
}

/// A graph and its memory. The graph copies `input` to `result`, by way of memory that its capture
/// allocates.
class Scene {
 public:
  /// Captures with a pool of the program, or with the graph's own; `updates`: through another
  /// graph.
  Scene(bool has_own_pool, bool updates)
      : stream(getStreamFromPool()), input(kBytes), result(kBytes), graph(std::in_place, updates) {
    if (!has_own_pool) pool.emplace();
    memory_set(input, 7);
    memory_set(result, 0);
    device_synchronize();
    if (updates) {
      capture(*graph, MempoolId{});
      graph->instantiate();
      CUDAGraph from(true);
      capture(from, MempoolId{pool->get()});
      EXPECT_TRUE(graph->update(from));
    } else {
      capture(*graph, own_or_given());
    }
  }

  /// The pool of the program, or a new one of the graph's own.
  [[nodiscard]] MempoolId own_or_given() const {
    return pool ? MempoolId{pool->get()} : MempoolId{};
  }

  /// Captures the copies. Does not wait for the device, as a `GraphGuard` does.
  void capture(CUDAGraph& into, MempoolId from) {
    const CUDAStreamGuard guard(stream);
    into.capture_begin(from);
    {
      DeviceBuffer between(kBytes);
      copy_(between, input, true);
      copy_(result, between, true);
    }
    into.capture_end();
  }

  CUDAStream stream;
  DeviceBuffer input;
  DeviceBuffer result;
  std::optional<MemPool> pool;
  std::optional<CUDAGraph> graph;
};

/// What happens to the graph and its memory.
struct Way {
  const char* name;
  bool has_own_pool;
  bool updates;
  /// The call may wait for the launch.
  bool waits;
  std::function<void(Scene&)> take;
};

/// Asks for more memory than there is, so that all that can go back goes back.
void run_out() {
  const std::size_t total = mem_get_info().total_bytes;
  EXPECT_EQ(support::status_of([&] { const DeviceBuffer all(total + total / 8); }),
            SCONCE_ERROR_OUT_OF_MEMORY);
}

std::vector<Way> ways() {
  const auto destroy = [](Scene& scene) { scene.graph.reset(); };
  std::vector<Way> all;
  for (const bool own : {false, true}) {
    const auto add = [&](const char* name, bool waits, std::function<void(Scene&)> take) {
      all.push_back({name, own, false, waits, std::move(take)});
    };
    add("reset", false, [](Scene& scene) { scene.graph->reset(); });
    add("destroyed", false, destroy);
    add("captured again", false, [](Scene& scene) {
      scene.graph->reset();
      scene.capture(*scene.graph, scene.own_or_given());
    });
    add("cache emptied", true, [=](Scene& scene) {
      destroy(scene);
      CUDACachingAllocator::emptyCache();
    });
    add("out of memory on another thread", true, [=](Scene& scene) {
      destroy(scene);
      std::thread(run_out).join();
    });
  }
  const auto add = [&](const char* name, bool updates, bool waits,
                       std::function<void(Scene&)> take) {
    all.push_back({name, false, updates, waits, std::move(take)});
  };
  add("pool destroyed", false, false, [=](Scene& scene) {
    destroy(scene);
    scene.pool.reset();
  });
  add("pool destroyed before the graph", false, false, [=](Scene& scene) {
    scene.pool.reset();
    destroy(scene);
  });
  add("pool trimmed", false, true, [=](Scene& scene) {
    destroy(scene);
    (void)scene.pool->trim();
  });
  add("pool asleep", false, true, [=](Scene& scene) {
    destroy(scene);
    // Only pages can sleep; segments that are free go back.
    if (support::status_or_ok([&] { scene.pool->sleep(); }) == SCONCE_OK) scene.pool->wake();
  });
  add("updated again", true, false, [](Scene& scene) {
    CUDAGraph other(true);
    scene.capture(other, MempoolId{});
    EXPECT_TRUE(scene.graph->update(other));
  });
  add("instantiated again", true, false, [](Scene& scene) { scene.graph->instantiate(); });
  return all;
}

/// Gets memory and writes to all of it, with the streams of the capture and of nobody.
std::vector<DeviceBuffer> take_memory(const Scene& scene) {
  std::vector<DeviceBuffer> taken;
  const auto take = [&] {
    for (int i = 0; i < 3; ++i) {
      taken.emplace_back(kBytes);
      memory_set(taken.back(), 0xEE);
    }
  };
  for (const CUDAStream& stream : {scene.stream, getStreamFromPool()}) {
    const CUDAStreamGuard guard(stream);
    take();
    if (scene.pool) {
      const MemPoolGuard inside(*scene.pool);
      take();
    }
    stream.synchronize();
  }
  return taken;
}

/// One cell of the table, with a launch on `side`. Returns whether the launch was queued all the
/// time.
bool is_conclusive(const Way& way, const CUDAStream& side, std::chrono::milliseconds asleep) {
  Scene scene(way.has_own_pool, way.updates);
  device_synchronize();
  sleep(asleep, side);
  scene.graph->replay(side);
  way.take(scene);
  const bool queued = !side.query();
  const std::vector<DeviceBuffer> taken = take_memory(scene);
  EXPECT_TRUE(holds(scene.result, 7)) << "the launch found other bytes than its own";
  for (const DeviceBuffer& other : taken) {
    EXPECT_TRUE(holds(other, 0xEE)) << "the launch wrote to memory of a new owner";
  }
  return queued || way.waits;
}

class GraphMemory : public support::WorkFixture, public testing::WithParamInterface<const char*> {
 protected:
  void SetUp() override {
    WorkFixture::SetUp();
    if (IsSkipped()) return;
    CUDACachingAllocator::setAllocatorSettings(GetParam());
  }

  /// All ways, with launches on a stream.
  static void check(const CUDAStream& side) {
    // Loads the kernels.
    (void)is_conclusive(ways().front(), side, std::chrono::milliseconds(1));
    CUDACachingAllocator::emptyCache();
    for (const Way& way : ways()) {
      SCOPED_TRACE(std::string(way.name) + (way.has_own_pool ? ", the graph's own pool" : ""));
      bool conclusive = false;
      // A busy machine may take longer than the kernel sleeps.
      for (auto asleep = std::chrono::milliseconds(30); !conclusive && asleep.count() < 3000;
           asleep *= 4) {
        conclusive = is_conclusive(way, side, asleep);
        if (HasFailure()) return;
      }
      EXPECT_TRUE(conclusive) << "the call waits for the launch";
    }
  }
};

TEST_P(GraphMemory, WaitsForALaunchOnAStreamOfThePool) { check(getStreamFromPool()); }

TEST_P(GraphMemory, WaitsForALaunchOnTheDefaultStream) { check(getDefaultCUDAStream()); }

TEST_P(GraphMemory, WaitsForALaunchOnTheStreamOfAThread) {
  check(getStreamFromExternal(reinterpret_cast<void*>(2)));
}

INSTANTIATE_TEST_SUITE_P(Policies, GraphMemory, testing::Values("policy:segments", "policy:pages"),
                         [](const auto& test) {
                           return std::string(test.param).substr(sizeof("policy:") - 1);
                         });

}  // namespace
