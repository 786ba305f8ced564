#include "lab/report/scale.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace equinorm::lab::report {
namespace {

// The smallest of 1, 2, 5 times a power of ten that is at least `step`.
double nice_step(double step) {
  const double power = std::pow(10.0, std::floor(std::log10(step)));
  for (const double factor : {1.0, 2.0, 5.0}) {
    if (factor * power >= step * (1 - 1e-9)) return factor * power;
  }
  return 10 * power;
}

// The largest of 1, 2, 5 times a power of ten that is at most `value`.
double nice_below(double value) {
  const double power = std::pow(10.0, std::floor(std::log10(value) + 1e-9));
  for (const double factor : {5.0, 2.0}) {
    if (factor * power <= value * (1 + 1e-9)) return factor * power;
  }
  return power;
}

std::vector<Tick> linear_ticks(const Range& range, int count) {
  const double step = nice_step((range.high - range.low) / count);
  const int digits = std::max(0, -static_cast<int>(std::floor(std::log10(step) + 1e-9)));
  std::vector<Tick> ticks;
  const auto first = static_cast<long long>(std::ceil(range.low / step - 1e-9));
  const auto last = static_cast<long long>(std::floor(range.high / step + 1e-9));
  for (long long i = first; i <= last; ++i) {
    const double value = static_cast<double>(i) * step;
    ticks.push_back({value, fmt::format("{:.{}f}", value, digits), ""});
  }
  return ticks;
}

Tick decade_tick(int exponent, bool plain) {
  const double value = std::pow(10.0, exponent);
  if (plain) return {value, fmt::format("{:g}", value), ""};
  return {value, "10", fmt::format("{}", exponent)};
}

std::vector<Tick> log_ticks(const Range& range, int count) {
  const int first = static_cast<int>(std::ceil(std::log10(range.low) - 1e-9));
  const int last = static_cast<int>(std::floor(std::log10(range.high) + 1e-9));
  const bool plain = first >= -3 && last <= 4;
  std::vector<Tick> ticks;
  if (last - first + 1 <= 2) {  // about a decade: label 1, 2, 5 times each power
    for (int exponent = first - 1; exponent <= last; ++exponent) {
      for (const double factor : {1.0, 2.0, 5.0}) {
        const double value = factor * std::pow(10.0, exponent);
        if (value < range.low * (1 - 1e-9) || value > range.high * (1 + 1e-9)) continue;
        ticks.push_back({value, fmt::format("{:g}", value), ""});
      }
    }
    return ticks;
  }
  const int wanted = (last - first + count - 1) / count;
  int step = 1;
  for (const int nice : {1, 2, 3, 5, 10, 15, 20, 50, 100, 200}) {
    step = nice;
    if (nice >= wanted) break;
  }
  for (int exponent = first; exponent <= last; ++exponent) {
    // Multiples of the step, so that 10^0 is labelled where it is inside.
    if (exponent % step == 0) ticks.push_back(decade_tick(exponent, plain));
  }
  return ticks;
}

}  // namespace

void Range::include(double value) noexcept {
  if (!std::isfinite(value)) return;
  low = used ? std::min(low, value) : value;
  high = used ? std::max(high, value) : value;
  used = true;
}

Scale::Scale(Range range, bool log, double from, double to)
    : range_(range.high > range.low ? range : rounded(range, log)),
      log_(log),
      from_(from),
      to_(to) {}

double Scale::operator()(double value) const noexcept {
  const double share = log_ ? std::log(value / range_.low) / std::log(range_.high / range_.low)
                            : (value - range_.low) / (range_.high - range_.low);
  return from_ + share * (to_ - from_);
}

bool Scale::contains(double value) const noexcept {
  return value >= range_.low && value <= range_.high;
}

std::vector<Tick> Scale::ticks(int count, bool whole) const {
  if (log_) return log_ticks(range_, count);
  // Whole numbers are at least 1 apart.
  const double most = std::max(1.0, std::floor(range_.high - range_.low));
  return linear_ticks(range_, whole ? static_cast<int>(std::min<double>(count, most)) : count);
}

Range rounded(Range range, bool log) {
  if (range.empty() || (log && range.high <= 0))
    return log ? Range{1, 10, true} : Range{0, 1, true};
  if (log) {
    if (range.low <= 0) range.low = range.high / 10;
    const double low = nice_below(range.low);
    double high = nice_step(range.high);
    if (high < low * 9.9) high = low * 10;  // a decade at least
    return {low, high, true};
  }
  if (range.low == range.high) {
    const double room = range.low == 0 ? 1 : std::fabs(range.low) * 0.1;
    range.low -= room;
    range.high += room;
  }
  const double step = nice_step((range.high - range.low) / 5) / 2;
  return {std::floor(range.low / step + 1e-9) * step, std::ceil(range.high / step - 1e-9) * step,
          true};
}

std::vector<Tick> ticks_at(std::span<const double> values) {
  std::vector<Tick> ticks;
  for (const double value : values) {
    std::string label = fmt::format("{:g}", value);
    if (value != 0 && std::fabs(value) < 0.01) {
      const int exponent = static_cast<int>(std::floor(std::log10(std::fabs(value)) + 1e-9));
      label = fmt::format("{:.2g}e{}", value / std::pow(10.0, exponent), exponent);
    }
    ticks.push_back({value, label, ""});
  }
  return ticks;
}

}  // namespace equinorm::lab::report
