// The table of norms of queries and keys: a new one is a line there.
//
// Not here: scores. The one trap: with a factor g the gain of the query's norm is that g.
#include "lab/models/qk_norm.hpp"

#include <algorithm>
#include <cmath>

#include "equinorm/torch/attention.hpp"
#include "lab/error.hpp"

namespace equinorm::lab {

struct QkNormEntry {
  const char* name;
  const char* operator_name;  // in operator_forms.hpp
  RowForm query;
  RowForm key;
};

namespace {

constexpr double kEps = 1e-5;

constexpr RowForm kRms{.centered = false, .eps = kEps};
constexpr RowForm kLayer{.eps = kEps};
constexpr RowForm kUnit{.centered = false, .spread = Spread::length, .gain = Gain::none, .eps = 0};
constexpr RowForm kScaledUnit{
    .centered = false, .spread = Spread::length, .gain = Gain::scalar, .eps = 0};

constexpr QkNormEntry kQkNorms[] = {{"none", "", {}, {}},
                                    {"rms", "QKNormLearned", kRms, kRms},
                                    {"layer", "QKNormLearned", kLayer, kLayer},
                                    {"l2", "QKNorm", kScaledUnit, kUnit}};

const QkNormEntry& entry_named(const std::string& name) {
  for (const QkNormEntry& entry : kQkNorms) {
    if (name == entry.name) return entry;
  }
  throw UsageError("qk_norm = '" + name + "': must be one of " + joined(qk_norm_names()));
}

double initial_factor(std::int64_t tokens) {
  const auto length = static_cast<double>(std::max<std::int64_t>(tokens, 2));
  return std::log2(length * length - length);
}

// (samples, heads, tokens, width) with heads and tokens exchanged, as the front end has them.
at::Tensor normalized(const at::Tensor& x, const RowForm& form, const at::Tensor& gamma) {
  return equinorm::torch::head_norm(x.transpose(1, 2), form, gamma).transpose(1, 2);
}

}  // namespace

const std::vector<std::string>& qk_norm_names() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> all;
    for (const QkNormEntry& entry : kQkNorms) all.emplace_back(entry.name);
    return all;
  }();
  return names;
}

std::vector<std::string> qk_norms_of_operator(const std::string& name) {
  std::vector<std::string> names;
  for (const QkNormEntry& entry : kQkNorms) {
    if (name == entry.operator_name) names.emplace_back(entry.name);
  }
  return names;
}

QkNorm::QkNorm(const std::string& name, const QkNormPlace& place, ParameterStore& parameters)
    : entry_(name == "none" ? nullptr : &entry_named(name)) {
  if (entry_ == nullptr) return;
  const auto gain = [&](const char* which, std::int64_t size, double value) {
    const ParameterId id{place.prefix + ".qk_norm." + which, ParameterKind::gamma, place.layer};
    return parameters.constant(id, {size}, value);
  };
  if (entry_->query.gain == Gain::scalar) {
    query_gamma_ = gain("g", 1, initial_factor(place.tokens));
    score_scale_ = 1;
    return;
  }
  query_gamma_ = gain("q_gamma", place.width, 1);
  key_gamma_ = gain("k_gamma", place.width, 1);
}

at::Tensor QkNorm::query(const at::Tensor& x) const {
  return entry_ == nullptr ? x : normalized(x, entry_->query, query_gamma_);
}

at::Tensor QkNorm::key(const at::Tensor& x) const {
  return entry_ == nullptr ? x : normalized(x, entry_->key, key_gamma_);
}

}  // namespace equinorm::lab
