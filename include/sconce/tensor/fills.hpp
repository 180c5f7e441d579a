/// \file
/// Methods that fill or resize a tensor, and those that make one like it.
/// `<sconce/tensor/tensor.hpp>` includes all headers of tensors.
#ifndef SCONCE_TENSOR_FILLS_HPP
#define SCONCE_TENSOR_FILLS_HPP

#include <sconce/c/tensor.h>

#include <cstdint>
#include <sconce/detail/tensor_calls.hpp>

namespace sconce {
inline namespace v0 {
namespace detail {

/// Options with a tensor's type and device where they set none.
inline TensorOptions options_like(const TensorBase& self, const TensorOptions& options) {
  TensorOptions result = options;
  if (!options.dtype_opt()) {
    result = result.dtype(self.dtype());
  }
  if (!options.device_opt()) {
    result = result.device(options.pinned_memory() ? Device(DeviceType::CPU) : self.device());
  }
  return result;
}

}  // namespace detail

inline Tensor Tensor::new_empty(IntArrayRef size, const TensorOptions& options) const {
  const sconce_tensor_options asked = detail::options_like(*this, options).get();
  return detail::tensor_of([&](sconce_tensor** out) {
    return ::sconce_tensor_empty(size.data(), size.size(), &asked, out);
  });
}
inline Tensor Tensor::new_empty_strided(IntArrayRef size, IntArrayRef stride,
                                        const TensorOptions& options) const {
  if (size.size() != stride.size()) {
    detail::throw_other_rank(size.size(), stride.size());
  }
  const sconce_tensor_options asked = detail::options_like(*this, options).get();
  return detail::tensor_of([&](sconce_tensor** out) {
    return ::sconce_tensor_empty_strided(size.data(), stride.data(), size.size(), &asked, out);
  });
}
inline Tensor Tensor::new_full(IntArrayRef size, const Scalar& fill_value,
                               const TensorOptions& options) const {
  const sconce_tensor_options asked = detail::options_like(*this, options).get();
  return detail::tensor_of([&](sconce_tensor** out) {
    return ::sconce_tensor_full(size.data(), size.size(), fill_value.get(), &asked, out);
  });
}
inline Tensor Tensor::new_zeros(IntArrayRef size, const TensorOptions& options) const {
  return new_full(size, 0, options);
}
inline Tensor Tensor::new_ones(IntArrayRef size, const TensorOptions& options) const {
  return new_full(size, 1, options);
}

inline const Tensor& Tensor::fill_(const Scalar& value) const {
  detail::check(::sconce_tensor_fill(get(), value.get()));
  return *this;
}
inline const Tensor& Tensor::resize_(IntArrayRef size) const {
  detail::check(::sconce_tensor_resize(get(), size.data(), size.size()));
  return *this;
}
inline const Tensor& Tensor::resize_as_(const TensorBase& other) const {
  return resize_(other.sizes());
}
inline const Tensor& Tensor::set_(const TensorBase& source) const {
  detail::check(::sconce_tensor_assign(get(), source.get()));
  return *this;
}
inline const Tensor& Tensor::zero_() const { return fill_(0); }
inline const Tensor& Tensor::uniform_(double from, double to,
                                      const cuda::OptionalGenerator& generator) const {
  detail::check(::sconce_tensor_uniform(get(), from, to, detail::handle(generator)));
  return *this;
}
inline const Tensor& Tensor::normal_(double mean, double std,
                                     const cuda::OptionalGenerator& generator) const {
  detail::check(::sconce_tensor_normal(get(), mean, std, detail::handle(generator)));
  return *this;
}
inline const Tensor& Tensor::log_normal_(double mean, double std,
                                         const cuda::OptionalGenerator& generator) const {
  detail::check(::sconce_tensor_log_normal(get(), mean, std, detail::handle(generator)));
  return *this;
}
inline const Tensor& Tensor::exponential_(double lambd,
                                          const cuda::OptionalGenerator& generator) const {
  detail::check(::sconce_tensor_exponential(get(), lambd, detail::handle(generator)));
  return *this;
}
inline const Tensor& Tensor::cauchy_(double median, double sigma,
                                     const cuda::OptionalGenerator& generator) const {
  detail::check(::sconce_tensor_cauchy(get(), median, sigma, detail::handle(generator)));
  return *this;
}
inline const Tensor& Tensor::geometric_(double p, const cuda::OptionalGenerator& generator) const {
  detail::check(::sconce_tensor_geometric(get(), p, detail::handle(generator)));
  return *this;
}
inline const Tensor& Tensor::bernoulli_(double p, const cuda::OptionalGenerator& generator) const {
  detail::check(::sconce_tensor_bernoulli(get(), p, detail::handle(generator)));
  return *this;
}
inline const Tensor& Tensor::random_(std::int64_t from, std::int64_t to,
                                     const cuda::OptionalGenerator& generator) const {
  detail::check(::sconce_tensor_random_integers(get(), from, to, detail::handle(generator)));
  return *this;
}
inline const Tensor& Tensor::random_(const cuda::OptionalGenerator& generator) const {
  detail::check(::sconce_tensor_random(get(), detail::handle(generator)));
  return *this;
}

}  // namespace v0
}  // namespace sconce

#endif  // SCONCE_TENSOR_FILLS_HPP
