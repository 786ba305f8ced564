// Passes in low precision: autocast, or rounding with rounded weights.
#include "lab/training/low_precision.hpp"

#include <ATen/autocast_mode.h>
#include <ATen/core/grad_mode.h>

namespace equinorm::lab {
namespace {

constexpr int kGrowthInterval = 2000;  // GradScaler's
constexpr double kSmallestScale = 0x1p-24;

std::optional<Rounding> rounding_of(const std::string& precision) {
  if (precision == "fp16") return Rounding(NumberFormat::f16, true);
  if (precision == "bf16") return Rounding(NumberFormat::bf16, true);
  if (precision == "fp16_storage") return Rounding(NumberFormat::f16, false);
  if (precision == "bf16_storage") return Rounding(NumberFormat::bf16, false);
  return std::nullopt;
}

nlohmann::ordered_json json_of(const RoundingCounts& counts) {
  return {{"values", counts.elements},
          {"overflows", counts.overflows},
          {"underflows", counts.underflows},
          {"silent_zeros", counts.silent_zeros},
          {"nans", counts.nans}};
}

}  // namespace

LowPrecision::LowPrecision(const std::string& precision, const std::vector<Parameter>& parameters)
    : parameters_(parameters),
      rounding_(rounding_of(precision)),
      autocast_(precision == "bf16_autocast") {}

LowPrecision::Pass::Pass(LowPrecision& precision, int step) : precision_(precision) {
  if (precision.autocast_) {
    at::autocast::increment_nesting();
    at::autocast::set_autocast_dtype(at::kCPU, at::kBFloat16);
    at::autocast::set_autocast_enabled(at::kCPU, true);
  }
  if (!precision.rounding_) return;
  const at::NoGradGuard no_grad;
  for (const Parameter& parameter : precision.parameters_) {
    weights_.push_back(parameter.value.detach().clone());
    precision.rounding_->round_weight(parameter.value);
  }
  scope_.emplace(*precision.rounding_);
  if (step > 0) precision.rounding_->start_step(step);
}

LowPrecision::Pass::~Pass() {
  if (precision_.autocast_) {
    at::autocast::set_autocast_enabled(at::kCPU, false);
    if (at::autocast::decrement_nesting() == 0) at::autocast::clear_cache();
  }
  if (!scope_) return;
  precision_.rounding_->pause();
  scope_.reset();
  const at::NoGradGuard no_grad;
  for (std::size_t i = 0; i < weights_.size(); ++i) {
    precision_.parameters_[i].value.detach().copy_(weights_[i]);
  }
}

void LowPrecision::round_gradients() {
  if (!rounding_) return;
  for (const Parameter& parameter : parameters_) {
    const at::Tensor& gradient = parameter.value.grad();
    if (gradient.defined()) rounding_->round(gradient);
  }
}

std::map<std::string, double> LowPrecision::metrics() const {
  if (!rounding_) return {};
  const RoundingCounts total = rounding_->total();
  const auto share = [&](std::int64_t count) {
    return static_cast<double>(count) / static_cast<double>(total.elements);
  };
  return {{"overflow_share", share(total.overflows)},
          {"underflow_share", share(total.underflows)},
          {"silent_zero_share", share(total.silent_zeros)}};
}

std::map<std::string, std::string> LowPrecision::notes() const {
  std::map<std::string, std::string> notes;
  if (!rounding_) return notes;
  const auto put = [&](const char* name, const std::string& text) {
    if (!text.empty()) notes[name] = text;
  };
  put("first_not_finite", rounding_->first_not_finite());
  put("first_silent_zero", rounding_->first_silent_zero());
  return notes;
}

nlohmann::ordered_json LowPrecision::modules() const {
  nlohmann::ordered_json json;
  if (!rounding_) return json;
  for (const auto& [place, counts] : rounding_->counts()) json[name_of(place)] = json_of(counts);
  return json;
}

bool LossScale::skips(bool finite) {
  if (!dynamic_) return false;
  if (!finite && scale_ <= kSmallestScale) return false;
  if (!finite) {
    scale_ /= 2;
    since_change_ = 0;
    ++skipped_;
    return true;
  }
  if (++since_change_ == kGrowthInterval) {
    scale_ *= 2;
    since_change_ = 0;
  }
  return false;
}

}  // namespace equinorm::lab
