// Low precision by rounding: numbers live in f32 and are rounded to the values that fp16 or bf16
// has, with what that does counted: values that become infinite, subnormal or 0.
//
// While a Rounding is active on a thread, results are rounded there, in forward and in backward:
//   * with `every_operation`, of each LibTorch operation, as a program does that keeps all its
//     tensors in the format and whose operations compute in f32 inside;
//   * otherwise only what modules give and read, where the model calls stored().
// Norms are between stored() calls in both, so a norm that is one operation of its own keeps its
// inside in f32 (an fp32 island), and one that is composed of LibTorch's operations does not.
//
// The one trap: operations are seen below autograd through a dispatch key that LibTorch leaves
// free; the backward pass is seen because autograd runs it on the calling thread.
#pragma once

#include <ATen/core/Tensor.h>
#include <c10/core/impl/LocalDispatchKeySet.h>

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "lab/models/graph_ranges.hpp"
#include "lab/models/part.hpp"

namespace equinorm::lab {

enum class NumberFormat { f16, bf16 };

/// Operations go by way of this key while every one of them is rounded.
inline constexpr c10::DispatchKey kRoundingKey = c10::DispatchKey::Fake;

struct RoundingCounts {
  std::int64_t elements = 0;
  std::int64_t overflows = 0;     ///< finite, then infinite
  std::int64_t underflows = 0;    ///< then subnormal
  std::int64_t silent_zeros = 0;  ///< not 0, then 0
  std::int64_t nans = 0;

  RoundingCounts& operator+=(const RoundingCounts& other);
};

/// Rounds in place, to nearest, ties to even, values beyond the largest to infinity.
RoundingCounts round_to(NumberFormat format, float* data, std::int64_t size);

/// Where a value is made.
struct ModulePlace {
  int layer = -1;  ///< -1: outside the layers
  Part part = Part::other;
  bool backward = false;

  auto operator<=>(const ModulePlace&) const = default;
};

/// "layers.2.attention, backward"; what is no sublayer and no norm is "layers.2.residual".
std::string name_of(const ModulePlace& place);

class Rounding {
 public:
  Rounding(NumberFormat format, bool every_operation)
      : format_(format), every_operation_(every_operation) {}

  /// That of this thread; null in full precision.
  static Rounding* active() noexcept;

  [[nodiscard]] bool every_operation() const { return every_operation_; }

  /// From here on forward is in this part; `leave` is back in the layer, outside its parts.
  void enter_layer(int layer);
  void enter(Part part);
  void leave();

  /// Rounds in place and counts.
  void round(const at::Tensor& x);
  /// Rounds values of weights, which are no part of the counts.
  void round_weight(const at::Tensor& weight) const;

  /// Counting stops between `pause` and `start_step`. A step's first events get its number.
  void start_step(int step);
  void pause();

  [[nodiscard]] const std::map<ModulePlace, RoundingCounts>& counts() const { return counts_; }
  [[nodiscard]] RoundingCounts total() const;
  /// "layers.0.norm, backward, step 3"; empty where it never happened. Not finite: the first
  /// overflow or NaN.
  [[nodiscard]] const std::string& first_not_finite() const { return first_not_finite_; }
  [[nodiscard]] const std::string& first_silent_zero() const { return first_silent_zero_; }

  /// Makes a Rounding the active one of this thread while it lives.
  class Scope {
   public:
    explicit Scope(Rounding& rounding);
    ~Scope();
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;

   private:
    std::optional<c10::impl::IncludeDispatchKeyGuard> operations_;
  };

 private:
  void move_to(ModulePlace place);
  [[nodiscard]] ModulePlace place() const;
  void note(const ModulePlace& place, const RoundingCounts& counts);

  NumberFormat format_;
  bool every_operation_;
  int step_ = 0;  ///< 0: not counting
  ModulePlace place_;
  GraphRanges<ModulePlace> ranges_;
  std::map<ModulePlace, RoundingCounts> counts_;
  std::string first_not_finite_;
  std::string first_silent_zero_;
};

/// Operations of this thread keep their f32 results while one lives; their gradients do not.
class FullPrecision {
  c10::impl::ExcludeDispatchKeyGuard operations_{kRoundingKey};
};

/// x as a tensor of the active format holds it, and its gradient as well; x itself without one.
at::Tensor stored(const at::Tensor& x);

}  // namespace equinorm::lab
