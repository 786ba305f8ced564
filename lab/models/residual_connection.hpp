// One sublayer's way back into the residual stream: norms around the branch, what the stream and
// the branch are multiplied by, dropout and the sum, as a placement says. The sublayer's function
// itself (attention, feed-forward) comes from outside.
//
// The one trap: dropout works on the branch as it is added, behind a norm of the branch.
#pragma once

#include <ATen/core/Tensor.h>

#include <functional>
#include <memory>
#include <string>

#include "lab/models/forward_context.hpp"
#include "lab/models/layer_options.hpp"
#include "lab/models/norm_layer.hpp"
#include "lab/models/parameters.hpp"

namespace equinorm::lab {

class ResidualConnection {
 public:
  /// `suffix` tells the sublayers of a layer apart in parameter names: "1", "_cross", "2".
  ResidualConnection(const LayerOptions& options, const LayerPlace& place,
                     const std::string& suffix, Part part, ParameterStore& parameters);

  using Function = std::function<at::Tensor(const at::Tensor&)>;

  /// x (rows, width) -> the stream behind the sublayer. `layer_input` is added to the sum where it
  /// is defined.
  [[nodiscard]] at::Tensor forward(const at::Tensor& x, const Function& function,
                                   const ForwardContext& context,
                                   const at::Tensor& layer_input = {}) const;

 private:
  [[nodiscard]] at::Tensor normalized(const std::unique_ptr<NormLayer>& norm, const at::Tensor& x,
                                      const ForwardContext& context) const;
  [[nodiscard]] at::Tensor scaled_stream(const at::Tensor& x, const ForwardContext& context) const;

  int layer_;
  Part part_;
  double dropout_;         ///< on the branch
  double input_dropout_;   ///< on what the norms before the branch and behind the sum read
  double output_dropout_;  ///< on what they give
  double alpha_;
  std::unique_ptr<NormLayer> norm_before_;
  std::unique_ptr<NormLayer> norm_branch_;
  std::unique_ptr<NormLayer> norm_sum_;
  at::Tensor omega_;  ///< (width), defined for Admin
  at::Tensor gate_;   ///< (1), defined for ReZero
};

}  // namespace equinorm::lab
