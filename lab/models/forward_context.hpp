// What a forward pass needs besides its input: mode, dropout's random numbers, and who watches.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

#include "lab/models/random.hpp"

namespace equinorm {
struct RowForm;
}

namespace equinorm::lab {

/// Parts of a step whose time is told apart.
enum class Part { norm, attention, ffn, other };

/// What scores are made of: scale q k^T, and which of them count.
struct AttentionInput {
  at::Tensor query;  ///< (samples, heads, tokens, width of a head), as scores take it
  at::Tensor key;    ///< (samples, heads, keys, width of a head)
  double scale = 1;
  at::Tensor mask;      ///< bool, true where a query sees a key; or undefined
  bool causal = false;  ///< without a mask: no query sees a later key
};

/// What a norm over a batch reads in training, and its averages before it does.
struct BatchInput {
  at::Tensor x;                 ///< (samples, ..., width)
  at::Tensor real;              ///< bool (samples, ...), true for real rows; undefined: all are
  at::Tensor running_mean;      ///< (..., width); undefined: the variance is about 0
  at::Tensor running_variance;  ///< (..., width)
};

/// Watches forward passes and overrides what it needs; a null observer costs one comparison per
/// call site. Layer -1 is outside the layers.
class ForwardObserver {
 public:
  virtual ~ForwardObserver() = default;
  virtual void begin(Part /*part*/) {}
  virtual void end(Part /*part*/) {}
  /// One sublayer's branch before it is added, and the stream that it is added to.
  virtual void saw_branch(int /*layer*/, const at::Tensor& /*branch*/,
                          const at::Tensor& /*stream*/) {}
  /// The stream behind a layer.
  virtual void saw_layer(int /*layer*/, const at::Tensor& /*stream*/) {}
  /// What a norm of rows reads, (rows, width).
  virtual void saw_rows(int /*layer*/, const at::Tensor& /*x*/, const RowForm& /*form*/) {}
  virtual void saw_batch(int /*layer*/, const BatchInput& /*input*/) {}
  virtual void saw_attention(int /*layer*/, const AttentionInput& /*input*/) {}
  /// Outputs (targets, kinds) that a cross-entropy takes, and the targets' ids.
  virtual void saw_logits(const at::Tensor& /*logits*/, const at::Tensor& /*target*/) {}
};

/// Variance behind the sublayers that a profiling pass has seen (Admin, Liu et al. 2020).
struct VarianceProfile {
  double variance = 1;
};

struct ForwardContext {
  bool training = false;
  bool dropout = true;       ///< in training
  Random* random = nullptr;  ///< of dropout; may be null where dropout is off
  ForwardObserver* observer = nullptr;
  /// Rows of the flattened (samples x tokens) input that hold real tokens, as indices; undefined
  /// where all do. Only norms over a batch look at it.
  at::Tensor real_rows{};
  /// Tokens per sample of that input, and the place of the first one in its sample: not 0 behind
  /// others in a cache.
  std::int64_t tokens = 0;
  std::int64_t first_token = 0;
  /// Steps of training until the learning rate is full; PowerNorm's warm-up is as long.
  std::int64_t warmup_steps = 0;
  /// Set while a pass chooses the residual weights of Admin; dropout is off then.
  VarianceProfile* profile = nullptr;
};

/// The context of a stack whose input has so many tokens per sample, and this mask: bool (samples,
/// tokens), true for real tokens; undefined: all are.
inline ForwardContext for_tokens(ForwardContext context, std::int64_t tokens,
                                 const at::Tensor& key_mask) {
  context.tokens = tokens;
  context.real_rows = key_mask.defined() ? key_mask.flatten().nonzero().flatten() : at::Tensor{};
  return context;
}

/// The context of evaluation with `first_token` tokens per sample in a cache.
inline ForwardContext for_step(std::int64_t tokens, std::int64_t first_token) {
  ForwardContext context;
  context.tokens = tokens;
  context.first_token = first_token;
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
