// Contexts that take turns.
#include "gpu.hpp"

#include <ucontext.h>

#include <cstdio>
#include <cstdlib>
#include <map>
#include <vector>

Extent threadIdx, blockIdx;
// The kernels' name for it.
alignas(128) unsigned char shared[227 * 1024];

namespace {

struct Copy {
  unsigned to;
  const void* from;
  unsigned bytes;
  bool is_there;
};

// Copies after which a thread arrives at a barrier.
struct Arrival {
  std::vector<Copy> copies;
  unsigned barrier;
};

struct Thread {
  ucontext_t context;
  std::vector<char> stack = std::vector<char>(192 * 1024);
  std::vector<Copy> copies;
  std::vector<Arrival> arrivals;
};

// Threads side by side that wait for each other: those of a warp, or of a warp group.
struct Meeting {
  std::vector<void*> brought;
  std::vector<unsigned> waiting;
};

struct Barrier {
  unsigned count, left, phase;
  std::vector<unsigned> waiting;
};

struct Numbered {
  unsigned count, arrived;
  std::vector<unsigned> waiting;
};

ucontext_t scheduler;
std::vector<Thread> threads;
std::vector<Meeting> warps, groups;
std::map<unsigned, Barrier> barriers;
std::map<unsigned, Numbered> numbered;
std::vector<unsigned> ready, in_barrier;
unsigned current, shared_bytes, left;
// Which thread has stored to 16 bytes of shared memory since all threads of the block last met.
std::map<unsigned, unsigned> stored_by;
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
    stored_by.clear();
  }
  wait();
}

static void meet_at(Meeting& meeting, unsigned count, void* brought, void (*all)(void* const*)) {
  meeting.brought.resize(count);
  meeting.brought[current % count] = brought;
  meeting.waiting.push_back(current);
  if (meeting.waiting.size() == count) {
    if (all != nullptr) all(meeting.brought.data());
    ready.insert(ready.end(), meeting.waiting.begin(), meeting.waiting.end());
    meeting.waiting.clear();
  }
  wait();
}

void together(void* brought, void (*all)(void* const*)) {
  meet_at(warps[current / 32], 32, brought, all);
}

void group_together(void* brought, void (*all)(void* const*)) {
  meet_at(groups[current / 128], 128, brought, all);
}

static Barrier& barrier_at(unsigned address) {
  in_shared(address, 8);
  if (barriers.count(address) == 0) fail("a barrier was not made");
  return barriers[address];
}

void make_barrier(unsigned address, unsigned count) {
  in_shared(address, 8);
  if (barriers.count(address) != 0) fail("a barrier is made twice");
  barriers[address] = {count, count, 0, {}};
}

void arrive(unsigned address) {
  Barrier& barrier = barrier_at(address);
  if (--barrier.left != 0) return;
  barrier.left = barrier.count, barrier.phase++;
  ready.insert(ready.end(), barrier.waiting.begin(), barrier.waiting.end());
  barrier.waiting.clear();
}

void wait_until_phase_ends(unsigned address, unsigned parity) {
  // A thread that was woken may find that yet another phase has ended, which real ones miss, too.
  while (barrier_at(address).phase % 2 == parity) {
    barrier_at(address).waiting.push_back(current);
    wait();
  }
}

static Numbered& numbered_at(unsigned number, unsigned count) {
  if (number == 0 || number > 15) fail("there is no barrier of this number");
  Numbered& barrier = numbered[number];
  if (barrier.arrived != 0 && barrier.count != count) fail("threads differ on how many meet");
  barrier.count = count;
  if (++barrier.arrived == count) {
    ready.insert(ready.end(), barrier.waiting.begin(), barrier.waiting.end());
    barrier.waiting.clear();
    barrier.arrived = 0;
  }
  return barrier;
}

void pass(unsigned number, unsigned count) { numbered_at(number, count); }

