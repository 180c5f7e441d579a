// Tensors that are alive when the process ends: static ones, views of them, those of threads,
// pinned ones, memory of others with a deleter, and ones that queued work still uses. Nothing may
// crash or hang, and every deleter runs once.
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <thread>
#include <vector>

#include "../support.hpp"

namespace {

using sconce::Tensor;
using namespace sconce::cuda;

std::vector<float> foreign(1024, 1.0F);
std::atomic<int> deleted{0};

// Destroyed after all tensors that main made static.
struct CountsDeleters {
  int wanted = -1;

  ~CountsDeleters() {
    if (wanted >= 0 && deleted.load() != wanted) {
      std::fprintf(stderr, "%d of %d deleters have run\n", deleted.load(), wanted);
      std::_Exit(1);
    }
  }
};
CountsDeleters counter;

struct UsesTensorsWhenDestroyed {
  ~UsesTensorsWhenDestroyed() {
    // Any result will do except one: that the library itself is broken.
    try {
      const Tensor ones = sconce::ones({64}, sconce::device(0));
      const Tensor sum = (ones + ones).slice(0, 0, 32).sum();
      (void)sum.item<float>();
      (void)sum.cpu().pin_memory();
    } catch (const sconce::Error& error) {
      if (error.status() == SCONCE_ERROR_INTERNAL) {
        std::fprintf(stderr, "%s\n", error.what());
        std::_Exit(1);
      }
    }
  }
};
UsesTensorsWhenDestroyed last_user;

// Assigned by main, and destroyed after everything that main made static.
Tensor first_made;

Tensor over_foreign_memory() {
  return sconce::from_blob(foreign.data(), {32, 32}, [](void*) { deleted.fetch_add(1); });
}

thread_local Tensor of_the_thread;

}  // namespace

int main() {
  if (const std::string& reason = support::started(); !reason.empty()) {
    std::printf("skipped: %s\n", reason.c_str());
    return 77;
  }
  counter.wanted = 3;
  first_made = over_foreign_memory().select(0, 3);
  static const Tensor whole = over_foreign_memory();
  static const Tensor column = whole.transpose(0, 1).select(0, 1);
  static const Tensor pinned =
      sconce::ones({1000}, sconce::Device(sconce::DeviceType::CPU)).pin_memory();
  static const Tensor last = sconce::zeros({100}, sconce::device(device_count() - 1));
  // Ends with a tensor of its own, which shares its memory with one of main.
  static const Tensor shared = sconce::full({1 << 20}, 2.0, sconce::device(0));
  std::thread([] {
    of_the_thread = shared.narrow(0, 5, 100);
    Tensor gone = over_foreign_memory();
  }).join();
  // Is still running when main has returned.
  std::thread([] {
    of_the_thread = sconce::ones({100}, sconce::device(0)) + 1;
    std::this_thread::sleep_for(std::chrono::seconds(60));
  }).detach();
  of_the_thread = sconce::ones({1000}, sconce::device(0));
  const CUDAStream busy = getStreamFromPool();
  {
    const CUDAStreamGuard guard(busy);
    sleep(std::chrono::milliseconds(200));
    static const Tensor pending = shared + 1;
    of_the_thread.record_stream(busy);
    static const Tensor copied = pinned.to(sconce::Device(sconce::DeviceType::CUDA, 0), true);
  }
  std::puts("leaving main with tensors alive");
  return 0;
}
