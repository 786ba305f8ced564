// What the layers of one stack are built from. The encoder classifier, the language model and both
// halves of the encoder-decoder fill it in; nothing here is a setting of a whole model.
//
// The one trap: `first_layer` counts layers over the whole model, so that a decoder behind an
// encoder reports its gradients as layers of their own.
#pragma once

#include <cstdint>
#include <string>

#include "lab/models/norm_layer.hpp"
#include "lab/models/parameters.hpp"
#include "lab/models/placement.hpp"

namespace equinorm::lab {

struct LayerOptions {
  const Placement* placement = nullptr;
  StackConstants constants;
  std::string norm = "layer";
  NormChoice norm_choice;
  std::string qk_norm = "none";  ///< one of qk_norm_names()
  std::string prefix;            ///< of parameter names: "", "encoder." or "decoder."
  int first_layer = 0;
  std::int64_t depth = 0;
  std::int64_t width = 0;
  std::int64_t heads = 0;
  std::int64_t ffn = 0;
  std::int64_t tokens = 0;  ///< of the longest sequence; qk_norm "l2" looks at it
  double dropout = 0;
  std::string dropout_place = "branch";  ///< or "norm_input", "norm_output"
  bool causal = false;                   ///< self-attention looks at no later token
  bool cross = false;                    ///< layers also attend to the states of an encoder

  /// The norm's name where the placement has norms at all.
  [[nodiscard]] std::string norm_name() const { return has_norm(*placement) ? norm : "none"; }
  /// Where one of the placement's norms belongs.
  [[nodiscard]] NormPlace norm_place(const std::string& name, int layer, std::int64_t size) const {
    return {name, layer, size, placement->gain, false, norm_choice};
  }
  [[nodiscard]] Draw draw() const {
    return placement->initialization == Initialization::normal ? Draw::normal : Draw::uniform;
  }
};

/// A layer's own place in the model.
struct LayerPlace {
  std::string prefix;  ///< "encoder.layers.3"
  int layer = 0;
};

}  // namespace equinorm::lab
