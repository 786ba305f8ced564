// Trials of fused_norm: bits, and errors against the bounds of docs/numerics.md sections 9 and 10.
//
// The one trap: y, dscale and the like are held against the norm of the h that was stored; what h
// lost is measured in h.
#include <algorithm>
#include <cmath>

#include "conformance/fused.hpp"
#include "conformance/trial.hpp"
#include "equinorm/reference.hpp"
#include "reference/numbers.hpp"
#include "reference/quantize.hpp"

namespace equinorm::conformance {
namespace {

// The norm in the middle.
Problem norm_of(const FusedProblem& p, DType y, DType gradient) {
  Problem norm;
  norm.op = Op::row_norm;
  norm.form = p.form;
  norm.direction = p.direction;
  norm.types = {p.compute(), y, DType::f32, gradient};
  norm.rows = p.rows_of_sums();
  norm.cols = p.cols;
  norm.accuracy = p.accuracy;
  return norm;
}

// Counted from the roundings behind the norm, half a scale ulp each: see docs/numerics.md.
Bound bound_of(Output output, const FusedProblem& p, DType type) {
  const bool in_f64 = p.compute() == DType::f64;
  const double rounding = type == DType::f64 || type == p.compute() ? 0 : 0.5;
  const double d = bound_of(Output::dx, norm_of(p, p.compute(), type)).scale_ulp + 0.5;
  const double branch = in_f64 ? 1.5 : 1;  // 1 / (1 - p) and its product
  switch (output) {
    case Output::h:
      return {rounding, branch + 0.5};
    case Output::dresidual:
      return {rounding, d};
    case Output::dx:
      return {rounding, d + 0.5 + branch};
    case Output::dgate:
      return {rounding,
              d + branch + 0.5 + (in_f64 ? 0.5 * additions_in_rows(p.rows_of_sums()) : 0)};
    default:
      return bound_of(output, norm_of(p, output == Output::y ? type : p.compute(), type));
  }
}

#if EQUINORM_HAS_TRUTH
// value / unit for a unit that is a power of two or more.
double in_units(double value, const truth::Value& unit) {
  const auto exponent = std::clamp<std::int64_t>(unit.exponent, -100000, 100000);
  return std::scalbn(value / unit.hi, -static_cast<int>(exponent));
}

double number_of(std::uint8_t code, bool fp8) {
  if (!fp8) return static_cast<std::int8_t>(code);
  const double magnitude = reference::e4m3_value(code & 0x7f);
  return code > 127 ? -magnitude : magnitude;
}

// What 8 bits may add to the error of y, with the rounding of y / scale in C to at most 7 digits
// before the point. fp8: 1/17 |y| of a normal number, the rest is for the division.
double granted_by(bool fp8, double y, double scale, DType compute) {
  if (fp8) return std::abs(y) / 16 + 0x1p-10 * scale;
  return (0.5 + (compute == DType::f64 ? 0x1p-47 : 0x1p-18)) * scale;
}

Errors measure_8_bits(const FusedProblem& p, const FusedArena& arena, const truth::Forward& exact) {
  const auto kind = static_cast<Quantization>(p.quantization);
  const bool fp8 = kind == Quantization::fp8_e4m3_per_row;
  const bool fixed = kind == Quantization::int8_fixed;
  const DType compute = p.compute();
  // In C; an ulp of y is at most a scale ulp.
  const Bound in_c = bound_of(Output::y, p, compute);
  const double bound_of_y = in_c.output_ulp + in_c.scale_ulp;
  const std::vector<std::uint64_t> scales = arena.row_scale.bits();
  Errors worst;
  worst.output = fp8 ? Output::fp8 : Output::int8;
  worst.bound = fp8 ? 16 : 0.5;
  for (std::int64_t i = 0; i < p.rows * p.cols; ++i) {
    const std::int64_t r = i / p.cols;
    const truth::Value& y = exact.y[static_cast<std::size_t>(i)];
    double scale = FusedArena::kFixedScale;
    if (compute == DType::f32) scale = static_cast<float>(scale);
    if (!fixed) scale = reference::load(&scales[static_cast<std::size_t>(r)], compute, 0);
    const std::uint8_t code =
        arena.bytes[static_cast<std::size_t>(r * (p.cols + FusedArena::kByteGap) + i % p.cols)];
    if (std::isnan(y.hi)) {
      if (!fixed && !std::isnan(scale)) worst.share = HUGE_VAL;
      continue;
    }
    const double size = std::abs(y.to_double());
    if (fixed && !(size <= 127 * scale)) continue;  // may saturate
    const truth::Value& scale_of_y = exact.scale[static_cast<std::size_t>(r)];
    if (truth::ilogb(scale_of_y) >= (compute == DType::f64 ? 1023 : 127)) continue;  // may overflow
    const truth::Value unit = truth::scale_ulp(scale_of_y, compute);
    const double error = truth::error(number_of(code, fp8) * scale, DType::f64, y, unit);
    const double granted =
        bound_of_y + in_units(granted_by(fp8, y.to_double(), scale, compute), unit);
    worst.share = std::max(worst.share, share_of(error, granted));
    const double steps = (error - bound_of_y) / in_units(scale, unit);
    if (std::isfinite(steps)) worst.scale_ulp = std::max(worst.scale_ulp, steps);
  }
  return worst;
}
#endif

class FusedTrial : public Trial {
 public:
  explicit FusedTrial(const FusedProblem& problem) : p_(problem) {
    for (const bool in_place : {false, true}) {
      FusedArena& arena = in_place ? want_in_place_ : want_;
      if (p_.backward()) {
        reference::fused_norm_backward(arena.backward(in_place), p_.accuracy);
      } else {
        reference::fused_norm_forward(arena.forward(in_place), p_.accuracy);
      }
    }
  }

