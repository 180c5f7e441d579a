// Calls of communicators over tensors of all types, with random ranks, groups, splits and sizes,
// beside a naive model. All ranks draw the same script from one seed.
#include <cstdint>
#include <random>
#include <sconce/sconce_all.hpp>
#include <vector>

#include "comm_script.hpp"

namespace {

using namespace comm_script;
using support::on_ranks;
using support::status_of;

class CommValuesTest : public support::CommFixture {};

TEST_F(CommValuesTest, RandomCallsGiveWhatTheModelGives) {
  const std::int32_t most = device_count();
  for (std::int32_t ranks = 2; ranks <= most; ranks += ranks < 4 ? 1 : 2) {
    on_ranks(ranks, [&](const Communicator& comm) {
      Script(comm, static_cast<std::uint64_t>(ranks)).play(200);
    });
  }
}

TEST_F(CommValuesTest, RandomGroupsGiveWhatTheModelGives) {
  const std::int32_t ranks = device_count();
  on_ranks(ranks, [&](const Communicator& comm) {
    std::mt19937_64 random(20261123);
    for (std::uint64_t round = 0; round < 4; ++round) {
      std::vector<std::int32_t> colors;
      for (std::int32_t rank = 0; rank < ranks; ++rank) {
        colors.push_back(std::uniform_int_distribution<std::int32_t>(-1, 2)(random));
      }
      const std::int32_t color = colors[static_cast<std::size_t>(comm.rank())];
      // The order is reversed by the keys.
      const auto part = comm.split(color, -comm.rank(), support::quick());
      ASSERT_EQ(part.has_value(), color >= 0);
      if (part.has_value()) {
        std::int32_t behind = 0;
        for (std::int32_t rank = comm.rank() + 1; rank < ranks; ++rank) {
          behind += colors[static_cast<std::size_t>(rank)] == color ? 1 : 0;
        }
        EXPECT_EQ(part->rank(), behind);
        EXPECT_EQ(part->size(), std::count(colors.begin(), colors.end(), color));
        EXPECT_EQ(part->device(), comm.device());
        Script(*part, round * 8 + static_cast<std::uint64_t>(color)).play(20);
      }
      Script(comm, round).play(5);
    }
  });
}

TEST_F(CommValuesTest, EveryTypeAndOperationIsReduced) {
  on_ranks(2, [](const Communicator& comm) {
    for (const ScalarType type : kReduced) {
      std::vector<ReduceOp> ops = {ReduceOp::SUM, ReduceOp::PRODUCT,
                                   ReduceOp::MIN, ReduceOp::MAX,
                                   ReduceOp::AVG, ReduceOp::premul_sum(comm.rank() + 1.0)};
      if (type == sconce::kBool) {
        ops.erase(ops.begin() + 4, ops.end());
      } else if (is_complex(type)) {
        ops.erase(ops.begin() + 1, ops.begin() + 4);
      }
      const Script script(comm, 0);
      for (const ReduceOp op : ops) {
        const Tensor tensor =
            Script::here(script.model().inputs(5, comm.rank(), 33, type, op), type);
        comm.all_reduce(tensor, op);
        script.expect("all_reduce", tensor, script.model().reduced(5, 33, type, op), type);
      }
    }
  });
}

TEST_F(CommValuesTest, FloatsOfEightBitsAreReduced) {
  on_ranks(2, [](const Communicator& comm) {
    const Script script(comm, 0);
    for (const ScalarType type : {sconce::kFloat8_e4m3fn, sconce::kFloat8_e5m2}) {
      for (const ReduceOp op :
           {ReduceOp::SUM, ReduceOp::PRODUCT, ReduceOp::MIN, ReduceOp::MAX, ReduceOp::AVG}) {
        const Tensor tensor =
            Script::here(script.model().inputs(6, comm.rank(), 33, type, op), type);
        const auto reduce = [&] { comm.all_reduce(tensor, op); };
        if (getDeviceProperties(comm.device()).major < 9) {
          EXPECT_EQ(status_of(reduce), SCONCE_ERROR_NOT_SUPPORTED);
          continue;
        }
        reduce();
        script.expect("all_reduce", tensor, script.model().reduced(6, 33, type, op), type);
      }
    }
  });
}

TEST_F(CommValuesTest, ImagesInAnyOrderOfMemoryAreReduced) {
  on_ranks(2, [](const Communicator& comm) {
    const Tensor image = sconce::ones({2, 3, 4, 5}, sconce::device(sconce::kCUDA))
                             .contiguous(sconce::MemoryFormat::ChannelsLast);
    ASSERT_FALSE(image.is_contiguous());
    comm.all_reduce(image);
    EXPECT_EQ(image.sum().item<float>(), 240.0F);
  });
}

}  // namespace
