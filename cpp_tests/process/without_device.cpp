// A process without a device: what torch's documents call safe there has no effect, and the rest
// throws.
#include <cstdlib>
#include <cstring>

#include "process.hpp"

namespace {

using namespace sconce::cuda;
namespace allocator = sconce::cuda::CUDACachingAllocator;
using process::expect;
using process::failed;

/// Checks that a call throws nothing.
template <class Call>
void succeeds(const char* what, Call&& call) {
  try {
    call();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s threw %s\n", what, error.what());
    failed = true;
  }
}

void allowed() {
  succeeds("manual_seed", [] { manual_seed(1); });
  succeeds("manual_seed_all", [] { manual_seed_all(1); });
  succeeds("sconce::manual_seed", [] { sconce::manual_seed(1); });
  succeeds("seed", [] { expect(seed() != seed(), "seeds differ"); });
  succeeds("seed_all", [] { expect(seed_all() != 0, "there is a seed"); });
  succeeds("initial_seed", [] {
    manual_seed(7);
    expect(initial_seed() == 7, "the seed is kept");
  });
  succeeds("get_rng_state_all", [] { expect(get_rng_state_all().empty(), "there is no state"); });
  succeeds("set_rng_state_all", [] { set_rng_state_all({}); });
  succeeds("empty_cache", [] { empty_cache(); });
  succeeds("memory figures", [] {
    expect(memory_allocated() + max_memory_allocated(0) + memory_reserved(3) == 0, "all are 0");
    expect(max_memory_reserved() + memory_cached() + max_memory_cached() == 0, "all are 0");
    expect(memory_stats().num_ooms == 0 && memory_stats_json() == "{}", "there are no statistics");
    expect(memory_summary().empty(), "the summary is empty");
    expect(page_figures().page_bytes == 0, "there are no pages");
  });
  succeeds("reset of statistics", [] {
    reset_peak_memory_stats();
    reset_accumulated_memory_stats();
    reset_max_memory_allocated();
    reset_max_memory_cached();
  });
  succeeds("snapshot", [] {
    const allocator::SnapshotInfo info = allocator::snapshot();
    expect(info.segments.empty() && info.device_traces.empty(), "the snapshot is empty");
    expect(memory_snapshot_json().find("\"segments\":[]") != std::string::npos, "as text, too");
  });
  succeeds("ipc_collect", [] { ipc_collect(); });
  succeeds("set_device(-1)", [] { set_device(-1); });
  succeeds("guards", [] {
    CUDAGuard guard(-1);
    guard.set_index(-1);
    expect(guard.original_device().index() == -1, "no device was current");
    const OptionalCUDAGuard none;
    const OptionalCUDAGuard optional(-1);
  });
  succeeds("raw_delete of null", [] { allocator::raw_delete(nullptr); });
  succeeds("availability", [] { expect(!is_available() && device_count() == 0, "there is none"); });
  succeeds("settings", [] { sconce::globalContext().setAllowTF32CuBLAS(true); });
}

template <class Call>
void throws(const char* what, Call&& call) {
  const sconce::Status status = support::status_or_ok(call);
  expect(status == SCONCE_ERROR_NO_DEVICE || status == SCONCE_ERROR_LIBRARY_NOT_FOUND, what);
}

void refused() {
  throws("current_device", [] { (void)current_device(); });
  throws("set_device(0)", [] { set_device(0); });
  throws("CUDAGuard(0)", [] { const CUDAGuard guard(0); });
  throws("device_synchronize", [] { device_synchronize(); });
  throws("raw_alloc", [] { (void)allocator::raw_alloc(1); });
  throws("getCurrentCUDAStream", [] { (void)getCurrentCUDAStream(); });
  throws("get_rng_state", [] { (void)get_rng_state(); });
  throws("a tensor", [] { (void)sconce::ones({2}, sconce::kCUDA); });
}

}  // namespace

int main(int argc, char** argv) {
  const bool hides = argc > 1 && std::strcmp(argv[1], "hidden") == 0;
  ::setenv("SCONCE_BACKEND", hides ? "sim" : "auto", 1);
  ::setenv(hides ? "CUDA_VISIBLE_DEVICES" : "SCONCE_LIBCUDA", hides ? "" : "/nowhere/libcuda.so",
           1);
  allowed();
  refused();
  allowed();
  expect(!sconce::is_initialized(), "nothing was initialised");
  return failed ? 1 : 0;
}
