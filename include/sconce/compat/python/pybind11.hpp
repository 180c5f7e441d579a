/// \file
/// The names of pybind11 that extensions say in `PYBIND11_MODULE`, so that such a block parses. It
/// is never called: there is no Python here, and nothing is bound. Part of
/// `<sconce/compat/torch.hpp>`.
///
/// A unit that includes pybind11 itself before has that one's names and macro. Functions that take
/// or return Python's objects do not compile.
#ifndef SCONCE_COMPAT_PYTHON_PYBIND11_HPP
#define SCONCE_COMPAT_PYTHON_PYBIND11_HPP

/// \cond
#if !defined(PYBIND11_VERSION_MAJOR) && !defined(PYBIND11_MODULE)

#include <cstddef>
#include <sconce/compat/core/macros.hpp>
#include <type_traits>

namespace sconce {
inline namespace v0 {
namespace compat {
/// What is bound in a block: never made, only named.
namespace python {

/// An argument's name, perhaps with a default.
struct arg {
  constexpr explicit arg(const char*) noexcept {}
  constexpr arg& noconvert(bool = true) noexcept { return *this; }
  constexpr arg& none(bool = true) noexcept { return *this; }
  template <class T>
  constexpr arg& operator=(const T&) noexcept {
    return *this;
  }
};

/// Anything that a block names; it has the members that blocks call.
struct anything {
  constexpr anything() noexcept = default;
  template <class... Arguments>
  anything& def(Arguments&&...) {
    return *this;
  }
  template <class... Arguments>
  anything& def_static(Arguments&&...) {
    return *this;
  }
  template <class... Arguments>
  anything& def_readonly(Arguments&&...) {
    return *this;
  }
  template <class... Arguments>
  anything& def_readwrite(Arguments&&...) {
    return *this;
  }
  template <class... Arguments>
  anything& def_property(Arguments&&...) {
    return *this;
  }
  template <class... Arguments>
  anything& def_property_readonly(Arguments&&...) {
    return *this;
  }
  template <class... Arguments>
  anything& def_property_readonly_static(Arguments&&...) {
    return *this;
  }
  template <class... Arguments>
  anything& def_buffer(Arguments&&...) {
    return *this;
  }
  template <class... Arguments>
  anything& value(Arguments&&...) {
    return *this;
  }
  anything& export_values() { return *this; }
  template <class... Arguments>
  anything def_submodule(Arguments&&...) {
    return {};
  }
  template <class... Arguments>
  anything attr(Arguments&&...) const {
    return {};
  }
  template <class... Arguments>
  anything operator()(Arguments&&...) const {
    return {};
  }
  template <class T>
  anything& operator=(const T&) {
    return *this;
  }
  anything(const anything&) = default;
  anything& operator=(const anything&) = default;
};

template <class...>
struct class_ : anything {
  template <class... Arguments>
  explicit class_(Arguments&&...) {}
};
template <class>
struct enum_ : anything {
  template <class... Arguments>
  explicit enum_(Arguments&&...) {}
};
struct module_ : anything {
  template <class... Arguments>
  static module_ import(Arguments&&...) {
    return {};
  }
};
using module = module_;
// Values of attributes.
struct float_ : anything {
  template <class T>
  explicit float_(const T&) {}
};
using int_ = float_;
using bool_ = float_;
using str = float_;
struct options : anything {
  options& disable_function_signatures() { return *this; }
  options& disable_user_defined_docstrings() { return *this; }
};

template <class... Arguments>
constexpr anything init(Arguments&&...) {
  return {};
}
template <class... Signature, class... Arguments,
          std::enable_if_t<sizeof...(Signature) != 0, int> = 0>
constexpr anything init(Arguments&&...) {
  return {};
}
template <class... Arguments>
constexpr anything pickle(Arguments&&...) {
  return {};
}
template <class... Arguments>
constexpr anything cpp_function(Arguments&&...) {
  return {};
}
template <class... Guards>
struct call_guard {};
template <std::size_t, std::size_t>
struct keep_alive {};
struct dynamic_attr {};
struct is_method {
  template <class T>
  explicit is_method(const T&) {}
};
struct kw_only {};
struct pos_only {};
struct buffer_protocol {};
struct module_local {
  constexpr explicit module_local(bool = true) {}
};
struct arithmetic {};
struct is_operator {};
struct none {};
enum class return_value_policy {
  automatic,
  automatic_reference,
  take_ownership,
  copy,
  move,
  reference,
  reference_internal
};

/// Python's lock, which there is no use for.
struct gil_scoped_release {
  gil_scoped_release() noexcept {}
  gil_scoped_release(const gil_scoped_release&) = delete;
  gil_scoped_release& operator=(const gil_scoped_release&) = delete;
  ~gil_scoped_release() {}  // NOLINT: so that a guard is no unused variable
};
using gil_scoped_acquire = gil_scoped_release;

template <class... Arguments>
struct overload_cast {
  template <class R>
  constexpr auto operator()(R (*function)(Arguments...)) const {
    return function;
  }
  template <class R, class C>
  constexpr auto operator()(R (C::*method)(Arguments...)) const {
    return method;
  }
  template <class R, class C>
  constexpr auto operator()(R (C::*method)(Arguments...) const, std::true_type) const {
    return method;
  }
};
inline constexpr std::true_type const_{};

namespace literals {
constexpr arg operator""_a(const char* name, std::size_t) { return arg(name); }
}  // namespace literals

}  // namespace python
}  // namespace compat
}  // namespace v0
}  // namespace sconce

namespace pybind11 {
using namespace ::sconce::compat::python;
namespace literals = ::sconce::compat::python::literals;
namespace detail {}
}  // namespace pybind11
// As PyTorch's headers do.
namespace py = pybind11;

// A template, so that what depends on the module is not looked up; nothing calls it.
#define PYBIND11_MODULE(name, ...)                  \
  template <class SconceModule>                     \
  [[maybe_unused]] static void python_module_block( \
      [[maybe_unused]] SconceModule& SCONCE_C10_COMPAT_HEAD(__VA_ARGS__, ""))
#define PYBIND11_MAKE_OPAQUE(...)
#define PYBIND11_DECLARE_HOLDER_TYPE(...)

#endif
/// \endcond

#endif  // SCONCE_COMPAT_PYTHON_PYBIND11_HPP
