// An LSTM layer over a sequence as one autograd function.
#include "lab/models/lstm_sequence.hpp"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/addmm.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/mm.h>
#include <ATen/ops/stack.h>
#include <ATen/ops/zeros_like.h>
#include <torch/csrc/autograd/custom_function.h>

#include <array>
#include <utility>
#include <vector>

#include "lab/models/lstm_gates.hpp"

namespace equinorm::lab {
namespace {

using ::torch::autograd::AutogradContext;
using ::torch::autograd::variable_list;

// The tensors in the order in which the autograd function takes those that are defined.
using TensorTable = std::array<at::Tensor, 10>;

TensorTable table_of(const LstmTensors& t) {
  return {t.projected,   t.hidden,       t.cell,        t.weight,     t.bias,
          t.input_gamma, t.hidden_gamma, t.gates_gamma, t.cell_gamma, t.cell_beta};
}

LstmTensors tensors_of(const TensorTable& t) {
  return {t[0], t[1], t[2], t[3], t[4], t[5], t[6], t[7], t[8], t[9]};
}

// The four norms of a step.
struct StepNorms {
  StepNorm input, hidden, gates, cell;
};

StepNorms norms_of(const LstmTensors& t, const LstmSettings& s) {
  const auto make = [&s](StepNorm::Kind kind, const at::Tensor& gamma, const at::Tensor& beta,
                         const StepAverages& averages) {
    return StepNorm{kind, gamma, beta, s.eps, s.training, averages};
  };
  return {make(s.form.input, t.input_gamma, {}, s.input_averages),
          make(s.form.hidden, t.hidden_gamma, {}, s.hidden_averages),
          make(s.form.gates, t.gates_gamma, {}, {}),
          make(s.form.cell, t.cell_gamma, t.cell_beta, s.cell_averages)};
}

// What the backward pass of a step reads.
struct StepTape {
  StepPlace place;
  at::Tensor h_before, c_before;
  at::Tensor z_hidden;  // into norm_hidden
  at::Tensor sum;       // into norm_gates
  at::Tensor gates;     // activated
  at::Tensor c_raw;
  at::Tensor tanh_c;
};

struct Call : ::torch::CustomClassHolder {
  LstmSettings settings;
  std::vector<std::size_t> present;  // which of the table's tensors are defined
  std::vector<StepTape> steps;       // of the last forward pass

