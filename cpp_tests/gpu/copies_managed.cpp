// Copies from and to managed memory, which only a GPU's driver has: every pair, rows and strides,
// and onto a second device if there is one.
#include <cstring>
#include <sconce/sconce_all.hpp>
#include <string>

#include "places.hpp"

namespace {

using namespace sconce::cuda;
using gpu::Bytes;
using gpu::check;
using gpu::expect;
using gpu::Kind;
using gpu::pattern;
using gpu::Place;

constexpr int (*kAllocManaged)(gpu::Pointer*, std::size_t, unsigned) = nullptr;

/// Memory that host and devices share.
class Managed {
 public:
  explicit Managed(std::size_t bytes) {
    constexpr unsigned kGlobal = 1;
    gpu::call("cuMemAllocManaged", kAllocManaged, &pointer_, bytes, kGlobal);
  }
  Managed(const Managed&) = delete;
  Managed& operator=(const Managed&) = delete;
  ~Managed() { (void)gpu::symbol<int(gpu::Pointer)>("cuMemFree_v2")(pointer_); }

  [[nodiscard]] void* get() const { return reinterpret_cast<void*>(pointer_); }

 private:
  gpu::Pointer pointer_ = 0;
};

void pairings(const std::string& with, const Place& place, std::size_t bytes) {
  const Managed managed(bytes);
  const Bytes sent = pattern(bytes, 5);
  for (const bool non_blocking : {false, true}) {
    const std::string how = with + (non_blocking ? ", non-blocking" : ", blocking");
    std::memcpy(managed.get(), sent.data(), bytes);
    place.write(Bytes(bytes, 0));
    check(sconce_copy(place.get(), managed.get(), bytes, non_blocking));
    gpu::wait_for_all();
    expect(place.read() == sent, "managed memory to " + how);
    std::memset(managed.get(), 0, bytes);
    check(sconce_copy(managed.get(), place.get(), bytes, non_blocking));
    gpu::wait_for_all();
    expect(std::memcmp(managed.get(), sent.data(), bytes) == 0, how + " to managed memory");
  }
}

/// The transpose of 64 x 32 elements of 4 bytes.
void transposed(const std::string& to, const Place& place) {
  constexpr std::size_t kRows = 64;
  constexpr std::size_t kColumns = 32;
  const std::size_t bytes = kRows * kColumns * 4;
  const Managed managed(bytes);
  const Bytes sent = pattern(bytes, 6);
  std::memcpy(managed.get(), sent.data(), bytes);
  sconce_strided_copy shape{};
  shape.struct_size = sizeof shape;
  shape.rank = 2;
  shape.element_bytes = 4;
  shape.sizes[0] = kColumns;
  shape.sizes[1] = kRows;
  shape.dst_strides[0] = kRows;
  shape.dst_strides[1] = 1;
  shape.src_strides[0] = 1;
  shape.src_strides[1] = kColumns;
  check(sconce_copy_strided(&shape, place.get(), managed.get(), false));
  gpu::wait_for_all();
  const Bytes got = place.read();
  bool right = true;
  for (std::size_t row = 0; row < kRows; ++row) {
    for (std::size_t column = 0; column < kColumns; ++column) {
      right = right && std::memcmp(&got[(column * kRows + row) * 4],
                                   &sent[(row * kColumns + column) * 4], 4) == 0;
    }
  }
  expect(right, "managed memory transposed to " + to);
}

}  // namespace

int main() {
  return gpu::program("copies_managed", [] {
    for (const std::size_t bytes : {std::size_t{1000}, 3 * gpu::kMiB}) {
      pairings("ordinary memory", Place(Kind::Ordinary, bytes), bytes);
      pairings("pinned memory", Place(Kind::Pinned, bytes), bytes);
      pairings("a device", Place(Kind::Device, bytes), bytes);
    }
    transposed("a device", Place(Kind::Device, 8192));
    transposed("ordinary memory", Place(Kind::Ordinary, 8192));
    const Managed managed(4096);
    check(sconce_memory_set(managed.get(), 7, 4096));
    gpu::wait_for_all();
    expect(Bytes(4096, 7) == Bytes(static_cast<unsigned char*>(managed.get()),
                                   static_cast<unsigned char*>(managed.get()) + 4096),
           "managed memory is set");
    if (device_count() > 1) {
      pairings("the other device", Place(Kind::Device, 100000, 1), 100000);
      transposed("the other device", Place(Kind::Device, 8192, 1));
    }
    return gpu::verdict("copies_managed");
  });
}
