// What graph_model_test.cpp makes its programs of: random numbers, the order of streams, and
// operations on blocks of memory.
#ifndef SCONCE_CPP_TESTS_GRAPH_MODEL_HPP
#define SCONCE_CPP_TESTS_GRAPH_MODEL_HPP

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <sconce/sconce_all.hpp>
#include <string>
#include <vector>

#include "fixture.hpp"

namespace model {

using namespace sconce::cuda;
using sconce::detail::check;
using Bytes = std::vector<std::uint8_t>;

/// Streams of the pool; captures use these. The default stream comes behind them.
constexpr int kStreams = 4;
constexpr int kGenerators = 2;
// What clocks know things by: blocks by their own numbers.
constexpr int kGeneratorClock = 1'000'000;

/// SplitMix64.
class Numbers {
 public:
  explicit Numbers(std::uint64_t seed) : state_(seed) {}
  std::size_t below(std::size_t end) {
    std::uint64_t word = state_ += 0x9E3779B97F4A7C15U;
    word = (word ^ (word >> 30)) * 0xBF58476D1CE4E5B9U;
    word = (word ^ (word >> 27)) * 0x94D049BB133111EBU;
    return static_cast<std::size_t>((word ^ (word >> 31)) % end);
  }
  bool one_of(std::size_t times) { return below(times) == 0; }

 private:
  std::uint64_t state_;
};

/// What streams know of each other's work, and who uses what. Keeps programs free of races.
class Clocks {
 public:
  explicit Clocks(int streams)
      : seen_(static_cast<std::size_t>(streams),
              std::vector<int>(static_cast<std::size_t>(streams), 0)) {}

  void follow(int stream, int earlier) {
    for (std::size_t i = 0; i < seen_.size(); ++i) {
      of(stream)[i] = std::max(of(stream)[i], of(earlier)[i]);
    }
  }
  /// The streams whose uses of something a stream must wait for.
  [[nodiscard]] std::vector<int> rivals(int stream, int what) const {
    std::vector<int> found;
    const auto uses = uses_.find(what);
    if (uses == uses_.end()) return found;
    for (const auto& [by, time] : uses->second) {
      if (seen_[static_cast<std::size_t>(stream)][static_cast<std::size_t>(by)] < time) {
        found.push_back(by);
      }
    }
    return found;
  }
  void use(int stream, int what) {
    uses_[what][stream] = ++of(stream)[static_cast<std::size_t>(stream)];
  }
  /// The streams that use something.
  [[nodiscard]] std::vector<int> users(int what) const {
    std::vector<int> found;
    const auto uses = uses_.find(what);
    if (uses == uses_.end()) return found;
    for (const auto& use : uses->second) found.push_back(use.first);
    return found;
  }
  void forget(int what) { uses_.erase(what); }

 private:
  std::vector<int>& of(int stream) { return seen_[static_cast<std::size_t>(stream)]; }
  std::vector<std::vector<int>> seen_;
  std::map<int, std::map<int, int>> uses_;
};

/// Memory of the device, and what the model says it holds.
struct Block {
  std::uint8_t* address = nullptr;
  Bytes bytes;
  int home = 0;
};

enum class Kind { Set, Add, Copy, Uniform, Normal };

/// Work on one or two blocks, named by number.
struct Operation {
  Kind kind = Kind::Set;
  int target = 0;
  int source = 0;
  std::size_t at = 0;
  std::size_t from = 0;
  std::size_t count = 0;
  std::uint8_t value = 0;
  int generator = 0;

  [[nodiscard]] bool is_random() const { return kind == Kind::Uniform || kind == Kind::Normal; }
};

/// Streams and generators of the library, and what they do, on the device and in the model.
class Machine {
 protected:
  explicit Machine(std::uint64_t seed) : numbers_(seed) {
    for (int i = 0; i < kStreams; ++i) streams_.push_back(getStreamFromPool());
    streams_.push_back(getDefaultCUDAStream());
    for (int i = 0; i < kGenerators; ++i) {
      generators_.push_back(createCUDAGenerator());
      plain_.push_back(createCUDAGenerator());
      seed_generator(i, seed * 7 + static_cast<std::uint64_t>(i));
    }
  }

