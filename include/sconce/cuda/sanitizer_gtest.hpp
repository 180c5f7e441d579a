#pragma once

/// The sanitizer in programs of GoogleTest: a test fails if there were reports. Needs GoogleTest's
/// headers, which no other header does.

#include <gtest/gtest.h>

#include <cstdint>
#include <sconce/cuda/sanitizer.hpp>

namespace sconce {
inline namespace v0 {
namespace sanitizer {

/// Fails each test in which there were reports, with their texts. Reports between tests fail what
/// they belong to: those of a suite's set-up its first test, those of its tear-down the suite, and
/// those of environments the program.
class GtestListener : public testing::EmptyTestEventListener {
 public:
  /// `check`: each test ends with `sanitizer::check`, so that what it wrote behind the end of a
  /// block fails this test, and not a later one that waits.
  explicit GtestListener(bool check = true) noexcept : check_(check) {}

  /// Fails the test with the reports of the set-up before it, and forgets them, so that their
  /// places are reported again. Switches the sanitizer on if a test before has switched it off.
  void OnTestStart(const testing::TestInfo& /*test*/) override {
    if (!is_enabled()) {
      enable();
    }
    fail();
  }

  /// Fails the test if there are reports.
  void OnTestEnd(const testing::TestInfo& /*test*/) override {
    if (check_) {
      // While a stream is being captured nothing can be waited for; the next test's end does it.
      static_cast<void>(::sconce_sanitizer_check());
    }
    fail();
  }

  /// Fails the suite if its tear-down brought reports.
  void OnTestSuiteEnd(const testing::TestSuite& /*suite*/) override { fail(); }

  /// Fails the program if the tear-down of its environments brought reports.
  void OnTestIterationEnd(const testing::UnitTest& /*unit*/, int /*iteration*/) override { fail(); }

 private:
  static void fail() {
    for (std::int64_t index = 0; index < report_count(); ++index) {
      ADD_FAILURE() << "the sanitizer reports: " << report(index).text;
    }
    reset();
  }

  bool check_;
};

/// Switches the sanitizer on, and fails each test of the program in which there are reports.
/// Belongs between `testing::InitGoogleTest` and `RUN_ALL_TESTS`, before the first call that needs
/// a device.
///
/// \param check whether each test ends with a wait for the devices that have live blocks, and a
///   look at what was written behind the ends of blocks; without, the next test that waits may fail
///   in its place. No test may then leave the simulator in manual mode.
/// \throws Error `SCONCE_ERROR_INVALID_STATE` if the library was opened without the sanitizer
inline void add_gtest_listener(bool check = true) {
  enable();
  testing::UnitTest::GetInstance()->listeners().Append(new GtestListener(check));
}

}  // namespace sanitizer
}  // namespace v0
}  // namespace sconce
