// Softmax of random logits by their standard deviation, and the variance of dot products by their
// length: what the factor 1/sqrt(d_k) is for.
#include <ATen/ops/diag_embed.h>
#include <ATen/ops/log_softmax.h>
#include <ATen/ops/matmul.h>

#include <cmath>

#include "equinorm/torch/functional.hpp"
#include "lab/measurements/measurements.hpp"
#include "lab/measurements/normals.hpp"
#include "lab/models/parameters.hpp"

namespace equinorm::lab {
namespace {

struct SoftmaxState {
  double entropy = 0;   ///< share of its largest value, log n
  double jacobian = 0;  ///< Frobenius norm
};

// rows of logits, each of n.
SoftmaxState softmax_state(const at::Tensor& logits) {
  const at::Tensor log_p = at::log_softmax(logits, 1);
  const at::Tensor p = log_p.exp();
  const double most = std::log(static_cast<double>(logits.size(1)));
  const at::Tensor jacobian = at::diag_embed(p) - p.unsqueeze(2) * p.unsqueeze(1);
  return {-(p * log_p).sum(1).mean().item<double>() / most,
          jacobian.square().sum(2).sum(1).sqrt().mean().item<double>()};
}

MeasurementResult sweep_scale(std::int64_t keys, std::int64_t rows, std::uint64_t seed) {
  Random random(derive_seed(seed, "logits"));
  const at::Tensor logits = normal_tensor(random, {rows, keys}, at::kDouble);
  constexpr int kPerDecade = 8;
  MeasurementResult result;
  double peak = 0;
  SoftmaxState state;
  for (int i = -kPerDecade; i <= 2 * kPerDecade; ++i) {
    const double scale = std::pow(10.0, static_cast<double>(i) / kPerDecade);
    state = softmax_state(scale * logits);
    result.series["entropy"].emplace_back(scale, state.entropy);
    result.series["jacobian"].emplace_back(scale, state.jacobian);
    if (i == -kPerDecade) {
      result.metrics["entropy_at_0.1"] = state.entropy;
      result.metrics["jacobian_at_0.1"] = state.jacobian;
    }
    if (state.jacobian > peak) {
      peak = state.jacobian;
      result.metrics["peak_standard_deviation"] = scale;
    }
  }
  result.metrics["entropy_at_100"] = state.entropy;
  result.metrics["jacobian_at_100"] = state.jacobian;
  result.metrics["peak_jacobian"] = peak;
  result.metrics["jacobian_at_0.1_over_peak"] = result.metrics["jacobian_at_0.1"] / peak;
  result.metrics["jacobian_at_100_over_peak"] = state.jacobian / peak;
  return result;
}

MeasurementResult score_variance(bool scaled, bool normalized, std::int64_t d_k,
                                 std::uint64_t seed) {
  constexpr std::int64_t kTokens = 128;
  constexpr std::int64_t kRepeats = 8;
  Random random(derive_seed(seed, "scores"));
  const auto d = static_cast<double>(d_k);
  double variance = 0;
  SoftmaxState state;
  for (std::int64_t i = 0; i < kRepeats; ++i) {
    at::Tensor q = normal_tensor(random, {kTokens, d_k}, at::kDouble);
    at::Tensor k = normal_tensor(random, {kTokens, d_k}, at::kDouble);
    if (normalized) {
      q = equinorm::torch::layer_norm(q, {d_k}, {}, {}, 1e-5);
      k = equinorm::torch::layer_norm(k, {d_k}, {}, {}, 1e-5);
    }
    const at::Tensor scores = q.matmul(k.t()) * (scaled ? 1 / std::sqrt(d) : 1);
    variance += scores.square().mean().item<double>() / kRepeats;
    const SoftmaxState now = softmax_state(scores);
    state.entropy += now.entropy / kRepeats;
    state.jacobian += now.jacobian / kRepeats;
  }
  MeasurementResult result;
  result.metrics["variance"] = variance;
  result.metrics["variance_over_d_k"] = variance / d;
  result.metrics["entropy"] = state.entropy;
  result.metrics["jacobian"] = state.jacobian;
  return result;
}

}  // namespace

Measure prepare_softmax_scale(Parameters& parameters) {
  const int keys = parameters.integer("keys", 64, 2, 4096);
  const int rows = parameters.integer("rows", 256, 1, 1 << 16);
  return [=](std::uint64_t seed) { return sweep_scale(keys, rows, seed); };
}

Measure prepare_score_variance(Parameters& parameters) {
  const bool scaled = parameters.choice("scores", "raw", {"raw", "scaled"}) == "scaled";
  const bool normalized = parameters.choice("norm", "none", {"none", "layer"}) == "layer";
  const int d_k = parameters.integer("d_k", 64, 2, 1 << 16);
  return [=](std::uint64_t seed) { return score_variance(scaled, normalized, d_k, seed); };
}

}  // namespace equinorm::lab
