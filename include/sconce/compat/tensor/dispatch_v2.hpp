/// \file
/// ATen's newer form of its dispatch over element types, `AT_DISPATCH_V2`, whose types are a list.
/// Part of `<sconce/compat/c10.hpp>`.
#ifndef SCONCE_COMPAT_TENSOR_DISPATCH_V2_HPP
#define SCONCE_COMPAT_TENSOR_DISPATCH_V2_HPP

#include <sconce/compat/core/dispatch.hpp>
#include <sconce/cuda/scalar_type.hpp>

/// \cond
#ifndef AT_DISPATCH_V2
// A body with commas is one argument as long as it is in parentheses, so each macro wraps it again.
#define AT_WRAP(...) __VA_ARGS__
#define AT_EXPAND(X) X

#define AT_FLOATING_TYPES ::sconce::cuda::ScalarType::Double, ::sconce::cuda::ScalarType::Float
#define AT_BAREBONES_UNSIGNED_TYPES                                       \
  ::sconce::cuda::ScalarType::UInt16, ::sconce::cuda::ScalarType::UInt32, \
      ::sconce::cuda::ScalarType::UInt64
#define AT_INTEGRAL_TYPES                                                \
  ::sconce::cuda::ScalarType::Byte, ::sconce::cuda::ScalarType::Char,    \
      ::sconce::cuda::ScalarType::Int, ::sconce::cuda::ScalarType::Long, \
      ::sconce::cuda::ScalarType::Short
#define AT_INTEGRAL_TYPES_V2 AT_EXPAND(AT_INTEGRAL_TYPES), AT_EXPAND(AT_BAREBONES_UNSIGNED_TYPES)
#define AT_COMPLEX_TYPES \
  ::sconce::cuda::ScalarType::ComplexDouble, ::sconce::cuda::ScalarType::ComplexFloat
#define AT_ALL_TYPES AT_EXPAND(AT_INTEGRAL_TYPES), AT_EXPAND(AT_FLOATING_TYPES)
#define AT_ALL_TYPES_AND_COMPLEX AT_EXPAND(AT_ALL_TYPES), AT_EXPAND(AT_COMPLEX_TYPES)

#define AT_DISPATCH_V2(TYPE, NAME, BODY, ...) \
  AT_DISPATCH_SWITCH(TYPE, NAME, SCONCE_C10_COMPAT_CASES(AT_WRAP(BODY), __VA_ARGS__))
#define SCONCE_C10_COMPAT_CASES(BODY, ...) \
  AT_EXPAND(SCONCE_C10_COMPAT_GLUE(        \
      SCONCE_C10_COMPAT_CASES_, SCONCE_C10_COMPAT_COUNT(__VA_ARGS__))(AT_WRAP(BODY), __VA_ARGS__))
#define SCONCE_C10_COMPAT_GLUE(a, b) SCONCE_C10_COMPAT_GLUE_(a, b)
#define SCONCE_C10_COMPAT_GLUE_(a, b) a##b
#define SCONCE_C10_COMPAT_COUNT(...)                                                              \
  AT_EXPAND(SCONCE_C10_COMPAT_COUNT_(__VA_ARGS__, 28, 27, 26, 25, 24, 23, 22, 21, 20, 19, 18, 17, \
                                     16, 15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0))
#define SCONCE_C10_COMPAT_COUNT_(a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12, a13, a14, a15, \
                                 a16, a17, a18, a19, a20, a21, a22, a23, a24, a25, a26, a27, a28,  \
                                 count, ...)                                                       \
  count
#define SCONCE_C10_COMPAT_CASES_1(BODY, first) AT_DISPATCH_CASE(first, AT_WRAP(BODY))
#define SCONCE_C10_COMPAT_CASES_2(BODY, first, ...) \
  SCONCE_C10_COMPAT_CASES_1(AT_WRAP(BODY), first)   \
  AT_EXPAND(SCONCE_C10_COMPAT_CASES_1(AT_WRAP(BODY), __VA_ARGS__))
