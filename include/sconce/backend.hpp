/// \file
/// Start-up and backends. Nothing here has to be called: the library starts at its first use, with
/// the backend that `SCONCE_BACKEND` names.
#ifndef SCONCE_BACKEND_HPP
#define SCONCE_BACKEND_HPP

#include <cstdint>
#include <sconce/error.hpp>

namespace sconce {
inline namespace v0 {

/// What stands behind the devices.
enum class Backend : std::int32_t {
  None = SCONCE_BACKEND_NONE,  ///< nothing: there are no devices
  Cuda = SCONCE_BACKEND_CUDA,  ///< NVIDIA's driver
  Sim = SCONCE_BACKEND_SIM,    ///< simulated devices
};

/// The semantic version of the library that is loaded.
[[nodiscard]] inline const char* version() noexcept { return ::sconce_version(); }

/// The ABI number of the library that is loaded; also that of its soname.
[[nodiscard]] inline std::uint32_t abi_version() noexcept { return ::sconce_abi_version(); }

/// Starts the library now. Optional, idempotent, any thread. Corresponds to `torch.cuda.init`.
/// \throws Error `SCONCE_ERROR_NO_DEVICE` or `SCONCE_ERROR_LIBRARY_NOT_FOUND` when nothing can be
///         used, in words that say what was tried
inline void init() { detail::check(::sconce_init()); }

/// How to start; a value of 0 leaves the choice to the environment, else to the default.
struct Options {
  Backend backend = Backend::None;     ///< the backend; `None` leaves it to `SCONCE_BACKEND`
  std::int32_t sim_devices = 0;        ///< simulated devices (`SCONCE_SIM_DEVICES`, default 2)
  std::int32_t sim_sms = 0;            ///< multiprocessors of each (`SCONCE_SIM_SMS`, default 132)
  std::uint64_t sim_memory_bytes = 0;  ///< memory of each (`SCONCE_SIM_MEMORY`, default 4 GiB)
};

/// Starts the library now, with the given choices.
/// \throws Error `SCONCE_ERROR_INVALID_STATE` when it has started with other ones
inline void init(const Options& options) {
  sconce_options c_options{};
  c_options.struct_size = static_cast<std::uint32_t>(sizeof(c_options));
  c_options.backend = static_cast<std::int32_t>(options.backend);
  c_options.sim_devices = options.sim_devices;
  c_options.sim_sms = options.sim_sms;
  c_options.sim_memory_bytes = options.sim_memory_bytes;
  detail::check(::sconce_init_with(&c_options));
}

/// Whether the library has started. Corresponds to `torch.cuda.is_initialized`.
[[nodiscard]] inline bool is_initialized() noexcept { return ::sconce_is_initialized(); }

/// The backend in use. Starts the library if need be.
[[nodiscard]] inline Backend active_backend() noexcept {
  return static_cast<Backend>(::sconce_backend_get_active());
}

}  // namespace v0
}  // namespace sconce

#endif  // SCONCE_BACKEND_HPP
