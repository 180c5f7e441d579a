#pragma once

/// The sanitizer in programs of GoogleTest: a test fails if there were reports. Needs GoogleTest's
/// headers, which no other header does.

#include <gtest/gtest.h>

#include <cstdint>
#include <sconce/cuda/sanitizer.hpp>

namespace sconce {
inline namespace v0 {
namespace sanitizer {

/// Fails each test in which there were reports, with their texts.
class GtestListener : public testing::EmptyTestEventListener {
 public:
  /// Switches the sanitizer on if a test before has switched it off, and forgets the reports of
  /// tests before, so that their places are reported again.
  void OnTestStart(const testing::TestInfo& /*test*/) override {
    if (!is_enabled()) {
      enable();
    }
    reset();
  }

  /// Fails the test if there are reports.
  void OnTestEnd(const testing::TestInfo& /*test*/) override {
    for (std::int64_t index = 0; index < report_count(); ++index) {
      ADD_FAILURE() << "the sanitizer reports: " << report(index).text;
    }
  }
};

/// Switches the sanitizer on, and fails each test of the program in which there are reports.
/// Belongs between `testing::InitGoogleTest` and `RUN_ALL_TESTS`, before the first call that needs
/// a device.
/// \throws Error `SCONCE_ERROR_INVALID_STATE` if the library was opened without the sanitizer
inline void add_gtest_listener() {
  enable();
  testing::UnitTest::GetInstance()->listeners().Append(new GtestListener);
}

}  // namespace sanitizer
}  // namespace v0
}  // namespace sconce