#define SCONCE_C10_COMPAT_CASES_3(BODY, first, ...) \
  SCONCE_C10_COMPAT_CASES_1(AT_WRAP(BODY), first)   \
  AT_EXPAND(SCONCE_C10_COMPAT_CASES_2(AT_WRAP(BODY), __VA_ARGS__))
#define SCONCE_C10_COMPAT_CASES_4(BODY, first, ...) \
  SCONCE_C10_COMPAT_CASES_1(AT_WRAP(BODY), first)   \
  AT_EXPAND(SCONCE_C10_COMPAT_CASES_3(AT_WRAP(BODY), __VA_ARGS__))
#define SCONCE_C10_COMPAT_CASES_5(BODY, first, ...) \
  SCONCE_C10_COMPAT_CASES_1(AT_WRAP(BODY), first)   \
  AT_EXPAND(SCONCE_C10_COMPAT_CASES_4(AT_WRAP(BODY), __VA_ARGS__))
#define SCONCE_C10_COMPAT_CASES_6(BODY, first, ...) \
  SCONCE_C10_COMPAT_CASES_1(AT_WRAP(BODY), first)   \
  AT_EXPAND(SCONCE_C10_COMPAT_CASES_5(AT_WRAP(BODY), __VA_ARGS__))
#define SCONCE_C10_COMPAT_CASES_7(BODY, first, ...) \
  SCONCE_C10_COMPAT_CASES_1(AT_WRAP(BODY), first)   \
  AT_EXPAND(SCONCE_C10_COMPAT_CASES_6(AT_WRAP(BODY), __VA_ARGS__))
#define SCONCE_C10_COMPAT_CASES_8(BODY, first, ...) \
  SCONCE_C10_COMPAT_CASES_1(AT_WRAP(BODY), first)   \
  AT_EXPAND(SCONCE_C10_COMPAT_CASES_7(AT_WRAP(BODY), __VA_ARGS__))
#define SCONCE_C10_COMPAT_CASES_9(BODY, first, ...) \
  SCONCE_C10_COMPAT_CASES_1(AT_WRAP(BODY), first)   \
  AT_EXPAND(SCONCE_C10_COMPAT_CASES_8(AT_WRAP(BODY), __VA_ARGS__))
#define SCONCE_C10_COMPAT_CASES_10(BODY, first, ...) \
  SCONCE_C10_COMPAT_CASES_1(AT_WRAP(BODY), first)    \
  AT_EXPAND(SCONCE_C10_COMPAT_CASES_9(AT_WRAP(BODY), __VA_ARGS__))
#define SCONCE_C10_COMPAT_CASES_11(BODY, first, ...) \
  SCONCE_C10_COMPAT_CASES_1(AT_WRAP(BODY), first)    \
  AT_EXPAND(SCONCE_C10_COMPAT_CASES_10(AT_WRAP(BODY), __VA_ARGS__))
#define SCONCE_C10_COMPAT_CASES_12(BODY, first, ...) \
  SCONCE_C10_COMPAT_CASES_1(AT_WRAP(BODY), first)    \
  AT_EXPAND(SCONCE_C10_COMPAT_CASES_11(AT_WRAP(BODY), __VA_ARGS__))
#define SCONCE_C10_COMPAT_CASES_13(BODY, first, ...) \
  SCONCE_C10_COMPAT_CASES_1(AT_WRAP(BODY), first)    \
  AT_EXPAND(SCONCE_C10_COMPAT_CASES_12(AT_WRAP(BODY), __VA_ARGS__))
#define SCONCE_C10_COMPAT_CASES_14(BODY, first, ...) \
  SCONCE_C10_COMPAT_CASES_1(AT_WRAP(BODY), first)    \
  AT_EXPAND(SCONCE_C10_COMPAT_CASES_13(AT_WRAP(BODY), __VA_ARGS__))
#define SCONCE_C10_COMPAT_CASES_15(BODY, first, ...) \
  SCONCE_C10_COMPAT_CASES_1(AT_WRAP(BODY), first)    \
  AT_EXPAND(SCONCE_C10_COMPAT_CASES_14(AT_WRAP(BODY), __VA_ARGS__))
