// Graphs that are alive when a process ends, or is forked: a launch that still runs, a graph that
// is never destroyed, and one whose capture is never ended. Nothing may crash or hang, and a child
// that was forked gets SCONCE_ERROR_FORKED from every call, which it makes without a lock.
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <memory>

#include "process.hpp"

namespace {

using namespace sconce::cuda;
using process::expect;
using process::failed;
using support::status_or_ok;

/// A graph of work that takes a while.
void capture(CUDAGraph& graph, DeviceBuffer& memory) {
  GraphGuard capture(graph);
  sleep(std::chrono::milliseconds(100));
  memory_set(memory, 1);
  capture.end();
}

void in_the_child(std::unique_ptr<CUDAGraph>& captured, std::unique_ptr<CUDAGraph>& open) {
  expect(status_or_ok([] { const CUDAGraph graph; }) == SCONCE_ERROR_FORKED, "no graph is made");
  expect(status_or_ok([&] { captured->replay(); }) == SCONCE_ERROR_FORKED, "no graph is launched");
  expect(status_or_ok([&] { (void)captured->node_count(); }) == SCONCE_ERROR_FORKED, "node_count");
  expect(status_or_ok([&] { captured->reset(); }) == SCONCE_ERROR_FORKED, "reset");
  expect(status_or_ok([&] { open->capture_end(); }) == SCONCE_ERROR_FORKED, "capture_end");
  expect(status_or_ok([&] { open->capture_abort(); }) == SCONCE_ERROR_FORKED, "capture_abort");
  sconce_graph* capturing = nullptr;
  expect(sconce_graph_get_capturing(&capturing) == SCONCE_ERROR_FORKED, "get_capturing");
  captured.reset();
  open.reset();
}

}  // namespace

int main() {
  if (const std::string& reason = support::started(); !reason.empty()) {
    return process::skipped(reason.c_str());
  }
  DeviceBuffer memory(1000);
  auto captured = std::make_unique<CUDAGraph>();
  capture(*captured, memory);
  const CUDAStream stream = getStreamFromPool();
  auto open = std::make_unique<CUDAGraph>();
  {
    const CUDAStreamGuard guard(stream);
    open->capture_begin(MempoolId{}, CaptureMode::Relaxed);
  }
  captured->replay();

  const pid_t child = fork();
  if (child == 0) {
    in_the_child(captured, open);
    return failed ? 1 : 0;
  }
  expect(child > 0, "fork works");
  int status = -1;
  expect(waitpid(child, &status, 0) == child, "the child ends");
  expect(WIFEXITED(status) && WEXITSTATUS(status) == 0, "the child ends cleanly");

  captured->replay();
  // Destroyed after main, while the launch runs; the other is leaked with its capture.
  static const std::unique_ptr<CUDAGraph> until_the_end = std::move(captured);
  (void)open.release();
  std::puts("leaving main with a launch under way and a capture open");
  return failed ? 1 : 0;
}
