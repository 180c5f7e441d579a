// Sounds in WAV files: PCM of 16 bits, one or two channels. Only what the spectrogram needs.
#ifndef SCONCE_EXAMPLES_WAV_HPP
#define SCONCE_EXAMPLES_WAV_HPP

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>
#include <vector>

namespace wav {

/// Samples from -1 to 1, of one channel.
struct Sound {
  std::uint32_t rate = 0;
  std::vector<float> samples;
};

/// Bytes of a file, read front to back. Numbers are little-endian.
class Reader {
 public:
  explicit Reader(const std::string& path) : path_(path) {
    std::ifstream file(path, std::ios::binary);
    if (!file) {
      fail("cannot be opened");
    }
    bytes_.assign(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
  }

  [[noreturn]] void fail(const std::string& what) const {
    throw std::runtime_error(path_ + ": " + what);
  }

  [[nodiscard]] std::size_t left() const { return bytes_.size() - at_; }

  void skip(std::size_t count) {
    if (count > left()) {
      fail("ends too early");
    }
    at_ += count;
  }

  std::uint32_t number(std::size_t bytes) {
    const std::size_t from = at_;
    skip(bytes);
    std::uint32_t value = 0;
    for (std::size_t i = 0; i < bytes; ++i) {
      value |= static_cast<std::uint32_t>(static_cast<unsigned char>(bytes_[from + i])) << (8 * i);
    }
    return value;
  }

  std::string tag() {
    const std::size_t from = at_;
    skip(4);
    return std::string(bytes_.begin() + static_cast<std::ptrdiff_t>(from),
                       bytes_.begin() + static_cast<std::ptrdiff_t>(at_));
  }

 private:
  std::string path_;
  std::vector<char> bytes_;
  std::size_t at_ = 0;
};

/// Reads a file; two channels become their mean. \throws std::runtime_error that names the fault
inline Sound read(const std::string& path) {
  constexpr std::uint32_t kPcm = 1;
  constexpr std::uint32_t kExtensible = 0xFFFE;
  Reader file(path);
  if (file.left() < 12 || file.tag() != "RIFF") {
    file.fail("is no RIFF file");
  }
  (void)file.number(4);  // How much follows; what streams write there is often wrong.
  if (file.tag() != "WAVE") {
    file.fail("is a RIFF file, but no WAVE");
  }
  Sound sound;
  std::uint32_t channels = 0;
  // Chunks come in any order, and only two matter; a format comes before its data.
  while (file.left() >= 8) {
    const std::string tag = file.tag();
    const std::size_t size = file.number(4);
    const std::size_t behind = file.left();
    if (tag == "fmt ") {
      if (size < 16) {
        file.fail("has a format of " + std::to_string(size) + " bytes; it takes 16");
      }
      std::uint32_t format = file.number(2);
      channels = file.number(2);
      sound.rate = file.number(4);
      file.skip(6);  // Bytes a second and bytes a frame follow from the rest.
      const std::uint32_t bits = file.number(2);
      if (format == kExtensible && size >= 26) {
        file.skip(8);  // The size of the extension, the valid bits, the speakers' places.
        format = file.number(2);
      }
      if (format != kPcm || bits != 16 || channels < 1 || channels > 2 || sound.rate == 0) {
        file.fail("has format " + std::to_string(format) + " of " + std::to_string(bits) +
                  " bits, " + std::to_string(channels) + " channels and " +
                  std::to_string(sound.rate) +
                  " samples a second; only PCM (1) of 16 bits with 1 or 2 channels is read");
      }
    } else if (tag == "data") {
      if (channels == 0) {
        file.fail("has data before its format");
      }
      if (size > file.left()) {
        file.fail("promises " + std::to_string(size) + " bytes of data and has " +
                  std::to_string(file.left()));
      }
      sound.samples.reserve(size / 2 / channels);
      for (std::size_t i = 0; i < size / 2 / channels; ++i) {
        float sum = 0;
        for (std::uint32_t channel = 0; channel < channels; ++channel) {
          sum += static_cast<float>(static_cast<std::int16_t>(file.number(2)));
        }
        sound.samples.push_back(sum / (32768.0F * static_cast<float>(channels)));
      }
      return sound;
    }
    file.skip(size - (behind - file.left()));
    // A chunk of an odd size is followed by a padding byte.
    if (size % 2 == 1 && file.left() > 0) {
      file.skip(1);
    }
  }
  file.fail("has no chunk \"data\"");
}

/// Writes a sound as one channel.
inline void write(const std::string& path, const Sound& sound) {
  std::string bytes;
  const auto put = [&bytes](std::size_t value, int size) {
    for (int i = 0; i < size; ++i) {
      bytes.push_back(static_cast<char>(value >> (8 * i) & 0xFF));
    }
  };
  const std::size_t data = sound.samples.size() * 2;
  bytes += "RIFF";
  put(36 + data, 4);
  bytes += "WAVEfmt ";
  put(16, 4);
  put(1, 2);                            // PCM
  put(1, 2);                            // channels
  put(sound.rate, 4);                   // samples a second
  put(std::size_t{sound.rate} * 2, 4);  // bytes a second
  put(2, 2);                            // bytes a frame
  put(16, 2);                           // bits a sample
  bytes += "data";
  put(data, 4);
  for (const float sample : sound.samples) {
    const float bounded = std::clamp(sample, -1.0F, 32767.0F / 32768.0F);
    put(static_cast<std::uint16_t>(std::lround(bounded * 32768.0F)), 2);
  }
  std::ofstream file(path, std::ios::binary);
  file.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  if (!file.flush()) {
    throw std::runtime_error(path + ": cannot be written");
  }
}

}  // namespace wav

#endif  // SCONCE_EXAMPLES_WAV_HPP
