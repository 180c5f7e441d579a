// Calls of foreign C++ functions. An exception that one throws ends here: it becomes a text, and
// never reaches a frame of Rust. Compiled by the build script; declared for Rust in foreign/mod.rs.
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <exception>
// A model that a newer compiler made leaves it to the C++ library to initialise its streams; an
// older one does so for libraries that include this.
#include <iostream>
#include <stdexcept>
#include <string>

// Keeps a text as that of the thread's newest failure; in Rust.
extern "C" void sconce_torch_record(const char* text) noexcept;

namespace {

// The result of a call that threw, which no compiled model or kernel library returns.
constexpr std::int32_t threw = -0x5c0ce;

void write(char* text, std::size_t capacity, const char* what) {
  if (capacity != 0) {
    std::snprintf(text, capacity, "%s", what);
  }
}

template <class Call>
std::int32_t caught(char* text, std::size_t capacity, Call&& call) noexcept {
  try {
    return call();
  } catch (const std::exception& error) {
    write(text, capacity, error.what());
  } catch (...) {
    write(text, capacity, "an exception that is no std::exception");
  }
  return threw;
}

}  // namespace

extern "C" {

// A boxed kernel of a kernel library: arguments and results on a stack of words.
std::int32_t sconce_torch_call_boxed(void (*kernel)(std::uint64_t*, std::uint64_t, std::uint64_t),
                                     std::uint64_t* stack, std::uint64_t arguments,
                                     std::uint64_t results, char* text,
                                     std::size_t capacity) noexcept {
  return caught(text, capacity, [&] {
    kernel(stack, arguments, results);
    return std::int32_t{0};
  });
}

// What `aoti_torch_check` jumps to: throws in the model that called, and the model catches.
void sconce_torch_check(bool condition, const char* function, const char* file, std::uint32_t line,
                        const char* message) {
  if (condition) {
    return;
  }
  const auto text = [](const char* chars) { return chars == nullptr ? "" : chars; };
  const std::string what = std::string(text(message)) + " (" + text(function) + ", " + text(file) +
                           ":" + std::to_string(line) + ")";
  sconce_torch_record(what.c_str());
  throw std::runtime_error(what);
}

// Makes the call of a custom operator; 0 if it succeeded. In Rust.
std::int32_t sconce_torch_call_operator(const void* operators, std::int32_t index,
                                        std::int32_t int_count, const std::int64_t* ints,
                                        std::int32_t tensor_count, void* const* tensors) noexcept;

// The text of the thread's newest failure; in Rust.
const char* torch_exception_get_what() noexcept;

// What `aoti_torch_proxy_executor_call_function` jumps to. The model does not look at the result,
// so a failure is thrown in the model that called, and the model catches.
std::int32_t sconce_torch_throw_from_operator(const void* operators, std::int32_t index,
                                              std::int32_t int_count, const std::int64_t* ints,
                                              std::int32_t tensor_count, void* const* tensors) {
  if (sconce_torch_call_operator(operators, index, int_count, ints, tensor_count, tensors) != 0) {
    throw std::runtime_error(torch_exception_get_what());
  }
  return 0;
}

// A function of a compiled model. Its arguments are pointers and numbers of a pointer's size, which
// the calling conventions of Linux pass in the same way; those that the function does not have are
// ignored.
std::int32_t sconce_torch_call_model(
    std::int32_t (*function)(std::uintptr_t, std::uintptr_t, std::uintptr_t, std::uintptr_t,
                             std::uintptr_t, std::uintptr_t, std::uintptr_t),
    const std::uintptr_t* arguments, char* text, std::size_t capacity) noexcept {
  return caught(text, capacity, [&] {
    return function(arguments[0], arguments[1], arguments[2], arguments[3], arguments[4],
                    arguments[5], arguments[6]);
  });
}

}  // extern "C"
