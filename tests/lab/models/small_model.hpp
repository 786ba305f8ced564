// Small Transformers and inputs for tests of the model code.
#pragma once

#include <torch/torch.h>

#include <string>
#include <utility>
#include <vector>

#include "lab/models/transformer.hpp"

namespace equinorm::lab {

// As in training; threads would only get into the way of such small tensors.
inline const bool kOneThread = (at::set_num_threads(1), true);

inline const std::vector<std::pair<std::string, std::string>>& all_arms() {
  static const std::vector<std::pair<std::string, std::string>> arms = {
      {"none", "pre"},   {"batch", "pre"}, {"batch", "post"}, {"layer", "pre"},
      {"layer", "post"}, {"rms", "pre"},   {"rms", "post"}};
  return arms;
}

inline TransformerOptions small_options(const std::pair<std::string, std::string>& arm, bool causal,
                                        at::ScalarType dtype) {
  TransformerOptions options;
  options.norm = arm.first;
  options.placement = arm.second;
  options.depth = 2;
  options.width = 4;
  options.heads = 2;
  options.ffn = 6;
  options.tokens = 6;
  options.vocabulary = causal ? 7 : 0;
  options.features = causal ? 0 : 5;
  options.outputs = causal ? 7 : 3;
  options.causal = causal;
  options.seed = 5;
  options.dtype = dtype;
  return options;
}

inline at::Tensor small_input(const TransformerOptions& options, std::int64_t samples,
                              std::int64_t tokens) {
  auto generator = at::make_generator<at::CPUGeneratorImpl>(11);
  if (options.vocabulary > 0) {
    return at::randint(options.vocabulary, {samples, tokens}, generator, at::kLong);
  }
  return at::randn({samples, tokens, options.features}, generator, options.dtype);
}

}  // namespace equinorm::lab
