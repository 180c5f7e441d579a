// Bare NCCL, opened at run time: what the calls of this library are measured beside.
#ifndef SCONCE_BENCHES_COMM_NCCL_HPP
#define SCONCE_BENCHES_COMM_NCCL_HPP

#include <dlfcn.h>

#include <cstddef>
#include <cstdlib>
#include <stdexcept>
#include <string>

namespace comm_bench {

/// The functions that the benchmark calls. `library` is the file that this library opens, too.
class Nccl {
 public:
  using Comm = void*;
  static constexpr int kFloat = 7;

  int (*init_all)(Comm*, int, const int*) = nullptr;
  int (*destroy)(Comm) = nullptr;
  int (*group_start)() = nullptr;
  int (*group_end)() = nullptr;
  int (*all_reduce)(const void*, void*, std::size_t, int, int, Comm, void*) = nullptr;
  int (*broadcast)(const void*, void*, std::size_t, int, int, Comm, void*) = nullptr;
  int (*reduce)(const void*, void*, std::size_t, int, int, int, Comm, void*) = nullptr;
  int (*all_gather)(const void*, void*, std::size_t, int, Comm, void*) = nullptr;

  Nccl() {
    const char* const named = std::getenv("SCONCE_LIBNCCL");
    library_ = dlopen(named != nullptr ? named : "libnccl.so.2", RTLD_NOW);
    if (library_ == nullptr) return;
    find(init_all, "ncclCommInitAll");
    find(destroy, "ncclCommDestroy");
    find(group_start, "ncclGroupStart");
    find(group_end, "ncclGroupEnd");
    find(all_reduce, "ncclAllReduce");
    find(broadcast, "ncclBroadcast");
    find(reduce, "ncclReduce");
    find(all_gather, "ncclAllGather");
  }

  [[nodiscard]] bool is_here() const { return library_ != nullptr; }

  static void check(int code) {
    if (code != 0) throw std::runtime_error("NCCL: error " + std::to_string(code));
  }

 private:
  template <class Function>
  void find(Function& function, const char* name) {
    function = reinterpret_cast<Function>(dlsym(library_, name));
    if (function == nullptr) throw std::runtime_error(std::string("NCCL has no ") + name);
  }

  void* library_ = nullptr;
};

}  // namespace comm_bench

#endif