  [[nodiscard]] Family family() const override { return p_.family; }
  [[nodiscard]] Accuracy accuracy() const override { return p_.accuracy; }
  [[nodiscard]] std::string text() const override { return describe(p_); }

  std::vector<std::string> compare(Isa isa, std::optional<int> threads, Context& context) override {
    constexpr int kThreads[] = {1, 2, 3, 7};
    std::vector<std::string> result;
    for (const bool in_place : {false, true}) {
      FusedArena got(p_);
      const int count = threads.value_or(kThreads[(p_.turn + next_++) % 4]);
      const Status status = run(got, in_place, isa, count, context);
      std::string text = status.ok() ? got.difference(in_place ? want_in_place_ : want_)
                                     : equinorm::describe(status);
      if (!text.empty()) {
        text = describe(p_) + " | " + equinorm::name_of(isa) + " threads=" + std::to_string(count) +
               (in_place ? " in place" : "") + " | " + text;
      }
      result.push_back(text);
    }
    return result;
  }

  std::vector<Errors> measure([[maybe_unused]] Isa isa,
                              [[maybe_unused]] Context& context) override {
#if EQUINORM_HAS_TRUTH
    return p_.backward() ? measure_backward(isa, context) : measure_forward(isa, context);
#else
    return {};
#endif
  }

 private:
  Status run(FusedArena& arena, bool in_place, Isa isa, int threads, Context& context) const {
    check(context.set_isa(isa));
    check(context.set_threads(threads));
    context.set_accuracy(p_.accuracy);
    return p_.backward() ? fused_norm_backward(arena.backward(in_place), context)
                         : fused_norm_forward(arena.forward(in_place), context);
  }

#if EQUINORM_HAS_TRUTH
  // Beyond the range of C partial results overflow.
  [[nodiscard]] std::int64_t limit() const { return p_.compute() == DType::f64 ? 1023 : 127; }

