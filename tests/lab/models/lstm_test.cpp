// LSTM layers against compositions of PyTorch's operators, written from the papers' formulas form
// by form, and against finite differences; in f64.
#include "lab/models/lstm.hpp"

#include <gtest/gtest.h>

#include "block_checks.hpp"
#include "lab/error.hpp"

namespace equinorm::lab {
namespace {

constexpr std::int64_t kSteps = 5;
constexpr std::int64_t kSamples = 5;
constexpr std::int64_t kFeatures = 3;
constexpr std::int64_t kWidth = 6;

struct Problem {
  ParameterStore parameters{7, at::kDouble};
  Lstm lstm;
  at::Tensor x, hidden, cell, mask;

  Problem(const std::string& norm, bool padded)
      : lstm("lstm", 0, options(norm), parameters),
        x(random_tensor({kSteps, kSamples, kFeatures}, 1).requires_grad_()),
        hidden(random_tensor({kSamples, kWidth}, 2).requires_grad_()),
        cell(random_tensor({kSamples, kWidth}, 3).requires_grad_()) {
    disturb(parameters);
    if (!padded) return;
    mask = at::ones({kSteps, kSamples}, at::kBool);
    mask[3].fill_(false);
    mask[3][0] = true;  // all but one
    mask[4].fill_(false);
    mask[2][4] = false;
    mask[0][2] = false;  // padding before the first token
  }

  static LstmOptions options(const std::string& norm) {
    return {.norm = norm,
            .features = kFeatures,
            .width = kWidth,
            .initial_gain = {},
            .averaged_steps = kSteps};
  }

  [[nodiscard]] std::vector<at::Tensor> fused() const {
    const auto out = lstm.forward(x, {true, mask, hidden, cell});
    return {out.hidden, out.cell};
  }

  [[nodiscard]] Named leaves() const {
    return named(parameters, {{"x", x}, {"hidden", hidden}, {"cell", cell}});
  }

