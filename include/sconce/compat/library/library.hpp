/// \file
/// `TORCH_LIBRARY` and its relatives: registration of operators with libsconce_torch, so that
/// `sconce_op_find` finds them and `sconce_op_call` calls them. Part of
/// `<sconce/compat/torch.hpp>`.
///
/// Units that register operators link with libsconce_torch; others do not need it. A registration
/// that is refused throws in the static initialiser, as in PyTorch.
#ifndef SCONCE_COMPAT_LIBRARY_LIBRARY_HPP
#define SCONCE_COMPAT_LIBRARY_LIBRARY_HPP

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <sconce/compat/library/words.hpp>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>

/// \cond
namespace sconce {
inline namespace v0 {
namespace compat {
#pragma GCC visibility push(hidden)
namespace library {

/// A boxed kernel of the ABI.
using Boxed = void (*)(std::uint64_t* stack, std::uint64_t arguments, std::uint64_t results);

/// How many functions of one signature a shared library registers at most.
inline constexpr std::size_t slots_of_a_signature = 64;

template <class Signature>
struct Calls;
/// The kernels of a signature. A boxed kernel is a function without data, so each has a slot.
template <class R, class... Arguments>
struct Calls<R(Arguments...)> {
  static constexpr bool passed = Results<R>::passed && (Word<Held<Arguments>>::passed && ...);
  using Function = std::function<R(Arguments...)>;

  static std::string schema(const std::string& name) {
    std::string text;
    std::size_t at = 0;
    ((text += (at == 0 ? "" : ", ") + Word<Held<Arguments>>::name() + " _" + std::to_string(at),
      ++at),
     ...);
    return name + "(" + text + ") -> " + Results<R>::name();
  }

  static Boxed kernel(Function function) {
    static std::atomic<std::size_t> used{0};
    const std::size_t slot = used.fetch_add(1);
    if (slot >= slots_of_a_signature) {
      throw NotSupportedError(
          SCONCE_ERROR_NOT_SUPPORTED,
          "more than " + std::to_string(slots_of_a_signature) +
              " operators of one C++ signature; register the others in another shared library");
    }
    slots()[slot] = std::move(function);
    return table(std::make_index_sequence<slots_of_a_signature>())[slot];
  }

 private:
  static Function* slots() {
    static Function all[slots_of_a_signature];
    return all;
  }
  template <std::size_t... At>
  static const Boxed* table(std::index_sequence<At...>) {
    static constexpr Boxed all[] = {&boxed<At>...};
    return all;
  }
  template <std::size_t At>
  static void boxed(std::uint64_t* stack, std::uint64_t arguments, std::uint64_t) {
    run(slots()[At], stack, arguments, std::index_sequence_for<Arguments...>());
  }
  template <std::size_t... At>
  static void run(const Function& function, std::uint64_t* stack, std::uint64_t arguments,
                  std::index_sequence<At...>) {
    if (arguments != sizeof...(Arguments)) {
      throw Error(SCONCE_ERROR_INVALID_ARGUMENT, "the schema has " + std::to_string(arguments) +
                                                     " arguments, and the C++ function has " +
                                                     std::to_string(sizeof...(Arguments)));
    }
    // Every word is taken before anything is called: this function owns them.
    std::tuple<Held<Arguments>...> held{Word<Held<Arguments>>::take(stack[At])...};
    if constexpr (std::is_void_v<R>) {
      function(argument<Arguments>(std::get<At>(held))...);
    } else {
      Results<R>::give(function(argument<Arguments>(std::get<At>(held))...), stack);
    }
  }
};

/// The signature of a function or of an object that is called like one.
template <class F, class = void>
struct SignatureOf;
template <class R, class... Arguments>
struct SignatureOf<R(Arguments...), void> {
  using type = R(Arguments...);
};
template <class R, class... Arguments>
struct SignatureOf<R (*)(Arguments...), void> {
  using type = R(Arguments...);
};
template <class Method>
struct OfMethod;
template <class C, class R, class... Arguments>
struct OfMethod<R (C::*)(Arguments...)> {
  using type = R(Arguments...);
};
template <class C, class R, class... Arguments>
struct OfMethod<R (C::*)(Arguments...) const> {
  using type = R(Arguments...);
};
template <class F>
struct SignatureOf<F, std::void_t<decltype(&F::operator())>> : OfMethod<decltype(&F::operator())> {
};

}  // namespace library
#pragma GCC visibility pop

namespace c10 {

/// Which kernel of an operator: for tensors of a device, or for a function of the dispatcher.
/// Kernels of `CPU`, `CUDA`, the composite keys and without a key are called; others are kept.
enum class DispatchKey : std::uint16_t {
  Undefined,
  CatchAll = Undefined,
  CPU,
  CUDA,
  Meta,
  MPS,
  XPU,
  HPU,
  PrivateUse1,
  SparseCPU,
  SparseCUDA,
  QuantizedCPU,
  QuantizedCUDA,
  BackendSelect,
  ADInplaceOrView,
  Autograd,
  AutogradCPU,
  AutogradCUDA,
  AutogradOther,
  Autocast,
  AutocastCPU,
  AutocastCUDA,
  CompositeImplicitAutograd,
  CompositeExplicitAutograd,
  CompositeExplicitAutogradNonFunctional,
};
/// The name of a key.
[[nodiscard]] inline const char* toString(DispatchKey key) noexcept {
  static constexpr const char* names[] = {"",
                                          "CPU",
                                          "CUDA",
                                          "Meta",
                                          "MPS",
                                          "XPU",
                                          "HPU",
                                          "PrivateUse1",
                                          "SparseCPU",
                                          "SparseCUDA",
                                          "QuantizedCPU",
                                          "QuantizedCUDA",
                                          "BackendSelect",
                                          "ADInplaceOrView",
                                          "Autograd",
                                          "AutogradCPU",
                                          "AutogradCUDA",
                                          "AutogradOther",
                                          "Autocast",
                                          "AutocastCPU",
                                          "AutocastCUDA",
                                          "CompositeImplicitAutograd",
                                          "CompositeExplicitAutograd",
                                          "CompositeExplicitAutogradNonFunctional"};
  return names[static_cast<std::size_t>(key)];
}

}  // namespace c10

namespace torch {

/// A kernel with what the registry needs of it. Corresponds to `torch::CppFunction`.
class CppFunction {
 public:
  template <class F>
  CppFunction(F function) {  // NOLINT: as torch's
    using Signature = typename library::SignatureOf<std::decay_t<F>>::type;
    if constexpr (library::Calls<Signature>::passed) {
      schema_ = &library::Calls<Signature>::schema;
      make_ = [function = std::move(function)] {
        return library::Calls<Signature>::kernel(function);
      };
    }
  }
  /// A kernel that passes calls on: there is nothing that it would pass them from.
  static CppFunction makeFallthrough() { return CppFunction(); }

  // For Library.
  [[nodiscard]] bool is_passed() const { return static_cast<bool>(make_); }
  [[nodiscard]] library::Boxed boxed() const { return make_(); }
  [[nodiscard]] std::string schema(const std::string& name) const { return schema_(name); }
  [[nodiscard]] c10::DispatchKey key() const noexcept { return key_; }
  [[nodiscard]] bool is_fallthrough() const noexcept { return fallthrough_; }
  CppFunction with(c10::DispatchKey key) && {
    key_ = key;
    return std::move(*this);
  }

 private:
  CppFunction() : fallthrough_(true) {}
  std::function<library::Boxed()> make_;
  std::string (*schema_)(const std::string&) = nullptr;
  c10::DispatchKey key_ = c10::DispatchKey::Undefined;
  bool fallthrough_ = false;
};

/// A kernel for a key. Corresponds to `torch::dispatch`.
template <class F>
[[nodiscard]] CppFunction dispatch(c10::DispatchKey key, F&& function) {
  return CppFunction(std::forward<F>(function)).with(key);
}
template <class F>
[[nodiscard]] CppFunction dispatch(DeviceType device, F&& function) {
  return dispatch(device == DeviceType::CUDA ? c10::DispatchKey::CUDA : c10::DispatchKey::CPU,
                  std::forward<F>(function));
}

/// A C++ class of a library. PyTorch makes it known to TorchScript; there is none here, so nothing
/// is registered. Corresponds to `torch::class_`.
template <class C>
class class_ {
 public:
  class_() = default;
  template <class... More>
  explicit class_(const std::string&, const std::string&, More&&...) {}
  template <class... More>
  class_& def(More&&...) {
    return *this;
  }
  template <class... More>
  class_& def_static(More&&...) {
    return *this;
  }
  template <class... More>
  class_& def_readonly(More&&...) {
    return *this;
  }
  template <class... More>
  class_& def_readwrite(More&&...) {
    return *this;
  }
  template <class... More>
  class_& def_property(More&&...) {
    return *this;
  }
  template <class... More>
  class_& def_pickle(More&&...) {
    return *this;
  }
};
/// The arguments of a constructor.
template <class... Arguments>
struct init_types {};
template <class... Arguments>
init_types<Arguments...> init() {
  return {};
}

/// What a block of `TORCH_LIBRARY` registers into. Corresponds to `torch::Library`.
class Library {
 public:
  enum Kind { DEF, IMPL, FRAGMENT };

  Library(Kind kind, std::string ns, const char* key, const char* file, std::uint32_t line)
      : namespace_(std::move(ns)), file_(file), line_(line), is_impl_(kind == IMPL) {
    TorchLibraryOpaque* made = nullptr;
    if (kind == IMPL) {
      library::check(::aoti_torch_library_init_impl(namespace_.c_str(), key, file, line, &made));
    } else if (kind == DEF) {
      library::check(::aoti_torch_library_init_def(namespace_.c_str(), file, line, &made));
    } else {
      library::check(::aoti_torch_library_init_fragment(namespace_.c_str(), file, line, &made));
    }
    own_ = Owner(made);
  }
  Library(Library&&) = default;
  Library(const Library&) = delete;
  Library& operator=(const Library&) = delete;
  Library& operator=(Library&&) = delete;
  ~Library() = default;

  /// Defines an operator by its schema.
  template <class... Tags>
  Library& def(const std::string& schema, const Tags&...) {
    library::check(::aoti_torch_library_def(own_.get(), within(schema).c_str()));
    return *this;
  }
  /// Defines an operator with a function for tensors of any device. Without a schema it is that of
  /// the function.
  template <class F,
            std::enable_if_t<std::is_constructible_v<CppFunction, F> &&
                                 !std::is_convertible_v<F, std::string>,
                             int> = 0,
            class... Tags>
  Library& def(const std::string& name_or_schema, F&& raw, const Tags&...) {
    CppFunction function(std::forward<F>(raw));
    const std::string text = within(name_or_schema);
    const bool is_schema = text.find('(') != std::string::npos;
    if (!is_schema && !refused(text, function)) {
      def(function.schema(text));
    } else if (is_schema) {
      def(text);
    }
    return impl(text.substr(0, text.find('(')), std::move(function));
  }
  /// Implements an operator, for the key of this block or of the function.
  template <class F>
  Library& impl(const std::string& name, F&& raw) {
    CppFunction function(std::forward<F>(raw));
    const std::string text = within(name);
    if (function.is_fallthrough() || refused(text, function)) {
      return *this;
    }
    library::check(
        ::aoti_torch_library_impl(of_key(function.key()), text.c_str(), function.boxed()));
    return *this;
  }
  template <class F>
  Library& impl(const std::string& name, c10::DispatchKey key, F&& function) {
    return impl(name, dispatch(key, std::forward<F>(function)));
  }
  template <class F>
  Library& impl(const std::string& name, DeviceType device, F&& function) {
    return impl(name, dispatch(device, std::forward<F>(function)));
  }
  /// A kernel for all operators: PyTorch uses it for functions of its dispatcher, which is not
  /// here.
  template <class F>
  Library& fallback(F&&) {
    return *this;
  }
  template <class C, class... More>
  torch::class_<C> class_(const std::string&, More&&...) {
    return {};
  }
  /// Where Python has descriptions of operators: nothing here reads them.
  void set_python_module(const char*, const char* = "") noexcept {}

 private:
  struct Delete {
    void operator()(TorchLibraryOpaque* made) const noexcept {
      static_cast<void>(::aoti_torch_delete_library_object(made));
    }
  };
  using Owner = std::unique_ptr<TorchLibraryOpaque, Delete>;

  /// The name without this block's namespace.
  [[nodiscard]] std::string within(const std::string& name) const {
    const std::string prefix = namespace_ + "::";
    return name.compare(0, prefix.size(), prefix) == 0 ? name.substr(prefix.size()) : name;
  }
  /// Whether the function has a type that the ABI does not pass. It says so, and calls then fail
  /// with an error: there is no kernel.
  [[nodiscard]] bool refused(const std::string& name, const CppFunction& function) const {
    if (function.is_passed() || function.is_fallthrough()) {
      return false;
    }
    TORCH_WARN("the operator ", namespace_, "::", name,
               " is not registered: its C++ function has an argument or a result of a type that "
               "operators of Sconce do not have");
    return true;
  }
  TorchLibraryOpaque* of_key(c10::DispatchKey key) {
    if (key == c10::DispatchKey::Undefined) {
      if (is_impl_) {
        return own_.get();
      }
      key = c10::DispatchKey::CompositeImplicitAutograd;
    }
    Owner& of = of_keys_[key];
    if (!of) {
      TorchLibraryOpaque* made = nullptr;
      library::check(::aoti_torch_library_init_impl(namespace_.c_str(), c10::toString(key), file_,
                                                    line_, &made));
      of = Owner(made);
    }
    return of.get();
  }

  std::string namespace_;
  const char* file_;
  std::uint32_t line_;
  bool is_impl_;
  Owner own_;
  std::map<c10::DispatchKey, Owner> of_keys_;
};

/// Registers operators whose names have their namespaces. Corresponds to
/// `torch::RegisterOperators`.
class RegisterOperators {
 public:
  RegisterOperators() = default;
  template <class F>
  RegisterOperators(const std::string& name_or_schema, F&& function) {
    static_cast<void>(op(name_or_schema, std::forward<F>(function)));
  }
  RegisterOperators(RegisterOperators&&) = default;
  RegisterOperators& operator=(RegisterOperators&&) = default;
  RegisterOperators(const RegisterOperators&) = delete;
  RegisterOperators& operator=(const RegisterOperators&) = delete;
  ~RegisterOperators() = default;
  template <class F>
  RegisterOperators&& op(const std::string& name_or_schema, F&& function) && {
    return std::move(add(name_or_schema, std::forward<F>(function)));
  }
  template <class F>
  RegisterOperators& op(const std::string& name_or_schema, F&& function) & {
    return add(name_or_schema, std::forward<F>(function));
  }

 private:
  template <class F>
  RegisterOperators& add(const std::string& name_or_schema, F&& function) {
    const std::size_t end = name_or_schema.find("::");
    TORCH_CHECK(end != std::string::npos, "the operator ", name_or_schema, " has no namespace");
    libraries_.push_back(std::make_unique<Library>(Library::FRAGMENT, name_or_schema.substr(0, end),
                                                   "", "torch::RegisterOperators", 0));
    static_cast<void>(libraries_.back()->def(name_or_schema, std::forward<F>(function)));
    return *this;
  }
  std::vector<std::unique_ptr<Library>> libraries_;
};

namespace detail {

/// The static object of a block.
class TorchLibraryInit {
 public:
  TorchLibraryInit(Library::Kind kind, void (*block)(Library&), const char* ns, const char* key,
                   const char* file, std::uint32_t line)
      : library_(kind, ns, key, file, line) {
    block(library_);
  }

 private:
  Library library_;
};

}  // namespace detail
}  // namespace torch

namespace c10 {
using RegisterOperators = torch::RegisterOperators;
}  // namespace c10
}  // namespace compat
}  // namespace v0
}  // namespace sconce

