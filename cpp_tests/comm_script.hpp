// What the ranks of a communicator draw alike from one seed, compared with a naive model.
#ifndef SCONCE_CPP_TESTS_COMM_SCRIPT_HPP
#define SCONCE_CPP_TESTS_COMM_SCRIPT_HPP

#include <cstdint>
#include <numeric>
#include <random>
#include <sconce/sconce_all.hpp>
#include <vector>

#include "comm_model.hpp"
#include "comm_support.hpp"

namespace comm_script {

using namespace sconce::cuda;
using sconce::Tensor;
using sconce::distributed::async_op;
using sconce::distributed::Communicator;
using sconce::distributed::Work;
using support::elements;
using support::same_bytes;

const ScalarType kReduced[] = {sconce::kFloat,        sconce::kDouble,       sconce::kHalf,
                               sconce::kBFloat16,     sconce::kChar,         sconce::kByte,
                               sconce::kInt,          sconce::kUInt32,       sconce::kLong,
                               sconce::kUInt64,       sconce::kBool,         sconce::kComplexHalf,
                               sconce::kComplexFloat, sconce::kComplexDouble};
const ScalarType kCopied[] = {sconce::kFloat,         sconce::kHalf,          sconce::kBFloat16,
                              sconce::kShort,         sconce::kUInt16,        sconce::kBool,
                              sconce::kFloat8_e4m3fn, sconce::kFloat8_e5m2,   sconce::kByte,
                              sconce::kComplexHalf,   sconce::kComplexDouble, sconce::kLong};

/// What all ranks draw alike, and what each of them does with it.
class Script {
 public:
  Script(const Communicator& comm, std::uint64_t seed)
      : comm_(comm), random_(seed), rank_(comm.rank()), size_(comm.size()), model_(size_) {}

  std::int64_t number(std::int64_t least, std::int64_t most) {
    return std::uniform_int_distribution<std::int64_t>(least, most)(random_);
  }
  std::int32_t any_rank() { return static_cast<std::int32_t>(number(0, size_ - 1)); }
  template <std::size_t N>
  ScalarType any_of(const ScalarType (&types)[N]) {
    return types[number(0, N - 1)];
  }

  /// What the ranks put in, and what calls make of it.
  [[nodiscard]] const Model& model() const { return model_; }

  /// A tensor of this rank with these numbers.
  static Tensor here(const Numbers& numbers, ScalarType type) {
    return elements(numbers, type).to(sconce::Device(sconce::kCUDA));
  }
  /// A tensor of this rank that is to be written.
  static Tensor place(std::int64_t count, ScalarType type) {
    return here(Numbers(static_cast<std::size_t>(count), 7), type);
  }
  /// Compares a result with the model's.
  void expect(const char* what, const Tensor& seen, const Numbers& wanted, ScalarType type) const {
    EXPECT_TRUE(same_bytes(seen, elements(wanted, type)))
        << what << " of " << toString(type) << " at rank " << rank_ << " of " << size_;
  }
  /// Makes a call on the current stream or asynchronously.
  template <class Call>
  void make(Call&& call) {
    if (number(0, 1) == 0) {
      call(sconce::distributed::SyncOp());
      return;
    }
    const Work work = call(async_op);
    if (number(0, 1) == 0) {
      work.wait();
    } else {
      work.synchronize(std::chrono::seconds(30));
      EXPECT_TRUE(work.is_completed());
    }
  }

