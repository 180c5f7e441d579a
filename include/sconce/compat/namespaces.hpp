/// \file
/// The namespaces `c10`, `at` and `torch` themselves, with the names of `<sconce/compat/c10.hpp>`.
/// What the headers in `sconce/torch_headers/` include. A translation unit that includes it does
/// not include headers of PyTorch.
///
/// The namespaces hold directives, no entities: a function that is compiled here has the mangled
/// name of one in `sconce`, so object files that were compiled with PyTorch's headers may be in the
/// same program. Code may reopen the namespaces, and a name that it declares there hides one of
/// this library. Classes that public code declares forward (`namespace at { class Tensor; }`) are
/// named one by one: the declaration then names the class that is there.
#ifndef SCONCE_COMPAT_NAMESPACES_HPP
#define SCONCE_COMPAT_NAMESPACES_HPP

#include <sconce/compat/c10.hpp>

/// \cond
// Namespaces that a directive names must exist.
namespace sconce {
inline namespace v0 {
namespace compat {
namespace c10 {
namespace cuda {
namespace CUDACachingAllocator {}
namespace impl {}
}  // namespace cuda
namespace detail {}
namespace impl {}
namespace util {}
}  // namespace c10
namespace at {
namespace cuda {
namespace blas {}
namespace detail {}
namespace philox {}
namespace solver {}
namespace sparse {}
}  // namespace cuda
namespace detail {}
namespace indexing {}
namespace internal {}
namespace native {}
}  // namespace at
namespace torch {
namespace autograd {}
namespace cuda {}
namespace detail {}
namespace nn {
namespace functional {}
}  // namespace nn
namespace utils {}
}  // namespace torch
}  // namespace compat
}  // namespace v0
}  // namespace sconce

namespace c10 {
using namespace ::sconce::compat::c10;
using ::sconce::Device;
using ::sconce::Scalar;
using ::sconce::compat::c10::BFloat16;
using ::sconce::compat::c10::Half;
namespace cuda {
using namespace ::sconce::compat::c10::cuda;
namespace CUDACachingAllocator {
using namespace ::sconce::compat::c10::cuda::CUDACachingAllocator;
}  // namespace CUDACachingAllocator
namespace impl {
using namespace ::sconce::compat::c10::cuda::impl;
}  // namespace impl
}  // namespace cuda
namespace detail {
using namespace ::sconce::compat::c10::detail;
}  // namespace detail
namespace impl {
using namespace ::sconce::compat::c10::impl;
}  // namespace impl
namespace util {
using namespace ::sconce::compat::c10::util;
}  // namespace util
}  // namespace c10

namespace at {
using namespace ::sconce::compat::at;
using ::sconce::Scalar;
using ::sconce::Tensor;
using ::sconce::TensorBase;
using ::sconce::compat::at::Generator;
namespace cuda {
using namespace ::sconce::compat::at::cuda;
namespace blas {
using namespace ::sconce::compat::at::cuda::blas;
}  // namespace blas
namespace detail {
using namespace ::sconce::compat::at::cuda::detail;
}  // namespace detail
namespace philox {
using namespace ::sconce::compat::at::cuda::philox;
}  // namespace philox
namespace solver {
using namespace ::sconce::compat::at::cuda::solver;
}  // namespace solver
namespace sparse {
using namespace ::sconce::compat::at::cuda::sparse;
}  // namespace sparse
}  // namespace cuda
namespace detail {
using namespace ::sconce::compat::at::detail;
}  // namespace detail
namespace internal {
using namespace ::sconce::compat::at::internal;
}  // namespace internal
namespace native {
using namespace ::sconce::compat::at::native;
}  // namespace native
// An alias: `using namespace at; indexing::Slice` finds one namespace.
namespace indexing = ::sconce::compat::at::indexing;
}  // namespace at

namespace torch {
using namespace ::sconce::compat::torch;
using ::sconce::Tensor;
namespace autograd {
using namespace ::sconce::compat::torch::autograd;
}  // namespace autograd
namespace cuda {
using namespace ::sconce::compat::torch::cuda;
}  // namespace cuda
namespace detail {
using namespace ::sconce::compat::torch::detail;
}  // namespace detail
namespace utils {
using namespace ::sconce::compat::torch::utils;
}  // namespace utils
namespace indexing = ::sconce::compat::at::indexing;
namespace nn = ::sconce::compat::torch::nn;
}  // namespace torch
/// \endcond

#endif  // SCONCE_COMPAT_NAMESPACES_HPP
