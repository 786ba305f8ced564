// The LibTorch front end: modules in a model, and the functional form.
#include <torch/torch.h>
#include <equinorm/torch/torch.hpp>

#include <iostream>

int main() {
  using namespace equinorm::torch;  // not `using namespace equinorm`, which has a torch of its own
  ::torch::nn::Sequential model(::torch::nn::Linear(8, 16), LayerNorm(LayerNormOptions({16})),
                                RMSNorm(RMSNormOptions({16}).eps(1e-6)));
  const auto x = ::torch::randn({4, 8});
  model->forward(x).square().mean().backward();
  for (const auto& p : model->named_parameters()) std::cout << p.key() << p.value().grad().sizes();
  std::cout << "\nmean square " << rms_norm(x, {8}, {}, 1e-9).square().mean().item<float>() << "\n";
}
