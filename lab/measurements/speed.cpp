// Time of a norm: as separate PyTorch operations, PyTorch's own operator and ours, in one process,
// taking turns. Only ratios mean something on another machine.
//
// The one trap: runs side by side disturb each other; with --jobs 1 the ratios are steadier.
#include <ATen/core/grad_mode.h>
#include <ATen/ops/layer_norm.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/rms_norm.h>
#include <ATen/ops/zeros.h>

#include <algorithm>
#include <array>
#include <functional>

#include "equinorm/torch/functional.hpp"
#include "lab/experiment/statistics.hpp"
#include "lab/measurements/measurements.hpp"
#include "lab/measurements/normals.hpp"
#include "lab/models/parameters.hpp"
#include "lab/training/clock.hpp"

namespace equinorm::lab {
namespace {

constexpr double kEps = 1e-5;
constexpr std::int64_t kElements = 1 << 19;  // 2 MiB of f32
constexpr int kTurns = 101;

struct Setting {
  bool layer = true;
  bool backward = false;
  std::int64_t width = 0;
};

struct Tensors {
  at::Tensor x, dy, gamma, beta;
};

using Norm = std::function<at::Tensor(const Tensors&)>;

at::Tensor composed(const Tensors& t, bool layer) {
  const at::Tensor centred = layer ? t.x - t.x.mean(1, true) : t.x;
  const at::Tensor y = centred / (centred.square().mean(1, true) + kEps).sqrt() * t.gamma;
  return layer ? y + t.beta : y;
}

std::array<Norm, 3> contenders(const Setting& setting) {
  const std::int64_t d = setting.width;
  if (setting.layer) {
    return {[](const Tensors& t) { return composed(t, true); },
            [d](const Tensors& t) { return at::layer_norm(t.x, {d}, t.gamma, t.beta, kEps); },
            [d](const Tensors& t) {
              return equinorm::torch::layer_norm(t.x, {d}, t.gamma, t.beta, kEps);
            }};
  }
  return {[](const Tensors& t) { return composed(t, false); },
          [d](const Tensors& t) { return at::rms_norm(t.x, {d}, t.gamma, kEps); },
          [d](const Tensors& t) { return equinorm::torch::rms_norm(t.x, {d}, t.gamma, kEps); }};
}

double seconds_of(const Norm& norm, const Tensors& tensors, bool backward) {
  const Stopwatch watch;
  if (backward) {
    norm(tensors).backward(tensors.dy);
  } else {
    const at::NoGradGuard no_grad;
    static_cast<void>(norm(tensors));
  }
  const double seconds = watch.seconds();
  for (const at::Tensor& t : {tensors.x, tensors.gamma, tensors.beta})
    t.mutable_grad() = at::Tensor();
  return seconds;
}

MeasurementResult measure(const Setting& setting, std::uint64_t seed) {
  Random random(derive_seed(seed, "rows"));
  const std::int64_t rows = kElements / setting.width;
  Tensors tensors{normal_tensor(random, {rows, setting.width}),
                  normal_tensor(random, {rows, setting.width}), at::ones({setting.width}),
                  at::zeros({setting.width})};
  for (at::Tensor* t : {&tensors.x, &tensors.gamma, &tensors.beta}) t->requires_grad_(true);
  const std::array<Norm, 3> norms = contenders(setting);
  std::array<std::vector<double>, 3> seconds;
  for (int turn = -3; turn < kTurns; ++turn) {  // the first turns fill caches and allocators
    for (std::size_t i = 0; i < norms.size(); ++i) {
      const double time = seconds_of(norms[i], tensors, setting.backward);
      if (turn >= 0) seconds[i].push_back(time);
    }
  }
  const double ours = median(seconds[2]);
  MeasurementResult result;
  result.metrics["composed_over_ours"] = median(seconds[0]) / ours;
  result.metrics["pytorch_over_ours"] = median(seconds[1]) / ours;
  result.metrics["ns_per_row"] = 1e9 * ours / static_cast<double>(rows);
  // Read x, write y, and in backward read x and dy, write dx.
  const double bytes = 4.0 * kElements * (setting.backward ? 5 : 2);
  result.metrics["gigabytes_per_second"] = bytes / ours / 1e9;
  return result;
}

}  // namespace

Measure prepare_speed(Parameters& parameters) {
  Setting setting;
  setting.layer = parameters.choice("norm", "layer", {"layer", "rms"}) == "layer";
  setting.backward = parameters.choice("direction", "forward", {"forward", "both"}) == "both";
  setting.width = parameters.integer("width", 768, 16, 1 << 16);
  return [setting](std::uint64_t seed) { return measure(setting, seed); };
}

}  // namespace equinorm::lab
