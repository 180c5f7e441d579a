// A program for each fault of tests/planted_faults, correct by itself: `planted_faults NN` runs the
// program of a fault under the sanitizer and prints the kinds of its reports, one a line.
// scripts/check-planted-faults runs it over a library without the fault, where nothing may be
// printed, and over one with it.
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <map>
#include <optional>
#include <sconce/sconce_all.hpp>
#include <string>
#include <vector>

namespace {

using namespace sconce::cuda;
using sconce::Tensor;
namespace dist = sconce::distributed;
namespace sim = sconce::simulator;

constexpr std::size_t kKiB = 1024;
constexpr std::size_t kMiB = 1024 * kKiB;

void settle() {
  sim::run_until_idle();
  for (DeviceIndex device = 0; device < device_count(); ++device) {
    device_synchronize(device);
  }
}

/// A stream that uses a block records that, and the block is freed while the stream is busy.
void skipped_record() {
  const CUDAStream own = getStreamFromPool();
  const CUDAStream user = getStreamFromPool();
  const sim::ManualScope manual;
  {
    DeviceBuffer block(kMiB, own);
    user.wait_stream(own);
    memory_set(block, 1, user);
    block.record_stream(user);
  }
  DeviceBuffer next(kMiB, own);
  memory_set(next, 2, own);
  settle();
}

/// Free pages of a stream that is busy, and a request of another one.
void pages_of_a_busy_stream() {
  const CUDAStream busy = getStreamFromPool();
  const CUDAStream other = getStreamFromPool();
  const sim::ManualScope manual;
  {
    DeviceBuffer block(32 * kMiB, busy);
    memory_set(block, 1, busy);
  }
  DeviceBuffer next(32 * kMiB, other);
  memory_set(next, 2, other);
  settle();
}

/// Products on two streams that do not wait for each other.
void shared_workspace() {
  constexpr std::int64_t kSide = 96;
  const auto matrix = [] { return sconce::ones({kSide, kSide}, sconce::kComplexFloat); };
  const Tensor a = matrix();
  const Tensor b = matrix();
  settle();
  const Tensor one = with_stream(getStreamFromPool(), [&] { return a.matmul(a); });
  const Tensor two = with_stream(getStreamFromPool(), [&] { return b.matmul(b); });
  settle();
}

/// Ordinary memory, more of it than passes through all slots at once, to a device.
void staged_copy() {
  const std::vector<std::uint8_t> host(40 * kMiB, 7);
  const CUDAStream stream = getStreamFromPool();
  DeviceBuffer block(host.size(), stream);
  copy_(block.get(), host.data(), host.size(), /*non_blocking=*/true, stream);
  settle();
}

/// A graph is destroyed while a launch of it is queued, and its pool serves another request.
void pool_of_a_running_graph() {
  const CUDAStream stream = getStreamFromPool();
  const CUDAStream launches = getStreamFromPool();
  const MemPool pool;
  std::optional<CUDAGraph> graph(std::in_place);
  {
    const CUDAStreamGuard guard(stream);
    graph->capture_begin(pool);
    DeviceBuffer block(kMiB, stream);
    memory_set(block, 1, stream);
  }
  {
    const CUDAStreamGuard guard(stream);
    graph->capture_end();
  }
  settle();
  const sim::ManualScope manual;
  with_stream(launches, [&] { graph->replay(); });
  graph.reset();
  {
    const MemPoolGuard guard(pool);
    DeviceBuffer next(kMiB, stream);
    memory_set(next, 2, stream);
  }
  settle();
}

/// A copy between devices, between two fills of its destination.
void peer_copy() {
  const CUDAStream from = getStreamFromPool(false, 0);
  const CUDAStream to = getStreamFromPool(false, 1);
  const CUDAStreamGuard source(from);
  const CUDAStreamGuard destination(to);
  DeviceBuffer src(kMiB, from);
  DeviceBuffer dst(kMiB, to);
  memory_set(src, 1, from);
  memory_set(dst, 2, to);
  copy_(dst.get(), src.get(), kMiB, /*non_blocking=*/true);
  memory_set(dst, 3, to);
  settle();
}

/// Pinned memory that is freed after a copy was queued, and asked for again.
void pinned_block() {
  const CUDAStream first = getStreamFromPool();
  const CUDAStream second = getStreamFromPool();
  DeviceBuffer one(64 * kKiB, first);
  DeviceBuffer two(64 * kKiB, second);
  memory_set(one, 1, first);
  memory_set(two, 2, second);
  settle();
  const sim::ManualScope manual;
  {
    PinnedBuffer host(64 * kKiB);
    copy_(host, one, /*non_blocking=*/true, first);
  }
  PinnedBuffer host(64 * kKiB);
  copy_(host, two, /*non_blocking=*/true, second);
  settle();
}

/// A pool sleeps and wakes while streams write its blocks.
void sleeping_pool() {
  const CUDAStream stream = getStreamFromPool();
  MemPool pool(MemPolicy::Pages);
  DeviceBuffer block = [&] {
    const MemPoolGuard guard(pool);
    return DeviceBuffer(4 * kMiB, stream);
  }();
  memory_set(block, 1, stream);
  pool.sleep();
  pool.wake();
  memory_set(block, 2, stream);
  settle();
}

/// Blocks side by side, which kernels of the program write: the library's own calls refuse a block
/// that is smaller than what was asked for.
void blocks_side_by_side() {
  const CUDAStream stream = getStreamFromPool();
  std::vector<DeviceBuffer> blocks;
  for (int i = 0; i < 4; ++i) {
    blocks.emplace_back(4 * kKiB, stream);
    sconce::sanitizer::access(stream, "a kernel").writes(blocks.back().get());
  }
  settle();
}

/// Neighbours that become one, and a request that what they are does not serve.
void merged_blocks() {
  const CUDAStream stream = getStreamFromPool();
  std::optional<DeviceBuffer> first(std::in_place, 4 * kKiB, stream);
  std::optional<DeviceBuffer> second(std::in_place, 4 * kKiB, stream);
  DeviceBuffer third(4 * kKiB, stream);
  memory_set(third, 1, stream);
  second.reset();
  first.reset();
  DeviceBuffer next(8 * kKiB + 512, stream);
  memory_set(next, 2, stream);
  settle();
}

/// A sum that runs on the communicator's own stream, of memory that was written just before.
void collective() {
  const auto ranks = dist::Communicator::init_all({0, 1});
  std::vector<DeviceBuffer> blocks;
  std::vector<CUDAStream> streams;
  for (DeviceIndex device = 0; device < 2; ++device) {
    streams.push_back(getStreamFromPool(false, device));
    blocks.emplace_back(kMiB, streams.back());
    memory_set(blocks.back(), 1, streams.back());
  }
  std::vector<dist::Work> works;
  dist::group([&] {
    for (std::size_t rank = 0; rank < 2; ++rank) {
      void* const block = blocks[rank].get();
      works.push_back(ranks[rank].all_reduce(block, block, kMiB / sizeof(float), sconce::kFloat,
                                             dist::ReduceOp::SUM, dist::async_op, streams[rank]));
    }
  });
  blocks.clear();
  for (const dist::Work& work : works) {
    work.synchronize();
  }
  settle();
}

/// Random numbers in a graph, whose kernels count in memory that the library has zeroed.
void random_graph() {
  const CUDAStream stream = getStreamFromPool();
  const CUDAStreamGuard guard(stream);
  DeviceBuffer values = DeviceBuffer::of<float>(1024, stream);
  settle();
  const sim::ManualScope manual;
  CUDAGraph graph;
  graph.capture_begin();
  normal_(values.span<float>());
  graph.capture_end();
  graph.replay();
  graph.replay();
  settle();
}

struct Program {
  void (*run)();
  /// Settings beside those of all programs.
  std::map<std::string, std::string> settings;
};

const std::map<std::string, Program> kPrograms = {
    {"01", {skipped_record, {}}},
    {"02", {pages_of_a_busy_stream, {{"SCONCE_ALLOC_CONF", "policy:pages"}}}},
    {"03", {shared_workspace, {}}},
    {"04", {staged_copy, {}}},
    {"05", {pool_of_a_running_graph, {}}},
    {"06", {staged_copy, {}}},
    {"07", {pinned_block, {}}},
    {"08", {sleeping_pool, {}}},
    {"09", {peer_copy, {}}},
    {"10", {blocks_side_by_side, {{"SCONCE_SANITIZER_GUARD_BYTES", "0"}}}},
    {"11", {merged_blocks, {{"SCONCE_SANITIZER_GUARD_BYTES", "0"}}}},
    {"12", {collective, {}}},
    {"13", {collective, {}}},
    {"14", {random_graph, {}}},
};

void print_kinds() {
  const std::string key = "\"kind\":\"";
  for (std::int64_t index = 0; index < sconce::sanitizer::report_count(); ++index) {
    const std::string json = sconce::sanitizer::report(index).json;
    const auto begin = json.find(key);
    const auto end = json.find('"', begin + key.size());
    std::puts(json.substr(begin + key.size(), end - begin - key.size()).c_str());
  }
}

}  // namespace

int main(int argc, char** argv) {
  const auto found = argc == 2 ? kPrograms.find(argv[1]) : kPrograms.end();
  if (found == kPrograms.end()) {
    std::fputs("usage: planted_faults NN\n", stderr);
    return 2;
  }
  std::map<std::string, std::string> settings = {{"SCONCE_BACKEND", "sim"},
                                                 {"SCONCE_SIM_DEVICES", "2"},
                                                 {"SCONCE_SANITIZER", "report"},
                                                 // Freed blocks are handed out again at once.
                                                 {"SCONCE_SANITIZER_QUARANTINE_MB", "0"}};
  for (const auto& [name, value] : found->second.settings) {
    settings[name] = value;
  }
  for (const auto& [name, value] : settings) {
    setenv(name.c_str(), value.c_str(), 1);
  }
  try {
    found->second.run();
  } catch (const std::exception& error) {
    // What a fault breaks may fail as well; without the fault it is an error.
    std::fprintf(stderr, "%s\n", error.what());
    print_kinds();
    return 1;
  }
  print_kinds();
  return 0;
}
