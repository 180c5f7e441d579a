// Replays a list of recorded allocations (traces/README.md) and prints the memory summary.
//
//   zcat traces/llama_generate.csv.gz | replay_trace -
//
// sconce-replay does the same and much more; this program shows the calls. Without a GPU: set
// SCONCE_BACKEND=sim.
#include <cstdint>
#include <fstream>
#include <iostream>
#include <sconce/sconce.hpp>
#include <sstream>
#include <stdexcept>
#include <string>
#include <unordered_map>
#include <vector>

namespace cc = sconce::cuda;

namespace {

/// One line of the list: `a,ID,BYTES,STREAM` allocates, `f,ID,BYTES,STREAM` frees.
struct Event {
  char kind = 0;
  std::uint64_t id = 0;
  std::size_t bytes = 0;
  std::size_t stream = 0;
};

bool parse(const std::string& line, Event& event) {
  std::istringstream fields(line);
  char comma = 0;
  return static_cast<bool>(fields >> event.kind >> comma >> event.id >> comma >> event.bytes >>
                           comma >> event.stream) &&
         (event.kind == 'a' || event.kind == 'f');
}

void replay(std::istream& list) {
  std::vector<cc::CUDAStream> streams{cc::getDefaultCUDAStream()};
  std::unordered_map<std::uint64_t, cc::DeviceBuffer> live;
  std::size_t events = 0;
  for (std::string line; std::getline(list, line);) {
    Event event;
    if (line.empty() || line[0] == '#') {
      continue;
    }
    if (!parse(line, event) || event.stream > 32) {
      throw std::runtime_error("\"" + line + "\" is no event");
    }
    while (streams.size() <= event.stream) {
      streams.push_back(cc::getStreamFromPool());
    }
    if (event.kind == 'a') {
      live[event.id] = cc::DeviceBuffer(event.bytes, streams[event.stream]);
    } else {
      live.erase(event.id);
    }
    ++events;
  }
  std::cout << events << " events, " << live.size() << " allocations alive at the end\n"
            << cc::memory_summary();
}

}  // namespace

int main(int argc, char** argv) try {
  if (argc != 2) {
    std::cerr << "usage: " << argv[0] << " FILE    (- is standard input)\n";
    return 2;
  }
  if (std::string(argv[1]) == "-") {
    replay(std::cin);
    return 0;
  }
  std::ifstream file(argv[1]);
  if (!file) {
    throw std::runtime_error("cannot open " + std::string(argv[1]));
  }
  replay(file);
} catch (const std::exception& error) {
  std::cerr << "replay_trace: " << error.what() << "\n";
  return 1;
}
