// Attention's scores while a forward pass runs: the largest one, and how even the weights are.
//
// The one trap: it computes every score matrix a second time, so it watches single passes only.
#pragma once

#include <map>
#include <string>

#include "lab/models/forward_context.hpp"

namespace equinorm::lab {

class AttentionProbe final : public ForwardObserver {
 public:
  void begin(Part /*part*/) override {}
  void end(Part /*part*/) override {}
  void saw_branch(int /*layer*/, const at::Tensor& /*branch*/,
                  const at::Tensor& /*stream*/) override {}
  void saw_layer(int /*layer*/, const at::Tensor& /*stream*/) override {}
  void saw_attention(const at::Tensor& query, const at::Tensor& key, double scale,
                     bool causal) override;

  /// "max_logit": largest magnitude of a score; "attention_entropy": mean over heads and queries,
  /// in nats; "collapsed_heads": share of heads whose mean entropy is below 0.1.
  [[nodiscard]] std::map<std::string, double> metrics() const;

 private:
  double max_logit_ = 0;
  double entropy_sum_ = 0;
  double collapsed_ = 0;
  double heads_ = 0;
};

}  // namespace equinorm::lab
