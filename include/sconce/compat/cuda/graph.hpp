/// \file
/// ATen's graphs, and pools that graphs share by number, for code written for ATen. Part of
/// `<sconce/compat/c10.hpp>`.
#ifndef SCONCE_COMPAT_CUDA_GRAPH_HPP
#define SCONCE_COMPAT_CUDA_GRAPH_HPP

#include <sconce/c/library.h>
#include <sconce/c/memory.h>

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <sconce/compat/core/macros.hpp>
#include <sconce/compat/cuda/random.hpp>
#include <sconce/cuda/graph.hpp>
#include <sconce/cuda/memory_pool.hpp>
#include <set>
#include <string>
#include <type_traits>
#include <utility>

/// The target of a `CUgraph` and `cudaGraph_t`.
struct CUgraph_st;
/// The target of a `CUgraphExec` and `cudaGraphExec_t`.
struct CUgraphExec_st;

namespace sconce {
inline namespace v0 {
namespace compat {
namespace c10 {

/// A part of a `MempoolId_t`.
using CaptureId_t = unsigned long long;
/// The number of a memory pool; `{0, 0}` means none.
using MempoolId_t = std::pair<CaptureId_t, CaptureId_t>;

namespace cuda {

using c10::CaptureId_t;
using c10::MempoolId_t;

/// A private memory pool that can also be named by its number. Corresponds to `c10::cuda::MemPool`.
class [[nodiscard]] MemPool : public ::sconce::cuda::MemPool,
                              public std::enable_shared_from_this<MemPool> {
 public:
  /// Creates a pool without any memory yet.
  SCONCE_NODISCARD_CTOR MemPool() : id_{0, ::sconce::cuda::MemPool::id()} { enter(); }
  MemPool(const MemPool&) = delete;
  MemPool& operator=(const MemPool&) = delete;
  MemPool(MemPool&&) = delete;
  MemPool& operator=(MemPool&&) = delete;
  /// Destroys the pool. A graph that was captured with it keeps its memory.
  ~MemPool() {
    Known& known = all();
    const std::lock_guard<std::mutex> lock(known.mutex);
    const auto place = known.pools.find(id_);
    if (place != known.pools.end() && place->second == this) {
      known.pools.erase(place);
    }
  }

  /// The number, which captures take.
  [[nodiscard]] MempoolId_t id() const noexcept { return id_; }
  /// A number for a pool that belongs to the graphs that use it: the last graph releases it. It has
  /// the form `{0, n}`, and snapshots show the pool's segments with it. A capture with the number
  /// after that makes another pool. Corresponds to `at::cuda::MemPool::graph_pool_handle`.
  [[nodiscard]] static MempoolId_t graph_pool_handle() {
    std::shared_ptr<MemPool> made = make().owner;
    const MempoolId_t id = made->id();
    Known& known = all();
    const std::lock_guard<std::mutex> lock(known.mutex);
    known.handles.insert(id.second);
    known.unused.emplace(id, std::move(made));
    return id;
  }

  /// \cond
  /// A pool by its number, and its owner if it has shared ones.
  struct Found {
    sconce_memory_pool* pool;
    std::shared_ptr<MemPool> owner;
  };
  /// Finds a pool. The pool of a handle is made if it does not exist.
  static Found find(MempoolId_t id) {
    Known& known = all();
    std::unique_lock<std::mutex> lock(known.mutex);
    const auto unused = known.unused.find(id);
    if (unused != known.unused.end()) {
      std::shared_ptr<MemPool> owner = std::move(unused->second);
      known.unused.erase(unused);
      return {owner->get(), std::move(owner)};
    }
    const auto place = known.pools.find(id);
    if (place != known.pools.end()) {
      std::shared_ptr<MemPool> owner = place->second->weak_from_this().lock();
      // A pool whose last owner is releasing it is no longer found.
      if (owner != nullptr || place->second->is_single_) {
        return {place->second->get(), std::move(owner)};
      }
    }
    if (id.first != 0 || known.handles.count(id.second) == 0) {
      throw Error(SCONCE_ERROR_INVALID_ARGUMENT,
                  "there is no memory pool {" + std::to_string(id.first) + ", " +
                      std::to_string(id.second) +
                      "}; pass {0, 0}, a graph's pool(), graph_pool_handle() or a MemPool's id()");
    }
    const std::shared_ptr<MemPool> made(new MemPool(id));
    known.pools[id] = made.get();
    return {made->get(), made};
  }
  /// A pool with shared owners.
  static Found make() {
    const std::shared_ptr<MemPool> made(new MemPool(MempoolId_t{0, 0}));
    made->id_ = {0, made->::sconce::cuda::MemPool::id()};
    made->enter();
    return {made->get(), made};
  }
  /// \endcond

 private:
  /// All pools that are alive, by their numbers.
  struct Known {
    std::mutex mutex;
    std::map<MempoolId_t, MemPool*> pools;
    std::set<CaptureId_t> handles;  ///< the numbers that `graph_pool_handle` returned
    /// Their pools until a capture uses them.
    std::map<MempoolId_t, std::shared_ptr<MemPool>> unused;
  };
  static Known& all() {
    static auto* const known = new Known;
    return *known;
  }

  /// A pool with shared owners, which is not registered yet.
  explicit MemPool(MempoolId_t id) : id_(id), is_single_(false) {}
  void enter() {
    Known& known = all();
    const std::lock_guard<std::mutex> lock(known.mutex);
    known.pools[id_] = this;
  }

  MempoolId_t id_;
  bool is_single_ = true;  ///< whether it belongs to the program alone
};

/// Serves the calling thread's allocations on its current device from a pool for a scope. c10's
/// class only names the active pool; this one also serves allocations from it.
class [[nodiscard]] MemPoolContext {
 public:
  /// Begins.
  SCONCE_NODISCARD_CTOR explicit MemPoolContext(::sconce::cuda::MemPool* pool)
      : guard_(*pool), pool_(pool), previous_(std::exchange(active(), this)) {}
  MemPoolContext(const MemPoolContext&) = delete;
  MemPoolContext& operator=(const MemPoolContext&) = delete;
  /// Ends.
  ~MemPoolContext() { active() = previous_; }
  /// The pool of the innermost scope of the thread; null outside.
  [[nodiscard]] static ::sconce::cuda::MemPool* getActiveMemPool() {
    return active() == nullptr ? nullptr : active()->pool_;
  }

 private:
  static MemPoolContext*& active() {
    thread_local MemPoolContext* innermost = nullptr;
    return innermost;
  }

  ::sconce::cuda::MemPoolGuard guard_;
  ::sconce::cuda::MemPool* pool_;
  MemPoolContext* previous_;
};

}  // namespace cuda
}  // namespace c10

namespace at {
namespace cuda {

/// \cond
namespace detail {

/// Owns a graph's pool, and releases it after the graph.
struct PoolOwner {
  std::shared_ptr<c10::cuda::MemPool> owner;
};

}  // namespace detail
/// \endcond

using c10::MempoolId_t;
using c10::cuda::MemPool;

/// A number for a pool that graphs can share; the pool exists while a graph uses it. Corresponds to
/// `at::cuda::graph_pool_handle`.
[[nodiscard]] inline MempoolId_t graph_pool_handle() { return MemPool::graph_pool_handle(); }

/// A `CUDAGraph` that names pools by number and uses CUDA's types. Corresponds to
/// `at::cuda::CUDAGraph`.
class [[nodiscard]] CUDAGraph : private detail::PoolOwner, public ::sconce::cuda::CUDAGraph {
 public:
  /// Makes an empty graph. `keep_graph` keeps the driver's graph after the capture; the caller then
  /// calls `instantiate`.
  SCONCE_NODISCARD_CTOR CUDAGraph(bool keep_graph = false)  // NOLINT: as ATen's
      : ::sconce::cuda::CUDAGraph(keep_graph), is_kept_(keep_graph), has_dump_(keep_graph) {}

  /// Begins to capture the current stream, which must not be a default stream, with memory of a
  /// pool; `{0, 0}` means the graph's own pool. Accepts the numbers of `cudaStreamCaptureMode`.
  template <class Mode, std::enable_if_t<std::is_enum_v<Mode> || std::is_integral_v<Mode>, int> = 0>
  void capture_begin(MempoolId_t pool, Mode mode) {
    begin(pool, static_cast<::sconce::cuda::CaptureMode>(static_cast<std::int32_t>(mode)));
  }
  /// Begins to capture in the mode `cudaStreamCaptureModeGlobal`.
  void capture_begin(MempoolId_t pool = {0, 0}) {
    begin(pool, ::sconce::cuda::CaptureMode::Global);
  }
  /// Ends the capture, and instantiates the graph unless it was made with `keep_graph`.
  void capture_end() {
    is_empty_ = true;  // after a failure
    ::sconce::cuda::CUDAGraph::capture_end();
    is_empty_ = false;
    if (has_dump_ && !is_kept_) {
      instantiate();
    }
  }
  /// Ends the capture and discards it.
  void capture_abort() {
    ::sconce::cuda::CUDAGraph::capture_abort();
    forget();
  }
  /// Empties the graph. A queued launch still runs.
  void reset() {
    ::sconce::cuda::CUDAGraph::reset();
    forget();
  }
  /// The number of the pool that the graph's memory comes from.
  /// \throws Error `SCONCE_ERROR_INVALID_STATE` if the graph is empty
  [[nodiscard]] MempoolId_t pool() const {
    sconce_memory_pool* const pool = ::sconce::cuda::CUDAGraph::pool().pool;
    if (id_ != MempoolId_t{0, 0}) {
      return id_;
    }
    std::uint64_t number = 0;  // captured by a `GraphGuard`
    ::sconce::detail::check(::sconce_memory_pool_get_id(pool, &number));
    return {0, number};
  }

  /// Makes it possible to dump all graphs that are captured from now on.
  void enable_debug_mode() { debug_mode() = true; }
  /// Writes the graph to a file in the language of Graphviz. Without `enable_debug_mode` before the
  /// capture, or `keep_graph`, it warns and writes nothing, like ATen's.
  void debug_dump(const std::string& path) {
    if (has_dump_) {
      ::sconce::cuda::CUDAGraph::debug_dump(path);
    } else {
      TORCH_WARN("this graph cannot be dumped; call enable_debug_mode before the capture");
    }
  }

  /// Has no effect: generators advance by themselves at each replay.
  void register_generator_state(const at::Generator& generator) const { (void)generator; }

  /// The driver's graph. This object keeps its ownership.
  [[nodiscard]] CUgraph_st* raw_cuda_graph() const {
    return static_cast<CUgraph_st*>(::sconce::cuda::CUDAGraph::raw_cuda_graph());
  }
  /// The driver's executable graph. This object keeps its ownership.
  [[nodiscard]] CUgraphExec_st* raw_cuda_graph_exec() const {
    return static_cast<CUgraphExec_st*>(::sconce::cuda::CUDAGraph::raw_cuda_graph_exec());
  }

 private:
  static std::atomic<bool>& debug_mode() {
    static std::atomic<bool> is_on{false};
    return is_on;
  }

  void begin(MempoolId_t id, ::sconce::cuda::CaptureMode mode) {
    if (is_empty_ && has_dump_ != (is_kept_ || debug_mode())) {
      has_dump_ = !has_dump_;
      (void)(static_cast<::sconce::cuda::CUDAGraph&>(*this) = ::sconce::cuda::CUDAGraph(has_dump_));
    }
    MemPool::Found found{};
    if (id == MempoolId_t{0, 0}) {
      found = MemPool::make();
      id = found.owner->id();
    } else {
      found = MemPool::find(id);
    }
    ::sconce::cuda::CUDAGraph::capture_begin(::sconce::cuda::MempoolId{found.pool}, mode);
    is_empty_ = false;
    id_ = id;
    owner = std::move(found.owner);
  }
  void forget() {
    is_empty_ = true;
    owner.reset();
    id_ = {0, 0};
  }

  MempoolId_t id_{0, 0};
  bool is_kept_;
  bool has_dump_;  ///< whether the driver's graph is kept, for the caller or for a dump
  bool is_empty_ = true;
};

}  // namespace cuda
}  // namespace at
}  // namespace compat
}  // namespace v0
}  // namespace sconce

#endif  // SCONCE_COMPAT_CUDA_GRAPH_HPP