  [[nodiscard]] GateShape shape(std::int64_t step, const at::Tensor& h) const {
    const at::Tensor& mask = settings.mask;
    const bool* keep = mask.defined() ? mask.const_data_ptr<bool>() + step * mask.size(1) : nullptr;
    return {h.size(0), h.size(1), keep};
  }
};

template <class Function>
void for_type_of(const at::Tensor& x, Function&& function) {
  if (x.scalar_type() == at::kDouble) {
    function(double{});
  } else {
    function(float{});
  }
}

struct State {
  at::Tensor h, c;
};

// One step forward; fills the tape.
State step_forward(const LstmTensors& t, const StepNorms& norms, const Call& call, State before,
                   StepTape& tape) {
  const std::int64_t step = tape.place.step;
  const GateShape shape = call.shape(step, before.h);
  const at::Tensor z_input = t.projected.select(0, step);
  tape.z_hidden = at::mm(before.h, t.weight.t());
  tape.sum = step_norm_forward(norms.input, z_input, tape.place) +
             step_norm_forward(norms.hidden, tape.z_hidden, tape.place);
  tape.gates = step_norm_forward(norms.gates, tape.sum, tape.place) + t.bias;
  tape.c_raw = at::empty_like(before.c);
  tape.tanh_c = at::empty_like(before.c);
  State after{at::empty_like(before.h), at::empty_like(before.c)};
  for_type_of(before.h, [&](auto zero) {
    using T = decltype(zero);
    activate_gates<T>(shape, tape.gates.mutable_data_ptr<T>(), before.c.const_data_ptr<T>(),
                      tape.c_raw.mutable_data_ptr<T>());
    const at::Tensor c_out = step_norm_forward(norms.cell, tape.c_raw, tape.place);
    const at::Tensor& carried = call.settings.form.carry_normalized ? c_out : tape.c_raw;
    finish_step<T>(shape, {tape.gates.const_data_ptr<T>(), c_out.const_data_ptr<T>(),
                           carried.const_data_ptr<T>(), before.h.const_data_ptr<T>(),
                           before.c.const_data_ptr<T>(), tape.tanh_c.mutable_data_ptr<T>(),
                           after.h.mutable_data_ptr<T>(), after.c.mutable_data_ptr<T>()});
  });
  tape.h_before = std::move(before.h);
  tape.c_before = std::move(before.c);
  return after;
}

// Sums of gradients over the steps; a norm without a parameter adds nothing.
void add_to(at::Tensor& sum, const at::Tensor& part) {
  if (!part.defined()) return;
  sum = sum.defined() ? sum.add_(part) : part;
}

// dgates and the state's gradients past the cell: in, those behind the step; out, those before it
// that do not go through the hidden state.
at::Tensor cell_backward(const StepNorms& norms, const Call& call, const StepTape& tape, State& d,
                         LstmTensors& gradients) {
  const GateShape shape = call.shape(tape.place.step, tape.h_before);
  const bool carries_c_out = call.settings.form.carry_normalized;
  const at::Tensor dgates = at::empty_like(tape.gates);
  const State before{at::empty_like(d.h), at::empty_like(d.c)};
  for_type_of(tape.gates, [&](auto zero) {
    using T = decltype(zero);
    const at::Tensor dc_out = at::empty_like(tape.c_raw);
    backward_output<T>(
        shape, {tape.gates.const_data_ptr<T>(), tape.tanh_c.const_data_ptr<T>(),
                d.h.const_data_ptr<T>(), d.c.const_data_ptr<T>(), dgates.mutable_data_ptr<T>(),
                dc_out.mutable_data_ptr<T>(), carries_c_out});
    const auto through = step_norm_backward(norms.cell, dc_out, tape.c_raw, tape.place);
    add_to(gradients.cell_gamma, through.gamma);
    add_to(gradients.cell_beta, through.beta);
    backward_cell<T>(
        shape, {tape.gates.const_data_ptr<T>(), tape.c_before.const_data_ptr<T>(),
                through.x.const_data_ptr<T>(), d.h.const_data_ptr<T>(), d.c.const_data_ptr<T>(),
                dgates.mutable_data_ptr<T>(), before.c.mutable_data_ptr<T>(),
                before.h.mutable_data_ptr<T>(), carries_c_out});
  });
  d = before;
  return dgates;
}

// One step backward: `d` goes from the gradients behind the step to those before it. Returns the
// gradient of h W_h^T.
at::Tensor step_backward(const LstmTensors& t, const StepNorms& norms, const Call& call,
                         const StepTape& tape, State& d, LstmTensors& gradients) {
  const at::Tensor dgates = cell_backward(norms, call, tape, d, gradients);
  add_to(gradients.bias, dgates.sum(0));
  const auto sum = step_norm_backward(norms.gates, dgates, tape.sum, tape.place);
  add_to(gradients.gates_gamma, sum.gamma);
  const at::Tensor z_input = t.projected.select(0, tape.place.step);
  const auto input = step_norm_backward(norms.input, sum.x, z_input, tape.place);
  add_to(gradients.input_gamma, input.gamma);
  gradients.projected.select(0, tape.place.step).copy_(input.x);
  auto hidden = step_norm_backward(norms.hidden, sum.x, tape.z_hidden, tape.place);
  add_to(gradients.hidden_gamma, hidden.gamma);
  d.h.addmm_(hidden.x, t.weight);
  return hidden.x;
}

LstmTensors sequence_backward(const LstmTensors& t, const Call& call, const at::Tensor& dhidden,
                              const at::Tensor& dcell) {
  const StepNorms norms = norms_of(t, call.settings);
  LstmTensors gradients;
  gradients.projected = at::empty_like(t.projected);
  State d{at::zeros_like(t.hidden), dcell.defined() ? dcell.contiguous() : at::zeros_like(t.cell)};
  // The loops read plain arrays, whatever layout a gradient comes in.
  const at::Tensor dh = dhidden.defined() ? dhidden.contiguous() : at::Tensor();
  const std::size_t count = call.steps.size();
  std::vector<at::Tensor> dz(count), h(count);
  for (std::size_t s = count; s-- > 0;) {
    const StepTape& tape = call.steps[s];
    if (dh.defined()) d.h = d.h + dh.select(0, tape.place.step);
    dz[s] = step_backward(t, norms, call, tape, d, gradients);
    h[s] = tape.h_before;
  }
  gradients.hidden = d.h;
  gradients.cell = d.c;
  gradients.weight = count > 0 ? at::mm(at::cat(dz).t(), at::cat(h)) : at::zeros_like(t.weight);
  if (count == 0) gradients.bias = at::zeros_like(t.bias);
  return gradients;
}

struct SequenceFunction : ::torch::autograd::Function<SequenceFunction> {
  static variable_list forward(AutogradContext* ctx, at::TensorList present,
                               const c10::intrusive_ptr<Call>& call) {
    const LstmTensors t = tensors_of(unpack(present, *call));
    const StepNorms norms = norms_of(t, call->settings);
    State state{t.hidden, t.cell};
    std::vector<at::Tensor> hidden;
    for (std::int64_t s = 0; s < t.projected.size(0); ++s) {
      StepTape tape;
      tape.place.step = s;
      const at::Tensor& mask = call->settings.mask;
      if (mask.defined()) tape.place.real = mask.select(0, s).contiguous();
      state = step_forward(t, norms, *call, std::move(state), tape);
      hidden.push_back(state.h);
      call->steps.push_back(std::move(tape));
    }
    ctx->set_materialize_grads(false);
    ctx->save_for_backward(present.vec());
    ctx->saved_data["call"] = c10::IValue::make_capsule(call);
    at::Tensor all = hidden.empty()
                         ? at::empty({0, t.hidden.size(0), t.hidden.size(1)}, t.hidden.options())
                         : at::stack(hidden);
    return {std::move(all), state.c.clone()};
  }

