// The rules of a RunConfig that don't depend on its data.
#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <string>

#include "lab/error.hpp"
#include "lab/models/norm_names.hpp"
#include "lab/models/placement.hpp"
#include "lab/train.hpp"

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

}  // namespace

void validate(const RunConfig& config) {
  const auto& norms = norm_names();
  require(std::find(norms.begin(), norms.end(), config.norm) != norms.end(), "norm", config.norm,
          "must be one of " + joined(norms));
  require(find_placement(config.placement) != nullptr, "placement", config.placement,
          "must be one of " + joined(placement_names()));
  const auto& qk_norms = qk_norm_names();
  require(std::find(qk_norms.begin(), qk_norms.end(), config.qk_norm) != qk_norms.end(), "qk_norm",
          config.qk_norm, "must be one of " + joined(qk_norms));
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
  require_at_least(1, "eval_every", config.eval_every);
  require(config.instrument_every == 0 || config.instrument_every >= 2, "instrument_every",
          config.instrument_every, "must be 0 (off) or at least 2");
  require(is_number(config.target) && config.target >= 0, "target", config.target,
          "must be finite and at least 0");
}

}  // namespace equinorm::lab
