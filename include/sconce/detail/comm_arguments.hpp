/// \file
/// The checks of tensors that calls of a communicator share. Programs do not need this header.
#ifndef SCONCE_DETAIL_COMM_ARGUMENTS_HPP
#define SCONCE_DETAIL_COMM_ARGUMENTS_HPP

#include <sconce/c/comm.h>
#include <sconce/c/library.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <sconce/comm/base.hpp>
#include <sconce/cuda/error.hpp>
#include <sconce/cuda/memory_format.hpp>
#include <sconce/cuda/scalar_type.hpp>
#include <sconce/tensor/class.hpp>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace sconce {
inline namespace v0 {
namespace detail {

/// The tensors of a call of a communicator, checked before anything is queued. Each function names
/// the argument that it refuses.
class CommArguments {
 public:
  /// What a call does with a tensor.
  enum class Use : std::uint8_t { Read = 1, Write = 2, Both = 3 };

  /// A tensor that has been checked.
  struct Data {
    void* address = nullptr;         ///< of its elements, once they are packed
    std::size_t count = 0;           ///< the number of its elements
    ScalarType dtype = kFloat;       ///< the type of its elements
    const Tensor* tensor = nullptr;  ///< the tensor; null if the rank passes none
    const char* name = "";           ///< the argument
    std::int32_t index = -1;         ///< the entry of the list; -1 if the argument is no list
    Use use = Use::Read;             ///< what the call does with it
    bool is_packed = true;           ///< whether its elements lie in the order of the dimensions

    /// Whether the call reads it.
    [[nodiscard]] bool is_read() const noexcept { return use != Use::Write; }
    /// Whether the call writes it.
    [[nodiscard]] bool is_written() const noexcept { return use != Use::Read; }
    /// The argument, for messages.
    [[nodiscard]] std::string text() const {
      return index < 0 ? std::string(name) : name + ("[" + std::to_string(index) + "]");
    }
    /// The addresses that its elements occupy: from the first one to the second one.
    [[nodiscard]] std::pair<std::uintptr_t, std::uintptr_t> range() const noexcept {
      const auto begin = reinterpret_cast<std::uintptr_t>(address);
      return {begin, begin + count * cuda::elementSize(dtype)};
    }
  };
  /// Parts of a tensor for each rank, in elements.
  struct Splits {
    std::vector<std::size_t> counts;
    std::vector<std::size_t> offsets;
  };

  explicit CommArguments(const distributed::CommunicatorBase& comm) : comm_(comm) {}

  /// A tensor of the communicator's device that is contiguous in one of the memory formats.
  [[nodiscard]] Data tensor(const char* name, const Tensor& tensor, Use use,
                            std::int32_t index = -1) const {
    Data data;
    data.name = name;
    data.index = index;
    data.use = use;
    if (!tensor.defined()) {
      refuse(data.text() + " is an undefined tensor; pass one that has memory");
    }
    if (const Device device = tensor.device(); !device.is_cuda()) {
      refuse(data.text() + " is on the CPU, in host memory; it must be on " + place());
    } else if (device.index() != comm_.device()) {
      throw Error(SCONCE_ERROR_CROSS_DEVICE, data.text() + " is on " + device.str() +
                                                 ", but the communicator works on " + place());
    }
    const std::int64_t dim = tensor.dim();
    data.is_packed = tensor.is_contiguous();
    if (!data.is_packed && !(dim == 4 && tensor.is_contiguous(MemoryFormat::ChannelsLast)) &&
        !(dim == 5 && tensor.is_contiguous(MemoryFormat::ChannelsLast3d))) {
      refuse("Tensors must be contiguous, but " + data.text() + " is not");
    }
    data.address = tensor.data_ptr();
    data.count = static_cast<std::size_t>(tensor.numel());
    data.dtype = tensor.dtype();
    data.tensor = &tensor;
    return data;
  }
  /// The tensors of a list, one for each rank.
  [[nodiscard]] std::vector<Data> list(const char* name, const std::vector<Tensor>& tensors,
                                       Use use) const {
    if (tensors.size() != static_cast<std::size_t>(comm_.size())) {
      refuse(std::string(name) + " has " + std::to_string(tensors.size()) +
             " tensors, but there are " + std::to_string(comm_.size()) + " ranks");
    }
    std::vector<Data> all;
    all.reserve(tensors.size());
    for (std::size_t index = 0; index < tensors.size(); ++index) {
      all.push_back(tensor(name, tensors[index], use, static_cast<std::int32_t>(index)));
    }
    return all;
  }
  /// Checks that elements of both have the same type.
  static void same_type(const Data& one, const Data& other) {
    if (one.dtype != other.dtype) {
      refuse("output tensor must have the same type as input tensor, but " + one.text() + " is " +
             cuda::toString(one.dtype) + " and " + other.text() + " is " +
             cuda::toString(other.dtype));
    }
  }
  /// Checks that elements of all have the same type.
  static void same_type(const std::vector<Data>& all, const Data& one) {
    for (const Data& data : all) {
      same_type(data, one);
    }
  }
  /// Checks that what this rank sends to itself is as large as what it receives from itself.
  void same_count(const std::vector<Data>& all, const Data& mine) const {
    const Data& place = all[static_cast<std::size_t>(comm_.rank())];
    if (place.count != mine.count) {
      refuse(place.text() + " has " + std::to_string(place.count) +
             " elements, but the tensor of this rank has " + std::to_string(mine.count) + " (" +
             mine.text() + ")");
    }
  }
  /// As `same_count`, and checks the sizes, too.
  void same_sizes(const std::vector<Data>& all, const Data& mine) const {
    same_count(all, mine);
    const Data& place = all[static_cast<std::size_t>(comm_.rank())];
    if (place.tensor->sizes() != mine.tensor->sizes()) {
      refuse(place.text() + " has other sizes than " + mine.text() +
             ", which is this rank's, although both have " + std::to_string(mine.count) +
             " elements");
    }
  }
  /// Checks that tensors that the call writes share no memory with other tensors of the call. What
  /// this rank sends to itself may be in its place already.
  void separate(const std::vector<Data>& written, const std::vector<Data>& read) const {
    std::vector<const Data*> sorted;
    sorted.reserve(written.size());
    for (const Data& data : written) {
      if (data.count > 0) {
        sorted.push_back(&data);
      }
    }
    std::sort(sorted.begin(), sorted.end(),
              [](const Data* a, const Data* b) { return a->range() < b->range(); });
    for (std::size_t i = 1; i < sorted.size(); ++i) {
      if (sorted[i - 1]->range().second > sorted[i]->range().first) {
        refuse_shared(*sorted[i - 1], *sorted[i]);
      }
    }
    const std::int32_t rank = comm_.rank();
    const auto is_mine = [&](const Data& data) { return data.index < 0 || data.index == rank; };
    for (const Data& data : read) {
      const auto [begin, end] = data.range();
      auto place = std::upper_bound(
          sorted.begin(), sorted.end(), begin,
          [](std::uintptr_t at, const Data* other) { return at < other->range().second; });
      for (; begin < end && place != sorted.end() && (*place)->range().first < end; ++place) {
        if (!is_mine(data) || !is_mine(**place) || !is_same_view(data, **place)) {
          refuse_shared(**place, data);
        }
      }
    }
  }
  /// Checks a tensor with a part for each rank, and one of such a part.
  void parts(const Data& whole, const Data& part) const {
    same_type(whole, part);
    if (whole.count != static_cast<std::size_t>(comm_.size()) * part.count) {
      refuse(whole.text() + " tensor size must be equal to world_size times " + part.text() +
             " tensor size, but they have " + std::to_string(whole.count) + " and " +
             std::to_string(part.count) + " elements, and there are " +
             std::to_string(comm_.size()) + " ranks");
    }
  }
  /// Whether this rank is the root, which is the only rank that passes the argument.
  [[nodiscard]] bool is_at(std::int32_t root, const char* name, bool is_given) const {
    if (root < 0 || root >= comm_.size()) {
      refuse("root is " + std::to_string(root) + "; it must be from 0 to " +
             std::to_string(comm_.size() - 1));
    }
    const bool is_here = comm_.rank() == root;
    if (is_here != is_given) {
      refuse(
          std::string(name) +
          (is_here ? " must be specified on rank " : " must be left out, since the root is rank ") +
          std::to_string(root));
    }
    return is_here;
  }
  /// The parts of a tensor whose first dimension is split.
  [[nodiscard]] Splits splits(const Data& data, const std::vector<std::int64_t>& sizes) const {
    const Tensor& tensor = *data.tensor;
    const std::int64_t ranks = comm_.size();
    if (tensor.dim() == 0) {
      refuse(data.text() + " has no dimension that could be split");
    }
    const std::int64_t rows = tensor.size(0);
    std::vector<std::int64_t> each = sizes;
    if (each.empty()) {
      if (rows % ranks != 0) {
        refuse("Tensor's dim 0 does not divide equally across group size: " + data.text() +
               " has " + std::to_string(rows) + " rows for " + std::to_string(ranks) + " ranks");
      }
      each.assign(static_cast<std::size_t>(ranks), rows / ranks);
    }
    if (each.size() != static_cast<std::size_t>(ranks)) {
      refuse("Number of tensor splits not equal to group size: " + data.text() + " has " +
             std::to_string(each.size()) + " for " + std::to_string(ranks) + " ranks");
    }
    const auto row = static_cast<std::size_t>(rows == 0 ? 0 : tensor.numel() / rows);
    Splits result;
    std::int64_t begin = 0;
    for (const std::int64_t part : each) {
      if (part < 0 || part > rows - begin) {
        refuse("Split sizes doesn't match total dim 0 size of " + data.text() + ": " +
               std::to_string(rows));
      }
      result.offsets.push_back(static_cast<std::size_t>(begin) * row);
      result.counts.push_back(static_cast<std::size_t>(part) * row);
      begin += part;
    }
    if (begin != rows) {
      refuse("Split sizes doesn't match total dim 0 size of " + data.text() + ": " +
             std::to_string(begin) + " of " + std::to_string(rows));
    }
    return result;
  }
  /// Checks that this rank's part of what it sends is as large as its part of what it receives.
  void same_own_part(const Splits& received, const Splits& sent) const {
    const auto rank = static_cast<std::size_t>(comm_.rank());
    if (received.counts[rank] != sent.counts[rank]) {
      refuse("rank " + std::to_string(rank) + " receives " + std::to_string(received.counts[rank]) +
             " elements from itself (output_split_sizes), but sends " +
             std::to_string(sent.counts[rank]) + " to itself (input_split_sizes)");
    }
  }

 private:
  [[noreturn]] static void refuse(const std::string& why) {
    throw Error(SCONCE_ERROR_INVALID_ARGUMENT, why);
  }
  [[noreturn]] static void refuse_shared(const Data& one, const Data& other) {
    refuse(one.text() + " and " + other.text() +
           " share memory; each tensor that the call writes needs memory of its own");
  }
  static bool is_same_view(const Data& one, const Data& other) {
    return one.address == other.address && one.count == other.count &&
           ((one.is_packed && other.is_packed) ||
            (one.tensor->sizes() == other.tensor->sizes() &&
             one.tensor->strides() == other.tensor->strides()));
  }
  [[nodiscard]] std::string place() const {
    return Device(kCUDA, static_cast<cuda::DeviceIndex>(comm_.device())).str();
  }

  const distributed::CommunicatorBase& comm_;
};

/// How calls of a communicator use tensors: alone or in a group, with memory of the group where
/// elements lie in another order.
class TensorCommunicator : public distributed::CommunicatorBase {
 protected:
  using Data = CommArguments::Data;
  using Splits = CommArguments::Splits;
  using Use = CommArguments::Use;

  /// Takes ownership of a handle.
  explicit TensorCommunicator(sconce_comm* comm) : CommunicatorBase(comm) {}

  [[nodiscard]] CommArguments arguments() const { return CommArguments(*this); }

  /// Makes a call, which reads the addresses of its tensors. Its work keeps the tensors.
  template <class Mode, class Call>
  typename Mode::Result single(std::initializer_list<Data*> all, Call&& call) const {
    const bool packed =
        std::all_of(all.begin(), all.end(), [](const Data* data) { return data->is_packed; });
    const auto run = [&] {
      for (Data* data : all) {
        pack<Mode>(*data);
      }
      return call();
    };
    if constexpr (std::is_same_v<Mode, distributed::AsyncOp>) {
      distributed::Work work = packed ? call() : distributed::group(run);
      for (const Data* data : all) {
        keep(work, *data);
      }
      return work;
    } else {
      packed ? call() : distributed::group(run);
    }
  }
  /// Makes calls in a group. They finish one after another on the communicator's stream, so the
  /// work of the last one represents all, and keeps the tensors.
  template <class Mode, class Body>
  typename Mode::Result grouped(std::vector<Data>& some, std::vector<Data>& others,
                                Body&& body) const {
    const auto each = [&](auto&& act) {
      std::for_each(some.begin(), some.end(), act);
      std::for_each(others.begin(), others.end(), act);
    };
    if constexpr (std::is_same_v<Mode, distributed::AsyncOp>) {
      std::optional<distributed::Work> last;
      distributed::group([&] {
        each([&](Data& data) { pack<Mode>(data); });
        body([&](auto&& call) { last = call(); });
      });
      each([&](const Data& data) { keep(*last, data); });
      return std::move(*last);
    } else {
      distributed::group([&] {
        each([&](Data& data) { pack<Mode>(data); });
        body([](auto&& call) { call(); });
      });
    }
  }

 private:
  /// Within a group, gives a tensor that is not packed memory in which it is.
  template <class Mode>
  void pack(Data& data) const {
    if (!data.is_packed) {
      const cuda::CUDAStream stream = cuda::getCurrentCUDAStream(device());
      detail::check(::sconce_comm_stage_tensor(
          get(), data.tensor->get(), data.is_read(), data.is_written(), stream.get(),
          std::is_same_v<Mode, distributed::AsyncOp>, &data.address));
    }
  }
  static void keep(const distributed::Work& work, const Data& data) {
    if (data.tensor != nullptr) {
      work.keep(*data.tensor);
    }
  }
};

}  // namespace detail
}  // namespace v0
}  // namespace sconce

#endif  // SCONCE_DETAIL_COMM_ARGUMENTS_HPP
