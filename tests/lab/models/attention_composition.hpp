// Masked multi-head attention in elementary operators, for tests to compare with.
#pragma once

#include <limits>

#include "block_checks.hpp"
#include "lab/models/block_attention.hpp"

namespace equinorm::lab {

/// x (samples, tokens, width) with the packed projection and the output projection under `prefix`.
inline at::Tensor composed_attention(const at::Tensor& x, std::int64_t heads,
                                     const AttentionMask& mask, const ParameterStore& parameters,
                                     const std::string& prefix) {
  const auto project = [&](const at::Tensor& t, const std::string& name) {
    return at::matmul(t, find(parameters, prefix + name + ".weight").t()) +
           find(parameters, prefix + name + ".bias");
  };
  const auto qkv = project(x, ".qkv").chunk(3, 2);
  const std::int64_t size = x.size(2) / heads;
  std::vector<at::Tensor> mixed;
  for (std::int64_t head = 0; head < heads; ++head) {
    const auto part = [&](int which) { return qkv[which].narrow(2, head * size, size); };
    at::Tensor scores =
        at::matmul(part(0), part(1).transpose(1, 2)) / std::sqrt(static_cast<double>(size));
    constexpr double kNever = -std::numeric_limits<double>::infinity();
    if (mask.causal) {
      const auto later = at::ones({x.size(1), x.size(1)}, at::kBool).triu(1);
      scores = scores.masked_fill(later, kNever);
    }
    if (mask.real_keys.defined()) {
      scores = scores.masked_fill(mask.real_keys.logical_not().unsqueeze(1), kNever);
    }
    mixed.push_back(at::matmul(scores.softmax(2), part(2)));
  }
  return project(at::cat(mixed, 2), ".out");
}

/// Padding at the end of some samples.
inline AttentionMask small_mask(std::int64_t samples, std::int64_t tokens) {
  AttentionMask mask{false, at::ones({samples, tokens}, at::kBool)};
  mask.real_keys[0][tokens - 1] = false;
  mask.real_keys[samples - 1].slice(0, 1).fill_(false);
  return mask;
}

}  // namespace equinorm::lab