#define SCONCE_COMPAT_JOINED_(a, b) a##b
#define SCONCE_COMPAT_JOINED(a, b) SCONCE_COMPAT_JOINED_(a, b)
#define SCONCE_COMPAT_LIBRARY(kind, ns, key, m, id)                                              \
  static void SCONCE_COMPAT_JOINED(torch_library_block_, id)(::sconce::compat::torch::Library&); \
  static const ::sconce::compat::torch::detail::TorchLibraryInit SCONCE_COMPAT_JOINED(           \
      torch_library_, id)(::sconce::compat::torch::Library::kind,                                \
                          &SCONCE_COMPAT_JOINED(torch_library_block_, id), #ns, key, __FILE__,   \
                          __LINE__);                                                             \
  static void SCONCE_COMPAT_JOINED(torch_library_block_,                                         \
                                   id)([[maybe_unused]] ::sconce::compat::torch::Library & m)
#ifndef TORCH_LIBRARY
#define TORCH_LIBRARY(ns, m) \
  SCONCE_COMPAT_LIBRARY(DEF, ns, "", m, SCONCE_COMPAT_JOINED(ns, __COUNTER__))
#define TORCH_LIBRARY_FRAGMENT(ns, m) \
  SCONCE_COMPAT_LIBRARY(FRAGMENT, ns, "", m, SCONCE_COMPAT_JOINED(ns, __COUNTER__))
#define TORCH_LIBRARY_IMPL(ns, k, m) \
  SCONCE_COMPAT_LIBRARY(IMPL, ns, #k, m, SCONCE_COMPAT_JOINED(ns, __COUNTER__))
#define TORCH_FN(function) (&function)
#define TORCH_FN_TYPE(function) decltype(&function)
#define TORCH_BOX(function) (function)
#define TORCH_SELECTIVE_NAME(name) name
#define TORCH_SELECTIVE_SCHEMA(schema) schema
#define TORCH_SELECTIVE_CLASS(name) name
#define STABLE_TORCH_LIBRARY(ns, m) TORCH_LIBRARY(ns, m)
#define STABLE_TORCH_LIBRARY_FRAGMENT(ns, m) TORCH_LIBRARY_FRAGMENT(ns, m)
#define STABLE_TORCH_LIBRARY_IMPL(ns, k, m) TORCH_LIBRARY_IMPL(ns, k, m)
#endif
/// \endcond

#endif  // SCONCE_COMPAT_LIBRARY_LIBRARY_HPP
