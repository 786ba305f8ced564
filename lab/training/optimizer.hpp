// Adam (Kingma and Ba 2015) on LibTorch's fused CPU kernel, with the gradient norm taken before
// clipping.
#pragma once

#include <ATen/core/Tensor.h>

#include <vector>

#include "lab/models/parameters.hpp"

namespace equinorm::lab {

/// Norms of the gradients that a step was made of, before clipping.
struct GradientNorms {
  double total = 0;
  std::vector<double> per_parameter;  ///< in the order of the parameters
};

class Adam {
 public:
  explicit Adam(const std::vector<Parameter>& parameters);

  /// Reads the gradients; zero for a parameter that has none.
  GradientNorms gradient_norms();
  /// Multiplies all gradients by `factor`.
  void scale_gradients(double factor);
  /// One update with bias correction, betas 0.9 and 0.999, eps 1e-8, no weight decay; then drops
  /// the gradients.
  void step(double learning_rate);
  /// Drops the gradients without an update.
  void drop_gradients();

 private:
  std::vector<at::Tensor> gradients() const;

  std::vector<at::Tensor> parameters_;
  std::vector<at::Tensor> first_moments_;
  std::vector<at::Tensor> second_moments_;
  at::Tensor steps_;
};

}  // namespace equinorm::lab
