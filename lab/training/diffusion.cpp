#include "lab/training/diffusion.hpp"

#include <ATen/ops/full.h>

#include <cmath>

namespace equinorm::lab {
namespace {

constexpr double kQuarterTurn = 1.5707963267948966;

}  // namespace

at::Tensor add_noise(const at::Tensor& images, const at::Tensor& noise, const at::Tensor& times) {
  const at::Tensor angle = (times * kQuarterTurn).view({-1, 1, 1});
  return angle.cos() * images + angle.sin() * noise;
}

at::Tensor sample_images(at::Tensor x, int steps,
                         const std::function<at::Tensor(const at::Tensor& images,
                                                        const at::Tensor& times)>& find_noise) {
  for (int i = 0; i < steps; ++i) {
    const double span = (kLastTime - kFirstTime) / steps;
    const double time = kLastTime - i * span;
    const double angle = kQuarterTurn * time;
    const double next = i + 1 == steps ? 0 : kQuarterTurn * (time - span);
    const at::Tensor noise = find_noise(x, at::full({x.size(0)}, time, x.options()));
    const at::Tensor image = ((x - std::sin(angle) * noise) / std::cos(angle)).clamp(-1, 1);
    // The noise that goes with the image as it was clamped.
    const at::Tensor rest = (x - std::cos(angle) * image) / std::sin(angle);
    x = std::cos(next) * image + std::sin(next) * rest;
  }
  return x;
}

}  // namespace equinorm::lab
