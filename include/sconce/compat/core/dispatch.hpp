/// \file
/// ATen's dispatch over element types, for code written for ATen. Part of
/// `<sconce/compat/c10.hpp>`.
///
/// The macros call a lambda with `scalar_t` as the C++ type of a `ScalarType`: numbers of 8 and 16
/// bits and complex ones are those of `compat/numbers`, which compute. Each macro is defined only
/// if it is not defined yet.
#ifndef SCONCE_COMPAT_CORE_DISPATCH_HPP
#define SCONCE_COMPAT_CORE_DISPATCH_HPP

#include <sconce/compat/core/macros.hpp>
#include <sconce/compat/numbers/types.hpp>
#include <sconce/cuda/scalar_type.hpp>

/// \cond
#ifndef AT_DISPATCH_CASE
#define AT_DISPATCH_CASE(type, ...)                                            \
  case type: {                                                                 \
    using scalar_t [[maybe_unused]] = ::sconce::compat::detail::CppType<type>; \
    return __VA_ARGS__();                                                      \
  }
#define AT_DISPATCH_SWITCH(type, name, ...)                                           \
  [&] {                                                                               \
    const ::sconce::cuda::ScalarType c10_compat_type = (type);                        \
    switch (c10_compat_type) {                                                        \
      __VA_ARGS__                                                                     \
      default:                                                                        \
        TORCH_CHECK_NOT_IMPLEMENTED(false, '"', name, "\" not implemented for '",     \
                                    ::sconce::cuda::toString(c10_compat_type), '\''); \
    }                                                                                 \
  }()
#define SCONCE_C10_COMPAT_CASE(type, ...) \
  AT_DISPATCH_CASE(::sconce::cuda::ScalarType::type, __VA_ARGS__)

// Each group of types as cases and as a whole, and with up to eight more types, each of which adds
// a case to the macro before.

#define AT_DISPATCH_CASE_FLOATING_TYPES(...)  \
  SCONCE_C10_COMPAT_CASE(Double, __VA_ARGS__) \
  SCONCE_C10_COMPAT_CASE(Float, __VA_ARGS__)
#define AT_DISPATCH_FLOATING_TYPES(type, name, ...) \
  AT_DISPATCH_SWITCH(type, name, AT_DISPATCH_CASE_FLOATING_TYPES(__VA_ARGS__))
#define AT_DISPATCH_CASE_FLOATING_TYPES_AND_HALF(...) \
  AT_DISPATCH_CASE_FLOATING_TYPES(__VA_ARGS__) SCONCE_C10_COMPAT_CASE(Half, __VA_ARGS__)
#define AT_DISPATCH_FLOATING_TYPES_AND_HALF(type, name, ...) \
  AT_DISPATCH_SWITCH(type, name, AT_DISPATCH_CASE_FLOATING_TYPES_AND_HALF(__VA_ARGS__))
#define AT_DISPATCH_CASE_FLOATING_TYPES_AND(more1, ...) \
  AT_DISPATCH_CASE_FLOATING_TYPES(__VA_ARGS__) AT_DISPATCH_CASE(more1, __VA_ARGS__)
#define AT_DISPATCH_FLOATING_TYPES_AND(more1, type, name, ...) \
  AT_DISPATCH_SWITCH(type, name, AT_DISPATCH_CASE_FLOATING_TYPES_AND(more1, __VA_ARGS__))
#define AT_DISPATCH_CASE_FLOATING_TYPES_AND2(more1, more2, ...) \
  AT_DISPATCH_CASE_FLOATING_TYPES_AND(more1, __VA_ARGS__) AT_DISPATCH_CASE(more2, __VA_ARGS__)
#define AT_DISPATCH_FLOATING_TYPES_AND2(more1, more2, type, name, ...) \
  AT_DISPATCH_SWITCH(type, name, AT_DISPATCH_CASE_FLOATING_TYPES_AND2(more1, more2, __VA_ARGS__))
