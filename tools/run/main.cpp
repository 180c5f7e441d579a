// sconce-run: runs a compiled model of PyTorch on arrays of NumPy's files, and measures it.
// `sconce-run --help` says how.
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <fstream>
#include <sconce/sconce_all.hpp>
#include <sconce/torch.hpp>
#include <sconce/torch/op.hpp>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "npy.hpp"

namespace {

constexpr const char* usage =
    "usage: sconce-run MODEL.pt2 [--input X.npy]... [--output Y.npy]...\n"
    "  --input FILE    an input, in the model's order; repeated. It is copied to the order of\n"
    "                  elements that the model was compiled for, and numbers are converted to\n"
    "                  types that NumPy does not have\n"
    "  --output FILE   where an output goes, in the model's order; repeated. - writes none, such "
    "as\n"
    "                  for an output that is None\n"
    "  --calls N       calls the model N times, and writes the outputs of the last call (1): a "
    "model\n"
    "                  with state goes on where the call before ended\n"
    "  --seed N        seeds the random numbers of all devices and of the CPU\n"
    "  --repeat N      measures N further calls\n"
    "  --threads N     makes them from N threads, each on a stream of its own (1)\n"
    "  --graph         runs the model as a CUDA graph\n"
    "  --device N      the index of the device for a model of CUDA (0)\n"
    "  --name NAME     the model's name within its package\n"
    "  --library FILE  loads a kernel library first, whose operators the model calls; repeated\n"
    "  --begin N       when the process began, for the time to the first result: nanoseconds of\n"
    "                  CLOCK_MONOTONIC, as the program that starts this one reads them\n"
    "  --describe      prints what the model is and needs, and ends; also of a model that cannot "
    "be\n"
    "                  loaded here, such as one of CUDA without a GPU\n";

struct Options {
  std::string model;
  std::string name;
  std::vector<std::string> libraries;
  std::vector<std::string> inputs;
  std::vector<std::string> outputs;
  std::uint64_t seed = 0;
  bool has_seed = false;
  std::uint64_t calls = 1;
  std::uint64_t repeat = 0;
  std::uint64_t threads = 1;
  std::int32_t device = -1;
  std::uint64_t begin_ns = 0;
  bool graph = false;
  bool describe = false;
};

std::uint64_t number(const std::string& option, const std::string& text, std::uint64_t most) {
  std::size_t end = 0;
  std::uint64_t value = 0;
  try {
    value = std::stoull(text, &end);
  } catch (const std::exception&) {
    end = 0;
  }
  if (end == 0 || end != text.size() || text[0] == '-' || value > most) {
    throw std::runtime_error(option + " takes a number up to " + std::to_string(most) + ", not " +
                             text);
  }
  return value;
}

Options read(const std::vector<std::string>& words) {
  Options options;
  for (std::size_t at = 0; at < words.size(); ++at) {
    const std::string& word = words[at];
    const auto next = [&]() -> const std::string& {
      if (at + 1 == words.size()) {
        throw std::runtime_error(word + " takes a value");
      }
      return words[++at];
    };
    if (word == "--input") {
      options.inputs.push_back(next());
    } else if (word == "--output") {
      options.outputs.push_back(next());
    } else if (word == "--seed") {
      options.seed = number(word, next(), UINT64_MAX);
      options.has_seed = true;
    } else if (word == "--calls") {
      options.calls = number(word, next(), 1'000'000'000);
      if (options.calls == 0) {
        throw std::runtime_error("--calls takes at least 1");
      }
    } else if (word == "--repeat") {
      options.repeat = number(word, next(), 1'000'000'000);
    } else if (word == "--threads") {
      options.threads = number(word, next(), 1024);
      if (options.threads == 0) {
        throw std::runtime_error("--threads takes at least 1");
      }
    } else if (word == "--device") {
      options.device = static_cast<std::int32_t>(number(word, next(), 1023));
    } else if (word == "--begin") {
      options.begin_ns = number(word, next(), INT64_MAX);
    } else if (word == "--name") {
      options.name = next();
    } else if (word == "--library") {
      options.libraries.push_back(next());
    } else if (word == "--graph") {
      options.graph = true;
    } else if (word == "--describe") {
      options.describe = true;
    } else if (word.rfind("--", 0) == 0 || !options.model.empty()) {
      throw std::runtime_error(word + " is not understood");
    } else {
      options.model = word;
    }
  }
  if (options.model.empty()) {
    throw std::runtime_error("no model was named");
  }
  return options;
}

double milliseconds_since(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin)
      .count();
}

// The most memory that the process has had resident, in MB.
long resident_megabytes() {
  std::ifstream status("/proc/self/status");
  std::string line;
  while (std::getline(status, line)) {
    if (line.rfind("VmHWM:", 0) == 0) {
      return std::atol(line.c_str() + 6) / 1024;
    }
  }
  return 0;
}

std::string described(const sconce::Tensor& tensor) {
  if (!tensor.defined()) {
    return "None";
  }
  std::string text = "[";
  for (const std::int64_t size : tensor.sizes()) {
    text += (text.size() == 1 ? "" : ", ") + std::to_string(size);
  }
  return text + "]";
}

void wait_for(const sconce::torch::Model& model) {
  if (model.device() >= 0) {
    sconce::detail::check(::sconce_device_synchronize(model.device()));
  }
}

// Shows on a terminal how many of the calls are done.
class Progress {
 public:
  explicit Progress(std::uint64_t whole) : whole_(whole), shows_(isatty(STDERR_FILENO) == 1) {}
  void show(std::uint64_t done) {
    const std::uint64_t percent = done * 100 / whole_;
    if (shows_ && percent != percent_) {
      percent_ = percent;
      std::fprintf(stderr, "\r%3d %% [%-40.*s]", static_cast<int>(percent),
                   static_cast<int>(percent * 40 / 100),
                   "########################################");
    }
  }
  ~Progress() {
    if (shows_) {
      std::fprintf(stderr, "\r%50s\r", "");
    }
  }
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

 private:
  std::uint64_t whole_;
  std::uint64_t percent_ = 101;
  bool shows_;
};

// The most bytes of the device that tensors have during a call, besides what is alive before it:
// nothing else allocates in this process.
void print_bytes_of_a_call(const sconce::torch::Model& model,
                           const std::vector<sconce::Tensor>& inputs, bool graph) {
  const std::int32_t device = model.device();
  sconce_memory_stats stats = SCONCE_MEMORY_STATS_INIT;
  sconce::detail::check(::sconce_memory_reset_peak_stats(device));
  sconce::detail::check(::sconce_memory_get_stats(device, &stats));
  const std::int64_t before = stats.allocated_bytes.all.current;
  const std::vector<sconce::Tensor> results = graph ? model.run_graph(inputs) : model.run(inputs);
  wait_for(model);
  sconce::detail::check(::sconce_memory_get_stats(device, &stats));
  std::printf("a call takes %lld bytes of the device at most\n",
              static_cast<long long>(stats.allocated_bytes.all.peak - before));
}

void measure(const sconce::torch::Model& model, const std::vector<sconce::Tensor>& inputs,
             const Options& options) {
  std::atomic<std::uint64_t> taken{0};
  std::atomic<std::uint64_t> done{0};
  std::atomic<bool> failed{false};
  std::string why;
  const auto work = [&](bool shows) {
    try {
      if (model.device() >= 0 && options.threads > 1) {
        sconce_stream stream{};
        sconce::detail::check(::sconce_stream_get_from_pool(model.device(), 0, &stream));
        sconce::detail::check(::sconce_stream_set_current(stream));
      }
      Progress progress(shows ? options.repeat : 1);
      while (!failed && taken++ < options.repeat) {
        const std::vector<sconce::Tensor> results =
            options.graph ? model.run_graph(inputs) : model.run(inputs);
        ++done;
        if (shows) {
          progress.show(done);
        }
      }
    } catch (const std::exception& error) {
      if (!failed.exchange(true)) {
        why = error.what();
      }
    }
  };
  wait_for(model);
  const auto begin = std::chrono::steady_clock::now();
  std::vector<std::thread> threads;
  for (std::uint64_t at = 1; at < options.threads; ++at) {
    threads.emplace_back(work, false);
  }
  work(true);
  for (std::thread& thread : threads) {
    thread.join();
  }
  if (failed) {
    throw std::runtime_error(why);
  }
  wait_for(model);
  const double whole = milliseconds_since(begin);
  const auto calls = static_cast<double>(options.repeat);
  std::printf("%llu calls from %llu threads: %.1f us a call, %.0f calls a second\n",
              static_cast<unsigned long long>(options.repeat),
              static_cast<unsigned long long>(options.threads), whole * 1000 / calls,
              calls * 1000 / whole);
}

// What the model is and needs. A model that cannot be loaded is described by its files.
void describe(const Options& options) {
  try {
    const sconce::torch::Model model(options.model, options.device, options.name);
    std::printf("%s\n", model.describe().c_str());
  } catch (const sconce::Error& error) {
    const std::string found = sconce::torch::inspect(options.model, options.name);
    std::printf("%s\nnot loaded here: %s\n", found.c_str(), error.what());
  }
}

// Figures of the model, and on a device those of the allocator: nothing else allocates in this
// process.
void print_memory(const sconce::torch::Model& model) {
  const sconce::torch::ModelMemory memory = model.memory();
  std::printf(
      "model memory: constants %llu bytes, tensors of a run %llu at most",
      static_cast<unsigned long long>(memory.constant_device_bytes + memory.constant_host_bytes),
      static_cast<unsigned long long>(memory.run_bytes));
  if (memory.graph_count != 0) {
    std::printf(", graphs %llu for inputs and %llu for the rest",
                static_cast<unsigned long long>(memory.graph_input_bytes),
                static_cast<unsigned long long>(memory.graph_pool_bytes));
  }
  std::printf("\n");
  if (model.device() >= 0) {
    sconce_memory_stats stats = SCONCE_MEMORY_STATS_INIT;
    sconce::detail::check(::sconce_memory_get_stats(model.device(), &stats));
    std::printf("device memory: %lld bytes in use at most, %lld reserved\n",
                static_cast<long long>(stats.allocated_bytes.all.peak),
                static_cast<long long>(stats.reserved_bytes.all.peak));
  }
}

// Writes the outputs that are named. One that is None has no file; the others are written all the
// same.
void write_outputs(const std::vector<sconce::Tensor>& results,
                   const std::vector<std::string>& files) {
  std::string missing;
  for (std::size_t at = 0; at < results.size(); ++at) {
    const bool is_named = at < files.size() && files[at] != "-";
    const bool is_written = is_named && results[at].defined();
    std::printf("output %zu: %s%s%s\n", at, described(results[at]).c_str(),
                is_written ? " to " : "", is_written ? files[at].c_str() : "");
    if (is_written) {
      write_npy(files[at], results[at]);
    } else if (is_named && missing.empty()) {
      missing = "output " + std::to_string(at) + " is None, so " + files[at] +
                " was not written; name - in its place";
    }
  }
  if (!missing.empty()) {
    throw std::runtime_error(missing);
  }
}

void run(const Options& options, std::chrono::steady_clock::time_point start) {
  std::vector<sconce::torch::Library> libraries;
  for (const std::string& path : options.libraries) {
    libraries.emplace_back(path);
  }
  if (options.describe) {
    describe(options);
    return;
  }
  const sconce::torch::Model model(options.model, options.device, options.name);
  if (options.outputs.size() > model.num_outputs()) {
    throw std::runtime_error("the model has " + std::to_string(model.num_outputs()) +
                             " outputs, and " + std::to_string(options.outputs.size()) +
                             " were named");
  }
  if (options.inputs.size() != model.num_inputs()) {
    throw std::runtime_error(std::to_string(options.inputs.size()) +
                             " inputs were passed; the model has " +
                             std::to_string(model.num_inputs()) +
                             ": name a file for each with --input, in the order that --describe "
                             "prints");
  }
  std::vector<sconce::Tensor> inputs;
  for (const std::string& path : options.inputs) {
    inputs.push_back(read_npy(path, model.input(inputs.size()).dtype));
    std::printf("input %zu: %s %s\n", inputs.size() - 1, path.c_str(),
                described(inputs.back()).c_str());
  }
  inputs = model.arranged(inputs);
  if (options.has_seed) {
    sconce::detail::check(::sconce_random_manual_seed_everywhere(options.seed));
  }
  const auto call = [&] { return options.graph ? model.run_graph(inputs) : model.run(inputs); };
  std::vector<sconce::Tensor> results = call();
  wait_for(model);
  std::printf("first result after %.1f ms, %ld MB resident\n", milliseconds_since(start),
              resident_megabytes());
  for (std::uint64_t calls = 1; calls < options.calls; ++calls) {
    results = call();
  }
  write_outputs(results, options.outputs);
  // A model may draw random numbers: of the calls that are measured, none has a result.
  if (options.repeat != 0) {
    if (model.device() >= 0) {
      print_bytes_of_a_call(model, inputs, options.graph);
    }
    measure(model, inputs, options);
  }
  print_memory(model);
}

}  // namespace

int main(int count, char** arguments) {
  const auto start = std::chrono::steady_clock::now();
  const std::vector<std::string> words(arguments + 1, arguments + count);
  for (const std::string& word : words) {
    if (word == "--help" || word == "-h") {
      std::fputs(usage, stdout);
      return 0;
    }
  }
  try {
    const Options options = read(words);
    // The clock is CLOCK_MONOTONIC on Linux.
    const std::chrono::nanoseconds begin(options.begin_ns);
    run(options, options.begin_ns == 0 ? start : std::chrono::steady_clock::time_point(begin));
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "sconce-run: %s\n%s", error.what(), words.empty() ? usage : "");
    return 1;
  }
}
