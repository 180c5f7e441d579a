/// \file
/// CUDA graphs: work that is captured from a stream once and launched any number of times.
#ifndef SCONCE_CUDA_GRAPH_HPP
#define SCONCE_CUDA_GRAPH_HPP

#include <sconce/c/graph.h>
#include <sconce/c/library.h>
#include <sconce/c/memory.h>
#include <sconce/c/stream.h>

#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <sconce/cuda/generator.hpp>
#include <sconce/cuda/guard.hpp>
#include <sconce/cuda/memory_pool.hpp>
#include <sconce/cuda/stream.hpp>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace sconce {
inline namespace v0 {
namespace cuda {

/// The pool of a graph's memory, as a value. Owns nothing. Corresponds to `c10::MempoolId_t`.
struct MempoolId {
  /// The C API's handle; null stands for a new pool.
  sconce_memory_pool* pool = nullptr;

  /// A new pool.
  constexpr MempoolId() noexcept = default;
  /// The pool with this handle.
  explicit constexpr MempoolId(sconce_memory_pool* handle) noexcept : pool(handle) {}
  /// A pool. A graph that is captured with it keeps its memory.
  MempoolId(const MemPool& owner) noexcept : pool(owner.get()) {}  // NOLINT: calls take either

  /// Whether both name the same pool.
  friend constexpr bool operator==(MempoolId left, MempoolId right) noexcept {
    return left.pool == right.pool;
  }
  /// Whether they name different pools.
  friend constexpr bool operator!=(MempoolId left, MempoolId right) noexcept {
    return !(left == right);
  }
};

/// Creates a pool that several graphs can share. Graphs keep the pool's memory, so the pool may be
/// destroyed before them. Corresponds to `torch.cuda.graph_pool_handle()`.
[[nodiscard]] inline MemPool graph_pool_handle() { return MemPool(); }

/// Work that is captured from a stream once and launched any number of times. Owns the graph;
/// movable, not copyable. Corresponds to `at::cuda::CUDAGraph` and `torch.cuda.CUDAGraph`.
///
/// Between `capture_begin` and `capture_end`, work of the current stream becomes part of the graph.
/// Use `GraphGuard`, which ends the capture on every path.
///
/// Threads: a capture ends on the thread that began it. `replay` may be called by any thread.
class [[nodiscard]] CUDAGraph {
 public:
  /// Makes an empty graph. `keep_graph` keeps the driver's graph after the capture, for
  /// `raw_cuda_graph`, `debug_dump` and `update`; `instantiate` or the first replay then makes it
  /// executable.
  SCONCE_NODISCARD_CTOR explicit CUDAGraph(bool keep_graph = false) {
    sconce_graph* graph = nullptr;
    detail::check(::sconce_graph_create(keep_graph, &graph));
    graph_.reset(graph);
  }

  /// Begins to capture the current stream, which must not be a default stream. Until the end, this
  /// thread's allocations on its device come from the pool, a new one by default. The graph keeps
  /// the memory of the pool from now on.
  /// \throws Error `SCONCE_ERROR_INVALID_STATE` if the graph is not empty
  void capture_begin(MempoolId pool = {}, CaptureMode mode = CaptureMode::Global) {
    detail::check(::sconce_graph_capture_begin(get(), getCurrentCUDAStream().get(), pool.pool,
                                               static_cast<std::int32_t>(mode)));
  }

  /// Ends the capture, and instantiates the graph unless it keeps the driver's graph. After a
  /// failure the graph is empty.
  void capture_end() { detail::check(::sconce_graph_capture_end(get())); }

  /// Ends the capture and discards it, whether it is valid or not.
  void capture_abort() { detail::check(::sconce_graph_capture_abort(get())); }

  /// Makes the graph executable. For a graph that keeps the driver's graph.
  void instantiate() { detail::check(::sconce_graph_instantiate(get())); }

  /// Queues a launch on the current stream of the graph's device.
  void replay() const { detail::check(::sconce_graph_replay_on_current(get())); }
  /// Queues a launch on a stream of the graph's device.
  void replay(const CUDAStream& stream) const {
    detail::check(::sconce_graph_replay(get(), stream.get()));
  }

  /// Prepares the first launch on the current stream of the graph's device.
  void upload() const { upload(getCurrentCUDAStream(device().index())); }
  /// Prepares the first launch in stream order.
  void upload(const CUDAStream& stream) const {
    detail::check(::sconce_graph_upload(get(), stream.get()));
  }

  /// Updates this graph with the addresses and numbers of another graph that has the same nodes and
  /// edges, and that keeps the driver's graph. This graph keeps the memory of the other graph from
  /// then on, which may be reset or destroyed.
  /// \returns false if the graphs differ in nodes or edges; this graph is then unchanged
  [[nodiscard]] bool update(const CUDAGraph& from) {
    bool updated = false;
    detail::check(::sconce_graph_update(get(), from.get(), &updated));
    return updated;
  }

  /// Empties the graph, so that it can be captured again. A queued launch still runs, and memory
  /// that it may use is not used for anything else before. Does not wait for it.
  void reset() { detail::check(::sconce_graph_reset(get())); }

  /// The pool that the graph's memory comes from, for captures of further graphs.
  [[nodiscard]] MempoolId pool() const {
    MempoolId pool;
    detail::check(::sconce_graph_get_pool(get(), &pool.pool));
    return pool;
  }

  /// The device of the stream that the graph was captured from.
  [[nodiscard]] Device device() const {
    std::int32_t device = -1;
    detail::check(::sconce_graph_get_device(get(), &device));
    return Device(device);
  }

  /// How many nodes the graph has; the bodies of conditional nodes do not count.
  [[nodiscard]] std::size_t node_count() const {
    std::size_t count = 0;
    detail::check(::sconce_graph_node_count(get(), &count));
    return count;
  }

  /// Writes the graph to a file in the language of Graphviz, with all details.
  void debug_dump(const std::string& path) const {
    constexpr std::uint32_t everything = 1;
    detail::check(::sconce_graph_debug_dump(get(), path.c_str(), everything));
  }

  /// For code written for torch, whose graphs must know their generators. Has no effect, because
  /// generators of this library advance by themselves at each replay.
  void register_generator_state(const CUDAGenerator& generator) const { (void)generator; }

  /// The driver's graph, a `CUgraph` or `cudaGraph_t`. This object keeps its ownership.
  [[nodiscard]] void* raw_cuda_graph() const {
    void* native = nullptr;
    detail::check(::sconce_graph_get_native(get(), &native));
    return native;
  }
  /// The driver's executable graph, a `CUgraphExec` or `cudaGraphExec_t`. This object keeps its
  /// ownership.
  [[nodiscard]] void* raw_cuda_graph_exec() const {
    void* native = nullptr;
    detail::check(::sconce_graph_get_native_exec(get(), &native));
    return native;
  }

  /// The C API's handle. This object keeps its ownership.
  [[nodiscard]] sconce_graph* get() const noexcept { return graph_.get(); }

  /// The handle of the graph that this thread is capturing, or the one begun last if there are
  /// several; null if there is none. It equals `get()` of the graph's owner. Corresponds to
  /// `at::cuda::CUDAGraph::get_currently_capturing_graph`.
  [[nodiscard]] static sconce_graph* get_currently_capturing_graph() {
    sconce_graph* graph = nullptr;
    detail::check(::sconce_graph_get_capturing(&graph));
    return graph;
  }

  /// Makes a condition in the graph that is being captured, for one conditional node.
  [[nodiscard]] std::uint64_t create_condition() const {
    std::uint64_t condition = 0;
    detail::check(::sconce_graph_condition_create(get(), &condition));
    return condition;
  }

  /// Captures a kernel on the current stream that sets a condition to an integer of 1, 4 or 8 bytes
  /// in memory. The kernel reads the integer when it runs.
  void set_condition(std::uint64_t condition, const void* value, std::size_t bytes) const {
    detail::check(
        ::sconce_graph_condition_set(get(), condition, value, bytes, getCurrentCUDAStream().get()));
  }

  /// Adds a node that runs `body` if the condition is not 0 when the launch reaches it. The body is
  /// called once, now; the stream from which it is captured is current.
  template <class Body>
  void if_node(std::uint64_t condition, Body&& body) const {
    const ConditionalScope scope(*this, condition, SCONCE_GRAPH_IF, 1);
    std::forward<Body>(body)();
    scope.end();
  }
  /// Adds a node that runs one of two bodies.
  template <class Body, class Else>
  void if_node(std::uint64_t condition, Body&& body, Else&& otherwise) const {
    const ConditionalScope scope(*this, condition, SCONCE_GRAPH_IF, 2);
    std::forward<Body>(body)();
    scope.next();
    std::forward<Else>(otherwise)();
    scope.end();
  }
  /// Adds a node that runs `body` as long as the condition is not 0; the body sets it.
  template <class Body>
  void while_node(std::uint64_t condition, Body&& body) const {
    const ConditionalScope scope(*this, condition, SCONCE_GRAPH_WHILE, 1);
    std::forward<Body>(body)();
    scope.end();
  }
  /// Adds a node that runs the body whose number, counted from 0, equals the condition.
  template <class... Bodies>
  void switch_node(std::uint64_t condition, Bodies&&... bodies) const {
    const ConditionalScope scope(*this, condition, SCONCE_GRAPH_SWITCH, sizeof...(bodies));
    std::size_t left = sizeof...(bodies);
    const auto capture = [&](auto&& body) {
      body();
      if (--left > 0) scope.next();
    };
    (capture(bodies), ...);
    scope.end();
  }

 private:
  /// The bodies of a conditional node, captured from a stream that the library lends to the node.
  /// If a body throws, the capture of the graph can only be aborted.
  class ConditionalScope {
   public:
    ConditionalScope(const CUDAGraph& graph, std::uint64_t condition, std::int32_t kind,
                     std::size_t bodies)
        : graph_(graph.get()) {
      sconce_stream stream{};
      detail::check(
          ::sconce_graph_conditional_begin_own_stream(graph_, condition, kind, bodies, &stream));
      guard_ = std::make_unique<CUDAStreamGuard>(CUDAStream(stream));
    }
    void next() const { detail::check(::sconce_graph_conditional_next(graph_)); }
    void end() const { detail::check(::sconce_graph_conditional_end(graph_)); }

   private:
    sconce_graph* graph_;
    std::unique_ptr<CUDAStreamGuard> guard_;
  };

  struct Destroy {
    void operator()(sconce_graph* graph) const noexcept {
      // A graph that is being captured is not destroyed; its capture is aborted first.
      if (::sconce_graph_destroy(graph) != SCONCE_ERROR_INVALID_STATE) return;
      detail::log_failure(::sconce_graph_capture_abort(graph), "aborting a capture");
      detail::log_failure(::sconce_graph_destroy(graph), "destroying a CUDAGraph");
    }
  };
  std::unique_ptr<sconce_graph, Destroy> graph_;
};

/// Calls `action` before it is captured, on the stream of the current device that a `GraphGuard`
/// without a stream would capture now: so that its memory is cached, its kernels are loaded and its
/// libraries are set up. Its work begins after the work of the current stream, which waits for it.
/// Whatever `action` throws is thrown.
///
/// The library lends the stream, so that its work cannot get into a capture of another thread, as
/// that of a stream of the pool could.
template <class Action>
void graph_warm_up(Action&& action) {
  struct Call {
    std::remove_reference_t<Action>& action;
    std::exception_ptr failure;
  } call{action, nullptr};
  detail::check(::sconce_graph_warm_up(
      -1,
      [](void* user) {
        auto& called = *static_cast<Call*>(user);
        try {
          called.action();
        } catch (...) {
          called.failure = std::current_exception();
        }
      },
      &call));
  if (call.failure) std::rethrow_exception(call.failure);
}

/// Captures this thread's work into a graph for a scope. The captured stream is current in the
/// scope. `end` completes the graph. If the guard is destroyed without `end`, for example because
/// of an exception, it discards the capture. Corresponds to `torch.cuda.graph`.
///
/// Without a stream of the caller, captures one after another use the same stream of the device, as
/// in torch, so graphs of one pool share memory: they need as much as the largest of them. Captures
/// at the same time have different streams.
///
/// ```
/// sconce::cuda::CUDAGraph graph;
/// sconce::cuda::GraphGuard capture(graph);
/// step();
/// capture.end();
/// graph.replay();
/// ```
class [[nodiscard]] GraphGuard {
 public:
  /// Waits for the current device, as torch does, and begins the capture on the stream of the
  /// device for captures. If another thread is capturing on the device, it does not wait.
  SCONCE_NODISCARD_CTOR explicit GraphGuard(CUDAGraph& graph, MempoolId pool = {},
                                            CaptureMode mode = CaptureMode::Global)
      : capture_(graph, pool, mode), guard_(capture_.stream()) {}
  /// Waits for the stream's device, likewise, and begins the capture on the stream, which is
  /// current in the scope.
  SCONCE_NODISCARD_CTOR GraphGuard(CUDAGraph& graph, const CUDAStream& stream, MempoolId pool = {},
                                   CaptureMode mode = CaptureMode::Global)
      : capture_(graph, stream, pool, mode), guard_(stream) {}

  GraphGuard(const GraphGuard&) = delete;
  GraphGuard& operator=(const GraphGuard&) = delete;
  GraphGuard(GraphGuard&&) = delete;
  GraphGuard& operator=(GraphGuard&&) = delete;

  /// Ends the capture; the graph can be replayed. The stream that was current before is current
  /// again at the end of the scope.
  void end() { capture_.end(); }

  /// Discards the capture unless `end` was called.
  ~GraphGuard() = default;

 private:
  /// A capture that is discarded unless it is ended.
  class Capture {
   public:
    /// On a stream that the library lends to the capture.
    Capture(const CUDAGraph& graph, MempoolId pool, CaptureMode mode) : graph_(graph.get()) {
      (void)try_device_synchronize();
      detail::check(::sconce_graph_capture_begin_own_stream(
          graph_, -1, pool.pool, static_cast<std::int32_t>(mode), &stream_));
      is_open_ = true;
    }
    /// On the caller's stream.
    Capture(const CUDAGraph& graph, const CUDAStream& stream, MempoolId pool, CaptureMode mode)
        : graph_(graph.get()), stream_(stream.get()) {
      (void)try_device_synchronize(stream.device_index());
      detail::check(::sconce_graph_capture_begin(graph_, stream_, pool.pool,
                                                 static_cast<std::int32_t>(mode)));
      is_open_ = true;
    }
    Capture(const Capture&) = delete;
    Capture& operator=(const Capture&) = delete;
    ~Capture() {
      if (is_open_) {
        detail::log_failure(::sconce_graph_capture_abort(graph_), "aborting a capture");
      }
    }

    CUDAStream stream() const { return CUDAStream(stream_); }
    void end() {
      is_open_ = false;
      detail::check(::sconce_graph_capture_end(graph_));
    }

   private:
    sconce_graph* graph_;
    sconce_stream stream_{};
    bool is_open_ = false;
  };

  Capture capture_;
  CUDAStreamGuard guard_;  // ends first
};

}  // namespace cuda
}  // namespace v0
}  // namespace sconce

#endif  // SCONCE_CUDA_GRAPH_HPP
