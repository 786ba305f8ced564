// Residual networks for small images.
#include "lab/models/resnet.hpp"

#include <ATen/ops/linear.h>

#include <array>
#include <utility>

#include "lab/error.hpp"

namespace equinorm::lab {
namespace {

constexpr std::array<std::pair<const char*, BlockOrder>, 3> kOrders = {{
    {"conv_norm_act", BlockOrder::conv_norm_act},
    {"conv_act_norm", BlockOrder::conv_act_norm},
    {"pre_activation", BlockOrder::pre_activation},
}};

std::int64_t after_stride(std::int64_t size, std::int64_t stride) {
  return (size + stride - 1) / stride;
}

// Of a norm on the block's input, or on its output.
ImageNormPlace norm_place(const std::string& prefix, int layer, const ResNetBlockOptions& options,
                          bool on_input) {
  const std::int64_t stride = on_input ? 1 : options.stride;
  return {.prefix = prefix,
          .layer = layer,
          .channels = on_input ? options.inputs : options.outputs,
          .height = after_stride(options.height, stride),
          .width = after_stride(options.width, stride),
          .groups = options.groups};
}

}  // namespace

std::vector<std::string> block_order_names() {
  std::vector<std::string> names;
  for (const auto& order : kOrders) names.emplace_back(order.first);
  return names;
}

BlockOrder block_order(const std::string& name) {
  std::string names;
  for (const auto& order : kOrders) {
    if (name == order.first) return order.second;
    names += (names.empty() ? "" : ", ") + std::string(order.first);
  }
  throw UsageError("order = '" + name + "': must be one of " + names);
}

ResNetBlock::ResNetBlock(const std::string& prefix, int layer, const ResNetBlockOptions& options,
                         ParameterStore& parameters)
    : order_(options.order),
      conv1_(prefix + ".conv1", layer,
             {.inputs = options.inputs,
              .outputs = options.outputs,
              .stride = options.stride,
              .bias = options.norm == "none"},
             parameters),
      conv2_(
          prefix + ".conv2", layer,
          {.inputs = options.outputs, .outputs = options.outputs, .bias = options.norm == "none"},
          parameters) {
  const bool pre = order_ == BlockOrder::pre_activation;
  norm1_ =
      make_image_norm(options.norm, norm_place(prefix + ".norm1", layer, options, pre), parameters);
  norm2_ = make_image_norm(options.norm, norm_place(prefix + ".norm2", layer, options, false),
                           parameters);
  if (options.stride == 1 && options.inputs == options.outputs) return;
  const bool normalized = !pre && options.norm != "none";
  projection_.emplace(prefix + ".projection", layer,
                      ConvolutionOptions{.inputs = options.inputs,
                                         .outputs = options.outputs,
                                         .kernel = 1,
                                         .stride = options.stride,
                                         .bias = options.norm == "none"},
                      parameters);
  if (normalized) {
    projection_norm_ = make_image_norm(
        options.norm, norm_place(prefix + ".projection_norm", layer, options, false), parameters);
  }
}

at::Tensor ResNetBlock::shortcut(const at::Tensor& x, bool training) const {
  if (!projection_) return x;
  return normalize(projection_norm_, projection_->forward(x), training);
}

at::Tensor ResNetBlock::forward(const at::Tensor& x, bool training) const {
  const auto norm1 = [&](const at::Tensor& t) { return normalize(norm1_, t, training); };
  const auto norm2 = [&](const at::Tensor& t) { return normalize(norm2_, t, training); };
  switch (order_) {
    case BlockOrder::conv_norm_act: {
      const at::Tensor inner = norm1(conv1_.forward(x)).relu();
      return (norm2(conv2_.forward(inner)) + shortcut(x, training)).relu();
    }
    case BlockOrder::conv_act_norm: {
      const at::Tensor inner = norm1(conv1_.forward(x).relu());
      return norm2(conv2_.forward(inner).relu()) + shortcut(x, training);
    }
    case BlockOrder::pre_activation:
      break;
  }
  const at::Tensor start = norm1(x).relu();
  const at::Tensor inner = norm2(conv1_.forward(start)).relu();
  return conv2_.forward(inner) + (projection_ ? shortcut(start, training) : x);
}

ResNet::ResNet(const ResNetOptions& options)
    : order_(block_order(options.order)),
      parameters_(options.seed, options.dtype),
      stem_("stem", -1,
            {.inputs = options.channels, .outputs = options.width, .bias = options.norm == "none"},
            parameters_) {
  const bool pre = order_ == BlockOrder::pre_activation;
  ResNetBlockOptions block{.norm = options.norm,
                           .order = order_,
                           .inputs = options.width,
                           .outputs = options.width,
                           .stride = 1,
                           .height = options.size,
                           .width = options.size,
                           .groups = options.groups};
  if (!pre) {
    stem_norm_ =
        make_image_norm(options.norm, norm_place("stem_norm", -1, block, true), parameters_);
  }
  for (int stage = 0; stage < 3; ++stage) {
    for (std::int64_t i = 0; i < options.blocks; ++i) {
      const int layer = static_cast<int>(blocks_.size());
      block.outputs = options.width << stage;
      block.stride = stage > 0 && i == 0 ? 2 : 1;
      blocks_.emplace_back("blocks." + std::to_string(layer), layer, block, parameters_);
      block.inputs = block.outputs;
      block.height = after_stride(block.height, block.stride);
      block.width = after_stride(block.width, block.stride);
    }
  }
  if (pre) {
    final_norm_ =
        make_image_norm(options.norm, norm_place("final_norm", -1, block, true), parameters_);
  }
  head_weight_ =
      parameters_.xavier({"head.weight", ParameterKind::head}, {options.outputs, block.outputs},
                         static_cast<double>(block.outputs), static_cast<double>(options.outputs));
  head_bias_ = parameters_.constant({"head.bias", ParameterKind::head}, {options.outputs}, 0);
}

at::Tensor ResNet::forward(const at::Tensor& images, bool training) const {
  at::Tensor x = stem_.forward(images);
  switch (order_) {
    case BlockOrder::conv_norm_act:
      x = normalize(stem_norm_, x, training).relu();
      break;
    case BlockOrder::conv_act_norm:
      x = normalize(stem_norm_, x.relu(), training);
      break;
    case BlockOrder::pre_activation:
      break;
  }
  for (const ResNetBlock& block : blocks_) x = block.forward(x, training);
  if (order_ == BlockOrder::pre_activation) x = normalize(final_norm_, x, training).relu();
  return at::linear(x.mean({2, 3}), head_weight_, head_bias_);
}

}  // namespace equinorm::lab
