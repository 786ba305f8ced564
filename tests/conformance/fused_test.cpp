// The fused operators give the contract oracle's bits on every instruction set, for any threads and
// in place, and what they fuse is what the operators do one after the other.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "conformance/buffer.hpp"
#include "conformance/matrix.hpp"
#include "conformance/random.hpp"
#include "equinorm/fused_norm.hpp"
#include "equinorm/reference.hpp"
#include "reference/numbers.hpp"
#include "reference/quantize.hpp"

namespace equinorm::conformance {
namespace {

constexpr DType kTypes[] = {DType::f32, DType::bf16, DType::f16, DType::f64};

struct Case {
  int turn = 0;
  std::int64_t rows = 0, cols = 0, each = 1;
  DType x, residual, stream, y;
  bool with_residual, with_stream, groups, gate, affine, with_dstream;
  int quantization;
  Dropout dropout;
  Family family;
  RowForm form;
  Accuracy accuracy;

  explicit Case(int number) : turn(number) {
    static constexpr std::int64_t kRows[] = {1, 6, 12, 70};
    static constexpr std::int64_t kCols[] = {1, 3, 33, 64, 257, 600};
    rows = kRows[number % 4];
    cols = kCols[number % 6];
    groups = number % 3 == 1;
    each = groups ? (number % 2 == 0 ? 1 : rows % 3 == 0 ? 3 : rows) : 1;
    const bool wide = number % 7 == 6;
    const auto type = [&](int i) { return kTypes[wide ? i % 4 : i % 3]; };
    x = type(number);
    residual = type(number / 2);
    stream = type(number / 3);
    y = type(number / 5);
    with_residual = number % 5 != 4;
    with_stream = number % 4 != 3;
    gate = groups && number % 6 != 1;
    affine = !groups && number % 5 != 2;
    with_dstream = number % 3 != 2;
    quantization = number % 9 >= 6 ? 1 + number % 3 : 0;
    const double p[] = {0, 0.1, 0.5, 0.9, 0, 1};
    dropout = {p[number % 6], static_cast<std::uint64_t>(number) * 0x9e3779b97f4a7c15,
               static_cast<std::uint64_t>(number % 3) << 33};
    family = all_families()[static_cast<std::size_t>(number) % all_families().size()];
    if (number % 4 == 2) form = {.centered = false, .eps = 1e-6};
    if (number % 8 == 5) form.eps = 0;
    accuracy = number % 11 == 10 ? Accuracy::exact : Accuracy::standard;
  }
  [[nodiscard]] DType compute(bool backward) const {
    const bool wide = x == DType::f64 || (with_stream && stream == DType::f64) ||
                      (with_residual && residual == DType::f64) ||
                      ((quantization == 0 || backward) && y == DType::f64);
    return wide ? DType::f64 : DType::f32;
  }
};

std::vector<double> values_of(const Case& c, DType type, std::uint64_t seed, std::int64_t rows,
                              std::int64_t cols, double scale) {
  Problem problem;
  problem.types = {type, type, type, type};
  problem.rows = rows;
  problem.cols = cols;
  problem.family = c.family;
  problem.seed = static_cast<std::uint64_t>(c.turn) * 16 + seed;
  problem.gamma = problem.beta = false;
  std::vector<double> v = make_inputs(problem).x;
  for (double& x : v) {
    std::uint64_t bits = 0;
    reference::store(&bits, type, 0, x * scale);
    x = reference::load(&bits, type, 0);
  }
  return v;
}

// All buffers of a case. Run twice, on the oracle and on the kernels, everything must be the same.
class Arena {
 public:
  explicit Arena(const Case& c) : c_(c) {
    const std::int64_t groups = c.rows / c.each;
    const Layout rows{1, c.turn % 3, false};
    const auto make = [&](DType type, std::uint64_t seed, std::int64_t count, double size) {
      Buffer b(type, count, c.cols, rows);
      b.set(values_of(c, type, seed, count, c.cols, size));
      return b;
    };
    x = make(c.x, 1, c.rows, 1);
    residual = make(c.residual, 2, c.rows, 1);
    dy = make(c.y, 3, c.rows, 1);
    dstream = make(c.residual, 4, c.rows, 0.5);
    scale = make(DType::f32, 5, groups, 0.125);
    shift = make(DType::bf16, 6, groups, 0.25);
    gate = make(DType::f32, 7, groups, 0.5);
    stream = Buffer(c.stream, c.rows, c.cols, rows);
    y = Buffer(c.y, c.rows, c.cols, rows);
    dx = Buffer(c.x, c.rows, c.cols, rows);
    dresidual = Buffer(c.residual, c.rows, c.cols, rows);
    dscale = Buffer(DType::f32, groups, c.cols, rows);
    dshift = Buffer(DType::f64, groups, c.cols, rows);
    dgate = Buffer(DType::f32, groups, c.cols, rows);
    gamma = make(DType::f32, 8, 1, 1);
    beta = make(DType::f32, 9, 1, 1);
    dgamma = Buffer(DType::f32, 1, c.cols, {});
    dbeta = Buffer(DType::f32, 1, c.cols, {});
    row_scale = Buffer(c.compute(false), 1, c.rows, {});
    bytes.assign(static_cast<std::size_t>(c.rows * (c.cols + 3)), 0xee);
  }

