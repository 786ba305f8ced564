// Second derivatives of every norm: against those of PyTorch's operators, or of the formula in
// elementary operators where PyTorch has none, and against finite differences of first derivatives.
#include <gtest/gtest.h>
#include <torch/torch.h>

#include <cmath>
#include <ostream>
#include <string>
#include <vector>

#include "equinorm/torch/torch.hpp"
#include "image_checks.hpp"

namespace equinorm::tests {
namespace {

namespace eq = ::equinorm::torch;
using ::torch::autograd::grad;

struct Case {
  const char* name;
  Sizes x;
  Sizes weight;
  ImageNorm ours;
  ImageNorm theirs;

  friend void PrintTo(const Case& c, std::ostream* out) { *out << c.name; }
};

at::Tensor mean_of(std::int64_t features) { return normal({features}, at::kDouble, 401); }
at::Tensor variance_of(std::int64_t features) {
  return normal({features}, at::kDouble, 402).abs() + 0.1;
}

at::Tensor real_tokens() {
  return at::tensor({1, 1, 0, 1, 0, 1, 1, 1}, at::kLong).to(at::kBool).view({2, 4});
}

/// BatchNorm of the real tokens gathered, put back among zeros.
at::Tensor gathered(const at::Tensor& x, const at::Tensor& w, const at::Tensor& b) {
  const auto index = real_tokens().flatten().nonzero().flatten();
  const auto y =
      at::batch_norm(x.flatten(0, 1).index_select(0, index), w, b, {}, {}, true, 0.1, 1e-5, false);
  return at::zeros({8, 6}, at::kDouble).index_copy(0, index, y).view_as(x);
}

std::vector<Case> row_cases() {
  return {
      {"layer_norm",
       {4, 6},
       {6},
       [](const auto& x, const auto& w, const auto& b) { return eq::layer_norm(x, {6}, w, b); },
       [](const auto& x, const auto& w, const auto& b) { return at::layer_norm(x, {6}, w, b); }},
      {"rms_norm",
       {4, 6},
       {6},
       [](const auto& x, const auto& w, const auto& b) {
         return eq::rms_norm(x, {6}, w, 1e-5) + b;
       },
       [](const auto& x, const auto& w, const auto& b) {
         return at::rms_norm(x, {6}, w, 1e-5) + b;
       }},
      {"head_norm",
       {2, 3, 4, 6},
       {4, 6},
       [](const auto& x, const auto& w, const auto& b) { return eq::head_norm(x, {}, w, b); },
       [](const auto& x, const auto& w, const auto& b) { return at::layer_norm(x, {6}) * w + b; }},
      {"modulated_norm",
       {2, 5, 6},
       {2, 6},
       [](const auto& x, const auto& w, const auto& b) { return eq::modulated_norm(x, b, w); },
       [](const auto& x, const auto& w, const auto& b) {
         return at::layer_norm(x, {6}, {}, {}, 1e-6) * (1 + w.unsqueeze(1)) + b.unsqueeze(1);
       }},
  };
}

std::vector<Case> image_cases() {
  return {
      {"group_norm",
       {2, 6, 3, 2},
       {6},
       [](const auto& x, const auto& w, const auto& b) { return eq::group_norm(x, 2, w, b); },
       [](const auto& x, const auto& w, const auto& b) { return at::group_norm(x, 2, w, b); }},
      {"instance_norm",
       {2, 6, 3, 2},
       {6},
       [](const auto& x, const auto& w, const auto& b) {
         return eq::instance_norm(x, mean_of(6), variance_of(6), w, b);
       },
       [](const auto& x, const auto& w, const auto& b) { return at::group_norm(x, 6, w, b); }},
      {"batch_norm in training",
       {3, 6, 4},
       {6},
       [](const auto& x, const auto& w, const auto& b) {
         return eq::batch_norm(x, {}, {}, w, b, true);
       },
       [](const auto& x, const auto& w, const auto& b) {
         return at::batch_norm(x, w, b, {}, {}, true, 0.1, 1e-5, false);
       }},
      {"batch_norm outside training",
       {3, 6, 4},
       {6},
       [](const auto& x, const auto& w, const auto& b) {
         return eq::batch_norm(x, mean_of(6), variance_of(6), w, b);
       },
       [](const auto& x, const auto& w, const auto& b) {
         return at::batch_norm(x, w, b, mean_of(6), variance_of(6), false, 0.1, 1e-5, false);
       }},
      {"masked_batch_norm",
       {2, 4, 6},
       {6},
       [](const auto& x, const auto& w, const auto& b) {
         return eq::masked_batch_norm(x, real_tokens(), {}, {}, w, b, true);
       },
       gathered},
      {"per_step_batch_norm",
       {5, 3, 6},
       {6},
       [](const auto& x, const auto& w, const auto& b) {
         return eq::per_step_batch_norm(x, {}, {}, w, b, true);
       },
       [](const auto& x, const auto& w, const auto& b) {
         const auto centred = x - x.mean(0, true);
         return centred * (centred.square().mean(0, true) + 1e-5).rsqrt() * w + b;
       }},
      {"layer_norm_2d",
       {2, 6, 3, 2},
       {6},
       [](const auto& x, const auto& w, const auto& b) { return eq::layer_norm_2d(x, w, b); },
       [](const auto& x, const auto& w, const auto& b) {
         return at::layer_norm(x.movedim(1, -1), {6}, w, b, 1e-6).movedim(-1, 1);
       }},
      {"layer_norm_chw",
       {2, 6, 3, 2},
       {6, 3, 2},
       [](const auto& x, const auto& w, const auto& b) { return eq::layer_norm_chw(x, w, b); },
       [](const auto& x, const auto& w, const auto& b) {
         return at::layer_norm(x, {6, 3, 2}, w, b, 1e-5);
       }},
  };
}

class SecondDerivatives : public ::testing::TestWithParam<Case> {
 protected:
  void SetUp() override {
    const Case& c = GetParam();
    inputs_ = {normal(c.x, at::kDouble, 403, 0.3), normal(c.weight, at::kDouble, 404, 1, 0.5),
               normal(c.weight, at::kDouble, 405), normal(c.x, at::kDouble, 406)};
    for (auto& t : inputs_) t.requires_grad_();
  }

