#include "lab/training/variants.hpp"

#include <ATen/core/grad_mode.h>

#include <cmath>

#include "lab/models/random.hpp"

namespace equinorm::lab {
namespace {

bool ends_with(const std::string& text, const std::string& end) {
  return text.size() >= end.size() && text.compare(text.size() - end.size(), end.size(), end) == 0;
}

bool is_bias(const Parameter& parameter) { return ends_with(parameter.name, ".beta"); }

double uniform(Random& random) {
  return (static_cast<double>(random.next() >> 11) + 0.5) * 0x1p-53;
}

void start_gain(const std::string& start, const at::Tensor& gain, Random& random) {
  if (start == "zero") gain.fill_(0);
  if (start == "half") gain.fill_(0.5);
  if (start != "uniform" && start != "normal") return;
  const double deviation = std::sqrt(2.0 / static_cast<double>(gain.numel()));
  for (std::int64_t i = 0; i < gain.numel(); ++i) {
    const double u = uniform(random);
    const double normal =
        std::sqrt(-2 * std::log(u)) * std::cos(6.283185307179586 * uniform(random));
    gain[i] = start == "uniform" ? u : deviation * normal;
  }
}

}  // namespace

bool is_gain(const Parameter& parameter) { return ends_with(parameter.name, ".gamma"); }
bool is_norm_alpha(const Parameter& parameter) { return ends_with(parameter.name, ".alpha"); }

void apply_norm_choices(const RunConfig& config, const std::vector<Parameter>& parameters) {
  const at::NoGradGuard no_grad;
  for (const Parameter& parameter : parameters) {
    if (is_gain(parameter) && config.gain_start != "usual") {
      Random random(derive_seed(derive_seed(config.seed, "gains"), parameter.name));
      start_gain(config.gain_start, parameter.value.detach(), random);
    }
    if (config.affine == "frozen" && (is_gain(parameter) || is_bias(parameter))) {
      parameter.value.set_requires_grad(false);
    }
  }
}

void remove_affine(const RunConfig& config, const std::vector<Parameter>& parameters) {
  if (config.affine != "removed") return;
  const at::NoGradGuard no_grad;
  for (const Parameter& parameter : parameters) {
    if (is_gain(parameter)) parameter.value.detach().fill_(1);
    if (is_bias(parameter)) parameter.value.detach().fill_(0);
  }
}

}  // namespace equinorm::lab
