// A pipeline of inputs as in a data loader: the host fills pinned buffers, one stream copies them
// to the device, a second stream processes them, a third stream copies the results back. Nothing
// blocks except the wait for the results of two batches before, so that filling, copying and
// processing overlap.
//
// The work is the preparation of images for a network: from interleaved colours (NHWC) to one plane
// for each colour (NCHW). Every byte of the results is checked. Without a GPU: set
// SCONCE_BACKEND=sim.
#include <cstdint>
#include <cstdio>
#include <sconce/sconce.hpp>
#include <vector>

namespace cc = sconce::cuda;

namespace {

constexpr std::size_t kBatches = 12;
constexpr std::size_t kImages = 4;
constexpr std::size_t kHeight = 64;
constexpr std::size_t kWidth = 96;
constexpr std::size_t kColours = 3;
constexpr std::size_t kPixels = kHeight * kWidth;
constexpr std::size_t kBatchBytes = kImages * kPixels * kColours;

/// The bytes that a loader would have read.
std::uint8_t colour_of(std::size_t batch, std::size_t image, std::size_t pixel,
                       std::size_t colour) {
  return static_cast<std::uint8_t>(batch * 31 + image * 7 + pixel * 3 + colour * 85);
}

std::int32_t label_of(std::size_t batch, std::size_t image) {
  return static_cast<std::int32_t>(batch * 1000 + image);
}

/// The memory and streams of one batch. There are two, so that the host fills one while the device
/// processes the other.
struct Slot {
  cc::PinnedBuffer pixels{kBatchBytes};
  cc::PinnedBuffer planes{kBatchBytes};
  cc::PinnedBuffer labels = cc::PinnedBuffer::of<std::int32_t>(kImages);
  cc::DeviceBuffer device_pixels;
  cc::DeviceBuffer device_planes;
  cc::DeviceBuffer device_labels;
  cc::CUDAEvent uploaded;
  cc::CUDAEvent worked;
  cc::CUDAEvent downloaded;
};

class Pipeline {
 public:
  Pipeline() {
    for (Slot& slot : slots_) {
      slot.device_pixels = cc::DeviceBuffer(kBatchBytes, upload_);
      slot.device_labels = cc::DeviceBuffer::of<std::int32_t>(kImages, upload_);
      slot.device_planes = cc::DeviceBuffer(kBatchBytes, work_);
      // Other streams use the buffers: their memory is not reused before that work is done,
      // whenever the buffers are destroyed.
      slot.device_pixels.record_stream(work_);
      slot.device_planes.record_stream(download_);
      slot.device_labels.record_stream(download_);
    }
  }

  void run() {
    for (std::size_t batch = 0; batch < kBatches + 2; ++batch) {
      Slot& slot = slots_[batch % 2];
      if (batch >= 2) {
        slot.downloaded.synchronize();
        check(batch - 2, slot);
      }
      if (batch < kBatches) {
        send(batch, slot);
      }
    }
  }

  [[nodiscard]] std::size_t wrong_bytes() const { return wrong_; }

 private:
  void send(std::size_t batch, Slot& slot) {
    const auto pixels = slot.pixels.span<std::uint8_t>();
    for (std::size_t i = 0; i < pixels.size(); ++i) {
      const std::size_t image = i / (kPixels * kColours);
      pixels[i] = colour_of(batch, image, i / kColours % kPixels, i % kColours);
    }
    {
      const cc::CUDAStreamGuard guard(upload_);
      cc::copy_(slot.device_pixels, slot.pixels, /*non_blocking=*/true);
      // A temporary pinned buffer: it is destroyed at the brace, and its memory is reused after the
      // copy. After a few batches none of them calls the driver.
      auto labels = cc::PinnedBuffer::of<std::int32_t>(kImages);
      for (std::size_t image = 0; image < kImages; ++image) {
        labels.data<std::int32_t>()[image] = label_of(batch, image);
      }
      cc::copy_(slot.device_labels, labels, /*non_blocking=*/true);
      slot.uploaded.record();
    }
    {
      const cc::CUDAStreamGuard guard(work_);
      slot.uploaded.block(work_);
      constexpr std::int64_t n = kImages, c = kColours, h = kHeight, w = kWidth;
      const auto from = slot.device_pixels.span<std::uint8_t>();
      const auto to = slot.device_planes.span<std::uint8_t>();
      const auto nhwc = cc::as_strided(from, {n, h, w, c}, {h * w * c, w * c, c, 1});
      const auto nchw = cc::as_strided(to, {n, c, h, w}, {c * h * w, h * w, w, 1});
      cc::copy_strided_(nchw, nhwc.permute({0, 3, 1, 2}));
      slot.worked.record();
    }
    {
      const cc::CUDAStreamGuard guard(download_);
      slot.worked.block(download_);
      cc::copy_(slot.planes, slot.device_planes, /*non_blocking=*/true);
      cc::copy_(slot.labels, slot.device_labels, /*non_blocking=*/true);
      slot.downloaded.record();
    }
  }

  void check(std::size_t batch, const Slot& slot) {
    const auto planes = slot.planes.span<std::uint8_t>();
    for (std::size_t i = 0; i < planes.size(); ++i) {
      const std::size_t plane = i / kPixels;
      const std::uint8_t expected =
          colour_of(batch, plane / kColours, i % kPixels, plane % kColours);
      wrong_ += planes[i] == expected ? 0U : 1U;
    }
    for (std::size_t image = 0; image < kImages; ++image) {
      const bool right = slot.labels.data<std::int32_t>()[image] == label_of(batch, image);
      wrong_ += right ? 0 : sizeof(std::int32_t);
    }
  }

  cc::CUDAStream upload_ = cc::getStreamFromPool();
  cc::CUDAStream work_ = cc::getStreamFromPool();
  cc::CUDAStream download_ = cc::getStreamFromPool();
  Slot slots_[2];
  std::size_t wrong_ = 0;
};

void line(const char* name, std::int64_t value) {
  std::printf("  %-34s %12lld\n", name, static_cast<long long>(value));
}

}  // namespace

int main() try {
  std::size_t wrong = 0;
  {
    Pipeline pipeline;
    pipeline.run();
    wrong = pipeline.wrong_bytes();
  }
  std::printf("%zu batches of %zu bytes on %s, %zu bytes wrong\n", kBatches, kBatchBytes,
              cc::get_device_name().c_str(), wrong);
  const auto host = cc::host_memory_stats();
  std::puts("pinned host memory");
  line("requests", host.active_requests.allocated);
  line("calls to pin memory", host.num_host_alloc);
  line("microseconds in them", host.host_alloc_time.total);
  line("bytes asked for, at the most", host.requested_bytes.peak);
  line("bytes pinned, at the most", host.allocated_bytes.peak);
  std::puts("device memory");
  line("bytes allocated, at the most", static_cast<std::int64_t>(cc::max_memory_allocated()));
  line("bytes reserved, at the most", static_cast<std::int64_t>(cc::max_memory_reserved()));
  return wrong == 0 ? 0 : 1;
} catch (const sconce::Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