  /// Gradients of x, weight and bias at `in` = x, weight, bias, dy.
  static std::vector<at::Tensor> first(const ImageNorm& norm, const std::vector<at::Tensor>& in,
                                       bool create_graph) {
    return grad({norm(in[0], in[1], in[2])}, {in[0], in[1], in[2]}, {in[3]},
                /*retain_graph=*/true, create_graph);
  }

  /// One number of the first derivatives, in a direction that no symmetry favours.
  static at::Tensor mixed(const std::vector<at::Tensor>& first) {
    at::Tensor sum = at::zeros({}, at::kDouble);
    for (std::size_t i = 0; i < first.size(); ++i) {
      sum = sum + (first[i] * normal(first[i].sizes(), at::kDouble, 407 + i)).sum();
    }
    return sum;
  }

  std::vector<at::Tensor> second(const ImageNorm& norm) const {
    return grad({mixed(first(norm, inputs_, true))}, inputs_, {}, true, false,
                /*allow_unused=*/true);
  }

  std::vector<at::Tensor> inputs_;
};

TEST_P(SecondDerivatives, AreThoseOfPyTorch) {
  const auto got = second(GetParam().ours);
  const auto want = second(GetParam().theirs);
  for (std::size_t i = 0; i < got.size(); ++i) {
    const auto defined = [&](const at::Tensor& t) {
      return t.defined() ? t : at::zeros_like(inputs_[i]);
    };
    EXPECT_LE(largest_of(defined(got[i]) - defined(want[i])),
              1e-11 * (1 + largest_of(defined(want[i]))))
        << GetParam().name << " source " << i;
  }
}

TEST_P(SecondDerivatives, AreTheSlopesOfTheFirst) {
  const auto got = second(GetParam().ours);
  for (std::size_t which = 0; which < inputs_.size(); ++which) {
    if (!got[which].defined()) continue;
    // Central differences at two steps and Richardson's extrapolation, along one direction.
    const auto along = normal(inputs_[which].sizes(), at::kDouble, 411);
    const auto at_step = [&](double h) {
      auto in = inputs_;
      in[which] = (in[which].detach() + along * h).requires_grad_();
      return mixed(first(GetParam().ours, in, false)).item<double>();
    };
    const auto slope = [&](double h) { return (at_step(h) - at_step(-h)) / (2 * h); };
    const double step = 0x1p-9;
    const double want = (4 * slope(step) - slope(2 * step)) / 3;
    EXPECT_NEAR((got[which] * along).sum().item<double>(), want, 1e-6 * (1 + std::abs(want)))
        << GetParam().name << " source " << which;
  }
}

TEST_P(SecondDerivatives, LeaveTheBitsOfTheFirst) {
  const auto plain = first(GetParam().ours, inputs_, false);
  const auto graph = first(GetParam().ours, inputs_, true);
  for (std::size_t i = 0; i < plain.size(); ++i) EXPECT_TRUE(same_bits(graph[i], plain[i]));
}

std::string name_of_case(const ::testing::TestParamInfo<Case>& info) {
  std::string name = info.param.name;
  for (char& c : name) c = c == ' ' ? '_' : c;
  return name;
}

INSTANTIATE_TEST_SUITE_P(OfRows, SecondDerivatives, ::testing::ValuesIn(row_cases()), name_of_case);
INSTANTIATE_TEST_SUITE_P(OfImages, SecondDerivatives, ::testing::ValuesIn(image_cases()),
                         name_of_case);

}  // namespace
}  // namespace equinorm::tests
