// Arrangements, inputs, comparison and bounds of grouped_norm.
#include "conformance/grouped.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "conformance/random.hpp"
#include "equinorm/row_forms.hpp"
#include "reference/numbers.hpp"

namespace equinorm::conformance {
namespace {

constexpr std::int64_t kGuard = 64;  // elements

// Elements of an arrangement in memory, unused ones 0xff.
class Place {
 public:
  Place() = default;
  Place(DType type, const GroupedProblem& p, const Order& order) : type_(type) {
    // Runs are the columns of one parameter, or all.
    const std::int64_t run = p.shared || p.size == p.cols ? p.cols : p.cols / p.size;
    const std::int64_t count[4] = {p.groups, p.rows, run > 0 ? p.cols / run : 0, run};
    std::int64_t stride[4];
    std::int64_t span = 1;
    for (int k = 3; k >= 0; --k) {
      stride[order.axes[k]] = span;
      span = (span * count[order.axes[k]]) + order.gap * (k > 0 ? span : 0);
    }
    at_ = {p.groups, p.rows, p.cols, stride[0], stride[1], stride[3], run, stride[2]};
    bytes_.assign(static_cast<std::size_t>(span + 2 * kGuard) * size_of(type), 0xff);
  }

  void set(const std::vector<double>& values) {
    for_each([&](std::int64_t i, std::uint8_t* p) { reference::store(p, type_, 0, values[i]); });
  }
  [[nodiscard]] std::vector<std::uint64_t> bits() {
    std::vector<std::uint64_t> result(static_cast<std::size_t>(at_.groups * at_.rows * at_.cols));
    for_each([&](std::int64_t i, const std::uint8_t* p) {
      std::memcpy(&result[static_cast<std::size_t>(i)], p, size_of(type_));
    });
    return result;
  }
  [[nodiscard]] bool guards_intact() {
    Place copy = *this;
    copy.for_each([&](std::int64_t, std::uint8_t* p) { std::memset(p, 0xff, size_of(type_)); });
    return std::all_of(copy.bytes_.begin(), copy.bytes_.end(),
                       [](std::uint8_t b) { return b == 0xff; });
  }
  GroupedRows rows() { return {data(), type_, at_}; }
  [[nodiscard]] const std::vector<std::uint8_t>& bytes() const { return bytes_; }

 private:
  std::uint8_t* data() {
    return bytes_.data() + kGuard * static_cast<std::int64_t>(size_of(type_));
  }

  template <class Body>
  void for_each(Body body) {
    std::int64_t i = 0;
    for (std::int64_t g = 0; g < at_.groups; ++g) {
      for (std::int64_t r = 0; r < at_.rows; ++r) {
        for (std::int64_t c = 0; c < at_.cols; ++c) {
          const std::int64_t offset = g * at_.group_stride + r * at_.row_stride +
                                      c / at_.run * at_.run_stride +
                                      c % at_.run * at_.column_stride;
          body(i++, data() + offset * static_cast<std::int64_t>(size_of(type_)));
        }
      }
    }
  }

  DType type_ = DType::f32;
  Arrangement at_;
  std::vector<std::uint8_t> bytes_;
};

Buffer vector_of(DType type, const std::vector<double>& values) {
  Buffer buffer(type, 1, std::ssize(values), {1, 0, false});
  buffer.set(values);
  return buffer;
}

// Arguments of one call in memory of their own.
class GroupedCall {
 public:
  GroupedCall(const GroupedProblem& p, const GroupedInputs& in, const GroupedExecution& execution)
      : p_(p), execution_(execution) {
    const Types& types = p.base.types;
    x_ = Place(types.x, p, execution.order);
    x_.set(in.x);
    if (backward()) {
      dy_ = Place(types.y, p, execution.order);
      dy_.set(in.dy);
    }
    if (p.base.gamma) gamma_ = vector_of(types.parameter, in.gamma);
    if (p.base.beta) beta_ = vector_of(types.parameter, in.beta);
    if (p.given) {
      mean_in_ = vector_of(types.parameter, in.mean);
      variance_in_ = vector_of(types.parameter, in.variance);
    }
    out_ = Place(backward() ? types.x : types.y, p, execution.order);
    const Layout plain{3, 0, false};
    dgamma_ = Buffer(types.gradient, 1, gain_count(), plain);
    dbeta_ = Buffer(types.gradient, 1, p.parameters(), plain);
    mean_ = Buffer(DType::f64, 1, p.all_rows(), {});
    variance_ = Buffer(DType::f64, 1, p.all_rows(), {});
    x_bytes_ = x_.bytes();
    dy_bytes_ = dy_.bytes();
  }