  [[nodiscard]] at::Tensor parameter(const std::string& name) const {
    const at::Tensor found = find(parameters, "lstm." + name);
    EXPECT_TRUE(found.defined()) << name;
    return found;
  }
};

at::Tensor layer_norm(const at::Tensor& x, const at::Tensor& gamma, const at::Tensor& beta) {
  return at::layer_norm(x, {x.size(-1)}, gamma, beta, 1e-5);
}

// Over the real rows; the others give zeros.
at::Tensor batch_norm(const at::Tensor& x, const at::Tensor& gamma, const at::Tensor& beta,
                      const at::Tensor& real) {
  const at::Tensor rows = x.index({real});
  const at::Tensor mean = rows.mean(0);
  const at::Tensor variance = (rows - mean).square().mean(0);
  at::Tensor y = (rows - mean) / (variance + 1e-5).sqrt() * gamma;
  if (beta.defined()) y = y + beta;
  return at::zeros_like(x).index_put({real}, y);
}

// What goes into the activations.
at::Tensor preactivation(const Problem& p, const std::string& norm, const at::Tensor& zx,
                         const at::Tensor& zh, const at::Tensor& real) {
  const at::Tensor bias = p.parameter("bias");
  if (norm == "ba2016" || norm == "carry_normalized") {
    return layer_norm(zx, p.parameter("input_norm.gamma"), {}) +
           layer_norm(zh, p.parameter("hidden_norm.gamma"), {}) + bias;
  }
  if (norm == "batch_per_step") {
    return batch_norm(zx, p.parameter("input_norm.gamma"), {}, real) +
           batch_norm(zh, p.parameter("hidden_norm.gamma"), {}, real) + bias;
  }
  if (norm == "input_only") return layer_norm(zx, p.parameter("input_norm.gamma"), {}) + zh + bias;
  if (norm == "per_gate") {
    const auto sums = (zx + zh).chunk(4, 1);
    const auto gammas = p.parameter("gates_norm.gamma").chunk(4);
    const auto betas = bias.chunk(4);
    std::vector<at::Tensor> gates;
    for (int i = 0; i < 4; ++i) gates.push_back(layer_norm(sums[i], gammas[i], betas[i]));
    return at::cat(gates, 1);
  }
  return zx + zh + bias;
}

at::Tensor cell_norm(const Problem& p, const std::string& norm, const at::Tensor& c,
                     const at::Tensor& real) {
  if (norm == "none" || norm == "input_only") return c;
  const at::Tensor gamma = p.parameter("cell_norm.gamma");
  const at::Tensor beta = p.parameter("cell_norm.beta");
  if (norm == "batch_per_step") return batch_norm(c, gamma, beta, real);
  return layer_norm(c, gamma, beta);
}

std::vector<at::Tensor> composed(const Problem& p, const std::string& norm) {
  at::Tensor h = p.hidden;
  at::Tensor c = p.cell;
  std::vector<at::Tensor> all;
  for (std::int64_t t = 0; t < kSteps; ++t) {
    const at::Tensor real = p.mask.defined() ? p.mask[t] : at::ones({kSamples}, at::kBool);
    const auto gates = preactivation(p, norm, at::linear(p.x[t], p.parameter("input.weight")),
                                     at::linear(h, p.parameter("hidden.weight")), real)
                           .chunk(4, 1);
    const at::Tensor raw = gates[0].sigmoid() * c + gates[1].sigmoid() * gates[3].tanh();
    const at::Tensor out = cell_norm(p, norm, raw, real);
    const bool carries = norm == "carry_normalized" || norm == "per_gate";
    const at::Tensor keep = real.unsqueeze(1);
    h = at::where(keep, gates[2].sigmoid() * out.tanh(), h);
    c = at::where(keep, carries ? out : raw, c);
    all.push_back(h);
  }
  return {at::stack(all), c};
}

class EveryLstm : public ::testing::TestWithParam<std::string> {};

TEST_P(EveryLstm, MatchesItsFormulaForwardAndBackward) {
  for (const bool padded : {false, true}) {
    SCOPED_TRACE(padded ? "padded" : "full");
    const Problem p(GetParam(), padded);
    expect_same([&] { return p.fused(); }, [&] { return composed(p, GetParam()); }, p.leaves());
  }
}

TEST_P(EveryLstm, HasTheGradientsOfFiniteDifferences) {
  const Problem p(GetParam(), true);
  const at::Tensor weights = random_tensor({kSteps, kSamples, kWidth}, 21);
  const auto loss = [&] {
    const auto out = p.fused();
    return (out[0] * weights).sum() + out[1].square().sum();
  };
  expect_finite_differences(loss, p.leaves());
}

TEST_P(EveryLstm, TakesGradientsOfAnyLayout) {
  const Problem p(GetParam(), true);
  const auto turned = [](const std::vector<at::Tensor>& out) {
    return std::vector{out[0].permute({2, 0, 1}), out[1].t()};
  };
  expect_same([&] { return turned(p.fused()); }, [&] { return turned(composed(p, GetParam())); },
              p.leaves());
  const auto expanded = [](const std::vector<at::Tensor>& out) {
    return std::vector{out[0].sum(), out[1].sum(0)};
  };
  expect_same([&] { return expanded(p.fused()); },
              [&] { return expanded(composed(p, GetParam())); }, p.leaves());
}

TEST_P(EveryLstm, KeepsItsStateOverPaddingWhateverIsInIt) {
  const at::NoGradGuard no_grad;
  const Problem p(GetParam(), true);
  const auto before = p.fused();
  EXPECT_TRUE(at::equal(before[0][3].slice(0, 1), before[0][2].slice(0, 1)));
  EXPECT_TRUE(at::equal(before[0][0][2], p.hidden[2]));
  at::Tensor x = p.x;  // the same numbers
  x.index_put_({p.mask.logical_not()}, 1e6);
  const auto after = p.fused();
  EXPECT_TRUE(at::equal(before[0], after[0]));
  EXPECT_TRUE(at::equal(before[1], after[1]));
}

TEST_P(EveryLstm, RefusesSecondDerivatives) {
  const Problem p(GetParam(), false);
  const auto first = [&] {
    return torch::autograd::grad({p.fused()[0].sum()}, {p.x}, {}, {}, /*create_graph=*/true);
  };
  EXPECT_THROW(first(), c10::Error);
}

TEST_P(EveryLstm, IsOneNodeOfTheGraph) {
  const Problem p(GetParam(), false);
  const auto out = p.fused();
  EXPECT_EQ(out[0].grad_fn(), out[1].grad_fn());
  // Behind it are leaves alone, but for the projection of the input.
  int inner = 0;
  for (const auto& edge : out[0].grad_fn()->next_edges()) {
    if (edge.is_valid() && !edge.function->next_edges().empty()) ++inner;
  }
  EXPECT_EQ(inner, 1);
}

INSTANTIATE_TEST_SUITE_P(Forms, EveryLstm, ::testing::ValuesIn(lstm_norm_names()),
                         [](const auto& form) { return form.param; });

}  // namespace
}  // namespace equinorm::lab
