// One LSTM layer over a whole sequence as one autograd function: per time step one matrix product,
// the norms by Equinorm's kernels and one pass over the gates, with a backward pass written by
// hand.
//
//   a = norm_in(z_x) + norm_hidden(h W_h^T);  (f, i, o, g) = norm_gates(a) + b
//   c_raw = sig(f) c + sig(i) tanh(g);  c_out = norm_cell(c_raw);  h = sig(o) tanh(c_out)
//
// c_raw or, with carry_normalized, c_out is carried on. Not here: W_x x, which is one matrix
// product for all steps, parameters and the list of named forms (lstm.hpp).
//
// The one trap: a padded step keeps h and c, but its input must still be finite.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

#include "lab/models/step_norm.hpp"

namespace equinorm::lab {

/// Which norms a cell has. A form is data: the step reads it.
struct LstmForm {
  const char* name = "none";
  StepNorm::Kind input = StepNorm::Kind::none;
  StepNorm::Kind hidden = StepNorm::Kind::none;
  StepNorm::Kind gates = StepNorm::Kind::none;
  StepNorm::Kind cell = StepNorm::Kind::none;
  bool carry_normalized = false;
};

/// Tensors of one layer; sizes with H the width, in the order f, i, o, g along 4 H. The gammas and
/// beta of norms that the form lacks stay undefined.
struct LstmTensors {
  at::Tensor projected;     ///< z_x = x W_x^T, (steps, samples, 4 H)
  at::Tensor hidden;        ///< h before the first step, (samples, H)
  at::Tensor cell;          ///< c before the first step, (samples, H)
  at::Tensor weight;        ///< W_h, (4 H, H)
  at::Tensor bias;          ///< b, (4 H)
  at::Tensor input_gamma;   ///< (4 H)
  at::Tensor hidden_gamma;  ///< (4 H)
  at::Tensor gates_gamma;   ///< (4 H)
  at::Tensor cell_gamma;    ///< (H)
  at::Tensor cell_beta;     ///< (H)
};

/// What a layer does besides its tensors.
struct LstmSettings {
  LstmForm form;
  double eps = 1e-5;
  bool training = false;
  at::Tensor mask;  ///< bool (steps, samples), true for real tokens; undefined: all are
  /// Of batch norms: on the input, the hidden state and the cell.
  StepAverages input_averages{};
  StepAverages hidden_averages{};
  StepAverages cell_averages{};
};

struct LstmOutput {
  at::Tensor hidden;  ///< h behind every step, (steps, samples, H)
  at::Tensor cell;    ///< c that is carried out of the last step, (samples, H)
};

/// Types: Double or Float, all tensors alike, on the CPU. Autograd: gradients of all tensors;
/// second derivatives are refused with an error.
LstmOutput lstm_sequence(const LstmTensors& tensors, const LstmSettings& settings);

}  // namespace equinorm::lab
