// Messages: to the callback if there is one, else to standard error, as many as SCONCE_LOG lets
// pass.
//
// A malformed variable is the message that can be had at will. The environment is read once, at the
// start of the library, so each test runs in a process of its own.
#include <cstdlib>
#include <mutex>
#include <sconce/log.hpp>
#include <string>
#include <vector>

#include "fixture.hpp"

namespace {

struct Received {
  std::mutex mutex;
  std::vector<std::pair<std::int32_t, std::string>> messages;
};

extern "C" void receive(std::int32_t level, const char* message, void* user) {
  auto& received = *static_cast<Received*>(user);
  const std::lock_guard<std::mutex> lock(received.mutex);
  received.messages.emplace_back(level, message);
}

/// Starts the simulator with an environment that gives one warning.
void provoke_a_warning() {
  setenv("SCONCE_SIM_SMS", "many", 1);
  setenv("SCONCE_BACKEND", "sim", 1);
  sconce::init();
}

[[noreturn]] void exit_with(bool success) { std::_Exit(success ? 0 : 1); }

class LogDeathTest : public testing::Test {
 protected:
  void SetUp() override {
    testing::GTEST_FLAG(death_test_style) = "threadsafe";
    unsetenv("SCONCE_LOG");
  }
};

TEST_F(LogDeathTest, TheCallbackGetsLevelTextAndPointer) {
  EXPECT_EXIT(
      {
        Received received;
        sconce::log::set_callback(receive, &received);
        provoke_a_warning();
        const std::lock_guard<std::mutex> lock(received.mutex);
        exit_with(received.messages.size() == 1 &&
                  received.messages[0].first == static_cast<int>(sconce::log::Level::Warn) &&
                  received.messages[0].second.find("SCONCE_SIM_SMS=many") != std::string::npos);
      },
      testing::ExitedWithCode(0), "");
}

TEST_F(LogDeathTest, WithoutACallbackMessagesGoToStandardError) {
  EXPECT_EXIT(
      {
        Received received;
        sconce::log::set_callback(receive, &received);
        sconce::log::set_callback(nullptr);
        provoke_a_warning();
        const std::lock_guard<std::mutex> lock(received.mutex);
        exit_with(received.messages.empty());
      },
      testing::ExitedWithCode(0), "warning.*SCONCE_SIM_SMS=many");
}

TEST_F(LogDeathTest, OffAndErrorLetNoWarningPass) {
  for (const char* level : {"off", "error"}) {
    EXPECT_EXIT(
        {
          setenv("SCONCE_LOG", level, 1);
          Received received;
          sconce::log::set_callback(receive, &received);
          provoke_a_warning();
          const std::lock_guard<std::mutex> lock(received.mutex);
          exit_with(received.messages.empty());
        },
        testing::ExitedWithCode(0), "")
        << level;
  }
}

TEST_F(LogDeathTest, TheCallbackMayCallTheLibrary) {
  EXPECT_EXIT(
      {
        sconce::log::set_callback(
            [](std::int32_t, const char*, void*) { (void)sconce_status_name(0); });
        provoke_a_warning();
        exit_with(sconce_device_count() > 0);
      },
      testing::ExitedWithCode(0), "");
}

}  // namespace
