// The table of tasks and models, each with the norms that it has and with what learns it.
#include <string>
#include <utility>
#include <vector>

#include "lab/data/dataset.hpp"
#include "lab/error.hpp"
#include "lab/models/norm_names.hpp"
#include "lab/train.hpp"
#include "lab/training/adding_learner.hpp"
#include "lab/training/diffusion_learner.hpp"
#include "lab/training/learner.hpp"
#include "lab/training/lstm_learner.hpp"
#include "lab/training/resnet_learner.hpp"
#include "lab/training/transformer_learner.hpp"
#include "lab/training/translation_learner.hpp"

namespace equinorm::lab {
namespace {

struct LearnerEntry {
  const char* task;
  const char* model;
  const std::vector<std::string>& (*norms)();
  std::unique_ptr<Learner> (*make)(const RunConfig&, std::shared_ptr<const Dataset>);
  void (*check)(const RunConfig&) = nullptr;  ///< throws UsageError
  bool variants = false;  ///< takes dropout_place, placement_parts and what is about precision
};

// The first model of a task is the one that an empty RunConfig::model means.
constexpr LearnerEntry kLearners[] = {
    {"fashion-mnist", "transformer", norm_names, make_transformer_learner, nullptr, true},
    {"fashion-mnist", "resnet", resnet_norms, make_resnet_learner, check_resnet},
    {"bible", "transformer", norm_names, make_transformer_learner, nullptr, true},
    {"bible", "lstm", lstm_norms, make_text_lstm},
    {"text", "transformer", norm_names, make_transformer_learner, nullptr, true},
    {"text", "lstm", lstm_norms, make_text_lstm},
    {"idx", "transformer", norm_names, make_transformer_learner, nullptr, true},
    {"idx", "resnet", resnet_norms, make_resnet_learner, check_resnet},
    {"masked-bible", "transformer", norm_names, make_transformer_learner, nullptr, true},
    {"translation", "transformer", norm_names, make_translation_learner},
    {"packages", "lstm", lstm_norms, make_label_lstm},
    {"digits", "transformer", norm_names, make_diffusion_learner, check_diffusion},
    {"adding", "lstm", lstm_norms, make_adding_lstm, check_adding},
    {"adding", "transformer", norm_names, make_adding_transformer, check_adding},
};

std::shared_ptr<const Dataset> checked_dataset(const RunConfig& config,
                                               const std::filesystem::path& cache_dir) {
  auto dataset = load_dataset(config, cache_dir);
  if (!config.source_sha256.empty() && config.source_sha256 != dataset->sha256) {
    throw InputError(dataset->name + " changed: its SHA-256 is " + dataset->sha256 +
                     ", the run was configured for " + config.source_sha256);
  }
  return dataset;
}

const LearnerEntry* find_learner(const RunConfig& config) {
  for (const LearnerEntry& entry : kLearners) {
    if (config.task == entry.task && (config.model.empty() || config.model == entry.model)) {
      return &entry;
    }
  }
  return nullptr;
}

}  // namespace

const std::vector<std::string>& task_names() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> all;
    for (const LearnerEntry& entry : kLearners) {
      if (all.empty() || all.back() != entry.task) all.emplace_back(entry.task);
    }
    return all;
  }();
  return names;
}

std::vector<std::string> model_names(const std::string& task) {
  std::vector<std::string> names;
  for (const LearnerEntry& entry : kLearners) {
    if (task == entry.task) names.emplace_back(entry.model);
  }
  return names;
}

const std::vector<std::string>& norms_of(const RunConfig& config) {
  const LearnerEntry* entry = find_learner(config);
  return entry == nullptr ? norm_names() : entry->norms();
}

void check_for_model(const RunConfig& config) {
  const LearnerEntry* entry = find_learner(config);
  if (entry == nullptr) return;
  const RunConfig usual;
  const auto refuse = [&](const char* field, const std::string& value, const std::string& only) {
    if (entry->variants || value == only) return;
    throw UsageError(std::string(field) + " = \"" + value + "\": must be " + only + " with task " +
                     config.task);
  };
  refuse("dropout_place", config.dropout_place, usual.dropout_place);
  refuse("placement_parts", config.placement_parts, usual.placement_parts);
  refuse("precision", config.precision, usual.precision);
  refuse("norm_kernel", config.norm_kernel, usual.norm_kernel);
  refuse("eps", std::to_string(config.eps), std::to_string(usual.eps));
  if (entry->check != nullptr) entry->check(config);
}

std::unique_ptr<Learner> make_learner(const RunConfig& config,
                                      const std::filesystem::path& cache_dir) {
  const LearnerEntry* entry = find_learner(config);
  if (entry == nullptr) {
    throw UsageError("task = \"" + config.task + "\", model = \"" + config.model +
                     "\": nothing learns it");
  }
  return entry->make(config, checked_dataset(config, cache_dir));
}

}  // namespace equinorm::lab
