// Per-layer instruments: gradient norms by kind, size of the stream, branch against stream.
#pragma once

#include <nlohmann/json.hpp>
#include <vector>

#include "lab/models/forward_context.hpp"
#include "lab/models/parameters.hpp"
#include "lab/training/optimizer.hpp"

namespace equinorm::lab {

/// Watches one forward pass. Branch ratio of a layer: rms(branch) / rms(stream it is added to),
/// mean over the layer's two sublayers.
class ActivationProbe final : public ForwardObserver {
 public:
  explicit ActivationProbe(int depth);

  void begin(Part /*part*/) override {}
  void end(Part /*part*/) override {}
  void saw_branch(int layer, const at::Tensor& branch, const at::Tensor& stream) override;
  void saw_layer(int layer, const at::Tensor& stream) override;

  [[nodiscard]] const std::vector<double>& rms() const { return rms_; }
  [[nodiscard]] const std::vector<double>& max() const { return max_; }
  [[nodiscard]] const std::vector<double>& branch_ratio() const { return branch_ratio_; }

 private:
  std::vector<double> rms_;
  std::vector<double> max_;
  std::vector<double> branch_ratio_;
};

/// The "grad_norm" object of a "layers" event; kinds that the model lacks are null.
nlohmann::ordered_json gradient_norms_by_layer(const std::vector<Parameter>& parameters,
                                               const GradientNorms& norms, int depth);

}  // namespace equinorm::lab
