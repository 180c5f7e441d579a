/// \file
/// What `<torch/extension.h>` of PyTorch declares, as far as this library has it. Every header in
/// `sconce/torch_headers/` includes it, because PyTorch's include each other in many ways that code
/// relies on.
#ifndef SCONCE_COMPAT_TORCH_HPP
#define SCONCE_COMPAT_TORCH_HPP

/// \cond
// PyTorch's headers bring these, and code relies on it.
#include <algorithm>
#include <array>
#include <atomic>
#include <cassert>
#include <cfloat>
#include <climits>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <functional>
#include <initializer_list>
#include <iomanip>
#include <iostream>
#include <limits>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <numeric>
#include <optional>
#include <set>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <tuple>
#include <type_traits>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <variant>
#include <vector>

#if !defined(SCONCE_C10_COMPAT_NO_CUDA_RUNTIME)
#if __has_include(<cuda_runtime_api.h>)
#include <cuda_runtime_api.h>
#endif
#if __has_include(<cuda_fp16.h>) && __has_include(<cuda_runtime_api.h>)
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#endif
#if __has_include(<cublas_v2.h>)
#include <cublasLt.h>
#include <cublas_v2.h>
#endif
#if __has_include(<cusparse.h>)
#include <cusparse.h>
#endif
#if __has_include(<cusolverDn.h>)
#include <cusolverDn.h>
#endif
#endif
#include <sconce/compat/core/marks.hpp>
#include <sconce/compat/core/stream.hpp>
#include <sconce/compat/cuda/calls.hpp>
#include <sconce/compat/cuda/handles.hpp>
#include <sconce/compat/library/library.hpp>
#include <sconce/compat/namespaces.hpp>
#include <sconce/compat/python/pybind11.hpp>

// Code takes branches for old versions if these are missing. They name the version whose names
// this library follows.
#ifndef TORCH_VERSION_MAJOR
#define TORCH_VERSION_MAJOR 2
#define TORCH_VERSION_MINOR 11
#define TORCH_VERSION_PATCH 0
#define TORCH_VERSION "2.11.0"
#endif
#ifdef __CUDACC__
using namespace ::sconce::compat::warp;
#endif
/// \endcond

#endif  // SCONCE_COMPAT_TORCH_HPP
