// One LSTM layer (lstm.hpp) over vectors or words, and a linear map of its last state or of every
// one. No loss.
//
// The one trap: behind the last real token of a sample the state stays as it is, so that the last
// step holds the state of every sample.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <string>

#include "lab/models/embedding.hpp"
#include "lab/models/lstm.hpp"
#include "lab/models/output_layer.hpp"
#include "lab/models/parameters.hpp"

namespace equinorm::lab {

struct LstmClassifierOptions {
  std::string norm = "none";  ///< one of lstm_norm_names()
  InputShape input;           ///< ids, or vectors of so many features; tokens at most
  std::int64_t width = 48;
  double initial_gain = 0;   ///< gamma_0; 0: the norm's own
  bool every_state = false;  ///< an output per token, which sees those before it and itself
  std::int64_t outputs = 0;
  std::uint64_t seed = 0;
  at::ScalarType dtype = at::kFloat;
};

class LstmClassifier {
 public:
  explicit LstmClassifier(const LstmClassifierOptions& options);

  /// ids (samples, tokens) or vectors (samples, tokens, features); mask bool (samples, tokens),
  /// true for real tokens, or undefined -> (samples, outputs), or (samples * tokens, outputs).
  [[nodiscard]] at::Tensor forward(const at::Tensor& input, bool training,
                                   const at::Tensor& mask = {}) const;

  [[nodiscard]] const std::vector<Parameter>& parameters() const { return parameters_.all(); }

 private:
  bool every_state_;
  ParameterStore parameters_;
  at::Tensor table_;  ///< (vocabulary, width), or undefined
  Lstm lstm_;
  OutputLayer head_;
};

}  // namespace equinorm::lab