  FusedNormForward forward(bool in_place) {
    FusedNormForward a;
    a.form = c_.form;
    a.x = x.rows();
    if (c_.with_residual) a.residual = residual.rows();
    a.dropout = c_.dropout;
    a.parameters = parameters();
    if (!c_.groups && c_.affine && c_.form.centered) a.parameters.beta = beta.vector();
    if (c_.groups) a.parameters.shift = shift.rows();
    if (c_.with_stream) {
      a.stream = in_place && c_.with_residual && c_.stream == c_.residual ? residual.rows()
                                                                          : stream.rows();
    }
    if (c_.quantization == 0) {
      a.y = in_place && c_.y == c_.x ? x.rows() : y.rows();
    } else {
      a.quantized = {bytes.data(), static_cast<Quantization>(c_.quantization),
                     c_.rows,      c_.cols,
                     c_.cols + 3,  row_scale.vector(),
                     0.0371};
    }
    return a;
  }

  FusedNormBackward backward(bool in_place) {
    FusedNormBackward a;
    a.form = c_.form;
    a.dy = dy.rows();
    if (c_.with_dstream) a.dstream = dstream.rows();
    stream.set(values_of(c_, c_.stream, 10, c_.rows, c_.cols, 1));
    a.stream = stream.rows();
    a.x = x.rows();
    a.dropout = c_.dropout;
    a.parameters = parameters();
    a.dx = dx.rows();
    a.dresidual = in_place && c_.with_dstream ? dstream.rows() : dresidual.rows();
    if (c_.groups) {
      a.dscale = dscale.rows();
      a.dshift = dshift.rows();
      if (c_.gate) a.dgate = dgate.rows();
    } else {
      a.dgamma = dgamma.vector();
      a.dbeta = dbeta.vector();
    }
    return a;
  }

  /// The first buffer that is not as in `o`, or that was written beside; "" where all are.
  [[nodiscard]] std::string difference(const Arena& o) const {
    const std::pair<const char*, Buffer Arena::*> all[] = {{"x", &Arena::x},
                                                           {"residual", &Arena::residual},
                                                           {"dy", &Arena::dy},
                                                           {"dstream", &Arena::dstream},
                                                           {"scale", &Arena::scale},
                                                           {"shift", &Arena::shift},
                                                           {"gate", &Arena::gate},
                                                           {"stream", &Arena::stream},
                                                           {"y", &Arena::y},
                                                           {"dx", &Arena::dx},
                                                           {"dgamma", &Arena::dgamma},
                                                           {"dresidual", &Arena::dresidual},
                                                           {"dbeta", &Arena::dbeta},
                                                           {"dscale", &Arena::dscale},
                                                           {"gamma", &Arena::gamma},
                                                           {"dshift", &Arena::dshift},
                                                           {"beta", &Arena::beta},
                                                           {"dgate", &Arena::dgate},
                                                           {"quantized.scale", &Arena::row_scale}};
    for (const auto& [name, buffer] : all) {
      if ((this->*buffer).bits() != (o.*buffer).bits()) return name;
      if (!(this->*buffer).guards_intact()) return std::string("beside ") + name;
    }
    return bytes == o.bytes ? "" : "quantized";
  }

 private:
  FusedParameters parameters() {
    FusedParameters p;
    p.rows_per_group = c_.each;
    if (c_.groups) p.scale = scale.rows();
    if (c_.gate) p.gate = gate.rows();
    if (!c_.groups && c_.affine) p.gamma = gamma.vector();
    return p;
  }

  Case c_;

