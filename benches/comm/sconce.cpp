// Communicators and tensors of several devices, as `comm_bench` in scripts/gpu-check runs them.
#include <cstring>
#include <exception>

#include "calls.hpp"
#include "tensors.hpp"

int main(int argc, char** argv) {
  const bool is_quick = argc > 1 && std::strcmp(argv[1], "--quick") == 0;
  try {
    comm_bench::tensors_of_devices(is_quick);
    comm_bench::calls_of_ranks(is_quick);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "comm_bench: %s\n", error.what());
    return 1;
  }
  return 0;
}
