// Stands for an object file that was compiled with PyTorch's headers: it has a class at::Tensor of
// its own, whose members have the names and the signatures of ours, but another layout. It includes
// no header of Sconce.
#include "foreign.hpp"

#include <cstdint>
#include <vector>

namespace at {

class Tensor {
 public:
  Tensor() : elements_(7), marks_{1, 2, 3, 4, 5} {}
  Tensor(const Tensor& other) : elements_(other.elements_), marks_{5, 4, 3, 2, 1} {}
  Tensor& operator=(const Tensor& other) = default;
  ~Tensor() { ++foreign_destroyed; }
  bool defined() const { return elements_ != 0; }
  std::int64_t numel() const { return elements_; }
  std::int64_t dim() const { return marks_[0]; }

 private:
  std::int64_t elements_;
  std::int64_t marks_[5];
};

namespace native {
// Of the same name and with the same arguments as the other side's.
std::int64_t counted(const std::vector<Tensor>& tensors) {
  std::int64_t all = 0;
  for (const Tensor& tensor : tensors) {
    all += tensor.numel();
  }
  return all;
}
}  // namespace native
}  // namespace at

int foreign_destroyed = 0;

std::int64_t foreign_count(std::size_t tensors) {
  std::vector<at::Tensor> all;
  for (std::size_t at = 0; at < tensors; ++at) {
    all.emplace_back();  // grows: copies, and destroys the old ones
  }
  return at::native::counted(all);
}
