// Programs that race, each beside the same program with the wait that it lacks. The race is
// reported although it hardly ever happens: the operations are short.
#include <chrono>
#include <cstdint>
#include <ostream>
#include <string>
#include <thread>
#include <vector>

#include "process/process.hpp"
#include "sanitizer_support.hpp"

namespace {

using namespace sconce::cuda;
using sconce::Tensor;
using support::settle;

constexpr std::size_t kBytes = 4096;

/// A stream that the legacy default stream waits for. Only the simulator has one to offer.
struct BlockingStream {
  sconce::simulator::ExternalStream simulated{/*non_blocking=*/false};
  CUDAStream stream = getStreamFromExternal(simulated.get());
};

void copy_behind_a_fill(bool fixed) {
  const auto a = getStreamFromPool();
  const auto b = getStreamFromPool();
  DeviceBuffer from(kBytes, a);
  DeviceBuffer to(kBytes, b);
  settle();
  memory_set(from, 1, a);
  if (fixed) {
    b.wait_stream(a);
  }
  copy_(to, from, true, b);
  settle();
}

void event_recorded_too_early(bool fixed) {
  const auto a = getStreamFromPool();
  const auto b = getStreamFromPool();
  DeviceBuffer from(kBytes, a);
  DeviceBuffer to(kBytes, b);
  settle();
  CUDAEvent ready;
  if (!fixed) {
    ready.record(a);
  }
  memory_set(from, 1, a);
  if (fixed) {
    ready.record(a);
  }
  ready.block(b);
  copy_(to, from, true, b);
  settle();
}

void event_never_recorded(bool fixed) {
  const auto a = getStreamFromPool();
  const auto b = getStreamFromPool();
  const Tensor from = sconce::zeros({64});
  const Tensor to = sconce::zeros({64});
  settle();
  CUDAEvent ready;
  with_stream(a, [&] { from.fill_(1); });
  if (fixed) {
    ready.record(a);
  }
  b.wait_event(ready);
  with_stream(b, [&] { to.copy_(from, true); });
  settle();
}

void ranges_that_share_a_byte(bool fixed) {
  const auto a = getStreamFromPool();
  const auto b = getStreamFromPool();
  DeviceBuffer block(kBytes, a);
  settle();
  const std::size_t middle = 1000;
  const std::size_t begin = fixed ? middle : middle - 1;
  memory_set(block.span<unsigned char>(0, middle), 1, a);
  memory_set(block.span<unsigned char>(begin, kBytes - begin), 2, b);
  settle();
}

void default_stream(bool fixed) {
  const auto start = getDefaultCUDAStream();
  const BlockingStream blocking;
  const auto other = fixed ? blocking.stream : getStreamFromPool();
  DeviceBuffer from(kBytes);
  DeviceBuffer to(kBytes);
  settle();
  memory_set(from, 1, start);
  copy_(to, from, true, other);
  settle();
}

void new_memory_on_another_stream(bool fixed) {
  const auto a = getStreamFromPool();
  const auto b = getStreamFromPool();
  DeviceBuffer old(kBytes, a);
  settle();
  memory_set(old, 1, a);
  old.reset();
  DeviceBuffer fresh(kBytes, a);
  if (fixed) {
    b.wait_stream(a);
  }
  memory_set(fresh, 2, b);
  settle();
}

void record_stream_is_missing(bool fixed) {
  const auto own = getStreamFromPool();
  const auto copies = getStreamFromPool();
  DeviceBuffer to(kBytes, copies);
  DeviceBuffer from(kBytes, own);
  settle();
  memory_set(from, 1, own);
  copies.wait_stream(own);
  copy_(to, from, true, copies);
  if (fixed) {
    from.record_stream(copies);
  }
  from.reset();
  settle();
}

/// What the allocator asks of an event, to hand out its memory again, is no wait of the program.
void work_that_the_allocator_asks_for(bool fixed) {
  const auto a = getStreamFromPool();
  const auto b = getStreamFromPool();
  DeviceBuffer from(kBytes, b);
  DeviceBuffer to(kBytes, a);
  DeviceBuffer used(kBytes, a);
  settle();
  memory_set(from, 1, b);
  used.record_stream(b);
  used.reset();
  // Meanwhile the fill ends, and the allocation learns it.
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  const DeviceBuffer fresh(kBytes, a);
  if (fixed) {
    a.wait_stream(b);
  }
  copy_(to, from, true, a);
  settle();
}

void pinned_block_freed_too_early(bool fixed) {
  const auto stream = getStreamFromPool();
  PinnedBuffer block(kBytes);
  settle();
  // Nothing says who frees it when: copies of the library would be recorded by themselves.
  sconce::sanitizer::access(stream, "a kernel of the program").reads(block.get(), kBytes);
  if (fixed) {
    block.record_stream(stream);
  }
  block.reset();
  settle();
}

/// As for memory of devices: what the allocation asks for is no wait of the program.
void work_that_the_pinned_allocator_asks_for(bool fixed) {
  const auto a = getStreamFromPool();
  const auto b = getStreamFromPool();
  DeviceBuffer from(kBytes, b);
  DeviceBuffer to(kBytes, a);
  PinnedBuffer used(kBytes);
  settle();
  memory_set(from, 1, b);
  used.record_stream(b);
  used.reset();
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  const PinnedBuffer fresh(kBytes);
  if (fixed) {
    a.wait_stream(b);
  }
  copy_(to, from, true, a);
  settle();
}

Tensor pinned(double value) {
  const auto on_cpu = sconce::device(sconce::kCPU).dtype(sconce::kFloat);
  return sconce::full({64, 64}, value, on_cpu).pin_memory();
}

void pinned_memory_overwritten(bool fixed) {
  const auto a = getStreamFromPool();
  const Tensor batch = pinned(1);
  const Tensor x = sconce::zeros({64, 64});
  settle();
  with_stream(a, [&] { x.copy_(batch, /*non_blocking=*/true); });
  if (fixed) {
    a.synchronize();
  }
  batch.fill_(2);
  settle();
}

void pinned_memory_read_early(bool fixed) {
  const auto a = getStreamFromPool();
  const Tensor result = pinned(0);
  const Tensor x = sconce::ones({64, 64});
  settle();
  with_stream(a, [&] { result.copy_(x, /*non_blocking=*/true); });
  CUDAEvent copied;
  copied.record(a);
  if (fixed) {
    copied.synchronize();
  }
  EXPECT_GE(result.sum().item<double>(), 0);
  settle();
}

void operand_of_a_product(bool fixed) {
  const auto loads = getStreamFromPool();
  const auto compute = getStreamFromPool();
  const Tensor host = pinned(1);
  const Tensor x = sconce::ones({64, 64});
  const Tensor weight = sconce::zeros({64, 64});
  settle();
  with_stream(loads, [&] { weight.copy_(host, /*non_blocking=*/true); });
  if (fixed) {
    compute.wait_stream(loads);
  }
  const Tensor y = with_stream(compute, [&] { return sconce::matmul(x, weight); });
  settle();
}

void sum_of_random_numbers(bool fixed) {
  const auto side = getStreamFromPool();
  const Tensor x = sconce::zeros({100, 100});
  settle();
  x.normal_(5.0, 1.0);
  if (fixed) {
    side.wait_stream(getDefaultCUDAStream());
  }
  const Tensor sum = with_stream(side, [&] { return x.sum(); });
  settle();
}

void input_of_a_graph(bool fixed) {
  const auto loads = getStreamFromPool();
  const auto runs = getStreamFromPool();
  const Tensor input = sconce::ones({64});
  CUDAGraph graph;
  Tensor output;
  {
    GraphGuard capture(graph);
    output = input * 2;
    capture.end();
  }
  settle();
  with_stream(loads, [&] { input.fill_(4); });
  if (fixed) {
    runs.wait_stream(loads);
  }
  graph.replay(runs);
  settle();
}

void gradient_of_another_stream(bool fixed) {
  const auto caller = getStreamFromPool();
  const auto side = getStreamFromPool();
  const Tensor initial = sconce::zeros({64});
  settle();
  const sconce::BackwardGraph graph;
  std::uint64_t node = 0;
  with_stream(caller, [&] {
    const sconce::BackwardEdge leaf = graph.add_leaf(initial.device(), "x");
    node = graph.add_node(initial.device(), "twice", 1, {leaf}, [](const std::vector<Tensor>& of) {
      return std::vector<Tensor>{of[0] * 2.0};
    });
  });
  with_stream(side, [&] { initial.fill_(1); });
  if (fixed) {
    caller.wait_stream(side);
    initial.record_stream(caller);
  }
  with_stream(caller, [&] { graph.run({{{node, 0}, initial}}); });
  settle();
}

void copy_to_another_device(bool fixed) {
  const auto a = getStreamFromPool(false, 0);
  const auto b = getStreamFromPool(false, 0);
  const Tensor here = sconce::zeros({64}, sconce::device(0));
  const Tensor there = sconce::zeros({64}, sconce::device(1));
  settle();
  with_stream(a, [&] { here.fill_(7); });
  if (fixed) {
    b.wait_stream(a);
  }
  with_stream(b, [&] { there.copy_(here, true); });
  settle();
}

void collective_call_not_waited_for(bool fixed) {
  namespace dist = sconce::distributed;
  const auto ranks = dist::Communicator::init_all({0, 1});
  const Tensor x = sconce::ones({64}, sconce::device(0));
  const Tensor y = sconce::ones({64}, sconce::device(1));
  settle();
  std::vector<dist::Work> works;
  dist::group([&] {
    works.push_back(ranks[0].all_reduce(x, dist::ReduceOp::SUM, dist::async_op));
    works.push_back(ranks[1].all_reduce(y, dist::ReduceOp::SUM, dist::async_op));
  });
  if (fixed) {
    works[0].wait();
  }
  x.add_(1);
  works[0].wait();
  works[1].wait();
  settle();
}

/// What precedes a send precedes what follows its receive.
void read_behind_a_receive(bool fixed) {
  namespace dist = sconce::distributed;
  const auto ranks = dist::Communicator::init_all({0, 1});
  const Tensor x = sconce::ones({64}, sconce::device(0));
  const Tensor y = sconce::zeros({64}, sconce::device(1));
  settle();
  x.add_(1);
  std::vector<dist::Work> works;
  dist::group([&] {
    works.push_back(ranks[1].recv(y, 0, dist::async_op));
    works.push_back(ranks[0].send(x, 1, dist::async_op));
  });
  if (fixed) {
    works[0].wait();
  }
  sconce::sanitizer::access(getCurrentCUDAStream(1), "the other device").reads(x.data_ptr());
  works[0].wait();
  works[1].wait();
  settle();
}

void kernel_of_the_program(bool fixed) {
  namespace sim = sconce::simulator;
  using Destination = sim::DevicePointer<float>;
  using Source = sim::DevicePointer<const float>;
  sim::register_kernel<float*, const float*>(
      "twice", [](const sim::Thread& thread, Destination to, Source from) {
        to[thread.x()] = 2 * from[thread.x()];
      });
  const auto a = getStreamFromPool();
  const auto b = getStreamFromPool();
  const Module module = Module::load(
      ".version 8.0\n.target sm_75\n.address_size 64\n.visible .entry twice(.param .u64 to, .param "
      ".u64 from) { ret; }");
  const auto twice = module.kernel<float*, const float*>("twice");
  const Tensor x = sconce::ones({64});
  const Tensor y = sconce::zeros({64});
  const Tensor copy = sconce::zeros({64});
  settle();
  LaunchConfig config{Dim3(1), Dim3(64)};
  config.stream = a;
  twice.launch(config, y, x);
  with_stream(b, [&] { copy.copy_(x, true); });  // both read x
  if (fixed) {
    b.wait_stream(a);
  }
  with_stream(b, [&] { copy.copy_(y, true); });
  settle();
}

struct Case {
  const char* name;
  void (*program)(bool fixed);
  const char* kind;
  /// The operations, as lines of the report have them; those of kernels in part.
  const char* first;
  const char* second;
  /// What is missing.
  const char* repair;
  bool needs_simulator = false;
  int devices = 1;
};

constexpr const char* kWait = ": call wait_stream(";
constexpr const char* kSynchronize = ": call synchronize() on stream ";

const Case kCases[] = {
    {"CopyBehindAFill", copy_behind_a_fill, "race", "fill writes", "copy reads", kWait},
    {"EventRecordedTooEarly", event_recorded_too_early, "race", "fill writes", "copy reads", kWait},
    {"EventNeverRecorded", event_never_recorded, "race", "pointwise_1_f32_small writes",
     "copy reads", kWait},
    {"RangesThatShareAByte", ranges_that_share_a_byte, "race", "fill writes", "fill writes", kWait},
    {"DefaultStream", default_stream, "race", "fill writes, on the default stream of device 0",
     "copy reads", kWait, true},
    {"NewMemoryOnAnotherStream", new_memory_on_another_stream, "race", "the allocation writes",
     "fill writes", kWait},
    {"RecordStreamIsMissing", record_stream_is_missing, "missing_record_stream", "copy reads",
     "the free writes", ": call record_stream(block, stream "},
    {"WorkThatTheAllocatorAsksFor", work_that_the_allocator_asks_for, "race", "fill writes",
     "copy reads", kWait},
    {"PinnedBlockFreedTooEarly", pinned_block_freed_too_early, "missing_record_stream",
     "a kernel of the program reads", "the free writes, on the host",
     ": call record_stream(block, stream "},
    {"WorkThatThePinnedAllocatorAsksFor", work_that_the_pinned_allocator_asks_for, "race",
     "fill writes", "copy reads", kWait},
    {"PinnedMemoryOverwritten", pinned_memory_overwritten, "race", "copy reads",
     "work of the processor writes, on the host", kSynchronize},
    {"PinnedMemoryReadEarly", pinned_memory_read_early, "race", "copy writes",
     "work of the processor reads, on the host", kSynchronize},
    {"OperandOfAProduct", operand_of_a_product, "race", "copy writes", "product_f32 reads", kWait,
     true},
    {"SumOfRandomNumbers", sum_of_random_numbers, "race", "random_normal_f32 writes",
     "reduce_sum_rows_f32 reads", kWait},
    {"InputOfAGraph", input_of_a_graph, "race", "pointwise_1_f32_small writes",
     "pointwise_2_f32_small in graph launch reads", kWait},
    {"GradientOfAnotherStream", gradient_of_another_stream, "race", "pointwise_1_f32_small writes",
     "pointwise_2_f32_small reads", kWait},
    {"CopyToAnotherDevice", copy_to_another_device, "race", "pointwise_1_f32_small writes",
     "copy reads", kWait, false, 2},
    {"CollectiveCallNotWaitedFor", collective_call_not_waited_for, "race", "all_reduce reads",
     "pointwise_2_f32_small writes", kWait, false, 2},
    {"ReadBehindAReceive", read_behind_a_receive, "race", "pointwise_2_f32_small writes",
     "the other device reads", kWait, false, 2},
    {"KernelOfTheProgram", kernel_of_the_program, "race", "twice writes", "copy reads", kWait,
     true},
};

/// How messages of the test show a case.
void PrintTo(const Case& it, std::ostream* to) { *to << it.name; }

class SanitizerRacesTest : public support::DeviceFixture,
                           public testing::WithParamInterface<Case> {};

/// The line of a text that begins with `start`.
std::string line_of(const std::string& text, const std::string& start) {
  const std::size_t at = text.find(start);
  return at == std::string::npos ? "" : text.substr(at, text.find('\n', at) - at);
}

TEST_P(SanitizerRacesTest, IsReportedOnlyWithoutTheWait) {
  const Case& it = GetParam();
  if (it.needs_simulator) {
    SCONCE_NEED_SIMULATOR();
  }
  SCONCE_NEED_DEVICES(it.devices);
  const sconce::sanitizer::Scope fixed;
  it.program(true);
  EXPECT_EQ(fixed.reports(), 0) << fixed.text();

  const sconce::sanitizer::Scope racy;
  it.program(false);
  ASSERT_GE(racy.reports(), 1);
  const sconce::sanitizer::Report report =
      sconce::sanitizer::report(sconce::sanitizer::report_count() - racy.reports());
  SCOPED_TRACE(report.text);
  EXPECT_TRUE(support::contains(report.json, std::string("{\"kind\":\"") + it.kind + "\""));
  EXPECT_TRUE(support::contains(line_of(report.text, "first: "), it.first));
  EXPECT_TRUE(support::contains(line_of(report.text, "second: "), it.second));
  EXPECT_TRUE(support::contains(line_of(report.text, "repair: "), it.repair));
  // Both places are in this file, not in the library or its headers.
  const std::size_t place =
      report.text.find("sanitizer_races_test.cpp:", report.text.find("first: "));
  ASSERT_NE(place, std::string::npos);
  EXPECT_NE(report.text.find("sanitizer_races_test.cpp:", report.text.find("second: ")),
            std::string::npos);
  EXPECT_LT(place, report.text.find("second: "));
}

INSTANTIATE_TEST_SUITE_P(Programs, SanitizerRacesTest, testing::ValuesIn(kCases),
                         [](const auto& test) { return std::string(test.param.name); });

struct Message {
  IpcMemoryHandle memory;
  IpcEventHandle event;
};

/// What another process does with the memory: returns how many reports it got.
int import(const std::string& way, const Message& message) {
  OpenedMemory memory(message.memory);
  const CUDAEvent filled(0, message.event);
  const auto stream = getStreamFromPool();
  DeviceBuffer to(kBytes);
  settle();
  const sconce::sanitizer::Scope scope;
  if (way == "import_fixed") {
    filled.block(stream);
  } else if (way == "import_told") {
    sconce::sanitizer::heard_from_processes();
  }
  copy_(to.get(), memory.get(), kBytes, true, stream);
  settle();
  const int reports = static_cast<int>(scope.reports());
  const std::string text = scope.text();
  const bool names_both =
      text.find("the other process writes, on another process") != std::string::npos &&
      text.find("copy reads") != std::string::npos;
  memory.close();
  return reports > 0 && !names_both ? 100 : reports;
}

class SanitizerIpcTest : public support::DeviceFixture {};

TEST_F(SanitizerIpcTest, MemoryOfAnotherProcessIsReadBehindItsEventOrMessage) {
  const auto a = getStreamFromPool();
  DeviceBuffer block(kBytes, a);
  CUDAEvent filled(EventFlags::Interprocess);
  Message message{};
  try {
    message = {ipc_memory_handle(block), filled.ipc_handle()};
  } catch (const sconce::NotSupportedError& error) {
    GTEST_SKIP() << error.what();
  }
  memory_set(block, 7, a);
  filled.record(a);
  for (const char* way : {"import_fixed", "import_racy", "import_told"}) {
    if (way == std::string("import_told")) {
      settle();  // the message tells that the fill is done
    }
    const process::Second other({"--child", way});
    ASSERT_TRUE(other.send(message));
    int reports = -1;
    ASSERT_TRUE(other.receive(reports));
    EXPECT_EQ(reports, way == std::string("import_racy") ? 1 : 0) << way;
    other.expect_success();
  }
  EXPECT_FALSE(process::failed);
  settle();
}

}  // namespace

int support::run_as_child(int, char** arguments) {
  sconce::sanitizer::enable();
  support::started();
  Message message{};
  if (!process::receive(STDIN_FILENO, message)) {
    return 1;
  }
  const int reports = import(arguments[0], message);
  return process::send(STDOUT_FILENO, reports) ? 0 : 1;
}
