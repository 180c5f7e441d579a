// Reports about device memory: figures, tables, snapshots, files, the history.
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>
#include <vector>

#include "memory_support.hpp"

namespace {

using namespace sconce::cuda;
using namespace std::chrono_literals;
namespace allocator = sconce::cuda::CUDACachingAllocator;
using support::contains;
using support::error_of;
using support::fraction_of;
using support::kKiB;
using support::kMiB;
using support::status_of;
using Action = allocator::TraceEntry::Action;

class MemoryReportsTest : public support::MemoryFixture {};

bool equal(const allocator::Stat& stat, const allocator::Stat& expected) {
  return std::memcmp(&stat, &expected, sizeof stat) == 0;
}

TEST_F(MemoryReportsTest, FiguresCountAsTorchs) {
  const DeviceBuffer small(1000);
  DeviceBuffer(2000).reset();
  const DeviceBuffer large(3 * kMiB);
  const allocator::DeviceStats stats = memory_stats();
  EXPECT_EQ(stats.struct_size, sizeof stats);
  EXPECT_TRUE(equal(stats.allocation.all, {2, 2, 3, 1}));
  EXPECT_TRUE(equal(stats.allocation.small_pool, {1, 2, 2, 1}));
  EXPECT_TRUE(equal(stats.allocation.large_pool, {1, 1, 1, 0}));
  EXPECT_TRUE(equal(stats.allocated_bytes.small_pool, {1024, 3072, 3072, 2048}));
  EXPECT_TRUE(equal(stats.requested_bytes.small_pool, {1000, 3000, 3000, 2000}));
  EXPECT_TRUE(equal(stats.segment.all, {2, 2, 2, 0}));
  EXPECT_EQ(stats.reserved_bytes.all.current, static_cast<std::int64_t>(22 * kMiB));
  EXPECT_EQ(stats.inactive_split.all.current, 2);
  EXPECT_EQ(stats.inactive_split_bytes.all.current, static_cast<std::int64_t>(19 * kMiB - 1024));
  EXPECT_EQ(stats.num_device_alloc, 2);
  EXPECT_EQ(stats.max_split_size, -1);
}

TEST_F(MemoryReportsTest, PeaksAndSumsAreReset) {
  const DeviceBuffer held(kKiB);
  DeviceBuffer(30 * kMiB).reset();
  empty_cache();
  EXPECT_EQ(max_memory_allocated(), 30 * kMiB + kKiB);
  EXPECT_EQ(max_memory_reserved(), 32 * kMiB);
  EXPECT_EQ(memory_reserved(), 2 * kMiB);
  reset_peak_memory_stats();
  EXPECT_EQ(max_memory_allocated(), kKiB);
  EXPECT_EQ(max_memory_reserved(), 2 * kMiB);
  EXPECT_EQ(memory_stats().allocation.all.allocated, 2) << "sums are another matter";
  reset_accumulated_memory_stats();
  EXPECT_TRUE(equal(memory_stats().allocation.all, {1, 1, 0, 0}));
  EXPECT_EQ(memory_stats().num_device_alloc, 0);
}

TEST_F(MemoryReportsTest, AStructOfNoVersionIsRefused) {
  allocator::DeviceStats stats{};
  constexpr std::size_t kFirst = offsetof(allocator::DeviceStats, sleeping_bytes);
  for (const std::size_t size : {std::size_t{0}, kFirst - 8, std::size_t{5000}}) {
    stats.struct_size = static_cast<std::uint32_t>(size);
    EXPECT_EQ(sconce_memory_get_stats(0, &stats), SCONCE_ERROR_INVALID_ARGUMENT);
    EXPECT_TRUE(contains(sconce_last_error_message(), "struct_size"));
    EXPECT_TRUE(contains(sconce_last_error_message(), "SCONCE_MEMORY_STATS_INIT"));
    EXPECT_EQ(stats.struct_size, size) << "nothing is written";
  }
  EXPECT_EQ(sconce_memory_get_stats(0, nullptr), SCONCE_ERROR_INVALID_ARGUMENT);
}

TEST_F(MemoryReportsTest, AStructOfTheFirstVersionIsFilledToItsEnd) {
  const DeviceBuffer memory(kKiB);
  sconce_memory_stats stats = SCONCE_MEMORY_STATS_INIT;
  stats.struct_size = offsetof(sconce_memory_stats, sleeping_bytes);
  stats.sleeping_bytes = 7;
  EXPECT_EQ(sconce_memory_get_stats(0, &stats), SCONCE_OK) << sconce_last_error_message();
  EXPECT_EQ(stats.allocated_bytes.all.current, kKiB);
  EXPECT_EQ(stats.sleeping_bytes, 7) << "nothing is written behind the struct";
}

TEST_F(MemoryReportsTest, AStructOfALaterVersionIsFilledAsFarAsFiguresAreKnown) {
  struct Later {
    sconce_memory_stats known = SCONCE_MEMORY_STATS_INIT;
    std::int64_t more = 7;
  };
  const DeviceBuffer memory(kKiB);
  Later later;
  later.known.struct_size = static_cast<std::uint32_t>(sizeof later);
  EXPECT_EQ(sconce_memory_get_stats(0, &later.known), SCONCE_OK) << sconce_last_error_message();
  EXPECT_EQ(later.known.struct_size, sizeof later);
  EXPECT_EQ(later.known.allocated_bytes.all.current, memory_allocated());
  EXPECT_EQ(later.more, 0);
}

TEST_F(MemoryReportsTest, EveryReportRefusesADeviceThatIsNotThere) {
  const DeviceIndex bad = device_count();
  EXPECT_EQ(status_of([&] { (void)memory_stats(bad); }), SCONCE_ERROR_INVALID_DEVICE);
  EXPECT_EQ(status_of([&] { (void)memory_allocated(-2); }), SCONCE_ERROR_INVALID_DEVICE);
  EXPECT_EQ(status_of([&] { (void)memory_summary(bad); }), SCONCE_ERROR_INVALID_DEVICE);
  EXPECT_EQ(status_of([&] { (void)memory_stats_json(bad); }), SCONCE_ERROR_INVALID_DEVICE);
  EXPECT_EQ(status_of([&] { reset_peak_memory_stats(bad); }), SCONCE_ERROR_INVALID_DEVICE);
  EXPECT_EQ(status_of([&] { reset_accumulated_memory_stats(bad); }), SCONCE_ERROR_INVALID_DEVICE);
}

TEST_F(MemoryReportsTest, TheTextsHaveTheFigures) {
  const DeviceBuffer memory(3 * kMiB);
  const std::string json = memory_stats_json();
  EXPECT_TRUE(contains(json, "\"allocated_bytes.large_pool.current\":3145728,"));
  EXPECT_TRUE(contains(json, "\"num_ooms\":0"));
  const std::string summary = memory_summary();
  EXPECT_TRUE(contains(summary, "memory summary, device ID 0"));
  EXPECT_TRUE(contains(summary, "| Allocated memory      |   3072 KiB |   3072 KiB |"));
  EXPECT_TRUE(contains(summary, "from large pool"));
  EXPECT_FALSE(contains(memory_summary(-1, true), "from large pool"));
  SCONCE_NEED_DEVICES(2);
  EXPECT_TRUE(contains(memory_summary(1), "device ID 1"));
}

TEST_F(MemoryReportsTest, ASnapshotAddsUpToTheFigures) {
  const CUDAStream own = getStreamFromPool();
  const CUDAStream other = getStreamFromPool();
  const DeviceBuffer small(1000, own);
  const DeviceBuffer large(3 * kMiB);
  DeviceBuffer pending(5000, own);
  sleep(300ms, other);
  pending.record_stream(other);
  pending.reset();

  const allocator::SnapshotInfo info = allocator::snapshot();
  const allocator::DeviceStats stats = memory_stats();
  ASSERT_EQ(info.segments.size(), 2U);
  std::int64_t reserved = 0;
  std::int64_t allocated = 0;
  std::int64_t active = 0;
  std::int64_t requested = 0;
  std::uint64_t last = 0;
  for (const allocator::SegmentInfo& segment : info.segments) {
    EXPECT_GT(segment.address, last);
    last = segment.address;
    reserved += static_cast<std::int64_t>(segment.total_size);
    allocated += static_cast<std::int64_t>(segment.allocated_size);
    active += static_cast<std::int64_t>(segment.active_size);
    requested += static_cast<std::int64_t>(segment.requested_size);
    std::uint64_t next = segment.address;
    for (const allocator::BlockInfo& block : segment.blocks) {
      EXPECT_EQ(block.address, next) << "blocks follow each other";
      next += block.size;
    }
    EXPECT_EQ(next, segment.address + segment.total_size);
    EXPECT_EQ(segment.owner_private_pool_id, allocator::MempoolId_t(0, 0));
    const bool of_own = segment.stream == reinterpret_cast<std::uintptr_t>(own.stream());
    EXPECT_EQ(segment.is_large, !of_own);
    if (of_own) {
      ASSERT_EQ(segment.blocks.size(), 3U);
      EXPECT_TRUE(segment.blocks[0].allocated && segment.blocks[0].active);
      EXPECT_EQ(segment.blocks[0].requested_size, 1000U);
      EXPECT_TRUE(!segment.blocks[1].allocated && segment.blocks[1].active) << "it waits";
      EXPECT_TRUE(!segment.blocks[2].allocated && !segment.blocks[2].active);
    }
  }
  EXPECT_EQ(reserved, stats.reserved_bytes.all.current);
  EXPECT_EQ(allocated, stats.allocated_bytes.all.current);
  EXPECT_EQ(active, stats.active_bytes.all.current);
  EXPECT_EQ(requested, stats.requested_bytes.all.current);
  EXPECT_EQ(info.device_traces.size(), static_cast<std::size_t>(device_count()));
}

TEST_F(MemoryReportsTest, ASnapshotsArraysLiveUntilItIsDestroyed) {
  DeviceBuffer memory(1000);
  sconce_memory_snapshot* snapshot = nullptr;
  ASSERT_EQ(sconce_memory_snapshot_create(&snapshot), SCONCE_OK);
  const sconce_memory_segment* segments = nullptr;
  const sconce_memory_block* blocks = nullptr;
  const sconce_memory_trace_entry* entries = nullptr;
  std::size_t count = 0;
  ASSERT_EQ(sconce_memory_snapshot_get_segments(snapshot, &segments, &count), SCONCE_OK);
  EXPECT_EQ(count, 1U);
  memory.reset();
  empty_cache();
  EXPECT_EQ(segments[0].total_bytes, 2 * kMiB) << "the past stays";
  EXPECT_EQ(segments[0].block_count, 2U);
  EXPECT_EQ(segments[0].kind, SCONCE_MEMORY_SMALL);
  ASSERT_EQ(sconce_memory_snapshot_get_blocks(snapshot, &blocks, &count), SCONCE_OK);
  EXPECT_EQ(count, 2U);
  EXPECT_EQ(blocks[segments[0].first_block].state, SCONCE_BLOCK_ACTIVE_ALLOCATED);
  EXPECT_EQ(blocks[segments[0].first_block + 1].state, SCONCE_BLOCK_INACTIVE);
  count = 7;
  entries = reinterpret_cast<const sconce_memory_trace_entry*>(&count);
  ASSERT_EQ(sconce_memory_snapshot_get_trace(snapshot, -1, &entries, &count), SCONCE_OK);
  EXPECT_EQ(count, 0U);
  EXPECT_EQ(entries, nullptr);
  EXPECT_EQ(sconce_memory_snapshot_get_trace(snapshot, 99, &entries, &count),
            SCONCE_ERROR_INVALID_DEVICE);
  EXPECT_EQ(sconce_memory_snapshot_get_blocks(snapshot, nullptr, &count),
            SCONCE_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(sconce_memory_snapshot_get_blocks(snapshot, &blocks, nullptr),
            SCONCE_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(sconce_memory_snapshot_destroy(snapshot), SCONCE_OK);
  EXPECT_EQ(sconce_memory_snapshot_destroy(snapshot), SCONCE_ERROR_INVALID_HANDLE);
  EXPECT_EQ(sconce_memory_snapshot_get_segments(snapshot, &segments, &count),
            SCONCE_ERROR_INVALID_HANDLE);
  EXPECT_EQ(sconce_memory_snapshot_destroy(nullptr), SCONCE_OK);
}

std::vector<Action> actions(const std::vector<allocator::TraceEntry>& entries) {
  std::vector<Action> actions;
  for (const allocator::TraceEntry& entry : entries) {
    actions.push_back(entry.action);
  }
  return actions;
}

TEST_F(MemoryReportsTest, HistoryIsInTorchsOrder) {
  allocator::recordHistory(true);
  void* const memory = allocator::raw_alloc(1000);
  allocator::raw_delete(memory);
  empty_cache();
  allocator::setMemoryFraction(fraction_of(4 * kMiB));
  EXPECT_EQ(status_of([] { (void)allocator::raw_alloc(7 * kMiB); }), SCONCE_ERROR_OUT_OF_MEMORY);
  const std::vector<allocator::TraceEntry> trace = allocator::snapshot().device_traces.at(0);
  const std::vector<Action> expected{Action::SegmentAlloc,  Action::Alloc,
                                     Action::FreeRequested, Action::FreeCompleted,
                                     Action::SegmentFree,   Action::OutOfMemory};
  ASSERT_EQ(actions(trace), expected);
  const auto address = static_cast<std::uint64_t>(reinterpret_cast<std::uintptr_t>(memory));
  EXPECT_EQ(trace[0].size, 2 * kMiB);
  EXPECT_EQ(trace[1].addr, address);
  EXPECT_EQ(trace[1].size, 1000U) << "as it was asked for";
  EXPECT_EQ(trace[2].addr, address);
  EXPECT_EQ(trace[2].size, 1000U);
  EXPECT_EQ(trace[3].size, 1000U);
  EXPECT_EQ(trace[4].size, 2 * kMiB);
  EXPECT_EQ(trace[5].size, 7 * kMiB);
  for (std::size_t i = 1; i < trace.size(); ++i) {
    EXPECT_GE(trace[i].time_us, trace[i - 1].time_us);
  }
  EXPECT_GT(trace[0].time_us, 1700000000000000);
  EXPECT_EQ(allocator::snapshot().device_traces.at(0).back().action, Action::Snapshot)
      << "snapshots are history, too, for those after them";
}

TEST_F(MemoryReportsTest, HistoryKeepsTheNewest) {
  EXPECT_EQ(status_of([] { allocator::recordHistory(true, 0); }), SCONCE_ERROR_INVALID_ARGUMENT);
  allocator::recordHistory(true, 3);
  for (int i = 0; i < 5; ++i) {
    DeviceBuffer(1000).reset();
  }
  const std::vector<Action> newest{Action::Alloc, Action::FreeRequested, Action::FreeCompleted};
  EXPECT_EQ(actions(allocator::snapshot().device_traces.at(0)), newest);
  allocator::recordHistory(false);
  EXPECT_TRUE(allocator::snapshot().device_traces.at(0).empty());
}

class Folder {
 public:
  Folder() : path_(std::filesystem::temp_directory_path() / "sconce_reports_XXXXXX") {
    std::string name = path_.string();
    if (::mkdtemp(name.data()) == nullptr) {
      throw std::runtime_error("no temporary folder");
    }
    path_ = name;
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  ~Folder() { std::filesystem::remove_all(path_); }

  [[nodiscard]] std::string file(const std::string& name) const { return (path_ / name).string(); }

 private:
  std::filesystem::path path_;
};

std::string content(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

TEST_F(MemoryReportsTest, TheEndingDecidesTheKindOfFile) {
  const Folder folder;
  const DeviceBuffer memory(1000);
  dump_memory_snapshot(folder.file("a.pickle"));
  const std::string pickle = content(folder.file("a.pickle"));
  ASSERT_GT(pickle.size(), 100U);
  EXPECT_EQ(pickle[0], '\x80') << "pickles of protocol 2 and above begin so";
  EXPECT_EQ(pickle.back(), '.');
  EXPECT_TRUE(contains(pickle, "device_traces"));
  dump_memory_snapshot(folder.file("a.json"));
  const std::string json = content(folder.file("a.json"));
  EXPECT_EQ(json.front(), '{');
  EXPECT_TRUE(contains(json, "active_allocated"));
  EXPECT_TRUE(contains(memory_snapshot_json(), "\"segments\""));
  dump_memory_snapshot(folder.file("a.html"));
  const std::string page = content(folder.file("a.html"));
  EXPECT_EQ(page.find("<!DOCTYPE html>"), 0U);
  EXPECT_TRUE(contains(page, "\"state\":\"active_allocated\""));
  dump_memory_snapshot(folder.file("a.pickle"));
  EXPECT_EQ(content(folder.file("a.pickle")).size(), pickle.size()) << "the file is replaced";
}

TEST_F(MemoryReportsTest, FilesThatCannotBeAreNamed) {
  const Folder folder;
  const sconce::Error unknown = error_of([&] { dump_memory_snapshot(folder.file("a.txt")); });
  EXPECT_EQ(unknown.status(), SCONCE_ERROR_INVALID_ARGUMENT);
  EXPECT_TRUE(contains(unknown.what(), ".pickle"));
  const std::string nowhere = folder.file("no/such/folder/a.json");
  const sconce::Error io = error_of([&] { dump_memory_snapshot(nowhere); });
  EXPECT_EQ(io.status(), SCONCE_ERROR_IO);
  EXPECT_TRUE(contains(io.what(), nowhere));
  EXPECT_EQ(sconce_memory_save_snapshot(nullptr), SCONCE_ERROR_INVALID_ARGUMENT);
  EXPECT_TRUE(std::filesystem::is_empty(std::filesystem::path(folder.file("a")).parent_path()));
}

}  // namespace
