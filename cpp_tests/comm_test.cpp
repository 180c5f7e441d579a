// Communicators, works and groups in C++: how they are made, what they refuse, and with which
// words. What the calls compute is in comm_values_test.cpp, how they fail in
// comm_failures_test.cpp.
#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <sconce/sconce_all.hpp>
#include <stdexcept>
#include <string>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

#include "comm_support.hpp"

namespace {

using namespace sconce::cuda;
using sconce::Store;
using sconce::Tensor;
using sconce::distributed::async_op;
using sconce::distributed::CommOptions;
using sconce::distributed::Communicator;
using sconce::distributed::group;
using sconce::distributed::GroupGuard;
using sconce::distributed::ReduceOp;
using sconce::distributed::UniqueId;
using sconce::distributed::Work;
using support::contains;
using support::error_of;
using support::on_ranks;
using support::ones;
using support::quick;
using support::status_of;

class CommTest : public support::CommFixture {};

/// Expects that a call throws an INVALID_ARGUMENT whose message contains a text.
template <class Action>
void refused(const std::string& words, Action&& action) {
  const sconce::Error error = error_of(action);
  EXPECT_EQ(error.status(), SCONCE_ERROR_INVALID_ARGUMENT) << error.what();
  EXPECT_TRUE(contains(error.what(), words));
}

static_assert(!std::is_copy_constructible_v<Communicator> &&
              std::is_nothrow_move_constructible_v<Communicator>);
static_assert(!std::is_copy_constructible_v<Work> && std::is_nothrow_move_constructible_v<Work>);
static_assert(!std::is_move_constructible_v<GroupGuard>);
static_assert(
    std::is_void_v<decltype(std::declval<Communicator>().all_reduce(std::declval<Tensor>()))>);
static_assert(std::is_same_v<decltype(std::declval<Communicator>().broadcast(std::declval<Tensor>(),
                                                                             0, async_op)),
                             Work>);

TEST_F(CommTest, AllDevicesOfAProcess) {
  EXPECT_GT(sconce::distributed::nccl_version(), 21800);
  auto comms = Communicator::init_all({1, 0}, quick());
  ASSERT_EQ(comms.size(), 2U);
  std::vector<Tensor> tensors;
  for (std::int32_t rank = 0; rank < 2; ++rank) {
    const auto at = static_cast<std::size_t>(rank);
    EXPECT_EQ(comms[at].rank(), rank);
    EXPECT_EQ(comms[at].size(), 2);
    EXPECT_EQ(comms[at].device(), 1 - rank);
    EXPECT_NE(comms[at].native(), nullptr);
    EXPECT_NO_THROW(comms[at].check_async_error());
    tensors.push_back(ones(1 - rank));
  }
  group([&] {
    comms[0].all_reduce(tensors[0]);
    comms[1].all_reduce(tensors[1]);
  });
  for (const Tensor& tensor : tensors) {
    EXPECT_EQ(tensor.sum().item<float>(), 8.0F);
  }
  for (Communicator& comm : comms) {
    comm.finalize();
    const Tensor tensor = ones(comm.device());
    EXPECT_EQ(status_of([&] { comm.all_reduce(tensor); }), SCONCE_ERROR_INVALID_STATE);
  }
}

TEST_F(CommTest, AMoveLeavesNothingBehind) {
  auto comms = Communicator::init_all({0}, quick());
  Communicator first = std::move(comms[0]);
  EXPECT_EQ(comms[0].get(), nullptr);
  auto others = Communicator::init_all({1}, quick());
  first = std::move(others[0]);
  EXPECT_EQ(first.device(), 1);
  const Tensor tensor = ones(1);
  first.all_reduce(tensor);
  EXPECT_EQ(tensor.sum().item<float>(), 4.0F);
}

TEST_F(CommTest, RanksMeetThroughAStore) {
  Store store = Store::tcp_server("127.0.0.1");
  const Store jobs = store.prefixed("job");
  for (int round = 0; round < 3; ++round) {
    support::on_threads(2, [&](std::int32_t rank, auto&&) {
      const auto comm = Communicator::init_store(jobs, "all", 2, rank, rank, quick());
      const Tensor tensor = ones(rank);
      comm.all_reduce(tensor);
      EXPECT_EQ(tensor.sum().item<float>(), 8.0F);
    });
  }
  EXPECT_EQ(store.getNumKeys(), 0);
  CommOptions soon;
  soon.timeout = std::chrono::milliseconds(200);
  const sconce::Error error =
      error_of([&] { (void)Communicator::init_store(jobs, "all", 3, 0, 0, soon); });
  EXPECT_EQ(error.status(), SCONCE_ERROR_TIMEOUT);
  EXPECT_TRUE(contains(error.what(), "\"all\" of 3 ranks"));
  EXPECT_TRUE(contains(error.what(), "ranks 1, 2 have not come"));
}

TEST_F(CommTest, ArgumentsOfMakersAreChecked) {
  const UniqueId id = sconce::distributed::get_unique_id();
  refused("ranks is 0", [&] { (void)Communicator::init_rank(id, 0, 0); });
  refused("rank is 2", [&] { (void)Communicator::init_rank(id, 2, 2); });
  EXPECT_EQ(status_of([&] { (void)Communicator::init_rank(id, 2, 0, 99); }),
            SCONCE_ERROR_INVALID_DEVICE);
  refused("are both 1", [] { (void)Communicator::init_all({1, 1}); });
  refused("count is 0", [] { (void)Communicator::init_all({}); });
  CommOptions options;
  options.timeout = std::chrono::milliseconds(-2);
  refused("timeout_ms is -2", [&] { (void)Communicator::init_all({0}, options); });
  options = {};
  options.min_ctas = -1;
  refused("min_ctas is -1", [&] { (void)Communicator::init_all({0}, options); });
  EXPECT_EQ(status_of([&] { group([&] { (void)Communicator::init_rank(id, 1, 0); }); }),
            SCONCE_ERROR_INVALID_STATE);
}

TEST_F(CommTest, ArgumentsOfCallsAreChecked) {
  on_ranks(2, [](const Communicator& comm) {
    const std::int32_t me = comm.rank();
    const Tensor good = ones(me);
    const Tensor strided = ones(me, {4, 4}).transpose(0, 1);
    const Tensor halves = ones(me).to(sconce::kHalf);
    refused("tensor is an undefined tensor", [&] { comm.all_reduce(Tensor()); });
    refused("Tensors must be contiguous, but tensor is not", [&] { comm.all_reduce(strided); });
    refused("host memory", [&] { comm.all_reduce(good.to(sconce::Device(sconce::kCPU))); });
    EXPECT_EQ(status_of([&] { comm.all_reduce(ones(1 - me)); }), SCONCE_ERROR_CROSS_DEVICE);
    refused("root is 2; it must be from 0 to 1", [&] { comm.broadcast(good, 2); });
    refused("root is -1", [&] { comm.reduce(good, -1); });
    refused("peer is 5", [&] { comm.send(good, 5); });
    refused("peer is 5", [&] { (void)comm.recv(good, 5, async_op); });
    refused("boolean", [&] { comm.all_reduce(good.to(sconce::kBool), ReduceOp::AVG); });
    refused("complex", [&] { comm.all_reduce(good.to(sconce::kComplexFloat), ReduceOp::MAX); });
    EXPECT_EQ(status_of([&] { comm.all_reduce(good.to(sconce::kShort)); }),
              SCONCE_ERROR_NOT_SUPPORTED);

    refused("output tensor size must be equal to world_size times input tensor size",
            [&] { comm.all_gather_into_tensor(good, good); });
    refused("input tensor size must be equal to world_size times output tensor size",
            [&] { comm.reduce_scatter_tensor(good, good); });
    refused("same type as input tensor",
            [&] { comm.all_gather_into_tensor(ones(me, {8}), halves); });
    refused("tensor_list has 1 tensors, but there are 2 ranks",
            [&] { comm.all_gather({good}, good); });
    refused("tensor_list[1] is an undefined tensor", [&] { comm.all_gather({good, {}}, good); });
    refused("elements, but the tensor of this rank has 4", [&] {
      comm.all_gather({ones(me, {3}), ones(me, {3})}, good);
    });
    refused("input_list has 3 tensors", [&] { comm.reduce_scatter(good, {good, good, good}); });
    refused("output_tensor_list has 0", [&] { comm.all_to_all(std::vector<Tensor>(), {good}); });
    refused(me == 0 ? "gather_list must be specified on rank 0"
                    : "gather_list must be left out, since the root is rank 0",
            [&] {
              comm.gather(good, me == 0 ? std::vector<Tensor>() : std::vector{good, good});
            });
    refused(me == 1 ? "scatter_list must be specified on rank 1" : "scatter_list must be left out",
            [&] {
              comm.scatter(good, me == 1 ? std::vector<Tensor>() : std::vector{good, good}, 1);
            });
    refused("gather_list has 1 tensors, but there are 2 ranks",
            [&] { comm.gather(good, std::vector{good}, me); });
    refused("does not divide equally across group size",
            [&] { comm.all_to_all_single(ones(me, {3}), ones(me, {3})); });
    refused("Number of tensor splits not equal to group size", [&] {
      comm.all_to_all_single(good, ones(me), {4}, {2, 2});
    });
    refused("Split sizes doesn't match total dim 0 size of output", [&] {
      comm.all_to_all_single(good, ones(me), {1, 2}, {2, 2});
    });
    refused("Split sizes doesn't match total dim 0 size of input", [&] {
      comm.all_to_all_single(good, ones(me), {2, 2}, {5, -1});
    });
    refused("has no dimension that could be split",
            [&] { comm.all_to_all_single(good.sum(), good.sum()); });
    refused("send and recv overlap", [&] { comm.all_to_all_single(good, good); });
    refused("has 1 numbers, but there are 2 ranks", [&] {
      comm.all_to_all(good.data_ptr(), {1}, {0, 0}, good.data_ptr(), {1, 1}, {0, 0},
                      sconce::kFloat);
    });
    // None of them has queued anything.
    comm.all_reduce(good);
    EXPECT_EQ(good.sum().item<float>(), 8.0F);
  });
}

TEST_F(CommTest, CallsTakeAddressesAndStreams) {
  on_ranks(2, [](const Communicator& comm) {
    const std::int32_t me = comm.rank();
    const CUDAStream stream = getStreamFromPool(false, me);
    const auto at = sconce::device(me);
    const Tensor in = sconce::arange(4, at) + 10.0F * static_cast<float>(me);
    const Tensor out = sconce::zeros({8}, at);
    const auto float_at = [](const Tensor& tensor, std::int64_t place) {
      return static_cast<float*>(tensor.data_ptr()) + place;
    };
    device_synchronize();
    comm.all_reduce(float_at(in, 0), float_at(out, 0), 4, sconce::kFloat, ReduceOp::MAX, {},
                    stream);
    comm.all_gather(float_at(in, 1), float_at(out, 4), 1, sconce::kFloat, {}, stream);
    comm.reduce_scatter(float_at(in, 2), float_at(out, 6), 1, sconce::kFloat, ReduceOp::SUM, {},
                        stream);
    comm.broadcast(float_at(in, 3), float_at(out, 7), 1, sconce::kFloat, 1, async_op, stream)
        .wait(stream);
    stream.synchronize();
    const std::vector<float> wanted = {10, 11, 12, 13, 1, 11, me == 0 ? 14.0F : 16.0F, 13};
    EXPECT_EQ(out.to_vector<float>(), wanted);

    comm.gather(float_at(in, 0), float_at(out, 0), 1, sconce::kFloat, 1, {}, stream);
    comm.scatter(float_at(in, 0), float_at(out, 2), 2, sconce::kFloat, 0, {}, stream);
    comm.all_to_all(float_at(in, 0), float_at(out, 4), 1, sconce::kFloat, {}, stream);
    comm.reduce(float_at(in, 0), float_at(out, 6), 1, sconce::kFloat, 0, ReduceOp::SUM, {}, stream);
    comm.barrier({}, stream);
    stream.synchronize();
    const std::vector<float> later = me == 0 ? std::vector<float>{10, 11, 0, 1, 0, 10, 10, 13}
                                             : std::vector<float>{0, 10, 2, 3, 1, 11, 16, 13};
    EXPECT_EQ(out.to_vector<float>(), later);
    const CUDAStream elsewhere = getStreamFromPool(false, 1 - me);
    EXPECT_EQ(status_of([&] { comm.barrier({}, elsewhere); }), SCONCE_ERROR_CROSS_DEVICE);
  });
}

TEST_F(CommTest, AWorkKeepsItsTensorsUntilItIsWaitedFor) {
  on_ranks(2, [](const Communicator& comm) {
    const std::int32_t me = comm.rank();
    const auto allocated = [me] { return static_cast<std::int64_t>(memory_allocated(me)); };
    const auto before = allocated();
    Tensor tensor = ones(me, {1 << 18});
    const auto with_tensor = allocated();
    ASSERT_GT(with_tensor, before);
    const Work work = comm.all_reduce(tensor, ReduceOp::SUM, async_op);
    tensor.reset();
    EXPECT_EQ(allocated(), with_tensor);
    EXPECT_EQ(work.sequence(), 1U);
    work.wait();
    EXPECT_EQ(allocated(), before);
    work.synchronize(std::chrono::seconds(20));
    EXPECT_TRUE(work.is_completed());
    // A list is kept by the work of its last call.
    std::vector<Tensor> list = {ones(me, {1 << 18}), ones(me, {1 << 18})};
    Tensor mine = ones(me, {1 << 18});
    const Work gathering = comm.all_gather(list, mine, async_op);
    list.clear();
    mine.reset();
    EXPECT_GE(allocated(), before + 3 * (std::int64_t{1} << 20));
    gathering.synchronize();
    EXPECT_EQ(allocated(), before);
  });
}

TEST_F(CommTest, AWorkIsOrderedBehindTheCurrentStreamAndNotBeforeIt) {
  on_ranks(2, [](const Communicator& comm) {
    const CUDAStreamGuard guard(getStreamFromPool(false, comm.rank()));
    const Tensor tensor = ones(comm.rank());
    comm.all_reduce(tensor);  // connects the ranks, which may take longer than the sleep
    device_synchronize();
    tensor.zero_();
    sleep(std::chrono::milliseconds(50));
    tensor.add_(3);
    const Work work = comm.all_reduce(tensor, ReduceOp::SUM, async_op);
    EXPECT_FALSE(work.is_completed());
    EXPECT_EQ(status_of([&] { work.synchronize(std::chrono::milliseconds(1)); }),
              SCONCE_ERROR_TIMEOUT);
    work.wait();
    EXPECT_EQ(tensor.mul(1).sum().item<float>(), 24.0F);
  });
}

TEST_F(CommTest, ACallInAGraphRunsAtEachReplay) {
  on_ranks(2, [](const Communicator& comm) {
    const Tensor tensor = ones(comm.rank());
    comm.all_reduce(tensor);  // connects the ranks
    device_synchronize();
    CUDAGraph graph;
    {
      GraphGuard guard(graph, MempoolId{}, CaptureMode::ThreadLocal);
      comm.all_reduce(tensor);
      const Work work = comm.all_reduce(tensor, ReduceOp::SUM, async_op);
      work.wait();
      tensor.add_(1);
      guard.end();
    }
    EXPECT_EQ(tensor.sum().item<float>(), 8.0F);
    graph.replay(getCurrentCUDAStream());
    graph.replay(getCurrentCUDAStream());
    // 2 -> 4 -> 8 + 1 -> 18 -> 36 + 1, four elements each.
    EXPECT_EQ(tensor.sum().item<float>(), 148.0F);
  });
}

TEST_F(CommTest, AFailureInAGroupQueuesNothing) {
  auto comms = Communicator::init_all({0, 1}, quick());
  const Tensor tensor = ones(0);
  EXPECT_THROW(group([&] {
                 comms[0].all_reduce(tensor);
                 throw std::out_of_range("no such layer");
               }),
               std::out_of_range);
  getCurrentCUDAStream(0).synchronize();
  // An error between the calls, too.
  EXPECT_THROW(group([&] {
                 comms[0].all_reduce(tensor);
                 comms[1].all_reduce(tensor);
               }),
               sconce::Error);
  getCurrentCUDAStream(0).synchronize();
  EXPECT_EQ(tensor.sum().item<float>(), 4.0F);
}

TEST_F(CommTest, AGroupThatWasCancelledInsideFailsOutside) {
  auto comms = Communicator::init_all({0}, quick());
  const Tensor tensor = ones(0);
  const sconce::Error error = error_of([&] {
    group([&] {
      comms[0].all_reduce(tensor);
      const GroupGuard forgotten;
    });
  });
  EXPECT_EQ(error.status(), SCONCE_ERROR_INVALID_STATE);
  EXPECT_TRUE(contains(error.what(), "a group inside of this one was cancelled"));
  // The next group of the thread is a new one.
  EXPECT_EQ(group([&] { return comms[0].all_reduce(tensor, ReduceOp::SUM, async_op); }).sequence(),
            2U);
}

TEST_F(CommTest, TheErrorsOfAGroupsEndAreThrown) {
  on_ranks(2, [](const Communicator& comm) {
    const Tensor tensor = ones(comm.rank());
    const CUDAStream other = getStreamFromPool(false, comm.rank());
    GroupGuard guard;
    comm.all_reduce(tensor);
    comm.all_reduce(tensor.data_ptr(), tensor.data_ptr(), 4, sconce::kFloat, ReduceOp::SUM, {},
                    other);
    refused("on several streams", [&] { guard.end(); });
    EXPECT_EQ(status_of([&] { guard.end(); }), SCONCE_ERROR_INVALID_STATE);
  });
}

TEST_F(CommTest, AWorkOfAGroupIsReadyAtItsEnd) {
  on_ranks(2, [](const Communicator& comm) {
    const Tensor tensor = ones(comm.rank());
    std::optional<Work> work;
    group([&] {
      work = comm.all_reduce(tensor, ReduceOp::SUM, async_op);
      EXPECT_EQ(status_of([&] { work->wait(); }), SCONCE_ERROR_INVALID_STATE);
    });
    work->wait();
    EXPECT_EQ(tensor.sum().item<float>(), 8.0F);
  });
}

TEST_F(CommTest, AProcessOfAJobMakesItsGroupInOneCall) {
  setenv("RANK", "0", 1);
  setenv("WORLD_SIZE", "1", 1);
  setenv("LOCAL_RANK", "1", 1);
  setenv("MASTER_ADDR", "127.0.0.1", 1);
  {
    Store probe = Store::tcp_server("127.0.0.1");
    setenv("MASTER_PORT", std::to_string(probe.port()).c_str(), 1);
  }
  {
    const auto member = sconce::distributed::init_process_group(quick());
    EXPECT_EQ(member.comm.device(), 1);
    EXPECT_EQ(member.comm.size(), 1);
    EXPECT_EQ(member.job.local_rank, 1);
  }
  setenv("LOCAL_RANK", "99", 1);
  const sconce::Error error = error_of([] { (void)sconce::distributed::init_process_group(); });
  EXPECT_EQ(error.status(), SCONCE_ERROR_INVALID_DEVICE);
  EXPECT_TRUE(contains(error.what(), "LOCAL_RANK 99, but there are"));
}

}  // namespace
