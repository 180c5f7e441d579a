// The program that every backend of pinned memory and copies runs. It prints a line for each
// measurement, as the programs of benches/memory do.
//
// A backend is a struct of static functions, since each measures the process's one library:
//   std::string title()
//   void enter_thread()                      called by a thread before it allocates
//   Pinned pin(bytes)                        see pinned.hpp
//   void start_over()                        frees all cached pinned memory, resets peaks
//   PinnedFigures pinned_figures()
//   int devices()
//   void drain()                             waits for all devices
//   Memory pinned(bytes), ordinary(address, bytes), on_device(bytes, device)
//   copier(dst, src, bytes, non_blocking)    callables that do the work once
//   setter(dst, bytes), strided(dst, src, shape)
// and, if it has them, staged(dst, src, bytes), a copy between devices through the host, and
// bare_costs(effort), the driver's own calls.
#ifndef SCONCE_BENCHES_COPY_PROGRAM_HPP
#define SCONCE_BENCHES_COPY_PROGRAM_HPP

#include <cstdio>
#include <exception>
#include <vector>

#include "transfers.hpp"

namespace copy_bench {

template <class Backend>
int run(const memory_bench::Options& options) {
  const Effort& effort = options.effort;
  std::vector<std::size_t> sizes = {64 * kib, mib, 16 * mib};
  if (effort.runs > 1) {
    sizes.insert(sizes.end(), {256 * mib, gib});
  }
  std::printf("# %s\n", Backend::title().c_str());
  try {
    // First, since a block that anything else pinned would count.
    pinned_allocator<Backend>(effort);
    call_costs<Backend>(effort);
    if constexpr (requires { Backend::bare_costs(effort); }) {
      Backend::bare_costs(effort);
    }
    between_devices<Backend>(effort, sizes);
    host_and_device<Backend>(effort, sizes);
    on_one_device<Backend>(effort, sizes);
    shapes<Backend>(effort);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
  return 0;
}

}  // namespace copy_bench

#endif  // SCONCE_BENCHES_COPY_PROGRAM_HPP
