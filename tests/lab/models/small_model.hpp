// Small Transformers and inputs for tests of the model code.
#pragma once

#include <torch/torch.h>

#include <string>
#include <utility>
#include <vector>

#include "lab/models/encoder_decoder.hpp"
#include "lab/models/placement.hpp"
#include "lab/models/transformer.hpp"

namespace equinorm::lab {

// As in training; threads would only get into the way of such small tensors.
inline const bool kOneThread = (at::set_num_threads(1), true);

inline const std::vector<std::pair<std::string, std::string>>& all_arms() {
  static const std::vector<std::pair<std::string, std::string>> arms = {
      {"none", "pre"},
      {"batch", "pre"},
      {"batch", "post"},
      {"layer", "pre"},
      {"layer", "post"},
      {"rms", "pre"},
      {"rms", "post"},
      {"DyT", "pre"},
      {"BlendedLayerNorm", "post"},
      {"PerStepBatchNorm", "post"}};
  return arms;
}

/// The arms above, and every placement with a norm of rows. PowerNorm is in neither: each training
/// pass changes the next one (norm_layer_test.cpp).
inline const std::vector<std::pair<std::string, std::string>>& all_placements() {
  static const std::vector<std::pair<std::string, std::string>> arms = [] {
    auto all = all_arms();
    for (const std::string& placement : placement_names()) all.emplace_back("layer", placement);
    return all;
  }();
  return arms;
}

/// Whether samples see each other in training.
inline bool sees_the_batch(const std::string& norm) {
  return norm == "batch" || norm == "PerStepBatchNorm";
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

inline EncoderDecoderOptions small_pair(const std::pair<std::string, std::string>& arm) {
  EncoderDecoderOptions options;
  options.norm = arm.first;
  options.placement = arm.second;
  options.encoder_depth = 3;
  options.decoder_depth = 2;
  options.width = 8;
  options.heads = 2;
  options.ffn = 12;
  options.source = {0, 5, 6};
  options.target = {7, 0, 6};
  options.outputs = 7;
  options.seed = 5;
  options.dtype = at::kDouble;
  return options;
}

/// Moves the parameters away from the zeros and ones they start at, where some derivatives vanish.
inline void disturb(const std::vector<Parameter>& parameters, double amount) {
  auto generator = at::make_generator<at::CPUGeneratorImpl>(17);
  const at::NoGradGuard no_grad;
  for (const Parameter& parameter : parameters) {
    parameter.value.add_(at::randn(parameter.value.sizes(), generator, parameter.value.options()),
                         amount);
  }
}

}  // namespace equinorm::lab
