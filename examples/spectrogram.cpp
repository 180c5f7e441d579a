// The spectrogram of a WAV file, computed as in a program that processes many files: the host cuts
// overlapping frames out of the sound and writes them, windowed, into pinned memory. Two streams
// take turns: each copies a chunk of frames to the device, transforms all of them at once with a
// plan of the cache, and copies the spectra back. Meanwhile the host prepares the next chunk.
//
//   spectrogram [--chirp] [FILE]     the picture of a file; --chirp: fails unless it is our chirp
//   spectrogram --make FILE          writes that chirp
//
// Without arguments the file is examples/data/chirp.wav (from the repository's root), and the
// result is checked. Without a GPU: set SCONCE_BACKEND=sim.
//
// Darker is louder, from -60 dB to full scale. There are two plans, one for full chunks and one for
// the last; all other transforms find theirs in the cache.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <complex>
#include <cstdint>
#include <cstdio>
#include <random>
#include <sconce/sconce_all.hpp>
#include <string>
#include <vector>

#include "wav.hpp"

namespace cc = sconce::cuda;

namespace {

constexpr double kPi = 3.14159265358979323846;
constexpr std::size_t kFrame = 512;            // samples
constexpr std::size_t kHop = 128;              // samples from frame to frame
constexpr std::size_t kBins = kFrame / 2 + 1;  // frequencies of a frame
constexpr std::size_t kChunk = 48;             // frames that go to the device together

/// The chirp: two seconds of a rising tone, above a steady one, in a little noise.
constexpr std::uint32_t kRate = 16000;
constexpr double kSeconds = 2;
constexpr double kFrom = 500;     // Hz
constexpr double kTo = 6000;      // Hz
constexpr double kSteady = 7000;  // Hz

double chirp_frequency(double seconds) { return kFrom + (kTo - kFrom) * seconds / kSeconds; }

wav::Sound make_chirp() {
  wav::Sound sound;
  sound.rate = kRate;
  std::mt19937 engine(1);
  for (std::size_t i = 0; i < static_cast<std::size_t>(kRate * kSeconds); ++i) {
    const double t = static_cast<double>(i) / kRate;
    // The phase is the integral of the frequency.
    const double rising = std::sin(2 * kPi * t * (kFrom + chirp_frequency(t)) / 2);
    const double steady = std::sin(2 * kPi * t * kSteady);
    const double noise = static_cast<double>(engine()) / 2147483648.0 - 1;
    sound.samples.push_back(static_cast<float>(0.5 * rising + 0.08 * steady + 0.004 * noise));
  }
  return sound;
}

/// Decibels below full scale: `kBins` numbers a frame.
struct Spectrogram {
  std::size_t frames = 0;
  std::vector<float> decibels;

  [[nodiscard]] const float* frame(std::size_t index) const { return &decibels[index * kBins]; }
};

/// The memory of a chunk. There are two, each with a stream of its own.
struct Slot {
  cc::CUDAStream stream = cc::getStreamFromPool();
  cc::PinnedBuffer frames = cc::PinnedBuffer::of<float>(kChunk * kFrame);
  cc::PinnedBuffer spectra = cc::PinnedBuffer::of<std::complex<float>>(kChunk * kBins);
  cc::DeviceBuffer device_frames = cc::DeviceBuffer::of<float>(kChunk * kFrame, stream);
  cc::DeviceBuffer device_spectra =
      cc::DeviceBuffer::of<std::complex<float>>(kChunk * kBins, stream);
  cc::CUDAEvent done;
  std::size_t first = 0;  // frame
  std::size_t count = 0;  // frames; none while nothing is under way
};

class Analyser {
 public:
  Analyser() {
    for (std::size_t i = 0; i < kFrame; ++i) {
      window_[i] =
          static_cast<float>(0.5 - 0.5 * std::cos(2 * kPi * static_cast<double>(i) / kFrame));
    }
  }

  Spectrogram analyse(const std::vector<float>& samples) {
    Spectrogram result;
    result.frames = samples.size() < kFrame ? 0 : (samples.size() - kFrame) / kHop + 1;
    result.decibels.resize(result.frames * kBins);
    std::size_t turn = 0;
    for (std::size_t first = 0; first < result.frames; first += kChunk) {
      Slot& slot = slots_[turn++ % 2];
      finish(slot, result);
      begin(slot, samples, first, std::min(kChunk, result.frames - first));
    }
    finish(slots_[turn % 2], result);
    finish(slots_[(turn + 1) % 2], result);
    return result;
  }

 private:
  /// Queues a chunk, without a wait.
  void begin(Slot& slot, const std::vector<float>& samples, std::size_t first, std::size_t count) {
    slot.first = first;
    slot.count = count;
    const auto frames = slot.frames.span<float>().first(count * kFrame);
    for (std::size_t i = 0; i < frames.size(); ++i) {
      frames[i] = samples[(first + i / kFrame) * kHop + i % kFrame] * window_[i % kFrame];
    }

    const cc::CUDAStreamGuard guard(slot.stream);
    const auto device_frames = slot.device_frames.span<float>().first(frames.size());
    const auto device_spectra =
        slot.device_spectra.span<std::complex<float>>().first(count * kBins);
    cc::copy_(device_frames, frames, /*non_blocking=*/true);
    // All chunks except the last have the same shape: the first makes its plan, the others find it.
    cc::FFT transform;
    transform.sizes = {static_cast<std::int64_t>(kFrame)};
    transform.batch = static_cast<std::int64_t>(count);
    cc::fft_r2c(transform, device_frames, device_spectra);
    cc::copy_(slot.spectra.span<std::complex<float>>().first(count * kBins), device_spectra,
              /*non_blocking=*/true);
    slot.done.record();
  }

