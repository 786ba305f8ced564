// Statistics against SciPy 1.17.1 and NumPy 2.4.6; the call stands beside each literal.
#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

#include "lab/experiment/statistics.hpp"

namespace equinorm::lab {
namespace {

// Both sides are computed in double from the same inputs with a handful of roundings, and Boost
// states about 1 ulp for the quantile: 64 ulp leave room for those, and for nothing else.
void expect_close(double value, double expected) {
  EXPECT_NEAR(value, expected, 64 * 2.220446049250313e-16 * std::abs(expected));
}

TEST(EstimateMean, agrees_with_scipy_on_five_values) {
  const std::vector<double> values = {2.5, 3.1, 2.9, 4.0, 3.3};
  const Estimate estimate = estimate_mean(values);
  EXPECT_EQ(estimate.n, 5);
  expect_close(estimate.mean, 3.16);
  expect_close(estimate.sd, 0.5549774770204643);          // np.std(values, ddof=1)
  expect_close(estimate.half_width, 0.6890955530302674);  // t.ppf(.975, 4) * sd / sqrt(5)
  EXPECT_TRUE(estimate.excludes_zero());
}

TEST(EstimateMean, uses_the_t_quantile_of_the_sample_size) {
  // Values -1, 1 have sd sqrt(2) and sd / sqrt(n) = 1; -1, 0, 1 have 1 / sqrt(3).
  expect_close(estimate_mean(std::vector<double>{-1, 1}).half_width,
               12.706204736174694);  // stats.t.ppf(.975, 1)
  expect_close(estimate_mean(std::vector<double>{-1, 0, 1}).half_width * std::sqrt(3),
               4.302652729749462);  // stats.t.ppf(.975, 2)
  const std::vector<double> ten = {-1, 1, -1, 1, -1, 1, -1, 1, -1, 1};
  // sd / sqrt(10) = sqrt(10 / 9) / sqrt(10) = 1 / 3
  expect_close(estimate_mean(ten, 0.90).half_width * 3,
               1.833112932656237);  // stats.t.ppf(.95, 9)
}

TEST(EstimateMean, of_no_values_has_nothing) {
  const Estimate estimate = estimate_mean({});
  EXPECT_EQ(estimate.n, 0);
  EXPECT_TRUE(std::isnan(estimate.mean));
  EXPECT_FALSE(estimate.has_interval());
  EXPECT_FALSE(estimate.excludes_zero());
}

TEST(EstimateMean, of_one_value_has_no_interval_and_finds_no_difference) {
  const Estimate estimate = estimate_mean(std::vector<double>{5});
  EXPECT_EQ(estimate.n, 1);
  EXPECT_EQ(estimate.mean, 5);
  EXPECT_TRUE(std::isnan(estimate.sd));
  EXPECT_TRUE(std::isnan(estimate.half_width));
  EXPECT_FALSE(estimate.excludes_zero());
}

TEST(EstimateMean, of_equal_values_has_an_interval_of_exactly_zero_width) {
  const Estimate estimate = estimate_mean(std::vector<double>{0.1, 0.1, 0.1});
  EXPECT_EQ(estimate.mean, 0.1);
  EXPECT_EQ(estimate.sd, 0);
  EXPECT_EQ(estimate.half_width, 0);
  EXPECT_TRUE(estimate.excludes_zero());
  EXPECT_FALSE(estimate_mean(std::vector<double>{0, 0, 0}).excludes_zero());
  EXPECT_FALSE(estimate_mean(std::vector<double>{0.1, 0.1}).excludes_zero());
}

TEST(PairedDifference, agrees_with_scipy_ttest_rel) {
  const std::vector<double> a = {0.81, 0.79, 0.83};
  const std::vector<double> b = {0.78, 0.77, 0.79};
  // ttest_rel(a, b).confidence_interval(.95) = (0.005158622882496803, 0.05484137711750317). The
  // differences cancel a digit and a half of inputs near 0.8, hence 2^-53 * 0.83 per value.
  const Estimate estimate = estimate_paired_difference(a, b);
  const double inputs = 4 * 0.83 * 1.1102230246251565e-16 * 4.302652729749462;
  EXPECT_NEAR(estimate.mean - estimate.half_width, 0.005158622882496803, inputs);
  EXPECT_NEAR(estimate.mean + estimate.half_width, 0.05484137711750317, inputs);
  EXPECT_TRUE(estimate.excludes_zero());
}

TEST(PairedDifference, is_not_found_when_its_interval_covers_zero) {
  const std::vector<double> a = {1, 2, 3};
  const std::vector<double> b = {2, 1, 3.5};
  EXPECT_FALSE(estimate_paired_difference(a, b).excludes_zero());
}

TEST(Bootstrap, lies_within_sampling_error_of_scipy) {
  const std::vector<double> values = {2.5, 3.1, 2.9, 4.0, 3.3};
  // stats.bootstrap(..., n_resamples=200000, method='percentile') = (2.74, 3.64). The mean of a
  // resample moves in steps of at least 0.02, and a percentile of 10,000 folds lies within
  // +-4 sqrt(.025 * .975 / 10000) = 0.6 % of its level, about two steps there.
  const Bounds bounds = bootstrap_mean(values, 7);
  EXPECT_NEAR(bounds.low, 2.74, 0.04);
  EXPECT_NEAR(bounds.high, 3.64, 0.04);
}

TEST(Bootstrap, repeats_itself_for_a_seed_and_differs_for_another) {
  const std::vector<double> values = {0.1, 0.7, 0.2, 0.9, 0.4, 0.31, 0.77};
  const Bounds first = bootstrap_mean(values, 1, 200);
  const Bounds again = bootstrap_mean(values, 1, 200);
  const Bounds other = bootstrap_mean(values, 2, 200);
  EXPECT_EQ(first.low, again.low);
  EXPECT_EQ(first.high, again.high);
  EXPECT_TRUE(first.low != other.low || first.high != other.high);
}

TEST(Bootstrap, of_nothing_is_nan_and_of_one_value_is_that_value) {
  EXPECT_TRUE(std::isnan(bootstrap_mean({}, 1).low));
  const Bounds one = bootstrap_mean(std::vector<double>{0.3}, 1, 50);
  EXPECT_EQ(one.low, 0.3);
  EXPECT_EQ(one.high, 0.3);
}

TEST(Wilson, agrees_with_scipy_binomtest) {
  // stats.binomtest(k, n).proportion_ci(.95, 'wilson')
  const Proportion one = estimate_proportion(1, 3);
  expect_close(one.low, 0.06149194472039626);
  expect_close(one.high, 0.7923403991979523);
  const Proportion seven = estimate_proportion(7, 40);
  expect_close(seven.low, 0.08745413746035918);
  expect_close(seven.high, 0.3194999033178771);
}

TEST(Wilson, reaches_zero_and_one_exactly_at_the_ends) {
  const Proportion none = estimate_proportion(0, 3);
  EXPECT_EQ(none.low, 0);
  expect_close(none.high, 0.5614970317550454);
  const Proportion all = estimate_proportion(3, 3);
  expect_close(all.low, 0.4385029682449546);
  EXPECT_EQ(all.high, 1);
}

TEST(Wilson, knows_nothing_without_trials) {
  const Proportion nothing = estimate_proportion(0, 0);
  EXPECT_EQ(nothing.low, 0);
  EXPECT_EQ(nothing.high, 1);
}

TEST(Newcombe, agrees_with_the_example_of_the_paper) {
  // Newcombe 1998, table II, example (a), method 10: 56/70 less 48/80.
  const ShareDifference difference =
      estimate_difference(estimate_proportion(56, 70), estimate_proportion(48, 80));
  EXPECT_NEAR(difference.mean, 0.2, 1e-12);
  EXPECT_NEAR(difference.bounds.low, 0.0524, 5e-5);
  EXPECT_NEAR(difference.bounds.high, 0.3339, 5e-5);
}

TEST(Newcombe, is_never_of_no_width_and_stays_within_one) {
  const ShareDifference difference =
      estimate_difference(estimate_proportion(3, 3), estimate_proportion(0, 3));
  EXPECT_EQ(difference.mean, 1);
  EXPECT_EQ(difference.bounds.high, 1);
  EXPECT_GT(difference.bounds.low, 0);
  EXPECT_LT(difference.bounds.low, 0.5);
  EXPECT_TRUE(std::isnan(estimate_difference({}, estimate_proportion(1, 3)).bounds.low));
}

TEST(Quantiles, agree_with_numpy) {
  const std::vector<double> values = {7, 1, 3, 10, 4.5};  // np.quantile(values, q)
  EXPECT_EQ(quartiles(values).low, 3);
  EXPECT_EQ(median(values), 4.5);
  EXPECT_EQ(quartiles(values).high, 7);
  expect_close(quantile(values, 0.9), 8.8);
  const std::vector<double> four = {1, 2, 3, 4};
  EXPECT_EQ(quartiles(four).low, 1.75);
  EXPECT_EQ(quartiles(four).median, 2.5);
  EXPECT_EQ(quartiles(four).high, 3.25);
}

TEST(Quantiles, of_nothing_are_nan_and_of_one_value_are_that_value) {
  EXPECT_TRUE(std::isnan(median({})));
  EXPECT_EQ(quantile(std::vector<double>{4}, 0.0), 4);
  EXPECT_EQ(quantile(std::vector<double>{4}, 1.0), 4);
}

}  // namespace
}  // namespace equinorm::lab
