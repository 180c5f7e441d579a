/// \file
/// Objects with a count of their owners: `intrusive_ptr`, `make_intrusive`, `CustomClassHolder`;
/// and values that are owned or borrowed: `MaybeOwned`. Part of `<sconce/compat/c10.hpp>`.
#ifndef SCONCE_COMPAT_TENSOR_INTRUSIVE_PTR_HPP
#define SCONCE_COMPAT_TENSOR_INTRUSIVE_PTR_HPP

#include <atomic>
#include <cstddef>
#include <functional>
#include <optional>
#include <ostream>
#include <sconce/tensor/class.hpp>
#include <type_traits>
#include <utility>

namespace sconce {
inline namespace v0 {
namespace compat {
namespace c10 {

/// \cond
template <class T>
class intrusive_ptr;
/// \endcond

/// The base of objects that `intrusive_ptr` owns. A copy has a count of its own. Corresponds to
/// `c10::intrusive_ptr_target`.
class intrusive_ptr_target {
 protected:
  intrusive_ptr_target() noexcept = default;
  /// An object without owners.
  intrusive_ptr_target(const intrusive_ptr_target&) noexcept {}
  /// An object without owners.
  intrusive_ptr_target(intrusive_ptr_target&&) noexcept {}
  /// Changes no count.
  intrusive_ptr_target& operator=(const intrusive_ptr_target&) noexcept { return *this; }
  /// Changes no count.
  intrusive_ptr_target& operator=(intrusive_ptr_target&&) noexcept { return *this; }
  virtual ~intrusive_ptr_target() = default;

 private:
  template <class T>
  friend class intrusive_ptr;
  mutable std::atomic<std::size_t> owners_{0};
};

/// The base of a program's classes that operators take. Corresponds to `torch::CustomClassHolder`.
struct CustomClassHolder : intrusive_ptr_target {};

/// An owner of an object that counts its owners. The last one deletes it. Corresponds to
/// `c10::intrusive_ptr`; there are no weak owners.
///
/// Threads: owners of one object may be used on several threads, as those of `std::shared_ptr`.
template <class T>
class intrusive_ptr {
 public:
  using element_type = T;  ///< the object

  /// No object.
  constexpr intrusive_ptr() noexcept = default;
  /// No object.
  constexpr intrusive_ptr(std::nullptr_t) noexcept {}  // NOLINT: as c10's
  /// Another owner.
  intrusive_ptr(const intrusive_ptr& other) noexcept : object_(other.object_) { retain(); }
  /// Takes the object of `other`.
  intrusive_ptr(intrusive_ptr&& other) noexcept : object_(std::exchange(other.object_, nullptr)) {}
  /// Another owner of an object of a derived class.
  template <class Derived, std::enable_if_t<std::is_convertible_v<Derived*, T*>, int> = 0>
  intrusive_ptr(intrusive_ptr<Derived> other) noexcept  // NOLINT: as c10's
      : object_(other.release()) {}
  /// Becomes another owner of the object of `other`.
  intrusive_ptr& operator=(intrusive_ptr other) noexcept {
    swap(other);
    return *this;
  }
  ~intrusive_ptr() { reset(); }

  /// A new object. Corresponds to `c10::make_intrusive`.
  template <class... Arguments>
  [[nodiscard]] static intrusive_ptr make(Arguments&&... arguments) {
    return intrusive_ptr(new T(std::forward<Arguments>(arguments)...), true);
  }
  /// Takes back the ownership that `release` returned.
  [[nodiscard]] static intrusive_ptr reclaim(T* object) noexcept {
    return intrusive_ptr(object, false);
  }
  /// Another owner of an object that has owners.
  [[nodiscard]] static intrusive_ptr reclaim_copy(T* object) noexcept {
    return intrusive_ptr(object, true);
  }
  /// Returns the object with its ownership, for `reclaim`; this owner has none afterwards.
  [[nodiscard]] T* release() noexcept { return std::exchange(object_, nullptr); }
  /// Gives up the object.
  void reset() noexcept {
    static_assert(std::is_base_of_v<intrusive_ptr_target, T>,
                  "the object of an intrusive_ptr derives from intrusive_ptr_target");
    if (T* object = release(); object != nullptr && target(object).owners_.fetch_sub(1) == 1) {
      delete &target(object);
    }
  }
  /// Exchanges the objects.
  void swap(intrusive_ptr& other) noexcept { std::swap(object_, other.object_); }

  [[nodiscard]] T* get() const noexcept { return object_; }  ///< the object
  T& operator*() const noexcept { return *object_; }         ///< the object
  T* operator->() const noexcept { return object_; }         ///< the object
  [[nodiscard]] bool defined() const noexcept {
    return object_ != nullptr;
  }                                                              ///< whether there is one
  explicit operator bool() const noexcept { return defined(); }  ///< whether there is one
  /// The number of owners.
  [[nodiscard]] std::size_t use_count() const noexcept {
    return object_ == nullptr ? 0 : target(object_).owners_.load();
  }
  /// Whether this is the only owner.
  [[nodiscard]] bool unique() const noexcept { return use_count() == 1; }

  /// Whether both have the same object.
  friend bool operator==(const intrusive_ptr& a, const intrusive_ptr& b) noexcept {
    return a.object_ == b.object_;
  }
  /// Whether the objects differ.
  friend bool operator!=(const intrusive_ptr& a, const intrusive_ptr& b) noexcept {
    return a.object_ != b.object_;
  }
  /// The order of addresses.
  friend bool operator<(const intrusive_ptr& a, const intrusive_ptr& b) noexcept {
    return std::less<T*>()(a.object_, b.object_);
  }

 private:
  template <class Other>
  friend class intrusive_ptr;
  intrusive_ptr(T* object, bool counted) noexcept : object_(object) {
    if (counted) {
      retain();
    }
  }
  static const intrusive_ptr_target& target(const T* object) noexcept { return *object; }
  void retain() const noexcept {
    if (object_ != nullptr) {
      target(object_).owners_.fetch_add(1);
    }
  }

  T* object_ = nullptr;
};

/// A new object with one owner.
template <class T, class... Arguments>
[[nodiscard]] intrusive_ptr<T> make_intrusive(Arguments&&... arguments) {
  return intrusive_ptr<T>::make(std::forward<Arguments>(arguments)...);
}

/// A value, or one of another owner, which must outlive it. Corresponds to `c10::MaybeOwned`.
template <class T>
class MaybeOwned {
 public:
  /// A value that was made by default.
  MaybeOwned() : own_(std::in_place) {}
  /// A value of another owner.
  [[nodiscard]] static MaybeOwned borrowed(const T& value) { return MaybeOwned(&value); }
  static MaybeOwned borrowed(T&&) = delete;  // the value would be gone
  /// A value of its own.
  [[nodiscard]] static MaybeOwned owned(T value) { return MaybeOwned(std::move(value)); }
  /// A value of its own, made of arguments.
  template <class... Arguments>
  [[nodiscard]] static MaybeOwned owned(std::in_place_t, Arguments&&... arguments) {
    return MaybeOwned(T(std::forward<Arguments>(arguments)...));
  }

  const T& operator*() const& noexcept { return own_ ? *own_ : *borrowed_; }  ///< the value
  const T* operator->() const noexcept { return own_ ? &*own_ : borrowed_; }  ///< the value
  /// The value, which is moved if it is owned.
  T operator*() && { return own_ ? std::move(*own_) : *borrowed_; }
  /// Whether it is the value of another owner.
  [[nodiscard]] bool unsafeIsBorrowed() const noexcept { return !own_.has_value(); }

 private:
  explicit MaybeOwned(const T* value) noexcept : borrowed_(value) {}
  explicit MaybeOwned(T&& value) : own_(std::move(value)) {}

  std::optional<T> own_;
  const T* borrowed_ = nullptr;
};

}  // namespace c10

namespace at {

/// The tensor, or the undefined one if there is none. Corresponds to
/// `at::borrow_from_optional_tensor`.
[[nodiscard]] inline c10::MaybeOwned<Tensor> borrow_from_optional_tensor(
    const std::optional<Tensor>& tensor) {
  return tensor ? c10::MaybeOwned<Tensor>::borrowed(*tensor)
                : c10::MaybeOwned<Tensor>::owned(Tensor());
}

}  // namespace at
}  // namespace compat
}  // namespace v0
}  // namespace sconce

/// \cond
template <class T>
struct std::hash<sconce::compat::c10::intrusive_ptr<T>> {
  /// The hash of the address.
  std::size_t operator()(const sconce::compat::c10::intrusive_ptr<T>& pointer) const noexcept {
    return std::hash<T*>()(pointer.get());
  }
};
/// \endcond

#endif  // SCONCE_COMPAT_TENSOR_INTRUSIVE_PTR_HPP
