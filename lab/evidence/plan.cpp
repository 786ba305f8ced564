#include "lab/evidence/plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "lab/data/sha256.hpp"
#include "lab/error.hpp"
#include "lab/evidence/known_metrics.hpp"
#include "lab/evidence/place_in.hpp"
#include "lab/experiment/runner.hpp"
#include "lab/nearest.hpp"
#include "lab/run_config_json.hpp"

namespace equinorm::lab {
namespace {

namespace fs = std::filesystem;

constexpr int kLongerFactor = 4;
constexpr int kSmokeSteps = 4;  // the fewest in which instruments and the time split both come up
constexpr int kMost = 100'000'000;  // of any whole number; leaves room for kLongerFactor

void require_in_range(const std::string& field, const Json& value, int least) {
  const bool fits = value.is_number_integer() && value.get<std::int64_t>() >= least &&
                    value.get<std::int64_t>() <= kMost;
  if (fits) return;
  throw UsageError(fmt::format("{} = {}: must be a whole number from {} to {}", field, value.dump(),
                               least, kMost));
}

const Tier& tier_of(const Declaration& declaration, const LabRequest& request) {
  return declaration.tiers.at(request.tier);
}

/// The line that decided a field, or that of the arm.
int line_of(const Declaration& declaration, const std::string& tier, const std::string& arm,
            const std::string& field) {
  for (const std::string& place :
       {"tier." + tier + ".axes." + field, "axes." + field, "arm." + arm + "." + field,
        "tier." + tier + ".base." + field, "base." + field, "arm." + arm + ".name"}) {
    const auto found = declaration.lines.find(place);
    if (found != declaration.lines.end()) return found->second;
  }
  return 1;
}

// The counts of steps are those for `reference` samples a step; another batch gets as many samples.
void scale_to_batch(RunConfig& config, const Json& reference) {
  require_in_range("reference_batch", reference, 1);
  require_in_range("batch", config.batch, 1);
  const double factor = reference.get<double>() / config.batch;
  for (int* steps : {&config.steps, &config.warmup, &config.eval_every}) {
    if (*steps * factor > kMost) {
      throw UsageError(fmt::format("reference_batch = {}: makes {} steps of {}, more than {}",
                                   reference.dump(), *steps * factor, *steps, kMost));
    }
    if (*steps > 0) *steps = std::max(1, static_cast<int>(std::lround(*steps * factor)));
  }
  if (config.instrument_every > 0) {
    const double scaled = std::min<double>(kMost, config.instrument_every * factor);
    const auto every = static_cast<int>(std::lround(scaled));
    config.instrument_every = std::max(2, every);
  }
}

std::vector<std::string> names_of(const Json& fields) {
  std::vector<std::string> names;
  for (const auto& [name, value] : fields.items()) names.push_back(name);
  return names;
}

void shorten(RunConfig& config) {
  config.steps = std::min(config.steps, kSmokeSteps);
  config.warmup = std::min(config.warmup, 1);
  config.eval_every = std::min(config.eval_every, kSmokeSteps);
}

class Planner {
 public:
  Planner(const Declaration& declaration, const LabRequest& request, const RunKinds& kinds)
      : declaration_(declaration), request_(request), kinds_(kinds) {}

  /// All fields of a run, later ones winning: base, tier, arm, point.
  [[nodiscard]] Json fields(const ArmSpec& arm, const Point& point) const {
    Json all = declaration_.base;
    all.update(tier_of(declaration_, request_).base);
    all.update(arm.fields);
    for (const auto& [field, value] : point) all[field] = value;
    return all;
  }

  PlannedRun run(const ArmSpec& arm, const Point& point, double rate, std::uint64_t seed) const {
    Json all = fields(arm, point);
    PlannedRun planned;
    planned.arm = arm.name;
    planned.point = point;
    planned.seed = seed;
    planned.shortened = tier_of(declaration_, request_).shortened;
    try {
      if (all.contains("measurement")) {
        planned.job = measurement_job(all, arm, seed);
      } else {
        planned.config = training_config(all);
        find_source(planned);
        planned.config->seed = seed;
        if (rate > 0) planned.config->learning_rate = rate;
        planned.learning_rate = planned.config->learning_rate;
        kinds_.check_training(*planned.config);
        planned.job = training_job(*planned.config);
        planned.job.label = declaration_.id + " " + arm.name;
      }
    } catch (const UsageError& error) {
      throw InputError(placed(arm, error.what()));
    }
    return planned;
  }

