// The Transformer. The stream is one matrix (samples * tokens, width) throughout, so that norms and
// linear layers see plain rows.
#include "lab/models/transformer.hpp"

#include <ATen/ops/embedding.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/linear.h>

#include <cmath>
#include <utility>

#include "lab/error.hpp"

namespace equinorm::lab {
namespace {

at::Tensor normalize(const std::unique_ptr<NormLayer>& norm, const at::Tensor& x,
                     const ForwardContext& context) {
  if (!norm) return x;
  const Section section(context, Part::norm);
  return norm->forward(x, context);
}

}  // namespace

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

Transformer::Transformer(const TransformerOptions& options)
    : options_(options), parameters_(options.seed, options.dtype) {
  const std::int64_t d = options.width;
  const auto width = static_cast<double>(d);
  const ParameterId embedding{"embedding.weight", ParameterKind::embedding};
  if (options.vocabulary > 0) {
    embedding_ = parameters_.normal(embedding, {options.vocabulary, d});
  } else {
    embedding_ = parameters_.xavier(embedding, {d, options.features},
                                    static_cast<double>(options.features), width);
    embedding_bias_ = parameters_.constant({"embedding.bias", ParameterKind::embedding}, {d}, 0);
  }
  positions_ = sinusoidal_positions(options.tokens, d, options.dtype);
  for (int i = 0; i < options.depth; ++i) {
    const std::string prefix = "layers." + std::to_string(i);
    Attention attention(prefix, i, d, options.heads, parameters_);
    auto norm1 = make_norm(options.norm, {prefix + ".norm1", i, d}, parameters_);
    FeedForward ffn(prefix, i, d, options.ffn, parameters_);
    auto norm2 = make_norm(options.norm, {prefix + ".norm2", i, d}, parameters_);
    layers_.push_back({std::move(attention), std::move(norm1), std::move(ffn), std::move(norm2)});
  }
  if (options.placement == "pre") {
    final_norm_ = make_norm(options.norm, {"final_norm", -1, d}, parameters_);
  } else if (options.placement != "post") {
    throw UsageError("placement = '" + options.placement + "': must be pre or post");
  }
  head_weight_ = parameters_.xavier({"head.weight", ParameterKind::head}, {options.outputs, d},
                                    width, static_cast<double>(options.outputs));
  head_bias_ = parameters_.constant({"head.bias", ParameterKind::head}, {options.outputs}, 0);
}

at::Tensor Transformer::embed(const at::Tensor& input, const ForwardContext& context) const {
  const std::int64_t tokens = input.size(1);
  const at::Tensor x = options_.vocabulary > 0 ? at::embedding(embedding_, input)
                                               : at::linear(input, embedding_, embedding_bias_);
  const at::Tensor placed = x + positions_.slice(0, 0, tokens);
  return dropout(placed.view({input.size(0) * tokens, options_.width}), options_.dropout, context);
}

at::Tensor Transformer::run_layers(at::Tensor x, const SequenceLayout& layout,
                                   const ForwardContext& context) {
  const bool pre = options_.placement == "pre";
  const auto sublayer = [&](int index, Part part, const std::unique_ptr<NormLayer>& norm,
                            auto&& function) {
    const at::Tensor input = pre ? normalize(norm, x, context) : x;
    at::Tensor branch;
    {
      const Section section(context, part);
      branch = dropout(function(input), options_.dropout, context);
    }
    if (context.observer != nullptr) context.observer->saw_branch(index, branch, x);
    x = x + branch;
    if (!pre) x = normalize(norm, x, context);
  };
  for (int i = 0; i < static_cast<int>(layers_.size()); ++i) {
    const Layer& layer = layers_[static_cast<std::size_t>(i)];
    sublayer(i, Part::attention, layer.norm1,
             [&](const at::Tensor& input) { return layer.attention.forward(input, layout); });
    sublayer(i, Part::ffn, layer.norm2,
             [&](const at::Tensor& input) { return layer.ffn.forward(input); });
    if (context.observer != nullptr) context.observer->saw_layer(i, x);
  }
  return normalize(final_norm_, x, context);
}

at::Tensor Transformer::pool(const at::Tensor& x, const SequenceLayout& layout) const {
  const at::Tensor grouped = x.view({layout.samples, layout.tokens, options_.width});
  if (!layout.key_mask.defined()) return grouped.mean(1);
  const at::Tensor mask = layout.key_mask.unsqueeze(2);
  return grouped.masked_fill(mask.logical_not(), 0).sum(1) / mask.sum(1);
}

at::Tensor Transformer::forward(const at::Tensor& input, ForwardContext context,
                                const at::Tensor& key_mask) {
  const SequenceLayout layout{input.size(0), input.size(1), options_.causal, key_mask};
  if (key_mask.defined()) context.real_rows = key_mask.flatten().nonzero().flatten();
  at::Tensor x = run_layers(embed(input, context), layout, context);
  if (!options_.causal) x = pool(x, layout);
  return at::linear(x, head_weight_, head_bias_);
}

}  // namespace equinorm::lab
