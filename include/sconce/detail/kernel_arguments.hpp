/// \file
/// What kernels receive for the arguments of a launch. Part of `<sconce/cuda/kernel.hpp>`.
#ifndef SCONCE_DETAIL_KERNEL_ARGUMENTS_HPP
#define SCONCE_DETAIL_KERNEL_ARGUMENTS_HPP

#include <sconce/c/library.h>

#include <sconce/cuda/error.hpp>
#include <sconce/cuda/span.hpp>
#include <sconce/detail/operand.hpp>
#include <type_traits>
#include <utility>

namespace sconce {
inline namespace v0 {
namespace detail {

template <class T, class = void>
inline constexpr bool has_data_ptr_v = false;
template <class T>
inline constexpr bool has_data_ptr_v<
    T, std::enable_if_t<std::is_same_v<decltype(std::declval<const T&>().data_ptr()), void*>>> =
    true;

template <class T>
inline constexpr bool is_host_view_v = false;
template <class T>
inline constexpr bool is_host_view_v<cuda::Span<T>> = true;

template <class T, class = void>
inline constexpr bool has_place_v = false;
template <class T>
inline constexpr bool has_place_v<T, std::void_t<decltype(std::declval<const T&>().is_cpu()),
                                                 decltype(std::declval<const T&>().is_pinned())>> =
    true;

/// Throws for a tensor in ordinary host memory. A launch with its address would fail the device.
template <class T>
void refuse_host_tensor(const T& argument) {
  if constexpr (has_place_v<T>) {
    if (argument.is_cpu() && !argument.is_pinned()) {
      throw_error(SCONCE_ERROR_INVALID_ARGUMENT,
                  "a kernel cannot use a tensor in ordinary host memory: copy it with cuda(), "
                  "page-lock it with pin_memory(), or pass data_ptr() if the device can access "
                  "that memory");
    }
  }
}

/// Returns the value that a kernel receives for an argument: the address of the elements of a
/// tensor, a buffer or a `DeviceSpan`, and the argument itself otherwise.
template <class Argument>
auto kernel_argument(Argument& argument) {
  using T = std::remove_const_t<Argument>;
  if constexpr (has_data_ptr_v<T>) {
    refuse_host_tensor(argument);
    return argument.data_ptr();
  } else if constexpr (is_device_view_v<T>) {
    return argument.data();
  } else if constexpr (has_bytes_v<Argument>) {
    return argument.get();
  } else if constexpr (std::is_null_pointer_v<T>) {
    return static_cast<void*>(nullptr);
  } else {
    static_assert(!is_host_view_v<T>,
                  "a kernel cannot read a Span of host memory: copy it to the device");
    static_assert(!std::is_array_v<T>,
                  "an array is no argument of a kernel: pass a struct that contains it");
    static_assert(
        std::is_trivially_copyable_v<T>,
        "an argument of a kernel is copied byte by byte: pass a trivially copyable value, "
        "a tensor, a buffer or a DeviceSpan");
    return argument;
  }
}

/// Returns an argument as a parameter of type `Parameter`.
template <class Parameter, class Argument>
Parameter kernel_argument_as(Argument& argument) {
  using T = std::remove_const_t<Argument>;
  if constexpr (has_data_ptr_v<T> && std::is_pointer_v<Parameter>) {
    refuse_host_tensor(argument);
    using Element = std::remove_cv_t<std::remove_pointer_t<Parameter>>;
    if constexpr (std::is_void_v<Element>) {
      return argument.data_ptr();
    } else if constexpr (scalar_type_v<Element>.has_value()) {
      return argument.template data_ptr<Element>();  // checks the tensor's type
    } else {
      return static_cast<Parameter>(argument.data_ptr());
    }
  } else if constexpr (has_bytes_v<Argument> && !is_device_view_v<T> &&
                       std::is_pointer_v<Parameter>) {
    using Target = std::remove_pointer_t<Parameter>;
    static_assert(std::is_const_v<Target> ||
                      !std::is_const_v<std::remove_pointer_t<decltype(argument.get())>>,
                  "the kernel may write to its parameter, but the buffer is const");
    return static_cast<Parameter>(argument.get());
  } else {
    static_assert(std::is_convertible_v<decltype(kernel_argument(argument)), Parameter>,
                  "an argument does not convert to the kernel's parameter");
    return static_cast<Parameter>(kernel_argument(argument));
  }
}

}  // namespace detail
}  // namespace v0
}  // namespace sconce

#endif  // SCONCE_DETAIL_KERNEL_ARGUMENTS_HPP
