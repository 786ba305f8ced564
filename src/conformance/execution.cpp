// Builds the arguments of a call from a problem and an execution.
#include "conformance/execution.hpp"

#include <cstring>
#include <limits>

#include "reference/numbers.hpp"

namespace equinorm::conformance {
namespace {

// Saved numbers of one kind as values: NaN for rows on the exact path, where they must not matter.
std::vector<double> saved_values(const std::vector<std::uint64_t>& bits,
                                 const std::vector<std::uint64_t>& exact, DType type) {
  std::vector<double> values;
  for (std::size_t r = 0; r < bits.size(); ++r) {
    const double v = reference::load(&bits[r], type, 0);
    values.push_back(exact[r] != 0 ? std::numeric_limits<double>::quiet_NaN() : v);
  }
  return values;
}

Buffer filled(DType type, std::int64_t rows, std::int64_t cols, const Layout& layout,
              const std::vector<double>& values) {
  Buffer buffer(type, rows, cols, layout);
  buffer.set(values);
  return buffer;
}

ConstVector given(Buffer& buffer, bool is_given) {
  return is_given ? ConstVector(buffer.vector()) : ConstVector{};
}

}  // namespace

Call::Call(const Problem& problem, const Inputs& inputs, const Execution& execution,
           const Outputs* saved)
    : problem_(problem), execution_(execution) {
  const auto [rows, cols] = std::pair(problem.rows, problem.cols);
  const Types& types = problem.types;
  const Layout vector_layout = {execution.vector_offset, 0, false};
  const bool backward = problem.direction == Direction::backward;
  x_ = filled(types.x, rows, cols, execution.layout, inputs.x);
  if (backward) dy_ = filled(types.y, rows, cols, execution.layout, inputs.dy);
  if (problem.gamma) {
    gamma_ = filled(types.parameter, 1, problem.gain_size(), vector_layout, inputs.gamma);
  }
  if (!inputs.beta.empty()) beta_ = filled(types.parameter, 1, cols, vector_layout, inputs.beta);
  out_ = Buffer(backward ? types.x : types.y, rows, cols, execution.layout);
  dgamma_ = Buffer(types.gradient, 1, problem.gain_size(), vector_layout);
  dbeta_ = Buffer(types.gradient, 1, cols, vector_layout);
  mean_ = Buffer(types.compute(), 1, rows, vector_layout);
  mean_tail_ = Buffer(types.compute(), 1, rows, vector_layout);
  rstd_ = Buffer(types.compute(), 1, rows, vector_layout);
  exact_.assign(static_cast<std::size_t>(rows) + 1, 0xff);
  if (saved != nullptr) {
    const DType c = types.compute();
    if (problem.op == Op::layer_norm) {
      mean_.set(saved_values(saved->mean, saved->exact, c));
      mean_tail_.set(saved_values(saved->mean_tail, saved->exact, c));
    }
    rstd_.set(saved_values(saved->rstd, saved->exact, c));
    exact_.assign(saved->exact.begin(), saved->exact.end());
    exact_.push_back(0xff);
  }
  for (const Buffer* input : {&x_, &dy_, &gamma_, &beta_}) input_bytes_.push_back(input->bytes());
}

Rows Call::output_rows() {
  switch (execution_.in_place) {
    case InPlace::on_x:
      return x_.rows();
    case InPlace::on_dy:
      return dy_.rows();
    case InPlace::no:
      break;
  }
  return out_.rows();
}

LayerNormForward Call::layer_norm_forward() {
  LayerNormForward args{x_.rows(),
                        given(gamma_, problem_.gamma),
                        given(beta_, problem_.beta),
                        problem_.eps,
                        output_rows(),
                        {}};
  if (execution_.statistics) {
    args.statistics = {mean_.vector(), mean_tail_.vector(), rstd_.vector(), exact_.data()};
  }
  return args;
}

LayerNormBackward Call::layer_norm_backward() {
  LayerNormBackward args{dy_.rows(), x_.rows(), given(gamma_, problem_.gamma), problem_.eps, {}, {},
                         {},         {}};
  if (execution_.statistics) {
    args.statistics = {mean_.vector(), mean_tail_.vector(), rstd_.vector(), exact_.data()};
  }
  if (execution_.wanted.dx) args.dx = output_rows();
  if (execution_.wanted.dgamma) args.dgamma = dgamma_.vector();
  if (execution_.wanted.dbeta) args.dbeta = dbeta_.vector();
  return args;
}

RmsNormForward Call::rms_norm_forward() {
  RmsNormForward args{
      x_.rows(), given(gamma_, problem_.gamma), problem_.add_one, problem_.eps, output_rows(), {}};
  if (execution_.statistics) args.statistics = {rstd_.vector(), exact_.data()};
  return args;
}

RmsNormBackward Call::rms_norm_backward() {
  RmsNormBackward args{
      dy_.rows(), x_.rows(), given(gamma_, problem_.gamma), problem_.add_one, problem_.eps, {},
      {},         {}};
  if (execution_.statistics) args.statistics = {rstd_.vector(), exact_.data()};
  if (execution_.wanted.dx) args.dx = output_rows();
  if (execution_.wanted.dgamma) args.dgamma = dgamma_.vector();
  return args;
}

RowNormForward Call::row_norm_forward() {
  RowForm form = problem_.form;
  form.eps = problem_.eps;
  return {form, x_.rows(), given(gamma_, problem_.gamma), given(beta_, problem_.beta),
          output_rows()};
}

RowNormBackward Call::row_norm_backward() {
  RowForm form = problem_.form;
  form.eps = problem_.eps;
  RowNormBackward args{form, dy_.rows(), x_.rows(), given(gamma_, problem_.gamma), {}, {}, {}};
  if (execution_.wanted.dx) args.dx = output_rows();
  if (execution_.wanted.dgamma && problem_.has_gamma()) args.dgamma = dgamma_.vector();
  if (execution_.wanted.dbeta && problem_.has_beta()) args.dbeta = dbeta_.vector();
  return args;
}

void Call::run_reference() {
  const bool forward = problem_.direction == Direction::forward;
  const Accuracy accuracy = problem_.accuracy;
  switch (problem_.op) {
    case Op::layer_norm:
      return forward ? reference::layer_norm_forward(layer_norm_forward(), accuracy)
                     : reference::layer_norm_backward(layer_norm_backward(), accuracy);
    case Op::rms_norm:
      return forward ? reference::rms_norm_forward(rms_norm_forward(), accuracy)
                     : reference::rms_norm_backward(rms_norm_backward(), accuracy);
    case Op::row_norm:
      return forward ? reference::row_norm_forward(row_norm_forward(), accuracy)
                     : reference::row_norm_backward(row_norm_backward(), accuracy);
  }
}

Status Call::run(Context& context) {
  const bool forward = problem_.direction == Direction::forward;
  if (const Status status = context.set_isa(execution_.isa); !status.ok()) return status;
  if (const Status status = context.set_threads(execution_.threads); !status.ok()) return status;
  context.set_accuracy(problem_.accuracy);
  switch (problem_.op) {
    case Op::layer_norm:
      return forward ? equinorm::layer_norm_forward(layer_norm_forward(), context)
                     : equinorm::layer_norm_backward(layer_norm_backward(), context);
    case Op::rms_norm:
      return forward ? equinorm::rms_norm_forward(rms_norm_forward(), context)
                     : equinorm::rms_norm_backward(rms_norm_backward(), context);
    case Op::row_norm:
      break;
  }
  return forward ? equinorm::row_norm_forward(row_norm_forward(), context)
                 : equinorm::row_norm_backward(row_norm_backward(), context);
}

#if EQUINORM_HAS_TRUTH
truth::Forward Call::forward_truth() {
  switch (problem_.op) {
    case Op::layer_norm:
      return truth::layer_norm_forward(layer_norm_forward());
    case Op::rms_norm:
      return truth::rms_norm_forward(rms_norm_forward());
    case Op::row_norm:
      break;
  }
  return truth::row_norm_forward(row_norm_forward());
}

truth::Backward Call::backward_truth() {
  switch (problem_.op) {
    case Op::layer_norm:
      return truth::layer_norm_backward(layer_norm_backward());
    case Op::rms_norm:
      return truth::rms_norm_backward(rms_norm_backward());
    case Op::row_norm:
      break;
  }
  return truth::row_norm_backward(row_norm_backward());
}
#endif

Outputs Call::outputs() const {
  const bool forward = problem_.direction == Direction::forward;
  const bool layer_norm = problem_.op == Op::layer_norm;
  const Buffer& rows = execution_.in_place == InPlace::on_x    ? x_
                       : execution_.in_place == InPlace::on_dy ? dy_
                                                               : out_;
  Outputs result;
  if (forward) result.y = rows.bits();
  if (!forward && execution_.wanted.dx) result.dx = rows.bits();
  if (!forward && execution_.wanted.dgamma && problem_.has_gamma()) result.dgamma = dgamma_.bits();
  if (!forward && execution_.wanted.dbeta && problem_.has_beta()) result.dbeta = dbeta_.bits();
  if (forward && execution_.statistics && problem_.saves_statistics()) {
    if (layer_norm) {
      result.mean = mean_.bits();
      result.mean_tail = mean_tail_.bits();
    }
    result.rstd = rstd_.bits();
    result.exact.assign(exact_.begin(), exact_.end() - 1);
  }
  return result;
}

std::string Call::side_effects() const {
  const char* const names[] = {"x", "dy", "gamma", "beta"};
  const Buffer* const inputs[] = {&x_, &dy_, &gamma_, &beta_};
  const InPlace in_place = execution_.in_place;
  for (std::size_t i = 0; i < 4; ++i) {
    const bool is_output =
        (in_place == InPlace::on_x && i == 0) || (in_place == InPlace::on_dy && i == 1);
    if (is_output && !inputs[i]->guards_intact()) return std::string("wrote beside ") + names[i];
    if (!is_output && inputs[i]->bytes() != input_bytes_[i]) {
      return std::string("changed ") + names[i];
    }
  }
  for (const Buffer* output : {&out_, &dgamma_, &dbeta_, &mean_, &mean_tail_, &rstd_}) {
    if (!output->guards_intact()) return "wrote beside an output";
  }
  if (exact_.back() != 0xff) return "wrote beside statistics.exact";
  return "";
}

}  // namespace equinorm::conformance
