// What the front end and PyTorch run in each case. Images lie in memory as the case says.
#pragma once

#include <torch/torch.h>

#include <vector>

#include "case.hpp"

namespace equinorm::bench {

struct TorchInputs {
  at::Tensor x;
  at::Tensor residual;  ///< undefined where the operator reads none
  at::Tensor gamma;     ///< or the scale of samples
  at::Tensor beta;      ///< or the shift of samples; undefined where the operator has none
  at::Tensor alpha;     ///< of DyT
  at::Tensor running_mean;
  at::Tensor running_var;

  std::vector<at::Tensor*> differentiable() { return {&x, &residual, &gamma, &beta, &alpha}; }
};

/// Rows as the operator wants them: tokens, samples of tokens, or images.
at::Tensor shaped(const Case& c, const at::Tensor& rows);

TorchInputs make_inputs(const Case& c, const at::Tensor& x, const at::Tensor& residual,
                        const at::Tensor& gamma, const at::Tensor& beta);

using TorchOperator = std::vector<at::Tensor> (*)(const TorchInputs&);

struct TorchPair {
  TorchOperator ours;
  TorchOperator peer;
};

TorchPair torch_pair(Op op);

}  // namespace equinorm::bench
