/// \file
/// Snapshots of device memory: every segment and block, and their history.
#ifndef SCONCE_CUDA_MEMORY_SNAPSHOT_HPP
#define SCONCE_CUDA_MEMORY_SNAPSHOT_HPP

#include <sconce/c/memory.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <sconce/cuda/device.hpp>
#include <string>
#include <utility>
#include <vector>

namespace sconce {
inline namespace v0 {
namespace cuda {
namespace CUDACachingAllocator {

/// A private pool, as torch's pair of numbers; (0, 0) means no private pool.
using MempoolId_t = std::pair<unsigned long long, unsigned long long>;

/// A piece of a segment.
struct BlockInfo {
  std::uint64_t address = 0;       ///< the address at which it begins
  std::size_t size = 0;            ///< its size
  std::size_t requested_size = 0;  ///< its requested size
  bool allocated = false;          ///< whether a caller holds it
  bool active = false;             ///< whether it is allocated or may still be in use
};

/// A segment: an allocation taken from the driver.
struct SegmentInfo {
  DeviceIndex device = 0;             ///< its device
  std::uint64_t address = 0;          ///< the address at which it begins
  std::size_t total_size = 0;         ///< its size
  std::size_t requested_size = 0;     ///< requested bytes of active blocks
  std::size_t allocated_size = 0;     ///< bytes of the blocks that callers hold
  std::size_t active_size = 0;        ///< bytes of active blocks
  std::uint64_t stream = 0;           ///< the `cudaStream_t` of the stream that it serves
  bool is_large = false;              ///< whether it is for blocks of more than 1 MiB
  bool is_expandable = false;         ///< whether it is made of pages (`policy:pages`)
  MempoolId_t owner_private_pool_id;  ///< the private pool to which it belongs
  std::vector<BlockInfo> blocks;      ///< its blocks, by address
};

/// An entry of the history.
struct TraceEntry {
  /// The kinds of events.
  enum class Action : std::int32_t {
    Alloc = SCONCE_TRACE_ALLOC,                   ///< a block was allocated
    FreeRequested = SCONCE_TRACE_FREE_REQUESTED,  ///< a caller freed a block
    FreeCompleted = SCONCE_TRACE_FREE_COMPLETED,  ///< a freed block can be reused
    SegmentAlloc = SCONCE_TRACE_SEGMENT_ALLOC,    ///< a segment was taken from the driver
    SegmentFree = SCONCE_TRACE_SEGMENT_FREE,      ///< a segment was returned to the driver
    Snapshot = SCONCE_TRACE_SNAPSHOT,             ///< a snapshot was taken
    OutOfMemory = SCONCE_TRACE_OOM,               ///< an allocation failed for lack of memory
    SegmentMap = SCONCE_TRACE_SEGMENT_MAP,        ///< pages joined a segment (`policy:pages`)
    SegmentUnmap = SCONCE_TRACE_SEGMENT_UNMAP,    ///< pages left a segment
  };

  Action action = Action::Alloc;  ///< the kind of event
  std::uint64_t addr = 0;         ///< the address; for `OutOfMemory` the device's free bytes
  std::size_t size = 0;           ///< bytes; the requested size of a block
  std::uint64_t stream = 0;       ///< the `cudaStream_t` of the stream
  std::int64_t time_us = 0;       ///< microseconds since 1970
  MempoolId_t mempool;            ///< the private pool
};

/// The state of all devices at one moment, and the recorded history.
struct SnapshotInfo {
  std::vector<SegmentInfo> segments;                   ///< by address
  std::vector<std::vector<TraceEntry>> device_traces;  ///< a history per device, oldest first
};

/// Takes a snapshot: every segment and block of every device, and the history recorded so far.
[[nodiscard]] inline SnapshotInfo snapshot() {
  struct Destroy {
    void operator()(sconce_memory_snapshot* snapshot) const noexcept {
      detail::log_failure(::sconce_memory_snapshot_destroy(snapshot), "destroying a snapshot");
    }
  };
  sconce_memory_snapshot* handle = nullptr;
  detail::check(::sconce_memory_snapshot_create(&handle));
  const std::unique_ptr<sconce_memory_snapshot, Destroy> owned(handle);

  SnapshotInfo info;
  const sconce_memory_segment* segments = nullptr;
  const sconce_memory_block* blocks = nullptr;
  std::size_t count = 0;
  std::size_t block_count = 0;
  detail::check(::sconce_memory_snapshot_get_segments(handle, &segments, &count));
  detail::check(::sconce_memory_snapshot_get_blocks(handle, &blocks, &block_count));
  info.segments.reserve(count);
  for (std::size_t i = 0; i < count; ++i) {
    const sconce_memory_segment& from = segments[i];
    SegmentInfo segment;
    segment.device = from.device;
    segment.address = from.address;
    segment.total_size = from.total_bytes;
    segment.requested_size = from.requested_bytes;
    segment.allocated_size = from.allocated_bytes;
    segment.active_size = from.active_bytes;
    segment.stream = from.stream;
    segment.is_large = from.kind == SCONCE_MEMORY_LARGE;
    segment.is_expandable = from.is_expandable;
    segment.owner_private_pool_id = {from.pool_id[0], from.pool_id[1]};
    segment.blocks.reserve(from.block_count);
    for (std::size_t j = 0; j < from.block_count; ++j) {
      const sconce_memory_block& block = blocks[from.first_block + j];
      segment.blocks.push_back({block.address, block.bytes, block.requested_bytes,
                                block.state == SCONCE_BLOCK_ACTIVE_ALLOCATED,
                                block.state != SCONCE_BLOCK_INACTIVE});
    }
    info.segments.push_back(std::move(segment));
  }
  for (DeviceIndex device = 0; device < device_count(); ++device) {
    const sconce_memory_trace_entry* entries = nullptr;
    detail::check(::sconce_memory_snapshot_get_trace(handle, device, &entries, &count));
    auto& trace = info.device_traces.emplace_back();
    trace.reserve(count);
    for (std::size_t i = 0; i < count; ++i) {
      const sconce_memory_trace_entry& from = entries[i];
      trace.push_back({static_cast<TraceEntry::Action>(from.action),
                       from.address,
                       from.bytes,
                       from.stream,
                       from.time_us,
                       {from.pool_id[0], from.pool_id[1]}});
    }
  }
  return info;
}

/// Starts or stops the recording of memory events; a device keeps the newest `max_entries`.
/// Stopping discards the recorded events.
inline void recordHistory(bool enabled, std::size_t max_entries = SIZE_MAX) {
  detail::check(::sconce_memory_record_history(enabled, max_entries));
}

}  // namespace CUDACachingAllocator

/// Returns a snapshot as JSON for torch's viewer. Corresponds to `torch.cuda.memory._snapshot`.
[[nodiscard]] inline std::string memory_snapshot_json() {
  return detail::text_of(::sconce_memory_get_snapshot_json);
}

/// Writes a snapshot to a file, by its ending: a `.pickle` or a `.json` for torch's viewer, or a
/// `.html` that a browser shows without a network.
/// Corresponds to `torch.cuda.memory._dump_snapshot`.
inline void dump_memory_snapshot(const std::string& path) {
  detail::check(::sconce_memory_save_snapshot(path.c_str()));
}

}  // namespace cuda
}  // namespace v0
}  // namespace sconce

#endif  // SCONCE_CUDA_MEMORY_SNAPSHOT_HPP
