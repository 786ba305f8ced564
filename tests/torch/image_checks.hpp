// What the tests of norms over samples, channels and positions share: calls with gradients, shapes,
// and one tensor in many memory layouts. Includes nothing of the front end.
#pragma once

#include <gtest/gtest.h>
#include <torch/torch.h>

#include <functional>
#include <string>
#include <vector>

#include "tensor_checks.hpp"

namespace equinorm::tests {

using Sizes = std::vector<std::int64_t>;

/// A norm with everything bound but x, weight and bias.
using ImageNorm = std::function<at::Tensor(const at::Tensor& x, const at::Tensor& weight,
                                           const at::Tensor& bias)>;

/// y and the gradients; undefined where there is no such parameter.
struct Outcome {
  at::Tensor y, dx, dweight, dbias;

  [[nodiscard]] std::vector<std::pair<const char*, at::Tensor>> parts() const {
    return {{"y", y}, {"dx", dx}, {"dweight", dweight}, {"dbias", dbias}};
  }
};

inline at::Tensor leaf(const at::Tensor& t) {
  return t.defined() ? t.detach().requires_grad_() : at::Tensor();
}

/// x, weight and bias become leaves as they lie.
inline Outcome outcome_of(const ImageNorm& norm, const at::Tensor& x, const at::Tensor& weight,
                          const at::Tensor& bias, const at::Tensor& dy) {
  const at::Tensor in[] = {leaf(x), leaf(weight), leaf(bias)};
  const auto y = norm(in[0], in[1], in[2]);
  std::vector<at::Tensor> given;
  for (const auto& t : in) {
    if (t.defined()) given.push_back(t);
  }
  const auto gradients = ::torch::autograd::grad({y}, given, {dy});
  Outcome out{y.detach(), gradients[0], {}, {}};
  std::size_t next = 1;
  if (weight.defined()) out.dweight = gradients[next++];
  if (bias.defined()) out.dbias = gradients[next++];
  return out;
}

/// The same of operators that want both parameters: absent ones become 1 and 0.
inline Outcome outcome_with_units(const ImageNorm& norm, const at::Tensor& x,
                                  const at::Tensor& weight, const at::Tensor& bias,
                                  const at::Tensor& dy) {
  const auto unit = [&](const at::Tensor& t, double value) {
    return t.defined() ? t : at::full({x.size(1)}, value, x.options());
  };
  Outcome out = outcome_of(norm, x, unit(weight, 1), unit(bias, 0), dy);
  if (!weight.defined()) out.dweight = at::Tensor();
  if (!bias.defined()) out.dbias = at::Tensor();
  return out;
}

inline double largest_of(const at::Tensor& t) {
  return t.numel() == 0 ? 0 : t.abs().max().item<double>();
}

/// Doubles that agree but for the roundings of a few hundred operations.
inline void expect_close(const at::Tensor& got, const at::Tensor& want, const std::string& what) {
  ASSERT_EQ(got.defined(), want.defined()) << what;
  if (!got.defined()) return;
  ASSERT_EQ(got.sizes(), want.sizes()) << what;
  EXPECT_LE(largest_of(got - want), 1e-12 * (1 + largest_of(want))) << what;
}

inline void expect_close(const Outcome& got, const Outcome& want) {
  for (std::size_t i = 0; i < got.parts().size(); ++i) {
    expect_close(got.parts()[i].second, want.parts()[i].second, got.parts()[i].first);
  }
}

inline void expect_same_bits(const Outcome& got, const Outcome& want) {
  for (std::size_t i = 0; i < got.parts().size(); ++i) {
    if (!got.parts()[i].second.defined()) continue;
    EXPECT_TRUE(same_bits(got.parts()[i].second, want.parts()[i].second)) << got.parts()[i].first;
  }
}

/// None, weight alone, bias alone, both: bits 0 and 1 of `combination`.
struct Affine {
  at::Tensor weight, bias;

  Affine(unsigned combination, std::int64_t channels, at::ScalarType type) {
    if ((combination & 1) != 0) weight = normal({channels}, type, 101, 1, 0.5);
    if ((combination & 2) != 0) bias = normal({channels}, type, 102);
  }
};

/// One tensor's values (samples, channels, height, width) as they may lie in memory.
inline std::vector<std::pair<std::string, at::Tensor>> layouts_of(const at::Tensor& x) {
  const auto n = x.size(0);
  const auto c = x.size(1);
  const auto h = x.size(2);
  const auto w = x.size(3);
  const auto within = [&](at::Tensor memory, const std::function<at::Tensor(at::Tensor)>& part) {
    auto view = part(memory);
    view.copy_(x);
    return view;
  };
  const auto o = x.options();
  const auto last = at::MemoryFormat::ChannelsLast;
  return {
      {"contiguous", x.contiguous()},
      {"channels-last", x.contiguous(last)},
      {"misaligned", within(at::zeros({x.numel() + 1}, o),
                            [&](const at::Tensor& m) { return m.slice(0, 1).view(x.sizes()); })},
      {"every other sample", within(at::zeros({2 * n, c, h, w}, o),
                                    [](const at::Tensor& m) { return m.slice(0, 1, {}, 2); })},
      {"some channels", within(at::zeros({n, c + 3, h, w}, o),
                               [&](const at::Tensor& m) { return m.narrow(1, 2, c); })},
      {"some channels, last", within(at::zeros({n, c + 3, h, w}, o).contiguous(last),
                                     [&](const at::Tensor& m) { return m.narrow(1, 2, c); })},
      {"some columns", within(at::zeros({n, c, h, w + 2}, o),
                              [&](const at::Tensor& m) { return m.narrow(3, 1, w); })},
      {"height and width exchanged",
       within(at::zeros({n, c, w, h}, o), [](const at::Tensor& m) { return m.transpose(2, 3); })},
      {"samples and channels exchanged",
       within(at::zeros({c, n, h, w}, o), [](const at::Tensor& m) { return m.transpose(0, 1); })},
  };
}

}  // namespace equinorm::tests
