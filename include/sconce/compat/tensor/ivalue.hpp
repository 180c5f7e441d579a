/// \file
/// A value of any kind that operators take. Part of `<sconce/compat/c10.hpp>`.
#ifndef SCONCE_COMPAT_TENSOR_IVALUE_HPP
#define SCONCE_COMPAT_TENSOR_IVALUE_HPP

#include <complex>
#include <cstdint>
#include <optional>
#include <sconce/compat/core/macros.hpp>
#include <sconce/compat/tensor/lists.hpp>
#include <sconce/tensor/scalar.hpp>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

namespace sconce {
inline namespace v0 {
namespace compat {
namespace c10 {

/// Nothing, a tensor, a number, a truth value, a text, or a list of these. Corresponds to
/// `c10::IValue`, which also holds objects.
class IValue {
 public:
  /// Nothing.
  IValue() = default;
  /// Nothing.
  IValue(std::nullopt_t) noexcept {}  // NOLINT: as c10's
  /// A tensor.
  IValue(Tensor tensor) : value_(std::move(tensor)) {}  // NOLINT: as c10's
  /// A number; a `bool` is a truth value.
  template <class Number, std::enable_if_t<std::is_arithmetic_v<Number>, int> = 0>
  IValue(Number number) {  // NOLINT: as c10's
    if constexpr (std::is_same_v<Number, bool>) {
      value_ = number;
    } else if constexpr (std::is_integral_v<Number>) {
      value_ = static_cast<std::int64_t>(number);
    } else {
      value_ = static_cast<double>(number);
    }
  }
  /// An enumerator, such as a `ScalarType`, as its number.
  template <class Enum, std::enable_if_t<std::is_enum_v<Enum>, int> = 0>
  IValue(Enum value) : value_(static_cast<std::int64_t>(value)) {}  // NOLINT: as c10's
  /// A number.
  IValue(const Scalar& number) {  // NOLINT: as c10's
    if (number.isBoolean()) {
      value_ = number.toBool();
    } else if (number.isIntegral(false)) {
      value_ = number.toLong();
    } else {
      value_ = number.toDouble();
    }
  }
  /// A text.
  IValue(std::string text) : value_(std::move(text)) {}  // NOLINT: as c10's
  /// A text.
  IValue(const char* text) : value_(std::string(text)) {}  // NOLINT: as c10's
  /// A list of integers.
  IValue(IntArrayRef numbers) : value_(List<std::int64_t>(numbers.vec())) {}  // NOLINT: as c10's
  /// A list of integers.
  IValue(IntArray numbers)  // NOLINT: as c10's
      : value_(List<std::int64_t>(std::move(numbers).vec())) {}
  /// A list of integers.
  IValue(std::vector<std::int64_t> numbers)  // NOLINT: as c10's
      : value_(List<std::int64_t>(std::move(numbers))) {}
  /// A list of real numbers.
  IValue(std::vector<double> numbers)  // NOLINT: as c10's
      : value_(List<double>(std::move(numbers))) {}
  /// A list of truth values.
  IValue(std::vector<bool> truths) : value_(List<bool>(std::move(truths))) {}  // NOLINT: as c10's
  /// A list of tensors.
  IValue(std::vector<Tensor> tensors)  // NOLINT: as c10's
      : value_(List<Tensor>(std::move(tensors))) {}
  /// A value, or nothing.
  template <class T>
  IValue(const std::optional<T>& value) {  // NOLINT: as c10's
    if (value) {
      *this = IValue(*value);
    }
  }

  [[nodiscard]] bool isNone() const noexcept { return is<std::monostate>(); }  ///< is it nothing?
  [[nodiscard]] bool isTensor() const noexcept { return is<Tensor>(); }        ///< is it a tensor?
  [[nodiscard]] bool isInt() const noexcept { return is<std::int64_t>(); }  ///< is it an integer?
  [[nodiscard]] bool isDouble() const noexcept { return is<double>(); }  ///< is it a real number?
  [[nodiscard]] bool isBool() const noexcept { return is<bool>(); }      ///< is it a truth value?
  [[nodiscard]] bool isString() const noexcept { return is<std::string>(); }  ///< is it a text?
  /// Whether it is a list.
  [[nodiscard]] bool isList() const noexcept {
    return is<List<std::int64_t>>() || is<List<double>>() || is<List<bool>>() || is<List<Tensor>>();
  }
  /// Whether it is a list of integers.
  [[nodiscard]] bool isIntList() const noexcept { return is<List<std::int64_t>>(); }
  /// Whether it is a list of tensors.
  [[nodiscard]] bool isTensorList() const noexcept { return is<List<Tensor>>(); }

  /// \name The value as a type of C++
  /// Each throws an `Error`, `SCONCE_ERROR_INVALID_ARGUMENT`, if it is of another kind.
  /// @{
  [[nodiscard]] const Tensor& toTensor() const { return as<Tensor>("Tensor"); }  ///< a tensor
  [[nodiscard]] std::int64_t toInt() const { return as<std::int64_t>("Int"); }   ///< an integer
  /// A real number.
  [[nodiscard]] double toDouble() const { return as<double>("Double"); }
  [[nodiscard]] bool toBool() const { return as<bool>("Bool"); }  ///< a truth value
  /// A text.
  [[nodiscard]] const std::string& toStringRef() const { return as<std::string>("String"); }
  /// A number of any kind.
  [[nodiscard]] Scalar toScalar() const {
    if (isDouble()) {
      return toDouble();
    }
    return isBool() ? Scalar(toBool()) : Scalar(toInt());
  }
  /// The `ScalarType` of a number.
  [[nodiscard]] ::sconce::cuda::ScalarType toScalarType() const {
    return static_cast<::sconce::cuda::ScalarType>(toInt());
  }
  /// A list of integers.
  [[nodiscard]] const List<std::int64_t>& toIntList() const {
    return as<List<std::int64_t>>("IntList");
  }
  /// A list of integers.
  [[nodiscard]] std::vector<std::int64_t> toIntVector() const { return toIntList(); }
  /// A list of real numbers.
  [[nodiscard]] const List<double>& toDoubleList() const { return as<List<double>>("DoubleList"); }
  /// A list of real numbers.
  [[nodiscard]] std::vector<double> toDoubleVector() const { return toDoubleList(); }
  /// A list of truth values.
  [[nodiscard]] const List<bool>& toBoolList() const { return as<List<bool>>("BoolList"); }
  /// A list of tensors.
  [[nodiscard]] const List<Tensor>& toTensorList() const { return as<List<Tensor>>("TensorList"); }
  /// A list of tensors.
  [[nodiscard]] std::vector<Tensor> toTensorVector() const { return toTensorList(); }
  /// The value as one of these types, by the type.
  template <class T>
  [[nodiscard]] T to() const {
    if constexpr (std::is_same_v<T, bool>) {
      return toBool();
    } else if constexpr (std::is_integral_v<T>) {
      return static_cast<T>(toInt());
    } else if constexpr (std::is_floating_point_v<T>) {
      return static_cast<T>(toDouble());
    } else if constexpr (std::is_same_v<T, std::string>) {
      return toStringRef();
    } else if constexpr (std::is_same_v<T, Tensor>) {
      return toTensor();
    } else if constexpr (std::is_same_v<T, Scalar>) {
      return toScalar();
    } else {
      // A list of one of the four kinds, or a vector.
      return as<List<typename T::value_type>>("a list of another kind");
    }
  }
  /// @}

 private:
  template <class T>
  [[nodiscard]] bool is() const noexcept {
    return std::holds_alternative<T>(value_);
  }
  [[nodiscard]] const char* kind() const noexcept {
    constexpr const char* names[] = {"None",   "Tensor",  "Int",        "Double",   "Bool",
                                     "String", "IntList", "DoubleList", "BoolList", "TensorList"};
    return names[value_.index()];
  }
  template <class T>
  [[nodiscard]] const T& as(const char* wanted) const {
    TORCH_CHECK(is<T>(), "Expected ", wanted, " but got ", kind());
    return std::get<T>(value_);
  }

  std::variant<std::monostate, Tensor, std::int64_t, double, bool, std::string, List<std::int64_t>,
               List<double>, List<bool>, List<Tensor>>
      value_;
};

}  // namespace c10

namespace at {

using c10::IValue;

}  // namespace at
}  // namespace compat
}  // namespace v0
}  // namespace sconce

#endif  // SCONCE_COMPAT_TENSOR_IVALUE_HPP