#define AT_DISPATCH_CASE_FLOATING_TYPES_AND3(more1, more2, more3, ...) \
  AT_DISPATCH_CASE_FLOATING_TYPES_AND2(more1, more2, __VA_ARGS__)      \
  AT_DISPATCH_CASE(more3, __VA_ARGS__)
#define AT_DISPATCH_FLOATING_TYPES_AND3(more1, more2, more3, type, name, ...) \
  AT_DISPATCH_SWITCH(type, name,                                              \
                     AT_DISPATCH_CASE_FLOATING_TYPES_AND3(more1, more2, more3, __VA_ARGS__))
#define AT_DISPATCH_CASE_FLOATING_TYPES_AND4(more1, more2, more3, more4, ...) \
  AT_DISPATCH_CASE_FLOATING_TYPES_AND3(more1, more2, more3, __VA_ARGS__)      \
  AT_DISPATCH_CASE(more4, __VA_ARGS__)
#define AT_DISPATCH_FLOATING_TYPES_AND4(more1, more2, more3, more4, type, name, ...) \
  AT_DISPATCH_SWITCH(                                                                \
      type, name, AT_DISPATCH_CASE_FLOATING_TYPES_AND4(more1, more2, more3, more4, __VA_ARGS__))
#define AT_DISPATCH_CASE_FLOATING_TYPES_AND5(more1, more2, more3, more4, more5, ...) \
  AT_DISPATCH_CASE_FLOATING_TYPES_AND4(more1, more2, more3, more4, __VA_ARGS__)      \
  AT_DISPATCH_CASE(more5, __VA_ARGS__)
#define AT_DISPATCH_FLOATING_TYPES_AND5(more1, more2, more3, more4, more5, type, name, ...) \
  AT_DISPATCH_SWITCH(                                                                       \
      type, name,                                                                           \
      AT_DISPATCH_CASE_FLOATING_TYPES_AND5(more1, more2, more3, more4, more5, __VA_ARGS__))
#define AT_DISPATCH_CASE_REDUCED_FLOATING_TYPES(...) \
  SCONCE_C10_COMPAT_CASE(Half, __VA_ARGS__)          \
  SCONCE_C10_COMPAT_CASE(BFloat16, __VA_ARGS__)
#define AT_DISPATCH_REDUCED_FLOATING_TYPES(type, name, ...) \
  AT_DISPATCH_SWITCH(type, name, AT_DISPATCH_CASE_REDUCED_FLOATING_TYPES(__VA_ARGS__))
#define AT_DISPATCH_CASE_COMPLEX_TYPES(...)          \
  SCONCE_C10_COMPAT_CASE(ComplexDouble, __VA_ARGS__) \
  SCONCE_C10_COMPAT_CASE(ComplexFloat, __VA_ARGS__)
#define AT_DISPATCH_COMPLEX_TYPES(type, name, ...) \
  AT_DISPATCH_SWITCH(type, name, AT_DISPATCH_CASE_COMPLEX_TYPES(__VA_ARGS__))
#define AT_DISPATCH_CASE_COMPLEX_TYPES_AND(more1, ...) \
  AT_DISPATCH_CASE_COMPLEX_TYPES(__VA_ARGS__) AT_DISPATCH_CASE(more1, __VA_ARGS__)
#define AT_DISPATCH_COMPLEX_TYPES_AND(more1, type, name, ...) \
  AT_DISPATCH_SWITCH(type, name, AT_DISPATCH_CASE_COMPLEX_TYPES_AND(more1, __VA_ARGS__))
#define AT_DISPATCH_CASE_FLOATING_AND_COMPLEX_TYPES(...) \
  AT_DISPATCH_CASE_FLOATING_TYPES(__VA_ARGS__) AT_DISPATCH_CASE_COMPLEX_TYPES(__VA_ARGS__)
