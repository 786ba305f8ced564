// What the tests of blocks measure with: two computations of one thing in f64, forward and
// backward, and finite differences.
#pragma once

#include <gtest/gtest.h>
#include <torch/torch.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "lab/models/parameters.hpp"

namespace equinorm::lab {

/// Threads would only get into the way of such small tensors.
inline const bool kBlocksOneThread = (at::set_num_threads(1), true);

/// Rounding of f64 along a few hundred operations of tensors whose entries are about 1.
constexpr double kRounding = 1e-12;

inline at::Tensor random_tensor(at::IntArrayRef sizes, std::uint64_t seed) {
  return at::randn(sizes, at::make_generator<at::CPUGeneratorImpl>(seed), at::kDouble);
}

/// The largest difference, in terms of the largest entry of `want`, or of 1 where that is smaller:
/// the terms of a gradient that cancels, such as that of a bias in front of a norm, are about 1.
inline void expect_close(const at::Tensor& got, const at::Tensor& want, const std::string& what) {
  ASSERT_EQ(got.sizes(), want.sizes()) << what;
  if (want.numel() == 0) return;
  const double scale = std::max(want.abs().max().item<double>(), 1.0);
  const double error = (got - want).abs().max().item<double>() / scale;
  EXPECT_LE(error, kRounding) << what;  // false for NaN too
}

/// Moves parameters away from their initial ones and zeros, at which some derivatives vanish.
inline void disturb(const ParameterStore& parameters, double by = 0.3) {
  const at::NoGradGuard no_grad;
  std::uint64_t seed = 100;
  for (const Parameter& p : parameters.all()) {
    p.value.add_(random_tensor(p.value.sizes(), seed++), by);
  }
}

/// The parameter of that name, or an undefined tensor.
inline at::Tensor find(const ParameterStore& parameters, const std::string& name) {
  for (const Parameter& p : parameters.all()) {
    if (p.name == name) return p.value;
  }
  return {};
}

using Named = std::vector<std::pair<std::string, at::Tensor>>;

inline Named named(const ParameterStore& parameters, const Named& inputs) {
  Named all = inputs;
  for (const Parameter& p : parameters.all()) all.emplace_back(p.name, p.value);
  return all;
}

/// Two computations of the same tensors from the leaves: values, and gradients of a random linear
/// function of the values.
inline void expect_same(const std::function<std::vector<at::Tensor>()>& tested,
                        const std::function<std::vector<at::Tensor>()>& independent,
                        const Named& leaves) {
  std::vector<at::Tensor> sources;
  for (const auto& leaf : leaves) sources.push_back(leaf.second);
  const auto run = [&](const std::function<std::vector<at::Tensor>()>& compute) {
    const auto values = compute();
    at::Tensor loss = at::zeros({}, at::kDouble);
    std::uint64_t seed = 900;
    for (const at::Tensor& v : values) loss = loss + (v * random_tensor(v.sizes(), seed++)).sum();
    return std::make_pair(values, torch::autograd::grad({loss}, sources, {}, /*retain_graph=*/{},
                                                        /*create_graph=*/false,
                                                        /*allow_unused=*/false));
  };
  const auto [got, got_gradients] = run(tested);
  const auto [want, want_gradients] = run(independent);
  ASSERT_EQ(got.size(), want.size());
  for (std::size_t i = 0; i < got.size(); ++i) {
    expect_close(got[i], want[i], "value " + std::to_string(i));
  }
  for (std::size_t i = 0; i < leaves.size(); ++i) {
    expect_close(got_gradients[i], want_gradients[i], "gradient of " + leaves[i].first);
  }
}

/// Gradients of loss() against fourth-order central differences. Tolerance of one entry: the
/// difference between the steps h and 2 h, about 15 times the truncation error at h, plus rounding:
/// the loss is right to some 100 ulp, which the formula multiplies by at most 1.5 / h. Nine entries
/// in ten must be told to a millionth of the largest gradient, so that no tolerance hides a fault.
inline void expect_finite_differences(const std::function<at::Tensor()>& loss,
                                      const Named& leaves) {
  constexpr double kStep = 1e-4;
  std::vector<at::Tensor> sources;
  for (const auto& leaf : leaves) sources.push_back(leaf.second);
  const at::Tensor center = loss();
  const auto gradients = torch::autograd::grad({center}, sources);
  const double rounding =
      100 * 0x1p-52 * std::max(1.0, std::abs(center.item<double>())) * 1.5 / kStep;
  const at::NoGradGuard no_grad;
  double largest = 0;
  for (const at::Tensor& g : gradients) largest = std::max(largest, g.abs().max().item<double>());
  int sharp = 0;
  int total = 0;
  for (std::size_t l = 0; l < leaves.size(); ++l) {
    auto* values = sources[l].mutable_data_ptr<double>();
    const at::Tensor gradient = gradients[l].contiguous();
    for (std::int64_t i = 0; i < sources[l].numel(); ++i) {
      const double at_center = values[i];
      const auto difference = [&](double step) {
        values[i] = at_center + step;
        const double above = loss().item<double>();
        values[i] = at_center - step;
        const double below = loss().item<double>();
        values[i] = at_center;
        return above - below;
      };
      const double one = difference(kStep);
      const double two = difference(2 * kStep);
      const double four = difference(4 * kStep);
      const double fine = (8 * one - two) / (12 * kStep);
      const double coarse = (8 * two - four) / (24 * kStep);
      const double tolerance = std::abs(fine - coarse) + rounding;
      EXPECT_NEAR(gradient.const_data_ptr<double>()[i], fine, tolerance)
          << leaves[l].first << "[" << i << "]";
      sharp += tolerance < 1e-6 * largest ? 1 : 0;
      ++total;
    }
  }
  EXPECT_GT(sharp, total * 9 / 10) << "of " << total << " entries";
}

}  // namespace equinorm::lab
