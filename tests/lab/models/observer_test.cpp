// What a ForwardObserver is told, at every placement: parts that don't nest, every branch with the
// stream it is added to, every layer.
#include <gtest/gtest.h>

#include <map>

#include "small_model.hpp"

namespace equinorm::lab {
namespace {

struct Recorder final : ForwardObserver {
  int open = 0;
  bool nested = false;
  std::map<Part, int> parts;
  std::map<int, int> branches;  // by layer
  std::map<int, int> layers;
  double greatest_ratio = 0;  // of branch to stream

  void begin(Part part) override {
    nested = nested || open > 0;
    ++open;
    ++parts[part];
  }
  void end(Part /*part*/) override { --open; }
  void saw_branch(int layer, const at::Tensor& branch, const at::Tensor& stream) override {
    ++branches[layer];
    EXPECT_EQ(branch.sizes(), stream.sizes());
    greatest_ratio = std::max(greatest_ratio, (branch.norm() / stream.norm()).item<double>());
  }
  void saw_layer(int layer, const at::Tensor& /*stream*/) override { ++layers[layer]; }
};

using Counts = std::map<int, int>;

TEST(Observer, SeesPartsBranchesAndLayersAtEveryPlacement) {
  const at::NoGradGuard no_grad;
  const at::Tensor source = at::ones({2, 6, 5}, at::kDouble);
  const at::Tensor target = at::ones({2, 5}, at::kLong);
  for (const auto& arm : all_placements()) {
    SCOPED_TRACE(arm.first + " " + arm.second);
    const EncoderDecoder model(small_pair(arm));
    Recorder recorder;
    ForwardContext context;
    context.observer = &recorder;
    static_cast<void>(model.forward(source, target, context));
    EXPECT_FALSE(recorder.nested);
    EXPECT_EQ(recorder.open, 0);
    EXPECT_EQ(recorder.branches, (Counts{{0, 2}, {1, 2}, {2, 2}, {3, 3}, {4, 3}}));
    EXPECT_EQ(recorder.layers, (Counts{{0, 1}, {1, 1}, {2, 1}, {3, 1}, {4, 1}}));
    const bool has_norms = arm.first != "none" && has_norm(placement_named(arm.second));
    EXPECT_EQ(recorder.parts[Part::norm] > 0, has_norms);
    EXPECT_EQ(recorder.greatest_ratio > 0, arm.second != "rezero");
  }
}

TEST(Observer, CountsTheNormsOfAPlacement) {
  const at::NoGradGuard no_grad;
  // Encoder: 3 layers of 2 sublayers; decoder: 2 of 3.
  const std::map<std::string, int> norms = {
      {"post", 12},      {"pre", 12 + 2},      {"pre_no_final", 12}, {"deepnorm", 12},
      {"sandwich", 24},  {"peri", 24 + 2 + 2}, {"output", 12},       {"normformer", 12 + 7 + 5 + 2},
      {"rezero", 0},     {"admin", 12},        {"tfixup", 0},        {"b2t", 12},
      {"gain_half", 12}, {"none", 0}};
  for (const std::string& placement : placement_names()) {
    const EncoderDecoder model(small_pair({"layer", placement}));
    Recorder recorder;
    ForwardContext context;
    context.observer = &recorder;
    static_cast<void>(
        model.forward(at::ones({2, 6, 5}, at::kDouble), at::ones({2, 5}, at::kLong), context));
    EXPECT_EQ(recorder.parts[Part::norm], norms.at(placement)) << placement;
  }
}

}  // namespace
}  // namespace equinorm::lab
