// The LSTM classifier: shapes, gradients, padding.
#include "lab/models/lstm_classifier.hpp"

#include "block_checks.hpp"

namespace equinorm::lab {
namespace {

LstmClassifierOptions small(const std::string& norm, bool words) {
  LstmClassifierOptions options;
  options.norm = norm;
  options.input = words ? InputShape{9, 0, 5} : InputShape{0, 2, 5};
  options.width = 4;
  options.outputs = 3;
  options.seed = 3;
  options.dtype = at::kDouble;
  return options;
}

at::Tensor words() {
  return at::randint(9, {3, 5}, at::make_generator<at::CPUGeneratorImpl>(5), at::kLong);
}

at::Tensor mask_of(const std::vector<std::int64_t>& lengths) {
  at::Tensor mask = at::zeros({static_cast<std::int64_t>(lengths.size()), 5}, at::kBool);
  for (std::size_t i = 0; i < lengths.size(); ++i) {
    mask[static_cast<std::int64_t>(i)].slice(0, 0, lengths[i]).fill_(true);
  }
  return mask;
}

TEST(LstmClassifier, GivesARowOfScoresPerSample) {
  for (const std::string& norm : lstm_norm_names()) {
    const LstmClassifier of_words(small(norm, true));
    EXPECT_EQ(of_words.forward(words(), true).sizes(), (std::vector<std::int64_t>{3, 3})) << norm;
    const LstmClassifier of_vectors(small(norm, false));
    EXPECT_EQ(of_vectors.forward(random_tensor({3, 5, 2}, 1), true).sizes(),
              (std::vector<std::int64_t>{3, 3}));
  }
}

TEST(LstmClassifier, WithAnOutputPerTokenSaysWhatItWouldOfTheTextUpToThere) {
  const at::NoGradGuard no_grad;
  for (const char* norm : {"none", "ba2016", "per_gate"}) {
    LstmClassifierOptions options = small(norm, true);
    const LstmClassifier of_last(options);
    options.every_state = true;
    const LstmClassifier of_every(options);
    const at::Tensor scores = of_every.forward(words(), false);
    ASSERT_EQ(scores.sizes(), (std::vector<std::int64_t>{15, 3}));
    for (std::int64_t tokens = 1; tokens <= 5; ++tokens) {
      const at::Tensor expected = of_last.forward(words().slice(1, 0, tokens), false);
      EXPECT_TRUE(at::allclose(scores.view({3, 5, 3}).select(1, tokens - 1), expected, 0, 1e-12))
          << norm << ", token " << tokens;
    }
  }
}

TEST(LstmClassifier, HasTheGradientsOfFiniteDifferences) {
  for (const char* norm : {"none", "ba2016", "carry_normalized"}) {
    SCOPED_TRACE(norm);
    const LstmClassifier model(small(norm, true));
    Named leaves;
    for (const Parameter& p : model.parameters()) leaves.emplace_back(p.name, p.value);
    const at::Tensor weights = random_tensor({3, 3}, 8);
    expect_finite_differences(
        [&] {
          return (model.forward(words(), false, mask_of({5, 2, 3})) * weights).sum();
        },
        leaves);
  }
}

TEST(LstmClassifier, DoesNotSeePaddedWordsToTheLastBit) {
  const at::NoGradGuard no_grad;
  for (const std::string& norm : lstm_norm_names()) {
    const LstmClassifier model(small(norm, true));
    const at::Tensor mask = mask_of({5, 2, 3});
    const at::Tensor input = words();
    const at::Tensor changed = input.where(mask, (input + 1).remainder(9));
    EXPECT_TRUE(at::equal(model.forward(input, true, mask), model.forward(changed, true, mask)))
        << norm;
  }
}

TEST(LstmClassifier, StartsItsGainsWhereItIsTold) {
  LstmClassifierOptions options = small("ba2016", true);
  options.initial_gain = 0.25;
  const LstmClassifier model(options);
  int gains = 0;
  for (const Parameter& p : model.parameters()) {
    if (p.kind != ParameterKind::gamma) continue;
    EXPECT_TRUE(p.value.eq(0.25).all().item<bool>()) << p.name;
    ++gains;
  }
  EXPECT_EQ(gains, 3);
}

}  // namespace
}  // namespace equinorm::lab
