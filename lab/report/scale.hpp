// From data to positions: linear and logarithmic scales, and where their ticks go.
#pragma once

#include <span>
#include <string>
#include <vector>

namespace equinorm::lab::report {

/// Closed range; empty() until a finite value was included.
struct Range {
  double low = 0;
  double high = 0;
  bool used = false;

  [[nodiscard]] bool empty() const noexcept { return !used; }
  /// Leaves out NaN and infinities.
  void include(double value) noexcept;
};

struct Tick {
  double value = 0;
  std::string label;     ///< empty: a tick without label
  std::string exponent;  ///< raised after the label: 10 and -3
};

/// Maps [low, high] to [from, to]; on a logarithmic scale low must be above 0.
class Scale {
 public:
  Scale(Range range, bool log, double from, double to);

  [[nodiscard]] double operator()(double value) const noexcept;
  [[nodiscard]] bool contains(double value) const noexcept;
  [[nodiscard]] const Range& range() const noexcept { return range_; }
  [[nodiscard]] bool is_log() const noexcept { return log_; }

  /// At most about `count` labelled ticks, inside the range, in increasing order.
  /// About `count` ticks; `whole`: of whole numbers only.
  [[nodiscard]] std::vector<Tick> ticks(int count, bool whole = false) const;

 private:
  Range range_;
  bool log_;
  double from_;
  double to_;
};

/// The range widened to round numbers (linear) or to whole decades (log). A single value gets room
/// around it; an empty range becomes [0, 1], or [1, 10] for log.
[[nodiscard]] Range rounded(Range range, bool log);

/// Ticks at given values, labelled shortly: 3e-4, 0.001, 10.
[[nodiscard]] std::vector<Tick> ticks_at(std::span<const double> values);

}  // namespace equinorm::lab::report