  /// Draws an operation that is defined for the type.
  ReduceOp operation(ScalarType type) {
    const std::int64_t last = type == sconce::kBool ? 3 : 5;
    switch (is_complex(type) ? number(3, 5) : number(0, last)) {
      case 0:
        return ReduceOp::PRODUCT;
      case 1:
        return ReduceOp::MIN;
      case 2:
        return ReduceOp::MAX;
      case 4:
        return ReduceOp::AVG;
      case 5:
        return ReduceOp::premul_sum(rank_ + 1.0);
      default:
        return ReduceOp::SUM;
    }
  }
  void all_reduce() {
    const ScalarType type = any_of(kReduced);
    const ReduceOp op = operation(type);
    const std::int64_t count = number(0, 40);
    const auto seed = static_cast<std::uint64_t>(number(0, 1 << 20));
    const Tensor tensor = here(model_.inputs(seed, rank_, count, type, op), type);
    make([&](auto mode) { return comm_.all_reduce(tensor, op, mode); });
    expect("all_reduce", tensor, model_.reduced(seed, count, type, op), type);
  }
  void reduce() {
    const ScalarType type = any_of(kReduced);
    const ReduceOp op = operation(type);
    const std::int64_t count = number(0, 40);
    const std::int32_t root = any_rank();
    const auto seed = static_cast<std::uint64_t>(number(0, 1 << 20));
    const Numbers mine = model_.inputs(seed, rank_, count, type, op);
    const Tensor tensor = here(mine, type);
    make([&](auto mode) { return comm_.reduce(tensor, root, op, mode); });
    expect("reduce", tensor, rank_ == root ? model_.reduced(seed, count, type, op) : mine, type);
  }
  void reduce_scatter() {
    const ScalarType type = any_of(kReduced);
    const ReduceOp op = operation(type);
    const std::int64_t count = number(0, 12);
    const auto seed = static_cast<std::uint64_t>(number(0, 1 << 20));
    const Tensor input = here(model_.inputs(seed, rank_, count * size_, type, op), type);
    const Tensor output = place(count, type);
    if (number(0, 1) == 0) {
      make([&](auto mode) { return comm_.reduce_scatter_tensor(output, input, op, mode); });
    } else {
      const auto list = input.chunk(size_);
      if (static_cast<std::int64_t>(list.size()) != size_) {
        return;  // nothing to scatter
      }
      make([&](auto mode) { return comm_.reduce_scatter(output, list, op, mode); });
    }
    const Numbers all = model_.reduced(seed, count * size_, type, op);
    expect("reduce_scatter", output, part(all, rank_ * count, count), type);
  }
  void broadcast() {
    const ScalarType type = any_of(kCopied);
    const std::int64_t count = number(0, 40);
    const std::int32_t root = any_rank();
    const auto seed = static_cast<std::uint64_t>(number(0, 1 << 20));
    const Tensor tensor = here(drawn(seed, rank_, count, 0, 3), type);
    make([&](auto mode) { return comm_.broadcast(tensor, root, mode); });
    expect("broadcast", tensor, drawn(seed, root, count, 0, 3), type);
  }
  void all_gather() {
    const ScalarType type = any_of(kCopied);
    const auto seed = static_cast<std::uint64_t>(number(0, 1 << 20));
    const bool is_list = number(0, 1) == 0;
    std::vector<std::int64_t> counts(static_cast<std::size_t>(size_), number(0, 12));
    std::vector<Tensor> list;
    Numbers wanted;
    for (std::int32_t rank = 0; rank < size_; ++rank) {
      std::int64_t& count = counts[static_cast<std::size_t>(rank)];
      count = is_list ? number(0, 12) : count;
      list.push_back(place(count, type));
      const Numbers theirs = drawn(seed, rank, count, 0, 3);
      wanted.insert(wanted.end(), theirs.begin(), theirs.end());
    }
    const Tensor input =
        here(drawn(seed, rank_, counts[static_cast<std::size_t>(rank_)], 0, 3), type);
    const Tensor output = place(static_cast<std::int64_t>(wanted.size()), type);
    if (!is_list) {
      make([&](auto mode) { return comm_.all_gather_into_tensor(output, input, mode); });
      expect("all_gather_into_tensor", output, wanted, type);
      return;
    }
    make([&](auto mode) { return comm_.all_gather(list, input, mode); });
    for (std::int32_t rank = 0; rank < size_; ++rank) {
      const auto at = static_cast<std::size_t>(rank);
      expect("all_gather", list[at], drawn(seed, rank, counts[at], 0, 3), type);
    }
  }
  void gather() {
    const ScalarType type = any_of(kCopied);
    const auto seed = static_cast<std::uint64_t>(number(0, 1 << 20));
    const std::int64_t count = number(0, 12);
    const std::int32_t root = any_rank();
    const Tensor input = here(drawn(seed, rank_, count, 0, 3), type);
    const bool is_list = number(0, 1) == 0;
    std::vector<Tensor> list;
    Numbers wanted;
    for (std::int32_t rank = 0; rank < size_ && rank_ == root; ++rank) {
      list.push_back(place(count, type));
      const Numbers theirs = drawn(seed, rank, count, 0, 3);
      wanted.insert(wanted.end(), theirs.begin(), theirs.end());
    }
    if (is_list) {
      make([&](auto mode) { return comm_.gather(input, list, root, mode); });
      for (std::size_t rank = 0; rank < list.size(); ++rank) {
        expect("gather", list[rank], drawn(seed, static_cast<std::int32_t>(rank), count, 0, 3),
               type);
      }
      return;
    }
    const Tensor output = rank_ == root ? place(count * size_, type) : Tensor();
    make([&](auto mode) { return comm_.gather_single(output, input, root, mode); });
    if (rank_ == root) {
      expect("gather_single", output, wanted, type);
    }
  }
  void scatter() {
    const ScalarType type = any_of(kCopied);
    const auto seed = static_cast<std::uint64_t>(number(0, 1 << 20));
    const std::int64_t count = number(1, 12);
    const std::int32_t root = any_rank();
    const Numbers all = drawn(seed, root, count * size_, 0, 3);
    const Tensor input = rank_ == root ? here(all, type) : Tensor();
    const Tensor output = place(count, type);
    if (number(0, 1) == 0) {
      const auto list = rank_ == root ? input.chunk(size_) : std::vector<Tensor>();
      make([&](auto mode) { return comm_.scatter(output, list, root, mode); });
    } else {
      make([&](auto mode) { return comm_.scatter_single(output, input, root, mode); });
    }
    expect("scatter", output, part(all, rank_ * count, count), type);
  }
  void all_to_all() {
    const ScalarType type = any_of(kCopied);
    const auto seed = static_cast<std::uint64_t>(number(0, 1 << 20));
    const std::int64_t columns = number(1, 3);
    const std::int64_t equal = number(0, 4);
    const std::int64_t kind = number(0, 2);
    // How many rows rank i sends to rank j.
    std::vector<std::vector<std::int64_t>> rows(static_cast<std::size_t>(size_));
    for (auto& row : rows) {
      for (std::int32_t to = 0; to < size_; ++to) {
        row.push_back(kind == 0 ? equal : number(0, 4));
      }
    }
    const auto sum = [](const std::vector<std::int64_t>& list, std::size_t end) {
      return std::accumulate(list.begin(), list.begin() + static_cast<std::ptrdiff_t>(end),
                             std::int64_t{0});
    };
    const auto me = static_cast<std::size_t>(rank_);
    std::vector<std::int64_t> received;
    Numbers wanted;
    for (std::size_t from = 0; from < rows.size(); ++from) {
      received.push_back(rows[from][me]);
      const Numbers theirs = drawn(seed, static_cast<std::int32_t>(from),
                                   sum(rows[from], rows.size()) * columns, 0, 3);
      const Numbers mine = part(theirs, sum(rows[from], me) * columns, rows[from][me] * columns);
      wanted.insert(wanted.end(), mine.begin(), mine.end());
    }
    const std::int64_t all_sent = sum(rows[me], rows.size());
    const std::int64_t all_received = sum(received, rows.size());
    const Tensor input =
        here(drawn(seed, rank_, all_sent * columns, 0, 3), type).reshape({all_sent, columns});
    const Tensor output = place(all_received * columns, type).reshape({all_received, columns});
    if (kind == 0) {
      make([&](auto mode) { return comm_.all_to_all_single(output, input, {}, {}, mode); });
    } else if (kind == 1) {
      make([&](auto mode) {
        return comm_.all_to_all_single(output, input, received, rows[me], mode);
      });
    } else {
      const auto to = output.split_with_sizes(received);
      const auto from = input.split_with_sizes(rows[me]);
      make([&](auto mode) { return comm_.all_to_all(to, from, mode); });
    }
    expect("all_to_all", output.reshape({-1}), wanted, type);
  }
  void ring() {
    const ScalarType type = any_of(kCopied);
    const auto seed = static_cast<std::uint64_t>(number(0, 1 << 20));
    const std::int64_t count = number(0, 40);
    const std::int32_t next = (rank_ + 1) % size_;
    const std::int32_t before = (rank_ + size_ - 1) % size_;
    const Tensor mine = here(drawn(seed, rank_, count, 0, 3), type);
    const Tensor theirs = place(count, type);
    sconce::distributed::group([&] {
      comm_.send(mine, next);
      comm_.recv(theirs, before);
    });
    const Tensor again = place(count, type);
    const auto works = sconce::distributed::group([&] {
      std::vector<Work> queued;
      queued.push_back(comm_.isend(theirs, before));
      queued.push_back(comm_.irecv(again, next));
      return queued;
    });
    for (const Work& work : works) {
      work.wait();
    }
    comm_.barrier();
    expect("recv", theirs, drawn(seed, before, count, 0, 3), type);
    expect("irecv", again, drawn(seed, rank_, count, 0, 3), type);
  }

  /// Makes random calls.
  void play(int calls) {
    for (int call = 0; call < calls; ++call) {
      switch (number(0, 8)) {
        case 0:
          all_reduce();
          break;
        case 1:
          reduce();
          break;
        case 2:
          reduce_scatter();
          break;
        case 3:
          broadcast();
          break;
        case 4:
          all_gather();
          break;
        case 5:
          gather();
          break;
        case 6:
          scatter();
          break;
        case 7:
          all_to_all();
          break;
        default:
          ring();
      }
    }
  }

 private:
  const Communicator& comm_;
  std::mt19937_64 random_;
  std::int32_t rank_;
  std::int32_t size_;
  Model model_;
};

}  // namespace comm_script

#endif