#define AT_DISPATCH_FLOATING_AND_COMPLEX_TYPES(type, name, ...) \
  AT_DISPATCH_SWITCH(type, name, AT_DISPATCH_CASE_FLOATING_AND_COMPLEX_TYPES(__VA_ARGS__))
#define AT_DISPATCH_CASE_FLOATING_AND_COMPLEX_TYPES_AND1(more1, ...) \
  AT_DISPATCH_CASE_FLOATING_AND_COMPLEX_TYPES(__VA_ARGS__) AT_DISPATCH_CASE(more1, __VA_ARGS__)
#define AT_DISPATCH_FLOATING_AND_COMPLEX_TYPES_AND1(more1, type, name, ...) \
  AT_DISPATCH_SWITCH(type, name,                                            \
                     AT_DISPATCH_CASE_FLOATING_AND_COMPLEX_TYPES_AND1(more1, __VA_ARGS__))
#define AT_DISPATCH_CASE_FLOATING_AND_COMPLEX_TYPES_AND2(more1, more2, ...) \
  AT_DISPATCH_CASE_FLOATING_AND_COMPLEX_TYPES_AND1(more1, __VA_ARGS__)      \
  AT_DISPATCH_CASE(more2, __VA_ARGS__)
#define AT_DISPATCH_FLOATING_AND_COMPLEX_TYPES_AND2(more1, more2, type, name, ...) \
  AT_DISPATCH_SWITCH(type, name,                                                   \
                     AT_DISPATCH_CASE_FLOATING_AND_COMPLEX_TYPES_AND2(more1, more2, __VA_ARGS__))
#define AT_DISPATCH_CASE_FLOATING_AND_COMPLEX_TYPES_AND3(more1, more2, more3, ...) \
  AT_DISPATCH_CASE_FLOATING_AND_COMPLEX_TYPES_AND2(more1, more2, __VA_ARGS__)      \
  AT_DISPATCH_CASE(more3, __VA_ARGS__)
#define AT_DISPATCH_FLOATING_AND_COMPLEX_TYPES_AND3(more1, more2, more3, type, name, ...) \
  AT_DISPATCH_SWITCH(                                                                     \
      type, name,                                                                         \
      AT_DISPATCH_CASE_FLOATING_AND_COMPLEX_TYPES_AND3(more1, more2, more3, __VA_ARGS__))
#define AT_DISPATCH_CASE_FLOATING_AND_COMPLEX_TYPES_AND4(more1, more2, more3, more4, ...) \
  AT_DISPATCH_CASE_FLOATING_AND_COMPLEX_TYPES_AND3(more1, more2, more3, __VA_ARGS__)      \
  AT_DISPATCH_CASE(more4, __VA_ARGS__)
#define AT_DISPATCH_FLOATING_AND_COMPLEX_TYPES_AND4(more1, more2, more3, more4, type, name, ...) \
  AT_DISPATCH_SWITCH(                                                                            \
      type, name,                                                                                \
      AT_DISPATCH_CASE_FLOATING_AND_COMPLEX_TYPES_AND4(more1, more2, more3, more4, __VA_ARGS__))
#define AT_DISPATCH_CASE_FLOATING_AND_COMPLEX_TYPES_AND5(more1, more2, more3, more4, more5, ...) \
  AT_DISPATCH_CASE_FLOATING_AND_COMPLEX_TYPES_AND4(more1, more2, more3, more4, __VA_ARGS__)      \
  AT_DISPATCH_CASE(more5, __VA_ARGS__)
#define AT_DISPATCH_FLOATING_AND_COMPLEX_TYPES_AND5(more1, more2, more3, more4, more5, type, name, \
                                                    ...)                                           \
  AT_DISPATCH_SWITCH(type, name,                                                                   \
                     AT_DISPATCH_CASE_FLOATING_AND_COMPLEX_TYPES_AND5(more1, more2, more3, more4,  \
                                                                      more5, __VA_ARGS__))
