// Problems and buffers of blended_norm and dynamic_tanh.
#include "conformance/alpha.hpp"

#include "reference/numbers.hpp"

namespace equinorm::conformance {
namespace {

double rounded(double v, DType type) {
  std::uint64_t bits = 0;
  reference::store(&bits, type, 0, v);
  return reference::load(&bits, type, 0);
}

}  // namespace

AlphaProblem alpha_problem(int turn, Direction direction, DType x, DType y) {
  static constexpr std::int64_t kRows[] = {1, 5, 9, 70, 0};
  static constexpr std::int64_t kCols[] = {1, 3, 33, 64, 257, 600, 0};
  AlphaProblem p;
  p.turn = turn;
  p.direction = direction;
  p.rows = kRows[turn % 5];
  p.cols = kCols[turn % 7];
  p.x = x;
  p.y = y;
  p.dbeta = turn % 3 == 0 ? DType::f64 : turn % 3 == 1 ? DType::f32 : DType::bf16;
  p.gamma = turn % 3 != 0;
  p.beta = turn % 4 != 1;
  p.family = all_families()[static_cast<std::size_t>(turn) % all_families().size()];
  if (turn % 2 == 1) p.form = {.centered = false, .eps = 1e-6};
  if (turn % 6 == 2) p.form.gain = Gain::one_plus;
  p.accuracy = turn % 9 == 8 ? Accuracy::exact : Accuracy::standard;
  return p;
}

std::string describe(const AlphaProblem& p) {
  return std::string(name_of(p.direction)) + " turn=" + std::to_string(p.turn) +
         " x=" + equinorm::name_of(p.x) + " y=" + equinorm::name_of(p.y) + " " +
         std::to_string(p.rows) + "x" + std::to_string(p.cols) + " " + name_of(p.family) +
         (p.gamma ? " gamma" : "") + (p.beta ? " beta" : "") + " " + name_of(p.accuracy);
}

AlphaArena::AlphaArena(const AlphaProblem& p) : p_(p) {
  const Layout layout{p.turn % 2, p.turn % 3, false};
  // dy as its family has it: the inputs of a backward problem.
  const auto fill = [&](DType type, std::uint64_t seed, std::int64_t rows, double factor,
                        bool gradient = false) {
    Problem problem;
    problem.direction = gradient ? Direction::backward : Direction::forward;
    problem.types = {gradient ? p.x : type, type, type, type};
    problem.rows = rows;
    problem.cols = p.cols;
    problem.family = p.family;
    problem.seed = seed + 8 * static_cast<std::uint64_t>(p.turn);
    problem.gamma = problem.beta = false;
    const Inputs inputs = make_inputs(problem);
    std::vector<double> v = gradient ? inputs.dy : inputs.x;
    for (double& value : v) value = rounded(value * factor, type);
    Buffer b(type, rows, p.cols, layout);
    b.set(v);
    return b;
  };
  x = fill(p.x, 1, p.rows, 1);
  dy = fill(p.y, p.turn % 2 == 0 ? 1 : 2, p.rows, 1, p.turn % 2 == 0);
  gamma = fill(DType::f32, 3, 1, 0.5);
  beta = fill(DType::bf16, 4, 1, 0.25);
  alpha = Buffer(DType::f32, 1, 1, {});
  alpha.set(std::vector<double>{rounded(0.5 + 0.17 * (p.turn % 5), DType::f32)});
  y = Buffer(p.y, p.rows, p.cols, layout);
  dx = Buffer(p.x, p.rows, p.cols, layout);
  dalpha = Buffer(DType::f64, 1, 1, {});
  dgamma = Buffer(DType::f32, 1, p.cols, {});
  dbeta = Buffer(p.dbeta, 1, p.cols, {});
}

std::string AlphaArena::difference(const AlphaArena& o) const {
  const std::pair<const char*, Buffer AlphaArena::*> all[] = {
      {"x", &AlphaArena::x},           {"dy", &AlphaArena::dy},
      {"gamma", &AlphaArena::gamma},   {"beta", &AlphaArena::beta},
      {"alpha", &AlphaArena::alpha},   {"y", &AlphaArena::y},
      {"dx", &AlphaArena::dx},         {"dalpha", &AlphaArena::dalpha},
      {"dgamma", &AlphaArena::dgamma}, {"dbeta", &AlphaArena::dbeta}};
  for (const auto& [name, buffer] : all) {
    if ((this->*buffer).bits() != (o.*buffer).bits()) return std::string(name) + " differs";
    if (!(this->*buffer).guards_intact()) return std::string("wrote beside ") + name;
  }
  return "";
}

}  // namespace equinorm::conformance
