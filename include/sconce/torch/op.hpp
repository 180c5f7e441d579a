/// \file
/// Operators of kernel libraries that were built for PyTorch's stable C ABI, such as torchvision's.
/// Programs that include this link with libsconce_torch.
///
/// ```
/// sconce::torch::Library vision("torchvision/_C_stable.so");
/// sconce::Tensor kept = sconce::torch::op("torchvision::nms")(boxes, scores, 0.5).tensor();
/// ```
#ifndef SCONCE_TORCH_OP_HPP
#define SCONCE_TORCH_OP_HPP

#include <sconce/c/device.h>
#include <sconce/c/library.h>
#include <sconce/c/random.h>
#include <sconce/c/tensor.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <sconce/cuda/generator.hpp>
#include <sconce/torch.hpp>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace sconce {
inline namespace v0 {
namespace torch {
namespace detail {

/// Whether values of a type name a device.
template <class Place>
inline constexpr bool is_place =
    std::is_same_v<Place, Device> || std::is_same_v<Place, cuda::Device> ||
    std::is_same_v<Place, DeviceType>;

/// The arguments of a call, with the lists that they point to.
class Arguments {
 public:
  template <class... Values>
  explicit Arguments(const Values&... values) {
    lists_.reserve(sizeof...(values));
    values_.reserve(sizeof...(values));
    (values_.push_back(packed(values)), ...);
  }
  Arguments(const Arguments&) = delete;
  Arguments& operator=(const Arguments&) = delete;

  [[nodiscard]] const sconce_op_value* data() const noexcept { return values_.data(); }
  [[nodiscard]] std::size_t size() const noexcept { return values_.size(); }

 private:
  static sconce_op_value nothing() noexcept { return SCONCE_OP_VALUE_INIT; }
  static sconce_op_value numbered(std::int32_t kind, std::int64_t integer) noexcept {
    sconce_op_value value = nothing();
    value.kind = kind;
    value.integer = integer;
    return value;
  }
  sconce_op_value packed(std::nullopt_t) { return nothing(); }
  sconce_op_value packed(const TensorBase& tensor) {
    sconce_op_value value = nothing();
    value.kind = SCONCE_OP_VALUE_TENSOR;
    value.tensor = tensor.get();
    return value;
  }
  sconce_op_value packed(const char* text) {
    sconce_op_value value = nothing();
    value.kind = SCONCE_OP_VALUE_TEXT;
    value.text = text;
    return value;
  }
  sconce_op_value packed(sconce_generator* generator) {
    sconce_op_value value = nothing();
    value.kind = SCONCE_OP_VALUE_GENERATOR;
    value.generator = generator;
    return value;
  }
  sconce_op_value packed(const cuda::CUDAGenerator& generator) { return packed(generator.get()); }
  sconce_op_value packed(const std::string& text) { return packed(text.c_str()); }
  sconce_op_value packed(ScalarType type) {
    return numbered(SCONCE_OP_VALUE_DTYPE, static_cast<std::int32_t>(type));
  }
  // A template, so that nothing else becomes a device by a conversion.
  template <class Place, std::enable_if_t<is_place<Place>, int> = 0>
  sconce_op_value packed(Place place) {
    const Device device(place);
    return numbered(SCONCE_OP_VALUE_DEVICE, device.is_cpu() ? SCONCE_DEVICE_CPU : device.index());
  }
  template <class Number, std::enable_if_t<std::is_arithmetic_v<Number>, int> = 0>
  sconce_op_value packed(Number number) {
    if constexpr (std::is_same_v<Number, bool>) {
      return numbered(SCONCE_OP_VALUE_BOOL, number ? 1 : 0);
    } else if constexpr (std::is_floating_point_v<Number>) {
      sconce_op_value value = nothing();
      value.kind = SCONCE_OP_VALUE_REAL;
      value.real = static_cast<double>(number);
      return value;
    } else {
      return numbered(SCONCE_OP_VALUE_INTEGER, static_cast<std::int64_t>(number));
    }
  }
  // Templates, so that nothing else becomes a number or a list by a conversion.
  template <class Number, std::enable_if_t<std::is_same_v<Number, Scalar>, int> = 0>
  sconce_op_value packed(const Number& number) {
    if (number.isBoolean()) {
      return packed(number.toBool());
    }
    return number.isIntegral(false) ? packed(number.toLong()) : packed(number.toDouble());
  }
  template <class List, std::enable_if_t<std::is_same_v<List, IntArrayRef>, int> = 0>
  sconce_op_value packed(const List& numbers) {
    return packed(numbers.vec());
  }
  template <class Value>
  sconce_op_value packed(const std::optional<Value>& value) {
    return value ? packed(*value) : nothing();
  }
  template <class Value>
  sconce_op_value packed(const std::vector<Value>& values) {
    std::vector<sconce_op_value> items;
    items.reserve(values.size());
    for (const Value& value : values) {
      items.push_back(packed(value));
    }
    sconce_op_value value = nothing();
    value.kind = SCONCE_OP_VALUE_LIST;
    value.count = items.size();
    // Moving a vector keeps where its elements are.
    value.items = items.data();
    lists_.push_back(std::move(items));
    return value;
  }

  std::vector<sconce_op_value> values_;
  std::vector<std::vector<sconce_op_value>> lists_;
};

}  // namespace detail

/// The results of a call, which this object owns.
class Results {
 public:
  /// Takes over the results of `sconce_op_call`.
  explicit Results(std::vector<sconce_op_value> values) noexcept : values_(std::move(values)) {}
  Results(const Results&) = delete;
  Results& operator=(const Results&) = delete;
  /// Takes over the results; `other` has none afterwards.
  Results(Results&& other) noexcept : values_(std::exchange(other.values_, {})) {}
  /// Exchanges the results with those of `other`.
  Results& operator=(Results&& other) noexcept {
    values_.swap(other.values_);
    return *this;
  }
  ~Results() { ::sconce_op_values_release(values_.data(), values_.size()); }

  /// The number of results.
  [[nodiscard]] std::size_t size() const noexcept { return values_.size(); }
  /// A result that is a tensor. \throws Error INVALID_ARGUMENT if it is none.
  [[nodiscard]] Tensor tensor(std::size_t index = 0) const {
    sconce_tensor* handle = at(index, SCONCE_OP_VALUE_TENSOR).tensor;
    sconce::detail::check(::sconce_tensor_retain(handle));
    return Tensor::adopt(handle);
  }
  /// A result that is a list of tensors. \throws Error INVALID_ARGUMENT if it is none.
  [[nodiscard]] std::vector<Tensor> tensors(std::size_t index = 0) const {
    const sconce_op_value& list = at(index, SCONCE_OP_VALUE_LIST);
    std::vector<Tensor> tensors;
    for (std::size_t item = 0; item < list.count; ++item) {
      if (list.items[item].kind != SCONCE_OP_VALUE_TENSOR) {
        refuse(index);
      }
      sconce::detail::check(::sconce_tensor_retain(list.items[item].tensor));
      tensors.push_back(Tensor::adopt(list.items[item].tensor));
    }
    return tensors;
  }
  /// A result that is an integer. \throws Error INVALID_ARGUMENT if it is none.
  [[nodiscard]] std::int64_t integer(std::size_t index = 0) const {
    return at(index, SCONCE_OP_VALUE_INTEGER).integer;
  }
  /// A result that is a real number. \throws Error INVALID_ARGUMENT if it is none.
  [[nodiscard]] double real(std::size_t index = 0) const {
    return at(index, SCONCE_OP_VALUE_REAL).real;
  }
  /// A result that is a truth value. \throws Error INVALID_ARGUMENT if it is none.
  [[nodiscard]] bool truth(std::size_t index = 0) const {
    return at(index, SCONCE_OP_VALUE_BOOL).integer != 0;
  }
  /// A result that is a text. \throws Error INVALID_ARGUMENT if it is none.
  [[nodiscard]] std::string text(std::size_t index = 0) const {
    return at(index, SCONCE_OP_VALUE_TEXT).text;
  }
  /// A result that is a data type. \throws Error INVALID_ARGUMENT if it is none.
  [[nodiscard]] ScalarType dtype(std::size_t index = 0) const {
    return static_cast<ScalarType>(at(index, SCONCE_OP_VALUE_DTYPE).integer);
  }
  /// A result that is a device. \throws Error INVALID_ARGUMENT if it is none.
  [[nodiscard]] Device device(std::size_t index = 0) const {
    const std::int64_t device = at(index, SCONCE_OP_VALUE_DEVICE).integer;
    return device == SCONCE_DEVICE_CPU ? Device(kCPU) : Device(static_cast<DeviceIndex>(device));
  }
  /// Whether a result of an optional type is `None`. \throws Error INVALID_ARGUMENT if there is no
  /// such result.
  [[nodiscard]] bool is_none(std::size_t index = 0) const {
    if (index >= values_.size()) {
      refuse(index);
    }
    return values_[index].kind == SCONCE_OP_VALUE_NONE;
  }

 private:
  [[noreturn]] static void refuse(std::size_t index) {
    throw Error(SCONCE_ERROR_INVALID_ARGUMENT,
                "result " + std::to_string(index) + " is of another type, or there is none");
  }
  [[nodiscard]] const sconce_op_value& at(std::size_t index, std::int32_t kind) const {
    if (index >= values_.size() || values_[index].kind != kind) {
      refuse(index);
    }
    return values_[index];
  }

  std::vector<sconce_op_value> values_;
};

/// An operator of a kernel library. Copies are the same operator. Corresponds to
/// `torch.ops.NAMESPACE.NAME`.
class Operator {
 public:
  /// Finds an operator by its name, such as `torchvision::nms` or `ns::name.overload`: one of a
  /// kernel library, or an operation of `aten` that libsconce_torch offers.
  /// \throws Error INVALID_ARGUMENT if there is none.
  explicit Operator(const std::string& name) {
    detail::check(::sconce_op_find(name.c_str(), nullptr, &op_));
  }

  /// The operator's schema, in PyTorch's notation.
  [[nodiscard]] std::string schema() const {
    return detail::text_of([this](char** text) { return ::sconce_op_schema(op_, text); });
  }

  /// Calls it with tensors, numbers, truth values, texts, data types, devices, generators,
  /// vectors and optionals of these, and `std::nullopt`. Arguments at the end that have defaults
  /// may be left out. See `sconce_op_call` for ordering and errors.
  template <class... Values>
  Results operator()(const Values&... values) const {
    const detail::Arguments arguments(values...);
    constexpr std::size_t most = 32;
    std::vector<sconce_op_value> results(most, sconce_op_value SCONCE_OP_VALUE_INIT);
    std::size_t count = 0;
    detail::check(
        ::sconce_op_call(op_, arguments.data(), arguments.size(), results.data(), most, &count));
    results.resize(count);
    return Results(std::move(results));
  }

 private:
  sconce_op* op_ = nullptr;
};

/// Finds an operator; as `Operator(name)`.
inline Operator op(const std::string& name) { return Operator(name); }

/// Declares the schema of an operator whose library leaves it to Python, such as
/// `torchao::to_sparse_semi_structured_cutlass_sm9x_f8(Tensor weight) -> (Tensor, Tensor)`.
/// \throws Error INVALID_ARGUMENT if it is no schema, or the operator has another one.
inline void define(const std::string& schema) { detail::check(::sconce_op_define(schema.c_str())); }

/// The schemas of all operators that kernel libraries have registered, by name.
[[nodiscard]] inline std::vector<std::string> op_list() {
  const std::string text = detail::text_of([](char** list) { return ::sconce_op_list(list); });
  std::vector<std::string> schemas;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    schemas.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return schemas;
}

/// An open kernel library. Its operators are available as long as this object exists. Corresponds
/// to `torch.ops.load_library`.
class Library {
 public:
  /// Opens a library. \throws Error as `sconce_torch_load` returns.
  explicit Library(const std::string& path) {
    detail::check(::sconce_torch_load(path.c_str(), &library_));
  }
  Library(const Library&) = delete;
  Library& operator=(const Library&) = delete;
  /// Takes over the library; `other` has none afterwards.
  Library(Library&& other) noexcept : library_(std::exchange(other.library_, nullptr)) {}
  /// Exchanges the library with that of `other`.
  Library& operator=(Library&& other) noexcept {
    std::swap(library_, other.library_);
    return *this;
  }
  ~Library() {
    if (library_ != nullptr) {
      static_cast<void>(::sconce_torch_unload(library_));
    }
  }

 private:
  sconce_kernel_library* library_ = nullptr;
};

}  // namespace torch
}  // namespace v0
}  // namespace sconce

#endif
