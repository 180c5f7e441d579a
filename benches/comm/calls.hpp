// Calls of communicators, one rank a thread: this library's beside bare NCCL's on the same memory
// and streams, in turns, each side first in every other round. Of each size: microseconds to queue
// a call behind others, to queue the first call after a wait for the stream, when the processor's
// caches are cold, and until a call has run.
#ifndef SCONCE_BENCHES_COMM_CALLS_HPP
#define SCONCE_BENCHES_COMM_CALLS_HPP

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <sconce/sconce_all.hpp>
#include <string>
#include <thread>
#include <vector>

#include "../memory/figures.hpp"
#include "nccl.hpp"

namespace comm_bench {

namespace cc = sconce::cuda;
using memory_bench::Figures;

inline double now_us() {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration<double, std::micro>(now).count();
}

inline double median(std::vector<double> values) {
  std::nth_element(values.begin(), values.begin() + values.size() / 2, values.end());
  return values[values.size() / 2];
}

inline void check(sconce_status status) {
  if (status != SCONCE_OK) throw std::runtime_error(sconce_last_error_message());
}

/// A place where all threads wait for each other.
class Meeting {
 public:
  explicit Meeting(int threads) : threads_(threads) {}
  void wait() {
    std::unique_lock<std::mutex> lock(mutex_);
    const int round = round_;
    if (++here_ == threads_) {
      here_ = 0;
      ++round_;
      all_.notify_all();
      return;
    }
    all_.wait(lock, [&] { return round_ != round; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable all_;
  int threads_, here_ = 0, round_ = 0;
};

/// What one rank has.
struct Rank {
  int number;
  sconce_comm* comm;
  Nccl::Comm bare;
  cc::CUDAStream stream;
  void* native;  // of the stream
  void* memory;
};

/// A call of a rank on so many floats.
struct Call {
  std::string name;
  std::function<void(const Rank&, std::size_t)> ours;
  std::function<void(const Rank&, std::size_t)> bare;
};

inline std::vector<Call> calls(const Nccl& nccl) {
  const auto f32 = SCONCE_DTYPE_F32;
  std::vector<Call> all;
  all.push_back({"all_reduce",
                 [=](const Rank& r, std::size_t n) {
                   check(sconce_comm_all_reduce(r.comm, r.memory, r.memory, n, f32, SCONCE_COMM_SUM,
                                                0, r.stream.get(), nullptr));
                 },
                 [&nccl](const Rank& r, std::size_t n) {
                   Nccl::check(
                       nccl.all_reduce(r.memory, r.memory, n, Nccl::kFloat, 0, r.bare, r.native));
                 }});
  all.push_back(
      {"broadcast",
       [=](const Rank& r, std::size_t n) {
         check(
             sconce_comm_broadcast(r.comm, r.memory, r.memory, n, f32, 0, r.stream.get(), nullptr));
       },
       [&nccl](const Rank& r, std::size_t n) {
         Nccl::check(nccl.broadcast(r.memory, r.memory, n, Nccl::kFloat, 0, r.bare, r.native));
       }});
  all.push_back({"reduce",
                 [=](const Rank& r, std::size_t n) {
                   check(sconce_comm_reduce(r.comm, r.memory, r.memory, n, f32, SCONCE_COMM_SUM, 0,
                                            0, r.stream.get(), nullptr));
                 },
                 [&nccl](const Rank& r, std::size_t n) {
                   Nccl::check(
                       nccl.reduce(r.memory, r.memory, n, Nccl::kFloat, 0, 0, r.bare, r.native));
                 }});
  return all;
}

/// A round queues `batch` calls one behind the other and waits for them.
struct Measured {
  std::vector<double> queue, first, done;
};

/// Runs all calls of one size on the threads of all ranks; figures are those of rank 0.
inline void measure_calls(std::vector<Rank>& ranks, const Nccl& nccl, bool is_quick) {
  std::vector<std::size_t> sizes{8, 1024, 64 << 10, 1 << 20, 16 << 20, 256 << 20, 1 << 30};
  if (is_quick) sizes = {8, 64 << 10};
  Meeting meeting(static_cast<int>(ranks.size()));
  const auto all = calls(nccl);
  const auto work = [&](const Rank& rank) {
    cc::CUDAGuard guard(static_cast<cc::DeviceIndex>(rank.number));
    for (const Call& call : all) {
      for (const std::size_t bytes : sizes) {
        const std::size_t count = bytes / sizeof(float);
        const int batch = is_quick ? 2 : bytes <= (1 << 20) ? 50 : 20;
        const int rounds = is_quick ? 2 : bytes <= (1 << 20) ? 60 : bytes <= (16 << 20) ? 20 : 8;
        Measured ours, bare;
        for (int round = -2; round < rounds; ++round) {
          for (const int turn : {0, 1}) {
            const bool is_bare = (turn == 1) != (round % 2 != 0);
            if (is_bare && rank.bare == nullptr) continue;
            const auto& one = is_bare ? call.bare : call.ours;
            rank.stream.synchronize();
            meeting.wait();
            std::vector<double> times{now_us()};
            for (int i = 0; i < batch; ++i) {
              one(rank, count);
              times.push_back(now_us());
            }
            rank.stream.synchronize();
            const double done = now_us();
            if (round < 0) continue;
            Measured& into = is_bare ? bare : ours;
            into.first.push_back(times[1] - times[0]);
            for (std::size_t i = 2; i < times.size(); ++i) {
              into.queue.push_back(times[i] - times[i - 1]);
            }
            into.done.push_back((done - times[0]) / batch);
          }
        }
        meeting.wait();
        if (rank.number != 0) continue;
        const std::string key = "comm_" + call.name + "_" + std::to_string(bytes);
        const auto add = [&](const std::string& suffix, double value) {
          Figures::add((key + suffix).c_str(), value, "us");
        };
        add("_queue", median(ours.queue));
        add("_first", median(ours.first));
        add("_done", median(ours.done));
        if (rank.bare == nullptr) continue;
        add("_queue_bare", median(bare.queue));
        add("_first_bare", median(bare.first));
        add("_done_bare", median(bare.done));
      }
    }
  };
  std::vector<std::thread> threads;
  for (const Rank& rank : ranks) threads.emplace_back([&work, &rank] { work(rank); });
  for (std::thread& thread : threads) thread.join();
}

/// Communicators of all devices, this library's and bare ones, and their calls.
inline void calls_of_ranks(bool is_quick) {
  const int count = std::min(static_cast<int>(cc::device_count()), 2);
  std::vector<std::int32_t> devices;
  for (int device = 0; device < count; ++device) devices.push_back(device);
  std::vector<sconce_comm*> comms(devices.size());
  check(sconce_comm_init_all(devices.data(), devices.size(), nullptr, comms.data()));
  // The simulator computes without NCCL, also where one is installed.
  const Nccl nccl;
  const bool has_bare = nccl.is_here() && sconce::active_backend() == sconce::Backend::Cuda;
  std::vector<Nccl::Comm> bare(devices.size(), nullptr);
  if (has_bare) Nccl::check(nccl.init_all(bare.data(), count, devices.data()));
  const std::size_t bytes = is_quick ? 1 << 20 : 1 << 30;
  std::vector<cc::DeviceBuffer> buffers;
  std::vector<Rank> ranks;
  for (int device = 0; device < count; ++device) {
    cc::CUDAGuard guard(static_cast<cc::DeviceIndex>(device));
    const auto stream = cc::getStreamFromPool();
    buffers.emplace_back(bytes, stream);
    const auto at = static_cast<std::size_t>(device);
    ranks.push_back({device, comms[at], bare[at], stream, stream.stream(), buffers.back().get()});
  }
  for (const Rank& rank : ranks) cc::device_synchronize(static_cast<cc::DeviceIndex>(rank.number));
  measure_calls(ranks, nccl, is_quick);
  for (sconce_comm* comm : comms) {
    check(sconce_comm_abort(comm));
    check(sconce_comm_destroy(comm));
  }
  if (has_bare) {
    for (Nccl::Comm comm : bare) Nccl::check(nccl.destroy(comm));
  }
}

}  // namespace comm_bench

#endif
