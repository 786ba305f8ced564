// Laws that hold for every norm of rows, on random problems: what is computed here is compared with
// what is computed from other inputs, not with an oracle's result.
//
// RapidCheck draws and shrinks the cases; RC_PARAMS in the environment says how many
// (CMakeLists.txt). The one trap: a law that holds bit for bit must scale by powers of two and stay
// inside the range in which rows are trusted.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "conformance/grouped.hpp"
#include "conformance/random.hpp"
#include "equinorm/equinorm.hpp"
#include "equinorm/reference.hpp"
#include "equinorm/row_forms.hpp"

namespace equinorm::conformance {
namespace {

using Floats = std::vector<float>;

/// Rows of f32 with parameters of a named form.
struct Case {
  RowForm form;
  std::int64_t rows = 0;
  std::int64_t cols = 0;
  Floats x, dy, gamma, beta;
};

Floats normal(std::size_t n, Random& random) {
  Floats v(n);
  for (float& a : v) a = static_cast<float>(random.normal());
  return v;
}

Case any_case(std::int64_t least_rows = 0) {
  Case c;
  const NamedForm& named = kRowForms[*rc::gen::inRange<std::size_t>(0, std::size(kRowForms))];
  c.form = named.form;
  c.rows = *rc::gen::inRange<std::int64_t>(least_rows, 20);
  c.cols =
      *rc::gen::oneOf(rc::gen::inRange<std::int64_t>(0, 9), rc::gen::inRange<std::int64_t>(0, 700));
  Random random(*rc::gen::inRange<std::uint64_t>(0, 1u << 30));
  const auto n = static_cast<std::size_t>(c.rows * c.cols);
  c.x = normal(n, random);
  c.dy = normal(n, random);
  if (has_gamma(c.form) && *rc::gen::arbitrary<bool>()) {
    c.gamma = normal(static_cast<std::size_t>(gamma_size(c.form, c.cols)), random);
  }
  if (named.bias && *rc::gen::arbitrary<bool>()) {
    c.beta = normal(static_cast<std::size_t>(c.cols), random);
  }
  return c;
}

ConstRows rows_of(const Floats& v, const Case& c) {
  return {v.data(), DType::f32, c.rows, c.cols, c.cols};
}
ConstVector vector_of(const Floats& v) {
  return {v.empty() ? nullptr : v.data(), DType::f32, static_cast<std::int64_t>(v.size())};
}

Floats forward(const Case& c, int threads = 1) {
  Floats y(c.x.size());
  Context context;
  check(context.set_threads(threads));
  check(row_norm_forward({c.form,
                          rows_of(c.x, c),
                          vector_of(c.gamma),
                          vector_of(c.beta),
                          {y.data(), DType::f32, c.rows, c.cols, c.cols}},
                         context));
  return y;
}

struct Gradients {
  Floats dx, dgamma, dbeta;
};

Gradients backward(const Case& c, int threads = 1) {
  Gradients g{Floats(c.x.size()), Floats(c.gamma.size()), Floats(c.beta.size())};
  const auto out = [](Floats& v) {
    return Vector{v.empty() ? nullptr : v.data(), DType::f32, static_cast<std::int64_t>(v.size())};
  };
  Context context;
  check(context.set_threads(threads));
  check(row_norm_backward({c.form,
                           rows_of(c.dy, c),
                           rows_of(c.x, c),
                           vector_of(c.gamma),
                           {g.dx.data(), DType::f32, c.rows, c.cols, c.cols},
                           out(g.dgamma),
                           out(g.dbeta)},
                          context));
  return g;
}

Floats row(const Floats& v, std::int64_t r, std::int64_t cols) {
  return {v.begin() + r * cols, v.begin() + (r + 1) * cols};
}

Floats times(Floats v, float factor) {
  for (float& a : v) a *= factor;
  return v;
}

RC_GTEST_PROP(RowNorms, ThreadsChangeNoBit, ()) {
  const Case c = any_case();
  const int threads = *rc::gen::inRange(2, 9);
  RC_ASSERT(forward(c, threads) == forward(c));
  RC_ASSERT(backward(c, threads).dx == backward(c).dx);
  RC_ASSERT(backward(c, threads).dgamma == backward(c).dgamma);
}

RC_GTEST_PROP(RowNorms, ARowAloneGivesTheBitsThatItGivesInABatch, ()) {
  const Case c = any_case(1);
  const auto r = *rc::gen::inRange<std::int64_t>(0, c.rows);
  Case alone = c;
  alone.rows = 1;
  alone.x = row(c.x, r, c.cols);
  alone.dy = row(c.dy, r, c.cols);
  RC_ASSERT(forward(alone) == row(forward(c), r, c.cols));
  RC_ASSERT(backward(alone).dx == row(backward(c).dx, r, c.cols));
}

RC_GTEST_PROP(RowNorms, RowsInAnotherOrderGiveTheSameRowsInThatOrder, ()) {
  const Case c = any_case(1);
  std::vector<std::int64_t> order(static_cast<std::size_t>(c.rows));
  std::iota(order.begin(), order.end(), 0);
  Random random(*rc::gen::inRange<std::uint64_t>(0, 1000));
  for (std::size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[random.bits() % i]);
  Case shuffled = c;
  shuffled.x.clear();
  Floats want;
  const Floats y = forward(c);
  for (const std::int64_t r : order) {
    const Floats x = row(c.x, r, c.cols), of = row(y, r, c.cols);
    shuffled.x.insert(shuffled.x.end(), x.begin(), x.end());
    want.insert(want.end(), of.begin(), of.end());
  }
  RC_ASSERT(forward(shuffled) == want);
}

RC_GTEST_PROP(RowNorms, RowsWithoutGradientAddNothingToThoseOfTheParameters, ()) {
  const Case c = any_case();
  Case padded = c;
  padded.rows += *rc::gen::inRange<std::int64_t>(1, 30);
  Random random(7);
  const auto more = static_cast<std::size_t>((padded.rows - c.rows) * c.cols);
  const Floats x = normal(more, random);
  padded.x.insert(padded.x.end(), x.begin(), x.end());
  padded.dy.resize(padded.x.size(), 0);
  RC_ASSERT(backward(padded).dgamma == backward(c).dgamma);
  RC_ASSERT(backward(padded).dbeta == backward(c).dbeta);
}

RC_GTEST_PROP(RowNorms, ScalingARowAndEpsByPowersOfTwoChangesNoBit, ()) {
  Case c = any_case();
  const int k = *rc::gen::inRange(-12, 13);
  Case scaled = c;
  scaled.x = times(c.x, std::ldexp(1.0f, k));
  scaled.form.eps = std::ldexp(c.form.eps, c.form.spread == Spread::root ? 2 * k : k);
  RC_ASSERT(forward(scaled) == forward(c));
  RC_ASSERT(times(backward(scaled).dx, std::ldexp(1.0f, k)) == backward(c).dx);
  RC_ASSERT(backward(scaled).dgamma == backward(c).dgamma);
}

RC_GTEST_PROP(RowNorms, NegatingARowNegatesWhatIsAddedToBeta, ()) {
  Case c = any_case();
  c.beta.clear();
  RC_PRE(c.form.gain != Gain::adaptive);  // whose gain is another for -x
  Case negated = c;
  negated.x = times(c.x, -1);
  RC_ASSERT(forward(negated) == times(forward(c), -1));
}

#if EQUINORM_HAS_TRUTH
RC_GTEST_PROP(RowNorms, ShiftingACentredRowMovesItsResultWithinItsBound, ()) {
  Case c = any_case(1);
  RC_PRE(c.form.centered && c.cols > 1);
  const float shift = std::ldexp(1.0f, *rc::gen::inRange(0, 8));
  for (float& a : c.x) a = std::round(a * 64) / 64;  // so that x + shift is exact
  Case shifted = c;
  for (float& a : shifted.x) a += shift;
  const Floats a = forward(c), b = forward(shifted);
  // Both are within 3 (adaptive: 6) scale ulp of the same exact row.
  const truth::Forward exact =
      truth::row_norm_forward({c.form,
                               rows_of(c.x, c),
                               vector_of(c.gamma),
                               vector_of(c.beta),
                               {nullptr, DType::f32, c.rows, c.cols, c.cols}});
  const double bound = c.form.gain == Gain::adaptive ? 6 : 3;
  for (std::int64_t r = 0; r < c.rows; ++r) {
    const double unit = truth::scale_ulp(exact.scale[r], DType::f32).to_double();
    for (std::int64_t i = r * c.cols; i < (r + 1) * c.cols; ++i) {
      RC_ASSERT(std::fabs(static_cast<double>(a[i]) - b[i]) <= 2 * bound * unit);
    }
  }
}

RC_GTEST_PROP(RowNorms, TheGradientOfACentredRowSumsToZeroWithinItsBound, ()) {
  const Case c = any_case(1);
  RC_PRE(c.form.centered && !c.form.detach_mean && c.cols > 0);
  const Floats dx = backward(c).dx;
  // Of exact arithmetic only the scale that the bound is stated in.
  const truth::Backward exact = truth::row_norm_backward(
      {c.form, rows_of(c.dy, c), rows_of(c.x, c), vector_of(c.gamma), {}, {}, {}});
  const double bound = c.form.gain == Gain::adaptive ? 8 : 4;  // scale ulp of one element
  for (std::int64_t r = 0; r < c.rows; ++r) {
    double sum = 0;
    for (const float v : row(dx, r, c.cols)) sum += v;
    const double unit = truth::scale_ulp(exact.scale[r], DType::f32).to_double();
    RC_ASSERT(std::fabs(sum) <= bound * static_cast<double>(c.cols) * unit);
  }
}
#endif

RC_GTEST_PROP(RowNorms, StridesAndAnUnalignedStartChangeNoBit, ()) {
  const Case c = any_case();
  const auto gap = *rc::gen::inRange<std::int64_t>(0, 20);
  const auto offset = *rc::gen::inRange<std::int64_t>(0, 17);
  const std::int64_t stride = c.cols + gap;
  Floats x(static_cast<std::size_t>(offset + c.rows * stride)), y(x.size(), 7.0f);
  for (std::int64_t r = 0; r < c.rows; ++r) {
    std::copy_n(c.x.begin() + r * c.cols, c.cols, x.begin() + offset + r * stride);
  }
  Context context;
  check(row_norm_forward({c.form,
                          {x.data() + offset, DType::f32, c.rows, c.cols, stride},
                          vector_of(c.gamma),
                          vector_of(c.beta),
                          {y.data() + offset, DType::f32, c.rows, c.cols, stride}},
                         context));
  const Floats want = forward(c);
  for (std::int64_t r = 0; r < c.rows; ++r) {
    const auto at = y.begin() + offset + r * stride;
    RC_ASSERT(std::equal(at, at + c.cols, want.begin() + r * c.cols));
    RC_ASSERT(std::all_of(at + c.cols, at + stride, [](float v) { return v == 7; }));
  }
}

RC_GTEST_PROP(GroupedRows, GiveTheSameBitsWhereverTheyLie, ()) {
  const int turn = *rc::gen::inRange(0, 100000);
  const auto direction = *rc::gen::element(Direction::forward, Direction::backward);
  const auto type = *rc::gen::element(DType::f32, DType::bf16, DType::f16, DType::f64);
  const GroupedProblem problem = grouped_problem(turn, direction, type, type);
  const GroupedInputs inputs = make_inputs(problem);
  GroupedExecution execution;
  const auto isas = available_isas();
  execution.isa = isas[*rc::gen::inRange<std::size_t>(0, isas.size())];
  execution.threads = *rc::gen::inRange(1, 8);
  execution.order = order_of(*rc::gen::inRange(0, 72));
  execution.in_place = *rc::gen::arbitrary<bool>();
  execution.wanted = {*rc::gen::arbitrary<bool>(), *rc::gen::arbitrary<bool>(), true};
  Context context;
  RC_ASSERT(compare(problem, inputs, expected(problem, inputs), execution, context) == "");
}

}  // namespace
}  // namespace equinorm::conformance
