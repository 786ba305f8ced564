#include "lab/measurements/measurements.hpp"

namespace equinorm::lab {

const std::vector<Measurement>& measurements() {
  static const std::vector<Measurement> all = {
      {"dependence", 1, "what an output depends on: other samples, padding, later tokens, the mode",
       prepare_dependence},
      {"standardization", 1, "mean, length and shape of normalized rows against the formula",
       prepare_standardization},
      {"printed_example", 1, "LayerNorm of [1000, 1001, 999]", prepare_printed_example},
      {"attention_bound", 1, "length of attention's output over that of its longest value",
       prepare_attention_bound},
      {"softmax_scale", 1, "entropy and Jacobian of softmax by the spread of its logits",
       prepare_softmax_scale},
      {"score_variance", 1, "variance of q.k by the length of q and k", prepare_score_variance},
      {"initial_signal", 1, "activations and gradients by depth before training",
       prepare_initial_signal},
      {"eps_rows", 1, "constant, zero and tiny rows in half and single precision",
       prepare_eps_rows},
      {"norm_error", 1, "error of algorithms far from zero, very large and very small",
       prepare_norm_error},
      {"speed", 1, "time of a norm composed, by PyTorch and by us", prepare_speed},
  };
  return all;
}

}  // namespace equinorm::lab