#define AT_DISPATCH_CASE_FLOATING_AND_COMPLEX_TYPES_AND6(more1, more2, more3, more4, more5, more6, \
                                                         ...)                                      \
  AT_DISPATCH_CASE_FLOATING_AND_COMPLEX_TYPES_AND5(more1, more2, more3, more4, more5, __VA_ARGS__) \
  AT_DISPATCH_CASE(more6, __VA_ARGS__)
#define AT_DISPATCH_FLOATING_AND_COMPLEX_TYPES_AND6(more1, more2, more3, more4, more5, more6,     \
                                                    type, name, ...)                              \
  AT_DISPATCH_SWITCH(type, name,                                                                  \
                     AT_DISPATCH_CASE_FLOATING_AND_COMPLEX_TYPES_AND6(more1, more2, more3, more4, \
                                                                      more5, more6, __VA_ARGS__))
#define AT_DISPATCH_CASE_INTEGRAL_TYPES(...) \
  SCONCE_C10_COMPAT_CASE(Byte, __VA_ARGS__)  \
  SCONCE_C10_COMPAT_CASE(Char, __VA_ARGS__)  \
  SCONCE_C10_COMPAT_CASE(Int, __VA_ARGS__)   \
  SCONCE_C10_COMPAT_CASE(Long, __VA_ARGS__)  \
  SCONCE_C10_COMPAT_CASE(Short, __VA_ARGS__)
#define AT_DISPATCH_INTEGRAL_TYPES(type, name, ...) \
  AT_DISPATCH_SWITCH(type, name, AT_DISPATCH_CASE_INTEGRAL_TYPES(__VA_ARGS__))
#define AT_DISPATCH_CASE_INTEGRAL_TYPES_AND(more1, ...) \
  AT_DISPATCH_CASE_INTEGRAL_TYPES(__VA_ARGS__) AT_DISPATCH_CASE(more1, __VA_ARGS__)
#define AT_DISPATCH_INTEGRAL_TYPES_AND(more1, type, name, ...) \
  AT_DISPATCH_SWITCH(type, name, AT_DISPATCH_CASE_INTEGRAL_TYPES_AND(more1, __VA_ARGS__))
#define AT_DISPATCH_CASE_ALL_TYPES(...) \
  AT_DISPATCH_CASE_INTEGRAL_TYPES(__VA_ARGS__) AT_DISPATCH_CASE_FLOATING_TYPES(__VA_ARGS__)
#define AT_DISPATCH_ALL_TYPES(type, name, ...) \
  AT_DISPATCH_SWITCH(type, name, AT_DISPATCH_CASE_ALL_TYPES(__VA_ARGS__))
#define AT_DISPATCH_CASE_ALL_TYPES_AND(more1, ...) \
  AT_DISPATCH_CASE_ALL_TYPES(__VA_ARGS__) AT_DISPATCH_CASE(more1, __VA_ARGS__)
#define AT_DISPATCH_ALL_TYPES_AND(more1, type, name, ...) \
  AT_DISPATCH_SWITCH(type, name, AT_DISPATCH_CASE_ALL_TYPES_AND(more1, __VA_ARGS__))
#define AT_DISPATCH_CASE_ALL_TYPES_AND2(more1, more2, ...) \
  AT_DISPATCH_CASE_ALL_TYPES_AND(more1, __VA_ARGS__) AT_DISPATCH_CASE(more2, __VA_ARGS__)
#define AT_DISPATCH_ALL_TYPES_AND2(more1, more2, type, name, ...) \
  AT_DISPATCH_SWITCH(type, name, AT_DISPATCH_CASE_ALL_TYPES_AND2(more1, more2, __VA_ARGS__))
#define AT_DISPATCH_CASE_ALL_TYPES_AND3(more1, more2, more3, ...) \
  AT_DISPATCH_CASE_ALL_TYPES_AND2(more1, more2, __VA_ARGS__) AT_DISPATCH_CASE(more3, __VA_ARGS__)