#define SCONCE_C10_COMPAT_CASES_16(BODY, first, ...) \
  SCONCE_C10_COMPAT_CASES_1(AT_WRAP(BODY), first)    \
  AT_EXPAND(SCONCE_C10_COMPAT_CASES_15(AT_WRAP(BODY), __VA_ARGS__))
#define SCONCE_C10_COMPAT_CASES_17(BODY, first, ...) \
  SCONCE_C10_COMPAT_CASES_1(AT_WRAP(BODY), first)    \
  AT_EXPAND(SCONCE_C10_COMPAT_CASES_16(AT_WRAP(BODY), __VA_ARGS__))
#define SCONCE_C10_COMPAT_CASES_18(BODY, first, ...) \
  SCONCE_C10_COMPAT_CASES_1(AT_WRAP(BODY), first)    \
  AT_EXPAND(SCONCE_C10_COMPAT_CASES_17(AT_WRAP(BODY), __VA_ARGS__))
#define SCONCE_C10_COMPAT_CASES_19(BODY, first, ...) \
  SCONCE_C10_COMPAT_CASES_1(AT_WRAP(BODY), first)    \
  AT_EXPAND(SCONCE_C10_COMPAT_CASES_18(AT_WRAP(BODY), __VA_ARGS__))
#define SCONCE_C10_COMPAT_CASES_20(BODY, first, ...) \
  SCONCE_C10_COMPAT_CASES_1(AT_WRAP(BODY), first)    \
  AT_EXPAND(SCONCE_C10_COMPAT_CASES_19(AT_WRAP(BODY), __VA_ARGS__))
#define SCONCE_C10_COMPAT_CASES_21(BODY, first, ...) \
  SCONCE_C10_COMPAT_CASES_1(AT_WRAP(BODY), first)    \
  AT_EXPAND(SCONCE_C10_COMPAT_CASES_20(AT_WRAP(BODY), __VA_ARGS__))
#define SCONCE_C10_COMPAT_CASES_22(BODY, first, ...) \
  SCONCE_C10_COMPAT_CASES_1(AT_WRAP(BODY), first)    \
  AT_EXPAND(SCONCE_C10_COMPAT_CASES_21(AT_WRAP(BODY), __VA_ARGS__))
#define SCONCE_C10_COMPAT_CASES_23(BODY, first, ...) \
  SCONCE_C10_COMPAT_CASES_1(AT_WRAP(BODY), first)    \
  AT_EXPAND(SCONCE_C10_COMPAT_CASES_22(AT_WRAP(BODY), __VA_ARGS__))
#define SCONCE_C10_COMPAT_CASES_24(BODY, first, ...) \
  SCONCE_C10_COMPAT_CASES_1(AT_WRAP(BODY), first)    \
  AT_EXPAND(SCONCE_C10_COMPAT_CASES_23(AT_WRAP(BODY), __VA_ARGS__))
#define SCONCE_C10_COMPAT_CASES_25(BODY, first, ...) \
  SCONCE_C10_COMPAT_CASES_1(AT_WRAP(BODY), first)    \
  AT_EXPAND(SCONCE_C10_COMPAT_CASES_24(AT_WRAP(BODY), __VA_ARGS__))
#define SCONCE_C10_COMPAT_CASES_26(BODY, first, ...) \
  SCONCE_C10_COMPAT_CASES_1(AT_WRAP(BODY), first)    \
  AT_EXPAND(SCONCE_C10_COMPAT_CASES_25(AT_WRAP(BODY), __VA_ARGS__))
#define SCONCE_C10_COMPAT_CASES_27(BODY, first, ...) \
  SCONCE_C10_COMPAT_CASES_1(AT_WRAP(BODY), first)    \
  AT_EXPAND(SCONCE_C10_COMPAT_CASES_26(AT_WRAP(BODY), __VA_ARGS__))
#define SCONCE_C10_COMPAT_CASES_28(BODY, first, ...) \
  SCONCE_C10_COMPAT_CASES_1(AT_WRAP(BODY), first)    \
  AT_EXPAND(SCONCE_C10_COMPAT_CASES_27(AT_WRAP(BODY), __VA_ARGS__))
#endif
/// \endcond

#endif  // SCONCE_COMPAT_TENSOR_DISPATCH_V2_HPP
