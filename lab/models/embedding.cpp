// Embeddings of ids and of vectors.
#include "lab/models/embedding.hpp"

#include <ATen/ops/embedding.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/linear.h>

#include <cmath>
#include <string>

#include "lab/error.hpp"

namespace equinorm::lab {

at::Tensor sinusoidal_positions(std::int64_t tokens, std::int64_t width, at::ScalarType dtype) {
  at::Tensor table = at::empty({tokens, width}, at::kDouble);
  auto values = table.accessor<double, 2>();
  for (std::int64_t t = 0; t < tokens; ++t) {
    for (std::int64_t i = 0; i < width; ++i) {
      const double exponent = static_cast<double>(i - i % 2) / static_cast<double>(width);
      const double angle = static_cast<double>(t) / std::pow(10000.0, exponent);
      values[t][i] = i % 2 == 0 ? std::sin(angle) : std::cos(angle);
    }
  }
  return table.to(dtype);
}

Embedding::Embedding(const InputShape& input, const LayerOptions& options,
                     ParameterStore& parameters)
    : width_(options.width),
      dropout_(options.dropout),
      positions_(sinusoidal_positions(input.tokens, options.width, parameters.dtype())) {
  const std::string prefix = options.prefix + "embedding";
  const auto width = static_cast<double>(width_);
  const ParameterId id{prefix + ".weight", ParameterKind::embedding};
  if (input.vocabulary > 0) {
    const bool small = options.placement->initialization == Initialization::small;
    weight_ = parameters.normal(id, {input.vocabulary, width_}, small ? 1 / std::sqrt(width) : 1);
  } else {
    weight_ =
        parameters.xavier(id, {width_, input.features}, static_cast<double>(input.features), width);
    bias_ = parameters.constant({prefix + ".bias", ParameterKind::embedding}, {width_}, 0);
  }
  scale_initial(weight_, options.constants.embeddings);
  if (options.placement->norm_embedding) {
    NormPlace place = options.norm_place(prefix + ".norm", -1, width_);
    place.embedding = true;
    norm_ = make_norm(options.norm_name(), place, parameters);
  }
}

at::Tensor Embedding::forward(const at::Tensor& input, std::int64_t first,
                              const ForwardContext& context) const {
  const std::int64_t tokens = input.size(1);
  if (first + tokens > positions_.size(0)) {
    throw UsageError("tokens = " + std::to_string(first + tokens) +
                     ": the model was made for at most " + std::to_string(positions_.size(0)));
  }
  at::Tensor placed;
  {
    const Section section(context, Part::embedding);
    const at::Tensor x =
        bias_.defined() ? at::linear(input, weight_, bias_) : at::embedding(weight_, input);
    placed = stored(
        (x + positions_.slice(0, first, first + tokens)).view({input.size(0) * tokens, width_}));
  }
  return dropout(normalize(norm_, placed, context), dropout_, context);
}

}  // namespace equinorm::lab
