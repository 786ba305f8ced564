#include "lab/models/lstm_classifier.hpp"

#include <ATen/ops/embedding.h>

namespace equinorm::lab {
namespace {

LstmOptions lstm_options(const LstmClassifierOptions& options) {
  LstmOptions lstm;
  lstm.norm = options.norm;
  lstm.features = options.input.vocabulary > 0 ? options.width : options.input.features;
  lstm.width = options.width;
  if (options.initial_gain > 0) lstm.initial_gain = options.initial_gain;
  lstm.averaged_steps = options.input.tokens;
  return lstm;
}

at::Tensor make_table(const LstmClassifierOptions& options, ParameterStore& parameters) {
  if (options.input.vocabulary == 0) return {};
  return parameters.normal({"embedding.weight", ParameterKind::embedding},
                           {options.input.vocabulary, options.width});
}

}  // namespace

// The members are made in the order of their declaration.
LstmClassifier::LstmClassifier(const LstmClassifierOptions& options)
    : every_state_(options.every_state),
      parameters_(options.seed, options.dtype),
      table_(make_table(options, parameters_)),
      lstm_("lstm", 0, lstm_options(options), parameters_),
      head_(options.width, options.outputs, parameters_) {}

at::Tensor LstmClassifier::forward(const at::Tensor& input, bool training,
                                   const at::Tensor& mask) const {
  const at::Tensor x = table_.defined() ? at::embedding(table_, input) : input;
  Lstm::Extra extra;
  extra.training = training;
  if (mask.defined()) extra.mask = mask.t().contiguous();
  const LstmOutput states = lstm_.forward(x.transpose(0, 1).contiguous(), extra);
  if (!every_state_) return head_.forward(states.hidden.select(0, -1));
  return head_.forward(states.hidden.transpose(0, 1).flatten(0, 1));
}

}  // namespace equinorm::lab
