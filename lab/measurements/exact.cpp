// What holds for every input: the formula of a norm, the printed example, the bound of attention.
// In f64, so that what is left is rounding.
#include <ATen/ops/layer_norm.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/softmax.h>
#include <ATen/ops/tensor.h>

#include <cmath>
#include <string>

#include "equinorm/row_forms.hpp"
#include "equinorm/torch/functional.hpp"
#include "lab/measurements/measurements.hpp"
#include "lab/measurements/normals.hpp"
#include "lab/models/parameters.hpp"

namespace equinorm::lab {
namespace {

constexpr double kEps = 1e-5;
constexpr std::int64_t kRows = 64;

double largest(const at::Tensor& x) { return x.abs().max().item<double>(); }

// Fourth standardized moment of each row: tells shapes of distributions apart.
at::Tensor kurtosis(const at::Tensor& x) {
  const at::Tensor centred = x - x.mean(1, true);
  return centred.pow(4).mean(1) / centred.square().mean(1).square();
}

at::Tensor draw_rows(const std::string& distribution, std::int64_t width, Random& random) {
  at::Tensor x = normal_tensor(random, {kRows, width}, at::kDouble);
  if (distribution == "skewed") x = x.exp();
  if (distribution == "two values") x = x.sign() + 0.01 * x;
  return 3 * x + 7;
}

MeasurementResult standardize(const std::string& norm, const std::string& distribution,
                              std::int64_t width, std::uint64_t seed) {
  Random random(derive_seed(seed, "rows"));
  const at::Tensor x = draw_rows(distribution, width, random);
  const bool centred = norm == "layer";
  const at::Tensor y = centred ? equinorm::torch::layer_norm(x, {width}, {}, {}, kEps)
                               : equinorm::torch::rms_norm(x, {width}, {}, kEps);
  const at::Tensor mean = centred ? x.mean(1, true) : at::zeros_like(x.slice(1, 0, 1));
  const at::Tensor spread = (x - mean).square().mean(1, true);
  const at::Tensor length =
      (static_cast<double>(width) * spread / (spread + kEps)).sqrt().squeeze(1);
  MeasurementResult result;
  result.metrics["formula_error"] = largest(y - (x - mean) / (spread + kEps).sqrt());
  result.metrics["largest_mean"] = largest(y.mean(1));
  result.metrics["length_error"] = largest(y.norm(2, 1) / length - 1);
  result.metrics["shape_change"] = largest(kurtosis(y) / kurtosis(x) - 1);
  result.metrics["kurtosis"] = kurtosis(y).mean().item<double>();
  return result;
}

// A factor that a model could learn is no difference: b is taken times the one that fits best.
MeasurementResult compare_forms(const RowForm& a, const RowForm& b, std::int64_t width,
                                std::uint64_t seed) {
  Random random(derive_seed(seed, "rows"));
  const at::Tensor x = draw_rows("normal", width, random);
  const at::Tensor y = equinorm::torch::row_norm(x, a);
  const at::Tensor z = equinorm::torch::row_norm(x, b);
  const double factor = (y * z).sum().item<double>() / z.square().sum().item<double>();
  MeasurementResult result;
  result.metrics["difference"] = largest(y - factor * z);
  result.metrics["best_factor"] = factor;
  return result;
}

MeasurementResult printed_example(std::uint64_t /*seed*/) {
  const at::Tensor x = at::tensor({1000.0, 1001.0, 999.0}, at::kDouble).view({1, 3});
  const at::Tensor y = equinorm::torch::layer_norm(x, {3}, {}, {}, kEps).view({3});
  const double expected = 1 / std::sqrt(2.0 / 3 + kEps);
  MeasurementResult result;
  result.metrics["first"] = y[0].item<double>();
  result.metrics["second"] = y[1].item<double>();
  result.metrics["third"] = y[2].item<double>();
  result.metrics["error"] = largest(y - at::tensor({0.0, expected, -expected}, at::kDouble));
  result.metrics["error_of_the_article"] = largest(y - at::tensor({1.0, 0.0, -1.0}, at::kDouble));
  return result;
}

MeasurementResult attend(std::int64_t keys, std::int64_t width, double scale, std::uint64_t seed) {
  Random random(derive_seed(seed, "attention"));
  const at::Tensor q = scale * normal_tensor(random, {kRows, width}, at::kDouble);
  const at::Tensor k = normal_tensor(random, {keys, width}, at::kDouble);
  const at::Tensor v = normal_tensor(random, {keys, width}, at::kDouble);
  const at::Tensor weights =
      at::softmax(q.matmul(k.t()) / std::sqrt(static_cast<double>(width)), 1);
  const at::Tensor out = weights.matmul(v);
  MeasurementResult result;
  result.metrics["output_over_longest_value"] =
      out.norm(2, 1).max().item<double>() / v.norm(2, 1).max().item<double>();
  result.metrics["smallest_weight"] = weights.min().item<double>();
  result.metrics["error_of_sum"] = largest(weights.sum(1) - 1);
  return result;
}

}  // namespace

Measure prepare_standardization(Parameters& parameters) {
  const std::string norm = parameters.choice("norm", "layer", {"layer", "rms"});
  const std::string distribution =
      parameters.choice("distribution", "normal", {"normal", "skewed", "two values"});
  const int width = parameters.integer("width", 256, 2, 1 << 16);
  return [=](std::uint64_t seed) { return standardize(norm, distribution, width, seed); };
}

Measure prepare_form_difference(Parameters& parameters) {
  const RowForm& a = parameters.entry("form", "LayerNorm", kRowForms).form;
  const RowForm& b = parameters.entry("other", "LayerNorm", kRowForms).form;
  const int width = parameters.integer("width", 256, 2, 1 << 16);
  return [=](std::uint64_t seed) { return compare_forms(a, b, width, seed); };
}

Measure prepare_printed_example(Parameters& /*parameters*/) { return printed_example; }

Measure prepare_attention_bound(Parameters& parameters) {
  const int keys = parameters.integer("keys", 64, 1, 1 << 16);
  const int width = parameters.integer("width", 64, 1, 1 << 16);
  const double scale = parameters.real("scale", 1, 0, 1e6);
  return [=](std::uint64_t seed) { return attend(keys, width, scale, seed); };
}

}  // namespace equinorm::lab