  /// Waits for a chunk, and takes its results.
  static void finish(Slot& slot, Spectrogram& result) {
    slot.done.synchronize();
    const auto spectra = slot.spectra.span<std::complex<float>>().first(slot.count * kBins);
    // Under the window a sine of full scale has the magnitude of a quarter of a frame.
    constexpr float kFull = kFrame / 4.0F;
    for (std::size_t i = 0; i < spectra.size(); ++i) {
      const float amplitude = std::max(std::abs(spectra[i]) / kFull, 1e-6F);
      result.decibels[slot.first * kBins + i] = 20 * std::log10(amplitude);
    }
    slot.count = 0;
  }

  float window_[kFrame];
  Slot slots_[2];
};

/// Time from left to right, frequencies from top to bottom; darker is louder.
void draw(const Spectrogram& spectrogram, std::uint32_t rate) {
  constexpr std::size_t kRows = 24;
  constexpr std::size_t kColumns = 64;
  constexpr char kShades[] = " .:-=+*#%@";
  for (std::size_t row = kRows; row-- > 0;) {
    std::printf("%6.0f Hz |", static_cast<double>(rate) / 2 * static_cast<double>(row) / kRows);
    for (std::size_t column = 0; column < kColumns; ++column) {
      const std::size_t from = column * spectrogram.frames / kColumns;
      const std::size_t to = std::max((column + 1) * spectrogram.frames / kColumns, from + 1);
      float loudest = -120;
      for (std::size_t frame = from; frame < to; ++frame) {
        const float* const bins = spectrogram.frame(frame);
        loudest = std::max(loudest, *std::max_element(bins + row * (kBins - 1) / kRows,
                                                      bins + (row + 1) * (kBins - 1) / kRows));
      }
      // From -60 dB to full scale.
      const auto shade = static_cast<int>((loudest + 60) / 60 * 9.99F);
      std::putchar(kShades[std::clamp(shade, 0, 9)]);
    }
    std::puts("|");
  }
}

/// Counts the frames whose loudest frequency is not the chirp's at that time.
std::size_t frames_off_the_chirp(const Spectrogram& spectrogram) {
  std::size_t off = 0;
  for (std::size_t i = 0; i < spectrogram.frames; ++i) {
    const float* const bins = spectrogram.frame(i);
    const auto peak = static_cast<double>(std::max_element(bins, bins + kBins) - bins);
    const double middle = static_cast<double>(i * kHop + kFrame / 2) / kRate;
    const double expected = chirp_frequency(middle) * kFrame / kRate;
    off += std::abs(peak - expected) > 1.5 ? 1U : 0U;
  }
  return off;
}

int run(const std::string& path, bool is_chirp) {
  const wav::Sound sound = wav::read(path);
  Analyser analyser;
  const auto start = std::chrono::steady_clock::now();
  const Spectrogram spectrogram = analyser.analyse(sound.samples);
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  if (spectrogram.frames == 0) {
    throw std::runtime_error(path + ": is shorter than a frame of " + std::to_string(kFrame) +
                             " samples");
  }

  draw(spectrogram, sound.rate);
  const double seconds = static_cast<double>(sound.samples.size()) / sound.rate;
  std::printf("%s: %.2f s at %u Hz, on %s\n", path.c_str(), seconds, sound.rate,
              cc::get_device_name().c_str());
  std::printf(
      "%zu frames of %zu samples in %.2f ms: %.0f frames a second, %.0f times as fast as it "
      "plays\n",
      spectrogram.frames, kFrame, took.count() * 1e3,
      static_cast<double>(spectrogram.frames) / took.count(), seconds / took.count());
  const cc::CuFFTPlanCache::Stats plans = cc::cufft_plan_cache().stats();
  std::printf(
      "plans: %llu of at most %llu, %llu bytes; %llu hits, %llu misses\n",
      static_cast<unsigned long long>(plans.size), static_cast<unsigned long long>(plans.max_size),
      static_cast<unsigned long long>(plans.bytes), static_cast<unsigned long long>(plans.hits),
      static_cast<unsigned long long>(plans.misses));
  if (is_chirp) {
    const std::size_t off = frames_off_the_chirp(spectrogram);
    std::printf("the peak is off the chirp in %zu frames\n", off);
    return off == 0 && sound.rate == kRate ? 0 : 1;
  }
  return 0;
}

}  // namespace

int main(int count, char** arguments) try {
  const std::vector<std::string> words(arguments + 1, arguments + count);
  if (words.empty()) {
    return run("examples/data/chirp.wav", true);
  }
  if (words.size() == 2 && words[0] == "--make") {
    wav::write(words[1], make_chirp());
    return 0;
  }
  if (words.size() == 2 && words[0] == "--chirp") {
    return run(words[1], true);
  }
  if (words.size() == 1 && words[0].rfind("--", 0) != 0) {
    return run(words[0], false);
  }
  std::fprintf(stderr, "usage: %s [--chirp] [FILE] | --make FILE\n", arguments[0]);
  return 2;
} catch (const std::exception& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
