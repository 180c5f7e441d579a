/// \file
/// How the registry of libsconce_torch passes C++ values: each as a word, by the stable ABI of
/// PyTorch. Part of `<sconce/compat/torch.hpp>`; for `library/library.hpp`, not for programs.
#ifndef SCONCE_COMPAT_LIBRARY_WORDS_HPP
#define SCONCE_COMPAT_LIBRARY_WORDS_HPP

/// \cond
#include <sconce/c/library.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <sconce/compat/c10.hpp>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

// The functions of the ABI that libsconce_torch exports. A library object, a list, a text and a
// number are opaque.
extern "C" {
struct TorchLibraryOpaque;
std::int32_t aoti_torch_library_init_impl(const char*, const char*, const char*, std::uint32_t,
                                          TorchLibraryOpaque**);
std::int32_t aoti_torch_library_init_def(const char*, const char*, std::uint32_t,
                                         TorchLibraryOpaque**);
std::int32_t aoti_torch_library_init_fragment(const char*, const char*, std::uint32_t,
                                              TorchLibraryOpaque**);
std::int32_t aoti_torch_library_def(TorchLibraryOpaque*, const char*);
std::int32_t aoti_torch_library_impl(TorchLibraryOpaque*, const char*,
                                     void (*)(std::uint64_t*, std::uint64_t, std::uint64_t));
std::int32_t aoti_torch_delete_library_object(TorchLibraryOpaque*);
const char* torch_exception_get_what();
std::int32_t torch_new_list_reserve_size(std::size_t, void**);
std::int32_t torch_list_size(void*, std::size_t*);
std::int32_t torch_list_get_item(void*, std::size_t, std::uint64_t*);
std::int32_t torch_list_push_back(void*, std::uint64_t);
std::int32_t torch_delete_list(void*);
std::int32_t torch_new_string_handle(const char*, std::size_t, void**);
std::int32_t torch_string_length(void*, std::size_t*);
std::int32_t torch_string_c_str(void*, const char**);
std::int32_t torch_delete_string(void*);
std::int32_t torch_new_stable_ivalue(std::uint64_t**);
std::int32_t torch_delete_stable_ivalue(std::uint64_t*);
std::int32_t torch_new_scalar_int(std::int64_t, void**);
std::int32_t torch_new_scalar_double(double, void**);
std::int32_t torch_new_scalar_bool(std::int32_t, void**);
std::int32_t torch_new_scalar_complex_double(double, double, void**);
std::int32_t torch_scalar_is_int(void*, bool*);
std::int32_t torch_scalar_is_bool(void*, bool*);
std::int32_t torch_scalar_is_complex_double(void*, bool*);
std::int32_t torch_scalar_to_int(void*, std::int64_t*);
std::int32_t torch_scalar_to_double(void*, double*);
std::int32_t torch_scalar_to_complex_double(void*, double*, double*);
std::int32_t torch_delete_scalar(void*);
}

