// Inputs as rows of the stream: ids by a table or vectors by a matrix, plus sinusoidal positions, a
// norm where the placement has one there, dropout.
//
// The one trap: the table isn't multiplied by sqrt(width); instead its values start at unit
// variance.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <memory>

#include "lab/models/forward_context.hpp"
#include "lab/models/layer_options.hpp"
#include "lab/models/norm_layer.hpp"
#include "lab/models/parameters.hpp"

namespace equinorm::lab {

/// Sizes of an embedding's input.
struct InputShape {
  std::int64_t vocabulary = 0;  ///< of ids, otherwise 0; then inputs are vectors of `features`
  std::int64_t features = 0;
  std::int64_t tokens = 0;  ///< at most, per sample
};

class Embedding {
 public:
  Embedding(const InputShape& input, const LayerOptions& options, ParameterStore& parameters);

  /// ids (samples, tokens) or vectors (samples, tokens, features) -> (samples * tokens, width);
  /// the first token stands at position `first`.
  [[nodiscard]] at::Tensor forward(const at::Tensor& input, std::int64_t first,
                                   const ForwardContext& context) const;

 private:
  std::int64_t width_;
  double dropout_;
  at::Tensor weight_;
  at::Tensor bias_;       ///< undefined for ids
  at::Tensor positions_;  ///< (tokens, width)
  std::unique_ptr<NormLayer> norm_;
};

/// Sinusoidal positions (Vaswani et al. 2017): sin on even and cos on odd columns, wavelengths from
/// 2 pi to 10000 * 2 pi.
at::Tensor sinusoidal_positions(std::int64_t tokens, std::int64_t width, at::ScalarType dtype);

}  // namespace equinorm::lab
