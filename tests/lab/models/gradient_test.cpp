// Gradients of whole models against finite differences in f64, for every norm and placement.
#include <gtest/gtest.h>

#include "small_model.hpp"

namespace equinorm::lab {
namespace {

struct Problem {
  Transformer model;
  at::Tensor input;
  at::Tensor target;
  at::Tensor key_mask;

  at::Tensor loss() {
    ForwardContext context;
    context.training = true;
    return at::cross_entropy_loss(model.forward(input, context, key_mask), target);
  }
};

Problem make_problem(const std::pair<std::string, std::string>& arm, bool causal, bool padded) {
  const auto options = small_options(arm, causal, at::kDouble);
  Problem problem{Transformer(options), small_input(options, 3, 4), {}, {}};
  auto generator = at::make_generator<at::CPUGeneratorImpl>(13);
  problem.target = at::randint(options.outputs, {causal ? 12 : 3}, generator, at::kLong);
  if (padded) {
    problem.key_mask = at::ones({3, 4}, at::kBool);
    problem.key_mask[0][3] = false;
    problem.key_mask[2].slice(0, 2, 4).fill_(false);
  }
  // Not the initial ones and zeros, at which some derivatives vanish.
  const at::NoGradGuard no_grad;
  for (const Parameter& parameter : problem.model.parameters()) {
    parameter.value.add_(at::randn(parameter.value.sizes(), generator, at::kDouble), 0.1);
  }
  return problem;
}

struct Derivatives {
  double fine;    // step h
  double coarse;  // step 2 h
};

// Fourth-order central differences.
Derivatives derivatives(Problem& problem, double* value, double h) {
  const double center = *value;
  const auto difference = [&](double step) {
    *value = center + step;
    const double above = problem.loss().item<double>();
    *value = center - step;
    const double below = problem.loss().item<double>();
    *value = center;
    return above - below;
  };
  const double one = difference(h);
  const double two = difference(2 * h);
  const double four = difference(4 * h);
  return {(8 * one - two) / (12 * h), (8 * two - four) / (24 * h)};
}

// Tolerance of one entry: the difference between the steps h and 2 h, about 15 times the truncation
// error at h (and large where a ReLU's kink lies within reach), plus rounding: the loss is right to
// some 100 ulp, which the formula multiplies by at most 1.5 / h.
void expect_gradients_match(Problem problem) {
  constexpr double kStep = 1e-4;
  problem.loss().backward();
  const at::NoGradGuard no_grad;
  const double rounding = 100 * 0x1p-52 * problem.loss().item<double>() * 1.5 / kStep;
  int sharp = 0;
  int total = 0;
  for (const Parameter& parameter : problem.model.parameters()) {
    const at::Tensor gradient = parameter.value.grad().contiguous();
    auto* values = parameter.value.mutable_data_ptr<double>();
    for (std::int64_t i = 0; i < parameter.value.numel(); ++i) {
      const auto [fine, coarse] = derivatives(problem, values + i, kStep);
      const double tolerance = std::abs(fine - coarse) + rounding;
      EXPECT_NEAR(gradient.data_ptr<double>()[i], fine, tolerance)
          << parameter.name << "[" << i << "]";
      sharp += tolerance < 1e-8 ? 1 : 0;
      ++total;
    }
  }
  EXPECT_GT(sharp, total * 9 / 10) << "of " << total << " entries";
}

TEST(Gradient, OfALanguageModelMatchesFiniteDifferencesInEveryArm) {
  for (const auto& arm : all_arms()) {
    SCOPED_TRACE(arm.first + " " + arm.second);
    expect_gradients_match(make_problem(arm, true, false));
  }
}

TEST(Gradient, OfAPaddedClassifierMatchesFiniteDifferencesInEveryArm) {
  for (const auto& arm : all_arms()) {
    SCOPED_TRACE(arm.first + " " + arm.second);
    expect_gradients_match(make_problem(arm, false, true));
  }
}

}  // namespace
}  // namespace equinorm::lab
