// The table of tasks, each with what learns it.
#include <string>
#include <utility>
#include <vector>

#include "lab/data/dataset.hpp"
#include "lab/error.hpp"
#include "lab/train.hpp"
#include "lab/training/learner.hpp"
#include "lab/training/transformer_learner.hpp"

namespace equinorm::lab {
namespace {

struct TaskEntry {
  const char* name;
  std::unique_ptr<Learner> (*make)(const RunConfig&, std::shared_ptr<const Dataset>);
};

constexpr TaskEntry kTasks[] = {{"fashion-mnist", make_transformer_learner},
                                {"bible", make_transformer_learner},
                                {"text", make_transformer_learner},
                                {"idx", make_transformer_learner}};

std::shared_ptr<const Dataset> checked_dataset(const RunConfig& config,
                                               const std::filesystem::path& cache_dir) {
  auto dataset = load_dataset(config, cache_dir);
  if (!config.source_sha256.empty() && config.source_sha256 != dataset->sha256) {
    throw InputError(dataset->name + " changed: its SHA-256 is " + dataset->sha256 +
                     ", the run was configured for " + config.source_sha256);
  }
  return dataset;
}

}  // namespace

const std::vector<std::string>& task_names() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> all;
    for (const TaskEntry& entry : kTasks) all.emplace_back(entry.name);
    return all;
  }();
  return names;
}

std::unique_ptr<Learner> make_learner(const RunConfig& config,
                                      const std::filesystem::path& cache_dir) {
  for (const TaskEntry& entry : kTasks) {
    if (config.task == entry.name) return entry.make(config, checked_dataset(config, cache_dir));
  }
  throw UsageError("task = \"" + config.task + "\": is no task");
}

}  // namespace equinorm::lab
