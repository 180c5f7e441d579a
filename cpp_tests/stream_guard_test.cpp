// Guards of streams restore the streams and the device that they found.
#include <sconce/cuda/guard.hpp>
#include <stdexcept>
#include <vector>

#include "fixture.hpp"

namespace {

using namespace sconce::cuda;
using support::status_of;

class StreamGuardTest : public support::DeviceFixture {};

TEST_F(StreamGuardTest, MakesAStreamCurrentAndRestores) {
  const CUDAStream before = getStreamFromPool();
  const CUDAStream inside = getStreamFromPool();
  setCurrentCUDAStream(before);
  {
    const CUDAStreamGuard guard(inside);
    EXPECT_EQ(guard.original_stream(), before);
    EXPECT_EQ(guard.current_stream(), inside);
    EXPECT_EQ(guard.original_device(), Device(0));
    EXPECT_EQ(guard.current_device(), Device(0));
    EXPECT_EQ(getCurrentCUDAStream(), inside);
  }
  EXPECT_EQ(getCurrentCUDAStream(), before);
}

TEST_F(StreamGuardTest, AStreamOfAnotherDeviceSwitchesBothAndRestoresBoth) {
  SCONCE_NEED_DEVICES(2);
  const CUDAStream here = getStreamFromPool(false, 0);
  const CUDAStream there = getStreamFromPool(false, 1);
  const CUDAStream inside = getStreamFromPool(false, 1);
  setCurrentCUDAStream(here);
  setCurrentCUDAStream(there);
  {
    const CUDAStreamGuard guard(inside);
    EXPECT_EQ(guard.original_device(), Device(0));
    EXPECT_EQ(guard.current_device(), Device(1));
    EXPECT_EQ(guard.original_stream(), here) << "that of the original device";
    EXPECT_EQ(guard.current_stream(), inside);
    EXPECT_EQ(current_device(), 1);
    EXPECT_EQ(getCurrentCUDAStream(), inside);
    EXPECT_EQ(getCurrentCUDAStream(0), here);
  }
  EXPECT_EQ(current_device(), 0);
  EXPECT_EQ(getCurrentCUDAStream(0), here);
  EXPECT_EQ(getCurrentCUDAStream(1), there);
}

TEST_F(StreamGuardTest, RestoresADeviceThatWasChangedInside) {
  SCONCE_NEED_DEVICES(2);
  {
    const CUDAStreamGuard guard(getStreamFromPool(false, 0));
    set_device(1);
  }
  EXPECT_EQ(current_device(), 0);
  EXPECT_EQ(getCurrentCUDAStream(0), getDefaultCUDAStream(0));
}

TEST_F(StreamGuardTest, ResettingToTheSameStreamChangesNothing) {
  const CUDAStream stream = getStreamFromPool();
  {
    CUDAStreamGuard guard(stream);
    guard.reset_stream(stream);
    EXPECT_EQ(guard.current_stream(), stream);
    EXPECT_EQ(guard.original_stream(), getDefaultCUDAStream());
    EXPECT_EQ(getCurrentCUDAStream(), stream);
  }
  EXPECT_EQ(getCurrentCUDAStream(), getDefaultCUDAStream());
}

TEST_F(StreamGuardTest, ResettingToAnotherStreamOfTheDeviceRestoresTheFirst) {
  const CUDAStream first = getStreamFromPool();
  const CUDAStream second = getStreamFromPool();
  {
    CUDAStreamGuard guard(first);
    guard.reset_stream(second);
    EXPECT_EQ(guard.current_stream(), second);
    EXPECT_EQ(guard.original_stream(), getDefaultCUDAStream());
    EXPECT_EQ(getCurrentCUDAStream(), second);
  }
  EXPECT_EQ(getCurrentCUDAStream(), getDefaultCUDAStream());
}

TEST_F(StreamGuardTest, ResettingToAnotherDeviceRestoresTheDeviceThatIsLeft) {
  SCONCE_NEED_DEVICES(2);
  const CUDAStream before_zero = getStreamFromPool(false, 0);
  const CUDAStream before_one = getStreamFromPool(false, 1);
  const CUDAStream zero = getStreamFromPool(false, 0);
  const CUDAStream one = getStreamFromPool(false, 1);
  setCurrentCUDAStream(before_zero);
  setCurrentCUDAStream(before_one);
  {
    CUDAStreamGuard guard(one);
    guard.reset_stream(zero);
    EXPECT_EQ(getCurrentCUDAStream(1), before_one) << "restored on leaving";
    EXPECT_EQ(getCurrentCUDAStream(0), zero);
    EXPECT_EQ(current_device(), 0);
    guard.reset_stream(one);
    EXPECT_EQ(getCurrentCUDAStream(0), before_zero) << "restored on leaving";
    EXPECT_EQ(getCurrentCUDAStream(1), one);
    EXPECT_EQ(current_device(), 1);
    EXPECT_EQ(guard.original_device(), Device(0));
    EXPECT_EQ(guard.original_stream(), before_zero);
    EXPECT_EQ(guard.current_device(), Device(1));
  }
  EXPECT_EQ(current_device(), 0);
  EXPECT_EQ(getCurrentCUDAStream(0), before_zero);
  EXPECT_EQ(getCurrentCUDAStream(1), before_one);
}

TEST_F(StreamGuardTest, AFailedResetChangesNothing) {
  const CUDAStream stream = getStreamFromPool();
  const CUDAStream invented(sconce_stream{0x7ffffff0, 0, 0});
  const CUDAStream nowhere(sconce_stream{0, device_count(), 0});
  {
    CUDAStreamGuard guard(stream);
    EXPECT_EQ(status_of([&] { guard.reset_stream(invented); }), SCONCE_ERROR_INVALID_HANDLE);
    EXPECT_EQ(status_of([&] { guard.reset_stream(nowhere); }), SCONCE_ERROR_INVALID_DEVICE);
    EXPECT_EQ(guard.current_stream(), stream);
    EXPECT_EQ(getCurrentCUDAStream(), stream);
    EXPECT_EQ(current_device(), 0);
  }
  EXPECT_EQ(getCurrentCUDAStream(), getDefaultCUDAStream());
  EXPECT_EQ(status_of([&] { const CUDAStreamGuard guard(invented); }), SCONCE_ERROR_INVALID_HANDLE);
  EXPECT_EQ(getCurrentCUDAStream(), getDefaultCUDAStream());
}

TEST_F(StreamGuardTest, RestoresWhenAnExceptionPasses) {
  const DeviceIndex last = device_count() - 1;
  try {
    const CUDAStreamGuard guard(getStreamFromPool(false, last));
    throw std::runtime_error("passing");
  } catch (const std::runtime_error&) {
    EXPECT_EQ(current_device(), 0);
    EXPECT_EQ(getCurrentCUDAStream(last), getDefaultCUDAStream(last));
  }
}

TEST_F(StreamGuardTest, OptionalGuardsNothingUntilItIsReset) {
  const DeviceIndex last = device_count() - 1;
  const CUDAStream first = getStreamFromPool(false, 0);
  const CUDAStream second = getStreamFromPool(false, last);
  {
    OptionalCUDAStreamGuard guard;
    EXPECT_FALSE(guard.original_stream().has_value());
    EXPECT_FALSE(guard.current_stream().has_value());
    guard.reset_stream(first);
    EXPECT_EQ(guard.original_stream(), getDefaultCUDAStream(0));
    EXPECT_EQ(guard.current_stream(), first);
    guard.reset_stream(second);
    EXPECT_EQ(guard.original_stream(), getDefaultCUDAStream(0));
    EXPECT_EQ(guard.current_stream(), second);
    EXPECT_EQ(current_device(), last);
  }
  EXPECT_EQ(current_device(), 0);
  EXPECT_EQ(getCurrentCUDAStream(0), getDefaultCUDAStream(0));
  EXPECT_EQ(getCurrentCUDAStream(last), getDefaultCUDAStream(last));
}

TEST_F(StreamGuardTest, OptionalGuardsAStreamThatIsThere) {
  const CUDAStream stream = getStreamFromPool();
  {
    const OptionalCUDAStreamGuard guard{std::optional<CUDAStream>(stream)};
    EXPECT_EQ(getCurrentCUDAStream(), stream);
  }
  {
    OptionalCUDAStreamGuard guard(stream);
    EXPECT_EQ(getCurrentCUDAStream(), stream);
    guard.reset();
    EXPECT_EQ(getCurrentCUDAStream(), getDefaultCUDAStream());
    EXPECT_FALSE(guard.current_stream().has_value());
  }
  {
    const OptionalCUDAStreamGuard guard{std::optional<CUDAStream>()};
    EXPECT_EQ(getCurrentCUDAStream(), getDefaultCUDAStream());
  }
}

TEST_F(StreamGuardTest, SeveralStreamsAreCurrentEachOnItsDevice) {
  SCONCE_NEED_DEVICES(2);
  const CUDAStream before = getStreamFromPool(false, 1);
  setCurrentCUDAStream(before);
  const std::vector<CUDAStream> streams = {getStreamFromPool(false, 0),
                                           getStreamFromPool(false, 1)};
  {
    const CUDAMultiStreamGuard guard(streams);
    EXPECT_EQ(getCurrentCUDAStream(0), streams[0]);
    EXPECT_EQ(getCurrentCUDAStream(1), streams[1]);
    EXPECT_EQ(current_device(), 0) << "the device stays";
    EXPECT_EQ(guard.original_streams(), (std::vector<CUDAStream>{getDefaultCUDAStream(0), before}));
  }
  EXPECT_EQ(getCurrentCUDAStream(0), getDefaultCUDAStream(0));
  EXPECT_EQ(getCurrentCUDAStream(1), before);
}

TEST_F(StreamGuardTest, TwoStreamsOfOneDeviceAreRestoredInReverse) {
  const CUDAStream before = getStreamFromPool();
  const CUDAStream first = getStreamFromPool();
  const CUDAStream second = getStreamFromPool();
  setCurrentCUDAStream(before);
  {
    const CUDAMultiStreamGuard guard({first, second});
    EXPECT_EQ(getCurrentCUDAStream(), second) << "the last one named";
  }
  EXPECT_EQ(getCurrentCUDAStream(), before);
}

TEST_F(StreamGuardTest, SeveralStreamsOfWhichOneIsRefusedChangeNothing) {
  const CUDAStream invented(sconce_stream{0x7ffffff0, 0, 0});
  const CUDAStream real = getStreamFromPool();
  EXPECT_EQ(status_of([&] {
              const CUDAMultiStreamGuard guard({real, invented});
            }),
            SCONCE_ERROR_INVALID_HANDLE);
  EXPECT_EQ(getCurrentCUDAStream(), getDefaultCUDAStream());
}

TEST_F(StreamGuardTest, NoStreamsAreNothing) {
  const CUDAMultiStreamGuard guard(std::vector<CUDAStream>{});
  EXPECT_TRUE(guard.original_streams().empty());
}

}  // namespace
