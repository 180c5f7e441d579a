// Waits that do not end: what holds the work back, by the call that waits for it. Each case is a
// process, which reports what was found when the wait has been let go.
#include <atomic>
#include <chrono>
#include <functional>
#include <future>
#include <memory>
#include <optional>
#include <sconce/sconce_all.hpp>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "process/process.hpp"
#include "sanitizer_support.hpp"

namespace {

using namespace sconce::cuda;
using namespace sconce::sanitizer;
using process::expect;
using support::contains;
namespace dist = sconce::distributed;
namespace sim = sconce::simulator;

/// What waits use.
struct Work {
  CUDAStream stream = getStreamFromPool();
  CUDAStream other = getStreamFromPool();
  CUDAEvent event{};
  DeviceBuffer block{4096, stream};
  std::vector<unsigned char> host = std::vector<unsigned char>(4096);
};

struct Wait {
  const char* name;
  const char* words;  ///< what the report calls it
  void (*wait)(Work& work);
};

constexpr Wait kWaits[] = {
    {"stream", "the wait for stream", [](Work& work) { work.stream.synchronize(); }},
    {"event", "the wait for an event", [](Work& work) { work.event.synchronize(); }},
    {"device", "the wait for device 0", [](Work&) { device_synchronize(); }},
    // The library stages the bytes, and waits for an event of its own.
    {"copy", "the wait for an event",
     [](Work& work) {
       with_stream(work.stream,
                   [&] { copy_(work.host.data(), work.block.get(), work.host.size()); });
     }},
};

/// What holds work back, until the function that it returns is called.
struct Hold {
  const char* name;
  std::vector<std::string> words;  ///< what the report says
  std::function<void()> (*hold)(Work& work);
};

/// A host function that waits until the test lets it go.
std::function<void()> hold_by_function(const CUDAStream& stream) {
  const auto promise = std::make_shared<std::promise<void>>();
  stream.launch_host_function([future = promise->get_future().share()] { future.wait(); }, [] {});
  return [promise] { promise->set_value(); };
}

void fill(Work& work) {
  with_stream(work.stream, [&] { memory_set(work.block, 7); });
  work.event.record(work.stream);
}

const std::vector<Hold>& holds() {
  static const std::vector<Hold> all = {
      {"manual",
       {"fill on stream", "manual mode", "sconce_sim_step for stream", "sconce_sim_run_until_idle"},
       [](Work& work) -> std::function<void()> {
         sim::set_manual(true);
         fill(work);
         return [] { sim::set_manual(false); };
       }},
      {"function",
       {"host function on stream", "has not returned"},
       [](Work& work) {
         auto release = hold_by_function(work.stream);
         fill(work);
         return release;
       }},
      {"other",
       {"host function on stream", "has not returned"},
       [](Work& work) {
         auto release = hold_by_function(work.other);
         work.stream.wait_stream(work.other);
         fill(work);
         return release;
       }},
      {"fault",
       {"for:    #", "sconce_sim_clear_faults"},
       [](Work& work) -> std::function<void()> {
         sim::stick_event(1);
         fill(work);
         return [] { sim::clear_faults(); };
       }},
      {"sleep",
       {"sleep", "raise SCONCE_SANITIZER_HANG_S"},
       [](Work& work) -> std::function<void()> {
         sconce::cuda::sleep(std::chrono::milliseconds(1500), work.stream);
         fill(work);
         return [] {};
       }},
  };
  return all;
}

/// Until there is a report, but not for ever.
void await_report() {
  const auto begin = std::chrono::steady_clock::now();
  while (report_count() == 0 && support::milliseconds_since(begin) < 20'000) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
}

int print_reports() {
  for (std::int64_t index = 0; index < report_count(); ++index) {
    std::puts(("REPORT " + report(index).text).c_str());
  }
  std::puts(("COUNT " + std::to_string(report_count())).c_str());
  return process::failed ? 1 : 0;
}

int wait_for(const std::string& wait, const std::string& hold, bool is_late) {
  Work work;
  device_synchronize();
  std::function<void()> release;
  for (const Hold& it : holds()) {
    if (hold == it.name) {
      release = it.hold(work);
    }
  }
  std::atomic<bool> ended{false};
  std::thread waits([&] {
    for (const Wait& it : kWaits) {
      if (wait == it.name) {
        it.wait(work);
      }
    }
    ended = true;
  });
  if (is_late) {
    await_report();
    expect(hold == "sleep" || !ended, "the report does not end the wait");
  }
  release();
  waits.join();
  device_synchronize();
  return print_reports();
}

/// Two ranks as threads; one waits for the work of a call that the other makes late.
int late_rank() {
  const dist::UniqueId id = dist::get_unique_id();
  std::atomic<bool> is_late{false};
  const auto rank = [&](std::int32_t number) {
    set_device(number);
    const auto comm = dist::Communicator::init_rank(id, 2, number, number);
    const auto tensor = sconce::ones({4}, sconce::device(number));
    if (number == 1) {
      await_report();
      is_late = true;
    }
    comm.all_reduce(tensor, dist::ReduceOp::SUM, dist::async_op).synchronize();
    device_synchronize();
  };
  std::thread other(rank, 1);
  rank(0);
  other.join();
  return print_reports();
}

/// Two ranks of one thread call two communicators in different orders, or in one.
int crossed(bool in_one_order) {
  const std::vector<std::int32_t> devices = {0, 1};
  const auto x = dist::Communicator::init_all(devices);
  const auto y = dist::Communicator::init_all(devices);
  std::vector<sconce::Tensor> tensors;
  for (const std::int32_t device : devices) {
    tensors.push_back(sconce::ones({4}, sconce::device(device)));
    device_synchronize(device);
  }
  const auto call = [&](const std::vector<dist::Communicator>& comm, std::size_t rank) {
    set_device(static_cast<DeviceIndex>(rank));
    comm[rank].all_reduce(tensors[rank]);
  };
  call(x, 0);
  call(y, 0);
  call(in_one_order ? x : y, 1);
  call(in_one_order ? y : x, 1);
  const int result = print_reports();
  std::fflush(nullptr);
  // Nothing ends this.
  std::_Exit(result);
}

}  // namespace

namespace support {

int run_hang(int count, char** arguments) {
  support::started();
  const std::string kind = count > 1 ? arguments[1] : "";
  if (kind == "rank") {
    return late_rank();
  }
  if (kind == "crossed") {
    return crossed(count > 2);
  }
  return count > 3 ? wait_for(kind, arguments[2], std::string(arguments[3]) == "late") : 1;
}

}  // namespace support

namespace {

class SanitizerHangsTest : public support::DeviceFixture {
 protected:
  void SetUp() override {
    DeviceFixture::SetUp();
    if (!IsSkipped()) {
      SCONCE_NEED_SIMULATOR();
    }
  }
};

support::Ended run(const std::string& arguments, const std::string& limit) {
  const std::string variables =
      "SCONCE_SANITIZER=report SCONCE_SIM_DEVICES=2 SCONCE_SANITIZER_HANG_S=" + limit;
  support::Ended ended = support::run_child("hang " + arguments, variables);
  EXPECT_EQ(ended.status, 0) << arguments << ": " << ended.output;
  return ended;
}

TEST_F(SanitizerHangsTest, AWaitThatDoesNotEndNamesWhatItWaitsForAndTheRemedy) {
  for (const Hold& hold : holds()) {
    for (const Wait& wait : kWaits) {
      const std::string name = std::string(wait.name) + " " + hold.name;
      const support::Ended ended = run(name + " late", "0.3");
      for (const char* words :
           {"COUNT 1\n", "wait that does not end", wait.words, "sanitizer_hangs_test.cpp:"}) {
        EXPECT_TRUE(contains(ended.output, words)) << name;
      }
      for (const std::string& words : hold.words) {
        EXPECT_TRUE(contains(ended.output, words)) << name;
      }
    }
  }
}

TEST_F(SanitizerHangsTest, AWaitThatEndsInTimeOrIsNotWatchedIsNoReport) {
  for (const Hold& hold : holds()) {
    const std::string name = std::string("stream ") + hold.name + " early";
    EXPECT_TRUE(contains(run(name, "60").output, "COUNT 0\n")) << name;
  }
  EXPECT_TRUE(contains(run("stream sleep early", "0").output, "COUNT 0\n"));
}

TEST_F(SanitizerHangsTest, ACallOfARankThatNeverCameNamesTheRank) {
  const support::Ended ended = run("rank", "0.3");
  for (const char* words : {"COUNT 1\n", "the wait for an event", "all_reduce #",
                            "rank 1 never came", "call 1 of communicator 1 of 2 ranks"}) {
    EXPECT_TRUE(contains(ended.output, words));
  }
}

TEST_F(SanitizerHangsTest, CallsInDifferentOrdersAreReportedAtOnce) {
  const support::Ended ended = run("crossed", "60");
  for (const char* words : {"COUNT 1\n", "waits in a cycle", "in one order on all ranks"}) {
    EXPECT_TRUE(contains(ended.output, words));
  }
  EXPECT_TRUE(contains(run("crossed in_order", "60").output, "COUNT 0\n"));
}

TEST_F(SanitizerHangsTest, AHangEndsTheProcessIfAsked) {
  const support::Ended ended = support::run_child(
      "hang stream function late", "SCONCE_SANITIZER=abort SCONCE_SANITIZER_HANG_S=0.2");
  EXPECT_TRUE(WIFSIGNALED(ended.status) && WTERMSIG(ended.status) == SIGABRT) << ended.status;
  EXPECT_TRUE(contains(ended.output, "sconce sanitizer: wait that does not end"));
}

}  // namespace