  static std::size_t index(int number) { return static_cast<std::size_t>(number); }

  static void same(const Block& block, const std::string& name) {
    Bytes found(block.bytes.size());
    check(::sconce_copy(found.data(), block.address, found.size(), false));
    for (std::size_t i = 0; i < found.size(); ++i) {
      ASSERT_EQ(int{found[i]}, int{block.bytes[i]}) << name << ", byte " << i;
    }
  }

  const CUDAStream& stream(int number) const { return streams_[index(number)]; }

  /// Waits that make a stream's use of something safe; some of them are more than needed.
  void order(Clocks& clocks, int user, int what) {
    for (const int rival : clocks.rivals(user, what)) {
      stream(user).wait_stream(stream(rival));
      clocks.follow(user, rival);
    }
  }

  void claim(Clocks& clocks, int user, const Operation& operation) {
    order(clocks, user, operation.target);
    if (operation.kind == Kind::Copy) order(clocks, user, operation.source);
    if (operation.is_random()) order(clocks, user, kGeneratorClock + operation.generator);
    clocks.use(user, operation.target);
    if (operation.kind == Kind::Copy) clocks.use(user, operation.source);
    if (operation.is_random()) clocks.use(user, kGeneratorClock + operation.generator);
  }

  /// Queues an operation.
  void queue(const Operation& operation, const Block& target, const Block* source, int on) {
    std::uint8_t* const to = target.address + operation.at;
    const sconce_stream raw = stream(on).get();
    switch (operation.kind) {
      case Kind::Set:
        check(::sconce_memory_set_on(to, operation.value, operation.count, raw));
        break;
      case Kind::Add: {
        const CUDAStreamGuard guard(stream(on));
        const auto options = sconce::TensorOptions(sconce::kCUDA).dtype(sconce::kByte);
        const auto count = static_cast<std::int64_t>(operation.count);
        sconce::from_blob(to, {count}, options).add_(int{operation.value});
        break;
      }
      case Kind::Copy:
        check(::sconce_copy_on(to, source->address + operation.from, operation.count, true, raw));
        break;
      case Kind::Uniform:
        check(::sconce_random_uniform_on(to, operation.count / 4, SCONCE_DTYPE_F32, 0, 1,
                                         generators_[index(operation.generator)].get(), raw));
        break;
      case Kind::Normal:
        check(::sconce_random_normal_on(to, operation.count / 4, SCONCE_DTYPE_F32, 0, 1,
                                        generators_[index(operation.generator)].get(), raw));
        break;
    }
  }

  /// What an operation does in the model. Random numbers are those of an ordinary fill.
  void imitate(const Operation& operation, Block& target, const Block* source) {
    std::uint8_t* const to = target.bytes.data() + operation.at;
    switch (operation.kind) {
      case Kind::Set:
        std::memset(to, operation.value, operation.count);
        break;
      case Kind::Add:
        for (std::size_t i = 0; i < operation.count; ++i) {
          to[i] = static_cast<std::uint8_t>(to[i] + operation.value);
        }
        break;
      case Kind::Copy:
        std::memcpy(to, source->bytes.data() + operation.from, operation.count);
        break;
      case Kind::Uniform:
      case Kind::Normal: {
        const CUDAGenerator& generator = plain_[index(operation.generator)];
        DeviceBuffer drawn = DeviceBuffer::of<float>(operation.count / 4);
        if (operation.kind == Kind::Uniform) {
          uniform_(drawn.span<float>(), 0, 1, generator);
        } else {
          normal_(drawn.span<float>(), 0, 1, generator);
        }
        check(::sconce_copy(to, drawn.get(), operation.count, false));
        break;
      }
    }
  }

  void seed_generator(int which, std::uint64_t seed) {
    // The seed waits for the device, whatever stream draws.
    generators_[index(which)].set_current_seed(seed);
    plain_[index(which)].set_current_seed(seed);
  }

  Numbers numbers_;
  std::vector<CUDAStream> streams_;
  std::vector<CUDAGenerator> generators_;
  std::vector<CUDAGenerator> plain_;  // of the model
};

}  // namespace model

#endif  // SCONCE_CPP_TESTS_GRAPH_MODEL_HPP
