// A kernel of the program that writes one byte, on a GPU and on simulated devices.
#ifndef SCONCE_CPP_TESTS_POKE_HPP
#define SCONCE_CPP_TESTS_POKE_HPP

#include <cstdint>
#include <sconce/sconce_all.hpp>

namespace support {

/// Writes one byte through a kernel that declares nothing.
inline void poke(const void* address, std::int64_t offset, const sconce::cuda::CUDAStream& stream) {
  namespace sim = sconce::simulator;
  if (sconce::active_backend() == sconce::Backend::Sim) {
    sim::register_kernel<std::uint8_t*, std::int64_t>(
        "poke", [](const sim::Thread&, sim::DevicePointer<std::uint8_t> to, std::int64_t index) {
          to[index] = 7;
        });
  }
  static const auto module = sconce::cuda::Module::load(R"(.version 7.5
.target sm_75
.address_size 64
.visible .entry poke(.param .u64 to, .param .u64 index) {
  .reg .b64 %rd<5>;
  .reg .b16 %rs<2>;
  ld.param.u64 %rd1, [to];
  ld.param.u64 %rd2, [index];
  cvta.to.global.u64 %rd3, %rd1;
  add.s64 %rd4, %rd3, %rd2;
  mov.u16 %rs1, 7;
  st.global.u8 [%rd4], %rs1;
  ret;
}
)");
  const auto kernel = module.kernel("poke");
  sconce::cuda::LaunchConfig config{sconce::cuda::Dim3(1), sconce::cuda::Dim3(1)};
  config.stream = stream;
  kernel.launch(config, const_cast<void*>(address), offset);
}

}  // namespace support

#endif  // SCONCE_CPP_TESTS_POKE_HPP
