// One of each block of the lab, forward and backward, with the shapes that go in and come out.
// Shows how parameters, masks and conditions are handed over; trains nothing.
#include <torch/torch.h>

#include <cstdio>
#include <string>

#include "lab/models/ada_ln_zero.hpp"
#include "lab/models/articles.hpp"
#include "lab/models/convnext.hpp"
#include "lab/models/lstm.hpp"
#include "lab/models/resnet.hpp"

namespace lab = equinorm::lab;

namespace {

void report(const std::string& name, const at::Tensor& y) {
  y.square().mean().backward();
  std::printf("%s:", name.c_str());
  for (const auto size : y.sizes()) std::printf(" %lld", static_cast<long long>(size));
  std::printf("\n");
}

}  // namespace

int main() {
  lab::ParameterStore parameters(/*seed=*/0, at::kFloat);
  const at::Tensor tokens = torch::randn({2, 5, 16});  // samples, tokens, width
  const at::Tensor images = torch::randn({2, 8, 14, 14});

  lab::LstmOptions lstm_options;
  lstm_options.norm = "ba2016";
  lstm_options.features = 16;
  lstm_options.width = 12;
  const lab::Lstm lstm("lstm", 0, lstm_options, parameters);
  at::Tensor real = at::ones({5, 2}, at::kBool);  // steps, samples
  real[4][1] = false;                             // the second sample is a token shorter
  lab::Lstm::Extra extra;
  extra.training = true;
  extra.mask = real;
  report("Lstm", lstm.forward(tokens.transpose(0, 1), extra).hidden);

  lab::TransformerLayerOptions layer_options;
  layer_options.width = 16;
  layer_options.heads = 4;
  layer_options.hidden = 64;
  layer_options.norm_position = "pre";
  const lab::TransformerLayer layer("layer", 0, layer_options, parameters);
  report("TransformerLayer", layer.forward(tokens, {true, real.t()}, {}));

  lab::AdaLnZeroOptions ada_options;
  ada_options.width = 16;
  ada_options.heads = 4;
  ada_options.hidden = 64;
  ada_options.condition = 6;
  const lab::AdaLnZeroBlock ada("ada", 0, ada_options, parameters);
  report("AdaLnZeroBlock", ada.forward(tokens, torch::randn({2, 6})));

  lab::ResNetBlockWithLNOptions block_options;
  block_options.inputs = 8;
  block_options.outputs = 8;
  block_options.height = 14;
  block_options.width = 14;
  const lab::ResNetBlockWithLN block("block", 0, block_options, parameters);
  report("ResNetBlockWithLN", block.forward(images));

  lab::ConvNextOptions next_options;
  next_options.channels = 8;
  const lab::ConvNextBlock next("next", 0, next_options, parameters);
  report("ConvNextBlock", next.forward(images, /*training=*/true));

  lab::ResNetOptions net_options;
  net_options.norm = "group";
  net_options.blocks = 2;
  const lab::ResNet resnet14(net_options);
  report("ResNet-14", resnet14.forward(torch::randn({2, 1, 28, 28}), /*training=*/true));
}
