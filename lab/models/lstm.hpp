// LSTM layers with a norm inside the cell, by name:
//
//   none              (f, i, o, g) = W_x x + W_h h + b; c = sig(f) c + sig(i) tanh(g);
//                     h = sig(o) tanh(c) (Hochreiter and Schmidhuber 1997, with forget gate)
//   ba2016            (f, i, o, g) = LN(W_h h) + LN(W_x x) + b; h = sig(o) tanh(LN(c)), c carried
//                     as it is (Ba, Kiros, Hinton 2016)
//   carry_normalized  the same, but LN(c) is carried on (PyTorch's fastrnns sample)
//   per_gate          one LN per gate on W_x x + W_h h, LN(c) carried on (TensorFlow's cell)
//   output_only       h = sig(o) tanh(LN(c)), no other norm
//   input_only        LN(W_x x), no other norm
//   batch_per_step    ba2016 with batch normalization, statistics of each time step alone, initial
//                     gain 0.1 (Cooijmans et al. 2016)
//
// The norms on gates have a gain and share the bias b; the one on c has a gain and a bias. Not
// here: models built from the layer, and its arithmetic (lstm_sequence.hpp).
//
// The one trap: the initial gain gamma_0 decides how much of tanh and sig is used at the start; it
// is an option, and its default is 1 but for batch_per_step.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "lab/models/lstm_sequence.hpp"
#include "lab/models/parameters.hpp"

namespace equinorm::lab {

struct LstmOptions {
  std::string norm = "ba2016";
  std::int64_t features = 0;
  std::int64_t width = 0;
  std::optional<double> initial_gain;  ///< gamma_0; without it 1, for batch_per_step 0.1
  double forget_bias = 1;
  double eps = 1e-5;
  /// Steps that have averages of their own in batch_per_step; at least 1.
  std::int64_t averaged_steps = 1;
};

/// The names above, in that order.
std::vector<std::string> lstm_norm_names();

class Lstm {
 public:
  /// Throws UsageError for a norm that is not in lstm_norm_names().
  Lstm(const std::string& prefix, int layer, const LstmOptions& options,
       ParameterStore& parameters);

  /// What a call may have besides its input; undefined states are zeros.
  struct Extra {
    bool training = false;  ///< batch_per_step: the batch's own statistics
    at::Tensor mask{};      ///< bool (steps, samples), true for real tokens; undefined: all are
    at::Tensor hidden{};    ///< (samples, width)
    at::Tensor cell{};      ///< (samples, width)
  };

  /// x (steps, samples, features). A padded step keeps h and c; its x must be finite.
  [[nodiscard]] LstmOutput forward(const at::Tensor& x, const Extra& extra) const;

  /// Parameters, for reading.
  [[nodiscard]] const at::Tensor& input_weight() const { return input_weight_; }
  [[nodiscard]] const LstmTensors& tensors() const { return tensors_; }
  [[nodiscard]] const LstmSettings& settings() const { return settings_; }

 private:
  void make_norms(const std::string& prefix, int layer, double gain, ParameterStore& parameters);
  void make_averages(const LstmOptions& options, at::ScalarType dtype);

  std::int64_t width_;
  at::Tensor input_weight_;  ///< W_x, (4 width, features)
  LstmTensors tensors_;      ///< the parameters; what depends on a call is filled in there
  LstmSettings settings_;
};

}  // namespace equinorm::lab
