// Communicators in static storage, with a call queued that no other rank makes: the process ends
// all the same, without waiting for their limit of ten minutes.
#include <cstdio>
#include <cstring>
#include <memory>
#include <vector>

#include "process.hpp"

namespace {

using sconce::Tensor;
using sconce::distributed::Communicator;
using sconce::distributed::group;

/// Destroyed after all that the library has made.
std::unique_ptr<std::vector<Communicator>> made_before;

std::vector<Communicator> made() { return Communicator::init_all({0, 1}); }

void use(const std::vector<Communicator>& comms) {
  const Tensor first = sconce::ones({4}, sconce::device(0));
  const Tensor second = sconce::ones({4}, sconce::device(1));
  group([&] {
    comms[0].all_reduce(first);
    comms[1].all_reduce(second);
  });
  process::expect(first.sum().item<float>() == 8.0F, "the ranks add up");
  comms[0].all_reduce(first);
}

}  // namespace

int main(int argc, char** argv) {
  if (const std::string& reason = support::started(); !reason.empty()) {
    return process::skipped(reason.c_str());
  }
  if (sconce::cuda::device_count() < 2) {
    return process::skipped("there is one device");
  }
  if (argc == 2 && std::strcmp(argv[1], "before") == 0) {
    made_before = std::make_unique<std::vector<Communicator>>(made());
    use(*made_before);
  } else {
    static const std::vector<Communicator> made_here = made();
    use(made_here);
  }
  std::puts("leaving main with a call that waits");
  return process::failed ? 1 : 0;
}
