#include "pair.hpp"

namespace detectron2 {
at::Tensor ROIAlignRotated_forward_cuda(const at::Tensor& input, const at::Tensor& rois,
                                        const float spatial_scale, const int pooled_height,
                                        const int pooled_width, const int sampling_ratio);
at::Tensor nms_rotated_cuda(const at::Tensor& dets, const at::Tensor& scores, double iou_threshold);
at::Tensor box_iou_rotated_cuda(const at::Tensor& boxes1, const at::Tensor& boxes2);
}  // namespace detectron2

int main() {
  return pair::main([] {
    pair::Numbers numbers;
    const auto image = numbers.real({2, 16, 40, 40});
    std::vector<float> flat;
    for (int i = 0; i < 64; ++i) {
      flat.push_back(static_cast<float>(i % 2));
      for (int k = 0; k < 4; ++k) flat.push_back(static_cast<float>(5 + 30 * numbers.unit()));
      flat.push_back(static_cast<float>(180 * numbers.unit() - 90));
    }
    const auto rois = pair::of<float>(flat, {64, 6}, torch::kFloat32);
    pair::check("roi_align_rotated", [&] {
      return std::vector<at::Tensor>{
          detectron2::ROIAlignRotated_forward_cuda(image, rois, 0.5F, 7, 7, 2)};
    });
    const auto boxes = rois.slice(1, 1, 6).contiguous();
    const auto scores = numbers.real({64});
    pair::check("box_iou_rotated", [&] {
      return std::vector<at::Tensor>{detectron2::box_iou_rotated_cuda(boxes, boxes)};
    });
    pair::check("nms_rotated", [&] {
      return std::vector<at::Tensor>{detectron2::nms_rotated_cuda(boxes, scores, 0.3)};
    });
  });
}
