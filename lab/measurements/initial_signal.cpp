// One forward and backward pass through an untrained Transformer: how activations and gradients
// depend on depth.
//
// The one trap: growth is fitted from the third layer on, as the first ones still feel the
// embedding.
#include <ATen/core/grad_mode.h>
#include <ATen/ops/cross_entropy_loss.h>

#include <algorithm>
#include <cmath>
#include <span>

#include "lab/measurements/measurements.hpp"
#include "lab/measurements/normals.hpp"
#include "lab/models/placement.hpp"
#include "lab/models/transformer.hpp"
#include "lab/training/instruments.hpp"
#include "lab/training/line_fit.hpp"
#include "lab/training/optimizer.hpp"

namespace equinorm::lab {
namespace {

/// Root mean square and smallest row variance of the stream behind each layer.
class StreamProbe final : public ForwardObserver {
 public:
  void saw_layer(int /*layer*/, const at::Tensor& stream) override {
    const at::NoGradGuard no_grad;
    const at::Tensor x = stream.detach().to(at::kDouble);
    rms.push_back(std::sqrt(x.square().mean().item<double>()));
    variance.push_back(x.var(1, false).min().item<double>());
  }

  std::vector<double> rms;
  std::vector<double> variance;
};

constexpr std::size_t kSkippedLayers = 2;

/// Slope of a least-squares line through (x, y) behind the skipped layers.
double slope(const std::vector<double>& x, const std::vector<double>& y) {
  const std::size_t first = std::min(kSkippedLayers, y.size() - 2);
  return least_squares_slope(std::span(x).subspan(first), std::span(y).subspan(first));
}

void put_growth(const StreamProbe& probe, MeasurementResult& result) {
  std::vector<double> layers;
  std::vector<double> log_layers;
  std::vector<double> log_rms;
  for (std::size_t i = 0; i < probe.rms.size(); ++i) {
    layers.push_back(static_cast<double>(i + 1));
    log_layers.push_back(std::log(layers.back()));
    log_rms.push_back(std::log(probe.rms[i]));
    result.series["layer_rms"].emplace_back(layers.back(), probe.rms[i]);
    result.series["row_variance"].emplace_back(layers.back(), probe.variance[i]);
  }
  result.metrics["growth_exponent"] = slope(log_layers, log_rms);
  result.metrics["growth_per_layer"] = std::exp(slope(layers, log_rms));
  result.metrics["last_rms"] = probe.rms.back();
  result.metrics["last_over_first_rms"] = probe.rms.back() / probe.rms.front();
  result.metrics["smallest_row_variance"] = probe.variance.back();
}

void put_gradients(const std::vector<Parameter>& parameters, int depth, MeasurementResult& result) {
  Adam adam(parameters);
  const auto norms = gradient_norms_by_layer(parameters, adam.gradient_norms(), depth);
  std::vector<double> totals;
  for (const auto& layer : norms["layers"]) totals.push_back(layer["total"].get<double>());
  for (std::size_t i = 0; i < totals.size(); ++i) {
    result.series["layer_gradients"].emplace_back(static_cast<double>(i + 1), totals[i]);
  }
  result.metrics["first_gradient"] = totals.front();
  result.metrics["last_gradient"] = totals.back();
  // A ratio of norms varies by factors from seed to seed, hence its logarithm.
  result.metrics["gradient_decades"] = std::log10(totals.back() / totals.front());
  result.metrics["gradient_spread"] = *std::max_element(totals.begin(), totals.end()) /
                                      *std::min_element(totals.begin(), totals.end());
}

MeasurementResult pass(const TransformerOptions& given, std::uint64_t seed) {
  TransformerOptions options = given;
  options.seed = derive_seed(seed, "weights");
  Transformer model(options);
  Random random(derive_seed(seed, "inputs"));
  constexpr std::int64_t kSamples = 4;
  const at::Tensor x = normal_tensor(random, {kSamples, options.tokens, options.features});
  at::Tensor target = normal_tensor(random, {kSamples * options.tokens, options.outputs}).argmax(1);
  StreamProbe probe;
  ForwardContext context;
  context.training = true;
  model.profile(x);
  context.observer = &probe;
  at::cross_entropy_loss(model.forward(x, context), target).backward();
  MeasurementResult result;
  put_growth(probe, result);
  put_gradients(model.parameters(), static_cast<int>(options.depth), result);
  return result;
}

}  // namespace

Measure prepare_initial_signal(Parameters& parameters) {
  TransformerOptions options;
  options.norm = parameters.choice("norm", "layer", norm_names());
  options.placement = parameters.choice("placement", "pre", placement_names());
  options.depth = parameters.integer("depth", 12, 2, 1000);
  options.heads = parameters.integer("heads", 4, 1, 64);
  options.width = options.heads * parameters.integer("head_width", 8, 1, 256);
  options.ffn = 4 * options.width;
  options.tokens = parameters.integer("tokens", 16, 1, 4096);
  options.features = options.width;
  options.outputs = options.width;
  options.causal = true;
  return [options](std::uint64_t seed) { return pass(options, seed); };
}

}  // namespace equinorm::lab
