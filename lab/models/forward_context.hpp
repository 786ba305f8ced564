// What a forward pass needs besides its input: mode, dropout's random numbers, and who watches.
#pragma once

#include <ATen/core/Tensor.h>

#include "lab/models/random.hpp"

namespace equinorm::lab {

/// Parts of a step whose time is told apart.
enum class Part { norm, attention, ffn, other };

/// Watches forward passes; a null observer costs one comparison per call site.
class ForwardObserver {
 public:
  virtual ~ForwardObserver() = default;
  virtual void begin(Part part) = 0;
  virtual void end(Part part) = 0;
  /// One sublayer's branch before it is added, and the stream that it is added to.
  virtual void saw_branch(int layer, const at::Tensor& branch, const at::Tensor& stream) = 0;
  /// The stream behind a layer.
  virtual void saw_layer(int layer, const at::Tensor& stream) = 0;
};

/// Variance behind the sublayers that a profiling pass has seen (Admin, Liu et al. 2020).
struct VarianceProfile {
  double variance = 1;
};

struct ForwardContext {
  bool training = false;
  Random* random = nullptr;  ///< of dropout; may be null where dropout is off
  ForwardObserver* observer = nullptr;
  /// Rows of the flattened (samples x tokens) input that hold real tokens, as indices; undefined
  /// where all do. Only batch normalization looks at it.
  at::Tensor real_rows;
  /// Set while a pass chooses the residual weights of Admin; dropout is off then.
  VarianceProfile* profile = nullptr;
};

/// The context of a stack whose input has this mask: bool (samples, tokens), true for real tokens;
/// undefined: all are.
inline ForwardContext for_tokens(ForwardContext context, const at::Tensor& key_mask) {
  context.real_rows = key_mask.defined() ? key_mask.flatten().nonzero().flatten() : at::Tensor{};
  return context;
}

/// Brackets the code of one part. Parts do not nest.
class Section {
 public:
  Section(const ForwardContext& context, Part part) : observer_(context.observer), part_(part) {
    if (observer_ != nullptr) observer_->begin(part_);
  }
  ~Section() {
    if (observer_ != nullptr) observer_->end(part_);
  }
  Section(const Section&) = delete;
  Section& operator=(const Section&) = delete;

 private:
  ForwardObserver* observer_;
  Part part_;
};

/// Zeroes elements with probability p in training and scales the others by 1 / (1 - p).
at::Tensor dropout(const at::Tensor& x, double p, const ForwardContext& context);

}  // namespace equinorm::lab
