// torchvision's operator nms on the CPU, under its name and schema, for the program of the guide:
// of boxes that overlap by more than a threshold the one with the best score is kept.
#include <algorithm>
#include <numeric>

#include "abi.hpp"

extern "C" {
std::int32_t aoti_torch_empty_strided(std::int64_t, const std::int64_t*, const std::int64_t*,
                                      std::int32_t, std::int32_t, std::int32_t, void**);
std::int32_t aoti_torch_dtype_int64();
std::int32_t aoti_torch_device_type_cpu();
}

namespace {

// The area that two boxes share as a part of the area that they cover.
float overlap(const float* a, const float* b) {
  const auto area = [](const float* box) { return (box[2] - box[0]) * (box[3] - box[1]); };
  const float width = std::min(a[2], b[2]) - std::max(a[0], b[0]);
  const float height = std::min(a[3], b[3]) - std::max(a[1], b[1]);
  const float shared = std::max(width, 0.0F) * std::max(height, 0.0F);
  return shared / (area(a) + area(b) - shared);
}

// nms(Tensor dets, Tensor scores, float iou_threshold) -> Tensor
void nms(std::uint64_t* stack, std::uint64_t, std::uint64_t) {
  const Handle boxes(stack[0]);
  const Handle scores(stack[1]);
  const auto threshold = static_cast<float>(real(stack[2]));
  if (boxes.numel() != 4 * scores.numel()) {
    throw std::invalid_argument("nms takes four numbers and a score of each box");
  }
  std::vector<std::int64_t> order(static_cast<std::size_t>(scores.numel()));
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(),
                   [&](auto a, auto b) { return scores.data()[a] > scores.data()[b]; });
  std::vector<std::int64_t> kept;
  for (const std::int64_t box : order) {
    const auto covers = [&](std::int64_t better) {
      return overlap(boxes.data() + 4 * better, boxes.data() + 4 * box) > threshold;
    };
    if (std::none_of(kept.begin(), kept.end(), covers)) {
      kept.push_back(box);
    }
  }
  const auto count = static_cast<std::int64_t>(kept.size());
  const std::int64_t step = 1;
  void* made = nullptr;
  check(aoti_torch_empty_strided(1, &count, &step, aoti_torch_dtype_int64(),
                                 aoti_torch_device_type_cpu(), 0, &made));
  Handle result(reinterpret_cast<std::uint64_t>(made));
  std::memcpy(result.data(), kept.data(), kept.size() * sizeof(std::int64_t));
  stack[0] = result.release();
}

// A library object that lives as long as this library.
class Vision {
 public:
  Vision() {
    check(aoti_torch_library_init_def("torchvision", __FILE__, __LINE__, &schemas_));
    check(aoti_torch_library_def(schemas_,
                                 "nms(Tensor dets, Tensor scores, float iou_threshold) -> Tensor"));
    check(aoti_torch_library_init_impl("torchvision", "CPU", __FILE__, __LINE__, &kernels_));
    check(torch_library_impl(kernels_, "nms", nms, version));
  }
  Vision(const Vision&) = delete;
  Vision& operator=(const Vision&) = delete;
  ~Vision() {
    aoti_torch_delete_library_object(kernels_);
    aoti_torch_delete_library_object(schemas_);
  }

 private:
  void* schemas_ = nullptr;
  void* kernels_ = nullptr;
};
const Vision vision;

}  // namespace
