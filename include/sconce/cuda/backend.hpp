/// \file
/// Start-up and backends. No call is required: the library initialises itself at its first use,
/// with the backend that `SCONCE_BACKEND` names.
#ifndef SCONCE_CUDA_BACKEND_HPP
#define SCONCE_CUDA_BACKEND_HPP

#include <sconce/c/library.h>

#include <cstdint>
#include <sconce/cuda/error.hpp>

namespace sconce {
inline namespace v0 {

/// The backends.
enum class Backend : std::int32_t {
  None = SCONCE_BACKEND_NONE,  ///< none: there are no devices
  Cuda = SCONCE_BACKEND_CUDA,  ///< NVIDIA's driver
  Sim = SCONCE_BACKEND_SIM,    ///< simulated devices
};

/// The semantic version of the loaded library.
[[nodiscard]] inline const char* version() noexcept { return ::sconce_version(); }

/// The ABI number of the loaded library, which its soname contains as well.
[[nodiscard]] inline std::uint32_t abi_version() noexcept { return ::sconce_abi_version(); }

/// Initialises the library now. Optional; later calls do nothing. Corresponds to `torch.cuda.init`.
/// \throws Error `SCONCE_ERROR_NO_DEVICE` or `SCONCE_ERROR_LIBRARY_NOT_FOUND` if no backend is
///         usable; the message lists what was tried
inline void init() { detail::check(::sconce_init()); }

/// Options of `init`; a value of 0 follows the environment, or else the default.
struct Options {
  Backend backend = Backend::None;     ///< the backend; `None` follows `SCONCE_BACKEND`
  std::int32_t sim_devices = 0;        ///< simulated devices (`SCONCE_SIM_DEVICES`, default 2)
  std::int32_t sim_sms = 0;            ///< multiprocessors of each (`SCONCE_SIM_SMS`, default 132)
  std::uint64_t sim_memory_bytes = 0;  ///< memory of each (`SCONCE_SIM_MEMORY`, default 4 GiB)
};

/// Initialises the library now with the given options.
/// \throws Error `SCONCE_ERROR_INVALID_STATE` if it is initialised with other ones
inline void init(const Options& options) {
  sconce_options c_options{};
  c_options.struct_size = static_cast<std::uint32_t>(sizeof(c_options));
  c_options.backend = static_cast<std::int32_t>(options.backend);
  c_options.sim_devices = options.sim_devices;
  c_options.sim_sms = options.sim_sms;
  c_options.sim_memory_bytes = options.sim_memory_bytes;
  detail::check(::sconce_init_with(&c_options));
}

/// Whether the library is initialised. Corresponds to `torch.cuda.is_initialized`.
[[nodiscard]] inline bool is_initialized() noexcept { return ::sconce_is_initialized(); }

/// The backend in use. Determines it if the library is not initialised.
[[nodiscard]] inline Backend active_backend() noexcept {
  return static_cast<Backend>(::sconce_backend_get_active());
}

}  // namespace v0
}  // namespace sconce

#endif  // SCONCE_CUDA_BACKEND_HPP
