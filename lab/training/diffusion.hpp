// The diffusion of images: how much noise there is at which time, and the way back from noise.
// Cosine schedule (Nichol and Dhariwal 2021) over times 0 to 1, deterministic sampling (Song et al.
// 2021).
#pragma once

#include <ATen/core/Tensor.h>

#include <functional>

namespace equinorm::lab {

/// Times lie in kFirstTime to kLastTime: without any noise, or any image, there is nothing to
/// learn.
inline constexpr double kFirstTime = 0.02;
inline constexpr double kLastTime = 0.98;

/// cos(pi t / 2) images + sin(pi t / 2) noise; times (samples), the others (samples, rows,
/// columns).
at::Tensor add_noise(const at::Tensor& images, const at::Tensor& noise, const at::Tensor& times);

/// From noise at kLastTime to images in `steps` steps; `find_noise` gives the noise in images at a
/// time. Images are taken to lie in -1 to 1.
at::Tensor sample_images(
    at::Tensor x, int steps,
    const std::function<at::Tensor(const at::Tensor& images, const at::Tensor& times)>& find_noise);

}  // namespace equinorm::lab
