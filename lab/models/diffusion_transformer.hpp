// A small diffusion Transformer (DiT, Peebles and Xie 2023): it says which noise is in an image,
// given the time of the noise and the class of the image. Images are cut into patches of 2 x 2
// pixels, a token each. Time and class reach it in one of these ways:
//
//   added        their embedding is added to every token; layers as in transformer.hpp, any norm
//   in_context   they are two more tokens in front; layers likewise
//   ada_ln       they give scale and shift of every norm, x + f(modulate(norm(x)))
//   ada_ln_zero  they give a gate on each branch too (ada_ln_zero.hpp)
//
// The linear maps of scale, shift and gate start at zero, as does the output layer of every way.
// Not here: noise schedules, losses and sampling.
//
// The one trap: ada_ln and ada_ln_zero have LayerNorm without gain and bias, whatever the options'
// norm says.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "lab/models/ada_ln.hpp"
#include "lab/models/ada_ln_zero.hpp"
#include "lab/models/embedding.hpp"
#include "lab/models/forward_context.hpp"
#include "lab/models/layer_stack.hpp"
#include "lab/models/linear.hpp"
#include "lab/models/parameters.hpp"

namespace equinorm::lab {

/// "added", "in_context", "ada_ln", "ada_ln_zero".
const std::vector<std::string>& conditioning_names();

struct DiffusionTransformerOptions {
  std::string norm = "layer";
  std::string placement = "pre";
  std::string qk_norm = "none";
  std::string conditioning = "added";
  std::int64_t depth = 4;
  std::int64_t width = 64;
  std::int64_t heads = 4;
  std::int64_t ffn = 256;
  double dropout = 0;     ///< of added and in_context
  std::int64_t side = 8;  ///< of an image, even
  std::int64_t classes = 10;
  std::uint64_t seed = 0;
  at::ScalarType dtype = at::kFloat;
};

class DiffusionTransformer {
 public:
  explicit DiffusionTransformer(const DiffusionTransformerOptions& options);

  /// images (samples, side, side), times (samples) in 0 to 1, classes: ids (samples) -> noise, the
  /// shape of images.
  [[nodiscard]] at::Tensor forward(const at::Tensor& images, const at::Tensor& times,
                                   const at::Tensor& classes, const ForwardContext& context) const;

  [[nodiscard]] const std::vector<Parameter>& parameters() const { return parameters_.all(); }
  [[nodiscard]] const DiffusionTransformerOptions& options() const { return options_; }

 private:
  [[nodiscard]] at::Tensor embed_times(const at::Tensor& times) const;
  [[nodiscard]] at::Tensor through_stack(const at::Tensor& x, const ForwardContext& context) const;

  DiffusionTransformerOptions options_;
  ParameterStore parameters_;
  Embedding embedding_;
  Linear time1_;
  Linear time2_;
  at::Tensor class_table_;
  std::optional<LayerStack> stack_;  ///< of added and in_context
  std::vector<AdaLnBlock> modulated_;
  std::vector<AdaLnZeroBlock> gated_;
  std::optional<AdaLnZeroFinalLayer> final_;  ///< of ada_ln and ada_ln_zero
  std::optional<Linear> head_;                ///< of the others
};

}  // namespace equinorm::lab