  // The norm's h is needed, so it is stored, in C where no type was asked for.
  std::vector<Errors> measure_forward(Isa isa, Context& context) const {
    FusedProblem p = p_;
    if (!p.with_stream) p.stream = p.compute();
    p.with_stream = true;
    FusedArena arena(p);
    const FusedNormForward args = arena.forward(false);
    check(context.set_isa(isa));
    check(context.set_threads(1));
    context.set_accuracy(p.accuracy);
    if (!fused_norm_forward(args, context).ok()) return {};  // compare() reports it
    const truth::FusedForward exact = truth::fused_norm_forward(args);
    std::vector<Errors> result;
    const auto add = [&](const Part& part) {
      result.push_back(
          conformance::measure(p.compute(), bound_of(part.output, p, part.type), part));
    };
    const std::vector<std::uint64_t> h = arena.stream.bits();
    add({Output::h, p.stream, h, exact.h, exact.h_scale, exact.h_scale, 1, limit()});
    if (p.quantization != 0) {
      result.push_back(measure_8_bits(p, arena, exact.norm));
      return result;
    }
    const std::vector<std::uint64_t> y = arena.y.bits();
    add({Output::y, p.y, y, exact.norm.y, exact.norm.scale, exact.norm.size, p.cols});
    return result;
  }

  std::vector<Errors> measure_backward(Isa isa, Context& context) {
    FusedArena arena(p_);
    if (!run(arena, false, isa, 1, context).ok()) return {};
    if (!backward_) backward_ = truth::fused_norm_backward(FusedArena(p_).backward(false));
    const truth::FusedBackward& exact = *backward_;
    std::vector<Errors> result;
    const auto add = [&](Output output, const Buffer& buffer, DType type, const auto& values,
                         const auto& scale, std::int64_t elements, std::int64_t most) {
      const std::vector<std::uint64_t> bits = buffer.bits();
      result.push_back(
          conformance::measure(p_.compute(), bound_of(output, p_, type),
                               {output, type, bits, values, scale, scale, elements, most}));
    };
    add(Output::dresidual, arena.dresidual, p_.residual, exact.dresidual, exact.dresidual_scale,
        p_.cols, limit());
    add(Output::dx, arena.dx, p_.x, exact.dx, exact.dx_scale, 1, limit());
    const truth::Backward& norm = exact.norm;
    const auto sum = [&](Output output, const Buffer& buffer, DType type, const auto& values,
                         const auto& scale) {
      add(output, buffer, type, values, scale, 1, kSumLimit);
    };
    if (p_.groups) {
      sum(Output::dscale, arena.dscale, DType::f32, norm.dgamma, norm.dgamma_scale);
      sum(Output::dshift, arena.dshift, DType::f64, norm.dbeta, norm.dbeta_scale);
      if (p_.gate) sum(Output::dgate, arena.dgate, DType::f32, exact.dgate, exact.dgate_scale);
    } else {
      sum(Output::dgamma, arena.dgamma, DType::f32, norm.dgamma, norm.dgamma_scale);
      sum(Output::dbeta, arena.dbeta, DType::f32, norm.dbeta, norm.dbeta_scale);
    }
    return result;
  }

  std::optional<truth::FusedBackward> backward_;
#endif

  FusedProblem p_;
  FusedArena want_{p_};
  FusedArena want_in_place_{p_};
  int next_ = 0;
};

}  // namespace

std::vector<Subject> fused_subjects() {
  return numbered_subjects("fused_norm", [](const Subject& s, int turn, const Amount& amount,
                                            const std::function<void(Trial&)>& body) {
    FusedProblem problem = fused_problem(turn, s.direction, s.x, s.y);
    if (!amount.wants(problem.accuracy)) return;
    if (amount.has_shape()) {
      problem.rows = amount.shape_rows();
      problem.cols = amount.shape_cols();
      problem.each = 1;
    }
    FusedTrial trial(problem);
    body(trial);
  });
}

}  // namespace equinorm::conformance
