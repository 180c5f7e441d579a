// Libraries that the build makes for these tests.
#ifndef SCONCE_TORCH_TEST_FILES_HPP
#define SCONCE_TORCH_TEST_FILES_HPP

#include <string>
#include <utility>

#include "fixture.hpp"

namespace support {

/// What a failing action says.
template <class Action>
std::string words_of(Action&& action) {
  return error_of(std::forward<Action>(action)).what();
}

inline std::string file(const std::string& name) {
  return std::string(SCONCE_TEST_FILES) + "/" + name;
}

}  // namespace support

#endif