namespace sconce {
inline namespace v0 {
namespace compat {
// Each shared library has its own: its functions and its slots go with it.
#pragma GCC visibility push(hidden)
namespace library {

/// Throws if a function of the ABI failed.
inline void check(std::int32_t code) {
  if (code != 0) {
    const char* text = ::torch_exception_get_what();
    throw Error(SCONCE_ERROR_INVALID_ARGUMENT, text != nullptr ? text : "the registration failed");
  }
}

template <class... Types>
constexpr bool never = false;

/// How a type is passed: `name` in a schema, `take` and `give` words. What has no `name` is not
/// passed.
template <class T, class = void>
struct Word {
  static constexpr bool passed = false;
};

struct Passed {
  static constexpr bool passed = true;
};

template <>
struct Word<Tensor> : Passed {
  static std::string name() { return "Tensor"; }
  static Tensor take(std::uint64_t word) {
    return Tensor::adopt(reinterpret_cast<sconce_tensor*>(word));
  }
  static std::uint64_t give(const Tensor& tensor) {
    sconce_tensor* handle = tensor.get();
    ::sconce::detail::check(::sconce_tensor_retain(handle));
    return reinterpret_cast<std::uint64_t>(handle);
  }
};
template <>
struct Word<bool> : Passed {
  static std::string name() { return "bool"; }
  static bool take(std::uint64_t word) { return (word & 0xff) != 0; }
  static std::uint64_t give(bool value) { return value ? 1 : 0; }
};
template <class T>
struct Word<T, std::enable_if_t<std::is_integral_v<T> && !std::is_same_v<T, bool>>> : Passed {
  static std::string name() { return "int"; }
  static T take(std::uint64_t word) { return static_cast<T>(static_cast<std::int64_t>(word)); }
  static std::uint64_t give(T value) {
    return static_cast<std::uint64_t>(static_cast<std::int64_t>(value));
  }
};
template <class T>
struct Word<T, std::enable_if_t<std::is_floating_point_v<T>>> : Passed {
  static std::string name() { return "float"; }
  static T take(std::uint64_t word) {
    double value = 0;
    std::memcpy(&value, &word, sizeof value);
    return static_cast<T>(value);
  }
  static std::uint64_t give(T value) {
    const auto wide = static_cast<double>(value);
    std::uint64_t word = 0;
    std::memcpy(&word, &wide, sizeof word);
    return word;
  }
};
template <>
struct Word<std::string> : Passed {
  static std::string name() { return "str"; }
  static std::string take(std::uint64_t word) {
    void* handle = reinterpret_cast<void*>(word);
    std::size_t length = 0;
    const char* bytes = nullptr;
    check(::torch_string_length(handle, &length));
    check(::torch_string_c_str(handle, &bytes));
    std::string text(bytes, length);
    check(::torch_delete_string(handle));
    return text;
  }
  static std::uint64_t give(const std::string& text) {
    void* handle = nullptr;
    check(::torch_new_string_handle(text.data(), text.size(), &handle));
    return reinterpret_cast<std::uint64_t>(handle);
  }
};
/// c10's numbers of types, in the order of this library's.
inline constexpr std::int32_t type_codes[] = {6,  7,  5,  15, 1, 2,  3,  4,  0,  11, 9,
                                              10, 27, 28, 29, 8, 24, 26, 23, 25, 44, 45};
template <>
struct Word<cuda::ScalarType> : Passed {
  static std::string name() { return "ScalarType"; }
  static cuda::ScalarType take(std::uint64_t word) {
    for (std::size_t at = 0; at < std::size(type_codes); ++at) {
      if (type_codes[at] == static_cast<std::int32_t>(word)) {
        return static_cast<cuda::ScalarType>(at);
      }
    }
    throw NotSupportedError(SCONCE_ERROR_NOT_SUPPORTED,
                            "there is no element type with c10's number " +
                                std::to_string(static_cast<std::int32_t>(word)));
  }
  static std::uint64_t give(cuda::ScalarType type) {
    return static_cast<std::uint64_t>(type_codes[static_cast<std::size_t>(type)]);
  }
};
template <>
struct Word<Layout> : Passed {
  static std::string name() { return "Layout"; }
  static Layout take(std::uint64_t) { return Layout::Strided; }
  static std::uint64_t give(Layout) { return 0; }
};
template <>
struct Word<cuda::MemoryFormat> : Passed {
  // c10's order is another one.
  static constexpr cuda::MemoryFormat formats[] = {
      cuda::MemoryFormat::Contiguous, cuda::MemoryFormat::Preserve,
      cuda::MemoryFormat::ChannelsLast, cuda::MemoryFormat::ChannelsLast3d};
  static std::string name() { return "MemoryFormat"; }
  static cuda::MemoryFormat take(std::uint64_t word) { return formats[word & 3]; }
  static std::uint64_t give(cuda::MemoryFormat format) {
    std::uint64_t word = 0;
    while (formats[word] != format) {
      ++word;
    }
    return word;
  }
};
template <>
struct Word<Scalar> : Passed {
  static std::string name() { return "Scalar"; }
  static Scalar take(std::uint64_t word) {
    void* handle = reinterpret_cast<void*>(word);
    bool is_int = false;
    bool is_bool = false;
    bool is_complex = false;
    std::int64_t integer = 0;
    double real = 0;
    double imaginary = 0;
    check(::torch_scalar_is_int(handle, &is_int));
    check(::torch_scalar_is_bool(handle, &is_bool));
    check(::torch_scalar_is_complex_double(handle, &is_complex));
    if (is_int || is_bool) {
      check(::torch_scalar_to_int(handle, &integer));
    } else {
      check(::torch_scalar_to_complex_double(handle, &real, &imaginary));
    }
    check(::torch_delete_scalar(handle));
    if (is_bool) {
      return Scalar(integer != 0);
    }
    if (is_complex) {
      return Scalar(std::complex<double>(real, imaginary));
    }
    return is_int ? Scalar(integer) : Scalar(real);
  }
  static std::uint64_t give(const Scalar& scalar) {
    void* handle = nullptr;
    const sconce_scalar& value = *scalar.get();
    if (scalar.isBoolean()) {
      check(::torch_new_scalar_bool(value.integer != 0 ? 1 : 0, &handle));
    } else if (scalar.isIntegral(false)) {
      check(::torch_new_scalar_int(value.integer, &handle));
    } else if (scalar.isComplex()) {
      check(::torch_new_scalar_complex_double(value.real, value.imaginary, &handle));
    } else {
      check(::torch_new_scalar_double(value.real, &handle));
    }
    return reinterpret_cast<std::uint64_t>(handle);
  }
};
template <>
struct Word<Device> : Passed {
  static std::string name() { return "Device"; }
  static Device take(std::uint64_t word) {
    if (word >> 32 == 0) {
      return Device(DeviceType::CPU);
    }
    return Device(DeviceType::CUDA, static_cast<DeviceIndex>(static_cast<std::int32_t>(word)));
  }
  static std::uint64_t give(Device device) {
    const auto index = static_cast<std::uint32_t>(static_cast<std::int32_t>(device.index()));
    return (device.is_cuda() ? std::uint64_t{1} << 32 : 0) | index;
  }
};

template <class T>
struct Word<std::optional<T>, std::enable_if_t<Word<T>::passed>> : Passed {
  static std::string name() { return Word<T>::name() + "?"; }
  static std::optional<T> take(std::uint64_t word) {
    if (word == 0) {
      return std::nullopt;
    }
    auto* place = reinterpret_cast<std::uint64_t*>(word);
    const std::uint64_t inner = *place;
    check(::torch_delete_stable_ivalue(place));
    return Word<T>::take(inner);
  }
  static std::uint64_t give(const std::optional<T>& value) {
    if (!value) {
      return 0;
    }
    std::uint64_t* place = nullptr;
    check(::torch_new_stable_ivalue(&place));
    *place = Word<T>::give(*value);
    return reinterpret_cast<std::uint64_t>(place);
  }
};

template <class T>
struct Word<std::vector<T>, std::enable_if_t<Word<T>::passed>> : Passed {
  static std::string name() { return Word<T>::name() + "[]"; }
  static std::vector<T> take(std::uint64_t word) {
    void* list = reinterpret_cast<void*>(word);
    std::size_t size = 0;
    check(::torch_list_size(list, &size));
    std::vector<T> values;
    values.reserve(size);
    for (std::size_t at = 0; at < size; ++at) {
      std::uint64_t item = 0;
      check(::torch_list_get_item(list, at, &item));
      values.push_back(Word<T>::take(item));
    }
    check(::torch_delete_list(list));
    return values;
  }
  static std::uint64_t give(const std::vector<T>& values) {
    void* list = nullptr;
    check(::torch_new_list_reserve_size(values.size(), &list));
    for (const T& value : values) {
      check(::torch_list_push_back(list, Word<T>::give(value)));
    }
    return reinterpret_cast<std::uint64_t>(list);
  }
};
template <class T, std::size_t N>
struct Word<std::array<T, N>, std::enable_if_t<Word<T>::passed>> : Passed {
  static std::string name() { return Word<T>::name() + "[" + std::to_string(N) + "]"; }
  static std::array<T, N> take(std::uint64_t word) {
    const std::vector<T> values = Word<std::vector<T>>::take(word);
    TORCH_CHECK(values.size() == N, "expected ", N, " elements, but got ", values.size());
    std::array<T, N> all;
    for (std::size_t at = 0; at < N; ++at) {
      all[at] = values[at];
    }
    return all;
  }
  static std::uint64_t give(const std::array<T, N>& values) {
    return Word<std::vector<T>>::give(std::vector<T>(values.begin(), values.end()));
  }
};

/// What holds an argument while the function runs: views hold their elements.
template <class T>
struct Holder {
  using type = T;
};
template <>
struct Holder<IntArrayRef> {
  using type = std::vector<std::int64_t>;
};
template <class T>
struct Holder<c10::AnyArrayRef<T>> {
  using type = std::vector<T>;
};
template <>
struct Holder<std::string_view> {
  using type = std::string;
};
template <class T>
struct Holder<std::optional<T>> {
  using type = std::optional<typename Holder<T>::type>;
};
template <class T>
using Held = typename Holder<std::remove_cv_t<std::remove_reference_t<T>>>::type;

/// The argument that a function takes, of what holds it.
template <class Argument, class Of>
decltype(auto) argument(Of& held) {
  using Bare = std::remove_cv_t<std::remove_reference_t<Argument>>;
  if constexpr (std::is_same_v<Bare, Of>) {
    return static_cast<Of&>(held);
  } else if constexpr (std::is_constructible_v<Bare, Of&>) {
    return Bare(held);
  } else {  // an optional view
    return held ? Bare(*held) : Bare();
  }
}

/// The results of a function, as words.
template <class R>
struct Results {
  using Bare = std::remove_cv_t<std::remove_reference_t<R>>;
  static constexpr bool passed = Word<Bare>::passed;
  static std::string name() { return Word<Bare>::name(); }
  static void give(const Bare& value, std::uint64_t* stack) { stack[0] = Word<Bare>::give(value); }
};
template <class... Types>
struct Results<std::tuple<Types...>> {
  static constexpr bool passed = (Word<std::decay_t<Types>>::passed && ...);
  static std::string name() {
    std::string text;
    ((text += (text.empty() ? "" : ", ") + Word<std::decay_t<Types>>::name()), ...);
    return "(" + text + ")";
  }
  static void give(const std::tuple<Types...>& values, std::uint64_t* stack) {
    std::apply(
        [&](const auto&... each) {
          ((*stack++ = Word<std::decay_t<decltype(each)>>::give(each)), ...);
        },
        values);
  }
};
template <class A, class B>
struct Results<std::pair<A, B>> : Results<std::tuple<A, B>> {};
template <>
struct Results<void> {
  static constexpr bool passed = true;
  static std::string name() { return "()"; }
};

}  // namespace library
#pragma GCC visibility pop
}  // namespace compat
}  // namespace v0
}  // namespace sconce
/// \endcond

#endif  // SCONCE_COMPAT_LIBRARY_WORDS_HPP
