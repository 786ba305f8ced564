#include "lab/training/attention_probe.hpp"

#include <ATen/ops/log_softmax.h>
#include <ATen/ops/ones.h>

#include <algorithm>
#include <limits>

namespace equinorm::lab {
namespace {

constexpr double kCollapsed = 0.1;
constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

// Mean over the samples' queries of the entropy of each head.
at::Tensor entropy_by_head(at::Tensor scores, const AttentionInput& input) {
  constexpr double kHidden = -std::numeric_limits<double>::infinity();
  if (input.mask.defined()) {
    scores = scores.masked_fill(input.mask.logical_not(), kHidden);
  } else if (input.causal) {
    const at::Tensor later = at::ones({scores.size(2), scores.size(3)}, at::kBool).triu(1);
    scores = scores.masked_fill(later, kHidden);
  }
  const at::Tensor log_p = at::log_softmax(scores, 3);
  const at::Tensor p = log_p.exp();
  const at::Tensor terms = (p * log_p).masked_fill(p.eq(0), 0);  // 0 log 0
  return -terms.sum(3).mean(2).mean(0);
}

double share_collapsed(const std::vector<double>& entropy) {
  if (entropy.empty()) return kNone;
  const auto collapsed =
      std::count_if(entropy.begin(), entropy.end(), [](double nats) { return nats < kCollapsed; });
  return static_cast<double>(collapsed) / static_cast<double>(entropy.size());
}

}  // namespace

void AttentionProbe::saw_attention(int layer, const AttentionInput& input) {
  const at::Tensor query = input.query.detach().to(at::kFloat);
  const at::Tensor key = input.key.detach().to(at::kFloat);
  const at::Tensor scores = query.matmul(key.transpose(2, 3)) * input.scale;
  Layer& seen = layers_[static_cast<std::size_t>(layer)];
  // In this order a NaN is kept.
  seen.max_logit = std::max(scores.abs().max().item<double>(), seen.max_logit);
  const at::Tensor entropy = entropy_by_head(scores, input);
  for (std::int64_t head = 0; head < entropy.size(0); ++head) {
    seen.entropy.push_back(entropy[head].item<double>());
  }
}

std::vector<double> AttentionProbe::max_logit() const {
  std::vector<double> values;
  for (const Layer& layer : layers_)
    values.push_back(layer.entropy.empty() ? kNone : layer.max_logit);
  return values;
}

std::vector<std::vector<double>> AttentionProbe::entropy() const {
  std::vector<std::vector<double>> values;
  for (const Layer& layer : layers_) values.push_back(layer.entropy);
  return values;
}

std::vector<double> AttentionProbe::collapsed_heads() const {
  std::vector<double> values;
  for (const Layer& layer : layers_) values.push_back(share_collapsed(layer.entropy));
  return values;
}

std::map<std::string, double> AttentionProbe::metrics() const {
  double greatest = 0;
  std::vector<double> heads;
  for (const Layer& layer : layers_) {
    greatest = std::max(greatest, layer.max_logit);
    heads.insert(heads.end(), layer.entropy.begin(), layer.entropy.end());
  }
  if (heads.empty()) return {};
  double sum = 0;
  for (const double nats : heads) sum += nats;
  return {{"max_logit", greatest},
          {"attention_entropy", sum / static_cast<double>(heads.size())},
          {"collapsed_heads", share_collapsed(heads)}};
}

}  // namespace equinorm::lab
