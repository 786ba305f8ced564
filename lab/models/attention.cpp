// Attention: one packed projection, LibTorch's fused softmax(q k^T / sqrt(d)) v, one projection
// back.
#include "lab/models/attention.hpp"

#include <ATen/ops/linear.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/scaled_dot_product_attention.h>

namespace equinorm::lab {
namespace {

// (samples, 1, 1 or tokens, tokens): which keys each query sees.
at::Tensor attention_mask(const SequenceLayout& layout) {
  at::Tensor mask = layout.key_mask.view({layout.samples, 1, 1, layout.tokens});
  if (!layout.causal) return mask;
  return mask.logical_and(at::ones({layout.tokens, layout.tokens}, at::kBool).tril());
}

}  // namespace

Attention::Attention(const std::string& prefix, int layer, std::int64_t width, std::int64_t heads,
                     ParameterStore& parameters)
    : heads_(heads) {
  const auto d = static_cast<double>(width);
  // Three square matrices in one, hence the fans of one of them.
  qkv_weight_ = parameters.xavier({prefix + ".qkv.weight", ParameterKind::qkv, layer},
                                  {3 * width, width}, d, d);
  qkv_bias_ =
      parameters.constant({prefix + ".qkv.bias", ParameterKind::qkv, layer}, {3 * width}, 0);
  out_weight_ =
      parameters.xavier({prefix + ".out.weight", ParameterKind::out, layer}, {width, width}, d, d);
  out_bias_ = parameters.constant({prefix + ".out.bias", ParameterKind::out, layer}, {width}, 0);
}

at::Tensor Attention::forward(const at::Tensor& x, const SequenceLayout& layout) const {
  const std::int64_t width = x.size(1);
  const at::Tensor qkv = at::linear(x, qkv_weight_, qkv_bias_)
                             .view({layout.samples, layout.tokens, 3, heads_, width / heads_})
                             .permute({2, 0, 3, 1, 4});
  const bool masked = layout.key_mask.defined();
  const std::optional<at::Tensor> mask =
      masked ? std::optional<at::Tensor>(attention_mask(layout)) : std::nullopt;
  const at::Tensor mixed = at::scaled_dot_product_attention(
      qkv.select(0, 0), qkv.select(0, 1), qkv.select(0, 2), mask, 0.0, layout.causal && !masked);
  return at::linear(mixed.transpose(1, 2).reshape({x.size(0), width}), out_weight_, out_bias_);
}

}  // namespace equinorm::lab