 public:
  Buffer x, residual, dy, dstream, scale, shift, gate, stream, y, dx, dresidual, dscale, dshift,
      dgate, gamma, beta, dgamma, dbeta, row_scale;
  std::vector<std::uint8_t> bytes;
};

/// Expects of every instruction set, for some threads, what `reference` does to an arena.
template <class Reference, class Kernels>
void expect_equal(const Case& c, Reference reference, Kernels kernels) {
  Context context;
  context.set_accuracy(c.accuracy);
  constexpr int kThreads[] = {1, 2, 3, 7};
  int k = c.turn;
  for (const bool in_place : {false, true}) {
    Arena want(c);
    reference(want, in_place);
    for (const Isa isa : available_isas()) {
      check(context.set_isa(isa));
      check(context.set_threads(kThreads[k++ % 4]));
      Arena got(c);
      const Status status = kernels(got, in_place, context);
      ASSERT_TRUE(status.ok()) << describe(status) << " turn " << c.turn;
      ASSERT_EQ(got.difference(want), "") << "turn " << c.turn << ' ' << name_of(isa) << ' '
                                          << context.threads() << (in_place ? " in place" : "");
    }
  }
}

int turns() { return scale_from_environment() == Scale::full ? 360 : 90; }

TEST(FusedNorm, GivesTheContractsBitsForward) {
  for (int turn = 0; turn < turns() && !HasFatalFailure(); ++turn) {
    const Case c(turn);
    expect_equal(
        c,
        [&](Arena& a, bool in_place) {
          reference::fused_norm_forward(a.forward(in_place), c.accuracy);
        },
        [](Arena& a, bool in_place, Context& context) {
          return fused_norm_forward(a.forward(in_place), context);
        });
  }
}

TEST(FusedNorm, GivesTheContractsBitsBackward) {
  for (int turn = 0; turn < turns() && !HasFatalFailure(); ++turn) {
    const Case c(turn);
    expect_equal(
        c,
        [&](Arena& a, bool in_place) {
          reference::fused_norm_backward(a.backward(in_place), c.accuracy);
        },
        [](Arena& a, bool in_place, Context& context) {
          return fused_norm_backward(a.backward(in_place), context);
        });
  }
}

TEST(FusedNorm, IsTheOperatorsOneAfterTheOther) {
  const std::int64_t rows = 20, cols = 130;
  Random random(5);
  const auto numbers = [&](std::int64_t count) {
    std::vector<float> v(static_cast<std::size_t>(count));
    for (float& x : v) x = static_cast<float>(random.normal());
    return v;
  };
  std::vector<float> x = numbers(rows * cols), residual = numbers(rows * cols),
                     gamma = numbers(cols), beta = numbers(cols), dy = numbers(rows * cols),
                     dstream = numbers(rows * cols), zeros(x.size());
  std::vector<float> h(zeros), y(zeros), sum(zeros), y2(zeros), d(zeros), d2(zeros), dg(gamma),
      dg2(gamma);
  const auto view = [&](auto& v) { return Rows{v.data(), DType::f32, rows, cols, cols}; };
  const auto vector = [&](auto& v) { return Vector{v.data(), DType::f32, cols}; };
  Context context;
  FusedNormForward f;
  f.x = view(x);
  f.residual = view(residual);
  f.parameters.gamma = vector(gamma);
  f.parameters.beta = vector(beta);
  f.stream = view(h);
  f.y = view(y);
  check(fused_norm_forward(f, context));
  for (std::size_t i = 0; i < x.size(); ++i) sum[i] = x[i] + residual[i];
  check(layer_norm_forward({view(sum), vector(gamma), vector(beta), 1e-5, view(y2), {}}, context));
  EXPECT_EQ(h, sum);
  EXPECT_EQ(y, y2);
  FusedNormBackward b;
  b.dy = view(dy);
  b.dstream = view(dstream);
  b.stream = view(h);
  b.parameters.gamma = vector(gamma);
  b.dresidual = view(d);
  b.dgamma = vector(dg);
  check(fused_norm_backward(b, context));
  check(layer_norm_backward({view(dy), view(h), vector(gamma), 1e-5, {}, view(d2), vector(dg2), {}},
                            context));
  for (std::size_t i = 0; i < d2.size(); ++i) d2[i] += dstream[i];
  EXPECT_EQ(d, d2);
  EXPECT_EQ(dg, dg2);
}

TEST(Quantization, RoundsToTheNearestNumberOfTheRow) {
  const std::int64_t rows = 3, cols = 500;
  std::vector<float> x(rows * cols), y(x.size());
  Random random(8);
  for (float& v : x) v = static_cast<float>(random.normal());
  for (std::int64_t c = 0; c < cols; ++c) x[2 * cols + c] = std::nanf("");
  std::vector<std::uint8_t> bytes(x.size());
  std::vector<float> scale(rows);
  Context context;
  FusedNormForward f;
  f.x = {x.data(), DType::f32, rows, cols, cols};
  f.y = {y.data(), DType::f32, rows, cols, cols};
  check(fused_norm_forward(f, context));
  for (const Quantization kind : {Quantization::int8_per_row, Quantization::fp8_e4m3_per_row}) {
    f.y = {};
    f.quantized = {bytes.data(), kind, rows, cols, cols, {scale.data(), DType::f32, rows}, 0};
    check(fused_norm_forward(f, context));
    for (std::int64_t i = 0; i < 2 * cols; ++i) {
      const double s = scale[static_cast<std::size_t>(i / cols)], v = y[i];
      if (kind == Quantization::int8_per_row) {
        EXPECT_LE(std::abs(static_cast<std::int8_t>(bytes[i]) * s - v), (0.5 + 0x1p-20) * s);
      } else {
        const double got = reference::e4m3_value(bytes[i] & 0x7f) * (bytes[i] > 127 ? -s : s);
        EXPECT_LE(std::abs(got - v), std::abs(v) / 16 + (0x1p-10 + 0x1p-20) * s);
      }
    }
    EXPECT_TRUE(std::isnan(scale[2]));
    EXPECT_EQ(bytes[2 * cols], kind == Quantization::int8_per_row ? 0 : 0x7f);
  }
}

}  // namespace
}  // namespace equinorm::conformance