#define AT_DISPATCH_ALL_TYPES_AND3(more1, more2, more3, type, name, ...) \
  AT_DISPATCH_SWITCH(type, name, AT_DISPATCH_CASE_ALL_TYPES_AND3(more1, more2, more3, __VA_ARGS__))
#define AT_DISPATCH_CASE_ALL_TYPES_AND_COMPLEX(...) \
  AT_DISPATCH_CASE_ALL_TYPES(__VA_ARGS__) AT_DISPATCH_CASE_COMPLEX_TYPES(__VA_ARGS__)
#define AT_DISPATCH_ALL_TYPES_AND_COMPLEX(type, name, ...) \
  AT_DISPATCH_SWITCH(type, name, AT_DISPATCH_CASE_ALL_TYPES_AND_COMPLEX(__VA_ARGS__))
#define AT_DISPATCH_CASE_ALL_TYPES_AND_COMPLEX_AND(more1, ...) \
  AT_DISPATCH_CASE_ALL_TYPES_AND_COMPLEX(__VA_ARGS__) AT_DISPATCH_CASE(more1, __VA_ARGS__)
#define AT_DISPATCH_ALL_TYPES_AND_COMPLEX_AND(more1, type, name, ...) \
  AT_DISPATCH_SWITCH(type, name, AT_DISPATCH_CASE_ALL_TYPES_AND_COMPLEX_AND(more1, __VA_ARGS__))
#define AT_DISPATCH_CASE_ALL_TYPES_AND_COMPLEX_AND2(more1, more2, ...) \
  AT_DISPATCH_CASE_ALL_TYPES_AND_COMPLEX_AND(more1, __VA_ARGS__)       \
  AT_DISPATCH_CASE(more2, __VA_ARGS__)
#define AT_DISPATCH_ALL_TYPES_AND_COMPLEX_AND2(more1, more2, type, name, ...) \
  AT_DISPATCH_SWITCH(type, name,                                              \
                     AT_DISPATCH_CASE_ALL_TYPES_AND_COMPLEX_AND2(more1, more2, __VA_ARGS__))
#define AT_DISPATCH_CASE_ALL_TYPES_AND_COMPLEX_AND3(more1, more2, more3, ...) \
  AT_DISPATCH_CASE_ALL_TYPES_AND_COMPLEX_AND2(more1, more2, __VA_ARGS__)      \
  AT_DISPATCH_CASE(more3, __VA_ARGS__)
#define AT_DISPATCH_ALL_TYPES_AND_COMPLEX_AND3(more1, more2, more3, type, name, ...) \
  AT_DISPATCH_SWITCH(                                                                \
      type, name, AT_DISPATCH_CASE_ALL_TYPES_AND_COMPLEX_AND3(more1, more2, more3, __VA_ARGS__))
#define AT_DISPATCH_CASE_ALL_TYPES_AND_COMPLEX_AND4(more1, more2, more3, more4, ...) \
  AT_DISPATCH_CASE_ALL_TYPES_AND_COMPLEX_AND3(more1, more2, more3, __VA_ARGS__)      \
  AT_DISPATCH_CASE(more4, __VA_ARGS__)
#define AT_DISPATCH_ALL_TYPES_AND_COMPLEX_AND4(more1, more2, more3, more4, type, name, ...) \
  AT_DISPATCH_SWITCH(                                                                       \
      type, name,                                                                           \
      AT_DISPATCH_CASE_ALL_TYPES_AND_COMPLEX_AND4(more1, more2, more3, more4, __VA_ARGS__))
#define AT_DISPATCH_CASE_ALL_TYPES_AND_COMPLEX_AND5(more1, more2, more3, more4, more5, ...) \
  AT_DISPATCH_CASE_ALL_TYPES_AND_COMPLEX_AND4(more1, more2, more3, more4, __VA_ARGS__)      \
  AT_DISPATCH_CASE(more5, __VA_ARGS__)
