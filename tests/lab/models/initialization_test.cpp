// Initial weights that belong to a placement: DeepNorm's beta, T-Fixup's scales, gains of a half.
#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "small_model.hpp"

namespace equinorm::lab {
namespace {

using Weights = std::map<std::string, at::Tensor>;

// One product rounds once; two of them differ by a few ulp.
constexpr double kRounding = 1e-15;

template <class Options>
Options wide(Options options) {
  options.width = 64;
  options.heads = 4;
  options.ffn = 128;
  return options;
}

Weights weights_of(const std::vector<Parameter>& parameters) {
  Weights weights;
  for (const Parameter& parameter : parameters) weights[parameter.name] = parameter.value.detach();
  return weights;
}

Weights language_model(const std::string& placement, std::int64_t depth) {
  auto options = wide(small_options({"layer", placement}, true, at::kDouble));
  options.depth = depth;
  return weights_of(Transformer(options).parameters());
}

Weights pair_of(const std::string& placement) {
  return weights_of(EncoderDecoder(wide(small_pair({"layer", placement}))).parameters());
}

void expect_ratio(const at::Tensor& weight, const at::Tensor& other, double ratio,
                  const std::string& name) {
  EXPECT_LT((weight - ratio * other).abs().max().item<double>(),
            kRounding * other.abs().max().item<double>())
      << name;
}

bool ends_with(const std::string& text, const std::string& end) {
  return text.size() >= end.size() && text.substr(text.size() - end.size()) == end;
}

// Value, output and feed-forward weights of `scaled` are `ratio` times those of `plain`; query, key
// and everything else are the same.
void expect_scaled_layer(const Weights& scaled, const Weights& plain, const std::string& prefix,
                         double ratio) {
  int compared = 0;
  for (const auto& [name, weight] : scaled) {
    if (name.substr(0, prefix.size()) != prefix || !ends_with(name, "weight")) continue;
    const at::Tensor& other = plain.at(name);
    const std::int64_t width = weight.size(1);
    ++compared;
    if (ends_with(name, "qkv.weight")) {
      expect_ratio(weight.slice(0, 0, 2 * width), other.slice(0, 0, 2 * width), 1, name);
      expect_ratio(weight.slice(0, 2 * width), other.slice(0, 2 * width), ratio, name);
    } else if (ends_with(name, "kv.weight")) {
      expect_ratio(weight.slice(0, 0, width), other.slice(0, 0, width), 1, name);
      expect_ratio(weight.slice(0, width), other.slice(0, width), ratio, name);
    } else {
      expect_ratio(weight, other, ends_with(name, "cross.q.weight") ? 1 : ratio, name);
    }
  }
  EXPECT_EQ(compared, prefix.substr(0, 7) == "decoder" ? 7 : 4) << prefix;
}

TEST(DeepNorm, ShrinksValueOutputAndFeedForwardWeightsOnly) {
  // beta is (8 M)^(-1/4): four times the layers, 1 / sqrt(2) of it.
  expect_scaled_layer(language_model("deepnorm", 8), language_model("deepnorm", 2), "layers.1",
                      std::sqrt(0.5));
}

TEST(DeepNorm, DrawsFromTheNormalDistributionOfGlorotWithTheGainBeta) {
  const Weights weights = language_model("deepnorm", 2);
  const double beta = 0.5;  // 16^(-1/4)
  const auto expect_normal = [&](const at::Tensor& weight, double fan_in, double fan_out,
                                 double gain, const std::string& name) {
    const double deviation = gain * std::sqrt(2 / (fan_in + fan_out));
    const auto count = static_cast<double>(weight.numel());
    const double moment2 = weight.square().mean().item<double>() / std::pow(deviation, 2);
    const double moment4 = weight.pow(4).mean().item<double>() / std::pow(deviation, 4);
    // 5 sigma: the variance of z^2 is 2, that of z^4 is 96. A uniform distribution has 1.8.
    EXPECT_NEAR(moment2, 1, 5 * std::sqrt(2 / count)) << name;
    EXPECT_NEAR(moment4, 3, 5 * std::sqrt(96 / count)) << name;
  };
  const at::Tensor& qkv = weights.at("layers.0.qkv.weight");
  expect_normal(qkv.slice(0, 0, 128), 64, 64, 1, "query and key");
  expect_normal(qkv.slice(0, 128), 64, 64, beta, "value");
  expect_normal(weights.at("layers.0.out.weight"), 64, 64, beta, "output");
  expect_normal(weights.at("layers.0.fc1.weight"), 64, 128, beta, "fc1");
  expect_normal(weights.at("layers.0.fc2.weight"), 128, 64, beta, "fc2");
}

TEST(DeepNorm, ShrinksCrossAttentionByTheDecodersBeta) {
  auto options = wide(small_pair({"layer", "deepnorm"}));
  const Weights plain = weights_of(EncoderDecoder(options).parameters());
  options.encoder_depth = 6;
  options.decoder_depth = 8;
  const Weights scaled = weights_of(EncoderDecoder(options).parameters());
  expect_scaled_layer(scaled, plain, "encoder.layers.1",
                      std::pow(std::pow(6.0 / 3, 4) * 8 / 2, -1.0 / 16));
  expect_scaled_layer(scaled, plain, "decoder.layers.1", std::pow(8.0 / 2, -0.25));
}

TEST(TFixup, ScalesWhatThePaperScales) {
  const Weights plain = pair_of("none");
  const Weights scaled = pair_of("tfixup");
  EXPECT_EQ(scaled.size(), plain.size());
  expect_scaled_layer(scaled, plain, "encoder.layers.2", 0.67 * std::pow(3, -0.25));
  expect_scaled_layer(scaled, plain, "decoder.layers.1", std::pow(18, -0.25));
  // Ids: N(0, 1) elsewhere, a deviation of 64^(-1/2) here, then (9 N)^(-1/4).
  expect_ratio(scaled.at("decoder.embedding.weight"), plain.at("decoder.embedding.weight"),
               std::pow(18, -0.25) / 8, "target embedding");
  expect_ratio(scaled.at("encoder.embedding.weight"), plain.at("encoder.embedding.weight"),
               std::pow(27, -0.25), "source embedding");
  EXPECT_TRUE(at::equal(scaled.at("head.weight"), plain.at("head.weight")));
}

TEST(InitialWeights, AreThoseOfPostUnlessThePlacementHasItsOwn) {
  const Weights post = language_model("post", 2);
  for (const std::string& placement : placement_names()) {
    if (placement == "deepnorm" || placement == "tfixup") continue;
    for (const auto& [name, value] : language_model(placement, 2)) {
      if (!ends_with(name, "weight")) continue;
      EXPECT_TRUE(at::equal(value, post.at(name))) << placement << " " << name;
    }
  }
}

TEST(GainHalf, HalvesTheInitialGainOfEveryNorm) {
  const std::pair<const char*, double> cases[] = {
      {"layer", 0.5}, {"rms", 0.5}, {"batch", 0.5}, {"RMSNormOnePlus", -0.5}, {"ScaleNorm", 1}};
  for (const auto& [norm, gain] : cases) {
    const Transformer model(small_options({norm, "gain_half"}, true, at::kDouble));
    int gains = 0;
    for (const Parameter& parameter : model.parameters()) {
      if (parameter.kind != ParameterKind::gamma) continue;
      ++gains;
      EXPECT_TRUE(parameter.value.eq(gain).all().item<bool>()) << norm << " " << parameter.name;
    }
    EXPECT_EQ(gains, 4) << norm;
  }
}

TEST(NormFormer, StartsWithAllHeadsAtOneAndNormsInsideTheFeedForward) {
  const Weights weights = language_model("normformer", 1);
  EXPECT_TRUE(at::equal(weights.at("layers.0.head_scale"), at::ones({4}, at::kDouble)));
  EXPECT_EQ(weights.at("layers.0.norm_hidden.gamma").numel(), 128);
  EXPECT_EQ(weights.at("layers.0.norm1_branch.gamma").numel(), 64);
  EXPECT_EQ(weights.count("layers.0.norm2_branch.gamma"), 0U);
}

}  // namespace
}  // namespace equinorm::lab