  static variable_list backward(AutogradContext* ctx, const variable_list& gradients) {
    TORCH_CHECK(!at::GradMode::is_enabled(), "lstm_sequence: second derivatives are not available");
    const auto capsule = ctx->saved_data["call"].toCapsule();
    const auto& call = static_cast<const Call&>(*capsule);
    const auto saved = ctx->get_saved_variables();
    const LstmTensors t = tensors_of(unpack(saved, call));
    const auto found = table_of(sequence_backward(t, call, gradients[0], gradients[1]));
    variable_list result;
    for (const std::size_t i : call.present) result.push_back(found[i]);
    result.emplace_back();  // of the call
    return result;
  }

  static TensorTable unpack(at::TensorList present, const Call& call) {
    TensorTable table;
    for (std::size_t i = 0; i < present.size(); ++i) table[call.present[i]] = present[i];
    return table;
  }
};

// The loops over the gates read plain arrays, so sizes must be right before they start.
void check_arguments(const LstmTensors& t, const at::Tensor& mask) {
  TORCH_CHECK(t.projected.dim() == 3 && t.projected.size(2) == t.weight.size(0),
              "lstm_sequence: projected.shape = ", t.projected.sizes(),
              ": must be (steps, samples, ", t.weight.size(0), ")");
  const std::int64_t steps = t.projected.size(0);
  const std::int64_t samples = t.projected.size(1);
  for (const at::Tensor& state : {t.hidden, t.cell}) {
    TORCH_CHECK(state.sizes() == at::IntArrayRef({samples, t.weight.size(1)}),
                "lstm_sequence: a state's shape = ", state.sizes(), ": must be (", samples, ", ",
                t.weight.size(1), ")");
  }
  for (const at::Tensor& tensor : table_of(t)) {
    if (!tensor.defined()) continue;
    const at::ScalarType type = t.weight.scalar_type();
    TORCH_CHECK((type == at::kDouble || type == at::kFloat) && tensor.scalar_type() == type,
                "lstm_sequence: dtype = ", tensor.scalar_type(),
                ": must be Double or Float, and all alike");
  }
  if (!mask.defined()) return;
  TORCH_CHECK(mask.scalar_type() == at::kBool && mask.sizes() == at::IntArrayRef({steps, samples}),
              "lstm_sequence: mask = ", mask.scalar_type(), " ", mask.sizes(), ": must be Bool (",
              steps, ", ", samples, ")");
}

}  // namespace

LstmOutput lstm_sequence(const LstmTensors& tensors, const LstmSettings& settings) {
  check_arguments(tensors, settings.mask);
  auto call = c10::make_intrusive<Call>();
  call->settings = settings;
  if (settings.mask.defined()) call->settings.mask = settings.mask.contiguous();
  TensorTable table = table_of(tensors);
  std::vector<at::Tensor> present;
  for (std::size_t i = 0; i < table.size(); ++i) {
    if (!table[i].defined()) continue;
    call->present.push_back(i);
    present.push_back(table[i].contiguous());
  }
  const auto outputs = SequenceFunction::apply(at::TensorList(present), call);
  return {outputs[0], outputs[1]};
}

}  // namespace equinorm::lab
