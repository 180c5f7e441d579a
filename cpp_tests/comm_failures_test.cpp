// Communicators of which a rank aborts, fails or does not come: the others learn of it.
#include <chrono>
#include <cstdint>
#include <sconce/sconce_all.hpp>
#include <stdexcept>
#include <thread>

#include "comm_support.hpp"

namespace {

using namespace sconce::cuda;
using sconce::Tensor;
using sconce::distributed::async_op;
using sconce::distributed::CommOptions;
using sconce::distributed::Communicator;
using sconce::distributed::ReduceOp;
using sconce::distributed::UniqueId;
using support::contains;
using support::error_of;
using support::on_ranks;
using support::ones;
using support::status_of;

class CommFailuresTest : public support::CommFixture {};

TEST_F(CommFailuresTest, AnExceptionAbortsTheCommunicatorSoThatOthersLearnOfIt) {
  const UniqueId id = sconce::distributed::get_unique_id();
  const bool is_sim = sconce::active_backend() == sconce::Backend::Sim;
  CommOptions options;
  options.timeout = is_sim ? std::chrono::seconds(60) : std::chrono::seconds(3);
  const auto began = std::chrono::steady_clock::now();
  support::on_threads(2, [&](std::int32_t rank, auto&&) {
    set_device(rank);
    try {
      const auto comm = Communicator::init_rank(id, 2, rank, rank, options);
      const Tensor tensor = ones(rank);
      comm.all_reduce(tensor);
      if (rank == 1) {
        throw std::out_of_range("no such layer");
      }
      const sconce::Error error =
          error_of([&] { comm.all_reduce(tensor, ReduceOp::SUM, async_op).synchronize(); });
      if (is_sim) {
        EXPECT_EQ(error.status(), SCONCE_ERROR_REMOTE);
        EXPECT_TRUE(contains(error.what(), "rank 1 has aborted"));
      } else {
        // NCCL may notice nothing; then the limit ends the call.
        EXPECT_TRUE(error.status() == SCONCE_ERROR_REMOTE || error.status() == SCONCE_ERROR_TIMEOUT)
            << error.what();
      }
      EXPECT_EQ(status_of([&] { comm.check_async_error(); }), error.status());
    } catch (const std::out_of_range&) {
      EXPECT_EQ(rank, 1);
    }
  });
  EXPECT_LT(support::milliseconds_since(began), 20000);
}

TEST_F(CommFailuresTest, AbortEndsACallThatWaits) {
  on_ranks(2, [](const Communicator& comm) {
    // Only rank 0 makes the call; the other one waits for the abort of rank 0.
    if (comm.rank() == 0) {
      const Tensor tensor = ones(0);
      std::thread aborter([&] {
        std::this_thread::sleep_for(std::chrono::milliseconds(100));
        comm.abort();
      });
      const sconce::Error error =
          error_of([&] { comm.all_reduce(tensor, ReduceOp::SUM, async_op).synchronize(); });
      aborter.join();
      EXPECT_EQ(error.status(), SCONCE_ERROR_ABORTED) << error.what();
      EXPECT_EQ(status_of([&] { comm.all_reduce(tensor); }), SCONCE_ERROR_ABORTED);
      EXPECT_EQ(comm.native(), nullptr);
    } else {
      std::this_thread::sleep_for(std::chrono::milliseconds(300));
      comm.abort();
    }
  });
  // The process goes on with a new one.
  on_ranks(2, [](const Communicator& comm) {
    const Tensor tensor = ones(comm.rank());
    comm.all_reduce(tensor);
    EXPECT_EQ(tensor.sum().item<float>(), 8.0F);
  });
}

TEST_F(CommFailuresTest, FaultsOfSimulatedRanks) {
  SCONCE_NEED_SIMULATOR();
  for (const bool is_killed : {true, false}) {
    on_ranks(2, [&](const Communicator& comm) {
      const Tensor tensor = ones(comm.rank());
      sconce::simulator::delay_comm(comm, std::chrono::milliseconds(50));
      const auto began = std::chrono::steady_clock::now();
      comm.all_reduce(tensor, ReduceOp::SUM, async_op).synchronize();
      EXPECT_GE(support::milliseconds_since(began), 50);
      if (comm.rank() == 1) {
        is_killed ? sconce::simulator::kill_comm(comm) : sconce::simulator::fail_comm(comm, 6);
        EXPECT_EQ(status_of([&] { comm.check_async_error(); }),
                  is_killed ? SCONCE_ERROR_ABORTED : SCONCE_ERROR_REMOTE);
      } else {
        EXPECT_EQ(
            status_of([&] { comm.all_reduce(tensor, ReduceOp::SUM, async_op).synchronize(); }),
            SCONCE_ERROR_REMOTE);
      }
    });
  }
}

TEST_F(CommFailuresTest, RanksThatWaitInVainGiveUp) {
  SCONCE_NEED_SIMULATOR();
  sconce::simulator::set_comm_patience(std::chrono::milliseconds(100));
  on_ranks(2, [](const Communicator& comm) {
    if (comm.rank() == 0) {
      const Tensor tensor = ones(0);
      const sconce::Error error =
          error_of([&] { comm.all_reduce(tensor, ReduceOp::SUM, async_op).synchronize(); });
      EXPECT_EQ(error.status(), SCONCE_ERROR_TIMEOUT);
      EXPECT_TRUE(contains(error.what(), "which rank 1 has not made"));
    } else {
      std::this_thread::sleep_for(std::chrono::milliseconds(500));
    }
  });
  sconce::simulator::set_comm_patience(std::chrono::seconds(60));
}

}  // namespace
