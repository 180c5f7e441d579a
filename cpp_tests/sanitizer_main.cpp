// The sanitizer's tests: it is on from the start. Children start without it, or otherwise.
#include <cstdio>
#include <exception>
#include <string>

#include "process/process.hpp"
#include "sanitizer_support.hpp"

namespace {

using namespace sconce::sanitizer;
using process::expect;
using support::race;
using support::status_or_ok;

/// Reports are off: nothing is followed, and they cannot be switched on any more.
int without() {
  support::started();
  expect(!is_enabled() && report_count() == 0, "the sanitizer is off");
  race();
  expect(!is_enabled() && report_count() == 0, "nothing is reported");
  expect(status_or_ok([] { enable(); }) == SCONCE_ERROR_INVALID_STATE, "enable comes too late");
  expect(status_or_ok([] { return report(0); }) == SCONCE_ERROR_INVALID_STATE, "no report");
  expect(sconce_sanitizer_set_callback(nullptr, nullptr) == SCONCE_ERROR_INVALID_STATE,
         "no callback");
  std::int64_t all = -1;
  std::int64_t unknown = -1;
  expect(sconce_sanitizer_get_operations(&all, &unknown) == SCONCE_OK && all == 0 && unknown == 0,
         "no operations are counted");
  reset();
  disable();
  expect(!is_enabled(), "the sanitizer stays off");
  return process::failed ? 1 : 0;
}

/// Reports are on: 20 races whose names JSON has to escape.
int races() {
  support::started();
  expect(is_enabled(), "the sanitizer is on");
  for (int i = 0; i < 20; ++i) {
    race("\"quoted\\\" \n\t" + std::to_string(i) + std::string(500, 'x'));
  }
  expect(report_count() == 20, "each race is reported");
  return process::failed ? 1 : 0;
}

int child(const std::string& name, int count, char** arguments) {
  if (name == "disabled") {
    enable();
    disable();
    return without();
  }
  if (name == "without") {
    return without();
  }
  if (name == "races") {
    return races();
  }
  if (name == "aborts") {
    enable(Mode::Abort);
    support::started();
    race();
    std::puts("still here");
    return 0;
  }
  if (name == "hang") {
    return support::run_hang(count, arguments);
  }
  return support::run_as_child(count, arguments);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc > 2 && std::string(argv[1]) == "--child") {
    try {
      return child(argv[2], argc - 2, argv + 2);
    } catch (const std::exception& error) {
      std::fprintf(stderr, "stopped by %s\n", error.what());
      return 1;
    }
  }
  enable();
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
