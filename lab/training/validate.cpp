// The rules of a RunConfig that don't depend on its data.
#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <string>

#include "lab/error.hpp"
#include "lab/models/norm_names.hpp"
#include "lab/models/placement.hpp"
#include "lab/nearest.hpp"
#include "lab/train.hpp"
#include "lab/training/variants.hpp"

namespace equinorm::lab {
namespace {

template <class Value>
void require(bool holds, const char* field, const Value& value, const std::string& rule) {
  if (holds) return;
  throw UsageError(std::string(field) + " = " + nlohmann::json(value).dump() + ": " + rule);
}

void require_at_least(int smallest, const char* field, int value) {
  require(value >= smallest, field, value,
          std::string("must be at least ").append(std::to_string(smallest)));
}

bool is_number(double value) { return std::isfinite(value); }

void require_one_of(const std::vector<std::string>& choices, const char* field,
                    const std::string& value) {
  require(std::find(choices.begin(), choices.end(), value) != choices.end(), field, value,
          one_of("must be one of", value, choices));
}

}  // namespace

void validate(const RunConfig& config) {
  require_one_of(task_names(), "task", config.task);
  if (!config.model.empty()) require_one_of(model_names(config.task), "model", config.model);
  require_one_of(norms_of(config), "norm", config.norm);
  require_one_of(placement_names(), "placement", config.placement);
  require_one_of(qk_norm_names(), "qk_norm", config.qk_norm);
  require_one_of(kDropoutPlaces, "dropout_place", config.dropout_place);
  require_one_of(kPlacementParts, "placement_parts", config.placement_parts);
  require_one_of(kGainStarts, "gain_start", config.gain_start);
  require_one_of(kAffineChoices, "affine", config.affine);
  require_one_of(kNormKernels, "norm_kernel", config.norm_kernel);
  require_one_of(kPrecisions, "precision", config.precision);
  require(is_number(config.eps) && (config.eps >= 0 || config.eps == -1), "eps", config.eps,
          "must be finite and at least 0, or -1 for the norm's own");
  require((config.eps < 0 && config.norm_kernel == "fused") || is_row_norm(config.norm), "norm",
          config.norm, "must be a norm of rows where eps or norm_kernel are set");
  require(is_number(config.loss_scale) && config.loss_scale >= 0, "loss_scale", config.loss_scale,
          "must be finite and at least 0");
  require_at_least(0, "train_samples", config.train_samples);
  require_one_of({"masked", "counts"}, "padding", config.padding);
  require_one_of({"forward", "backward"}, "direction", config.direction);
  require_at_least(0, "max_words", config.max_words);
  require(is_number(config.initial_gain) && config.initial_gain >= 0, "initial_gain",
          config.initial_gain, "must be finite and at least 0");
  require_at_least(1, "depth", config.depth);
  require_at_least(1, "width", config.width);
  require_at_least(1, "heads", config.heads);
  require(config.width % std::max(config.heads, 1) == 0, "width", config.width,
          "must be a multiple of heads = " + std::to_string(config.heads));
  require_at_least(1, "ffn", config.ffn);
  require_at_least(1, "context", config.context);
  require(config.dropout >= 0 && config.dropout < 1, "dropout", config.dropout,
          "must lie in [0, 1)");
  require_at_least(1, "batch", config.batch);
  require_at_least(1, "steps", config.steps);
  require_at_least(0, "warmup", config.warmup);
  require(is_number(config.learning_rate) && config.learning_rate > 0, "learning_rate",
          config.learning_rate, "must be finite and above 0");
  require(is_number(config.clip) && config.clip >= 0, "clip", config.clip,
          "must be finite and at least 0");
  check_for_model(config);
  require_at_least(1, "eval_every", config.eval_every);
  require(config.instrument_every == 0 || config.instrument_every >= 2, "instrument_every",
          config.instrument_every, "must be 0 (off) or at least 2");
  require(is_number(config.target) && config.target >= 0, "target", config.target,
          "must be finite and at least 0");
}

}  // namespace equinorm::lab
