// Contexts that take turns.
#include "gpu.hpp"

#include <ucontext.h>

#include <cstdio>
#include <cstdlib>
#include <vector>

Extent threadIdx, blockIdx;
// The kernels' name for it.
alignas(128) unsigned char shared[160 * 1024];

namespace {

struct Copy {
  unsigned to;
  const void* from;
  unsigned bytes;
  bool is_there;
};

struct Thread {
  ucontext_t context;
  std::vector<char> stack = std::vector<char>(192 * 1024);
  std::vector<Copy> copies;
};

struct Warp {
  void* brought[32];
  std::vector<unsigned> waiting;
};

ucontext_t scheduler;
std::vector<Thread> threads;
std::vector<Warp> warps;
std::vector<unsigned> ready, in_barrier;
unsigned current, shared_bytes, left;
std::uint64_t state;
void (*kernel)(const void*);
const void* argument;

unsigned drawn(unsigned below) {
  state = state * 6364136223846793005u + 1442695040888963407u;
  return (unsigned)(state >> 33) % below;
}

// Lets others run until this thread is ready again.
void wait() {
  const unsigned self = current;
  swapcontext(&threads[self].context, &scheduler);
  current = self;
  threadIdx.x = self;
}

void begin() {
  kernel(argument);
  left--;
}

}  // namespace

void fail(const char* what) {
  std::fprintf(stderr, "block %u, thread %u: %s\n", blockIdx.x, threadIdx.x, what);
  std::exit(1);
}

void __syncthreads() {
  in_barrier.push_back(current);
  if (in_barrier.size() == threads.size()) {
    ready.insert(ready.end(), in_barrier.begin(), in_barrier.end());
    in_barrier.clear();
  }
  wait();
}

void together(void* brought, void (*all)(void* const*)) {
  Warp& warp = warps[current / 32];
  warp.brought[current % 32] = brought;
  warp.waiting.push_back(current);
  if (warp.waiting.size() == 32) {
    if (all != nullptr) all(warp.brought);
    ready.insert(ready.end(), warp.waiting.begin(), warp.waiting.end());
    warp.waiting.clear();
  }
  wait();
}

unsigned char* in_shared(unsigned address, unsigned bytes) {
  if (address % bytes != 0) fail("an address of shared memory is not aligned");
  if (address + bytes > shared_bytes) fail("an address is beyond the shared memory");
  return shared + address;
}

void begin_copy(unsigned to, const void* from, unsigned bytes, bool is_there) {
  if (is_there && (std::uintptr_t)from % bytes != 0) fail("an address of a copy is not aligned");
  in_shared(to, bytes);
  // Until the copy is made nobody may read what was there before.
  std::memset(shared + to, 0xff, bytes);
  threads[current].copies.push_back({to, from, bytes, is_there});
}

void wait_for_copies() {
  for (const Copy& copy : threads[current].copies) {
    if (copy.is_there) {
      std::memcpy(shared + copy.to, copy.from, copy.bytes);
    } else {
      std::memset(shared + copy.to, 0, copy.bytes);
    }
  }
  threads[current].copies.clear();
}

void run_blocks(unsigned blocks, unsigned count, unsigned bytes, unsigned seed,
                void (*code)(const void*), const void* passed) {
  if (bytes > sizeof shared) fail("a block has too much shared memory");
  threads.resize(count);
  warps.assign(count / 32, Warp());
  kernel = code, argument = passed, shared_bytes = bytes, state = seed;
  for (blockIdx.x = 0; blockIdx.x < blocks; blockIdx.x++) {
    std::memset(shared, 0xff, sizeof shared);
    left = count;
    for (unsigned at = 0; at < count; at++) {
      Thread& thread = threads[at];
      getcontext(&thread.context);
      thread.context.uc_stack.ss_sp = thread.stack.data();
      thread.context.uc_stack.ss_size = thread.stack.size();
      thread.context.uc_link = &scheduler;
      makecontext(&thread.context, begin, 0);
      ready.push_back(at);
    }
    while (!ready.empty()) {
      const unsigned at = drawn((unsigned)ready.size());
      current = ready[at];
      ready[at] = ready.back();
      ready.pop_back();
      threadIdx.x = current;
      swapcontext(&scheduler, &threads[current].context);
    }
    if (left != 0) fail("threads wait for others that do not come");
    for (const Thread& thread : threads) {
      if (!thread.copies.empty()) fail("a thread ended and had not waited for its copies");
    }
  }
}
