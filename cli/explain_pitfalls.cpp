// Wrong answers that are often given for a row, worked out for the row at hand and reported only
// where they differ visibly from the right ones. Compares before gain and bias.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "explain_steps.hpp"

namespace equinorm::cli {
namespace {

// Differences below a thousandth of a standard deviation are not worth a line.
constexpr double kVisible = 1e-3;

bool differs(const std::vector<double>& wrong, const std::vector<double>& right) {
  for (std::size_t i = 0; i < wrong.size(); ++i) {
    if (!(std::fabs(wrong[i] - right[i]) <= kVisible)) return true;
  }
  return false;
}

// The right answer before it is rounded to the element type.
std::vector<double> unrounded(const std::vector<double>& x, const Steps& steps) {
  std::vector<double> result;
  for (const double value : x) result.push_back((value - steps.mean) * steps.rstd);
  return result;
}

std::vector<double> unbiased(const std::vector<double>& x, const Steps& steps) {
  const auto n = static_cast<double>(x.size());
  const double std = std::sqrt(steps.variance * n / (n - 1));
  std::vector<double> result;
  for (const double value : x) result.push_back((value - steps.mean) / (std + 1e-6));
  return result;
}

std::vector<double> eps_outside(const std::vector<double>& x, const Steps& steps, double eps) {
  std::vector<double> result;
  for (const double value : x) {
    result.push_back((value - steps.mean) / (std::sqrt(steps.variance) + eps));
  }
  return result;
}

// E[x^2] - E[x]^2 with every operation in float.
std::vector<double> one_pass_f32(const std::vector<double>& x, double eps) {
  float sum = 0, squares = 0;
  for (const double value : x) {
    const auto f = static_cast<float>(value);
    sum += f;
    squares += f * f;
  }
  const auto n = static_cast<float>(x.size());
  const float mean = sum / n;
  const float variance = squares / n - mean * mean;
  const float rstd = 1.0F / std::sqrt(variance + static_cast<float>(eps));
  std::vector<double> result;
  for (const double value : x) result.push_back((static_cast<float>(value) - mean) * rstd);
  return result;
}

// Whether the row is c - 1, c, c + 1 in some order other than falling: people then answer 1, 0, -1.
bool invites_whole_numbers(const std::vector<double>& x) {
  std::vector<double> sorted = x;
  std::sort(sorted.begin(), sorted.end());
  return x.size() == 3 && sorted[1] - sorted[0] == 1 && sorted[2] - sorted[1] == 1 &&
         !std::is_sorted(x.rbegin(), x.rend());
}

void add_eps_caution(const Steps& steps, double eps, std::vector<Pitfall>& pitfalls) {
  if (steps.variance == 0) {
    pitfalls.push_back(
        {"all numbers are equal, so LayerNorm gives 0 (the bias, with one) whatever "
         "eps is; only its gradient depends on eps",
         {}});
  } else if (steps.variance < 10 * eps) {
    pitfalls.push_back({fmt::format("eps is not small beside the variance: the result has standard "
                                    "deviation {:.6g}, not 1",
                                    std::sqrt(steps.variance / (steps.variance + eps))),
                        {}});
  }
}

}  // namespace

std::vector<Pitfall> find_pitfalls(const Explanation& explanation, const ExplainRequest& request) {
  const std::vector<double>& x = explanation.x;
  const Steps& steps = explanation.layer_norm;
  const std::vector<double> right = unrounded(x, steps);
  std::vector<Pitfall> pitfalls;
  if (x.empty()) return pitfalls;
  if (invites_whole_numbers(x)) {
    pitfalls.push_back(
        {"an answer printed in articles has the wrong order and the wrong scale", {1, 0, -1}});
  }
  if (steps.variance > 0) {
    pitfalls.push_back(
        {"the unbiased standard deviation (divided by n - 1, plus 1e-6) is not "
         "LayerNorm's; it gives",
         unbiased(x, steps)});
    const auto outside = eps_outside(x, steps, request.eps);
    if (differs(outside, right)) {
      pitfalls.push_back(
          {"eps added to the standard deviation, not under the root, gives", outside});
    }
  }
  const auto one_pass = one_pass_f32(x, request.eps);
  if (differs(one_pass, right)) {
    pitfalls.push_back({"the one-pass variance E[x^2] - E[x]^2 in f32 gives", one_pass});
  }
  add_eps_caution(steps, request.eps, pitfalls);
  if (differs(unrounded(x, explanation.rms_norm), right)) {
    pitfalls.push_back({"RMSNorm does not subtract the mean, so it is not LayerNorm here", {}});
  }
  return pitfalls;
}

}  // namespace equinorm::cli
