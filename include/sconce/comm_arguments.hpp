/// \file
/// The checks of tensors that calls of a communicator share. Programs do not need this header.
#ifndef SCONCE_COMM_ARGUMENTS_HPP
#define SCONCE_COMM_ARGUMENTS_HPP

#include <cstddef>
#include <cstdint>
#include <sconce/comm_base.hpp>
#include <sconce/error.hpp>
#include <sconce/memory_format.hpp>
#include <sconce/scalar_type.hpp>
#include <sconce/tensor_class.hpp>
#include <string>
#include <utility>
#include <vector>

namespace sconce {
inline namespace v0 {
namespace detail {

/// The tensors of a call of a communicator, checked. Each function names the argument that it
/// refuses.
class CommArguments {
 public:
  /// The elements of a tensor.
  struct Data {
    void* address = nullptr;
    std::size_t count = 0;
    ScalarType dtype = kFloat;
  };
  /// Parts of a tensor for each rank, in elements.
  struct Splits {
    std::vector<std::size_t> counts;
    std::vector<std::size_t> offsets;
  };

  explicit CommArguments(const distributed::CommunicatorBase& comm) : comm_(comm) {}

  /// The elements of a tensor that is dense in memory, in any order of the dimensions.
  static Data dense(const char* name, const Tensor& tensor) {
    if (!tensor.defined()) {
      refuse(std::string(name) + " is an undefined tensor; pass one that has memory");
    }
    const std::int64_t dim = tensor.dim();
    if (!tensor.is_contiguous() &&
        !(dim == 4 && tensor.is_contiguous(MemoryFormat::ChannelsLast)) &&
        !(dim == 5 && tensor.is_contiguous(MemoryFormat::ChannelsLast3d))) {
      refuse("Tensors must be contiguous, but " + std::string(name) + " is not");
    }
    return {tensor.data_ptr(), static_cast<std::size_t>(tensor.numel()), tensor.dtype()};
  }
  /// The elements of a tensor in the order of its dimensions.
  static Data packed(const char* name, const Tensor& tensor) {
    const Data data = dense(name, tensor);
    if (!tensor.is_contiguous()) {
      refuse("Tensors must be contiguous, but " + std::string(name) + " is not");
    }
    return data;
  }
  /// The elements of the tensors of a list, one for each rank.
  [[nodiscard]] std::vector<Data> list(const char* name, const std::vector<Tensor>& tensors) const {
    if (tensors.size() != static_cast<std::size_t>(comm_.size())) {
      refuse(std::string(name) + " has " + std::to_string(tensors.size()) +
             " tensors, but there are " + std::to_string(comm_.size()) + " ranks");
    }
    std::vector<Data> all;
    all.reserve(tensors.size());
    for (std::size_t index = 0; index < tensors.size(); ++index) {
      all.push_back(dense((name + ("[" + std::to_string(index) + "]")).c_str(), tensors[index]));
    }
    return all;
  }
  static void same_type(const Data& one, const Data& other) {
    if (one.dtype != other.dtype) {
      refuse(std::string("output tensor must have the same type as input tensor, but they are ") +
             cuda::toString(one.dtype) + " and " + cuda::toString(other.dtype));
    }
  }
  static void same_type(const std::vector<Data>& all, const Data& one) {
    for (const Data& data : all) {
      same_type(data, one);
    }
  }
  /// Checks that this rank's tensor is as large as its entry in a list.
  void same_count(const char* name, const std::vector<Data>& all, const Data& mine) const {
    const std::size_t place = all[static_cast<std::size_t>(comm_.rank())].count;
    if (place != mine.count) {
      refuse(std::string(name) + "[" + std::to_string(comm_.rank()) + "] has " +
             std::to_string(place) + " elements, but the tensor of this rank has " +
             std::to_string(mine.count));
    }
  }
  /// A tensor with a part for each rank, and one of such a part.
  [[nodiscard]] std::pair<Data, Data> parts(const char* whole_name, const Tensor& whole,
                                            const char* part_name, const Tensor& part) const {
    const Data all = packed(whole_name, whole);
    const Data one = packed(part_name, part);
    same_type(all, one);
    if (all.count != static_cast<std::size_t>(comm_.size()) * one.count) {
      refuse(std::string(whole_name) + " tensor size must be equal to world_size times " +
             part_name + " tensor size, but they have " + std::to_string(all.count) + " and " +
             std::to_string(one.count) + " elements, and there are " +
             std::to_string(comm_.size()) + " ranks");
    }
    return {all, one};
  }
  /// Whether this rank is the root, which is the only rank that passes the argument.
  [[nodiscard]] bool is_at(std::int32_t root, const char* name, bool is_given) const {
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
  [[nodiscard]] Splits splits(const char* name, const Tensor& tensor,
                              const std::vector<std::int64_t>& sizes) const {
    const std::int64_t ranks = comm_.size();
    if (tensor.dim() == 0) {
      refuse(std::string(name) + " has no dimension that could be split");
    }
    const std::int64_t rows = tensor.size(0);
    std::vector<std::int64_t> each = sizes;
    if (each.empty()) {
      if (rows % ranks != 0) {
        refuse("Tensor's dim 0 does not divide equally across group size: " + std::string(name) +
               " has " + std::to_string(rows) + " rows for " + std::to_string(ranks) + " ranks");
      }
      each.assign(static_cast<std::size_t>(ranks), rows / ranks);
    }
    if (each.size() != static_cast<std::size_t>(ranks)) {
      refuse("Number of tensor splits not equal to group size: " + std::string(name) + " has " +
             std::to_string(each.size()) + " for " + std::to_string(ranks) + " ranks");
    }
    const auto row = static_cast<std::size_t>(rows == 0 ? 0 : tensor.numel() / rows);
    Splits result;
    std::int64_t begin = 0;
    for (const std::int64_t part : each) {
      if (part < 0 || part > rows - begin) {
        refuse("Split sizes doesn't match total dim 0 size of " + std::string(name) + ": " +
               std::to_string(rows));
      }
      result.offsets.push_back(static_cast<std::size_t>(begin) * row);
      result.counts.push_back(static_cast<std::size_t>(part) * row);
      begin += part;
    }
    if (begin != rows) {
      refuse("Split sizes doesn't match total dim 0 size of " + std::string(name) + ": " +
             std::to_string(begin) + " of " + std::to_string(rows));
    }
    return result;
  }

 private:
  [[noreturn]] static void refuse(const std::string& why) {
    throw Error(SCONCE_ERROR_INVALID_ARGUMENT, why);
  }

  const distributed::CommunicatorBase& comm_;
};

}  // namespace detail
}  // namespace v0
}  // namespace sconce

#endif  // SCONCE_COMM_ARGUMENTS_HPP