  GroupedNormForward forward_args() {
    GroupedNormForward args;
    args.form = form();
    args.x = x_.rows();
    args.gamma = parameter(gamma_, p_.base.gamma, gain_size());
    args.beta = parameter(beta_, p_.base.beta, p_.size);
    args.given = given();
    args.y = execution_.in_place ? x_.rows() : out_.rows();
    args.mean = mean_.vector();
    args.variance = variance_.vector();
    return args;
  }

  GroupedNormBackward backward_args() {
    GroupedNormBackward args;
    args.form = form();
    args.dy = dy_.rows();
    args.x = x_.rows();
    args.gamma = parameter(gamma_, p_.base.gamma, gain_size());
    args.given = given();
    if (execution_.wanted.dx) args.dx = execution_.in_place ? x_.rows() : out_.rows();
    if (wants_dgamma()) args.dgamma = gradient(dgamma_, gain_size());
    if (wants_dbeta()) args.dbeta = gradient(dbeta_, p_.size);
    return args;
  }

  Outputs outputs() {
    Outputs result;
    Place& out = execution_.in_place ? x_ : out_;
    if (!backward()) {
      result.y = out.bits();
      result.mean = mean_.bits();
      result.rstd = variance_.bits();
      return result;
    }
    if (execution_.wanted.dx) result.dx = out.bits();
    if (wants_dgamma()) result.dgamma = dgamma_.bits();
    if (wants_dbeta()) result.dbeta = dbeta_.bits();
    return result;
  }

  std::string side_effects() {
    if (!execution_.in_place && x_.bytes() != x_bytes_) return "changed x";
    if (!x_.guards_intact()) return "wrote beside x";
    if (dy_.bytes() != dy_bytes_) return "changed dy";
    if (!out_.guards_intact()) return "wrote beside an output";
    if (!dgamma_.guards_intact() || !dbeta_.guards_intact()) return "wrote beside a gradient";
    return "";
  }

  [[nodiscard]] bool backward() const { return p_.base.direction == Direction::backward; }

 private:
  [[nodiscard]] RowForm form() const {
    RowForm form = p_.base.form;
    form.eps = p_.base.eps;
    return form;
  }
  [[nodiscard]] std::int64_t gain_size() const { return form().gain == Gain::scalar ? 1 : p_.size; }
  [[nodiscard]] std::int64_t gain_count() const {
    return (p_.shared ? 1 : p_.groups) * gain_size();
  }
  [[nodiscard]] bool wants_dgamma() const {
    return execution_.wanted.dgamma && equinorm::has_gamma(p_.base.form);
  }
  [[nodiscard]] bool wants_dbeta() const {
    return execution_.wanted.dbeta && p_.base.form.gain != Gain::adaptive;
  }
  ConstGroupedVector parameter(Buffer& buffer, bool is_given, std::int64_t size) const {
    if (!is_given) return {};
    const Vector v = buffer.vector();
    return {v.data, v.dtype, size, p_.shared ? 0 : size};
  }
  GroupedVector gradient(Buffer& buffer, std::int64_t size) const {
    const Vector v = buffer.vector();
    return {v.data, v.dtype, size, p_.shared ? 0 : size};
  }
  GivenStatistics given() {
    if (!p_.given) return {};
    GivenStatistics result;
    if (p_.base.form.centered) result.mean = mean_in_.vector();
    result.variance = variance_in_.vector();
    return result;
  }