#define AT_DISPATCH_ALL_TYPES_AND_COMPLEX_AND5(more1, more2, more3, more4, more5, type, name, ...) \
  AT_DISPATCH_SWITCH(                                                                              \
      type, name,                                                                                  \
      AT_DISPATCH_CASE_ALL_TYPES_AND_COMPLEX_AND5(more1, more2, more3, more4, more5, __VA_ARGS__))
#define AT_DISPATCH_CASE_ALL_TYPES_AND_COMPLEX_AND6(more1, more2, more3, more4, more5, more6, ...) \
  AT_DISPATCH_CASE_ALL_TYPES_AND_COMPLEX_AND5(more1, more2, more3, more4, more5, __VA_ARGS__)      \
  AT_DISPATCH_CASE(more6, __VA_ARGS__)
#define AT_DISPATCH_ALL_TYPES_AND_COMPLEX_AND6(more1, more2, more3, more4, more5, more6, type, \
                                               name, ...)                                      \
  AT_DISPATCH_SWITCH(type, name,                                                               \
                     AT_DISPATCH_CASE_ALL_TYPES_AND_COMPLEX_AND6(more1, more2, more3, more4,   \
                                                                 more5, more6, __VA_ARGS__))
#define AT_DISPATCH_CASE_ALL_TYPES_AND_COMPLEX_AND7(more1, more2, more3, more4, more5, more6, \
                                                    more7, ...)                               \
  AT_DISPATCH_CASE_ALL_TYPES_AND_COMPLEX_AND6(more1, more2, more3, more4, more5, more6,       \
                                              __VA_ARGS__)                                    \
  AT_DISPATCH_CASE(more7, __VA_ARGS__)
#define AT_DISPATCH_ALL_TYPES_AND_COMPLEX_AND7(more1, more2, more3, more4, more5, more6, more7, \
                                               type, name, ...)                                 \
  AT_DISPATCH_SWITCH(type, name,                                                                \
                     AT_DISPATCH_CASE_ALL_TYPES_AND_COMPLEX_AND7(                               \
                         more1, more2, more3, more4, more5, more6, more7, __VA_ARGS__))
#define AT_DISPATCH_CASE_ALL_TYPES_AND_COMPLEX_AND8(more1, more2, more3, more4, more5, more6,  \
                                                    more7, more8, ...)                         \
  AT_DISPATCH_CASE_ALL_TYPES_AND_COMPLEX_AND7(more1, more2, more3, more4, more5, more6, more7, \
                                              __VA_ARGS__)                                     \
  AT_DISPATCH_CASE(more8, __VA_ARGS__)
#define AT_DISPATCH_ALL_TYPES_AND_COMPLEX_AND8(more1, more2, more3, more4, more5, more6, more7, \
                                               more8, type, name, ...)                          \
  AT_DISPATCH_SWITCH(type, name,                                                                \
                     AT_DISPATCH_CASE_ALL_TYPES_AND_COMPLEX_AND8(                               \
                         more1, more2, more3, more4, more5, more6, more7, more8, __VA_ARGS__))

#define AT_DISPATCH_INDEX_TYPES(type, name, ...)               \
  AT_DISPATCH_SWITCH(type, name,                               \
                     SCONCE_C10_COMPAT_INDEX(Int, __VA_ARGS__) \
                         SCONCE_C10_COMPAT_INDEX(Long, __VA_ARGS__))
#define SCONCE_C10_COMPAT_INDEX(type, ...)                                   \
  case ::sconce::cuda::ScalarType::type: {                                   \
    using index_t [[maybe_unused]] =                                         \
        ::sconce::compat::detail::CppType<::sconce::cuda::ScalarType::type>; \
    return __VA_ARGS__();                                                    \
  }
#endif
/// \endcond

#endif  // SCONCE_COMPAT_CORE_DISPATCH_HPP
