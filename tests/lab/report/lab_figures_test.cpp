// The figures that a declaration asks for, from made-up runs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "../evidence/made_up.hpp"
#include "lab/report/lab_report.hpp"
#include "lab/report/style.hpp"

namespace equinorm::lab::report {
namespace {

using ::testing::HasSubstr;

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t found = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) {
    ++found;
  }
  return found;
}

/// Cells by hand: what a figure sees of an experiment.
class MadeUpCells {
 public:
  explicit MadeUpCells(const std::string& figure)
      : declaration_(parse_declaration(
            testing::declaration_text("[[figure]]\ntitle = \"F\"\n" + figure), "M1.toml")) {
    results_.declaration = &declaration_;
  }

  /// One more run of an arm, with its next seed.
  Record& add(const std::string& arm, double rate, const std::string& failure = "",
              double size = 1) {
    RateCell& at_rate = rate_cell(arm, rate, size);
    records_.push_back(std::make_unique<Record>());
    records_.back()->failure = failure;
    at_rate.records[at_rate.records.size()] = records_.back().get();
    count_failure(at_rate.failures, failure);
    finish_failures(at_rate.failures);
    return *records_.back();
  }

  [[nodiscard]] std::vector<Figure> figures() const { return lab_figures(results_); }

 private:
  RateCell& rate_cell(const std::string& arm, double rate, double size) {
    for (Cell& cell : results_.cells) {
      if (cell.arm != arm || cell.point.at("size") != size) continue;
      for (RateCell& known : cell.rates) {
        if (known.learning_rate == rate) return known;
      }
      cell.rates.push_back({});
      cell.rates.back().learning_rate = rate;
      return cell.rates.back();
    }
    results_.cells.push_back({arm, {{"size", size}}, {}, 0, {}});
    return rate_cell(arm, rate, size);
  }

  Declaration declaration_;
  std::vector<std::unique_ptr<Record>> records_;
  ExperimentResults results_;
};

TEST(LineFigure, PutsAZeroOnALogarithmicAxisInOrder) {
  MadeUpCells cells("x = \"size\"\nlog_x = true\n");
  for (const double size : {0.0, 1e-12, 1e-4}) {
    cells.add("a", 0, "", size).metrics["value"] = 1 + size;
  }
  const Figure figure = cells.figures().at(0);
  for (const char* label : {">0.0<", ">1e-12<", ">0.0001<"}) {
    EXPECT_EQ(count(figure.panels.at(0), label), 1U) << label;
  }
  EXPECT_EQ(count(figure.panels.at(0), "inf"), 0U);
  EXPECT_EQ(count(figure.panels.at(0), "nan"), 0U);
}

TEST(LineFigure, DrawsIntervalsDownToALogarithmicAxis) {
  MadeUpCells cells("x = \"size\"\nlog_y = true\n");
  for (const double value : {1.0, 3.0}) cells.add("a", 0, "", 1).metrics["value"] = value;
  for (const double value : {5.0, 5.1}) cells.add("a", 0, "", 2).metrics["value"] = value;
  const Figure figure = cells.figures().at(0);
  const std::string bar =
      "stroke=\"" + std::string(style_of_index(0).color) + "\" stroke-width=\"1\"";
  EXPECT_EQ(count(figure.panels.at(0), bar), 2U);
  EXPECT_THAT(figure.caption, HasSubstr("What reaches down to 0 or below ends at the axis."));
}

TEST(RateFigure, MarksTheShareOfRunsThatFailed) {
  MadeUpCells cells("x = \"learning_rate\"\n");
  for (const double value : {1.0, 2.0}) cells.add("a", 1e-3).metrics["value"] = value;
  cells.add("a", 1e-2).metrics["value"] = 3;
  cells.add("a", 1e-2, "blow-up").metrics["value"] = 9;
  cells.add("b", 1e-3).metrics["value"] = 3;
  cells.add("b", 1e-3, "stall").metrics["value"] = 9;
  const Figure figure = cells.figures().at(0);
  EXPECT_EQ(count(figure.panels.at(0), ">1/2<"), 2U);
  EXPECT_EQ(count(figure.panels.at(0), ">failed<"), 1U);
  EXPECT_THAT(figure.caption, HasSubstr("n = 1 to 2"));
  EXPECT_THAT(figure.csv, HasSubstr("a,value,0.01,3,,,1\n"));  // the broken run is not in the mean
  EXPECT_THAT(figure.csv, HasSubstr("b,value,0.001,6,"));      // the stalled one is
}

