// What a forward pass shows of itself, layer by layer: the stream, what norms read, attention's
// scores, the outputs. Sizes are taken in f64, so that large activations can't overflow their
// squares.
//
// The one trap: padded rows count, except in norms over a batch that leave them out themselves.
#pragma once

#include <limits>
#include <nlohmann/json.hpp>
#include <vector>

#include "lab/models/forward_context.hpp"
#include "lab/training/attention_probe.hpp"

namespace equinorm::lab {

/// Watches one forward pass. What a layer has none of is NaN.
class ActivationProbe final : public ForwardObserver {
 public:
  explicit ActivationProbe(int depth);

  void saw_branch(int layer, const at::Tensor& branch, const at::Tensor& stream) override;
  void saw_layer(int layer, const at::Tensor& stream) override;
  void saw_rows(int layer, const at::Tensor& x, const RowForm& form) override;
  void saw_batch(int layer, const BatchInput& input) override;
  void saw_attention(int layer, const AttentionInput& input) override;
  void saw_logits(const at::Tensor& logits, const at::Tensor& target) override;

  [[nodiscard]] std::vector<double> rms() const;
  [[nodiscard]] std::vector<double> max() const;
  /// rms(branch) / rms(stream it is added to), mean over the layer's two sublayers.
  [[nodiscard]] std::vector<double> branch_ratio() const;
  /// Dimensions whose rms over the rows is above 6 times the median dimension's: the factor of
  /// Dettmers et al. 2022, relative because the scale of the stream depends on the placement.
  [[nodiscard]] std::vector<double> outlier_dimensions() const;
  /// Slope of log rms over log(1 + layer).
  [[nodiscard]] double growth_exponent() const;

  /// Of what the layer's norms of rows read: smallest variance v as the norm has it, mean share of
  /// eps in the squared denominator (eps / (v + eps) of LayerNorm), share of rows where that is
  /// above 1 / 11 (v < 10 eps).
  [[nodiscard]] std::vector<double> smallest_row_variance() const;
  [[nodiscard]] std::vector<double> eps_share() const;
  [[nodiscard]] std::vector<double> rows_near_eps() const;

  /// Of the layer's norms over a batch, root mean square over dimensions of
  /// (batch mean - running mean) / running standard deviation, and of
  /// log(batch variance / running variance).
  [[nodiscard]] std::vector<double> batch_mean_gap() const;
  [[nodiscard]] std::vector<double> batch_variance_gap() const;

  [[nodiscard]] const AttentionProbe& attention() const { return attention_; }
  /// Mean over the targets; NaN without a cross-entropy.
  [[nodiscard]] double logsumexp() const { return logsumexp_; }

  /// Adds all of this to a "layers" event.
  void add_to(nlohmann::ordered_json& event) const;

 private:
  static constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

  struct Mean {
    double sum = 0;
    double count = 0;

    void add(const at::Tensor& values);
    [[nodiscard]] double value() const { return count > 0 ? sum / count : kNone; }
  };
  struct Layer {
    double rms = 0;
    double max = 0;
    double branch_ratio = 0;
    double outlier_dimensions = kNone;
    double smallest_row_variance = kNone;
    Mean eps_share, near_eps;
    Mean square_mean_gap, square_variance_gap;
  };

  template <class Value>
  [[nodiscard]] std::vector<double> by_layer(Value&& value) const;

  std::vector<Layer> layers_;
  AttentionProbe attention_;
  double logsumexp_ = kNone;
};

}  // namespace equinorm::lab
