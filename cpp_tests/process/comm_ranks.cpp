// Ranks of a communicator as processes that meet at a store. One of them is killed, stopped, late,
// ends between a call and its run, aborts, or never comes: the others return in time and know why,
// and make a new communicator without it. The first process serves the store and starts the ranks,
// which are this program again.
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "process.hpp"

namespace {

using process::expect;
using process::failed;
using sconce::Tensor;
using sconce::distributed::async_op;
using sconce::distributed::CommOptions;
using sconce::distributed::Communicator;
using sconce::distributed::ReduceOp;
using sconce::distributed::Work;
using std::chrono::milliseconds;
using std::chrono::seconds;
using std::chrono::steady_clock;

/// The limit of calls, and how much later than that a rank may return.
constexpr seconds kLimit{4};
constexpr seconds kSlack{6};
/// How long simulated ranks wait for each other.
constexpr seconds kPatience{2};
/// The rank to which something happens.
constexpr std::int32_t kVictim = 1;

CommOptions limited() {
  CommOptions options;
  options.timeout = kLimit;
  return options;
}

/// The place of a rank in the job, and its communicators.
struct Rank {
  std::string scene;
  sconce::Store store;
  std::int32_t rank;
  std::int32_t ranks;

  [[nodiscard]] std::int32_t device() const { return rank % sconce::cuda::device_count(); }
  [[nodiscard]] Communicator join(const std::string& name, std::int32_t size,
                                  std::int32_t number) const {
    return Communicator::init_store(store, name, size, number, device(), limited());
  }
  [[nodiscard]] Tensor ones() const { return sconce::ones({5}, sconce::device(device())); }
  /// Adds up ones of all ranks, and expects that each has come.
  void sum(const Communicator& comm) const {
    const Tensor tensor = ones();
    comm.all_reduce(tensor);
    expect(tensor.sum().item<float>() == 5.0F * static_cast<float>(comm.size()),
           "the sum has all ranks");
  }
};

bool tell(char word) { return process::send(STDOUT_FILENO, word); }

bool is_told() {
  char word = '-';
  return process::receive(STDIN_FILENO, word);
}

/// Expects that a call fails in time, because of the victim.
template <class Call>
void expect_failure(Call&& call) {
  const auto began = steady_clock::now();
  sconce::Status status = SCONCE_OK;
  std::string what = "nothing was thrown";
  try {
    call();
  } catch (const sconce::Error& error) {
    status = error.status();
    what = error.what();
  }
  std::fprintf(stderr, "%s\n", what.c_str());
  expect(status == SCONCE_ERROR_REMOTE || status == SCONCE_ERROR_TIMEOUT,
         "the call fails because of another rank, or by its limit");
  expect(steady_clock::now() - began < kLimit + kSlack, "the call fails in time");
  if (sconce::active_backend() == sconce::Backend::Sim) {
    expect(what.find("rank " + std::to_string(kVictim)) != std::string::npos,
           "the message names the rank");
  }
}

/// What a rank does to which nothing happens.
void survive(const Rank& self, Communicator comm) {
  expect(is_told(), "the first process is alive");
  const Tensor tensor = self.ones();
  const auto began = steady_clock::now();
  if (self.scene == "late") {
    self.sum(comm);
    return;
  }
  if (self.scene == "aborts") {
    std::this_thread::sleep_for(milliseconds(800));  // The victim aborts meanwhile.
  }
  expect_failure([&] {
    // The call itself may fail already, or its work.
    const Work work = comm.all_reduce(tensor, ReduceOp::SUM, async_op);
    expect(tell('q'), "the call is queued");
    work.synchronize(kLimit + kSlack);
  });
  expect_failure([&] { comm.check_async_error(); });
  comm = self.join("survivors", self.ranks - 1, self.rank - (self.rank > kVictim ? 1 : 0));
  expect(comm.size() == self.ranks - 1, "the others make a new communicator");
  self.sum(comm);
  expect(steady_clock::now() - began < kLimit + 2 * kSlack, "the process goes on in time");
}

/// What the victim does.
void suffer(const Rank& self, Communicator comm) {
  expect(is_told(), "the first process is alive");
  if (self.scene == "late") {
    std::this_thread::sleep_for(seconds(1));
    self.sum(comm);
  } else if (self.scene == "exits") {
    // The call is queued and has not begun when the process ends.
    const Tensor tensor = self.ones();
    sconce::cuda::sleep(seconds(30), sconce::cuda::getCurrentCUDAStream(self.device()));
    comm.all_reduce(tensor);
    std::_Exit(0);
  } else if (self.scene == "aborts") {
    // It waits for what rank 0 never sends, and aborts instead of making the others' call. Had it
    // made that call before, NCCL could complete it on the others: its elements may have left.
    const Tensor tensor = self.ones();
    std::thread aborter([&] {
      std::this_thread::sleep_for(milliseconds(200));
      comm.abort();
    });
    expect(support::status_or_ok([&] {
             comm.recv(tensor, 0, async_op).synchronize(kLimit + kSlack);
           }) == SCONCE_ERROR_ABORTED,
           "the call of a rank that aborts fails");
    aborter.join();
    expect(support::status_or_ok([&] { comm.all_reduce(tensor); }) == SCONCE_ERROR_ABORTED,
           "a rank that has aborted makes no more calls");
  } else {
    std::this_thread::sleep_for(seconds(60));  // It is stopped or killed meanwhile.
  }
}

int rank(char** arguments) {
  if (support::wants_cuda()) {
    if (!support::started().empty()) {
      return process::kSkipped;
    }
  } else {
    support::simulated_devices = 8;
    (void)support::started();
    sconce::simulator::set_comm_patience(kPatience);
  }
  const Rank self{
      arguments[1],
      sconce::Store::tcp_client("127.0.0.1", static_cast<std::uint16_t>(std::stoi(arguments[2]))),
      std::stoi(arguments[3]), std::stoi(arguments[4])};
  sconce::cuda::set_device(self.device());
  if (self.scene == "never") {
    if (self.rank != kVictim) {
      expect_failure([&] { (void)self.join("all", self.ranks, self.rank); });
    }
    return failed ? 1 : 0;
  }
  Communicator comm = self.join("all", self.ranks, self.rank);
  self.sum(comm);
  if (self.scene == "works") {
    const auto half = comm.split(self.rank % 2, 0, limited());
    self.sum(*half);
    comm.barrier();
    comm.finalize();
    return failed ? 1 : 0;
  }
  expect(tell('r'), "the rank is ready");
  if (self.rank == kVictim) {
    suffer(self, std::move(comm));
  } else {
    survive(self, std::move(comm));
  }
  return failed ? 1 : 0;
}

/// Starts the ranks of a scene, and lets things happen.
void play(const std::string& scene, std::int32_t ranks) {
  const auto began = steady_clock::now();
  const sconce::Store store = sconce::Store::tcp_server("127.0.0.1");
  std::vector<std::unique_ptr<process::Second>> all;
  for (std::int32_t number = 0; number < ranks; ++number) {
    all.push_back(std::make_unique<process::Second>(std::vector<std::string>{
        scene, std::to_string(store.port()), std::to_string(number), std::to_string(ranks)}));
  }
  const process::Second& victim = *all[static_cast<std::size_t>(kVictim)];
  const auto expect_from_all = [&](char wanted, bool with_victim) {
    for (const auto& each : all) {
      char word = '-';
      if (with_victim || each.get() != &victim) {
        expect(each->receive(word) && word == wanted, "each rank reports");
      }
    }
  };
  const bool ends_by_itself = scene != "killed" && scene != "stopped";
  if (scene != "works" && scene != "never") {
    expect_from_all('r', true);
    if (scene == "stopped") {
      victim.stop();
    }
    for (const auto& each : all) {
      expect(each->send('g'), "the ranks go on");
    }
    if (scene == "killed") {
      expect_from_all('q', false);
      victim.kill();
    }
  }
  for (const auto& each : all) {
    if (ends_by_itself || each.get() != &victim) {
      each->expect_success();
    }
  }
  if (scene == "stopped") {
    victim.kill();
  }
  const auto took = std::chrono::duration_cast<milliseconds>(steady_clock::now() - began);
  std::printf("%-8s %d ranks: %s, %d ms\n", scene.c_str(), ranks, failed ? "FAILED" : "passed",
              static_cast<int>(took.count()));
  std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 5) {
    return rank(argv);
  }
  if (argc != 3) {
    std::fputs("usage: comm_ranks SCENE RANKS\n", stderr);
    return 2;
  }
  try {
    const std::int32_t ranks = std::stoi(argv[2]);
    if (support::wants_cuda() &&
        (!support::started().empty() || sconce::cuda::device_count() < ranks)) {
      return process::kSkipped;  // NCCL has a rank a device.
    }
    play(argv[1], ranks);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
  return failed ? 1 : 0;
}
