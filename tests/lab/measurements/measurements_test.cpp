// Measurements with answers that are known, exactly or within tight bounds.
#include "lab/measurements/measurements.hpp"

#include <ATen/Parallel.h>
#include <gtest/gtest.h>

#include <cmath>

namespace equinorm::lab {
namespace {

using Json = nlohmann::json;

std::map<std::string, double> measured(const std::string& name, const Json& given_parameters,
                                       std::uint64_t seed = 0) {
  at::set_num_threads(1);
  Parameters given(given_parameters);
  const Measure measure = measurement_named(measurements(), name).prepare(given);
  given.refuse_unknown();
  return measure(seed).metrics;
}

TEST(Dependence, OfRowNormsIsZeroAndOfBatchNormIsNot) {
  for (const char* model : {"norm", "transformer"}) {
    for (const char* norm : {"layer", "rms"}) {
      const auto metrics = measured("dependence", {{"norm", norm}, {"model", model}});
      for (const auto& [name, change] : metrics) EXPECT_EQ(change, 0) << norm << " " << name;
    }
    const auto batch = measured("dependence", {{"norm", "batch"}, {"model", model}});
    EXPECT_GT(batch.at("batch_change"), 0);
    EXPECT_GT(batch.at("later_token_change"), 0);
    EXPECT_GT(batch.at("mode_change"), 0);
    EXPECT_EQ(batch.at("padding_change"), 0);
  }
}

TEST(PrintedExample, IsWhatTheFormulaGives) {
  const auto metrics = measured("printed_example", Json::object());
  EXPECT_EQ(metrics.at("first"), 0);
  EXPECT_NEAR(metrics.at("second"), 1.22473569, 1e-8);
  EXPECT_NEAR(metrics.at("third"), -1.22473569, 1e-8);
}

TEST(AttentionBound, IsNeverPassed) {
  for (const double scale : {0.0, 1.0, 100.0}) {
    const auto metrics = measured("attention_bound", {{"scale", scale}});
    EXPECT_LE(metrics.at("output_over_longest_value"), 1 + 1e-12);
    EXPECT_GE(metrics.at("smallest_weight"), 0);
    EXPECT_LE(metrics.at("error_of_sum"), 1e-12);
  }
}

TEST(ScoreVariance, IsTheLengthOfTheVectors) {
  EXPECT_NEAR(measured("score_variance", {{"d_k", 256}}).at("variance") / 256, 1, 0.05);
  EXPECT_NEAR(measured("score_variance", {{"d_k", 256}, {"scores", "scaled"}}).at("variance"), 1,
              0.05);
}

TEST(SoftmaxScale, OfTwoKeysHasItsLargestJacobianForEqualLogits) {
  // p = 1/2 has the largest p (1 - p), so the smallest spread of the sweep is the best.
  const auto metrics = measured("softmax_scale", {{"keys", 2}});
  EXPECT_NEAR(metrics.at("peak_standard_deviation"), 0.1, 1e-12);
  EXPECT_NEAR(metrics.at("peak_jacobian"), 0.5, 0.01);  // Frobenius norm 2 p (1 - p)
}

TEST(InitialSignal, OfReZeroIsTheIdentity) {
  const auto metrics = measured("initial_signal", {{"placement", "rezero"}, {"depth", 20}});
  EXPECT_NEAR(metrics.at("growth_per_layer"), 1, 1e-6);
}

TEST(InitialSignal, WithoutANormGrowsByAFactorPerLayer) {
  EXPECT_GT(measured("initial_signal", {{"placement", "none"}}).at("growth_per_layer"), 1.2);
  EXPECT_LT(measured("initial_signal", {{"placement", "post"}}).at("growth_per_layer"), 1.05);
}

TEST(EpsRows, OfOursAreFiniteWhateverEpsAndPrecision) {
  for (const char* rows : {"random", "constant", "zero", "tiny"}) {
    for (const char* dtype : {"f32", "f16", "bf16"}) {
      for (const double eps : {0.0, 1e-8, 1e-5}) {
        const auto metrics = measured(
            "eps_rows", {{"code", "equinorm"}, {"rows", rows}, {"dtype", dtype}, {"eps", eps}});
        EXPECT_EQ(metrics.at("not_finite_rows"), 0) << rows << " " << dtype << " " << eps;
        EXPECT_EQ(metrics.at("lost_rows"), 0) << rows << " " << dtype << " " << eps;
      }
    }
  }
}

// In f32 the rounded mean may differ from the value, and the row is noise instead.
TEST(EpsRows, TheFormulaGivesNaNForConstantRowsOfHalfPrecisionWithoutEps) {
  for (const char* dtype : {"f16", "bf16"}) {
    EXPECT_EQ(measured("eps_rows", {{"rows", "constant"}, {"dtype", dtype}, {"eps", 0.0}})
                  .at("not_finite_rows"),
              1);
  }
}

TEST(FormDifference, IsNothingButAFactorBetweenLikeForms) {
  const auto between = [](const char* form, const char* other) {
    return measured("form_difference", {{"form", form}, {"other", other}});
  };
  EXPECT_EQ(between("LayerNorm", "LayerNorm").at("difference"), 0);
  // ScaleNorm is RMSNorm over the root of the width, but for eps.
  const auto scale = between("RmsNormPaper", "ScaleNorm");
  EXPECT_NEAR(scale.at("best_factor"), 16, 1e-9);
  EXPECT_LT(scale.at("difference"), 1e-12);
  EXPECT_GT(between("AdaNorm", "ScaledStandardize").at("difference"), 0.1);
}

TEST(GainGradient, OfOursIsRoundedOnceAndTheSameForAnyNumberOfThreads) {
  for (const char* dtype : {"bf16", "f16"}) {
    for (const int rows : {1, 64, 4096}) {
      const auto metrics = measured("gain_gradient", {{"dtype", dtype}, {"rows", rows}});
      EXPECT_LE(metrics.at("error_in_spacings"), 0.51) << dtype << " " << rows;
      EXPECT_EQ(metrics.at("changed_by_threads"), 0) << dtype << " " << rows;
    }
  }
}

TEST(NormError, OfOursStaysWithinItsBound) {
  for (const char* over : {"offset", "scale"}) {
    const auto metrics = measured("norm_error", {{"over", over}});
    EXPECT_LE(metrics.at("worst_ulp"), 3);  // docs/numerics.md
    EXPECT_EQ(metrics.at("not_finite_rows"), 0);
  }
}

TEST(NormError, OfOursIsOneSpacingAtMostIn16Bits) {
  for (const char* dtype : {"f16", "bf16"}) {
    for (const char* over : {"offset", "scale"}) {
      for (const double eps : {0.0, 1e-5}) {
        const auto metrics =
            measured("norm_error", {{"over", over}, {"dtype", dtype}, {"eps", eps}});
        // Rounded once from f32: half a spacing, and a bit where that falls on a tie of f32.
        EXPECT_LE(metrics.at("worst_ulp"), 1.01) << dtype << " " << over << " " << eps;
        EXPECT_EQ(metrics.at("not_finite_rows"), 0) << dtype << " " << over << " " << eps;
        EXPECT_EQ(metrics.at("lost_rows"), 0) << dtype << " " << over << " " << eps;
      }
    }
  }
}

TEST(NormError, OfTwoPassesInFp16IsLostWhereSquaresOverflow) {
  // Sums of 48 squares a lane pass 65504 for values of about 40; 100 is the next scale.
  const auto metrics =
      measured("norm_error", {{"algorithm", "two-pass"}, {"over", "scale"}, {"dtype", "f16"}});
  EXPECT_GE(metrics.at("not_finite_rows") + metrics.at("lost_rows"), 4 * 3);  // from 100 to 10000
  const auto bf16 =
      measured("norm_error", {{"algorithm", "two-pass"}, {"over", "scale"}, {"dtype", "bf16"}});
  EXPECT_EQ(bf16.at("not_finite_rows"), 0);
}

TEST(NormError, OneOfASinglePassIsLostBeforeOneOfTwo) {
  EXPECT_LT(measured("norm_error", {{"algorithm", "one-pass"}}).at("lost_from"),
            measured("norm_error", {{"algorithm", "two-pass"}}).at("lost_from"));
}

}  // namespace
}  // namespace equinorm::lab
