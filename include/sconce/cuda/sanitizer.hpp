#pragma once

/// The sanitizer: races between streams and uses of freed memory, found without that they have to
/// happen. `SCONCE_SANITIZER=report` switches it on for a program as it is.

#include <sconce/c/library.h>
#include <sconce/c/sanitizer.h>

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <sconce/cuda/error.hpp>
#include <sconce/cuda/stream.hpp>
#include <sconce/fwd.hpp>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace sconce {
inline namespace v0 {
namespace sanitizer {

/// What is done with a report.
enum class Mode : std::int32_t {
  Report = SCONCE_SANITIZER_REPORT,  ///< the program goes on
  Abort = SCONCE_SANITIZER_ABORT,    ///< the process ends
};

/// Switches the sanitizer on: before the first call that needs a device, or again after `disable`.
/// \throws Error `SCONCE_ERROR_INVALID_STATE` if the library was opened without it
inline void enable(Mode mode = Mode::Report) {
  detail::check(::sconce_sanitizer_enable(static_cast<std::int32_t>(mode)));
}

/// Switches the sanitizer off. Reports stay.
inline void disable() { detail::check(::sconce_sanitizer_disable()); }

/// Whether calls are followed now.
[[nodiscard]] inline bool is_enabled() noexcept { return ::sconce_sanitizer_is_enabled(); }

/// How many reports there are: each pair of places in the program once.
[[nodiscard]] inline std::int64_t report_count() noexcept {
  return ::sconce_sanitizer_report_count();
}

/// A report.
struct Report {
  std::string text;    ///< for people, in several lines
  std::string json;    ///< one JSON object, in one line
  std::int64_t count;  ///< how often it was found
};

/// The report of a number from 0 to `report_count() - 1`.
/// \throws Error `SCONCE_ERROR_INVALID_ARGUMENT` if there is none
[[nodiscard]] inline Report report(std::int64_t index) {
  char* text = nullptr;
  char* json = nullptr;
  Report report{};
  detail::check(::sconce_sanitizer_get_report(index, &text, &json, &report.count));
  report.text = text;
  report.json = json;
  ::sconce_string_free(text);
  ::sconce_string_free(json);
  return report;
}

/// Waits for the devices of all live blocks and of those that were freed of late, and reports what
/// was written behind their ends, or into those that are free.
inline void check() { detail::check(::sconce_sanitizer_check()); }

/// Forgets all reports.
inline void reset() { detail::check(::sconce_sanitizer_reset()); }

/// Keeps the newest operations, and those near reports, for `save_page`.
/// \throws Error `SCONCE_ERROR_INVALID_STATE` without the sanitizer
inline void record_history(std::size_t max_operations = 4096) {
  detail::check(::sconce_sanitizer_record_history(true, max_operations));
}

/// Writes the page of the run so far, for a browser without a network.
/// \throws Error `SCONCE_ERROR_INVALID_STATE` if nothing was kept
inline void save_page(const std::string& path) {
  detail::check(::sconce_sanitizer_save_page(path.c_str()));
}

/// Counts the reports of a part of a program: `EXPECT_EQ(scope.reports(), 0)`. `reset` belongs
/// before it: within, it would forget what the scope has counted.
class Scope {
 public:
  /// Begins to count.
  Scope() noexcept : before_(report_count()) {}

  /// How many reports there are that were not there when the scope began.
  [[nodiscard]] std::int64_t reports() const noexcept {
    const std::int64_t all = report_count();
    return all < before_ ? all : all - before_;
  }

  /// Their texts, one after the other.
  [[nodiscard]] std::string text() const {
    std::string all;
    const std::int64_t count = report_count();
    for (std::int64_t index = count < before_ ? 0 : before_; index < count; ++index) {
      all += report(index).text + "\n";
    }
    return all;
  }

 private:
  std::int64_t before_;
};

/// Declares that other processes have waited for what they did to memory that is open here, as a
/// message from one of them says. Call it behind the opening, and again for each such message.
inline void heard_from_processes() { detail::check(::sconce_sanitizer_heard_from_processes()); }

/// Declares work on a stream that the library does not see. The destructor, or `done`, tells the
/// sanitizer: `sanitizer::access(stream, "my_kernel").reads(x, n).writes(y, n);`
class Access {
 public:
  /// Work on a stream; `name` is what reports call it.
  explicit Access(const cuda::CUDAStream& stream, std::string name = "declared work")
      : stream_(stream), name_(std::move(name)) {}
  Access(const Access&) = delete;
  Access& operator=(const Access&) = delete;
  /// Takes over what `other` has declared.
  Access(Access&& other) noexcept
      : stream_(other.stream_), name_(std::move(other.name_)), ranges_(std::move(other.ranges_)) {
    other.ranges_.clear();
  }
  Access& operator=(Access&&) = delete;
  ~Access() {
    if (!ranges_.empty()) {
      detail::log_failure(tell(), "declaring work");
    }
  }

  /// The work reads so many bytes; 0: to the end of the block.
  Access& reads(const void* address, std::size_t bytes = 0) {
    return add(address, bytes, SCONCE_SANITIZER_READ);
  }

  /// The work writes so many bytes, and may read them; 0: to the end of the block.
  Access& writes(const void* address, std::size_t bytes = 0) {
    return add(address, bytes, SCONCE_SANITIZER_WRITE);
  }

  /// Tells the sanitizer now.
  void done() { detail::check(tell()); }

 private:
  Access& add(const void* address, std::size_t bytes, std::int32_t mode) {
    if (is_enabled()) {
      ranges_.push_back({address, bytes, mode, 0});
    }
    return *this;
  }

  [[nodiscard]] ::sconce_status tell() noexcept {
    const auto status =
        ::sconce_sanitizer_access(stream_.get(), ranges_.data(), ranges_.size(), name_.c_str());
    ranges_.clear();
    return status;
  }

  cuda::CUDAStream stream_;
  std::string name_;
  std::vector<::sconce_sanitizer_range> ranges_{};
};

/// Work on a stream that the library does not see.
[[nodiscard]] inline Access access(const cuda::CUDAStream& stream,
                                   std::string name = "declared work") {
  return Access(stream, std::move(name));
}

/// A tensor that an operation uses. Converts from one, whose handle is borrowed.
class Operand {
 public:
  /// Any tensor; an undefined one is left out.
  template <class T, class = std::enable_if_t<std::is_base_of_v<TensorBase, T>>>
  Operand(const T& tensor) noexcept : tensor_(tensor.get()) {}

  /// The handle.
  [[nodiscard]] ::sconce_tensor* get() const noexcept { return tensor_; }

 private:
  ::sconce_tensor* tensor_;
};

/// Declares an operation on tensors that consists of many calls and launches, from the constructor
/// on to `end` or the destructor, on one thread: `Operation operation("norm", {x, weight}, {y});`
/// Kernels that the thread launches meanwhile are a part of it, and so are operations within it.
/// Tensors of devices are used on the streams that are current then. Does nothing while the
/// sanitizer is off.
class Operation {
 public:
  /// Begins; `name` is what reports call it. The tensors are used here, and may go afterwards.
  SCONCE_NODISCARD_CTOR explicit Operation(const std::string& name,
                                           std::initializer_list<Operand> reads = {},
                                           std::initializer_list<Operand> writes = {})
      : is_open_(is_enabled()) {
    if (is_open_) {
      const auto read = handles_of(reads);
      const auto written = handles_of(writes);
      detail::check(::sconce_sanitizer_begin_operation(name.c_str(), read.data(), read.size(),
                                                       written.data(), written.size()));
    }
  }
  Operation(const Operation&) = delete;
  Operation& operator=(const Operation&) = delete;
  ~Operation() {
    if (is_open_) {
      detail::log_failure(::sconce_sanitizer_end_operation(nullptr, 0), "ending an operation");
    }
  }

  /// Ends, with the tensors that it has made and written. A second call does nothing.
  void end(std::initializer_list<Operand> results = {}) {
    if (std::exchange(is_open_, false)) {
      const auto made = handles_of(results);
      detail::check(::sconce_sanitizer_end_operation(made.data(), made.size()));
    }
  }

 private:
  static std::vector<::sconce_tensor*> handles_of(std::initializer_list<Operand> operands) {
    std::vector<::sconce_tensor*> handles;
    for (const Operand& operand : operands) {
      if (operand.get() != nullptr) {
        handles.push_back(operand.get());
      }
    }
    return handles;
  }

  bool is_open_;
};

}  // namespace sanitizer
}  // namespace v0
}  // namespace sconce
