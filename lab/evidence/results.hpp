// The results of one experiment: its planned runs with what they left, gathered into cells (an arm
// at a point) and brought down to a number per seed, which is what statistics work on.
//
// How failures count is docs/lab.md's: a run that stalled counts with its end, one that broke has
// no part in means and differences; the best rate of an arm is one with the fewest failures.
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "lab/evidence/declaration.hpp"
#include "lab/evidence/plan.hpp"
#include "lab/evidence/record.hpp"
#include "lab/experiment/statistics.hpp"
#include "lab/experiment/summary.hpp"

namespace equinorm::lab {

/// Reads each run directory once, however many experiments share it.
class RecordStore {
 public:
  explicit RecordStore(std::filesystem::path out_dir) : out_dir_(std::move(out_dir)) {}

  /// Null where the run is not finished or its files are damaged. A shortened run is never a stall.
  const Record* find(const PlannedRun& run);
  /// What is wrong with damaged runs that were asked for, by run; names the file.
  [[nodiscard]] const std::map<std::string, std::string>& damaged() const { return damaged_; }
  [[nodiscard]] bool crashed(const Job& job) const;
  [[nodiscard]] const std::filesystem::path& out_dir() const { return out_dir_; }

 private:
  std::filesystem::path out_dir_;
  std::map<std::pair<std::string, bool>, std::unique_ptr<Record>> records_;  ///< by id, shortened
  std::map<std::string, std::string> damaged_;
};

/// One arm at one point and one rate: seed -> what its run left.
struct RateCell {
  double learning_rate = 0;
  std::map<std::uint64_t, const Record*> records;  ///< finished ones
  Estimate metric;  ///< the one that chooses the best rate, over those that did not break
  FailureCounts failures;
};

struct Cell {
  std::string arm;
  Point point;
  std::vector<RateCell> rates;                    ///< rising
  std::optional<std::size_t> best;                ///< of rates
  std::map<std::uint64_t, const Record*> longer;  ///< 4 times the steps, where all else stalled

  [[nodiscard]] const RateCell* at_best() const { return best ? &rates[*best] : nullptr; }
};

/// seed -> number.
using BySeed = std::map<std::uint64_t, double>;

struct ExperimentResults {
  const Declaration* declaration = nullptr;
  std::string tier;
  std::vector<Cell> cells;  ///< point by point, arms in the order of the declaration
  int planned = 0;
  int done = 0;
  int crashed = 0;

  [[nodiscard]] const Cell* find(const std::string& arm, const Point& point) const;
  /// The points at which both arms were planned and which agree with `at`.
  [[nodiscard]] std::vector<Point> points_of(const std::vector<std::string>& arms,
                                             const Point& at) const;
  /// "the tier quick has no batch = 8": what of `at` was not planned, "" where all of it was.
  [[nodiscard]] std::string missing_setting(const Point& at) const;
};

/// Runs that have to be added before "cannot train" may be said: for each arm, point and seed whose
/// runs all failed and of which one stalled, the best of those with 4 times the steps.
[[nodiscard]] std::vector<PlannedRun> plan_longer_runs(const std::vector<PlannedRun>& plan,
                                                       RecordStore& store);

[[nodiscard]] ExperimentResults gather_results(const Declaration& declaration,
                                               const std::string& tier,
                                               const std::vector<PlannedRun>& plan,
                                               const std::vector<PlannedRun>& longer,
                                               RecordStore& store);

/// A metric of a cell, seed by seed. Besides those of the records, over the rates of each seed:
/// "sensitivity" and "best_learning_rate" (as log10) of seeds that some rate trains, "failed"
/// (share of the rates), "cannot_train" (1 where every rate failed and so did the longer run that a
/// stall asks for; no numbers until that is known of every seed).
[[nodiscard]] BySeed metric_by_seed(const Cell& cell, const std::string& metric);

/// Seeds whose run at the best rate stalled.
[[nodiscard]] std::set<std::uint64_t> stalled_seeds(const Cell& cell);

/// Seeds whose run at the best rate never reached its target.
[[nodiscard]] std::set<std::uint64_t> seeds_off_target(const Cell& cell);

/// The mean and t-interval over seeds; finding.hpp has what is shown and judged.
[[nodiscard]] Estimate estimate_of(const BySeed& by_seed);

/// A metric of the runs at one rate, seed by seed; runs that broke have no part in most.
[[nodiscard]] BySeed metric_at(const RateCell& rate, const std::string& metric);

}  // namespace equinorm::lab
