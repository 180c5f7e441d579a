// The naive model of a communicator: what its ranks put in, and what a call makes of it.
#ifndef SCONCE_CPP_TESTS_COMM_MODEL_HPP
#define SCONCE_CPP_TESTS_COMM_MODEL_HPP

#include <algorithm>
#include <cstdint>
#include <sconce/sconce_all.hpp>
#include <vector>

#include "comm_support.hpp"

namespace comm_script {

using sconce::ScalarType;
using sconce::distributed::ReduceOp;
using support::drawn;

using Numbers = std::vector<std::int64_t>;

inline bool is_complex(ScalarType type) {
  return type == sconce::kComplexHalf || type == sconce::kComplexFloat ||
         type == sconce::kComplexDouble;
}

/// `count` numbers of a list from `begin` on.
inline Numbers part(const Numbers& all, std::int64_t begin, std::int64_t count) {
  return {all.begin() + begin, all.begin() + begin + count};
}

/// The numbers of all ranks, which any rank can work out from the seed.
class Model {
 public:
  explicit Model(std::int32_t size) : size_(size) {}

  /// The numbers of a rank, small enough for exact results in each type.
  [[nodiscard]] Numbers inputs(std::uint64_t seed, std::int32_t rank, std::int64_t count,
                               ScalarType type, ReduceOp op) const {
    switch (op.op()) {
      case SCONCE_COMM_AVG: {
        Numbers numbers = drawn(seed, rank, count, 0, 1);
        for (std::int64_t& each : numbers) {
          each *= size_;
        }
        return numbers;
      }
      case SCONCE_COMM_PROD:
        return drawn(seed, rank, count, type == sconce::kBool ? 0 : 1, rank % 3 == 0 ? 3 : 1);
      default:
        return drawn(seed, rank, count, 0, 3);
    }
  }
  /// What the model makes of the numbers of all ranks.
  [[nodiscard]] Numbers reduced(std::uint64_t seed, std::int64_t count, ScalarType type,
                                ReduceOp op) const {
    Numbers result;
    for (std::int32_t rank = 0; rank < size_; ++rank) {
      Numbers numbers = inputs(seed, rank, count, type, op);
      for (std::size_t at = 0; at < numbers.size(); ++at) {
        std::int64_t& each = numbers[at];
        if (type == sconce::kBool) {
          each = each != 0 ? 1 : 0;
        }
        if (op.op() == SCONCE_COMM_PREMUL_SUM) {
          each *= rank + 1;
        }
        if (rank == 0) {
          continue;
        }
        const std::int64_t before = result[at];
        switch (op.op()) {
          case SCONCE_COMM_PROD:
            each *= before;
            break;
          case SCONCE_COMM_MIN:
            each = std::min(each, before);
            break;
          case SCONCE_COMM_MAX:
            each = std::max(each, before);
            break;
          default:
            each += before;
        }
      }
      result = numbers;
    }
    if (op.op() == SCONCE_COMM_AVG) {
      for (std::int64_t& each : result) {
        each /= size_;
      }
    }
    return result;
  }

 private:
  std::int32_t size_;
};

}  // namespace comm_script

#endif
