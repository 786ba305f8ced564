// Norms of queries and keys per head in front of their scores, by name.
//
//   none   scores q k^T / sqrt(d)
//   rms    RMSNorm of q and of k, each with a gain that the heads share; then / sqrt(d) (OLMo 2)
//   layer  the same with LayerNorm without bias (ViT-22B, Dehghani 2023)
//   l2     g q k^T / (|q| |k|), g learned in place of 1 / sqrt(d), one per attention, at the start
//          log2(L^2 - L) for sequences of L tokens (Henry 2020)
//
// Not here: scores. The one trap: a cache of keys holds normalized ones.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <optional>
#include <string>

#include "lab/models/norm_names.hpp"
#include "lab/models/parameters.hpp"

namespace equinorm::lab {

struct QkNormEntry;

/// Where a norm of queries and keys belongs.
struct QkNormPlace {
  std::string prefix;  ///< of parameter names
  int layer = 0;
  std::int64_t width = 0;   ///< of a head
  std::int64_t tokens = 0;  ///< of the longest sequence
};

class QkNorm {
 public:
  /// Throws UsageError for a name that is not in qk_norm_names().
  QkNorm(const std::string& name, const QkNormPlace& place, ParameterStore& parameters);

  /// x (samples, heads, tokens, width of a head), a view of a packed projection -> the same shape;
  /// x itself for "none".
  [[nodiscard]] at::Tensor query(const at::Tensor& x) const;
  [[nodiscard]] at::Tensor key(const at::Tensor& x) const;

  /// What scores are multiplied by; none for 1 / sqrt(d).
  [[nodiscard]] std::optional<double> score_scale() const { return score_scale_; }

 private:
  const QkNormEntry* entry_;  ///< null for "none"
  at::Tensor query_gamma_;    ///< (width), or g (1)
  at::Tensor key_gamma_;      ///< (width), or undefined
  std::optional<double> score_scale_;
};

}  // namespace equinorm::lab
