// The modules LayerNorm and RMSNorm: options, parameters, state shared with torch::nn.
#include <gtest/gtest.h>
#include <torch/torch.h>

#include <sstream>
#include <string>
#include <vector>

#include "equinorm/torch/modules.hpp"
#include "tensor_checks.hpp"

namespace equinorm::tests {
namespace {

namespace eq = ::equinorm::torch;

template <class Module>
std::vector<std::string> parameter_names(const Module& module) {
  return module->named_parameters().keys();
}

template <class From, class Into>
void move_state(const From& from, Into& into) {
  std::stringstream stream;
  ::torch::save(from, stream);
  ::torch::load(into, stream);
}

TEST(Modules, StateOfTorchLayerNormLoadsAndComesBack) {
  ::torch::nn::LayerNorm theirs(::torch::nn::LayerNormOptions({4, 6}));
  {
    const at::NoGradGuard no_grad;
    theirs->weight.copy_(normal({4, 6}, at::kFloat, 91));
    theirs->bias.copy_(normal({4, 6}, at::kFloat, 92));
  }
  eq::LayerNorm ours(eq::LayerNormOptions({4, 6}));
  EXPECT_EQ(parameter_names(ours), parameter_names(theirs));
  move_state(theirs, ours);
  EXPECT_TRUE(same_bits(ours->weight, theirs->weight));
  EXPECT_TRUE(same_bits(ours->bias, theirs->bias));
  ::torch::nn::LayerNorm back(::torch::nn::LayerNormOptions({4, 6}));
  move_state(ours, back);
  EXPECT_TRUE(same_bits(back->weight, theirs->weight));
  const auto x = normal({2, 4, 6}, at::kDouble, 93);
  ours->to(at::kDouble);
  theirs->to(at::kDouble);
  // 24 terms in double: up to about 24 units each.
  EXPECT_LE((ours(x) - theirs(x)).abs().max().item<double>(),
            2 * 24 * 0x1p-52 * theirs(x).abs().max().item<double>());
}

TEST(Modules, TheOptionsDecideWhichParametersExist) {
  using Names = std::vector<std::string>;
  EXPECT_EQ(parameter_names(eq::LayerNorm(eq::LayerNormOptions({8}))), Names({"weight", "bias"}));
  EXPECT_EQ(parameter_names(eq::LayerNorm(eq::LayerNormOptions({8}).bias(false))),
            Names({"weight"}));
  EXPECT_EQ(parameter_names(eq::LayerNorm(eq::LayerNormOptions({8}).elementwise_affine(false))),
            Names());
  EXPECT_EQ(parameter_names(eq::RMSNorm(eq::RMSNormOptions({8}))), Names({"weight"}));
  EXPECT_EQ(parameter_names(eq::RMSNorm(eq::RMSNormOptions({8}).elementwise_affine(false))),
            Names());
  EXPECT_THROW(eq::RMSNorm(eq::RMSNormOptions({8}).elementwise_affine(false).add_one(true)),
               c10::Error);
}

TEST(Modules, ForwardIsTheFunctionWithTheOptions) {
  const auto x = normal({5, 8}, at::kFloat, 94);
  eq::LayerNorm norm(eq::LayerNormOptions({8}).eps(0.25));
  EXPECT_TRUE(same_bits(norm(x), eq::layer_norm(x, {8}, norm->weight, norm->bias, 0.25)));
  eq::RMSNorm rms(eq::RMSNormOptions({8}).eps(0.25));
  EXPECT_TRUE(same_bits(rms(x), eq::rms_norm(x, {8}, {}, 0.25)));
  EXPECT_TRUE(same_bits(eq::RMSNorm(std::vector<std::int64_t>{8})(x), eq::rms_norm(x, {8})));
}

TEST(Modules, ResetGivesAGainOfOne) {
  const auto x = normal({5, 8}, at::kFloat, 95);
  eq::RMSNorm gemma(eq::RMSNormOptions({8}).eps(1e-6).add_one(true));
  EXPECT_TRUE(same_bits(gemma->weight, at::zeros({8})));
  EXPECT_TRUE(same_bits(gemma(x), eq::rms_norm(x, {8}, {}, 1e-6)));
  eq::LayerNorm norm(eq::LayerNormOptions({8}));
  {
    const at::NoGradGuard no_grad;
    norm->weight.fill_(3);
    norm->bias.fill_(3);
  }
  norm->reset_parameters();
  EXPECT_TRUE(same_bits(norm->weight, at::ones({8})));
  EXPECT_TRUE(same_bits(norm->bias, at::zeros({8})));
}

TEST(Modules, TheyPrintTheirOptions) {
  std::ostringstream out;
  out << *eq::LayerNorm(eq::LayerNormOptions({4, 6}).bias(false)) << "\n"
      << *eq::RMSNorm(eq::RMSNormOptions({8})) << "\n"
      << *eq::RMSNorm(eq::RMSNormOptions({8}).eps(0.5).add_one(true));
  EXPECT_EQ(out.str(),
            "equinorm::torch::LayerNorm([4, 6], eps=1e-05, elementwise_affine=true, bias=false)\n"
            "equinorm::torch::RMSNorm([8], eps=None, elementwise_affine=true)\n"
            "equinorm::torch::RMSNorm([8], eps=0.5, elementwise_affine=true, add_one=true)");
}

TEST(Modules, TheyLiveInASequentialAndCloneAndTrain) {
  ::torch::nn::Sequential model(::torch::nn::Linear(8, 8), eq::LayerNorm(eq::LayerNormOptions({8})),
                                eq::RMSNorm(eq::RMSNormOptions({8})));
  const auto copy = std::dynamic_pointer_cast<::torch::nn::SequentialImpl>(model->clone());
  const auto x = normal({16, 8}, at::kFloat, 96);
  const auto target = normal({16, 8}, at::kFloat, 97);
  const auto loss = [&] { return ::torch::mse_loss(model->forward(x), target); };
  const auto before = model->forward(x).detach();
  EXPECT_TRUE(same_bits(before, copy->forward(x)));
  const double first = loss().item<double>();
  ::torch::optim::SGD optimizer(model->parameters(), 0.1);
  for (int step = 0; step < 20; ++step) {
    optimizer.zero_grad();
    loss().backward();
    optimizer.step();
  }
  EXPECT_LT(loss().item<double>(), first);
  EXPECT_TRUE(same_bits(before, copy->forward(x)));  // the clone has its own parameters
}

}  // namespace
}  // namespace equinorm::tests
