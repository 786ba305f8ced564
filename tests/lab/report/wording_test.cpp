// How numbers and arms are written in the report.
#include "lab/report/wording.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <string>

namespace equinorm::lab::report {
namespace {

TEST(NumberText, RoundsToSignificantDigitsAndGroupsLargeNumbers) {
  EXPECT_EQ(number_text(12.345, 3), "12.3");
  EXPECT_EQ(number_text(1.6e6, 2), "1\u202f600\u202f000");
  EXPECT_EQ(number_text(-123456, 3), "\u2212123\u202f000");
  EXPECT_EQ(number_text(1e5, 3), "100\u202f000");
  EXPECT_EQ(number_text(std::nan(""), 3), kDash);
}

TEST(LabelOf, NamesNormAndPlacement) {
  EXPECT_EQ(label_of({"rms", "post"}), "RMSNorm (post)");
  EXPECT_EQ(label_of({"none", "pre"}), "no norm");
  EXPECT_EQ(label_of({"none", "rezero"}), "ReZero");
  EXPECT_EQ(short_label_of({"none", "tfixup"}), "T-Fixup");
  EXPECT_EQ(label_of({"rms", "normformer"}), "RMSNorm (normformer)");
  EXPECT_EQ(short_label_of({"layer", "pre"}), "LayerNorm pre");
}

TaskSummary accuracy_task() {
  TaskSummary task;
  task.task = "fashion-mnist";
  task.metric = "accuracy";
  task.higher_is_better = true;
  return task;
}

TEST(MetricText, GivesIntervalsOnlyWhereThereAreTwoValues) {
  const double one[] = {0.8};
  const double two[] = {0.79, 0.81};
  EXPECT_EQ(metric_text(accuracy_task(), estimate_mean(one)), "80.0\u00a0%");
  // t(0.975, 1) = 12.706, standard error 0.01.
  EXPECT_EQ(metric_text(accuracy_task(), estimate_mean(two)), "80.0\u00a0%\u00a0\u00b1\u00a012.7");
  EXPECT_EQ(metric_text(accuracy_task(), Estimate{}), kDash);
}

TEST(DifferenceText, PutsTheUnitInsideAndUsesARealMinus) {
  Estimate found{3, -0.041, 0.01, 0.012};
  Estimate open{3, 0.002, 0.01, 0.008};
  EXPECT_EQ(difference_text(accuracy_task(), found), "\u22124.1 \u00b1 1.2\u00a0points");
  EXPECT_EQ(difference_text(accuracy_task(), open),
            "no difference found (+0.2 \u00b1 0.8\u00a0points)");
  EXPECT_EQ(difference_text(accuracy_task(), Estimate{2, 0.1}), "needs three seeds");
}

}  // namespace
}  // namespace equinorm::lab::report
