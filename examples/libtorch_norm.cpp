// The LibTorch front end: modules in a model, and the functional form.
#include <torch/torch.h>
#include <equinorm/torch/torch.hpp>

#include <iostream>

namespace eq = equinorm::torch;

int main() {
  torch::nn::Sequential model(torch::nn::Linear(8, 16), eq::LayerNorm(eq::LayerNormOptions({16})),
                              eq::RMSNorm(eq::RMSNormOptions({16}).eps(1e-6)));
  const auto x = torch::randn({4, 8});
  model->forward(x).square().mean().backward();
  for (const auto& p : model->named_parameters()) std::cout << p.key() << p.value().grad().sizes();
  const auto y = eq::rms_norm(x, {8}, torch::ones({8}), 1e-9);
  std::cout << "\nmean square " << y.square().mean().item<float>() << "\n";
}
