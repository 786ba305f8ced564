// The ConvNeXt block.
#include "lab/models/convnext.hpp"

#include <ATen/ops/gelu.h>

namespace equinorm::lab {

ConvNextBlock::ConvNextBlock(const std::string& prefix, int layer, const ConvNextOptions& options,
                             ParameterStore& parameters)
    : depthwise_(prefix + ".depthwise", layer,
                 {.inputs = options.channels,
                  .outputs = options.channels,
                  .kernel = 7,
                  .groups = options.channels},
                 parameters),
      norm_(make_image_norm(options.norm,
                            {.prefix = prefix + ".norm",
                             .layer = layer,
                             .channels = options.channels,
                             .height = options.height,
                             .width = options.width,
                             .groups = options.groups},
                            parameters)),
      expand_(prefix + ".expand", layer,
              {.inputs = options.channels, .outputs = 4 * options.channels, .kernel = 1},
              parameters),
      reduce_(prefix + ".reduce", layer,
              {.inputs = 4 * options.channels, .outputs = options.channels, .kernel = 1},
              parameters),
      layer_scale_(parameters.constant({prefix + ".layer_scale", ParameterKind::gamma, layer},
                                       {options.channels}, options.layer_scale)) {}

at::Tensor ConvNextBlock::forward(const at::Tensor& x, bool training) const {
  const at::Tensor inner = normalize(norm_, depthwise_.forward(x), training);
  const at::Tensor branch = reduce_.forward(at::gelu(expand_.forward(inner)));
  return x + layer_scale_.view({-1, 1, 1}) * branch;
}

}  // namespace equinorm::lab
