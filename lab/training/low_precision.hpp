// The precision of a run: what stands around each pass so that it computes in less than f32, and
// the scale of the loss.
//
// Weights and Adam's state stay in f32; a pass sees the weights as the format holds them, and
// gradients of weights are rounded to it. The loss itself is taken in f32, as mixed precision does.
#pragma once

#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "lab/models/parameters.hpp"
#include "lab/models/rounding.hpp"

namespace equinorm::lab {

class LowPrecision {
 public:
  /// `precision`: one of kPrecisions.
  LowPrecision(const std::string& precision, const std::vector<Parameter>& parameters);

  /// Around the passes of one training step or one evaluation; weights are f32 again at its end.
  class Pass {
   public:
    /// `step`: of training, whose rounding is counted; 0 in evaluations.
    explicit Pass(LowPrecision& precision, int step = 0);
    ~Pass();
    Pass(const Pass&) = delete;
    Pass& operator=(const Pass&) = delete;

   private:
    LowPrecision& precision_;
    std::optional<Rounding::Scope> scope_;
    std::vector<at::Tensor> weights_;
  };

  void round_gradients();

  /// "overflow_share", "underflow_share", "silent_zero_share" of the values that were rounded;
  /// empty where none were.
  [[nodiscard]] std::map<std::string, double> metrics() const;
  /// "first_not_finite", "first_silent_zero": module, direction and step.
  [[nodiscard]] std::map<std::string, std::string> notes() const;
  /// Counts of each module in each direction; null where nothing was rounded.
  [[nodiscard]] nlohmann::ordered_json modules() const;

 private:
  const std::vector<Parameter>& parameters_;
  std::optional<Rounding> rounding_;
  bool autocast_ = false;
};

/// The dynamic loss scale of PyTorch's GradScaler: halved by a step whose gradients are not finite,
/// doubled after 2,000 steps without one.
class LossScale {
 public:
  explicit LossScale(double start) : scale_(start > 0 ? start : 1), dynamic_(start > 0) {}

  [[nodiscard]] double value() const { return scale_; }
  [[nodiscard]] bool dynamic() const { return dynamic_; }
  [[nodiscard]] int skipped() const { return skipped_; }
  /// True when the step is to be left out; never at a scale of 2^-24, which no gradient needs.
  bool skips(bool finite);

 private:
  double scale_;
  bool dynamic_;
  int skipped_ = 0;
  int since_change_ = 0;
};

}  // namespace equinorm::lab