  const GroupedProblem& p_;
  GroupedExecution execution_;
  Place x_, dy_, out_;
  Buffer gamma_, beta_, mean_in_, variance_in_, dgamma_, dbeta_, mean_, variance_;
  std::vector<std::uint8_t> x_bytes_, dy_bytes_;
};

std::string difference(const char* name, const std::vector<std::uint64_t>& want,
                       const std::vector<std::uint64_t>& got) {
  if (got.empty() || want == got) return "";
  if (want.size() != got.size()) return std::string(name) + " has another size";
  std::size_t i = 0;
  while (want[i] == got[i]) ++i;
  char text[120];
  std::snprintf(text, sizeof text, "%s[%zu] is %llx, must be %llx", name, i,
                static_cast<unsigned long long>(got[i]), static_cast<unsigned long long>(want[i]));
  return text;
}

Status run(GroupedCall& call, const GroupedProblem& problem, const GroupedExecution& execution,
           Context& context) {
  check(context.set_isa(execution.isa));
  check(context.set_threads(execution.threads));
  context.set_accuracy(problem.base.accuracy);
  return call.backward() ? grouped_norm_backward(call.backward_args(), context)
                         : grouped_norm_forward(call.forward_args(), context);
}

}  // namespace

std::string describe(const GroupedProblem& p) {
  return describe(p.base) + " groups=" + std::to_string(p.groups) +
         " rows=" + std::to_string(p.rows) + " cols=" + std::to_string(p.cols) +
         " size=" + std::to_string(p.size) + (p.shared ? " shared" : "") +
         (p.given ? " given" : "");
}

GroupedInputs make_inputs(const GroupedProblem& p) {
  Problem rows = p.base;
  rows.op = Op::layer_norm;
  rows.rows = p.all_rows();
  rows.cols = p.cols;
  rows.gamma = rows.beta = false;
  const Inputs of_rows = make_inputs(rows);
  Problem parameters = rows;
  parameters.direction = Direction::forward;
  parameters.rows = 1;
  parameters.cols = p.parameters();
  parameters.gamma = parameters.beta = true;
  Inputs of_groups = make_inputs(parameters);
  GroupedInputs inputs{of_rows.x, of_rows.dy, of_groups.gamma, of_groups.beta, {}, {}};
  if (p.base.form.gain == Gain::scalar) {
    inputs.gamma.resize(static_cast<std::size_t>(p.shared ? 1 : p.groups));
  }
  Random random(p.base.seed + 77);
  const auto rounded = [&](double v) {
    std::uint64_t bits = 0;
    reference::store(&bits, p.base.types.parameter, 0, v);
    return reference::load(&bits, p.base.types.parameter, 0);
  };
  for (std::int64_t g = 0; g < p.groups; ++g) {
    inputs.mean.push_back(rounded(3 * random.normal()));
    inputs.variance.push_back(g % 5 == 3 ? 0 : rounded(std::exp(2 * random.normal())));
  }
  return inputs;
}

Order order_of(int turn) {
  Order order;
  for (int k = turn % 24; k > 0; --k) {
    std::next_permutation(order.axes.begin(), order.axes.end());
  }
  order.gap = turn % 3;
  return order;
}

Outputs expected(const GroupedProblem& problem, const GroupedInputs& inputs) {
  GroupedCall call(problem, inputs, {});
  if (call.backward()) {
    reference::grouped_norm_backward(call.backward_args(), problem.base.accuracy);
  } else {
    reference::grouped_norm_forward(call.forward_args(), problem.base.accuracy);
  }
  return call.outputs();
}

std::optional<Outputs> run(const GroupedProblem& problem, const GroupedInputs& inputs,
                           const GroupedExecution& execution, Context& context) {
  GroupedCall call(problem, inputs, execution);
  if (!run(call, problem, execution, context).ok()) return std::nullopt;
  return call.outputs();
}

std::string compare(const GroupedProblem& problem, const GroupedInputs& inputs,
                    const Outputs& expected, const GroupedExecution& execution, Context& context) {
  GroupedCall call(problem, inputs, execution);
  const Status status = run(call, problem, execution, context);
  std::string text;
  if (!status.ok()) {
    text = equinorm::describe(status);
  } else {
    const Outputs got = call.outputs();
    for (const auto& [name, member] :
         {std::pair("y", &Outputs::y), std::pair("dx", &Outputs::dx),
          std::pair("dgamma", &Outputs::dgamma), std::pair("dbeta", &Outputs::dbeta),
          std::pair("mean", &Outputs::mean), std::pair("variance", &Outputs::rstd)}) {
      if (text.empty()) text = difference(name, expected.*member, got.*member);
    }
    if (text.empty()) text = call.side_effects();
  }
  if (text.empty()) return text;
  std::string order;
  for (const int axis : execution.order.axes) order += std::to_string(axis);
  return describe(problem) + " | " + name_of(execution.isa) +
         " threads=" + std::to_string(execution.threads) + " order=" + order +
         " gap=" + std::to_string(execution.order.gap) + (execution.in_place ? " in place" : "") +
         " | " + text;
}

Bound bound_of(Output output, const GroupedProblem& p) {
  Problem problem = p.base;
  problem.op = Op::row_norm;
  problem.rows = p.shared ? p.all_rows() : p.rows;
  problem.cols = p.cols;
  if (p.shared || p.size == p.cols || output == Output::y || output == Output::dx) {
    return bound_of(output, problem);
  }
  return segment_bound_of(output, problem, p.cols / p.size);
}

#if EQUINORM_HAS_TRUTH
GroupedYardstick::GroupedYardstick(const GroupedProblem& problem, const GroupedInputs& inputs)
    : problem_(problem) {
  GroupedCall call(problem, inputs, {});
  if (call.backward()) {
    backward_ = truth::grouped_norm_backward(call.backward_args());
  } else {
    forward_ = truth::grouped_norm_forward(call.forward_args());
  }
}

std::vector<Errors> GroupedYardstick::measure(const Outputs& outputs) const {
  return conformance::measure(
      problem_.base.types, problem_.cols, [&](Output output) { return bound_of(output, problem_); },
      outputs, forward_, backward_);
}
#endif

GroupedProblem grouped_problem(int turn, Direction direction, DType x, DType y) {
  struct Shape {
    std::int64_t groups, rows, cols, size;
    bool shared;
  };
  static constexpr Shape kShapes[] = {
      {3, 5, 40, 40, false},   // adaLN: parameters of samples
      {7, 1, 33, 33, false},   // of tokens
      {2, 3, 96, 4, false},    // GroupNorm, 24 positions
      {4, 2, 12, 12, false},   // one position
      {5, 1, 130, 1, false},   // BatchNorm
      {3, 9, 49, 1, false},    // InstanceNorm
      {6, 4, 64, 64, true},    // heads, or LayerNorm over channels
      {2, 70, 18, 6, false},   // several chunks
      {1, 6, 1030, 2, false},  // one group, long segments
      {2, 2, 4, 2, false},     // two positions
  };
  const Shape& shape = kShapes[static_cast<std::size_t>(turn) % std::size(kShapes)];
  GroupedProblem p;
  p.groups = shape.groups;
  p.rows = shape.rows;
  p.cols = shape.cols;
  p.size = shape.size;
  p.shared = shape.shared;
  p.base.op = Op::row_norm;
  p.base.direction = direction;
  p.base.types.x = x;
  p.base.types.y = y;
  p.base.types.parameter =
      turn % 3 == 0 && x != DType::f64 && y != DType::f64 ? DType::bf16 : DType::f32;
  p.base.types.gradient = turn % 4 == 0 ? DType::f64 : turn % 4 == 1 ? DType::bf16 : DType::f32;
  p.base.family = all_families()[static_cast<std::size_t>(turn) % all_families().size()];
  p.base.seed = static_cast<std::uint64_t>(turn);
  p.base.accuracy = turn % 5 == 4 ? Accuracy::exact : Accuracy::standard;
  // Every third problem takes the next named form; partial and adaptive ones only without segments.
  const NamedForm& named = kRowForms[static_cast<std::size_t>(turn / 3) % std::size(kRowForms)];
  const bool segments = p.size < p.cols;
  const bool fits = !segments || (named.form.part == 1 && named.form.gain != Gain::adaptive);
  if (turn % 3 == 0 && fits) p.base.form = named.form;
  if (turn % 3 == 1) p.base.form.gain = Gain::one_plus;
  if (p.base.form.gain == Gain::scalar && !p.shared) p.size = 1;
  p.base.eps = turn % 7 == 0 && p.base.form.spread != Spread::length ? 0 : p.base.form.eps;
  const bool can_be_given = p.base.form.part == 1 && p.base.form.spread != Spread::length &&
                            p.base.form.gain != Gain::adaptive;
  p.given = turn % 4 == 3 && can_be_given;
  p.base.gamma = turn % 8 < 6 && has_gamma(p.base.form);
  p.base.beta =
      direction == Direction::forward && turn % 4 != 2 && p.base.form.gain != Gain::adaptive;
  return p;
}

}  // namespace equinorm::conformance
