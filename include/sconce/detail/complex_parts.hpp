/// \file
/// Recognises complex types by what they offer, so that `<complex>` is left to programs that use
/// it. Not for callers.
#ifndef SCONCE_DETAIL_COMPLEX_PARTS_HPP
#define SCONCE_DETAIL_COMPLEX_PARTS_HPP

#include <type_traits>
#include <utility>

namespace sconce {
inline namespace v0 {
namespace detail {

/// The type of the parts of a complex type; of any other type, the type itself.
template <class T, class = void>
struct ComplexParts {
  using type = T;  ///< the type itself
};
/// A complex type has a `value_type` that its functions `real()` and `imag()` return, and consists
/// of two of them, as `std::complex`, `cuda::std::complex` and `thrust::complex` do.
template <class T>
struct ComplexParts<
    T, std::enable_if_t<std::is_same_v<T, std::remove_cv_t<T>> &&
                        std::is_same_v<std::decay_t<decltype(std::declval<const T&>().real())>,
                                       typename T::value_type> &&
                        std::is_same_v<std::decay_t<decltype(std::declval<const T&>().imag())>,
                                       typename T::value_type> &&
                        sizeof(T) == 2 * sizeof(typename T::value_type)>> {
  using type = typename T::value_type;  ///< the type of the parts
};

}  // namespace detail
}  // namespace v0
}  // namespace sconce

#endif  // SCONCE_DETAIL_COMPLEX_PARTS_HPP
