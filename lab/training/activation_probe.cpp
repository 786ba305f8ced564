// Each event is reduced to a few numbers of its layer at once; tensors are not kept.
#include "lab/training/activation_probe.hpp"

#include <ATen/ops/logsumexp.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/zeros_like.h>

#include <algorithm>
#include <cmath>

#include "equinorm/row_norm.hpp"
#include "lab/training/line_fit.hpp"
#include "lab/training/task.hpp"

namespace equinorm::lab {
namespace {

constexpr double kOutlierFactor = 6;  // Dettmers et al. 2022, "LLM.int8()"
constexpr double kNearEps = 1.0 / 11;

at::Tensor in_f64(const at::Tensor& x) { return x.detach().to(at::kDouble); }

double root_mean_square(const at::Tensor& x) {
  return std::sqrt(in_f64(x).square().mean().item<double>());
}

// v of every row.
at::Tensor variance_of_rows(const at::Tensor& x, const RowForm& form) {
  const auto cols =
      static_cast<std::int64_t>(std::ceil(form.part * static_cast<double>(x.size(1))));
  const at::Tensor part = x.slice(1, 0, cols);
  const at::Tensor deviations = form.centered ? part - part.mean(1, true) : part;
  const std::int64_t divisor = std::max<std::int64_t>(cols - (form.unbiased ? 1 : 0), 1);
  return deviations.square().sum(1) / divisor;
}

// 1 - v / denominator^2 of every row, without its cancellation.
at::Tensor share_of_eps(const at::Tensor& v, const RowForm& form) {
  const double eps = form.eps;
  if (eps == 0) return at::zeros_like(v);
  if (form.spread == Spread::root) return eps / (v + eps);
  const at::Tensor root = v.sqrt();
  if (form.spread == Spread::added) return eps * (2 * root + eps) / (root + eps).square();
  return (1 - v / (eps * eps)).clamp_min(0);
}

}  // namespace

ActivationProbe::ActivationProbe(int depth)
    : layers_(static_cast<std::size_t>(depth)), attention_(depth) {}

void ActivationProbe::Mean::add(const at::Tensor& values) {
  sum += values.sum().item<double>();
  count += static_cast<double>(values.numel());
}

void ActivationProbe::saw_branch(int layer, const at::Tensor& branch, const at::Tensor& stream) {
  const FullPrecision exact;
  layers_[static_cast<std::size_t>(layer)].branch_ratio +=
      0.5 * root_mean_square(branch) / root_mean_square(stream);
}

void ActivationProbe::saw_layer(int layer, const at::Tensor& stream) {
  const FullPrecision exact;
  Layer& seen = layers_[static_cast<std::size_t>(layer)];
  seen.rms = root_mean_square(stream);
  seen.max = stream.detach().abs().max().item<double>();
  const at::Tensor by_dimension = in_f64(stream).square().mean(0).sqrt();
  const at::Tensor limit = kOutlierFactor * by_dimension.median();
  seen.outlier_dimensions = by_dimension.gt(limit).sum().item<double>();
}

void ActivationProbe::saw_rows(int layer, const at::Tensor& x, const RowForm& form) {
  const FullPrecision exact;
  if (layer < 0) return;
  Layer& seen = layers_[static_cast<std::size_t>(layer)];
  const at::Tensor v = variance_of_rows(in_f64(x), form);
  const at::Tensor share = share_of_eps(v, form);
  seen.smallest_row_variance = std::fmin(seen.smallest_row_variance, v.min().item<double>());
  seen.eps_share.add(share);
  seen.near_eps.add(share.gt(kNearEps));
}

// The running variance is made from unbiased ones; that of PowerNorm is a mean square.
void ActivationProbe::saw_batch(int layer, const BatchInput& input) {
  const FullPrecision exact;
  if (layer < 0) return;
  Layer& seen = layers_[static_cast<std::size_t>(layer)];
  const at::Tensor x = in_f64(input.x);
  const bool centered = input.running_mean.defined();
  const at::Tensor real =
      input.real.defined() ? input.real : at::ones(x.sizes().slice(0, x.dim() - 1), at::kBool);
  const at::Tensor weight = in_f64(real).unsqueeze(-1);
  const at::Tensor count = weight.sum(0);
  const at::Tensor mean = (x * weight).sum(0) / count;
  const at::Tensor deviations = centered ? x - mean : x;
  const at::Tensor variance =
      (deviations.square() * weight).sum(0) / (centered ? count - 1 : count);
  const at::Tensor running_variance = in_f64(input.running_variance);
  const at::Tensor has_variance = count.gt(1).expand_as(variance);
  seen.square_variance_gap.add(
      (variance / running_variance).log().square().masked_select(has_variance));
  if (!centered) return;
  const at::Tensor gap = (mean - in_f64(input.running_mean)) / running_variance.sqrt();
  seen.square_mean_gap.add(gap.square().masked_select(has_variance));
}

void ActivationProbe::saw_attention(int layer, const AttentionInput& input) {
  attention_.saw_attention(layer, input);
}

void ActivationProbe::saw_logits(const at::Tensor& logits, const at::Tensor& target) {
  const FullPrecision exact;
  const at::Tensor asked = target.ne(kNoTarget).nonzero().flatten();
  logsumexp_ = at::logsumexp(in_f64(logits).index_select(0, asked), 1).mean().item<double>();
}

template <class Value>
std::vector<double> ActivationProbe::by_layer(Value&& value) const {
  std::vector<double> values;
  for (const Layer& layer : layers_) values.push_back(value(layer));
  return values;
}

std::vector<double> ActivationProbe::rms() const {
  return by_layer([](const Layer& layer) { return layer.rms; });
}
std::vector<double> ActivationProbe::max() const {
  return by_layer([](const Layer& layer) { return layer.max; });
}
std::vector<double> ActivationProbe::branch_ratio() const {
  return by_layer([](const Layer& layer) { return layer.branch_ratio; });
}
std::vector<double> ActivationProbe::outlier_dimensions() const {
  return by_layer([](const Layer& layer) { return layer.outlier_dimensions; });
}
std::vector<double> ActivationProbe::smallest_row_variance() const {
  return by_layer([](const Layer& layer) { return layer.smallest_row_variance; });
}
std::vector<double> ActivationProbe::eps_share() const {
  return by_layer([](const Layer& layer) { return layer.eps_share.value(); });
}
std::vector<double> ActivationProbe::rows_near_eps() const {
  return by_layer([](const Layer& layer) { return layer.near_eps.value(); });
}
std::vector<double> ActivationProbe::batch_mean_gap() const {
  return by_layer([](const Layer& layer) { return std::sqrt(layer.square_mean_gap.value()); });
}
std::vector<double> ActivationProbe::batch_variance_gap() const {
  return by_layer([](const Layer& layer) { return std::sqrt(layer.square_variance_gap.value()); });
}

double ActivationProbe::growth_exponent() const {
  if (layers_.size() < 2) return kNone;
  std::vector<double> log_rms;
  std::vector<double> log_layers;
  for (const Layer& layer : layers_) {
    log_rms.push_back(std::log(layer.rms));
    log_layers.push_back(std::log(static_cast<double>(log_rms.size())));
  }
  return least_squares_slope(log_layers, log_rms);
}

void ActivationProbe::add_to(nlohmann::ordered_json& event) const {
  event["activation_rms"] = rms();
  event["activation_max"] = max();
  event["branch_ratio"] = branch_ratio();
  event["growth_exponent"] = growth_exponent();
  event["outlier_dimensions"] = outlier_dimensions();
  event["smallest_row_variance"] = smallest_row_variance();
  event["eps_share"] = eps_share();
  event["rows_near_eps"] = rows_near_eps();
  event["batch_mean_gap"] = batch_mean_gap();
  event["batch_variance_gap"] = batch_variance_gap();
  event["max_logit"] = attention_.max_logit();
  event["attention_entropy"] = attention_.entropy();
  event["collapsed_heads"] = attention_.collapsed_heads();
  event["logsumexp"] = logsumexp_;
}

}  // namespace equinorm::lab
