// Rows that eps is for: constant, zero, tiny. A norm written as a formula, every operation rounded
// to the element type, beside PyTorch's operator and ours, with gradients.
#include <ATen/ops/layer_norm.h>
#include <ATen/ops/ones_like.h>

#include <cmath>

#include "equinorm/torch/functional.hpp"
#include "lab/measurements/measurements.hpp"
#include "lab/measurements/normals.hpp"
#include "lab/models/parameters.hpp"

namespace equinorm::lab {
namespace {

constexpr std::int64_t kRows = 16;
constexpr std::int64_t kWidth = 64;

struct Setting {
  std::string code;
  std::string rows;
  at::ScalarType dtype = at::kFloat;
  double eps = 0;
};

at::Tensor draw_rows(const Setting& setting, Random& random) {
  at::Tensor x = normal_tensor(random, {kRows, kWidth}, at::kDouble);
  if (setting.rows == "constant") x = x.slice(1, 0, 1).expand({kRows, kWidth}).contiguous();
  if (setting.rows == "zero") x = x * 0;
  if (setting.rows == "tiny") x = x * 1e-4;  // whose squares are below fp16's smallest number
  return x.to(setting.dtype);
}

at::Tensor run(const Setting& setting, const at::Tensor& x) {
  if (setting.code == "equinorm") {
    return equinorm::torch::layer_norm(x, {kWidth}, {}, {}, setting.eps);
  }
  if (setting.code == "pytorch") return at::layer_norm(x, {kWidth}, {}, {}, setting.eps);
  if (setting.code == "clamp") {
    // An article's RMSNorm: x / max(|x| / sqrt(d), 1e-8), where 1e-8 is a number of the same type.
    const at::Tensor rms = x.norm(2, 1, true) / std::sqrt(static_cast<double>(kWidth));
    const at::Tensor floor = at::ones_like(rms) * 1e-8;
    return x / at::max(rms, floor);
  }
  const at::Tensor centred = x - x.mean(1, true);
  // eps as a number of the type, as a half-precision model has it.
  const at::Tensor eps = at::ones_like(x.slice(1, 0, 1)) * setting.eps;
  return centred / (centred.square().mean(1, true) + eps).sqrt();
}

double share_of_rows(const at::Tensor& rows) { return rows.to(at::kDouble).mean().item<double>(); }

MeasurementResult measure(const Setting& setting, std::uint64_t seed) {
  Random random(derive_seed(seed, "rows"));
  at::Tensor x = draw_rows(setting, random);
  x.requires_grad_(true);
  const at::Tensor y = run(setting, x);
  const at::Tensor weights = normal_tensor(random, {kRows, kWidth}, setting.dtype);
  (y * weights).sum().backward();
  const at::Tensor gradient = x.grad().to(at::kDouble);
  const at::Tensor finite = y.detach().isfinite().all(1);
  const at::Tensor real_row = x.detach().ne(x.detach().slice(1, 0, 1)).any(1);
  const at::Tensor zero = y.detach().eq(0).all(1).logical_and(real_row);
  MeasurementResult result;
  result.metrics["not_finite_rows"] = 1 - share_of_rows(finite);
  result.metrics["lost_rows"] = share_of_rows(zero);
  result.metrics["not_finite_gradients"] = 1 - share_of_rows(gradient.isfinite().all(1));
  result.metrics["largest_gradient"] = gradient.nan_to_num(0, 0, 0).abs().max().item<double>();
  return result;
}

}  // namespace

Measure prepare_eps_rows(Parameters& parameters) {
  Setting setting;
  setting.code = parameters.choice("code", "formula", {"formula", "clamp", "pytorch", "equinorm"});
  setting.rows = parameters.choice("rows", "random", {"random", "constant", "zero", "tiny"});
  const std::string dtype = parameters.choice("dtype", "f32", {"f32", "f16", "bf16"});
  setting.dtype = dtype == "f16" ? at::kHalf : dtype == "bf16" ? at::kBFloat16 : at::kFloat;
  setting.eps = parameters.real("eps", 1e-5, 0, 1);
  return [setting](std::uint64_t seed) { return measure(setting, seed); };
}

}  // namespace equinorm::lab
