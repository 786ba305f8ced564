#include "lab/models/diffusion_transformer.hpp"

#include <ATen/ops/arange.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/embedding.h>
#include <ATen/ops/outer.h>
#include <ATen/ops/silu.h>
#include <ATen/ops/stack.h>

#include <algorithm>
#include <cmath>

#include "lab/error.hpp"

namespace equinorm::lab {
namespace {

constexpr std::int64_t kPatch = 2;
constexpr std::int64_t kPatchSize = kPatch * kPatch;
constexpr std::int64_t kContextTokens = 2;

LayerOptions stack_options(const DiffusionTransformerOptions& options) {
  const Placement& placement = placement_named(options.placement);
  LayerOptions layers;
  layers.placement = &placement;
  layers.constants = constants_of(placement, Stack::encoder, {static_cast<int>(options.depth), 0});
  layers.norm = options.norm;
  layers.qk_norm = options.qk_norm;
  layers.depth = options.depth;
  layers.width = options.width;
  layers.heads = options.heads;
  layers.ffn = options.ffn;
  layers.dropout = options.dropout;
  layers.tokens = options.side * options.side / kPatchSize + kContextTokens;
  return layers;
}

// Sines and cosines of the time times 1 to 1000.
at::Tensor time_features(const at::Tensor& times, std::int64_t width) {
  const at::Tensor exponents = at::arange(width / 2, times.options()) / (width / 2);
  const at::Tensor angles = at::outer(times, (exponents * std::log(1000.0)).exp());
  return at::cat({angles.sin(), angles.cos()}, 1);
}

at::Tensor to_patches(const at::Tensor& images) {
  const std::int64_t count = images.size(1) / kPatch;
  return images.reshape({-1, count, kPatch, count, kPatch})
      .transpose(2, 3)
      .reshape({-1, count * count, kPatchSize});
}

at::Tensor from_patches(const at::Tensor& patches, std::int64_t side) {
  const std::int64_t count = side / kPatch;
  return patches.reshape({-1, count, count, kPatch, kPatch})
      .transpose(2, 3)
      .reshape({-1, side, side});
}

}  // namespace

const std::vector<std::string>& conditioning_names() {
  static const std::vector<std::string> names = {"added", "in_context", "ada_ln", "ada_ln_zero"};
  return names;
}

// The members are made in the order of their declaration.
DiffusionTransformer::DiffusionTransformer(const DiffusionTransformerOptions& options)
    : options_(options),
      parameters_(options.seed, options.dtype),
      embedding_({0, kPatchSize, stack_options(options).tokens}, stack_options(options),
                 parameters_),
      time1_({"time.fc1", ParameterKind::embedding}, {options.width, options.width},
             Linear::Start::xavier, parameters_),
      time2_({"time.fc2", ParameterKind::embedding}, {options.width, options.width},
             Linear::Start::xavier, parameters_),
      class_table_(parameters_.normal({"classes.weight", ParameterKind::embedding},
                                      {options.classes, options.width})) {
  const auto& names = conditioning_names();
  if (std::find(names.begin(), names.end(), options.conditioning) == names.end()) {
    throw UsageError("conditioning = '" + options.conditioning + "': is no way to condition");
  }
  const bool adaptive = options.conditioning.starts_with("ada_ln");
  if (!adaptive) {
    stack_.emplace(stack_options(options), parameters_);
    head_.emplace(ParameterId{"head", ParameterKind::head},
                  Linear::Shape{options.width, kPatchSize}, Linear::Start::zero, parameters_);
    return;
  }
  const AdaLnZeroOptions block{options.width, options.heads, options.ffn, options.width};
  for (int i = 0; i < options.depth; ++i) {
    const std::string prefix = "layers." + std::to_string(i);
    if (options.conditioning == "ada_ln") {
      modulated_.emplace_back(prefix, i, block, parameters_);
    } else {
      gated_.emplace_back(prefix, i, block, parameters_);
    }
  }
  final_.emplace("final", AdaLnZeroFinalLayer::Shape{options.width, options.width, kPatchSize},
                 parameters_);
}

at::Tensor DiffusionTransformer::embed_times(const at::Tensor& times) const {
  return time2_.forward(at::silu(time1_.forward(time_features(times, options_.width))));
}

at::Tensor DiffusionTransformer::through_stack(const at::Tensor& x,
                                               const ForwardContext& context) const {
  const SequenceLayout layout{x.size(0), x.size(1), false, {}};
  const ForwardContext all = for_tokens(context, layout.tokens, {});
  return stack_->forward(x.reshape({-1, options_.width}), layout, nullptr, nullptr, all).view_as(x);
}

at::Tensor DiffusionTransformer::forward(const at::Tensor& images, const at::Tensor& times,
                                         const at::Tensor& classes,
                                         const ForwardContext& context) const {
  const at::Tensor patches = to_patches(images);
  const std::int64_t tokens = patches.size(1);
  at::Tensor x = embedding_.forward(patches, kContextTokens, for_tokens(context, tokens, {}))
                     .view({-1, tokens, options_.width});
  const at::Tensor time = embed_times(times);
  const at::Tensor label = at::embedding(class_table_, classes);
  const at::Tensor c = time + label;
  if (options_.conditioning == "added") {
    x = head_->forward(through_stack(x + c.unsqueeze(1), context));
  } else if (options_.conditioning == "in_context") {
    const at::Tensor all = at::cat({at::stack({time, label}, 1), x}, 1);
    x = head_->forward(through_stack(all, context).slice(1, kContextTokens));
  } else {
    for (const AdaLnBlock& block : modulated_) x = block.forward(x, c);
    for (const AdaLnZeroBlock& block : gated_) x = block.forward(x, c);
    x = final_->forward(x, c);
  }
  return from_patches(x, options_.side);
}

}  // namespace equinorm::lab
