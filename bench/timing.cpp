#include "timing.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>

namespace equinorm::bench {
namespace {

constexpr double kRoundSeconds = 0.5e-3;  // long beside the clock, short beside a time slice
constexpr int kLeastRounds = 5;           // quartiles of fewer say nothing

double seconds_of(const Contender& contender, std::int64_t calls) {
  using Clock = std::chrono::steady_clock;
  const auto begin = Clock::now();
  for (std::int64_t i = 0; i < calls; ++i) contender.call();
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

// Also warms up: caches, the allocator, the thread pool.
std::int64_t calls_for_a_round(const Contender& contender) {
  std::int64_t calls = 1;
  seconds_of(contender, 1);
  for (;;) {
    const double seconds = seconds_of(contender, calls);
    if (seconds >= kRoundSeconds / 2) {
      return std::max<std::int64_t>(1, std::llround(calls * kRoundSeconds / seconds));
    }
    calls *= 2;
  }
}

double interpolate(const std::vector<double>& sorted, double share) {
  const double position = share * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(position);
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  return sorted[below] + (position - static_cast<double>(below)) * (sorted[above] - sorted[below]);
}

}  // namespace

Quartiles quartiles(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return {interpolate(values, 0.25), interpolate(values, 0.5), interpolate(values, 0.75)};
}

std::vector<Timing> time_alternating(const std::vector<Contender>& contenders, double seconds) {
  std::vector<Timing> timings(contenders.size());
  for (std::size_t i = 0; i < contenders.size(); ++i) {
    timings[i].calls_per_round = calls_for_a_round(contenders[i]);
  }
  double spent = 0;
  for (int round = 0; round < kLeastRounds || spent < seconds; ++round) {
    for (std::size_t k = 0; k < contenders.size(); ++k) {
      const std::size_t i = (k + static_cast<std::size_t>(round)) % contenders.size();
      const double took = seconds_of(contenders[i], timings[i].calls_per_round);
      timings[i].seconds.push_back(took / static_cast<double>(timings[i].calls_per_round));
      spent += took;
    }
  }
  return timings;
}

Quartiles ratio(const Timing& numerator, const Timing& denominator) {
  std::vector<double> ratios(numerator.seconds.size());
  for (std::size_t i = 0; i < ratios.size(); ++i) {
    ratios[i] = numerator.seconds[i] / denominator.seconds[i];
  }
  return quartiles(std::move(ratios));
}

}  // namespace equinorm::bench
