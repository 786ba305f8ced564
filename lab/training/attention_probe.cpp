#include "lab/training/attention_probe.hpp"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/log_softmax.h>
#include <ATen/ops/ones.h>

#include <algorithm>
#include <limits>

namespace equinorm::lab {

void AttentionProbe::saw_attention(const at::Tensor& query, const at::Tensor& key, double scale,
                                   bool causal) {
  constexpr double kCollapsed = 0.1;
  const at::NoGradGuard no_grad;
  at::Tensor scores = query.detach().matmul(key.detach().transpose(2, 3)) * scale;
  max_logit_ = std::max(max_logit_, scores.abs().max().item<double>());
  if (causal) {
    const at::Tensor hidden =
        at::ones({scores.size(2), scores.size(3)}, at::kBool).triu(1 + key.size(2) - query.size(2));
    scores = scores.masked_fill(hidden, -std::numeric_limits<float>::infinity());
  }
  const at::Tensor log_p = at::log_softmax(scores, 3);
  const at::Tensor terms = (log_p.exp() * log_p).nan_to_num(0, 0, 0);  // 0 log 0
  const at::Tensor by_head = -terms.sum(3).mean(2).mean(0);
  entropy_sum_ += by_head.sum().item<double>();
  collapsed_ += by_head.lt(kCollapsed).sum().item<double>();
  heads_ += static_cast<double>(by_head.numel());
}

std::map<std::string, double> AttentionProbe::metrics() const {
  if (heads_ == 0) return {};
  return {{"max_logit", max_logit_},
          {"attention_entropy", entropy_sum_ / heads_},
          {"collapsed_heads", collapsed_ / heads_}};
}

}  // namespace equinorm::lab
