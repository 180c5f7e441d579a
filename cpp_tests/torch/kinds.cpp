// A kernel library for the tests of <sconce/torch/op.hpp>. Its operators tell what they were
// passed, and return a value of each kind.
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <string>

#include "abi.hpp"

extern "C" std::int32_t torch_new_string_handle(const char*, std::size_t, void**);

namespace {

std::uint64_t word_of(const std::string& text) {
  void* handle = nullptr;
  check(torch_new_string_handle(text.data(), text.size(), &handle));
  return reinterpret_cast<std::uint64_t>(handle);
}

std::uint64_t word_of(double value) {
  std::uint64_t word = 0;
  std::memcpy(&word, &value, sizeof(word));
  return word;
}

std::string text_of(std::uint64_t word) {
  void* handle = reinterpret_cast<void*>(word);
  const char* chars = nullptr;
  check(torch_string_c_str(handle, &chars));
  const std::string text = chars;
  check(torch_delete_string(handle));
  return text;
}

// What a word is, whose type is in letters: `?` and `[` stand before the type that they are of.
// What the word owns is freed.
std::string told(std::uint64_t word, const char* type) {
  switch (*type) {
    case '?': {
      if (word == 0) {
        return "None";
      }
      const auto* place = reinterpret_cast<std::uint64_t*>(word);
      const std::uint64_t inner = *place;
      delete place;
      return told(inner, type + 1);
    }
    case '[': {
      void* list = reinterpret_cast<void*>(word);
      std::size_t size = 0;
      check(torch_list_size(list, &size));
      std::string text = "[";
      for (std::size_t at = 0; at < size; ++at) {
        std::uint64_t item = 0;
        check(torch_list_get_item(list, at, &item));
        text += (at == 0 ? "" : " ") + told(item, type + 1);
      }
      check(torch_delete_list(list));
      return text + "]";
    }
    case 'T': {
      const Handle tensor(word);
      return "T" + std::to_string(tensor.numel());
    }
    case 'i':
      return std::to_string(static_cast<std::int64_t>(word));
    case 'f':
      return std::to_string(real(word));
    case 'b':
      return (word & 0xff) != 0 ? "true" : "false";
    case 's':
      return "'" + text_of(word) + "'";
    case 't':
      return "dtype " + std::to_string(static_cast<std::int32_t>(word));
    case 'd':
      return "device " + std::to_string(word >> 32) + ":" +
             std::to_string(static_cast<std::int32_t>(word));
    default:
      throw std::logic_error("a type that the test does not have");
  }
}

// Replaces arguments by a text that tells them.
template <std::size_t Count>
void tell(std::uint64_t* stack, const std::array<const char*, Count>& types) {
  std::string text;
  for (std::size_t at = 0; at < types.size(); ++at) {
    text += (at == 0 ? "" : ", ") + told(stack[at], types[at]);
  }
  stack[0] = word_of(text);
}

void plain(std::uint64_t* stack, std::uint64_t, std::uint64_t) {
  tell<7>(stack, {"T", "i", "f", "b", "s", "t", "d"});
}

void optional(std::uint64_t* stack, std::uint64_t, std::uint64_t) {
  tell<7>(stack, {"?T", "?i", "?f", "?b", "?s", "?t", "?d"});
}

void lists(std::uint64_t* stack, std::uint64_t, std::uint64_t) {
  tell<7>(stack, {"[T", "[?T", "[i", "[f", "[b", "[s", "?[i"});
}

// kinds(Tensor x) -> (Tensor, Tensor[], int, float, bool, str, Tensor?, ScalarType, Device)
void kinds(std::uint64_t* stack, std::uint64_t, std::uint64_t) {
  Handle x(stack[0]);
  void* list = nullptr;
  check(torch_new_list_reserve_size(2, &list));
  check(torch_list_push_back(list, x.word()));
  check(torch_list_push_back(list, x.word()));
  stack[1] = reinterpret_cast<std::uint64_t>(list);
  stack[2] = static_cast<std::uint64_t>(-7);
  stack[3] = word_of(0.25);
  stack[4] = 1;
  stack[5] = word_of("a text");
  stack[6] = 0;
  // c10's numbers: int64, and the second device of CUDA.
  stack[7] = 4;
  stack[8] = (std::uint64_t{1} << 32) | 1;
  stack[0] = x.release();
}

// increment(Tensor(a!) x) -> ()
void increment(std::uint64_t* stack, std::uint64_t, std::uint64_t) {
  const Handle x(stack[0]);
  for (std::int64_t at = 0; at < x.numel(); ++at) {
    x.data()[at] += 1;
  }
}

// increment.by(Tensor(a!) x, float by) -> Tensor(a!)
void increment_by(std::uint64_t* stack, std::uint64_t, std::uint64_t) {
  Handle x(stack[0]);
  for (std::int64_t at = 0; at < x.numel(); ++at) {
    x.data()[at] += static_cast<float>(real(stack[1]));
  }
  stack[0] = x.release();
}

// fails(str why) -> ()
void fails(std::uint64_t* stack, std::uint64_t, std::uint64_t) {
  throw std::runtime_error(text_of(stack[0]));
}

const Registered schemas(nullptr, [](void* library) {
  for (const char* schema :
       {"plain(Tensor x, int i=3, float f=0.5, bool b=True, str s=\"none\", ScalarType t=float32, "
        "Device d=None) -> str",
        "optional(Tensor? x=None, int? i=None, float? f=None, bool? b=None, str? s=None, "
        "ScalarType? t=None, Device? d=None) -> str",
        "lists(Tensor[] x=[], Tensor?[] o=[], int[] i=[], float[] f=[], bool[] b=[], str[] s=[], "
        "int[]? n=None) -> str",
        "kinds(Tensor x) -> (Tensor, Tensor[], int, float, bool, str, Tensor?, ScalarType, Device)",
        "increment(Tensor(a!) x) -> ()", "increment.by(Tensor(a!) x, float by) -> Tensor(a!)",
        "fails(str why) -> ()"}) {
    check(aoti_torch_library_def(library, schema));
  }
});
const Registered any("CompositeExplicitAutograd", [](void* library) {
  check(torch_library_impl(library, "plain", plain, version));
  check(torch_library_impl(library, "optional", optional, version));
  check(torch_library_impl(library, "lists", lists, version));
  check(torch_library_impl(library, "kinds", kinds, version));
  check(torch_library_impl(library, "fails", fails, version));
});
const Registered cpu("CPU", [](void* library) {
  check(torch_library_impl(library, "increment", increment, version));
  check(torch_library_impl(library, "increment.by", increment_by, version));
});

}  // namespace