  [[nodiscard]] RunConfig training_config(Json fields) const {
    Json complete = all_fields(RunConfig{});
    const Json reference = fields.value("reference_batch", Json());
    fields.erase("reference_batch");
    for (const auto& [field, value] : fields.items()) {
      const auto known = complete.find(field);
      if (known == complete.end() || field == "seed" || field == "source_sha256") {
        const std::string hint = did_you_mean(field, names_of(complete));
        throw UsageError(field + " = " + value.dump() + ": no field of a run has this name" +
                         (hint.empty() ? "" : ". " + hint));
      }
      if (known->is_number_integer() && !value.is_number_integer()) {
        throw UsageError(field + " = " + value.dump() + ": must be a whole number");
      }
      if (known->is_number_integer()) require_in_range(field, value, -kMost);
      if (known->is_string() != value.is_string() || known->is_boolean() != value.is_boolean()) {
        throw UsageError(field + " = " + value.dump() + ": must be a " +
                         (known->is_string()    ? "text"
                          : known->is_boolean() ? "true or false"
                                                : "number"));
      }
      *known = value;
    }
    RunConfig config = complete.get<RunConfig>();
    if (!reference.is_null()) scale_to_batch(config, reference);
    if (tier_of(declaration_, request_).shortened) shorten(config);
    return config;
  }

 private:
  /// A relative source lies beside the declaration. The key keeps it as declared, so that folders
  /// of several machines can be merged.
  void find_source(PlannedRun& planned) const {
    RunConfig& config = *planned.config;
    planned.source_key = config.task + (config.source.empty() ? "" : " " + config.source);
    auto sha = request_.source_sha256.find(planned.source_key);
    // Folders of before have one source for each task.
    if (sha == request_.source_sha256.end()) sha = request_.source_sha256.find(config.task);
    if (sha != request_.source_sha256.end()) config.source_sha256 = sha->second;
    if (config.source.empty()) return;
    const fs::path folder = fs::path(declaration_.file).parent_path();
    config.source = fs::absolute(folder / config.source).lexically_normal().string();
  }

  [[nodiscard]] Job measurement_job(Json& all, const ArmSpec& arm, std::uint64_t seed) const {
    const Json name = all["measurement"];
    if (!name.is_string()) throw UsageError("measurement = " + name.dump() + ": must be a text");
    all.erase("measurement");
    const Measurement& measurement =
        measurement_named(kinds_.measurements, name.get<std::string>());
    const Json config = measurement_config(measurement, all, seed);
    const std::string hash = sha256_hex(config.dump()).substr(0, 12);
    return {fmt::format("{}-s{}-{}", measurement.name, seed, hash), config.dump(1) + "\n",
            measurement.name, declaration_.id + " " + arm.name, 1};
  }

  [[nodiscard]] std::string placed(const ArmSpec& arm, const std::string& message) const {
    const std::string field = message.substr(0, message.find(' '));
    const int line = line_of(declaration_, request_.tier, arm.name, field);
    return fmt::format("{}: {} (arm {})", place_in(declaration_.file, line), message, arm.name);
  }

