// Switching the sanitizer on and off, its reports, and what programs declare.
#include <array>
#include <atomic>
#include <csignal>
#include <cstdint>
#include <fstream>
#include <iterator>
#include <limits>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <utility>

#include "sanitizer_support.hpp"

namespace {

using namespace sconce::cuda;
using namespace sconce::sanitizer;
using sconce::Tensor;
using support::contains;
using support::race;
using support::run_child;
using support::settle;
using support::status_of;

class SanitizerTest : public support::DeviceFixture {};

TEST_F(SanitizerTest, OtherModesAreRefused) {
  for (const std::int32_t mode : {0, 3, -1}) {
    EXPECT_EQ(sconce_sanitizer_enable(mode), SCONCE_ERROR_INVALID_ARGUMENT) << mode;
    EXPECT_TRUE(contains(sconce_last_error_message(), "mode is " + std::to_string(mode)));
  }
  EXPECT_TRUE(is_enabled());
}

TEST_F(SanitizerTest, ReportsAreReadByTheirNumber) {
  const std::int64_t before = report_count();
  race("number");
  ASSERT_EQ(report_count(), before + 1);
  for (const std::int64_t index :
       {before + 1, std::int64_t{-1}, std::numeric_limits<std::int64_t>::min()}) {
    char untouched = 0;
    char* text = &untouched;
    EXPECT_EQ(sconce_sanitizer_get_report(index, &text, nullptr, nullptr),
              SCONCE_ERROR_INVALID_ARGUMENT);
    EXPECT_EQ(text, &untouched);
  }
  EXPECT_EQ(status_of([&] { static_cast<void>(report(before + 1)); }),
            SCONCE_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(sconce_sanitizer_get_report(before, nullptr, nullptr, nullptr), SCONCE_OK);
  const Report it = report(before);
  EXPECT_EQ(it.count, 1);
  EXPECT_TRUE(contains(it.text, "race between streams"));
  EXPECT_TRUE(contains(it.text, "number writes"));
  EXPECT_TRUE(contains(it.json, "\"name\":\"number\""));
}

TEST_F(SanitizerTest, OnePairOfPlacesIsOneReport) {
  const Scope scope;
  for (int i = 0; i < 3; ++i) {
    race("again");
  }
  ASSERT_EQ(scope.reports(), 1);
  EXPECT_EQ(report(report_count() - 1).count, 3);
}

TEST_F(SanitizerTest, ResetForgetsReports) {
  reset();
  for (int i = 0; i < 2; ++i) {
    race("forgotten");
    EXPECT_EQ(report_count(), 1);
    reset();
    EXPECT_EQ(report_count(), 0);
  }
}

TEST_F(SanitizerTest, OperationsAreCounted) {
  std::int64_t all = -1;
  std::int64_t unknown = -1;
  EXPECT_EQ(sconce_sanitizer_get_operations(nullptr, &unknown), SCONCE_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(sconce_sanitizer_get_operations(&all, nullptr), SCONCE_ERROR_INVALID_ARGUMENT);
  const auto stream = getStreamFromPool();
  DeviceBuffer block(64, stream);
  ASSERT_EQ(sconce_sanitizer_get_operations(&all, &unknown), SCONCE_OK);
  memory_set(block, 1, stream);
  stream.launch_host_function([](void*) {}, nullptr);
  std::int64_t more = 0;
  std::int64_t more_unknown = 0;
  ASSERT_EQ(sconce_sanitizer_get_operations(&more, &more_unknown), SCONCE_OK);
  EXPECT_EQ(more, all + 2);
  EXPECT_EQ(more_unknown, unknown + 1);
}

TEST_F(SanitizerTest, NothingIsFollowedWhileItIsOff) {
  const auto a = getStreamFromPool();
  const auto b = getStreamFromPool();
  DeviceBuffer block(64, a);
  settle();
  memory_set(block, 1, a);
  disable();
  EXPECT_FALSE(is_enabled());
  const Scope scope;
  race("while it is off");
  settle();
  memory_set(block, 1, a);
  enable();
  EXPECT_TRUE(is_enabled());
  memory_set(block, 2, b);  // what was queued while it was off counts as done
  EXPECT_EQ(scope.reports(), 0) << scope.text();
  memory_set(block, 3, a);
  EXPECT_EQ(scope.reports(), 1);
  settle();
}

TEST_F(SanitizerTest, MemoryHandedOutWhileItIsOffIsNotFreedMemory) {
  const auto a = getStreamFromPool();
  const Scope scope;
  const DeviceBuffer beside(64, a);
  std::optional<DeviceBuffer> block(std::in_place, 1 << 16, a);
  settle();
  const void* const address = block->get();
  block.reset();
  // Ends the quarantine; the segment stays.
  empty_cache();
  disable();
  block.emplace(1 << 16, a);
  ASSERT_EQ(block->get(), address) << "the same memory";
  enable();
  memory_set(*block, 1, a);
  block.reset();
  EXPECT_EQ(scope.reports(), 0) << scope.text();
  settle();
}

TEST_F(SanitizerTest, ACaptureMayBeginWhileItIsOff) {
  const auto a = getStreamFromPool();
  const auto b = getStreamFromPool();
  DeviceBuffer block(64, a);
  settle();
  const Scope scope;
  CUDAGraph graph;
  {
    disable();
    GraphGuard capture(graph);
    enable();
    memory_set(block, 1);
    capture.end();
  }
  memory_set(block, 2, b);  // what was captured has not run
  EXPECT_EQ(scope.reports(), 0) << scope.text();
  graph.replay(a);
  EXPECT_EQ(scope.reports(), 1);
  settle();
}

TEST_F(SanitizerTest, QueriesThatFindWorkDoneOrderIt) {
  const auto a = getStreamFromPool();
  const auto b = getStreamFromPool();
  DeviceBuffer block(64, a);
  const Scope scope;
  settle();
  memory_set(block, 1, a);
  while (!a.query()) {
  }
  memory_set(block, 2, b);
  CUDAEvent done;
  done.record(b);
  while (!done.query()) {
  }
  memory_set(block, 3, a);
  EXPECT_EQ(scope.reports(), 0) << scope.text();
  memory_set(block, 4, b);
  EXPECT_EQ(scope.reports(), 1);
  settle();
}

TEST_F(SanitizerTest, ACopyToTheHostIsWaitedFor) {
  const auto a = getStreamFromPool();
  const auto b = getStreamFromPool();
  DeviceBuffer block(64, a);
  std::array<unsigned char, 64> bytes{};
  const Scope scope;
  settle();
  memory_set(block, 1, a);
  copy_(bytes.data(), block.get(), bytes.size(), false, a);
  memory_set(block, 2, b);
  EXPECT_EQ(scope.reports(), 0) << scope.text();
  settle();
}

struct Received {
  std::int64_t reports = 0;
  std::string text;
  std::string json;
};

TEST_F(SanitizerTest, ACallbackGetsEachReportAndMayCallTheLibrary) {
  static Received received;
  const auto receive = [](const char* text, const char* json, void* user) {
    auto* const to = static_cast<Received*>(user);
    to->text = text;
    to->json = json;
    sconce::cuda::device_synchronize(0);
    DeviceBuffer block(64);
    to->reports = report_count();
  };
  const auto a = getStreamFromPool();
  const auto b = getStreamFromPool();
  DeviceBuffer block(64, a);
  settle();
  reset();
  ASSERT_EQ(sconce_sanitizer_set_callback(receive, &received), SCONCE_OK);
  memory_set(block, 1, a);
  EXPECT_EQ(received.reports, 0);
  memory_set(block, 2, b);
  EXPECT_EQ(received.reports, 1) << "it was called before the call returned";
  EXPECT_EQ(received.text, report(0).text);
  EXPECT_EQ(received.json, report(0).json);
  ASSERT_EQ(sconce_sanitizer_set_callback(nullptr, nullptr), SCONCE_OK);
  received = {};
  race("without a callback");
  EXPECT_EQ(report_count(), 2);
  EXPECT_EQ(received.reports, 0);
}

TEST_F(SanitizerTest, DeclaredWorkIsAnOperation) {
  const auto a = getStreamFromPool();
  const auto b = getStreamFromPool();
  DeviceBuffer block(256, a);
  auto* const bytes = static_cast<unsigned char*>(block.get());
  memory_set(block, 0, a);
  settle();
  const Scope scope;
  access(a, "one").reads(bytes, 128).writes(bytes + 128);
  access(b, "two").reads(bytes, 128);
  EXPECT_EQ(scope.reports(), 0) << scope.text();
  Access later = access(b, "three");
  later.reads(bytes + 255, 1);
  EXPECT_EQ(scope.reports(), 0) << scope.text();
  Access moved = std::move(later);
  moved.done();
  EXPECT_EQ(scope.reports(), 1);
  EXPECT_TRUE(contains(scope.text(), "three reads"));
  EXPECT_TRUE(contains(scope.text(), "one writes"));
  settle();
}

TEST_F(SanitizerTest, DeclaredRangesAreChecked) {
  const auto stream = getStreamFromPool();
  DeviceBuffer block(256, stream);
  for (const std::int32_t mode : {0, 3}) {
    const sconce_sanitizer_range ranges[] = {{block.get(), 0, SCONCE_SANITIZER_READ, 0},
                                             {block.get(), 0, mode, 0}};
    EXPECT_EQ(sconce_sanitizer_access(stream.get(), ranges, 2, nullptr),
              SCONCE_ERROR_INVALID_ARGUMENT);
    EXPECT_TRUE(contains(sconce_last_error_message(), "ranges[1].mode is"));
    EXPECT_EQ(sconce_sanitizer_declare_launch(ranges, 2), SCONCE_ERROR_INVALID_ARGUMENT);
    EXPECT_EQ(sconce_sanitizer_host_access(&ranges[1], 1, nullptr), SCONCE_ERROR_INVALID_ARGUMENT);
  }
  EXPECT_EQ(sconce_sanitizer_access(stream.get(), nullptr, 1, nullptr),
            SCONCE_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(sconce_sanitizer_declare_launch(nullptr, 1), SCONCE_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(sconce_sanitizer_access(stream.get(), nullptr, 0, nullptr), SCONCE_OK);
  EXPECT_EQ(sconce_sanitizer_declare_launch(nullptr, 0), SCONCE_OK);
}

TEST_F(SanitizerTest, WhatTheHostUsesIsDeclaredForPinnedMemory) {
  const auto a = getStreamFromPool();
  const auto on_cpu = sconce::device(sconce::kCPU).dtype(sconce::kFloat);
  const Tensor pinned = sconce::zeros({64}, on_cpu).pin_memory();
  const Tensor x = sconce::zeros({64});
  settle();
  const Scope scope;
  with_stream(a, [&] { pinned.copy_(x, /*non_blocking=*/true); });
  const sconce_sanitizer_range outside = {&scope, sizeof(scope), SCONCE_SANITIZER_WRITE, 0};
  EXPECT_EQ(sconce_sanitizer_host_access(&outside, 1, nullptr), SCONCE_OK);
  const sconce_sanitizer_range on_device = {x.data_ptr(), 4, SCONCE_SANITIZER_WRITE, 0};
  EXPECT_EQ(sconce_sanitizer_host_access(&on_device, 1, nullptr), SCONCE_OK);
  EXPECT_EQ(scope.reports(), 0) << scope.text();
  const sconce_sanitizer_range range = {pinned.data_ptr(), 4, SCONCE_SANITIZER_READ, 0};
  EXPECT_EQ(sconce_sanitizer_host_access(&range, 1, "the reader"), SCONCE_OK);
  EXPECT_EQ(scope.reports(), 1);
  EXPECT_TRUE(contains(scope.text(), "the reader reads, on the host"));
  settle();
  EXPECT_EQ(sconce_sanitizer_host_access(&range, 1, nullptr), SCONCE_OK);
  EXPECT_EQ(scope.reports(), 1);
}

/// A kernel of the simulator: it writes its operand.
TypedKernel<float*, std::int64_t> writer(const Module& module) {
  return module.kernel<float*, std::int64_t>("writer");
}

Module module_of_writer() {
  sconce::simulator::register_kernel<float*, std::int64_t>(
      "writer", [](const sconce::simulator::Thread&, sconce::simulator::DevicePointer<float> to,
                   std::int64_t index) { to[index] = 1; });
  return Module::load(
      ".version 8.0\n.target sm_75\n.address_size 64\n"
      ".visible .entry writer(.param .u64 to, .param .u64 index) { ret; }");
}

TEST_F(SanitizerTest, KernelsUseTheElementsOfTheirArguments) {
  SCONCE_NEED_SIMULATOR();
  const Module module = module_of_writer();
  const auto kernel = writer(module);
  LaunchConfig on_a{Dim3(1), Dim3(1)};
  LaunchConfig on_b = on_a;
  on_a.stream = getStreamFromPool();
  on_b.stream = getStreamFromPool();
  const Tensor x = sconce::zeros({64});
  DeviceBuffer block(256);
  settle();
  const Scope scope;
  kernel.launch(on_a, block.span<float>(0, 32), 0);
  kernel.launch(on_b, block.span<float>(128, 32), 0);
  kernel.launch(on_a, x.narrow(0, 0, 32), 0);
  kernel.launch(on_b, x.narrow(0, 32, 32), 0);
  EXPECT_EQ(scope.reports(), 0) << scope.text();
  kernel.launch(on_a, block.span<float>(124, 2), 0);
  EXPECT_EQ(scope.reports(), 1);
  kernel.launch(on_b, x.narrow(0, 31, 2), 0);
  EXPECT_EQ(scope.reports(), 2);
  settle();
}

TEST_F(SanitizerTest, ALaunchThatFailsLeavesNothingDeclared) {
  SCONCE_NEED_SIMULATOR();
  const Module module = module_of_writer();
  const auto a = getStreamFromPool();
  DeviceBuffer block(256);
  float* const address = block.span<float>().data();
  settle();
  const Scope scope;
  memory_set(block, 1, a);
  const LaunchConfig refused{Dim3(1), Dim3(1), /*shared_bytes=*/1U << 30};
  EXPECT_NE(support::status_or_ok([&] { writer(module).launch(refused, address, 0); }), SCONCE_OK);
  const Tensor other = sconce::zeros({4});
  const LaunchConfig right{Dim3(1), Dim3(1)};
  const Kernel& untyped = writer(module);
  untyped.launch(right, static_cast<float*>(other.data_ptr()), std::int64_t{0});
  EXPECT_EQ(scope.reports(), 0) << scope.text();
  writer(module).launch(right, address, 0);
  EXPECT_EQ(scope.reports(), 1);
  settle();
}

TEST_F(SanitizerTest, ANullPointerIsNoMemory) {
  const auto a = getStreamFromPool();
  const auto b = getStreamFromPool();
  settle();
  const Scope scope;
  access(a, "one").writes(nullptr);
  access(b, "two").writes(nullptr);
  EXPECT_EQ(scope.reports(), 0) << scope.text();
}

TEST_F(SanitizerTest, ThreadsMayRaceInTheirCallsWithoutARace) {
  const Scope scope;
  std::atomic<int> reports{0};
  const auto work = [&] {
    const auto stream = getStreamFromPool();
    for (int i = 0; i < 50; ++i) {
      DeviceBuffer block(1024, stream);
      memory_set(block, 1, stream);
      reports += static_cast<int>(scope.reports());
    }
  };
  std::thread one(work);
  std::thread other(work);
  one.join();
  other.join();
  EXPECT_EQ(reports, 0) << scope.text();
}

/// Whether a line is one JSON object, as far as its nesting and its texts say it.
bool is_object(const std::string& line) {
  int depth = 0;
  bool in_text = false;
  for (std::size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    if (static_cast<unsigned char>(c) < 0x20) {
      return false;
    }
    if (in_text) {
      i += c == '\\' ? 1 : 0;
      in_text = c != '"';
    } else if (c == '"') {
      in_text = true;
    } else if (c == '{' || c == '}') {
      depth += c == '{' ? 1 : -1;
      if (depth == 0 && i + 1 != line.size()) {
        return false;
      }
    }
  }
  return depth == 0 && !in_text && line.rfind("{\"kind\":\"", 0) == 0;
}

TEST_F(SanitizerTest, ProcessesShareAFileOfReports) {
  const std::string path = testing::TempDir() + "sconce_sanitizer_" + std::to_string(getpid());
  std::remove(path.c_str());
  const std::string variables = "SCONCE_SANITIZER=report SCONCE_SANITIZER_FILE='" + path + "'";
  std::array<support::Ended, 2> ended{};
  std::thread other([&] { ended[1] = run_child("races", variables); });
  ended[0] = run_child("races", variables);
  other.join();
  for (const support::Ended& it : ended) {
    EXPECT_EQ(it.status, 0) << it.output;
  }
  std::ifstream file(path);
  std::set<std::string> processes;
  int lines = 0;
  for (std::string line; std::getline(file, line); ++lines) {
    EXPECT_TRUE(is_object(line)) << line;
    const std::size_t at = line.find("\"pid\":");
    ASSERT_NE(at, std::string::npos);
    processes.insert(line.substr(at, line.find(',', at) - at));
  }
  EXPECT_EQ(lines, 40);
  EXPECT_EQ(processes.size(), 2U);
  std::remove(path.c_str());
}

void expect_aborted(const support::Ended& ended) {
  EXPECT_TRUE(WIFSIGNALED(ended.status) && WTERMSIG(ended.status) == SIGABRT) << ended.status;
  EXPECT_TRUE(contains(ended.output, "sconce sanitizer: race between streams"));
  EXPECT_TRUE(contains(ended.output, "the first writes"));
  EXPECT_FALSE(contains(ended.output, "still here"));
}

TEST_F(SanitizerTest, TheFirstReportEndsTheProcessIfAsked) {
  expect_aborted(run_child("aborts"));
  expect_aborted(run_child("aborts", "SCONCE_SANITIZER=report"));
  expect_aborted(run_child("races", "SCONCE_SANITIZER=abort"));
}

std::string text_of(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

/// A file that goes with the test.
struct TemporaryFile {
  std::string path;
  explicit TemporaryFile(const std::string& name)
      : path(testing::TempDir() + "sconce_page_" + name + std::to_string(getpid())) {}
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  ~TemporaryFile() { std::remove(path.c_str()); }
};

TEST_F(SanitizerTest, ThePageOfARunIsSavedOnRequest) {
  const TemporaryFile file("request");
  EXPECT_EQ(status_of([&] { save_page(file.path); }), SCONCE_ERROR_INVALID_STATE);
  EXPECT_TRUE(contains(sconce_last_error_message(), "SCONCE_SANITIZER_PAGE"));
  EXPECT_EQ(sconce_sanitizer_record_history(true, 0), SCONCE_ERROR_INVALID_ARGUMENT);
  record_history();
  race("drawn </script>");
  reset();
  save_page(file.path);
  const std::string page = text_of(file.path);
  EXPECT_TRUE(contains(page, "drawn \\u003c/script>"));
  EXPECT_FALSE(contains(page, "drawn </script>"));
  EXPECT_TRUE(contains(page, "\"kind\":\"race\""));
  EXPECT_TRUE(contains(page, "sanitizer_support.hpp:"));
  EXPECT_EQ(status_of([&] { save_page(testing::TempDir() + "sconce_none/page.html"); }),
            SCONCE_ERROR_IO);
  EXPECT_TRUE(contains(sconce_last_error_message(), "sconce_none/page.html cannot be written"));
  EXPECT_EQ(sconce_sanitizer_record_history(false, 0), SCONCE_OK);
  EXPECT_EQ(status_of([&] { save_page(file.path); }), SCONCE_ERROR_INVALID_STATE);
}

TEST_F(SanitizerTest, ThePageOfARunIsWrittenWhenTheProcessEnds) {
  const TemporaryFile file("end");
  const std::string page = "SCONCE_SANITIZER_PAGE='" + file.path + "'";
  const support::Ended ended = run_child("races", "SCONCE_SANITIZER=report " + page);
  EXPECT_EQ(ended.status, 0) << ended.output;
  EXPECT_TRUE(contains(text_of(file.path), "\"name\":\"\\\"quoted"));
  std::remove(file.path.c_str());

  expect_aborted(run_child("races", "SCONCE_SANITIZER=abort " + page));
  EXPECT_TRUE(contains(text_of(file.path), "\"name\":\"\\\"quoted"));
  std::remove(file.path.c_str());

  // Of a process without the sanitizer there is no page.
  EXPECT_EQ(run_child("without", "-u SCONCE_SANITIZER " + page).status, 0);
  EXPECT_EQ(text_of(file.path), "");
}

TEST_F(SanitizerTest, APageThatCannotBeWrittenIsAnnounced) {
  const support::Ended ended =
      run_child("races", "SCONCE_SANITIZER=report SCONCE_SANITIZER_PAGE=/proc/none/page-%p.html");
  EXPECT_EQ(ended.status, 0) << ended.output;
  const std::size_t at = ended.output.find("SCONCE_SANITIZER_PAGE: path /proc/none/page-");
  ASSERT_NE(at, std::string::npos) << ended.output;
  EXPECT_FALSE(contains(ended.output.substr(at), "%p"));
  EXPECT_TRUE(contains(ended.output.substr(at), "cannot be written"));
}

TEST_F(SanitizerTest, ItCannotBeSwitchedOnLater) {
  for (const auto& [child, variables] :
       {std::pair("without", "-u SCONCE_SANITIZER"), std::pair("disabled", "-u SCONCE_SANITIZER"),
        std::pair("disabled", "SCONCE_SANITIZER=report")}) {
    const support::Ended ended = run_child(child, variables);
    EXPECT_EQ(ended.status, 0) << child << " " << variables << ": " << ended.output;
  }
}

}  // namespace