TEST(RateFigure, ShowsTheMetricThatItsDeclarationNames) {
  MadeUpCells cells("x = \"learning_rate\"\ny = \"other\"\n");
  cells.add("a", 1e-3).metrics = {{"value", 1}, {"other", 7}};
  EXPECT_THAT(cells.figures().at(0).csv, HasSubstr("a,other,0.001,7,,,1\n"));
}

TEST(Rug, HasAStrokePerStepOfAnySeedAndARowPerArm) {
  MadeUpCells cells("y = \"loss\"\nrug = \"spikes\"\n");
  for (const char* arm : {"a", "b"}) {
    for (int seed = 0; seed < 2; ++seed) {
      cells.add(arm, 1e-3).series["loss"] = {{0, 3}, {100, 2}};
    }
  }
  cells.add("a", 1e-3).series["spikes"] = {{10, 5}, {20, 6}};
  const std::string svg = cells.figures().at(0).panels.at(0);
  EXPECT_EQ(count(svg, "v8"), 2U);
  EXPECT_EQ(count(svg, ">spikes<"), 1U);
}

TEST(HeatMapFigure, OverStepsHasAPanelPerArmAndARowPerLayer) {
  MadeUpCells cells("kind = \"heat_map\"\nx = \"step\"\ny = \"layer_gradients\"\n");
  for (const double factor : {1.0, 100.0}) {
    cells.add("a", 1e-3).sampled["layer_gradients"] = {{1, {{1, factor}, {2, 2 * factor}}},
                                                       {50, {{1, factor}, {2, factor}}}};
  }
  cells.add("b", 1e-3).sampled["layer_gradients"] = {{1, {{1, 1}}}};
  const Figure figure = cells.figures().at(0);
  EXPECT_EQ(figure.panels.size(), 2U);
  EXPECT_THAT(figure.panels.at(0), HasSubstr("layer 1: from 10 to 10; layer 2: from 20 to 10"));
  EXPECT_THAT(figure.csv, HasSubstr(",2,200,2\n"));
  EXPECT_FALSE(figure.scale.empty());
}

TEST(HeatMapFigure, OfASeriesHasARowPerArmTheFirstOnTop) {
  MadeUpCells cells("kind = \"heat_map\"\ny = \"curve\"\n");
  cells.add("a", 1e-3).series["curve"] = {{1, 2}, {2, 4}};
  cells.add("b", 1e-3).series["curve"] = {{1, 3}};
  const Figure figure = cells.figures().at(0);
  EXPECT_EQ(figure.panels.size(), 1U);
  EXPECT_THAT(figure.panels.at(0), HasSubstr("arm b: from 3 to 3; arm a: from 2 to 4"));
  EXPECT_GE(count(figure.panels.at(0), "hatch"), 2U);  // b has nothing at 2
}

TEST(BarsFigure, SaysIntervalAndSeedsBesideEveryBar) {
  MadeUpCells cells("kind = \"bars\"\ny = \"time\"\nparts = [\"norm\", \"rest\"]\n");
  for (const double extra : {0.0, 1.0, 2.0}) {
    cells.add("a", 1e-3).metrics = {{"time", 9 + extra}, {"norm", 4}, {"rest", 5 + extra}};
  }
  const Figure figure = cells.figures().at(0);
  EXPECT_THAT(figure.panels.at(0), HasSubstr("a: 10 \u00b1 2.5, n = 3"));
  EXPECT_EQ(figure.legend.size(), 2U);
  EXPECT_THAT(figure.csv, HasSubstr("a,norm,0,4,4,4,3\n"));
}

TEST(Figures, WithoutANumberAreLeftOut) {
  for (const char* kind : {"lines", "heat_map", "bars"}) {
    MadeUpCells cells(std::string("kind = \"") + kind + "\"\n");
    cells.add("a", 1e-3);
    EXPECT_TRUE(cells.figures().empty()) << kind;
  }
}

}  // namespace
}  // namespace equinorm::lab::report
