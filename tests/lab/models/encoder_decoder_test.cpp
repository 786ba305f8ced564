// What a target token of the encoder-decoder can see, and how its layers are counted.
#include "lab/models/encoder_decoder.hpp"

#include <gtest/gtest.h>

#include <set>

#include "small_model.hpp"

namespace equinorm::lab {
namespace {

struct Problem {
  EncoderDecoder model;
  at::Tensor source;
  at::Tensor target;
};

Problem make_problem(const std::pair<std::string, std::string>& arm) {
  auto generator = at::make_generator<at::CPUGeneratorImpl>(37);
  Problem problem{EncoderDecoder(small_pair(arm)), at::randn({2, 6, 5}, generator, at::kDouble),
                  at::randint(7, {2, 5}, generator, at::kLong)};
  disturb(problem.model.parameters(), 0.1);
  return problem;
}

TEST(EncoderDecoder, LeaksNotOneBitOfTheFutureAtAnyPlacement) {
  const at::NoGradGuard no_grad;
  for (const auto& arm : all_placements()) {
    SCOPED_TRACE(arm.first + " " + arm.second);
    const Problem p = make_problem(arm);
    const at::Tensor before = p.model.forward(p.source, p.target, {}).view({2, 5, 7});
    for (std::int64_t changed = 1; changed < 5; ++changed) {
      at::Tensor target = p.target.clone();
      target.slice(1, changed, 5).add_(1).remainder_(7);
      const at::Tensor after = p.model.forward(p.source, target, {}).view({2, 5, 7});
      EXPECT_TRUE(at::equal(after.slice(1, 0, changed), before.slice(1, 0, changed)));
      EXPECT_FALSE(at::equal(after.select(1, changed), before.select(1, changed)));
    }
  }
}

TEST(EncoderDecoder, SeesTheWholeSourceFromEveryTargetToken) {
  const at::NoGradGuard no_grad;
  for (const auto& arm : all_placements()) {
    SCOPED_TRACE(arm.first + " " + arm.second);
    const Problem p = make_problem(arm);
    const at::Tensor before = p.model.forward(p.source, p.target, {}).view({2, 5, 7});
    at::Tensor source = p.source.clone();
    source[0][5].add_(1);
    const at::Tensor after = p.model.forward(source, p.target, {}).view({2, 5, 7});
    for (std::int64_t token = 0; token < 5; ++token) {
      EXPECT_FALSE(at::equal(after[0][token], before[0][token])) << token;
    }
    EXPECT_TRUE(at::equal(after[1], before[1]));
  }
}

TEST(EncoderDecoder, HidesPaddedSourceTokensToTheLastBit) {
  const at::NoGradGuard no_grad;
  at::Tensor mask = at::ones({2, 6}, at::kBool);
  mask.slice(1, 4, 6).fill_(false);
  for (const auto& arm : all_placements()) {
    SCOPED_TRACE(arm.first + " " + arm.second);
    const Problem p = make_problem(arm);
    at::Tensor garbage = p.source.clone();
    garbage.slice(1, 4, 6).fill_(1e3);
    EXPECT_TRUE(at::equal(p.model.forward(p.source, p.target, {}, mask),
                          p.model.forward(garbage, p.target, {}, mask)));
  }
}

TEST(EncoderDecoder, CountsLayersFromTheEncodersFirstToTheDecodersLast) {
  const EncoderDecoder model(small_pair({"layer", "pre"}));
  std::set<int> layers;
  std::set<std::string> names;
  for (const Parameter& parameter : model.parameters()) {
    layers.insert(parameter.layer);
    names.insert(parameter.name);
  }
  EXPECT_EQ(layers, (std::set<int>{-1, 0, 1, 2, 3, 4}));
  EXPECT_EQ(names.size(), model.parameters().size());
}

}  // namespace
}  // namespace equinorm::lab
