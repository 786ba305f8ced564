// Made-up measurements and runs: declarations can be planned, run and judged without LibTorch.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "../temporary_directory.hpp"
#include "lab/data/files.hpp"
#include "lab/error.hpp"
#include "lab/evidence/claims.hpp"
#include "lab/evidence/declaration.hpp"
#include "lab/evidence/plan.hpp"
#include "lab/evidence/results.hpp"

namespace equinorm::lab::testing {

inline Measure prepare_made_up(Parameters& parameters) {
  parameters.choice("kind", "a", {"a", "b"});
  parameters.integer("size", 1, 1, 100);
  parameters.real("eps", 0, 0, 1);
  return [](std::uint64_t) { return MeasurementResult{}; };
}

inline RunKinds made_up_kinds() {
  return {[](const RunConfig& config) {
            if (config.depth < 1) throw UsageError("depth = 0: must be at least 1");
          },
          {{"made-up", 1, "nothing", prepare_made_up, {"value"}, {"curve"}}}};
}

/// Two arms, "a" and "b", over two sizes, judged by `rule` (TOML of a [[verdict]]).
inline std::string declaration_text(const std::string& rule = "") {
  return R"(id = "M1"
title = "Made up"
question = "Is a below b?"
metric = "value"
seeds = 4

[base]
measurement = "made-up"

[axes]
size = [1, 2]

[[arm]]
name = "a"
kind = "a"

[[arm]]
name = "b"
kind = "b"

)" + rule;
}

/// Plans a declaration and writes what `value(arm, size, seed)` gives as its runs' metric "value";
/// NaN leaves a run out.
class MadeUpLab {
 public:
  explicit MadeUpLab(const std::string& rule, const std::string& text = "")
      : declaration_(parse_declaration(text.empty() ? declaration_text(rule) : text, "M1.toml")),
        plan_(plan_experiment(declaration_, {}, made_up_kinds())),
        store_(folder_.path()) {}

  template <class Value>
  void write(Value&& value) {
    for (const PlannedRun& run : plan_) {
      const double number =
          value(run.arm, run.point.at("size").get<int>(), static_cast<int>(run.seed));
      if (number != number) continue;
      MeasurementResult result;
      result.metrics["value"] = number;
      const std::filesystem::path dir = folder_.path() / "runs" / run.job.id;
      make_directories(dir);
      write_atomically(dir / "config.json", run.job.config);
      write_atomically(dir / "result.json", to_json(result).dump());
    }
  }

  [[nodiscard]] ExperimentResults results() {
    return gather_results(declaration_, "quick", plan_, {}, store_);
  }
  [[nodiscard]] Verdict verdict() { return judge(declaration_.rules.at(0), results()); }
  [[nodiscard]] const std::vector<PlannedRun>& plan() const { return plan_; }
  [[nodiscard]] const std::filesystem::path& path() const { return folder_.path(); }

 private:
  TemporaryDirectory folder_;
  Declaration declaration_;
  std::vector<PlannedRun> plan_;
  RecordStore store_;
};

}  // namespace equinorm::lab::testing
