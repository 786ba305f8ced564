// Norms of attention heads (QK-norm) where q and k lie, as in a packed projection of q, k and v.
//
// The one trap: in Henry's form the learned factor takes the place of 1 / sqrt(width) in the
// scores; the norm here only makes the heads of q and k unit vectors (Spread::length).
#pragma once

#include "equinorm/context.hpp"
#include "equinorm/grouped_norm.hpp"
#include "equinorm/status.hpp"
#include "equinorm/types.hpp"

namespace equinorm {

/// Element (t, h, i) at data + t * token_stride + h * head_stride + i elements.
struct ConstHeads {
  const void* data = nullptr;
  DType dtype = DType::f32;
  std::int64_t tokens = 0;
  std::int64_t heads = 0;
  std::int64_t width = 0;
  std::int64_t token_stride = 0;
  std::int64_t head_stride = 0;
};

struct Heads {
  void* data = nullptr;
  DType dtype = DType::f32;
  std::int64_t tokens = 0;
  std::int64_t heads = 0;
  std::int64_t width = 0;
  std::int64_t token_stride = 0;
  std::int64_t head_stride = 0;

  operator ConstHeads() const noexcept {
    return {data, dtype, tokens, heads, width, token_stride, head_stride};
  }
};

/// Each head of each token normalized by `form` over its width: RMS or LayerNorm with learned gain
/// (Dehghani 2023, ViT-22B; OLMo 2), or the length (Henry 2020).
/// gamma and beta (width), shared by all heads, or with a group_stride one set per head; dgamma and
/// dbeta likewise. Types, bounds and aliasing (y may be x itself) as grouped_norm_forward.
struct HeadNormForward {
  RowForm form;
  ConstHeads x;
  ConstGroupedVector gamma;
  ConstGroupedVector beta;
  Heads y;
};
Status head_norm_forward(const HeadNormForward& args, Context& context) noexcept;

struct HeadNormBackward {
  RowForm form;
  ConstHeads dy;
  ConstHeads x;
  ConstGroupedVector gamma;
  Heads dx;
  GroupedVector dgamma;
  GroupedVector dbeta;
};
Status head_norm_backward(const HeadNormBackward& args, Context& context) noexcept;

}  // namespace equinorm
