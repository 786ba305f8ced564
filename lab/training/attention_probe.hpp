// Attention's scores while a forward pass runs: the largest one, and how even the weights are.
//
// The one trap: it computes every score matrix a second time, so it watches single passes only.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "lab/models/forward_context.hpp"

namespace equinorm::lab {

class AttentionProbe final : public ForwardObserver {
 public:
  explicit AttentionProbe(int depth) : layers_(static_cast<std::size_t>(depth)) {}

  void saw_attention(int layer, const AttentionInput& input) override;

  /// Per layer: largest magnitude of a score, masked ones included; entropy in nats of each head
  /// (of attention to an encoder too), mean over queries; share of heads where it is below 0.1.
  /// NaN or empty for a layer without attention.
  [[nodiscard]] std::vector<double> max_logit() const;
  [[nodiscard]] std::vector<std::vector<double>> entropy() const;
  [[nodiscard]] std::vector<double> collapsed_heads() const;

  /// The same over all layers: "max_logit", "attention_entropy" (mean over heads),
  /// "collapsed_heads"; empty without attention.
  [[nodiscard]] std::map<std::string, double> metrics() const;

 private:
  struct Layer {
    double max_logit = 0;
    std::vector<double> entropy;  // by head
  };

  std::vector<Layer> layers_;
};

}  // namespace equinorm::lab