  const Declaration& declaration_;
  const LabRequest& request_;
  const RunKinds& kinds_;
};

std::vector<ArmSpec> arms_of(const Declaration& declaration, const Tier& tier) {
  if (tier.arms.empty()) return declaration.arms;
  std::vector<ArmSpec> arms;
  for (const ArmSpec& arm : declaration.arms) {
    const bool chosen = std::find(tier.arms.begin(), tier.arms.end(), arm.name) != tier.arms.end();
    if (chosen) arms.push_back(arm);
  }
  return arms;
}

/// Arms whose runs are the same everywhere would be compared with themselves.
void refuse_equal_arms(const Declaration& declaration, const std::vector<PlannedRun>& runs) {
  std::map<std::string, std::vector<std::string>> ids;
  for (const PlannedRun& run : runs) ids[run.arm].push_back(run.job.id);
  for (std::size_t i = 0; i < declaration.arms.size(); ++i) {
    const std::string& arm = declaration.arms[i].name;
    for (std::size_t j = 0; j < i; ++j) {
      const std::string& other = declaration.arms[j].name;
      if (ids.count(arm) == 0 || ids.count(other) == 0 || ids[arm] != ids[other]) continue;
      const int line = declaration.lines.at("arm." + arm + ".name");
      throw InputError(fmt::format("{}: arm.name = '{}': its runs are those of arm '{}'",
                                   place_in(declaration.file, line), arm, other));
    }
  }
}

bool is_measurement(const Json& fields) { return fields.contains("measurement"); }

}  // namespace

std::vector<Point> points_of(const std::vector<Axis>& axes) {
  std::vector<Point> points = {{}};
  for (const Axis& axis : axes) {
    std::vector<Point> longer;
    for (const Point& point : points) {
      for (const Json& value : axis.values) {
        longer.push_back(point);
        longer.back()[axis.field] = value;
      }
    }
    points = std::move(longer);
  }
  return points;
}

std::vector<PlannedRun> plan_experiment(const Declaration& declaration, const LabRequest& request,
                                        const RunKinds& kinds) {
  const Tier& tier = tier_of(declaration, request);
  const Planner planner(declaration, request, kinds);
  std::vector<double> rates =
      tier.learning_rates.empty() ? declaration.learning_rates : tier.learning_rates;
  if (rates.empty()) rates = {0};  // that of the config
  const int seeds = request.seeds.value_or(tier.seeds.value_or(declaration.seeds));
  const std::vector<ArmSpec> arms = arms_of(declaration, tier);
  const std::vector<Point> points = points_of(axes_of(declaration, tier));
  std::vector<PlannedRun> runs;
  for (int i = 0; i < seeds; ++i) {
    const auto seed = static_cast<std::uint64_t>(declaration.first_seed + i);
    for (const double rate : rates) {
      for (const Point& point : points) {
        for (const ArmSpec& arm : arms) {
          const bool swept = rate == rates.front() || !is_measurement(planner.fields(arm, point));
          if (swept) runs.push_back(planner.run(arm, point, rate, seed));
        }
      }
    }
  }
  if (!tier.shortened) refuse_equal_arms(declaration, runs);
  check_metrics(declaration, kinds);
  return runs;
}

std::map<std::string, RunConfig> tasks_of(const Declaration& declaration, const LabRequest& request,
                                          const RunKinds& kinds) {
  const Tier& tier = tier_of(declaration, request);
  const Planner planner(declaration, request, kinds);
  std::map<std::string, RunConfig> tasks;
  for (const Point& point : points_of(axes_of(declaration, tier))) {
    for (const ArmSpec& arm : arms_of(declaration, tier)) {
      const PlannedRun run = planner.run(arm, point, 0, 0);
      if (run.config) tasks.emplace(run.source_key, *run.config);
    }
  }
  return tasks;
}

PlannedRun longer_run(const PlannedRun& run) {
  PlannedRun longer = run;
  longer.config->steps *= kLongerFactor;
  longer.config->eval_every *= kLongerFactor;
  const std::string label = longer.job.label;
  longer.job = training_job(*longer.config);
  longer.job.label = label + " longer";
  longer.job.group += " longer";
  return longer;
}

bool is_in_shard(const std::string& run_id, int index, int count) {
  // The id ends in 12 digits of a hash, which spread evenly.
  const std::string digits = run_id.substr(run_id.size() - std::min<std::size_t>(run_id.size(), 8));
  std::uint64_t value = 0;
  for (const char c : digits) {
    value = value * 16 + static_cast<std::uint64_t>(c >= 'a' ? c - 'a' + 10 : c - '0');
  }
  return value % static_cast<std::uint64_t>(count) == static_cast<std::uint64_t>(index - 1);
}

}  // namespace equinorm::lab
