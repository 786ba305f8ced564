#include "lab/evidence/results.hpp"

#include <algorithm>
#include <cmath>

#include "lab/error.hpp"
#include "lab/experiment/best_rate.hpp"

namespace equinorm::lab {
namespace {

bool agrees(const Point& point, const Point& at) {
  return std::all_of(at.begin(), at.end(), [&](const auto& wanted) {
    const auto found = point.find(wanted.first);
    return found != point.end() && found->second == wanted.second;
  });
}

RateCell& rate_of(Cell& cell, double learning_rate) {
  for (RateCell& rate : cell.rates) {
    if (rate.learning_rate == learning_rate) return rate;
  }
  cell.rates.push_back({});
  cell.rates.back().learning_rate = learning_rate;
  return cell.rates.back();
}

// Taken before a run can have broken, or about how it broke.
bool counts_for_broken_runs(const std::string& metric) {
  for (const char* name :
       {"max_grad_norm", "initial_loss", "top_gradient_start", "gradient_ratio_start",
        "first_update_change", "first_update_change_per_rate"}) {
    if (metric == name) return true;
  }
  return false;
}

void finish(Cell& cell, const Declaration& declaration) {
  std::sort(cell.rates.begin(), cell.rates.end(),
            [](const RateCell& a, const RateCell& b) { return a.learning_rate < b.learning_rate; });
  std::vector<RateScore> scores;
  for (RateCell& rate : cell.rates) {
    for (const auto& [seed, record] : rate.records) count_failure(rate.failures, record->failure);
    finish_failures(rate.failures);
    rate.metric = estimate_of(metric_at(rate, declaration.best_rate_by));
    scores.push_back({rate.failures.failed() + rate.failures.errors, rate.failures.broken(),
                      rate.metric.n, rate.metric.mean, !rate.records.empty()});
  }
  cell.best = choose_best_rate(scores, declaration.higher_is_better);
}

/// Values of one metric at all rates, seed by seed.
std::map<std::uint64_t, std::map<double, double>> over_rates(const Cell& cell,
                                                             const std::string& metric) {
  std::map<std::uint64_t, std::map<double, double>> all;
  for (const RateCell& rate : cell.rates) {
    for (const auto& [seed, record] : rate.records) {
      const double value = record->metric(metric);
      if (std::isfinite(value)) all[seed][rate.learning_rate] = value;
    }
  }
  return all;
}

/// Seeds that some rate trains. Where none does, all rates end alike, which is no robustness.
std::map<std::uint64_t, std::map<double, double>> losses_of_trained_seeds(const Cell& cell) {
  auto all = over_rates(cell, "capped_loss");
  for (auto seed = all.begin(); seed != all.end();) {
    const bool trained =
        std::any_of(cell.rates.begin(), cell.rates.end(), [&](const RateCell& rate) {
          const auto run = rate.records.find(seed->first);
          return run != rate.records.end() && !run->second->failed();
        });
    seed = trained && seed->second.size() >= 2 ? std::next(seed) : all.erase(seed);
  }
  return all;
}

BySeed sensitivity(const Cell& cell) {
  BySeed by_seed;
  for (const auto& [seed, losses] : losses_of_trained_seeds(cell)) {
    double sum = 0;
    double least = losses.begin()->second;
    for (const auto& [rate, loss] : losses) {
      sum += loss;
      least = std::min(least, loss);
    }
    by_seed[seed] = sum / static_cast<double>(losses.size()) - least;
  }
  return by_seed;
}

BySeed best_learning_rate(const Cell& cell) {
  BySeed by_seed;
  for (const auto& [seed, losses] : losses_of_trained_seeds(cell)) {
    const auto least =
        std::min_element(losses.begin(), losses.end(),
                         [](const auto& a, const auto& b) { return a.second < b.second; });
    by_seed[seed] = std::log10(least->first);
  }
  return by_seed;
}

BySeed failed_share(const Cell& cell) {
  std::map<std::uint64_t, std::pair<double, double>> counts;
  for (const RateCell& rate : cell.rates) {
    for (const auto& [seed, record] : rate.records) {
      counts[seed].first += record->failed() ? 1 : 0;
      counts[seed].second += 1;
    }
  }
  BySeed by_seed;
  for (const auto& [seed, count] : counts) by_seed[seed] = count.first / count.second;
  return by_seed;
}

/// No numbers until it is known of every seed: one that some rate trains, or one whose rates all
/// failed, with the longer run where any of them stalled.
BySeed cannot_train(const Cell& cell) {
  BySeed by_seed;
  for (const auto& [seed, share] : failed_share(cell)) {
    if (share < 1) {
      by_seed[seed] = 0;
      continue;
    }
    bool complete = true;
    bool stalled = false;
    for (const RateCell& rate : cell.rates) {
      const auto run = rate.records.find(seed);
      complete = complete && run != rate.records.end();
      stalled = stalled || (run != rate.records.end() && run->second->stalled());
    }
    const auto longer = cell.longer.find(seed);
    const bool is_longer = longer != cell.longer.end();
    if (!complete || (stalled && !is_longer)) return {};
    by_seed[seed] = is_longer && !longer->second->failed() ? 0 : 1;
  }
  return by_seed;
}

}  // namespace

const Record* RecordStore::find(const PlannedRun& run) {
  const auto key = std::pair(run.job.id, run.shortened);
  const auto known = records_.find(key);
  if (known != records_.end()) return known->second.get();
  auto& record = records_[key];
  const std::filesystem::path dir = out_dir_ / "runs" / run.job.id;
  if (!is_finished(dir)) return nullptr;
  try {
    record = std::make_unique<Record>(load_record(dir));
    if (run.shortened && record->stalled()) record->failure.clear();
  } catch (const InputError& error) {
    damaged_[run.job.id] = error.what();
  }
  return record.get();
}

bool RecordStore::crashed(const Job& job) const {
  return std::filesystem::exists(out_dir_ / "runs" / job.id / "error.json");
}

const Cell* ExperimentResults::find(const std::string& arm, const Point& point) const {
  for (const Cell& cell : cells) {
    if (cell.arm == arm && cell.point == point) return &cell;
  }
  return nullptr;
}

std::vector<Point> ExperimentResults::points_of(const std::vector<std::string>& arms,
                                                const Point& at) const {
  std::vector<Point> points;
  for (const Cell& cell : cells) {
    const bool everywhere = std::all_of(arms.begin(), arms.end(), [&](const std::string& arm) {
      return find(arm, cell.point) != nullptr;
    });
    const bool known = std::find(points.begin(), points.end(), cell.point) != points.end();
    if (everywhere && !known && agrees(cell.point, at)) points.push_back(cell.point);
  }
  return points;
}

std::string ExperimentResults::missing_setting(const Point& at) const {
  Point missing;
  for (const auto& [field, value] : at) {
    const bool there = std::any_of(cells.begin(), cells.end(), [&](const Cell& cell) {
      return agrees(cell.point, {{field, value}});
    });
    if (!there) missing[field] = value;
  }
  return missing.empty() ? "" : "the tier " + tier + " has no " + describe_point(missing);
}

std::vector<PlannedRun> plan_longer_runs(const std::vector<PlannedRun>& plan, RecordStore& store) {
  struct Group {
    const PlannedRun* best = nullptr;
    double best_loss = 0;
    bool all_failed = true;
  };
  std::map<std::string, Group> groups;
  std::vector<std::string> order;
  for (const PlannedRun& run : plan) {
    const std::string key =
        run.arm + "|" + describe_point(run.point) + "|" + std::to_string(run.seed);
    if (groups.count(key) == 0) order.push_back(key);
    Group& group = groups[key];
    const Record* record = store.find(run);
    if (!run.config || record == nullptr || !record->failed()) {
      group.all_failed = false;
      continue;
    }
    const double loss = record->metric("loss");
    if (record->stalled() && (group.best == nullptr || loss < group.best_loss)) {
      group.best = &run;
      group.best_loss = loss;
    }
  }
  std::vector<PlannedRun> longer;
  for (const std::string& key : order) {
    const Group& group = groups[key];
    if (group.all_failed && group.best != nullptr) longer.push_back(longer_run(*group.best));
  }
  return longer;
}

ExperimentResults gather_results(const Declaration& declaration, const std::string& tier,
                                 const std::vector<PlannedRun>& plan,
                                 const std::vector<PlannedRun>& longer, RecordStore& store) {
  ExperimentResults results;
  results.declaration = &declaration;
  results.tier = tier;
  const auto cell_of = [&results](const PlannedRun& run) -> Cell& {
    for (Cell& cell : results.cells) {
      if (cell.arm == run.arm && cell.point == run.point) return cell;
    }
    results.cells.push_back({run.arm, run.point, {}, {}, {}});
    return results.cells.back();
  };
  const auto count = [&](const PlannedRun& run, const Record* record) {
    ++results.planned;
    results.done += record != nullptr ? 1 : 0;
    results.crashed += record == nullptr && store.crashed(run.job) ? 1 : 0;
  };
  for (const PlannedRun& run : plan) {
    const Record* record = store.find(run);
    RateCell& rate = rate_of(cell_of(run), run.learning_rate);
    if (record != nullptr) rate.records[run.seed] = record;
    if (record == nullptr && store.crashed(run.job)) ++rate.failures.errors;
    count(run, record);
  }
  for (const PlannedRun& run : longer) {
    const Record* record = store.find(run);
    if (record != nullptr) cell_of(run).longer[run.seed] = record;
    count(run, record);
  }
  for (Cell& cell : results.cells) finish(cell, declaration);
  return results;
}

BySeed metric_at(const RateCell& rate, const std::string& metric) {
  BySeed by_seed;
  for (const auto& [seed, record] : rate.records) {
    const double value = record->metric(metric);
    const bool counts = !record->broke() || counts_for_broken_runs(metric);
    if (counts && std::isfinite(value)) by_seed[seed] = value;
  }
  return by_seed;
}

BySeed metric_by_seed(const Cell& cell, const std::string& metric) {
  if (metric == "sensitivity") return sensitivity(cell);
  if (metric == "best_learning_rate") return best_learning_rate(cell);
  if (metric == "failed") return failed_share(cell);
  if (metric == "cannot_train") return cannot_train(cell);
  return cell.best ? metric_at(*cell.at_best(), metric) : BySeed{};
}

std::set<std::uint64_t> stalled_seeds(const Cell& cell) {
  std::set<std::uint64_t> seeds;
  if (!cell.best) return seeds;
  for (const auto& [seed, record] : cell.at_best()->records) {
    if (record->stalled()) seeds.insert(seed);
  }
  return seeds;
}

std::set<std::uint64_t> seeds_off_target(const Cell& cell) {
  std::set<std::uint64_t> seeds;
  if (!cell.best) return seeds;
  for (const auto& [seed, record] : cell.at_best()->records) {
    if (record->metric("reached_target") == 0) seeds.insert(seed);
  }
  return seeds;
}

Estimate estimate_of(const BySeed& by_seed) {
  std::vector<double> values;
  for (const auto& [seed, value] : by_seed) values.push_back(value);
  return estimate_mean(values);
}

}  // namespace equinorm::lab
