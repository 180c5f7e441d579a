// Guards restore the state that they found, whatever happens in between, and nothing else.
#include <optional>
#include <sconce/cuda/guard.hpp>
#include <sconce/tensor/tensor.hpp>
#include <stdexcept>
#include <type_traits>

#include "fixture.hpp"

namespace {

using namespace sconce::cuda;
using support::status_of;

template <class Guard>
constexpr bool kStaysPut =
    !std::is_copy_constructible_v<Guard> && !std::is_move_constructible_v<Guard> &&
    !std::is_copy_assignable_v<Guard> && !std::is_move_assignable_v<Guard> &&
    std::is_nothrow_destructible_v<Guard>;
static_assert(kStaysPut<CUDAGuard>, "a guard belongs to its scope");
static_assert(kStaysPut<OptionalCUDAGuard>, "a guard belongs to its scope");
static_assert(kStaysPut<CUDAStreamGuard>, "a guard belongs to its scope");
static_assert(kStaysPut<OptionalCUDAStreamGuard>, "a guard belongs to its scope");
static_assert(kStaysPut<CUDAMultiStreamGuard>, "a guard belongs to its scope");
static_assert(!std::is_default_constructible_v<CUDAGuard> &&
                  !std::is_default_constructible_v<CUDAStreamGuard> &&
                  !std::is_default_constructible_v<CUDAMultiStreamGuard>,
              "and guards something");

class DeviceGuardTest : public support::DeviceFixture {
 protected:
  void SetUp() override {
    DeviceFixture::SetUp();
    if (!IsSkipped()) {
      SCONCE_NEED_DEVICES(2);
    }
  }
};

TEST_F(DeviceGuardTest, MakesADeviceCurrentAndRestores) {
  {
    const CUDAGuard guard(1);
    EXPECT_EQ(guard.original_device(), Device(0));
    EXPECT_EQ(guard.current_device(), Device(1));
    EXPECT_EQ(current_device(), 1);
    {
      const CUDAGuard inner(Device(0));
      EXPECT_EQ(inner.original_device(), Device(1));
      EXPECT_EQ(current_device(), 0);
    }
    EXPECT_EQ(current_device(), 1);
  }
  EXPECT_EQ(current_device(), 0);
}

// The device of a tensor may be the CPU, as in torch's device_of.
TEST_F(DeviceGuardTest, TheCpuSwitchesNothing) {
  const auto cpu = sconce::empty({2}, sconce::kCPU).device();
  const auto far = sconce::empty({2}, sconce::device(1)).device();
  {
    CUDAGuard guard(cpu);
    EXPECT_EQ(current_device(), 0);
    EXPECT_FALSE(guard.original_device().has_index());
    guard.set_device(cpu);
    EXPECT_EQ(current_device(), 0);
    guard.reset_device(far);
    EXPECT_EQ(current_device(), 1);
    EXPECT_EQ(guard.original_device(), Device(0));
    guard.set_device(cpu);
    EXPECT_EQ(current_device(), 1);
  }
  EXPECT_EQ(current_device(), 0);
  {
    OptionalCUDAGuard guard(cpu);
    EXPECT_EQ(guard.original_device(), std::nullopt);
    guard.set_device(cpu);
    EXPECT_EQ(guard.current_device(), std::nullopt);
    guard.set_device(far);
    guard.reset_device(cpu);
    EXPECT_EQ(current_device(), 1);
    EXPECT_EQ(guard.original_device(), Device(0));
  }
  EXPECT_EQ(current_device(), 0);
  {
    const OptionalCUDAGuard guard(std::optional<sconce::Device>{cpu});
    // What other code makes current stays: the guard guards nothing.
    set_device(1);
  }
  EXPECT_EQ(current_device(), 1);
  set_device(0);
}

TEST_F(DeviceGuardTest, MinusOneSwitchesNothingButRestores) {
  {
    const CUDAGuard guard(-1);
    EXPECT_EQ(guard.original_device(), Device(0));
    EXPECT_EQ(guard.current_device(), Device(0));
    EXPECT_EQ(current_device(), 0);
    set_device(1);
  }
  EXPECT_EQ(current_device(), 0);
}

TEST_F(DeviceGuardTest, ADeviceThatDoesNotExistIsRefusedAndNothingChanges) {
  set_device(1);
  EXPECT_EQ(status_of([] { const CUDAGuard guard(device_count()); }), SCONCE_ERROR_INVALID_DEVICE);
  EXPECT_EQ(status_of([] { const CUDAGuard guard(-2); }), SCONCE_ERROR_INVALID_DEVICE);
  EXPECT_EQ(current_device(), 1);
}

TEST_F(DeviceGuardTest, SettingMovesOnButTheOriginalStays) {
  {
    CUDAGuard guard(0);
    guard.set_device(Device(1));
    EXPECT_EQ(guard.current_device(), Device(1));
    EXPECT_EQ(current_device(), 1);
    guard.reset_device(Device(0));
    EXPECT_EQ(current_device(), 0);
    guard.set_index(1);
    EXPECT_EQ(guard.original_device(), Device(0));
    EXPECT_EQ(guard.current_device(), Device(1));
    EXPECT_EQ(current_device(), 1);
  }
  EXPECT_EQ(current_device(), 0);
}

TEST_F(DeviceGuardTest, SettingNoDeviceIsANoOp) {
  CUDAGuard guard(1);
  guard.set_device(Device());
  guard.set_index(-1);
  guard.reset_device(Device(-1));
  EXPECT_EQ(guard.current_device(), Device(1));
  EXPECT_EQ(current_device(), 1);
}

TEST_F(DeviceGuardTest, SettingADeviceThatDoesNotExistChangesNothing) {
  {
    CUDAGuard guard(1);
    EXPECT_EQ(status_of([&] { guard.set_index(device_count()); }), SCONCE_ERROR_INVALID_DEVICE);
    EXPECT_EQ(guard.current_device(), Device(1));
    EXPECT_EQ(current_device(), 1);
  }
  EXPECT_EQ(current_device(), 0);
}

TEST_F(DeviceGuardTest, RestoresWhenAnExceptionPasses) {
  try {
    const CUDAGuard guard(1);
    throw std::runtime_error("passing");
  } catch (const std::runtime_error&) {
    EXPECT_EQ(current_device(), 0);
  }
}

TEST_F(DeviceGuardTest, TakesTheDeviceOfATensor) {
  const sconce::Tensor far = sconce::ones({2}, sconce::device(1));
  {
    CUDAGuard guard(far.device());
    EXPECT_EQ(current_device(), 1);
    guard.set_device(sconce::Device("cuda:0"));
    EXPECT_EQ(current_device(), 0);
    guard.reset_device(far.device());
    EXPECT_EQ(guard.current_device(), Device(1));
  }
  {
    const OptionalCUDAGuard guard(far.device());
    EXPECT_EQ(current_device(), 1);
    const OptionalCUDAGuard of_no_device(std::optional<sconce::Device>{});
    const OptionalCUDAGuard none(std::nullopt);
    EXPECT_FALSE(of_no_device.current_device().has_value() || none.current_device().has_value());
  }
  EXPECT_EQ(current_device(), 0);
}

TEST_F(DeviceGuardTest, OptionalGuardsNothingUntilItIsSet) {
  {
    OptionalCUDAGuard guard;
    EXPECT_FALSE(guard.original_device().has_value());
    EXPECT_FALSE(guard.current_device().has_value());
    set_device(1);
  }
  EXPECT_EQ(current_device(), 1) << "nothing was guarded";
  {
    OptionalCUDAGuard guard;
    guard.set_index(0);
    EXPECT_EQ(guard.original_device(), Device(1));
    EXPECT_EQ(guard.current_device(), Device(0));
    EXPECT_EQ(current_device(), 0);
    guard.set_device(Device(1));
    guard.reset_device(Device(0));
    EXPECT_EQ(guard.original_device(), Device(1)) << "fixed at the first setting";
  }
  EXPECT_EQ(current_device(), 1);
}

TEST_F(DeviceGuardTest, OptionalGuardsADeviceThatIsThere) {
  {
    const OptionalCUDAGuard guard(std::optional<Device>(Device(1)));
    EXPECT_EQ(guard.original_device(), Device(0));
    EXPECT_EQ(current_device(), 1);
  }
  {
    const OptionalCUDAGuard guard(1);
    EXPECT_EQ(current_device(), 1);
  }
  {
    const OptionalCUDAGuard guard(std::nullopt);
    EXPECT_FALSE(guard.original_device().has_value());
  }
  EXPECT_EQ(current_device(), 0);
}

TEST_F(DeviceGuardTest, OptionalCanRestoreEarly) {
  OptionalCUDAGuard guard(1);
  guard.reset();
  EXPECT_EQ(current_device(), 0);
  EXPECT_FALSE(guard.original_device().has_value());
}

TEST_F(DeviceGuardTest, GuardingTheCurrentDeviceCallsNoDriver) {
  SCONCE_NEED_SIMULATOR();
  (void)current_device();
  const auto calls = [] {
    return sconce::simulator::call_count("bind_device") +
           sconce::simulator::call_count("unbind_device") +
           sconce::simulator::call_count("context_is_active");
  };
  const auto before = calls();
  {
    const CUDAGuard device(0);
    const CUDAStreamGuard stream(getStreamFromPool(false, 0));
  }
  EXPECT_EQ(calls(), before);
}

TEST_F(DeviceGuardTest, AGuardMakesItsDeviceCurrentAlsoAfterOtherCodeDid) {
  SCONCE_NEED_SIMULATOR();
  SCONCE_NEED_DEVICES(2);
  set_device(1);
  sconce::simulator::set_current_device(0);
  // The check of the device is on in debug builds of the library, or by SCONCE_CHECK_DEVICE=1.
  if (current_device() != 0) {
    GTEST_SKIP() << "this build of the library does not check the device";
  }
  {
    const CUDAGuard guard(1);
    EXPECT_EQ(guard.original_device(), Device(0));
    EXPECT_EQ(sconce::simulator::get_current_device(), 1);
    sconce::simulator::set_current_device(0);
  }
  EXPECT_EQ(current_device(), 0);
  sconce::simulator::set_current_device(1);
  const CUDAStream here = getStreamFromPool(false, 0);
  {
    const CUDAStreamGuard guard(here);
    EXPECT_EQ(guard.original_device(), Device(1));
    EXPECT_EQ(current_device(), 0);
  }
  EXPECT_EQ(current_device(), 1);
  EXPECT_EQ(sconce::simulator::get_current_device(), 1);
}

}  // namespace