void meet(unsigned number, unsigned count) {
  // The last one does not wait either, but may have to let those that are ready run first.
  Numbered& barrier = numbered_at(number, count);
  (barrier.arrived == 0 ? ready : barrier.waiting).push_back(current);
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
  const auto stored = stored_by.find(to / 16);
  if (stored != stored_by.end() && stored->second != current) {
    fail("a copy is made where another thread has stored");
  }
  // Until the copy is made nobody may read what was there before.
  std::memset(shared + to, 0xff, bytes);
  threads[current].copies.push_back({to, from, bytes, is_there});
}

void store_in_shared(unsigned to, const void* from, unsigned bytes) {
  std::memcpy(in_shared(to, bytes), from, bytes);
  stored_by[to / 16] = current;
}

static void make(const std::vector<Copy>& copies) {
  for (const Copy& copy : copies) {
    if (copy.is_there) {
      std::memcpy(shared + copy.to, copy.from, copy.bytes);
    } else {
      std::memset(shared + copy.to, 0, copy.bytes);
    }
  }
}

void arrive_behind_copies(unsigned barrier) {
  Thread& thread = threads[current];
  thread.arrivals.push_back({std::move(thread.copies), barrier});
  thread.copies.clear();
}

// Makes the oldest copies behind which a thread arrives; false if it has none.
static bool make_oldest(Thread& thread) {
  if (thread.arrivals.empty()) return false;
  make(thread.arrivals.front().copies);
  arrive(thread.arrivals.front().barrier);
  thread.arrivals.erase(thread.arrivals.begin());
  return true;
}

static bool make_any() {
  const unsigned first = drawn((unsigned)threads.size());
  for (unsigned i = 0; i < threads.size(); i++) {
    if (make_oldest(threads[(first + i) % threads.size()])) return true;
  }
  return false;
}

void wait_for_copies() {
  while (make_oldest(threads[current])) {
  }
  make(threads[current].copies);
  threads[current].copies.clear();
}

// A thread that may run. A warp or a warp group falls behind the others for a while, and then
// another one does.
static unsigned next_ready() {
  static unsigned first_slow, slow_count;
  if (drawn(512) == 0) {
    slow_count = drawn(2) == 0 ? 32 : 128;
    first_slow = drawn((unsigned)threads.size()) / slow_count * slow_count;
  }
  unsigned at = drawn((unsigned)ready.size());
  for (unsigned i = 0; i < 24 && ready[at] - first_slow < slow_count; i++) {
    at = drawn((unsigned)ready.size());
  }
  const unsigned chosen = ready[at];
  ready[at] = ready.back();
  ready.pop_back();
  return chosen;
}

void run_blocks(unsigned blocks, unsigned count, unsigned bytes, unsigned seed,
                void (*code)(const void*), const void* passed) {
  if (bytes > sizeof shared) fail("a block has too much shared memory");
  threads.resize(count);
  warps.assign(count / 32, Meeting());
  groups.assign((count + 127) / 128, Meeting());
  kernel = code, argument = passed, shared_bytes = bytes, state = seed;
  for (blockIdx.x = 0; blockIdx.x < blocks; blockIdx.x++) {
    std::memset(shared, 0xff, sizeof shared);
    left = count;
    barriers.clear();
    numbered.clear();
    stored_by.clear();
    for (unsigned at = 0; at < count; at++) {
      Thread& thread = threads[at];
      getcontext(&thread.context);
      thread.context.uc_stack.ss_sp = thread.stack.data();
      thread.context.uc_stack.ss_size = thread.stack.size();
      thread.context.uc_link = &scheduler;
      makecontext(&thread.context, begin, 0);
      ready.push_back(at);
    }
    while (!ready.empty() || make_any()) {
      if (ready.empty()) continue;
      if (drawn(8) == 0) make_any();
      current = next_ready();
      threadIdx.x = current;
      swapcontext(&scheduler, &threads[current].context);
    }
    if (left != 0) fail("threads wait for others that do not come");
    for (const Thread& thread : threads) {
      if (!thread.copies.empty() || !thread.arrivals.empty())
        fail("a thread ended and had not waited for its copies");
    }
  }
}
