// Errors: the exception carries the status, the message and the driver's number.
#include <cstring>
#include <sconce/cuda/error.hpp>
#include <set>
#include <string>
#include <thread>
#include <type_traits>

#include "fixture.hpp"

namespace {

using namespace sconce::cuda;
using support::contains;
using support::error_of;

class ErrorTest : public support::DeviceFixture {};

static_assert(std::is_base_of_v<std::runtime_error, sconce::Error>, "");
static_assert(std::is_base_of_v<sconce::Error, sconce::OutOfMemoryError>, "");
static_assert(std::is_base_of_v<sconce::Error, sconce::NotSupportedError>, "");

TEST_F(ErrorTest, EveryStatusHasASpelling) {
  EXPECT_STREQ(sconce::status_name(SCONCE_OK), "SCONCE_OK");
  EXPECT_STREQ(sconce::status_name(SCONCE_ERROR_CROSS_DEVICE), "SCONCE_ERROR_CROSS_DEVICE");
  std::set<std::string> names;
  for (std::int32_t value = SCONCE_OK; value <= SCONCE_ERROR_ABORTED; ++value) {
    names.insert(sconce_status_name(value));
  }
  EXPECT_EQ(names.size(), 18U);
  for (const std::int32_t unknown : {-1, 18, 1 << 30}) {
    ASSERT_NE(sconce_status_name(unknown), nullptr);
    EXPECT_EQ(names.count(sconce_status_name(unknown)), 0U);
  }
}

TEST_F(ErrorTest, SuccessThrowsNothing) { EXPECT_NO_THROW(sconce::detail::check(SCONCE_OK)); }

TEST_F(ErrorTest, TheWordsNameTheStatusAndTheArgument) {
  const sconce::Error error = error_of([] { set_device(4711); });
  EXPECT_EQ(error.status(), SCONCE_ERROR_INVALID_DEVICE);
  EXPECT_EQ(error.backend_code(), 0) << "no driver call was behind it";
  EXPECT_TRUE(contains(error.what(), "SCONCE_ERROR_INVALID_DEVICE: "));
  EXPECT_TRUE(contains(error.what(), "4711"));
}

TEST_F(ErrorTest, ItIsARuntimeError) { EXPECT_THROW(set_device(4711), std::runtime_error); }

TEST_F(ErrorTest, TheLastMessageIsAThreadsOwnAndOutlivesSuccess) {
  EXPECT_THROW(set_device(4711), sconce::Error);
  std::thread([] { EXPECT_THROW(set_device(815), sconce::Error); }).join();
  set_device(0);
  EXPECT_TRUE(contains(sconce_last_error_message(), "4711"));
}

// A failed call beside the message: arguments are evaluated in any order.
TEST_F(ErrorTest, AMessageThatWasReadStaysUntilALaterOneWasRead) {
  const auto fail = [](std::int32_t device) { return ::sconce_device_set_current(device); };
  ASSERT_EQ(fail(4700), SCONCE_ERROR_INVALID_DEVICE);
  const char* const before = ::sconce_last_error_message();
  for (std::int32_t device = 4701; device < 4800; ++device) {
    ASSERT_EQ(fail(device), SCONCE_ERROR_INVALID_DEVICE);
    ASSERT_TRUE(contains(before, "4700")) << before;
  }
  const char* const after = ::sconce_last_error_message();
  EXPECT_TRUE(contains(before, "4700") && contains(after, "4799")) << before << after;
  const auto printed = [&](const char* message, sconce_status status) {
    return std::string(message) + sconce_status_name(status);
  };
  const std::string one = printed(::sconce_last_error_message(), fail(4801));
  EXPECT_TRUE(contains(one, "4799") || contains(one, "4801")) << one;
  EXPECT_TRUE(contains(::sconce_last_error_message(), "4801")) << "the newest one";
}

TEST_F(ErrorTest, ADriversErrorKeepsItsNumberAndName) {
  SCONCE_NEED_SIMULATOR();
  const CUDAStream stream = getStreamFromPool();
  constexpr std::int32_t kLaunchFailed = 719;
  sconce::simulator::inject_fault("stream_query", 1, kLaunchFailed);
  const sconce::Error error = error_of([&] { (void)stream.query(); });
  EXPECT_EQ(error.status(), SCONCE_ERROR_DRIVER);
  EXPECT_EQ(error.backend_code(), kLaunchFailed);
  EXPECT_TRUE(contains(error.what(), "719"));
  EXPECT_TRUE(stream.query()) << "the fault struck once";
}

TEST_F(ErrorTest, SomeStatusesHaveTypesOfTheirOwn) {
  SCONCE_NEED_SIMULATOR();
  constexpr std::int32_t kOutOfMemory = 2;
  constexpr std::int32_t kNotSupported = 801;
  const CUDAStream stream = getStreamFromPool();
  sconce::simulator::inject_fault("stream_query", 1, kOutOfMemory);
  EXPECT_THROW((void)stream.query(), sconce::OutOfMemoryError);
  sconce::simulator::inject_fault("stream_query", 1, kNotSupported);
  EXPECT_THROW((void)stream.query(), sconce::NotSupportedError);
}

TEST_F(ErrorTest, StartingAgainOtherwiseIsRefused) {
  sconce::Options options;
  options.backend = support::wants_cuda() ? sconce::Backend::Sim : sconce::Backend::Cuda;
  EXPECT_EQ(support::status_of([&] { sconce::init(options); }), SCONCE_ERROR_INVALID_STATE);
  EXPECT_NO_THROW(sconce::init());
  EXPECT_EQ(support::start(), "") << "starting again the same way is fine";
}

TEST_F(ErrorTest, OptionsOutOfRangeAreNamed) {
  sconce::Options options;
  options.sim_devices = -1;
  EXPECT_TRUE(contains(error_of([&] { sconce::init(options); }).what(), "sim_devices"));
  sconce_options raw{};
  EXPECT_EQ(sconce_init_with(&raw), SCONCE_ERROR_INVALID_ARGUMENT);
  EXPECT_TRUE(contains(sconce_last_error_message(), "struct_size"));
  EXPECT_EQ(sconce_init_with(nullptr), SCONCE_ERROR_INVALID_ARGUMENT);
}

TEST_F(ErrorTest, TheLoadedLibraryIsTheOneOfTheHeader) {
  const std::string version = std::to_string(SCONCE_VERSION_MAJOR) + "." +
                              std::to_string(SCONCE_VERSION_MINOR) + "." +
                              std::to_string(SCONCE_VERSION_PATCH);
  EXPECT_EQ(sconce::version(), version);
  EXPECT_EQ(sconce::abi_version(), static_cast<std::uint32_t>(SCONCE_ABI_VERSION));
}

}  // namespace
