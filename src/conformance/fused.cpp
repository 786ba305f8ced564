// Problems and buffers of fused_norm.
#include "conformance/fused.hpp"

#include <utility>

#include "reference/fused.hpp"
#include "reference/numbers.hpp"

namespace equinorm::conformance {
namespace {

constexpr DType kTypes[] = {DType::f32, DType::bf16, DType::f16, DType::f64};

std::vector<double> values_of(const FusedProblem& p, DType type, std::uint64_t seed,
                              std::int64_t rows, double scale) {
  Problem problem;
  problem.types = {type, type, type, type};
  problem.rows = rows;
  problem.cols = p.cols;
  problem.family = p.family;
  problem.seed = static_cast<std::uint64_t>(p.turn) * 16 + seed;
  problem.gamma = problem.beta = false;
  std::vector<double> v = make_inputs(problem).x;
  for (double& x : v) {
    std::uint64_t bits = 0;
    reference::store(&bits, type, 0, x * scale);
    x = reference::load(&bits, type, 0);
  }
  return v;
}

}  // namespace

FusedProblem fused_problem(int turn, Direction direction, DType x, DType y) {
  static constexpr std::int64_t kRows[] = {1, 6, 12, 70};
  static constexpr std::int64_t kCols[] = {1, 3, 33, 64, 257, 600};
  FusedProblem p;
  p.turn = turn;
  p.direction = direction;
  p.rows = kRows[turn / 2 % 4];
  p.cols = kCols[turn % 6];
  p.groups = turn % 3 == 1;
  p.each = p.groups ? (turn % 2 == 0 ? 1 : p.rows % 3 == 0 ? 3 : p.rows) : 1;
  p.x = x;
  p.y = y;
  const bool wide = turn % 7 == 6;
  const auto type = [&](int i) { return kTypes[wide ? i % 4 : i % 3]; };
  p.residual = type(turn / 2);
  p.stream = type(turn / 3);
  p.with_residual = turn % 5 != 4;
  p.with_stream = turn % 4 != 3;
  p.gate = p.groups && turn % 6 != 1;
  p.affine = !p.groups && turn % 5 != 2;
  p.with_dstream = turn % 3 != 2;
  p.quantization = turn % 9 >= 6 ? 1 + turn % 3 : 0;
  const double probabilities[] = {0, 0.1, 0.5, 0.9, 0, 1, 0.3};
  p.dropout = {probabilities[turn % 7], static_cast<std::uint64_t>(turn) * 0x9e3779b97f4a7c15,
               static_cast<std::uint64_t>(turn % 3) << 33};
  p.family = all_families()[static_cast<std::size_t>(turn) % all_families().size()];
  if (turn % 4 == 2) p.form = {.centered = false, .eps = 1e-6};
  if (turn % 8 == 5) p.form.eps = 0;
  p.accuracy = turn % 11 == 10 ? Accuracy::exact : Accuracy::standard;
  return p;
}

DType FusedProblem::compute() const {
  const bool wide = x == DType::f64 ||
                    (backward() ? stream == DType::f64 || residual == DType::f64 || y == DType::f64
                                : (with_stream && stream == DType::f64) ||
                                      (with_residual && residual == DType::f64) ||
                                      (quantization == 0 && y == DType::f64));
  return wide ? DType::f64 : DType::f32;
}

std::string describe(const FusedProblem& p) {
  const auto flag = [](bool on, const char* name) { return on ? std::string(" ") + name : ""; };
  return std::string("fused_norm.") + name_of(p.direction) + " turn=" + std::to_string(p.turn) +
         " x=" + equinorm::name_of(p.x) + " residual=" + equinorm::name_of(p.residual) +
         " stream=" + equinorm::name_of(p.stream) + " y=" + equinorm::name_of(p.y) + " " +
         std::to_string(p.rows) + "x" + std::to_string(p.cols) + " " + name_of(p.family) +
         flag(p.groups, "groups") + flag(p.gate, "gate") + flag(p.affine, "affine") +
         flag(p.dropout.p > 0, "dropout") + " quantization=" + std::to_string(p.quantization) +
         " " + name_of(p.accuracy);
}

FusedArena::FusedArena(const FusedProblem& p) : p_(p) {
  const std::int64_t groups = p.rows / p.each;
  const Layout rows{1, p.turn % 3, false};
  const auto make = [&](DType type, std::uint64_t seed, std::int64_t count, double size) {
    Buffer b(type, count, p.cols, rows);
    b.set(values_of(p, type, seed, count, size));
    return b;
  };
  const auto room = [&](DType type, std::int64_t count) {
    return Buffer(type, count, p.cols, rows);
  };
  x = make(p.x, 1, p.rows, 1);
  residual = make(p.residual, 2, p.rows, 1);
  dy = make(p.y, 3, p.rows, 1);
  dstream = make(p.residual, 4, p.rows, 0.5);
  scale = make(DType::f32, 5, groups, 0.125);
  shift = make(DType::bf16, 6, groups, 0.25);
  gate = make(DType::f32, 7, groups, 0.5);
  gamma = make(DType::f32, 8, 1, 1);
  beta = make(DType::f32, 9, 1, 1);
  stream = p.backward() ? make(p.stream, 10, p.rows, 1) : room(p.stream, p.rows);
  y = room(p.y, p.rows);
  dx = room(p.x, p.rows);
  dresidual = room(p.residual, p.rows);
  dscale = room(DType::f32, groups);
  dshift = room(DType::f64, groups);
  dgate = room(DType::f32, groups);
  dgamma = Buffer(DType::f32, 1, p.cols, {});
  dbeta = Buffer(DType::f32, 1, p.cols, {});
  row_scale = Buffer(p.compute(), 1, p.rows, {});
  bytes.assign(static_cast<std::size_t>(p.rows * (p.cols + kByteGap)), 0xee);
}

FusedNormForward FusedArena::forward(bool in_place) {
  FusedNormForward a;
  a.form = p_.form;
  a.x = x.rows();
  if (p_.with_residual) a.residual = residual.rows();
  a.dropout = p_.dropout;
  a.parameters = parameters();
  if (!p_.groups && p_.affine && p_.form.centered) a.parameters.beta = beta.vector();
  if (p_.groups) a.parameters.shift = shift.rows();
  if (p_.with_stream) {
    a.stream = stream.rows();
    if (in_place && p_.with_residual && p_.stream == p_.residual) a.stream = residual.rows();
  }
  if (p_.quantization == 0) {
    a.y = in_place && p_.y == p_.x ? x.rows() : y.rows();
  } else {
    a.quantized = {bytes.data(),
                   static_cast<Quantization>(p_.quantization),
                   p_.rows,
                   p_.cols,
                   p_.cols + kByteGap,
                   row_scale.vector(),
                   kFixedScale};
  }
  return a;
}

FusedNormBackward FusedArena::backward(bool in_place) {
  FusedNormBackward a;
  a.form = p_.form;
  a.dy = dy.rows();
  if (p_.with_dstream) a.dstream = dstream.rows();
  a.stream = stream.rows();
  a.x = x.rows();
  a.dropout = p_.dropout;
  a.parameters = parameters();
  a.dx = dx.rows();
  a.dresidual = in_place && p_.with_dstream ? dstream.rows() : dresidual.rows();
  if (p_.groups) {
    a.dscale = dscale.rows();
    a.dshift = dshift.rows();
    if (p_.gate) a.dgate = dgate.rows();
  } else {
    a.dgamma = dgamma.vector();
    a.dbeta = dbeta.vector();
  }
  return a;
}

FusedParameters FusedArena::parameters() {
  FusedParameters p;
  p.rows_per_group = p_.each;
  if (p_.groups) p.scale = scale.rows();
  if (p_.gate) p.gate = gate.rows();
  if (!p_.groups && p_.affine) p.gamma = gamma.vector();
  return p;
}

std::string FusedArena::difference(const FusedArena& o) const {
  const std::pair<const char*, Buffer FusedArena::*> all[] = {
      {"x", &FusedArena::x},
      {"residual", &FusedArena::residual},
      {"dy", &FusedArena::dy},
      {"dstream", &FusedArena::dstream},
      {"scale", &FusedArena::scale},
      {"shift", &FusedArena::shift},
      {"gate", &FusedArena::gate},
      {"stream", &FusedArena::stream},
      {"y", &FusedArena::y},
      {"dx", &FusedArena::dx},
      {"dresidual", &FusedArena::dresidual},
      {"dscale", &FusedArena::dscale},
      {"dshift", &FusedArena::dshift},
      {"dgate", &FusedArena::dgate},
      {"gamma", &FusedArena::gamma},
      {"beta", &FusedArena::beta},
      {"dgamma", &FusedArena::dgamma},
      {"dbeta", &FusedArena::dbeta},
      {"quantized.scale", &FusedArena::row_scale}};
  for (const auto& [name, buffer] : all) {
    if ((this->*buffer).bits() != (o.*buffer).bits()) return std::string(name) + " differs";
    if (!(this->*buffer).guards_intact()) return std::string("wrote beside ") + name;
  }
  return bytes == o.bytes ? "" : "quantized differs";
}

}  // namespace equinorm::conformance
