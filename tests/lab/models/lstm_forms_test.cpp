// What the LSTM forms start from, PyTorch's own LSTM beside the one without norms, and the averages
// of batch normalization per step.
#include <gtest/gtest.h>

#include "block_checks.hpp"
#include "lab/error.hpp"
#include "lab/models/lstm.hpp"

namespace equinorm::lab {
namespace {

LstmOptions small(const std::string& norm) {
  return {.norm = norm, .features = 3, .width = 4, .initial_gain = {}, .averaged_steps = 2};
}

TEST(LstmForms, AreAllListed) {
  const std::vector<std::string> want = {"none",          "ba2016",      "carry_normalized",
                                         "per_gate",      "output_only", "input_only",
                                         "batch_per_step"};
  EXPECT_EQ(lstm_norm_names(), want);
  ParameterStore parameters(1, at::kDouble);
  EXPECT_THROW(Lstm("lstm", 0, small("layer"), parameters), UsageError);
}

TEST(LstmForms, WithoutNormsIsThatOfPyTorch) {
  ParameterStore parameters(1, at::kDouble);
  const Lstm lstm("lstm", 0, small("none"), parameters);
  const at::Tensor x = random_tensor({6, 2, 3}, 1);
  // PyTorch's gates are i, f, g, o.
  const auto reorder = [](const at::Tensor& t) {
    const auto part = t.chunk(4);
    return at::cat({part[1], part[0], part[3], part[2]});
  };
  const auto& t = lstm.tensors();
  const std::vector<at::Tensor> weights = {reorder(lstm.input_weight()), reorder(t.weight),
                                           reorder(t.bias), at::zeros({16}, at::kDouble)};
  const at::Tensor zeros = at::zeros({1, 2, 4}, at::kDouble);
  const auto [want, h, c] = at::lstm(x, {zeros, zeros}, weights, true, 1, 0.0, false, false, false);
  const auto got = lstm.forward(x, {});
  expect_close(got.hidden, want, "h");
  expect_close(got.cell, c[0], "c");
}

TEST(LstmForms, StartWithAForgetBiasOfOneAndTheGainThatIsAskedFor) {
  for (const std::string& norm : lstm_norm_names()) {
    SCOPED_TRACE(norm);
    for (const std::optional<double> gain : {std::optional<double>(), std::optional(0.25)}) {
      ParameterStore parameters(1, at::kDouble);
      LstmOptions options = small(norm);
      options.initial_gain = gain;
      const Lstm lstm("lstm", 0, options, parameters);
      const at::Tensor& bias = lstm.tensors().bias;
      EXPECT_TRUE(at::equal(bias.slice(0, 0, 4), at::ones({4}, at::kDouble)));
      EXPECT_EQ(bias.slice(0, 4).abs().max().item<double>(), 0);
      const double want = gain.value_or(norm == "batch_per_step" ? 0.1 : 1);
      for (const Parameter& p : parameters.all()) {
        if (p.kind != ParameterKind::gamma) continue;
        EXPECT_TRUE(p.value.eq(want).all().item<bool>()) << p.name;
      }
    }
  }
}

TEST(LstmForms, ShareTheirInitialWeights) {
  ParameterStore first(1, at::kDouble);
  ParameterStore second(1, at::kDouble);
  const Lstm plain("lstm", 0, small("none"), first);
  const Lstm normalized("lstm", 0, small("ba2016"), second);
  EXPECT_TRUE(at::equal(plain.input_weight(), normalized.input_weight()));
  EXPECT_TRUE(at::equal(plain.tensors().weight, normalized.tensors().weight));
}

TEST(LstmForms, WorkInSinglePrecisionAndOnEmptySequences) {
  for (const std::string& norm : lstm_norm_names()) {
    SCOPED_TRACE(norm);
    ParameterStore single(1, at::kFloat);
    const Lstm lstm("lstm", 0, small(norm), single);
    const at::Tensor x = random_tensor({3, 2, 3}, 1).to(at::kFloat);
    const auto out = lstm.forward(x, {.training = true});
    EXPECT_EQ(out.hidden.scalar_type(), at::kFloat);
    out.hidden.sum().backward();
    EXPECT_TRUE(lstm.tensors().weight.grad().isfinite().all().item<bool>());
    EXPECT_GT(lstm.tensors().weight.grad().abs().max().item<float>(), 0);
    EXPECT_EQ(lstm.forward(x.slice(0, 0, 0), {}).hidden.sizes(), at::IntArrayRef({0, 2, 4}));
  }
}

TEST(LstmForms, RefuseMasksAndStatesOfAnotherShapeOrType) {
  ParameterStore parameters(1, at::kDouble);
  const Lstm lstm("lstm", 0, small("ba2016"), parameters);
  const at::Tensor x = random_tensor({3, 2, 3}, 1);
  const auto run = [&](const Lstm::Extra& extra) { (void)lstm.forward(x, extra); };
  EXPECT_THROW(run({.mask = at::ones({2, 3}, at::kBool)}), c10::Error);
  EXPECT_THROW(run({.mask = at::ones({3, 2}, at::kDouble)}), c10::Error);
  EXPECT_THROW(run({.hidden = at::zeros({2, 3}, at::kDouble)}), c10::Error);
  EXPECT_THROW(run({.cell = at::zeros({1, 4}, at::kDouble)}), c10::Error);
  EXPECT_THROW(run({.cell = at::zeros({2, 4}, at::kFloat)}), c10::Error);
  EXPECT_NO_THROW(run({.mask = at::ones({3, 2}, at::kBool)}));
}

TEST(LstmBatchNorm, AveragesEachStepByItself) {
  ParameterStore parameters(1, at::kDouble);
  const Lstm lstm("lstm", 0, small("batch_per_step"), parameters);
  const at::Tensor x = random_tensor({3, 5, 3}, 1);  // a step more than have averages
  const at::NoGradGuard no_grad;
  (void)lstm.forward(x, {.training = true});
  const at::Tensor z = at::linear(x, lstm.input_weight());
  const StepAverages& averages = lstm.settings().input_averages;
  ASSERT_EQ(averages.mean.sizes(), at::IntArrayRef({2, 16}));
  for (int step = 0; step < 2; ++step) {
    expect_close(averages.mean[step], 0.1 * z[step].mean(0), "mean");
    expect_close(averages.variance[step], 0.9 + 0.1 * z[step].var(0, /*unbiased=*/true),
                 "variance");
  }
}

TEST(LstmBatchNorm, EvaluatesWithItsAveragesAndReusesThoseOfTheLastStep) {
  ParameterStore parameters(1, at::kDouble);
  const Lstm lstm("lstm", 0, small("batch_per_step"), parameters);
  disturb(parameters);
  const at::NoGradGuard no_grad;
  const at::Tensor x = random_tensor({4, 5, 3}, 1);
  (void)lstm.forward(x, {.training = true});
  const auto& t = lstm.tensors();
  const auto& s = lstm.settings();
  const auto norm = [](const at::Tensor& v, const StepAverages& a, int step,
                       const at::Tensor& gamma) {
    return (v - a.mean[step]) / (a.variance[step] + 1e-5).sqrt() * gamma;
  };
  at::Tensor h = at::zeros({5, 4}, at::kDouble);
  at::Tensor c = h;
  std::vector<at::Tensor> want;
  for (int step = 0; step < 4; ++step) {
    const int of = std::min(step, 1);
    const auto gates =
        (norm(at::linear(x[step], lstm.input_weight()), s.input_averages, of, t.input_gamma) +
         norm(at::linear(h, t.weight), s.hidden_averages, of, t.hidden_gamma) + t.bias)
            .chunk(4, 1);
    c = gates[0].sigmoid() * c + gates[1].sigmoid() * gates[3].tanh();
    h = gates[2].sigmoid() * (norm(c, s.cell_averages, of, t.cell_gamma) + t.cell_beta).tanh();
    want.push_back(h);
  }
  const auto got = lstm.forward(x, {});
  expect_close(got.hidden, at::stack(want), "h");
  // One sample alone gives what it gives in the batch.
  expect_close(lstm.forward(x.slice(1, 2, 3), {}).hidden, got.hidden.slice(1, 2, 3), "one sample");
}

TEST(LstmBatchNorm, HasTheGradientsOfFiniteDifferencesInEvaluationToo) {
  ParameterStore parameters(1, at::kDouble);
  const Lstm lstm("lstm", 0, small("batch_per_step"), parameters);
  disturb(parameters);
  const at::Tensor x = random_tensor({3, 2, 3}, 1).requires_grad_();
  expect_finite_differences([&] { return lstm.forward(x, {}).hidden.square().sum(); },
                            named(parameters, {{"x", x}}));
}

}  // namespace
}  // namespace equinorm::lab
