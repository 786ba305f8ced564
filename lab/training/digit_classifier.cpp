#include "lab/training/digit_classifier.hpp"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/cross_entropy_loss.h>

#include "lab/training/optimizer.hpp"

namespace equinorm::lab {
namespace {

constexpr std::int64_t kHidden = 64;
constexpr int kSteps = 300;  // on all images at once
constexpr double kRate = 5e-3;

}  // namespace

DigitClassifier::DigitClassifier(const at::Tensor& images, const at::Tensor& labels,
                                 std::int64_t classes)
    : parameters_(0, at::kFloat),
      hidden_({"hidden", ParameterKind::fc1}, {images[0].numel(), kHidden}, Linear::Start::xavier,
              parameters_),
      head_({"head", ParameterKind::head}, {kHidden, classes}, Linear::Start::xavier, parameters_) {
  Adam adam(parameters_.all());
  for (int step = 0; step < kSteps; ++step) {
    at::cross_entropy_loss(scores(images), labels).backward();
    adam.step(kRate);
  }
}

at::Tensor DigitClassifier::scores(const at::Tensor& images) const {
  return head_.forward(hidden_.forward(images.flatten(1)).relu());
}

double DigitClassifier::accuracy(const at::Tensor& images, const at::Tensor& labels) const {
  const at::NoGradGuard no_grad;
  return scores(images).argmax(1).eq(labels).to(at::kDouble).mean().item<double>();
}

}  // namespace equinorm::lab
