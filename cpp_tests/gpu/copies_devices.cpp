// Copies between devices: peers or not, both directions, and the order of work on both sides. Runs
// on a GPU with SCONCE_TEST_BACKEND=cuda, else on the simulator, which has devices of both sorts.
#include <algorithm>
#include <iostream>
#include <sconce/sconce_all.hpp>
#include <string>

#include "places.hpp"

namespace {

using namespace sconce::cuda;
using gpu::Bytes;
using gpu::check;
using gpu::copy;
using gpu::expect;
using gpu::keep_busy;
using gpu::Kind;
using gpu::kMiB;
using gpu::pattern;
using gpu::Place;

/// Whether the last error names the memory's device and the current one.
bool names_both(DeviceIndex owner, DeviceIndex current) {
  const std::string words = sconce_last_error_message();
  return words.find("device " + std::to_string(owner)) != std::string::npos &&
         words.find("current device is " + std::to_string(current)) != std::string::npos;
}

/// Copies between device 0 and another one, whether they are peers or not.
void two_devices(DeviceIndex other, bool peers) {
  const std::string pair =
      "0 and " + std::to_string(other) + (peers ? ", peers: " : ", no peers: ");
  constexpr std::size_t kBytes = 3 * kMiB + 7;
  const CUDAStream here = getStreamFromPool(false, 0);
  const CUDAStream there = getStreamFromPool(false, other);
  const CUDAMultiStreamGuard guard({here, there});
  const Place mine(Kind::Device, kBytes, 0);
  const Place theirs(Kind::Device, kBytes, other);
  expect(sconce_memory_set(theirs.get(), 1, kBytes) == SCONCE_ERROR_CROSS_DEVICE &&
             names_both(other, 0),
         pair + "work on the other's memory is refused and names both");

  const Bytes data = pattern(kBytes, 30);
  mine.write(data);
  copy(theirs.get(), mine.get(), kBytes, true);
  expect(theirs.read() == data, pair + "there");
  mine.write(Bytes(kBytes, 0));
  copy(mine.get(), theirs.get(), kBytes, false);
  expect(mine.read() == data, pair + "and back");

  // Earlier work on the destination's stream comes before the copy, later work after it.
  const Place result(Kind::Pinned, kBytes);
  result.write(Bytes(kBytes, 0));
  keep_busy(there);
  {
    const CUDAGuard on_other(other);
    check(sconce_memory_set(theirs.get(), 2, kBytes));
  }
  copy(theirs.get(), mine.get(), kBytes, true);
  copy(result.get(), theirs.get(), kBytes, true);
  expect(!here.query(), pair + "the copy waits for the destination's stream");
  there.synchronize();
  expect(Bytes(result.get(), result.get() + kBytes) == data,
         pair + "what the destination queues later sees it");

  // The same order holds on the source's stream.
  keep_busy(here);
  check(sconce_memory_set(mine.get(), 3, kBytes));
  copy(theirs.get(), mine.get(), kBytes, true);
  check(sconce_memory_set(mine.get(), 4, kBytes));
  copy(result.get(), theirs.get(), kBytes, true);
  expect(!there.query(), pair + "the destination's stream waits for the source's");
  there.synchronize();
  expect(Bytes(result.get(), result.get() + kBytes) == Bytes(kBytes, 3),
         pair + "the copy takes what the source's stream had");
  const sconce_status status = sconce_memory_set(theirs.get(), 5, kBytes);
  expect(status == (peers ? SCONCE_OK : SCONCE_ERROR_CROSS_DEVICE),
         pair + (peers ? "a copy has let work reach the other's memory"
                       : "a copy lets no work reach the other's memory"));
  expect(current_device() == 0, pair + "the current device is what it was");
  gpu::wait_for_all();
}

void between_devices() {
  bool peers = false;
  check(sconce_device_can_access_peer(0, 1, &peers));
  two_devices(1, peers);
  if (gpu::simulated()) {
    check(sconce_sim_set_peer_access(0, 2, false));
    check(sconce_sim_set_peer_access(2, 0, false));
    two_devices(2, false);
  }
}

}  // namespace

int main() {
  return gpu::program(
      "copies_devices",
      [] {
        if (device_count() < 2) {
          std::cout << "skipped: needs 2 devices" << std::endl;
          return gpu::kSkipped;
        }
        gpu::warm_up();
        between_devices();
        return gpu::verdict("copies between devices");
      },
      gpu::either_backend());
}
