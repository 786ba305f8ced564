// The matrix of problems and executions.
#include "conformance/matrix.hpp"

#include <cstdlib>
#include <stdexcept>

#include "conformance/trial.hpp"

namespace equinorm::conformance {
namespace {

// The parameter types that C holds, narrow ones included.
std::vector<DType> parameter_types(DType compute) {
  std::vector<DType> types = {DType::f32, DType::bf16, DType::f16};
  if (compute == DType::f64) types.insert(types.begin(), DType::f64);
  return types;
}

constexpr DType kGradientTypes[] = {DType::f32, DType::f64, DType::bf16, DType::f16};
constexpr double kEps[] = {1e-5, 1e-5, 0, 1, 1e-12};

// Affine form 0..3: none, gamma, beta, both. RMSNorm: without, gamma, 1 + gamma, gamma.
void set_affine(Problem& problem, int form) {
  if (problem.op == Op::row_norm) {
    problem.gamma = form % 2 == 1 && problem.has_gamma();
    problem.beta = form >= 2 && problem.has_beta() && problem.direction == Direction::forward;
    return;
  }
  const bool layer_norm = problem.op == Op::layer_norm;
  problem.gamma = form == 1 || form == 3 || (!layer_norm && form == 2);
  problem.beta = layer_norm && form >= 2 && problem.direction == Direction::forward;
  problem.add_one = !layer_norm && form == 2;
}

// Problem number `turn` of a kernel: takes its kinds by turns of coprime lengths.
Problem problem_of(const Kernel& kernel, std::int64_t rows, std::int64_t cols, int turn) {
  Problem problem;
  problem.op = kernel.op;
  if (kernel.form != nullptr) problem.form = kernel.form->form;
  problem.direction = kernel.direction;
  problem.types.x = kernel.x;
  problem.types.y = kernel.y;
  const std::vector<DType> parameters = parameter_types(problem.types.compute());
  problem.types.parameter = parameters[turn % parameters.size()];
  problem.types.gradient = kGradientTypes[turn % std::size(kGradientTypes)];
  problem.rows = rows;
  problem.cols = cols;
  problem.family = all_families()[turn % all_families().size()];
  problem.eps = kEps[turn % std::size(kEps)];
  if (kernel.form != nullptr && turn % 2 == 0) problem.eps = kernel.form->form.eps;
  if (problem.form.spread == Spread::length) problem.eps = 0;
  problem.accuracy = turn % 2 == 0 ? Accuracy::standard : Accuracy::exact;
  problem.seed = static_cast<std::uint64_t>(turn);
  set_affine(problem, turn % 4);
  return problem;
}

}  // namespace

std::vector<Kernel> all_kernels() {
  constexpr Op layer_norm = Op::layer_norm;
  constexpr Op rms_norm = Op::rms_norm;
  constexpr Direction fwd = Direction::forward;
  constexpr Direction bwd = Direction::backward;
  const std::vector<Kernel> kernels = {
#define EQUINORM_KERNEL(op, direction) {op, direction, {}, {}},
#include "kernels/kernel_list.inc"
  };
  const std::vector<std::pair<DType, DType>> pairs = {
#define EQUINORM_TYPE_PAIR(x, y) {DType::x, DType::y},
#include "kernels/kernel_list.inc"
  };
  std::vector<Kernel> result;
  for (const Kernel& kernel : kernels) {
    for (const auto& [x, y] : pairs) result.push_back({kernel.op, kernel.direction, x, y});
  }
  return result;
}

std::vector<Kernel> form_kernels() {
  std::vector<Kernel> result;
  for (const NamedForm& form : kRowForms) {
    for (const Direction direction : {Direction::forward, Direction::backward}) {
      for (const auto& [x, y] : kTypePairs)
        result.push_back({Op::row_norm, direction, x, y, &form});
    }
  }
  return result;
}

std::string name_of(const Kernel& kernel) {
  std::string name = kernel.form != nullptr ? kernel.form->name : name_of(kernel.op);
  name += '.';
  name += name_of(kernel.direction);
  name += '.';
  name += equinorm::name_of(kernel.x);
  if (kernel.x != kernel.y) name += std::string("-") + equinorm::name_of(kernel.y);
  return name;
}

Scale scale_from_environment() {
  const char* text = std::getenv("EQUINORM_TEST_SCALE");
  if (text == nullptr || std::string(text) == "full") return Scale::full;
  if (std::string(text) == "small") return Scale::small;
  throw std::runtime_error(std::string("EQUINORM_TEST_SCALE = ") + text +
                           ": must be small or full");
}

std::vector<std::int64_t> column_counts(Scale scale) {
  if (scale == Scale::small) return {1, 3, 31, 65, 257, 513, 1025};
  return {1,   2,   3,   5,   7,   9,   31,  33,   63,   64,   65,  100,
          127, 129, 255, 257, 511, 513, 769, 1023, 1025, 3584, 4097};
}

std::vector<Problem> size_problems(const Kernel& kernel, Scale scale) {
  std::vector<Problem> problems;
  int turn = 0;
  for (const std::int64_t cols : column_counts(scale)) {
    problems.push_back(problem_of(kernel, 5, cols, turn++));
    problems.push_back(problem_of(kernel, 5, cols, turn++));
    problems.back().family = Family::normal;
    turn += 4;  // so that a size meets another accuracy and family in the next kernel
  }
  return problems;
}

std::vector<Problem> family_problems(const Kernel& kernel, Scale scale) {
  constexpr std::int64_t kCols[] = {9, 100, 300};
  std::vector<Problem> problems;
  int turn = 0;
  for (const Family family : all_families()) {
    for (int form = 0; form < 4; ++form) {
      for (const Accuracy accuracy : {Accuracy::standard, Accuracy::exact}) {
        Problem problem = problem_of(kernel, 5, kCols[turn % std::size(kCols)], turn);
        problem.family = family;
        problem.accuracy = accuracy;
        set_affine(problem, form);
        if (scale == Scale::full || turn % 7 == 0) problems.push_back(problem);
        ++turn;
      }
    }
  }
  return problems;
}

std::vector<Problem> row_problems(const Kernel& kernel, Scale scale) {
  const std::vector<std::int64_t> counts =
      scale == Scale::small ? std::vector<std::int64_t>{31, 33, 131}
                            : std::vector<std::int64_t>{31, 32, 33, 64, 131, 255, 256, 1000, 4097};
  std::vector<Problem> problems;
  int turn = 0;
  for (const std::int64_t rows : counts) {
    Problem problem = problem_of(kernel, rows, rows > 500 ? 70 : 33, turn);
    problem.accuracy = Accuracy::standard;
    problem.family = turn % 3 == 0   ? Family::mixed
                     : turn % 3 == 1 ? Family::normal
                                     : Family::non_finite;
    problems.push_back(problem);
    ++turn;
  }
  return problems;
}

std::vector<Problem> long_row_problems(const Kernel& kernel, Scale scale) {
  if (scale == Scale::small) return {};
  std::vector<Problem> problems;
  const int turn = static_cast<int>(kernel.x) * 4 + static_cast<int>(kernel.y);
  problems.push_back(problem_of(kernel, 2, 65537, turn));
  problems.back().family = Family::offset_1e2;
  if (kernel.x == kernel.y) {
    problems.push_back(problem_of(kernel, 1, 1000001, turn));
    problems.back().family = Family::normal;
    problems.back().accuracy = Accuracy::standard;
  }
  return problems;
}

std::vector<Problem> bound_problems(const Kernel& kernel, Scale scale) {
  const std::vector<std::pair<std::int64_t, std::int64_t>> shapes =
      scale == Scale::small
          ? std::vector<std::pair<std::int64_t, std::int64_t>>{{64, 2}, {20, 5}, {4, 64}, {2, 769}}
          : std::vector<std::pair<std::int64_t, std::int64_t>>{
                {40, 1}, {200, 2}, {100, 3}, {60, 8}, {40, 64}, {5, 100}, {4, 769}, {2, 4097}};
  std::vector<Problem> problems;
  int turn = 0;
  for (const Family family : all_families()) {
    for (const auto& [rows, cols] : shapes) {
      Problem problem = problem_of(kernel, rows, cols, turn);
      problem.family = family;
      problem.accuracy = Accuracy::standard;
      problems.push_back(problem);
      problem.accuracy = Accuracy::exact;
      if (turn % 4 == 0) problems.push_back(problem);
      ++turn;
    }
  }
  return problems;
}

std::vector<Execution> executions(const Problem& problem, Isa isa) {
  Execution plain;
  plain.isa = isa;
  std::vector<Execution> result(5, plain);
  result[0].statistics = true;
  if (problem.cols > 500000) result.resize(2);  // one row, seconds for all executions
  result[1].threads = 2;
  result[1].layout = {1, 5, false};
  result[1].vector_offset = 1;
  if (result.size() == 2) return result;
  result[2].threads = 3;
  result[2].layout = {3, 0, true};
  result[2].statistics = true;
  result[2].wanted.dx = false;
  result[3].threads = 7;
  result[3].vector_offset = 3;
  result[3].wanted.dgamma = false;
  if (problem.types.x == problem.types.y) result[3].in_place = InPlace::on_x;
  result[4].layout = {1, 1, false};
  result[4].only_row = problem.rows - 1;
  if (problem.direction == Direction::backward) {
    if (problem.types.x == problem.types.y) {
      result.push_back(plain);
      result.back().threads = 2;
      result.back().in_place = InPlace::on_dy;
      result.back().wanted.dbeta = false;
    }
    result.push_back(plain);
    result.back().threads = 7;
    result.back().layout = {2, 3, false};
    result.back().statistics = true;
  }
  return result;
}

}  // namespace equinorm::conformance
