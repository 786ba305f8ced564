// Generation with cached keys and values gives the logits of the full forward pass.
#include <gtest/gtest.h>

#include "lab/error.hpp"
#include "small_model.hpp"

namespace equinorm::lab {
namespace {

// The same arithmetic but for the order of sums.
constexpr double kReordered = 1e-12;

// Norms of rows at every placement, and batch normalization, whose running statistics are fixed.
std::vector<std::pair<std::string, std::string>> cached_arms() {
  auto arms = all_placements();
  for (const std::string& placement : placement_names()) arms.emplace_back("rms", placement);
  return arms;
}

// Tokens go in as a prompt of 3, then one, one and two at a time.
constexpr std::int64_t kCuts[] = {0, 3, 4, 5, 7};

template <class Step>
at::Tensor in_steps(std::int64_t samples, const Step& step) {
  std::vector<at::Tensor> parts;
  for (std::size_t i = 0; i + 1 < std::size(kCuts); ++i) {
    parts.push_back(step(kCuts[i], kCuts[i + 1]).view({samples, kCuts[i + 1] - kCuts[i], -1}));
  }
  return at::cat(parts, 1).flatten(0, 1);
}

at::Tensor padding(std::int64_t samples) {
  at::Tensor mask = at::ones({samples, 7}, at::kBool);
  mask[1][2] = false;
  mask[1].slice(0, 5, 7).fill_(false);
  return mask;
}

double difference(const at::Tensor& a, const at::Tensor& b) {
  return (a - b).abs().max().item<double>();
}

TEST(Cache, OfTheLanguageModelGivesTheFullPassAtEveryPlacement) {
  const at::NoGradGuard no_grad;
  for (const auto& arm : cached_arms()) {
    SCOPED_TRACE(arm.first + " " + arm.second);
    auto options = small_options(arm, true, at::kDouble);
    options.tokens = 7;
    const Transformer model(options);
    disturb(model.parameters(), 0.1);
    const at::Tensor input = small_input(options, 2, 7);
    DecodingState state;
    const at::Tensor actual = in_steps(2, [&](std::int64_t from, std::int64_t to) {
      return model.step(input.slice(1, from, to), state);
    });
    EXPECT_EQ(state.tokens, 7);
    EXPECT_LT(difference(actual, model.forward(input, {})), kReordered);
  }
}

TEST(Cache, KeepsPaddedTokensHidden) {
  const at::NoGradGuard no_grad;
  const at::Tensor mask = padding(2);
  for (const std::string& placement : placement_names()) {
    SCOPED_TRACE(placement);
    auto options = small_options({"layer", placement}, true, at::kDouble);
    options.tokens = 7;
    const Transformer model(options);
    disturb(model.parameters(), 0.1);
    const at::Tensor input = small_input(options, 2, 7);
    DecodingState state;
    const at::Tensor actual = in_steps(2, [&](std::int64_t from, std::int64_t to) {
      return model.step(input.slice(1, from, to), state, mask.slice(1, 0, to));
    });
    EXPECT_LT(difference(actual, model.forward(input, {}, mask)), kReordered);
    EXPECT_GT(difference(actual, model.forward(input, {})), 1e-6);
  }
}

TEST(Cache, OfTheEncoderDecoderGivesTheFullPassAtEveryPlacement) {
  const at::NoGradGuard no_grad;
  for (const auto& arm : cached_arms()) {
    SCOPED_TRACE(arm.first + " " + arm.second);
    auto options = small_pair(arm);
    options.target.tokens = 7;
    const EncoderDecoder model(options);
    disturb(model.parameters(), 0.1);
    auto generator = at::make_generator<at::CPUGeneratorImpl>(29);
    const at::Tensor source = at::randn({2, 6, 5}, generator, at::kDouble);
    const at::Tensor target = at::randint(7, {2, 7}, generator, at::kLong);
    at::Tensor mask = at::ones({2, 6}, at::kBool);
    mask[0].slice(0, 3, 6).fill_(false);
    const Memory memory = model.encode(source, {}, mask);
    DecodingState state;
    const at::Tensor actual = in_steps(2, [&](std::int64_t from, std::int64_t to) {
      return model.step(memory, target.slice(1, from, to), state);
    });
    EXPECT_LT(difference(actual, model.forward(source, target, {}, mask)), kReordered);
  }
}

TEST(Cache, NeedsTheEncodersStatesAtTheFirstStepOnly) {
  const at::NoGradGuard no_grad;
  const EncoderDecoder model(small_pair({"layer", "pre"}));
  auto generator = at::make_generator<at::CPUGeneratorImpl>(29);
  const at::Tensor target = at::randint(7, {2, 6}, generator, at::kLong);
  Memory memory = model.encode(at::randn({2, 6, 5}, generator, at::kDouble), {});
  DecodingState state;
  DecodingState again;
  static_cast<void>(model.step(memory, target.slice(1, 0, 3), state));
  static_cast<void>(model.step(memory, target.slice(1, 0, 3), again));
  const at::Tensor expected = model.step(memory, target.slice(1, 3, 6), state);
  memory.states.reset();
  EXPECT_TRUE(at::equal(model.step(memory, target.slice(1, 3, 6), again), expected));
}

TEST(Generation, NeedsACausalModelAndRoomForItsTokens) {
  const auto encoder = small_options({"layer", "pre"}, false, at::kDouble);
  DecodingState state;
  EXPECT_THROW(static_cast<void>(Transformer(encoder).step(small_input(encoder, 1, 2), state)),
               UsageError);
  const auto causal = small_options({"layer", "pre"}, true, at::kDouble);
  const Transformer model(causal);
  static_cast<void>(model.step(small_input(causal, 1, 5), state));
  EXPECT_THROW(static_cast<void>(model.step(small_input(causal, 1, 2), state)), UsageError);
}

}  // namespace
}  // namespace equinorm::lab
