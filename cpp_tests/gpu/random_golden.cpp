// Compares every fill that PyTorch recorded on an H200 with this GPU's, bit for bit: the recorded
// elements, the digest of the whole result, and the generator's state after it.
//
//   random_golden FOLDER_WITH_RNG_TXT_AND_BIN
#include <cstring>
#include <fstream>
#include <iostream>
#include <iterator>
#include <map>
#include <sconce/sconce_all.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "program.hpp"
#include "sha256.hpp"

namespace {

using namespace sconce::cuda;
using Bytes = std::vector<std::uint8_t>;

struct Type {
  ScalarType type;
  std::size_t bytes;
};

const std::map<std::string, Type> kTypes{
    {"f32", {ScalarType::Float, 4}}, {"f64", {ScalarType::Double, 8}},
    {"f16", {ScalarType::Half, 2}},  {"bf16", {ScalarType::BFloat16, 2}},
    {"i8", {ScalarType::Char, 1}},   {"i16", {ScalarType::Short, 2}},
    {"i32", {ScalarType::Int, 4}},   {"i64", {ScalarType::Long, 8}},
    {"u8", {ScalarType::Byte, 1}},   {"bool", {ScalarType::Bool, 1}},
};

struct Operation {
  std::string name;
  std::string type;
  std::size_t n = 0;
  std::string first;
  std::string second;
  std::string sha256;
  std::string state;
  std::string kind;
  std::size_t bytes = 0;
};

void fill(const Operation& operation, void* ptr, const CUDAGenerator& generator) {
  const ScalarType type = kTypes.at(operation.type).type;
  const std::size_t n = operation.n;
  const auto real = [](const std::string& text) { return std::stod(text); };
  const double a = operation.name == "integers" ? 0 : real(operation.first);
  const double b = operation.name == "integers" ? 0 : real(operation.second);
  if (operation.name == "uniform") {
    uniform_(ptr, n, type, a, b, generator);
  } else if (operation.name == "normal") {
    normal_(ptr, n, type, a, b, generator);
  } else if (operation.name == "log_normal") {
    log_normal_(ptr, n, type, a, b, generator);
  } else if (operation.name == "exponential") {
    exponential_(ptr, n, type, a, generator);
  } else if (operation.name == "cauchy") {
    cauchy_(ptr, n, type, a, b, generator);
  } else if (operation.name == "geometric") {
    geometric_(ptr, n, type, a, generator);
  } else if (operation.name == "bernoulli") {
    bernoulli_(ptr, n, type, a, generator);
  } else if (operation.name == "integers") {
    random_(ptr, n, type, std::stoll(operation.first), std::stoll(operation.second), generator);
  } else if (operation.name == "full_range") {
    random_(ptr, n, type, generator);
  } else {
    throw std::runtime_error("unknown operation " + operation.name);
  }
}

std::string hex(const GeneratorState& state) {
  std::string text;
  for (const std::uint8_t byte : state) {
    char digits[3];
    std::snprintf(digits, sizeof digits, "%02x", byte);
    text += digits;
  }
  return text;
}

// The recorded elements out of all: everything, or three pieces of 64.
Bytes recorded_part(const Operation& operation, const Bytes& all, std::size_t element) {
  if (operation.kind == "whole") {
    return all;
  }
  Bytes part;
  for (const std::size_t start : {std::size_t{0}, operation.n / 2, operation.n - 64}) {
    const auto begin = all.begin() + static_cast<std::ptrdiff_t>(start * element);
    part.insert(part.end(), begin, begin + static_cast<std::ptrdiff_t>(64 * element));
  }
  return part;
}

int compare(const std::string& folder) {
  std::ifstream text(folder + "/rng.txt");
  std::ifstream values(folder + "/rng.bin", std::ios::binary);
  if (!text || !values) {
    throw std::runtime_error("no rng.txt and rng.bin in " + folder);
  }
  CUDAGenerator generator = createCUDAGenerator(0);
  int equal = 0;
  int different = 0;
  std::string line;
  while (std::getline(text, line)) {
    std::istringstream words(line);
    Operation operation;
    words >> operation.name;
    if (operation.name == "#" || operation.name.empty()) {
      continue;
    }
    if (operation.name == "device") {
      sconce_device_properties here{};
      here.struct_size = sizeof here;
      sconce::detail::check(sconce_device_get_properties(0, &here));
      std::int32_t multi_processors = 0;
      std::int32_t threads = 0;
      words >> multi_processors >> threads;
      if (here.multi_processor_count != multi_processors ||
          here.max_threads_per_multi_processor != threads) {
        std::cout << "skipped: recorded with " << multi_processors << " multiprocessors of "
                  << threads << " threads, here are " << here.multi_processor_count << " of "
                  << here.max_threads_per_multi_processor << "\n";
        return gpu::kSkipped;
      }
      continue;
    }
    if (operation.name == "seed") {
      std::uint64_t seed = 0;
      words >> seed;
      generator.set_current_seed(seed);
      continue;
    }
    words >> operation.type >> operation.n >> operation.first >> operation.second >>
        operation.sha256 >> operation.state >> operation.kind >> operation.bytes;
    if (!words) {
      throw std::runtime_error("rng.txt: " + line);
    }
    Bytes recorded(operation.bytes);
    values.read(reinterpret_cast<char*>(recorded.data()),
                static_cast<std::streamsize>(recorded.size()));
    const std::size_t element = kTypes.at(operation.type).bytes;
    Bytes all(operation.n * element);
    {
      const gpu::Memory memory(all.size());
      fill(operation, memory.get(), generator);
      memory.read(all.data(), all.size());
    }
    const bool same = recorded_part(operation, all, element) == recorded &&
                      gpu::Sha256::hex(all) == operation.sha256 &&
                      hex(generator.get_state()) == operation.state;
    ++(same ? equal : different);
    if (!same) {
      std::cout << "different: " << operation.name << " " << operation.type << " n=" << operation.n
                << " " << operation.first << " " << operation.second << "\n";
    }
  }
  std::cout << "rng golden: " << equal << " equal, " << different << " different\n";
  return different == 0 && equal > 0 ? 0 : 1;
}

}  // namespace

int main(int count, char** arguments) {
  if (count != 2) {
    std::cerr << "usage: random_golden FOLDER_WITH_RNG_TXT_AND_BIN\n";
    return 2;
  }
  return gpu::program("random_golden", [&] { return compare(arguments[1]); });
}
